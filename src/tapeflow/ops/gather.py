"""Ops that read elements by their index: gather, gather_nd, boolean_mask."""

from __future__ import annotations

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.public import public
from tapeflow.ops import casting, scatter, shapes
from tapeflow.ops.layout import Reshape, Transpose
from tapeflow.ops.static import as_shape, product, sizes_in, sizes_of, static_value
from tapeflow.ops.table import ANY, INDEX, Sample, op, string
from tapeflow.ops.validate import first_out_of_range, invalid, one_value, shape_text

GATHER_INDEX = (*INDEX, dtypes.int16)


def _check_range(indices, size: int) -> None:
    bad = first_out_of_range(np.asarray(indices), size)
    if bad:
        raise invalid(f"indices{bad[0]} = {bad[1]} is not in [0, {size})")


def _gather_rule(call):
    params, indices = call.shape(0), call.shape(1)
    return [None if params is None or indices is None else (*indices, *params[1:])]


@op(
    "Gather",
    "params: Tparams, indices: Tindices -> output: Tparams",
    types={"Tparams": ANY, "Tindices": INDEX},
    attrs={"validate_indices": True},
    shape=_gather_rule,
)
def Gather(xp, params, indices, validate_indices):
    if params.ndim == 0:
        raise invalid("params must be at least 1 dimensional")
    if xp is np:
        _check_range(indices, params.shape[0])
    return xp.take(params, indices, axis=0)


def _slices(call, dy, rows: str):
    """The gradient of a gather of rows: only the rows that were read."""
    sizes = sizes_in(call, rows)
    values = Reshape(dy, as_shape([-1, *sizes[1:]]))
    return IndexedSlices(values, Reshape(call.indices, [-1]), call.shape(rows))


@Gather.gradient(needs="indices")
def _(call, dy):
    return _slices(call, dy, "params"), None


@Gather.samples
def _(rng):
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
def _(params, indices, validate_indices):
    params = np.asarray(params)
    rows = [params[i] for i in np.ravel(indices)]
    return np.array(rows, params.dtype).reshape(*np.shape(indices), *params.shape[1:])


def _gather_v2_rule(call):
    params, indices, axis = call.shape(0), call.shape(1), call.value(2)
    if params is None or indices is None or axis is None:
        return [None]
    at, batch = shapes.normal_axis(int(axis), len(params)), call.attr("batch_dims")
    batch = batch + len(indices) if batch < 0 else batch
    return [(*params[:at], *indices[batch:], *params[at + 1 :])]


@op(
    "GatherV2",
    "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams",
    types={"Tparams": ANY, "Tindices": GATHER_INDEX, "Taxis": INDEX},
    attrs={"batch_dims": 0},
    shape=_gather_v2_rule,
)
def GatherV2(xp, params, indices, axis, batch_dims):
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
def _(call, dy):
    static_axis = static_value(call.axis)
    rank = call.static_shape("params").rank
    if static_axis is None or rank is None:
        raise ValueError("The gradient of GatherV2 needs an axis and a rank that are known.")
    axis = int(static_axis) % rank
    batch = call.batch_dims
    count = call.static_shape("indices").rank
    batch = batch + count if batch < 0 else batch
    if axis == 0 and batch == 0:
        return _slices(call, dy, "params"), None, None
    sizes, index = sizes_in(call, "params"), sizes_in(call, "indices")
    lead, outer, inner = sizes[:batch], sizes[batch:axis], sizes[axis + 1 :]
    groups, length = product(lead), sizes[axis]
    picked = product(index[batch:])
    # dy as [batch, outer, picked, inner] -> rows [batch * picked] of [outer, inner].
    shape = as_shape([groups, product(outer), picked, product(inner)])
    rows = Transpose(Reshape(dy, shape), [0, 2, 1, 3])
    rows = Reshape(rows, as_shape([-1, product(outer), product(inner)]))
    flat = Reshape(call.indices, as_shape([groups, picked]))
    if batch:
        from tapeflow.ops.construction import range as range_

        step = range_(0, groups) * length
        flat = casting.cast(flat, dtypes.int32) + Reshape(step, [-1, 1])
    total = as_shape([groups * length, product(outer), product(inner)])
    flat = casting.cast(Reshape(flat, [-1, 1]), _index_dtype(total))
    summed = scatter.ScatterNd(flat, rows, total)
    shape = as_shape([groups, length, product(outer), product(inner)])
    whole = Transpose(Reshape(summed, shape), [0, 2, 1, 3])
    return Reshape(whole, call.shape("params")), None, None


def _index_dtype(shape):
    return dtypes.as_dtype(shape.dtype)


@GatherV2.samples
def _(rng):
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
    yield Sample(rng.normal(2, 3), [0], [1], raises=InvalidArgumentError)
    yield Sample(rng.normal(), [0], 0, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [[0]], 1, batch_dims=1, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [0], 1, batch_dims=2, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), [0, 0], 0, batch_dims=1, raises=InvalidArgumentError)


@GatherV2.reference
def _(params, indices, axis, batch_dims):
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


