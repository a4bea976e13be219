"""Elements and slices read by vectors of indices: `gather_nd`."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.array.broadcasting import BroadcastTo
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape as shape_of
from tapeflow.ops.indexing import scatter
from tapeflow.ops.math import casting
from tapeflow.ops.signature import string
from tapeflow.ops.static import as_shape, joined, rank_of, size_of, sizes_of, static_value
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


GATHER_INDEX = (*INDEX, dtypes.int16)


def _gather_nd_rule(call: ShapeCall):
    params, indices = call.shape(0), call.shape(1)
    shapes.at_least(indices, 1)
    if params is None or not indices or indices[-1] is None:
        return [None]
    if indices[-1] > len(params):
        raise invalid(
            "indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{list(indices)} and params shape: {list(params)}"
        )
    return [(*indices[:-1], *params[indices[-1] :])]


_POLICIES = ("", "DEFAULT", "ERROR", "IGNORE")


@op(
    "GatherNd",
    "params: Tparams, indices: Tindices -> output: Tparams",
    types={"Tparams": ANY, "Tindices": GATHER_INDEX},
    attrs={"bad_indices_policy": string("")},
    shape=_gather_nd_rule,
)
def GatherNd(xp: ModuleType, params: Array, indices: Array, bad_indices_policy: str):
    if params.ndim == 0:
        raise invalid("params must be at least a vector")
    if indices.ndim == 0:
        raise invalid("indices must be at least a vector")
    depth = indices.shape[-1]
    if depth > params.ndim:
        raise invalid(
            f"index innermost dimension length must be <= params rank; saw: {depth} vs. {params.ndim}"
        )
    if bad_indices_policy not in _POLICIES:
        raise invalid(f"Unknown bad_indices_policy: {bad_indices_policy}")
    if depth == 0:
        return xp.broadcast_to(params, indices.shape[:-1] + params.shape).copy()
    places = xp.moveaxis(indices, -1, 0)
    if xp is np:
        bad = scatter.outside(indices, params.shape)
        if bad.any():
            if bad_indices_policy != "IGNORE":
                where, row = scatter.first_bad(indices, bad)
                raise invalid(
                    f"indices{where} = {row} does not index into param shape {shape_text(params.shape)}"
                )
            out = (
                params[tuple(np.where(bad, 0, places))]
                if params.size
                else np.zeros((), params.dtype)
            )
            out = np.array(np.broadcast_to(out, indices.shape[:-1] + params.shape[depth:]))
            out[bad] = 0
            return out
    return params[tuple(places)]


@GatherNd.gradient(needs="indices")
def _(call: GradientCall, dy: Tensor):
    if call.static_shape("indices").rank == 2 and call.static_shape("indices").as_list()[-1] == 1:
        return IndexedSlices(dy, Reshape(call.indices, [-1]), call.shape("params")), None
    shape = casting.cast(call.shape("params"), call.dtype("indices"))
    return scatter.ScatterNd(call.indices, dy, shape), None


@GatherNd.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(4, 3), [[0, 2], [3, 0], [0, 2]])
    yield Sample(rng.normal(4, 3), [[1], [1]])
    yield Sample(rng.normal(4, 3), [[[1], [0]]])
    yield Sample(rng.normal(2, 2), np.zeros((2, 0), np.int32))
    yield Sample(rng.normal(2, 2), np.zeros((0, 2), np.int32))
    yield Sample(rng.normal(2, 2), [[0, 2]], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 2), [[0, -1]], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 2), [[0, 0, 0]], raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 2), 1, raises=InvalidArgumentError)
    yield Sample(rng.normal(), [0], raises=InvalidArgumentError)


@GatherNd.reference
def _(params: np.ndarray, indices: np.ndarray, bad_indices_policy: str):
    params, indices = np.asarray(params), np.asarray(indices)
    out = np.zeros(indices.shape[:-1] + params.shape[indices.shape[-1] :], params.dtype)
    for at in np.ndindex(*indices.shape[:-1]):
        out[at] = params[tuple(int(i) for i in indices[at])]
    return out


@api(v2="gather_nd")
@tensor_function
def gather_nd(
    params: TensorLike, indices: TensorLike, batch_dims: int = 0, name: str | None = None,
    bad_indices_policy: str = "",
):
    """Take elements or slices of a tensor by their coordinates.

    Args:
      params: a tensor of any dtype, or a variable.
      indices: an int16, int32 or int64 tensor `[..., n]`, each row of which has coordinates for the first n
        dimensions.
      batch_dims: how many first dimensions of `params` and `indices` are matched one by one.
      name: a name for the operation (optional).
      bad_indices_policy: "" or "DEFAULT" or "ERROR": coordinates outside of `params` raise; "IGNORE": they give
        zeros.

    Returns:
      A tensor of the dtype of `params` and of shape `indices.shape[:-1] + params.shape[n:]`.

    Raises:
      InvalidArgumentError: for coordinates outside of `params`.
      ValueError: where `batch_dims` is not less than both ranks.

    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]])
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([2, 3], dtype=int32)>
    """
    batch_dims = _number(batch_dims)
    if batch_dims == 0:
        if not bad_indices_policy and not isinstance(params, Tensor) and hasattr(params, "gather_nd"):
            return params.gather_nd(indices)
        return _gathered_nd(params, indices, bad_indices_policy)
    params, indices = convert_to_tensor(params), convert_to_tensor(indices)
    if indices.shape.rank is not None and batch_dims >= indices.shape.rank:
        raise ValueError(
            f"Argument `batch_dims` = {batch_dims} must be less than rank(`indices`) = {indices.shape.rank}"
        )
    if params.shape.rank is not None and batch_dims >= params.shape.rank:
        raise ValueError(
            f"Argument `batch_dims` = {batch_dims} must be less than rank(`params`) = {params.shape.rank}"
        )
    # The batch coordinates are put in front of each row of indices.

    if indices.shape.rank is None:
        rank, whole = rank_of(indices), joined(shape_of(indices)[:-1], 1)
    else:
        sizes = sizes_of(indices)
        rank, whole = len(sizes), as_shape([*sizes[:-1], 1])
    columns = []
    for i in range(batch_dims):
        line = range_(0, size_of(params, i), dtype=indices.dtype)
        columns.append(BroadcastTo(Reshape(line, joined([-1], rank - 1 - i)), whole))
    return _gathered_nd(params, ConcatV2([*columns, indices], -1), bad_indices_policy)


def _number(batch_dims: Any) -> int:
    """`batch_dims`, which may also be a scalar tensor of a graph."""
    value = static_value(batch_dims) if isinstance(batch_dims, Tensor) else batch_dims
    if value is None:
        raise ValueError(f"Argument `batch_dims` must be known when the graph is built, but is {batch_dims}")
    return int(value)


def _gathered_nd(params: TensorLike, indices: TensorLike, policy: str):
    if policy and scatter.bad_indices_ignored(policy):
        from tapeflow.ops.indexing.bad_indices import gathered  # which is made of this row

        return gathered(GatherNd, params, indices)
    return GatherNd(params, indices, policy)


@api(v1=("manip.gather_nd", "gather_nd"))
@tensor_function
def gather_nd_v1(
    params: TensorLike, indices: TensorLike, name: str | None = None, batch_dims: int = 0,
    bad_indices_policy: str = "",
):
    """`gather_nd` with the 1.x order of arguments."""
    return gather_nd(params, indices, batch_dims, None, bad_indices_policy)
