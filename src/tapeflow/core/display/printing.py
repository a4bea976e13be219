"""The text of tensors: what `print`, `repr` and `format` show.

Pure functions. `value` is a NumPy array or scalar: for strings an object array (or scalar) of bytes, for
resources and variants one of objects that are shown by their `repr`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.annotations import ShapeLike
from tapeflow.core.dtypes import DType


def plain_text(value: Any) -> str:
    """The elements as `print` shows them: a scalar with the digits its own type needs."""
    is_object_scalar = isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype == object
    return str(value.item() if is_object_scalar else value)


def _repr_text(value: Any) -> str:
    """The elements as `repr` shows them: a scalar as the number of Python that it equals."""
    if getattr(value, "ndim", 0) == 0:
        return repr(value.item() if hasattr(value, "item") else value)
    return repr(value)


def numpy_text(tensor: Any, is_repr: bool = False) -> str:
    """Return the elements of an eager tensor as text, several lines after an empty one.

    Args:
      tensor: the tensor.
      is_repr: whether it is the text of `repr` rather than that of `print`.
    """
    if not tensor.dtype.is_numpy_compatible:
        return "<unprintable>"
    value = tensor.numpy()
    return _in_new_line(_repr_text(value) if is_repr else plain_text(value))


def value_text(tensor: Any, is_repr: bool = False) -> str:
    """Return the elements of an eager tensor as text after the name of the attribute that has them.

    Args:
      tensor: the tensor.
      is_repr: whether it is the text of `repr` rather than that of `print`.
    """
    known = tensor.dtype.is_numpy_compatible
    text = numpy_text(tensor, is_repr) if known else _in_new_line(plain_text(tensor.numpy()))
    return f"{'numpy' if known else 'value'}={text}" if is_repr else text


def _in_new_line(text: str) -> str:
    """Text of several lines starts in a line of its own, so that its columns stand below each other."""
    return "\n" + text if "\n" in text else text


def to_str(value: Any, shape: ShapeLike, dtype: DType) -> str:
    """What `print` shows of an eager tensor: `tf.Tensor([1 2], shape=(2,), dtype=int32)`."""
    return f"tf.Tensor({_in_new_line(plain_text(value))}, shape={shape}, dtype={dtype.name})"


def to_repr(value: Any, shape: ShapeLike, dtype: DType) -> str:
    """`<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>`."""
    if dtype.is_numpy_compatible:
        content = "numpy=" + _in_new_line(_repr_text(value))
    else:
        content = "value=" + _in_new_line(plain_text(value))
    return f"<tf.Tensor: shape={shape}, dtype={dtype.name}, {content}>"


def to_format(value: Any, spec: str) -> str:
    """`format(tensor, spec)`: that of the element or, with an empty spec only, of the whole array."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    return format(value, spec)


def variable_to_str(name: str, value: Any, shape: ShapeLike, dtype: DType) -> str:
    """`<tf.Variable 'v:0' shape=() dtype=float32, numpy=1.0>`, both `str` and `repr`."""
    content = "numpy=" + _in_new_line(_repr_text(value))
    return f"<tf.Variable '{name}' shape={shape} dtype={dtype.name}, {content}>"


def symbolic_to_str(name: str, shape: ShapeLike, dtype: DType, device: str = "") -> str:
    """What `print` shows of a tensor of a graph: `Tensor("a:0", shape=(2,), dtype=int32)`.

    `shape` is left out where not even the rank is known, that is for None.
    """
    parts = [f'"{name}"']
    if shape is not None and getattr(shape, "rank", 0) is not None:
        parts.append(f"shape={shape}")
    parts.append(f"dtype={dtype.name}")
    if device:
        parts.append(f"device={device}")
    return f"Tensor({', '.join(parts)})"


def symbolic_to_repr(name: str, shape: ShapeLike, dtype: DType) -> str:
    """`<tf.Tensor 'a:0' shape=(2,) dtype=int32>`."""
    return (
        f"<tf.Tensor '{name}' shape={'<unknown>' if shape is None else shape} dtype={dtype.name}>"
    )