@public
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """The slices of `params` at `indices` along `axis` (default: `batch_dims`).

    The first `batch_dims` dimensions of both are matched one by one. The gradient for `axis` 0 is IndexedSlices.
    Raises InvalidArgumentError for an index that is not in the dimension.
    """
    if axis is None:
        axis = batch_dims
    if isinstance(axis, int) and axis == 0 and batch_dims == 0:
        if not isinstance(params, Tensor) and hasattr(params, "sparse_read"):
            return params.sparse_read(indices)
        return Gather(params, indices)
    return GatherV2(params, indices, axis, batch_dims)


@public
def gather_v1(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """`gather` with the 1.x order of arguments."""
    return gather(params, indices, validate_indices, axis, batch_dims)


def _gather_nd_rule(call):
    params, indices = call.shape(0), call.shape(1)
    if params is None or not indices or indices[-1] is None:
        return [None]
    return [(*indices[:-1], *params[indices[-1] :])]


_POLICIES = ("", "DEFAULT", "ERROR", "IGNORE")


@op(
    "GatherNd",
    "params: Tparams, indices: Tindices -> output: Tparams",
    types={"Tparams": ANY, "Tindices": GATHER_INDEX},
    attrs={"bad_indices_policy": string("")},
    shape=_gather_nd_rule,
)
def GatherNd(xp, params, indices, bad_indices_policy):
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
def _(call, dy):
    if call.static_shape("indices").rank == 2 and call.static_shape("indices").as_list()[-1] == 1:
        return IndexedSlices(dy, Reshape(call.indices, [-1]), call.shape("params")), None
    shape = casting.cast(call.shape("params"), call.dtype("indices"))
    return scatter.ScatterNd(call.indices, dy, shape), None


@GatherNd.samples
def _(rng):
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
def _(params, indices, bad_indices_policy):
    params, indices = np.asarray(params), np.asarray(indices)
    out = np.zeros(indices.shape[:-1] + params.shape[indices.shape[-1] :], params.dtype)
    for at in np.ndindex(*indices.shape[:-1]):
        out[at] = params[tuple(int(i) for i in indices[at])]
    return out


@public
def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy=""):
    """The elements or slices of `params` whose coordinates are the rows of `indices`.

    The first `batch_dims` dimensions of both are matched one by one.
    Raises InvalidArgumentError for coordinates outside of `params`.
    """
    batch_dims = int(batch_dims)
    if batch_dims == 0:
        return GatherNd(params, indices, bad_indices_policy)
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
    from tapeflow.ops.broadcasting import BroadcastTo
    from tapeflow.ops.construction import range as range_
    from tapeflow.ops.joining import ConcatV2

    sizes = sizes_of(indices)
    columns = []
    for i in range(batch_dims):
        line = Reshape(
            range_(0, sizes_of(params)[i], dtype=indices.dtype), [-1] + [1] * (len(sizes) - 1 - i)
        )
        columns.append(BroadcastTo(line, as_shape([*sizes[:-1], 1])))
    return GatherNd(params, ConcatV2([*columns, indices], -1), bad_indices_policy)


@public
def gather_nd_v1(params, indices, name=None, batch_dims=0, bad_indices_policy=""):
    """`gather_nd` with the 1.x order of arguments."""
    return gather_nd(params, indices, batch_dims, None, bad_indices_policy)


@public
def batch_gather(params, indices, name=None):
    """`gather` along the last dimension of `indices`, all others matched one by one."""
    indices = convert_to_tensor(indices)
    if indices.shape.rank is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    return gather(params, indices, batch_dims=indices.shape.rank - 1)


@public
def boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    """The elements or slices of `tensor` where `mask` is true, the masked dimensions joined into one.

    `mask` covers the dimensions of `tensor` from `axis` (0) on. Raises ValueError where it does not fit or is a
    scalar.
    """
    from tapeflow.ops.selection import Where

    tensor = convert_to_tensor(tensor)
    mask = convert_to_tensor(mask)
    rank = mask.shape.rank
    if rank is None:
        raise ValueError("The rank of the mask must be known, even if its dimensions are not.")
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    axis = 0 if axis is None else one_value(static_value(axis), "axis must be scalar")
    at = axis + tensor.shape.rank if axis < 0 else axis
    part = tensor.shape[at : at + rank]
    if not part.is_compatible_with(mask.shape):
        raise ValueError(f"Shapes {part} and {mask.shape} are incompatible")
    if rank > 1:
        sizes = sizes_of(tensor)
        merged = product(sizes[at : at + rank])
        tensor = Reshape(tensor, as_shape([*sizes[:at], merged, *sizes[at + rank :]]))
        mask = Reshape(mask, [-1])
    if mask.dtype != dtypes.bool:
        mask = casting.cast(mask, dtypes.bool)
    where = Reshape(Where(mask), [-1])
    return Gather(tensor, where) if at == 0 else GatherV2(tensor, where, at)


@public
def boolean_mask_v1(tensor, mask, name="boolean_mask", axis=None):
    """`boolean_mask` with the 1.x order of arguments."""
    return boolean_mask(tensor, mask, axis)
