"""What every other package is built on: types, shapes, errors, structures, devices and the state of a thread.

Loading this package gives the native core its Python half: any module of it comes with all that tensors need.
"""

from tapeflow.core import binding
