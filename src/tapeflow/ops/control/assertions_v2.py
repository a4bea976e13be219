"""Checks that return nothing in 2.x, where those of 1.x return an operation in a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import IntLike, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public
from tapeflow.ops.control import shape_assertions, type_assertions


@api(v2="debugging.assert_integer")
@public
def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None):
    """Check that a tensor is of an integer dtype.

    Args:
      x: a tensor.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Raises:
      TypeError: for other dtypes.
    """
    type_assertions.assert_integer(x, message, name)


@api(v2="debugging.assert_type")
@public
def assert_type(tensor: TensorLike, tf_type: DType, message: str | None = None, name: str | None = None):
    """Check that a tensor is of a dtype.

    Args:
      tensor: a tensor.
      tf_type: the dtype.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Raises:
      TypeError: for other dtypes.
    """
    type_assertions.assert_type(tensor, tf_type, message, name)


@api(v2="debugging.assert_shapes")
@public
def assert_shapes(
    shapes: Sequence[Any], data: TensorLike | None = None, summarize: IntLike | None = None,
    message: str | None = None, name: str | None = None,
):
    """Check that tensors have shapes whose sizes may be symbols.

    Args:
      shapes: a list of pairs (tensor, shape), or a dict of those. In a shape, a number is a size; None and "."
        stand for any; every other symbol stands for one size wherever it comes; `...` at its start or end stands
        for any dimensions.
      data: what to show where the check fails as a graph runs; None: the condition and tensors (optional).
      summarize: how many elements of each tensor of `data` to show; None: 3.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Raises:
      ValueError: where a tensor does not have its shape.

    >>> tf.debugging.assert_shapes([(tf.zeros([2, 3]), ("N", "D")), (tf.zeros([3]), ("D",))])
    """
    shape_assertions.assert_shapes(shapes, data, summarize, message, name)
