"""Assertions about dtypes and kinds of values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public
from tapeflow.ops.control import grouping
from tapeflow.ops.control.assert_op import prefix


@api(v1=("debugging.assert_integer", "assert_integer"))
@public
def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None):
    """Check that a tensor is of an integer dtype.

    Args:
      x: a tensor.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph an operation that does nothing.

    Raises:
      TypeError: for other dtypes.
    """
    x = convert_to_tensor(x)
    if not x.dtype.is_integer:
        raise TypeError(
            f'{prefix(message)}Expected "x" to be integer type.  Found: tensor of dtype {x.dtype}'
        )
    return grouping.no_op(name)


@api(v1=("debugging.assert_type", "assert_type"))
@public
def assert_type(tensor: TensorLike, tf_type: DType, message: str | None = None, name: str | None = None):
    """Check that a tensor is of a dtype.

    Args:
      tensor: a tensor.
      tf_type: the dtype.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph an operation that does nothing.

    Raises:
      TypeError: for other dtypes.
    """
    wanted = dtypes.as_dtype(tf_type)
    value: Any = tensor if is_tensor(tensor) else convert_to_tensor(tensor)
    found = value.dtype
    if found != wanted:
        raise TypeError(
            f"{prefix(message)}tensor must be of type tf.{wanted.name}; got tf.{found.name}"
        )
    return grouping.no_op(name)


@api("debugging.assert_same_float_dtype", v1="assert_same_float_dtype")
@public
def assert_same_float_dtype(tensors=None, dtype: DTypeLike | None = None):
    """Check that tensors have one floating dtype, and return it.

    Args:
      tensors: a list of tensors or None (optional).
      dtype: the dtype that they must have (optional).

    Returns:
      The dtype; float32 where there are neither tensors nor a dtype.

    Raises:
      ValueError: where dtypes differ, or are not floating.
    """
    first = None
    for tensor in [t for t in tensors or [] if t is not None]:
        found = tensor.dtype
        wanted = (
            dtypes.as_dtype(dtype)
            if dtype is not None
            else (first.dtype if first is not None else found)
        )
        if found != wanted:
            beside = "" if first is None or dtype is not None else f" as {first}"
            raise ValueError(
                f"{tensor}, type={found}, must be of the same type ({wanted}){beside}."
            )
        first = tensor if first is None else first
    kind = (
        dtypes.as_dtype(dtype)
        if dtype is not None
        else (dtypes.float32 if first is None else first.dtype)
    )
    if not kind.is_floating:
        raise ValueError(f"Expected floating point type, got {kind}.")
    return kind


@api("debugging.assert_proper_iterable", v1="assert_proper_iterable")
@public
def assert_proper_iterable(values: TensorLike):
    """Raises TypeError unless `values` is iterable and no tensor, array or string."""
    if hasattr(values, "dtype") or isinstance(values, (str, bytes)):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not isinstance(values, Iterable):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


@api("debugging.is_numeric_tensor", v1="is_numeric_tensor")
@public
def is_numeric_tensor(tensor: TensorLike):
    """Whether `tensor` is a tensor of numbers."""
    if not isinstance(tensor, Tensor):
        return False
    return tensor.dtype.is_integer or tensor.dtype.is_floating or tensor.dtype.is_complex
