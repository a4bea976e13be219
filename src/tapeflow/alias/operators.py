"""The operators that the classes of tensors and variables show to programs which read them: `tf.Tensor.__add__`."""

from __future__ import annotations

import functools

from tapeflow import _native
from tapeflow.ops.operator_methods import methods


@functools.cache
def show() -> None:
    """Lets the classes show functions that take whatever converts to a tensor; `a + b` stays native."""
    from tapeflow.graph.tensor import SymbolicTensor  # noqa: F401 (whose operators stay native: it is made before)

    own = ("__eq__", "__ne__", "__getitem__", "__bool__", "__iter__", "__len__", "__array__")
    for name, method in methods().items():
        _native.set_class_entry(_native.Tensor, name, method)
        if name not in own:
            _native.set_class_entry(_native.Variable, name, method)
