"""Shapes and dtypes as Keras 3 shows them: tuples and names, which do what `TensorShape` and `DType` can, too.

Programs that were written for Keras 2 ask a symbolic tensor for `x.shape.as_list()` or a weight for
`weight.dtype.is_floating`; those written for Keras 3 ask whether `weight.dtype == "float32"`.
"""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape


class DTypeName(str):
    """The name of a dtype, with the attributes of the dtype."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(dtypes.as_dtype(str(self)), name)

    def __reduce__(self):
        return str, (str(self),)


class StaticShape(tuple):
    """The sizes of a tensor, None for unknown ones, with the methods of TensorShape."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(TensorShape(tuple(self)), name)

    def __getitem__(self, key):
        found = tuple.__getitem__(self, key)
        return StaticShape(found) if isinstance(key, slice) else found

    def __reduce__(self):
        return tuple, (tuple(self),)


_names: dict[Any, DTypeName] = {}


def shown_dtype(dtype):
    """A DType as `tf.keras` shows it: its name in Keras 3."""
    if keras_2():
        return dtype
    found = _names.get(dtype)
    if found is None:
        found = _names[dtype] = DTypeName(dtype.name)
    return found


def shown_shape(shape):
    """A TensorShape as `tf.keras` shows it: a tuple in Keras 3, unless the rank is unknown."""
    return shape if keras_2() or shape.rank is None else StaticShape(shape.as_list())
