"""Ops that find where values belong in sorted rows: `searchsorted` and its bounds."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.signature import dtype
from tapeflow.ops.static import as_shape, size_of, sizes_of
from tapeflow.ops.table import REAL, Sample, op
from tapeflow.ops.validate import index_kind, invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


def _bound(sorted_inputs: Any, values: Any, side: Any, out_type: DType):
    for label, x in (("sorted_inputs", sorted_inputs), ("values", values)):
        if x.ndim != 2:
            raise invalid(f"Shape must be rank 2 but is rank {x.ndim} for `{label}` argument")
    if len(sorted_inputs) != len(values):
        raise invalid("Leading dim_size of both tensors must match.")
    rows = [np.searchsorted(s, v, side) for s, v in zip(sorted_inputs, values, strict=True)]
    return np.array(rows, index_kind(out_type, "out_type")).reshape(values.shape)


_BOUND: dict[str, Any] = {"types": {"T": REAL}, "attrs": {"out_type": dtype(dtypes.int32)}}


def _bound_samples(rng: SampleGenerator):
    yield Sample(np.array([[1.0, 3, 3, 5]]), np.array([[0.0, 1, 3, 4, 6]]))
    yield Sample([[1, 3], [2, 4]], [[3], [3]], out_type=dtypes.int64)
    yield Sample([1, 2], [[1]], raises=InvalidArgumentError)
    yield Sample([[1, 2]], [1], raises=InvalidArgumentError)
    yield Sample([[1, 2]], [[1], [2]], raises=InvalidArgumentError)


def _compiled_bound(side: str):
    def kernel(xp: ModuleType, sorted_inputs, values: Array, out_type: DType):
        search = importlib.import_module("jax").vmap(lambda s, v: xp.searchsorted(s, v, side))
        return search(sorted_inputs, values)

    return kernel


def _bound_rule(call: ShapeCall):
    lines, values = shapes.with_rank(call.shape(0), 2), shapes.with_rank(call.shape(1), 2)
    return [(shapes.same_dimension(lines[0], values[0]), values[1])]


@op("LowerBound", "sorted_inputs: T, values: T -> output: out_type",
    shape=_bound_rule, **_BOUND)  # fmt: skip
def LowerBound(xp: ModuleType, sorted_inputs: Array, values: Array, out_type: DType):
    return _bound(sorted_inputs, values, "left", out_type)


LowerBound.gradient(None)
LowerBound.compiled(_compiled_bound("left"))
LowerBound.samples(_bound_samples)


@LowerBound.reference
def _(sorted_inputs: np.ndarray, values: np.ndarray, out_type: DType):
    less = np.asarray(sorted_inputs)[:, None, :] < np.asarray(values)[:, :, None]
    return less.sum(-1).astype(out_type.as_numpy_dtype)


@op("UpperBound", "sorted_inputs: T, values: T -> output: out_type",
    shape=_bound_rule, **_BOUND)  # fmt: skip
def UpperBound(xp: ModuleType, sorted_inputs: Array, values: Array, out_type: DType):
    return _bound(sorted_inputs, values, "right", out_type)


UpperBound.gradient(None)
UpperBound.compiled(_compiled_bound("right"))
UpperBound.samples(_bound_samples)


@UpperBound.reference
def _(sorted_inputs: np.ndarray, values: np.ndarray, out_type: DType):
    less = np.asarray(sorted_inputs)[:, None, :] <= np.asarray(values)[:, :, None]
    return less.sum(-1).astype(out_type.as_numpy_dtype)


@api("searchsorted")
@tensor_function
def searchsorted(
    sorted_sequence: TensorLike, values: TensorLike, side: str = "left", out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
):
    """Find where values would go in sorted rows to keep them sorted.

    Args:
      sorted_sequence: a real tensor `[..., n]` of rows in ascending order, which is not checked.
      values: what to search, of that dtype and `[..., m]`; the dimensions before the last are equal.
      side: "left" gives the place before equal elements, "right" the one after them.
      out_type: the dtype of the places, int32 or int64.
      name: a name for the operation (optional).

    Returns:
      A tensor of `out_type` and of the shape of `values`, in [0, n].

    Raises:
      ValueError: for another side.

    >>> tf.searchsorted([1, 3, 5], [0, 3, 6])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([0, 1, 3], dtype=int32)>
    """
    out_type = dtypes.as_dtype(out_type)
    sorted_sequence, values = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
    if side not in ("left", "right"):
        raise ValueError(
            f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'."
        )
    rows = Reshape(sorted_sequence, as_shape([-1, size_of(sorted_sequence, -1)]))
    lines = Reshape(values, as_shape([-1, size_of(values, -1)]))
    row = LowerBound if side == "left" else UpperBound
    if values.shape.rank is None:
        return Reshape(row(rows, lines, out_type), Shape(values))
    return Reshape(row(rows, lines, out_type), as_shape(sizes_of(values)))
