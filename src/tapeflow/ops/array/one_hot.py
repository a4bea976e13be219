"""Positions as rows: one-hot rows, and masks of sequences."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.layout import ExpandDims
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.array.ranges import range
from tapeflow.ops.math import arithmetic, casting, comparison, reductions
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall


def _one_hot_rule(call: ShapeCall):
    shape, depth, axis = call.shape(0), shapes.size_value(call, 1), call.attr("axis")
    if shape is None:
        return [None]
    at = shapes.normal_axis(axis, len(shape) + 1)
    return [shape[:at] + (depth,) + shape[at:]]


@op(
    "OneHot",
    "indices: TI, depth: int32, on_value: T, off_value: T -> output: T",
    types={"T": ANY, "TI": Preferring((dtypes.int64, dtypes.int32, dtypes.uint8, dtypes.int8))},
    attrs={"axis": -1},
    shape=_one_hot_rule,
)
def OneHot(xp: ModuleType, indices: Array, depth: Array, on_value: Array, off_value: Array, axis: int):
    if not (axis == -1 or 0 <= axis <= indices.ndim):
        raise invalid(
            f"Expected axis to be -1 or between [0, {indices.ndim + 1}).  But received: {axis}"
        )
    for label, x in (("depth", depth), ("on_value", on_value), ("off_value", off_value)):
        if np.ndim(x):
            raise invalid(f"{label} must be a scalar, but got: {shape_text(np.shape(x))}")
    if depth < 0:
        raise invalid(f"depth must be non-negative, got: {int(depth)}")
    at = indices.ndim if axis == -1 else axis
    line = np.arange(int(depth)).reshape([-1] + [1] * (indices.ndim - at))
    return xp.where(xp.expand_dims(indices, at) == line, on_value, off_value)


OneHot.batching(batching.along_attr("axis", 0))


OneHot.gradient(None)


@OneHot.samples
def _(rng: SampleGenerator):
    yield Sample([0, 2, -1, 5], 3, rng.normal(), rng.normal(), differentiable=False)
    yield Sample([[0, 1], [2, 2]], 3, 1.0, 0.0, axis=0)
    yield Sample([[0, 1], [2, 2]], 3, 1.0, 0.0, axis=1)
    yield Sample(1, 3, 1.0, 0.0)
    yield Sample(np.zeros(0, np.int64), 3, 1.0, 0.0)
    yield Sample([0], 0, 1.0, 0.0)
    yield Sample([0, 2], 3, 1.0, 0.0, axis=2, raises=InvalidArgumentError)
    yield Sample([0, 2], -1, 1.0, 0.0, raises=InvalidArgumentError)
    yield Sample([0, 2], [3], 1.0, 0.0, raises=InvalidArgumentError)
    yield Sample([0, 2], 3, [1.0], 0.0, raises=InvalidArgumentError)
    yield Sample([0, 2], 3, 1.0, [0.0], raises=InvalidArgumentError)


@OneHot.reference
def _(indices: np.ndarray, depth: np.ndarray, on_value: np.ndarray, off_value: np.ndarray, axis: int):
    on_value, off_value = np.asarray(on_value), np.asarray(off_value)
    out = np.full((*np.shape(indices), int(depth)), off_value, on_value.dtype)
    for at in np.ndindex(*np.shape(indices)):
        if 0 <= np.asarray(indices)[at] < depth:
            out[(*at, int(np.asarray(indices)[at]))] = on_value
    return np.moveaxis(out, -1, axis)


@api("one_hot")
@tensor_function
@graph_scope("one_hot")
def one_hot(
    indices: TensorLike, depth: TensorLike, on_value: TensorLike | None = None,
    off_value: TensorLike | None = None, axis: AxisLike | None = None, dtype: DTypeLike | None = None,
    name: str | None = None,
):
    """Make rows that are `on_value` at an index and `off_value` elsewhere.

    Args:
      indices: a tensor of uint8, int8, int32 or int64; one that is not in [0, depth) gives a row of `off_value`
        alone.
      depth: the size of the new dimension, a scalar int32.
      on_value: a scalar; None: 1.
      off_value: a scalar of the dtype of `on_value`; None: 0.
      axis: where the new dimension is, in [-1, rank]; None and -1: last.
      dtype: the dtype of the result; None: that of the values if one is given, else float32.
      name: a name for the operation (optional).

    Returns:
      A tensor of the shape of `indices` with a new dimension of size `depth`.

    Raises:
      TypeError: where the dtypes of the values and `dtype` differ.
      InvalidArgumentError: for a negative depth.

    >>> tf.one_hot([0, 2, -1], depth=3)
    <tf.Tensor: shape=(3, 3), dtype=float32, numpy=
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 0., 0.]], dtype=float32)>
    """
    if on_value is off_value is dtype is None:
        return OneHot(indices, depth, 1.0, 0.0, -1 if axis is None else axis)
    given = [
        None if v is None else convert_to_tensor(v, dtype_hint=dtype).dtype
        for v in (on_value, off_value)
    ]
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    for label, found in zip(("on_value", "off_value"), given, strict=True):
        if wanted is not None and found is not None and found != wanted:
            raise TypeError(f"dtype {found} of {label} does not match dtype parameter {wanted}")
    if None not in given and given[0] != given[1]:
        raise TypeError(
            f"dtype {given[0]} of on_value does not match dtype {given[1]} of off_value"
        )
    wanted = wanted or given[0] or given[1] or dtypes.float32
    on = convert_to_tensor(1 if on_value is None else on_value, dtype=wanted)
    off = convert_to_tensor(0 if off_value is None else off_value, dtype=wanted)
    return OneHot(indices, depth, on, off, -1 if axis is None else axis)


@api("sequence_mask")
@tensor_function
@graph_scope("SequenceMask")
def sequence_mask(
    lengths: TensorLike, maxlen: TensorLike | None = None, dtype: DTypeLike = dtypes.bool,
    name: str | None = None,
):
    """Make rows of which as many first elements are True as lengths say.

    Args:
      lengths: an integer tensor of any shape.
      maxlen: the size of the rows, a scalar integer; None: the greatest length.
      dtype: the dtype of the result: bool, or one that True and False are cast to.
      name: a name for the operation (optional).

    Returns:
      A tensor of `dtype` and of shape `lengths.shape + [maxlen]`.

    Raises:
      ValueError: where `maxlen` is not a scalar.

    >>> tf.sequence_mask([1, 3, 2])
    <tf.Tensor: shape=(3, 3), dtype=bool, numpy=
    array([[ True, False, False],
           [ True,  True,  True],
           [ True,  True, False]])>
    """
    lengths = convert_to_tensor(lengths)
    if maxlen is None:
        maxlen = reductions.reduce_max(lengths)
        maxlen = arithmetic.maximum(maxlen, ZerosLike(maxlen))
    else:
        maxlen = convert_to_tensor(maxlen)
    if maxlen.shape.rank not in (None, 0):
        raise ValueError(
            "Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = "
            f"{maxlen.numpy() if hasattr(maxlen, 'numpy') else maxlen} with shape '{maxlen.shape}' instead"
        )
    places = range(0, maxlen, 1, dtype=maxlen.dtype)
    mask = comparison.less(places, casting.cast(ExpandDims(lengths, -1), maxlen.dtype))
    dtype = dtypes.as_dtype(dtype)
    return mask if dtype == dtypes.bool else casting.cast(mask, dtype)
