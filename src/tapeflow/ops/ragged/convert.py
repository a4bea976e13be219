"""Ragged tensors from and to dense and sparse ones, and dimensions of them merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import as_shape as shape_of
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.construction import fill, zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tiling import repeat
from tapeflow.ops.array.transposing import Transpose
from tapeflow.ops.control.assertions import assert_equal_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.boolean_mask import boolean_mask
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.tensor_scatter import tensor_scatter_nd_update
from tapeflow.ops.indexing.unravel import unravel_index
from tapeflow.ops.math import arithmetic, reductions
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.partitions import READ_SPLITS, integers, required, row_count
from tapeflow.ops.ragged.tensor import RaggedTensor, for_each_value, rowids_of_splits
from tapeflow.ops.static import static_value


def columns_of(ragged: RaggedTensor):
    """(row, place in the row) of each value."""
    rows = ragged.value_rowids()
    count = cast(Shape(rows)[0], rows.dtype)
    return rows, range_(count) - for_each_value(ragged, ragged.row_starts())


def nothing(dtype: DTypeLike):
    return convert_to_tensor(b"") if dtype == dtypes.string else zeros([], dtype)


def to_tensor(ragged: RaggedTensor, default_value=None, shape: Any = None):
    default = (
        nothing(ragged.dtype)
        if default_value is None
        else convert_to_tensor(default_value, ragged.dtype)
    )
    wanted: list = [None] * 2
    inner_wanted = None
    inner = ragged.values
    if shape is not None:
        sizes = _sizes(shape)
        if sizes is not None:
            rank = ragged.shape.rank
            if rank is not None and len(sizes) != rank:
                raise ValueError(
                    f"shape.rank={len(sizes)} and value.rank={rank} must be equal in to_tensor"
                )
            wanted = (sizes + [None] * 2)[:2]
            inner_wanted = [sizes[1], *sizes[2:]]
            if not isinstance(inner, RaggedTensor):
                _require_inner(inner, sizes[2:])
    if isinstance(inner, RaggedTensor):
        inner = to_tensor(
            inner, default, None if inner_wanted is None else [None, *inner_wanted[1:]]
        )
    kind = ragged.row_splits.dtype
    lengths = ragged.row_lengths()
    rows = ragged.nrows() if wanted[0] is None else cast(wanted[0], kind)
    if wanted[1] is None:
        longest = reductions.reduce_max(concat([zeros([1], kind), lengths], 0))
    else:
        longest = cast(wanted[1], kind)
    cells = [cast(size, dtypes.int64) for size in (rows, longest)]
    if wanted[0] is None and wanted[1] is None:
        first = range_(cells[0]) * cells[1] - cast(ragged.row_starts(), dtypes.int64)
        place = range_(cast(row_count(ragged.values), dtypes.int64)) + for_each_value(ragged, first)
    else:
        row, column = columns_of(ragged)
        inside = logical_and(row < rows, column < longest)
        row, column, inner = (
            boolean_mask(row, inside),
            boolean_mask(column, inside),
            boolean_mask(inner, inside),
        )
        place = cast(row, dtypes.int64) * cells[1] + cast(column, dtypes.int64)
    cell = cast(Shape(inner)[1:], kind)
    if default.shape.rank:
        blank = fill(concat([stack([rows, longest]), cell * 0 + 1], 0), nothing(ragged.dtype))

        blank = (
            broadcast_to(default, concat([stack([rows, longest]), cell], 0))
            if blank is not None
            else None
        )
    else:
        blank = fill(concat([stack([rows, longest]), cell], 0), default)
    sizes = concat([stack([rows, longest]), cell], 0)
    flat = reshape(blank, concat([reshape(cells[0] * cells[1], [1]), cast(cell, dtypes.int64)], 0))
    out = reshape(tensor_scatter_nd_update(flat, expand_dims(place, 1), inner), sizes)
    return _known(out, ragged, wanted)


def _require_inner(flat: Tensor, sizes: Sequence[Any]):
    """Raises InvalidArgumentError where the uniform dimensions are known to have other sizes than wanted."""
    known = flat.shape[1:].as_list()
    for found, size in zip(known, sizes, strict=True):
        if isinstance(size, int) and found is not None and found != size:
            raise InvalidArgumentError(
                None,
                None,
                f"Inner dimensions {known} of the values cannot be brought to {sizes} by to_tensor",
            )


def _known(out: Tensor, ragged: RaggedTensor, wanted: Sequence[int | None]):
    if out.shape.rank is None and ragged.shape.rank is not None:
        out.set_shape([None] * ragged.shape.rank)
    return out


def _sizes(shape):
    """The sizes of a dense shape as ints, tensors and None for those that are free."""
    known = static_value(shape) if hasattr(shape, "dtype") else None
    if known is not None:
        return [None if d < 0 else int(d) for d in known]
    if hasattr(shape, "dtype"):
        return [shape[i] for i in range(shape.shape[0])]
    shape = shape_of([None if isinstance(d, int) and d < 0 else d for d in shape]
                     if isinstance(shape, (list, tuple)) else shape)  # fmt: skip
    return None if shape.rank is None else shape.as_list()


def from_tensor(tensor: Tensor, lengths, padding, ragged_rank: int, row_splits_dtype: DType):
    kind = dtypes.as_dtype(row_splits_dtype)
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    if not isinstance(ragged_rank, int):
        raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
    if ragged_rank <= 0:
        raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
    tensor = convert_to_tensor(tensor)
    rank = tensor.shape.rank
    if rank is not None and rank < 2:
        raise ValueError(
            "The rank of a RaggedTensor must be greater than 1, i.e., a list of scalars won't have ragged dimensions. "
            f"Received argument `tensor` with rank {rank}."
        )
    tensor.shape.with_rank_at_least(ragged_rank + 1)
    if isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], (int, float)):
        if ragged_rank not in (1, len(lengths)):
            raise ValueError(
                "If Argument `lengths` is a tuple of row_lengths, argument `ragged_rank` must be len(lengths): "
                f"{len(lengths)}. Received ragged_rank: {ragged_rank}"
            )
        tensor.shape.with_rank_at_least(len(lengths) + 1)
        return _from_nested_lengths(tensor, lengths, kind)
    sizes = cast(Shape(tensor), kind)
    if ragged_rank > 1:
        return _from_deep(tensor, sizes, lengths, padding, ragged_rank, kind)
    rows, columns = sizes[0], sizes[1]
    if padding is not None:
        lengths = _unpadded_lengths(tensor, convert_to_tensor(padding, tensor.dtype), rows, columns, kind)
    elif lengths is None:
        flat = reshape(tensor, concat([reshape(rows * columns, [1]), sizes[2:]], 0))
        return RaggedTensor.from_uniform_row_length(flat, columns, rows)
    else:
        lengths = integers(lengths, "lengths", kind)
        lengths.shape.assert_has_rank(1)
        lengths = arithmetic.maximum(arithmetic.minimum(lengths, columns), 0)
    kept = expand_dims(range_(columns), 0) < expand_dims(lengths, 1)
    return RaggedTensor.from_row_lengths(boolean_mask(tensor, kept), lengths, validate=False)


def _unpadded_lengths(tensor, padding, rows, columns, kind):
    """How many cells of each row stand before those at its end that are `padding`."""
    padding.shape.assert_is_compatible_with(tensor.shape[2:])
    full = equal(tensor, padding)
    rank = tensor.shape.rank
    if rank is not None and rank > 2:
        full = reductions.reduce_all(full, axis=list(range(2, rank)))
    ends = expand_dims(range_(1, columns + 1, dtype=kind), 0) * cast(~full, kind)
    return reductions.reduce_max(concat([zeros(stack([rows, 1]), kind), ends], 1), axis=1)


def _from_nested_lengths(tensor, lengths, kind):
    """The cells of `tensor` that are inside of rows of these lengths; lengths that exceed it are errors."""
    lengths = [integers(each, "lengths", kind) for each in lengths]
    count = reductions.reduce_sum(lengths[-1])
    inside = RaggedTensor.from_nested_row_lengths(fill(reshape(count, [1]), True), lengths, validate=False)
    return RaggedTensor.from_nested_row_lengths(boolean_mask(tensor, inside.to_tensor(False)), lengths, validate=False)


def _from_deep(tensor, sizes, lengths, padding: str, ragged_rank, kind):
    flat = reshape(tensor, concat([reshape(sizes[0] * sizes[1], [1]), sizes[2:]], 0))
    inner = from_tensor(flat, lengths, padding, ragged_rank - 1, kind)
    return RaggedTensor.from_uniform_row_length(inner, sizes[1], sizes[0])


def to_sparse(ragged: RaggedTensor):
    kind = dtypes.int64
    splits, values = [], ragged
    while isinstance(values, RaggedTensor):
        splits.append(cast(required(True, values.values, values.row_splits, READ_SPLITS), kind))
        values = values.values
    count = cast(Shape(values)[0], kind)
    at = range_(count)
    columns = []
    for split in splits[::-1]:
        rows = rowids_of_splits(split)
        if columns:  # the innermost rows are those of all values
            rows = gather(rows, at)
        columns.append(at - gather(split[:-1], rows))
        at = rows
    index = stack([at, *columns[::-1]], axis=1)
    inner = values.shape.rank
    if inner != 1:
        cells = cast(Shape(values)[1:], kind)
        each = reductions.reduce_prod(cells)

        number = range_(count * each)
        inside = unravel_index(number % arithmetic.maximum(each, 1), arithmetic.maximum(cells, 1))
        index = concat([repeat(index, cast(each, dtypes.int32), axis=0), _turned(inside)], 1)
        values = reshape(values, [-1])
    return SparseTensor(index, values, ragged.bounding_shape(out_type=kind))


def _turned(matrix):
    return Transpose(matrix, [1, 0])


def from_sparse(st_input, row_splits_dtype):
    kind = dtypes.as_dtype(row_splits_dtype)
    if not isinstance(st_input, SparseTensor):
        raise TypeError(
            f"Argument `st_input` must be a SparseTensor, but is of type {type(st_input).__name__}."
        )
    rank, indices = st_input.shape.rank, st_input.indices
    if rank is None and indices.shape.rank == 2:
        rank = indices.shape[1]
    if rank != 2:
        raise ValueError(f"rank(st_input) must be 2, but is {'unknown' if rank is None else rank}")
    rows, columns = indices[:, 0], indices[:, 1]
    ragged = RaggedTensor.from_value_rowids(
        st_input.values, cast(rows, kind), cast(st_input.dense_shape[0], kind)
    )
    # Each element stands where the one before it in its row ends.
    place = cast(columns_of(ragged)[1], columns.dtype)
    check = assert_equal_v1(columns, place, message="SparseTensor is not right-ragged")
    if check is None:
        return ragged
    with control_dependencies([check]):
        return ragged.with_values(identity(ragged.values))


def merge_dims(value: RaggedTensor, outer_axis: int | str, inner_axis: Any):
    rank = value.shape.rank
    outer_axis = positive_axis(outer_axis, rank, "outer_axis")
    inner_axis = positive_axis(inner_axis, rank, "inner_axis")
    if outer_axis == inner_axis:
        return value
    if outer_axis > inner_axis:
        raise ValueError(
            f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis})."
        )
    if not isinstance(value, RaggedTensor):
        sizes = Shape(value)
        return reshape(value, concat([sizes[:outer_axis], [-1], sizes[inner_axis + 1 :]], 0))
    if outer_axis == 1:
        splits, out = value.row_splits, value.values
        for _ in range(inner_axis - 1):
            if isinstance(out, RaggedTensor):
                splits, out = gather(out.row_splits, splits), out.values
            else:
                sizes = Shape(out)
                splits = splits * cast(sizes[1], splits.dtype)
                out = reshape(out, concat([[-1], sizes[2:]], 0))
        return RaggedTensor.from_row_splits(out, splits, validate=False)
    if outer_axis > 1:
        return value.with_values(merge_dims(value.values, outer_axis - 1, inner_axis - 1))
    out = value
    for _ in range(inner_axis):
        if isinstance(out, RaggedTensor):
            out = out.values
        else:
            sizes = Shape(out)
            out = reshape(out, concat([[-1], sizes[2:]], 0))
    return out
