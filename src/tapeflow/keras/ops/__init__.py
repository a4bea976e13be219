"""`keras.ops`: functions of tensors with NumPy's names, in the dtypes that Keras promotes their arguments to.

What a module here defines and does not begin with an underscore is public, here and in its namespace.
"""

from tapeflow.keras.ops import image, linalg, math, nn, numpy
from tapeflow.keras.ops.control import *  # noqa: F403
from tapeflow.keras.ops.core import *  # noqa: F403
from tapeflow.keras.ops.linalg import *  # noqa: F403
from tapeflow.keras.ops.math import *  # noqa: F403
from tapeflow.keras.ops.nn import *  # noqa: F403
from tapeflow.keras.ops.numpy import *  # noqa: F403

_OWN = __name__ + "."
__all__ = sorted(
    name for name, value in globals().items() if getattr(value, "__module__", "").startswith(_OWN)
)
