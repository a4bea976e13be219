"""Arguments of `keras.ops` as tensors of the dtype that Keras promotes them to."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor as tf_convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.keras import settings
from tapeflow.keras.dtype_names import named_by_python, result_type
from tapeflow.keras.engine.functional.op_layer import call_function
from tapeflow.keras.engine.functional.symbolic import KerasTensor, any_symbolic
from tapeflow.ops.array.layout import expand_dims as tf_expand_dims
from tapeflow.ops.array.layout import squeeze as tf_squeeze
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.math.casting import cast as tf_cast


def operation(function: Callable[..., Any]):
    """`tensor_function` for `keras.ops`: calls with symbolic tensors become layers, dtypes may be types of Python."""
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    if "dtype" in parameters:
        function = _with_named_dtype(function, parameters.index("dtype"))

    @functools.wraps(function)
    def call(*args, **kwargs):
        if _symbolic(args) or (kwargs and _symbolic(kwargs.values())):
            return call_function(public_function, args, kwargs)
        return function(*args, **kwargs)

    public_function = tensor_function(call)
    return public_function


def _with_named_dtype(function, at):
    @functools.wraps(function)
    def call(*args, **kwargs):
        if len(args) > at:
            args = (*args[:at], named_by_python(args[at]), *args[at + 1 :])
        elif "dtype" in kwargs:
            kwargs["dtype"] = named_by_python(kwargs["dtype"])
        return function(*args, **kwargs)

    return call


def _symbolic(values):
    for value in values:
        if isinstance(value, KerasTensor) or (isinstance(value, (list, tuple, dict)) and any_symbolic(value)):
            return True
    return False


# The dtypes in which small integers are added up and multiplied.
WIDE = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}


def tensor(x: TensorLike, dtype: DTypeLike | None = None):
    """`x` as a tensor; a Python float is of `floatx`."""
    if isinstance(x, float) and dtype is None:
        dtype = settings.floatx()
    if dtype == "bool" and isinstance(x, (int, float)):
        x = bool(x)
    if dtype is not None and hasattr(x, "dtype"):
        return tf_cast(x, dtype)
    if dtype is not None and not isinstance(x, (bool, int, float)):
        return tf_cast(tf_convert_to_tensor(x), dtype)
    return tf_convert_to_tensor(x, dtype)


def _operand(x):
    """`x`, and its type for the promotion."""
    if isinstance(x, (int, float)) and not isinstance(x, (np.generic, bool)):
        return x, type(x)
    x = tensor(x)
    return x, x.dtype


def promoted(*values, more: Sequence[Any] = ()):
    """Tensors of the dtype to which the values, and the types `more`, are promoted."""
    pairs = [_operand(value) for value in values]
    target = result_type(*(kind for _, kind in pairs), *more)
    return [tensor(x, target) for x, _ in pairs]


def floats(*values):
    """Tensors of one floating or complex dtype."""
    values = promoted(*values)
    if values[0].dtype.is_floating or values[0].dtype.is_complex:
        return values
    return [tf_cast(x, settings.floatx()) for x in values]


def floating(x: TensorLike):
    """`x` as a tensor of a floating or complex dtype."""
    return floats(tensor(x))[0]


def wide(x: Any):
    """`x` as a tensor of a dtype in which it can be added up."""
    x = tensor(x)
    return tf_cast(x, WIDE[x.dtype.name]) if x.dtype.name in WIDE else x


def static_rank(x: Any):
    """The rank of a tensor, which must be known."""
    if x.shape.rank is None:
        raise ValueError(f"The rank of the tensor must be known, got {x}")
    return x.shape.rank


def axis_of(axis, rank: int):
    """An axis from 0. Raises ValueError for one that is not there."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for a tensor of rank {rank}")
    return axis % rank


def axes_of(axis: Any, rank: int):
    """Axes from 0, all for None."""
    if axis is None:
        return list(range(rank))
    return [axis_of(each, rank) for each in (axis if isinstance(axis, (list, tuple)) else (axis,))]


def checked_choice(value: str, name: str, allowed: Sequence[str]):
    """Raise ValueError for an argument that is none of those allowed."""
    if value not in allowed:
        raise ValueError(f"Invalid value for argument `{name}`. Expected of one {allowed}. Received: {name}={value}")


def batch_of_images(images: Any, data_format: str | None, rank: int = 2):
    """Images as a batch with channels last, and how to bring a result back; also for one image without a batch."""
    images = tensor(images)
    if static_rank(images) not in (rank + 1, rank + 2):
        raise ValueError(
            f"Invalid images rank: expected rank {rank + 1} (single image) or rank {rank + 2} (batch of images). "
            f"Received input with shape: images.shape={images.shape}"
        )
    single = images.shape.rank == rank + 1
    x = tf_expand_dims(images, 0) if single else images
    first = settings.normalize_data_format(data_format) == "channels_first"
    x = tf_transpose(x, [0, *range(2, rank + 2), 1]) if first else x

    def back(y: Tensor):
        rank = static_rank(y)
        y = tf_transpose(y, [0, rank - 1, *range(1, rank - 1)]) if first else y
        return tf_squeeze(y, [0]) if single else y

    return x, back
