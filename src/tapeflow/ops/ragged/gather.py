"""Rows and elements picked from ragged tensors."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.ops.array import construction, joining, layout, ranges
from tapeflow.ops.array import rows as array
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.tiling import repeat
from tapeflow.ops.control.assertions import assert_equal_v1, assert_less_v1, assert_non_negative_v1
from tapeflow.ops.indexing import gather as dense_gather
from tapeflow.ops.indexing import gather_nd as indexing_gather_nd
from tapeflow.ops.math import arithmetic
from tapeflow.ops.math.casting import cast
from tapeflow.ops.ragged.array import guarded
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.functions import expand_dims, gather_rows
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor

# Picking


def gather(
    params: RaggedTensor, indices, validate_indices: bool | None = None, axis: int | None = None, batch_dims: int = 0,
    name: str | None = None,
):
    """`tf.gather` where `params` or `indices` are ragged.

    Raises ValueError for ranks that do not allow it, InvalidArgumentError for indices out of range.
    """
    params, indices = as_ragged_or_tensor(params), as_ragged_or_tensor(indices)
    batch = int(batch_dims)
    if batch < 0:
        if indices.shape.rank is None:
            raise ValueError("batch_dims may only be negative if the rank of indices is known")
        batch += indices.shape.rank
    at = positive_axis(batch if axis is None else axis, params.shape.rank)
    if at < batch:
        raise ValueError(f"axis={at} must be greater than or equal to batch_dims={batch}")
    return _gathered(params, indices, at, batch)


def _as_rows(value):
    return value if isinstance(value, RaggedTensor) else RaggedTensor.from_tensor(value)


def _gathered(params: RaggedTensor, indices, axis: int, batch: int):
    ragged = isinstance(params, RaggedTensor), isinstance(indices, RaggedTensor)
    if not any(ragged):
        return dense_gather.gather(params, indices, axis=axis, batch_dims=batch)
    if batch == 1 and axis > 1:
        return _gathered_in_rows(_as_rows(params), indices, axis)
    if batch > 1:
        if not all(ragged):
            params, indices = _as_rows(params), _as_rows(indices)
        inner = _gathered(params.values, indices.values, axis - 1, batch - 1)
        check = assert_equal_v1(
            params.row_splits,
            cast(indices.row_splits, params.row_splits.dtype),
            message="params and indices must have the same batch dimensions",
        )
        with guarded(check):
            return indices.with_values(inner)
    if batch:
        return _gathered_of_rows(params, indices)
    if axis == 0:
        return _gathered_rows(params, indices)
    if axis == 1:
        rows = _as_rows(params)
        return _gathered_of_rows(rows, _for_each_row(indices, rows.nrows()))
    if isinstance(params, RaggedTensor):
        return params.with_values(_gathered(params.values, indices, axis - 1, 0))
    rows = RaggedTensor.from_tensor(params)
    return rows.with_values(_gathered(rows.values, indices, axis - 1, 0))


def _gathered_in_rows(params: RaggedTensor, indices, axis: int):
    """From each value of row i, along an axis inside of it, the elements at `indices[i]`."""
    count = indices.nrows() if isinstance(indices, RaggedTensor) else Shape(indices)[0]
    check = assert_equal_v1(
        params.nrows(), cast(count, params.row_splits.dtype),
        message="params and indices must have the same batch dimensions",
    )
    with guarded(check):
        of_values = gather_rows(indices, params.value_rowids())
    return params.with_values(_gathered(params.values, of_values, axis - 1, 1))


def _for_each_row(indices, rows: Tensor):
    """The same indices for each of so many rows."""
    if isinstance(indices, RaggedTensor) or indices.shape.rank:
        one = expand_dims(indices, 0)
        if not isinstance(one, RaggedTensor):
            one = RaggedTensor.from_tensor(one, row_splits_dtype=rows.dtype)
        return gather_rows(one, construction.zeros(layout.reshape(rows, [1]), rows.dtype))
    return repeat(layout.reshape(indices, [1]), layout.reshape(rows, [1]))


def _gathered_rows(params: RaggedTensor, indices: Tensor):
    if isinstance(indices, RaggedTensor):
        return indices.with_values(_gathered_rows(params, indices.values))
    rank = indices.shape.rank
    if not isinstance(params, RaggedTensor):
        return dense_gather.gather(params, indices)
    if not indices.dtype.is_integer:
        indices = cast(indices, dtypes.int32) if indices.shape.num_elements() == 0 else indices
    if rank == 0:
        return gather_rows(params, layout.reshape(indices, [1])).values
    if rank == 1:
        return gather_rows(params, indices)
    if rank is None:
        raise ValueError("rank(indices) must be known statically")
    flat = gather_rows(params, layout.reshape(indices, [-1]))
    sizes = cast(Shape(indices), params.row_splits.dtype)
    return _with_outer(flat, [sizes[i] for i in range(rank)])


def _with_outer(rows, sizes):
    """The rows arranged in dimensions of these sizes."""
    out = rows
    for i in range(len(sizes) - 1, 0, -1):
        count = sizes[0]
        for size in sizes[1:i]:
            count = count * size
        out = RaggedTensor.from_uniform_row_length(out, sizes[i], count, validate=False)
    return out


def _gathered_of_rows(params: RaggedTensor, indices):
    """From each row of `params` the elements at the indices in the same row."""
    scalars = not isinstance(indices, RaggedTensor) and indices.shape.rank == 1
    if scalars:
        indices = RaggedTensor.from_tensor(layout.expand_dims(indices, 1))
    dense = not isinstance(indices, RaggedTensor)
    params, indices = _as_rows(params), _as_rows(indices)
    kind = params.row_splits.dtype
    if indices.row_splits.dtype != kind:
        indices = indices.with_row_splits_dtype(kind)
    rows_check = assert_equal_v1(
        params.nrows(), indices.nrows(), message="params and indices must have the same number of rows"
    )
    splits = indices.row_splits
    inner, depth = indices.values, 0
    while isinstance(inner, RaggedTensor):
        splits = dense_gather.gather(inner.row_splits, splits)
        inner, depth = inner.values, depth + 1
    rows = repeat(ranges.range(indices.nrows()), splits[1:] - splits[:-1])
    extra = inner.shape.rank - 1
    for _ in range(extra):
        rows = layout.expand_dims(rows, -1)
    number = cast(inner, kind)
    with guarded(rows_check):
        starts = dense_gather.gather(params.row_starts(), rows)
        lengths = dense_gather.gather(params.row_lengths(), rows)
    with guarded(*_inside(number, lengths)):
        at = starts + number
    values = _gathered_rows(params.values, at) if extra else gather_rows(params.values, at)
    out = indices.with_flat_values(values)
    if scalars:
        return out.values
    return out.to_tensor() if dense and not isinstance(params.values, RaggedTensor) else out


def _inside(number: Tensor, lengths: Tensor):
    return (
        assert_non_negative_v1(number, message="indices must not be negative"),
        assert_less_v1(number, lengths, message="indices are out of range of the rows"),
    )


def batch_gather(params, indices, name: str | None = None):
    """`tf.batch_gather` where `params` or `indices` are ragged: all but the last dimension of indices are batches."""
    indices = as_ragged_or_tensor(indices)
    if indices.shape.rank is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    return gather(params, indices, batch_dims=indices.shape.rank - 1)


def gather_nd(
    params: RaggedTensor, indices, batch_dims: int = 0, name: str | None = None, bad_indices_policy: str = ""
):
    """`tf.gather_nd` where `params` or `indices` are ragged. Raises ValueError for another policy than DEFAULT."""
    if bad_indices_policy not in ("", "DEFAULT"):
        raise ValueError("non-default bad_indices_policy not supported for ragged gather")
    params, indices = as_ragged_or_tensor(params), as_ragged_or_tensor(indices)
    if batch_dims:
        if not isinstance(batch_dims, int) or batch_dims < 0:
            raise ValueError("batch_dims must be a non-negative integer")
        params, indices = _as_rows(params), _as_rows(indices)
        return indices.with_values(gather_nd(params.values, indices.values, batch_dims - 1))
    rank = indices.shape.rank
    if rank is None:
        raise ValueError("indices.rank be statically known.")
    if rank == 0:
        raise ValueError("indices.rank must be at least 1.")
    size = indices.shape.as_list()[-1]
    if isinstance(indices, RaggedTensor) and indices.ragged_rank == rank - 1:
        raise ValueError("The innermost dimension of indices may not be ragged")
    if size is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    if isinstance(indices, RaggedTensor):
        return indices.with_flat_values(gather_nd(params, indices.flat_values))
    if size == 0:
        outer = cast(Shape(indices)[:-1], dtypes.int64)
        many = array.identity(params)
        if rank == 1:
            return many
        count = arithmetic.maximum(_product([outer[i] for i in range(rank - 1)]), 0)
        return _with_outer(_for_each_row(many, count), [count] if rank == 2 else
                           [outer[i] for i in range(rank - 1)])  # fmt: skip
    flat = layout.reshape(indices, [-1, size])
    out = _element(params, flat, size)
    if rank == 2:
        return out
    if rank == 1:
        return out[0] if isinstance(out, RaggedTensor) else layout.squeeze(out, [0])
    sizes = Shape(indices)[:-1]
    if isinstance(out, RaggedTensor):
        sizes = cast(sizes, out.row_splits.dtype)
        return _with_outer(out, [sizes[i] for i in range(rank - 1)])
    return layout.reshape(out, joining.concat([sizes, Shape(out)[1:]], 0))


def _product(sizes):
    total = sizes[0]
    for size in sizes[1:]:
        total = total * size
    return total


def _element(params: RaggedTensor, indices: Tensor, size: int):
    """What the rows of an `[n, size]` matrix of indices point to."""
    if not isinstance(params, RaggedTensor):
        return indexing_gather_nd.gather_nd(params, indices)
    kind = params.row_splits.dtype
    number = cast(indices, kind)
    at, part = number[:, 0], params
    for dimension in range(1, size):
        if not isinstance(part, RaggedTensor):
            rest = joining.concat([layout.expand_dims(at, 1), number[:, dimension:]], 1)
            return indexing_gather_nd.gather_nd(part, rest)
        starts = dense_gather.gather(part.row_starts(), at)
        lengths = dense_gather.gather(part.row_lengths(), at)
        step = number[:, dimension]
        with guarded(*_inside(step, lengths)):
            at = starts + step
        part = part.values
    return gather_rows(part, at)
