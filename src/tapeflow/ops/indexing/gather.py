"""Ops that read elements by their index: gather, gather_nd, boolean_mask."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.transposing import Transpose
from tapeflow.ops.indexing import scatter
from tapeflow.ops.indexing.gather_nd import GATHER_INDEX
from tapeflow.ops.math import casting, choice, reductions
from tapeflow.ops.static import as_shape, joined, product, rank_in, sizes_in, static_value
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import first_out_of_range, invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall



def _check_range(indices: Any, size: int) -> None:
    bad = first_out_of_range(np.asarray(indices), size)
    if bad:
        raise invalid(f"indices{bad[0]} = {bad[1]} is not in [0, {size})")


def _gather_rule(call: ShapeCall):
    params, indices = shapes.at_least(call.shape(0), 1), call.shape(1)
    return [None if params is None or indices is None else (*indices, *params[1:])]


@op(
    "Gather",
    "params: Tparams, indices: Tindices -> output: Tparams",
    types={"Tparams": ANY, "Tindices": INDEX},
    attrs={"validate_indices": True},
    shape=_gather_rule,
    moves=True,
)
def Gather(xp: ModuleType, params: Array, indices: Array, validate_indices: bool):
    if params.ndim == 0:
        raise invalid("params must be at least 1 dimensional")
    if xp is np:
        _check_range(indices, params.shape[0])
    return xp.take(params, indices, axis=0)


def _slices(call: GradientCall, dy: Tensor, rows: str):
    """The gradient of a gather of rows: only the rows that were read."""
    if call.static_shape(rows).rank is None:
        shape = joined([-1], call.shape(rows)[1:])
    else:
        shape = as_shape([-1, *sizes_in(call, rows)[1:]])
    return IndexedSlices(Reshape(dy, shape), Reshape(call.indices, [-1]), call.shape(rows))


@Gather.gradient(needs="indices")
def _(call: GradientCall, dy: Tensor):
    return _slices(call, dy, "params"), None


@Gather.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(4, 3), [0, 2, 2])
    yield Sample(rng.normal(4), [[0], [3]])
    yield Sample(rng.normal(4, 3), 1)
    yield Sample(rng.normal(4, 3), np.zeros((0, 2), np.int64))
    yield Sample(rng.normal(3, 0), [1, 2])
    yield Sample(rng.normal(3), 7, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), [0, -1], raises=InvalidArgumentError)
    yield Sample(rng.normal(0), [0], raises=InvalidArgumentError)
    yield Sample(rng.normal(), [0], raises=InvalidArgumentError)


@Gather.reference
def _(params: np.ndarray, indices: np.ndarray, validate_indices: bool):
    params = np.asarray(params)
    rows = [params[i] for i in np.ravel(indices)]
    return np.array(rows, params.dtype).reshape(*np.shape(indices), *params.shape[1:])


def _gather_v2_rule(call: ShapeCall):
    params, indices = shapes.at_least(call.shape(0), 1), call.shape(1)
    axis, batch = shapes.scalar_value(call, 2), call.attr("batch_dims")
    if indices is None or params is None:
        return [None]
    batch = shapes.normal_axis(batch, len(indices) + 1) if batch >= 0 else batch + len(indices)
    if batch < 0:
        raise invalid(f"batch_dims must be at least {-len(indices)}, but is {batch - len(indices)}")
    if axis is None:
        return [(None,) * (len(params) + len(indices) - 1 - batch)]
    shapes.at_least(params, axis + 1 if axis >= 0 else -axis)
    at = shapes.normal_axis(axis, len(params))
    if at < batch:
        raise invalid(f"batch_dims ({batch}) must be less than or equal to axis ({at})")
    lead = shapes.merge(params[:batch], indices[:batch]) or ()
    return [(*lead, *params[batch:at], *indices[batch:], *params[at + 1 :])]


@op(
    "GatherV2",
    "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams",
    types={"Tparams": ANY, "Tindices": GATHER_INDEX, "Taxis": INDEX},
    attrs={"batch_dims": 0},
    shape=_gather_v2_rule,
    moves=True,
    foldable=True,
)
def GatherV2(xp: ModuleType, params: Any, indices: Any, axis: Any, batch_dims):
    if np.ndim(axis):
        raise invalid("axis must be scalar")
    axis = int(axis)
    if params.ndim == 0:
        raise invalid("params must be at least 1 dimensional")
    if not -params.ndim <= axis < params.ndim:
        need = axis + 1 if axis >= 0 else -axis
        raise invalid(f"Shape must be at least rank {need} but is rank {params.ndim}")
    axis %= params.ndim
    batch = _batch_dims(batch_dims, params, indices, axis)
    if xp is np:
        _check_range(indices, params.shape[axis])
    if batch == 0:
        return xp.take(params, indices, axis=axis)
    # One index array for every dimension of the result, with the batch dimensions counted in both.
    outer = axis - batch
    indices = np.asarray(indices) if xp is np else indices
    lead = [
        np.arange(n).reshape([-1] + [1] * (axis - i - 1 + indices.ndim - batch))
        for i, n in enumerate(params.shape[:axis])
    ]
    places = indices.reshape(indices.shape[:batch] + (1,) * outer + indices.shape[batch:])
    return params[(*lead, places)]


@GatherV2.batching
def _(call: BatchedCall):
    params, indices, axis = call.inputs
    axis = static_value(axis)
    if axis is None or call.ranks[0] is None:
        return None
    axis, groups = int(axis) % max(call.ranks[0], 1), call.attrs["batch_dims"]
    if not call.batched[0] and axis == 0 and groups == 0:
        return call.run([params, indices, axis])
    if not call.batched[1] and groups == 0:
        return call.run([params, indices, axis + 1])
    groups = groups + 1 if groups >= 0 else groups
    return call.run([call.with_batch(0), call.with_batch(1), axis + 1], batch_dims=groups)


def _batch_dims(batch_dims: int, params, indices, axis: int) -> int:
    if not -indices.ndim <= batch_dims <= indices.ndim:
        raise invalid(
            f"Expected batch_dims in the range [{-indices.ndim}, {indices.ndim}], but got {batch_dims}"
        )
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if batch >= params.ndim:
        raise invalid(f"batch_dims ({batch}) must be less than rank(params) ({params.ndim}).")
    if axis < batch:
        raise invalid(f"batch_dims ({batch}) must be less than or equal to axis ({axis}).")
    for i in range(batch):
        if params.shape[i] != indices.shape[i]:
            raise invalid(
                f"params.shape[{i}]: {params.shape[i]} should be equal to "
                f"indices.shape[{i}]: {indices.shape[i]}"
            )
    return batch


@GatherV2.gradient(needs="indices, axis")
def _(call: GradientCall, dy: Tensor):
    axis = static_value(call.axis)
    rank, count = call.static_shape("params").rank, call.static_shape("indices").rank
    if axis is not None and rank is not None and count is not None:
        axis = int(axis) % rank
        batch = call.batch_dims + count if call.batch_dims < 0 else call.batch_dims
        if axis == 0 and batch == 0:
            return _slices(call, dy, "params"), None, None
        sizes, index = sizes_in(call, "params"), sizes_in(call, "indices")
        groups, outer = product(sizes[:batch]), product(sizes[batch:axis])
        length, inner = sizes[axis], product(sizes[axis + 1 :])
        picked = product(index[batch:])
    elif axis is not None and int(axis) == 0 and call.batch_dims == 0:
        return _slices(call, dy, "params"), None, None
    else:
        vector, index = call.shape("params"), call.shape("indices")
        axis = casting.cast(call.axis, dtypes.int32)
        axis = choice.SelectV2(axis < 0, axis + rank_in(call, "params"), axis)
        batch = call.batch_dims + (rank_in(call, "indices") if call.batch_dims < 0 else 0)
        product_of = reductions.reduce_prod
        groups, outer = product_of(vector[:batch]), product_of(vector[batch:axis])
        length, inner = vector[axis], product_of(vector[axis + 1 :])
        picked = product_of(index[batch:])
    # dy as [batch, outer, picked, inner] -> rows [batch * picked] of [outer, inner].
    shape = as_shape([groups, outer, picked, inner])
    rows = Transpose(Reshape(dy, shape), [0, 2, 1, 3])
    rows = Reshape(rows, as_shape([-1, outer, inner]))
    flat = Reshape(call.indices, as_shape([groups, picked]))
    if call.batch_dims:
        step = range_(0, groups) * length
        flat = casting.cast(flat, dtypes.int32) + Reshape(step, [-1, 1])
    total = as_shape([groups * length, outer, inner])
    flat = casting.cast(Reshape(flat, [-1, 1]), _index_dtype(total))
    summed = scatter.ScatterNd(flat, rows, total)
    shape = as_shape([groups, length, outer, inner])
    whole = Transpose(Reshape(summed, shape), [0, 2, 1, 3])
    return Reshape(whole, call.shape("params")), None, None


def _index_dtype(shape):
    return dtypes.as_dtype(shape.dtype)


@GatherV2.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(4, 3), [0, 2, 2], 0)
    yield Sample(rng.normal(4, 3), [[0, 2], [1, 1]], 1)
    yield Sample(rng.normal(2, 4, 3), [[0, 2], [3, 3]], 1, batch_dims=1)
    yield Sample(rng.normal(2, 3, 4, 2), [[0, 2], [3, 3]], 2, batch_dims=1)
    yield Sample(rng.normal(2, 3), [[1], [2]], -1, batch_dims=-1)
    yield Sample(rng.normal(4, 3), 1, -1)
    yield Sample(rng.normal(2, 3), np.zeros(0, np.int32), 1)
    yield Sample(rng.normal(3), [7], 0, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [-1], 1, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [0], 2, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [0], np.int64(-(2**63)), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [0], [1], raises=InvalidArgumentError)
    yield Sample(rng.normal(), [0], 0, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[0]], 1, batch_dims=1, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [0], 1, batch_dims=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [0, 0], 0, batch_dims=1, raises=InvalidArgumentError)


@GatherV2.reference
def _(params: Any, indices: Any, axis: Any, batch_dims: int):
    params, indices, axis = np.asarray(params), np.asarray(indices), int(axis) % np.ndim(params)
    batch = batch_dims + indices.ndim if batch_dims < 0 else batch_dims
    if batch:
        pairs = zip(params, indices, strict=True)
        return np.stack([_take(p, i, axis - 1, batch - 1) for p, i in pairs])
    return np.take(params, indices, axis)


def _take(params, indices, axis, batch):
    if batch:
        return np.stack(
            [_take(p, i, axis - 1, batch - 1) for p, i in zip(params, indices, strict=True)]
        )
    return np.take(params, indices, axis)


@api(v2="gather")
@tensor_function
def gather(
    params: TensorLike, indices: TensorLike, validate_indices: bool | None = None,
    axis: AxisLike | None = None, batch_dims: int = 0, name: str | None = None,
):
    """Take slices of a tensor by their indices along an axis.

    Args:
      params: a tensor of any dtype, or a variable.
      indices: an int16, int32 or int64 tensor of any shape.
      validate_indices: not used: indices are always checked.
      axis: the axis, in [-rank, rank) of `params`; None: `batch_dims`.
      batch_dims: how many first dimensions of `params` and `indices` are matched one by one.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype of `params` and of shape `params.shape[:axis] + indices.shape[batch_dims:] +
      params.shape[axis + 1:]`. The gradient of `params` along axis 0 is a `tf.IndexedSlices`.

    Raises:
      InvalidArgumentError: for an index outside of the axis.

    >>> tf.gather([10, 20, 30, 40], [3, 0, 0])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([40, 10, 10], dtype=int32)>
    >>> tf.gather([[1, 2, 3], [4, 5, 6]], [2, 0], axis=1)
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[3, 1],
           [6, 4]], dtype=int32)>
    """
    if axis is None:
        axis = batch_dims
    if isinstance(axis, int) and axis == 0 and batch_dims == 0:
        if not isinstance(params, Tensor) and hasattr(params, "sparse_read"):
            return params.sparse_read(indices)
        return Gather(params, indices)
    return GatherV2(params, indices, axis, batch_dims)


@api(v1="gather")
@tensor_function
def gather_v1(
    params: TensorLike, indices: TensorLike, validate_indices: bool | None = None, name: str | None = None,
    axis: AxisLike | None = None, batch_dims: int = 0,
):
    """`gather` with the 1.x order of arguments."""
    return gather(params, indices, validate_indices, axis, batch_dims)


@api(v1="batch_gather")
@tensor_function
@graph_scope("BatchGather")
def batch_gather(params: TensorLike, indices: TensorLike, name: str | None = None):
    """`gather` along the last dimension of `indices`, all others matched one by one."""
    indices = convert_to_tensor(indices)
    if indices.shape.rank is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    return gather(params, indices, batch_dims=indices.shape.rank - 1)
