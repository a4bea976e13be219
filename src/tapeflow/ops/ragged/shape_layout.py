"""How the dimensions of a ragged shape are kept: parts of it, and the same sizes with more or fewer partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import constant
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_prod
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.row_partition import RowPartition


def of_lengths(lengths: Any, count: int | None, dtype: DTypeLike) -> tuple[list[RowPartition], list[Any]]:
    """The partitions and the inner shape of uniform and ragged sizes, of which `count` are partitions."""
    if not isinstance(lengths, (list, tuple)):
        raise ValueError("lengths should be a list")
    lengths = [tuple(v) if isinstance(v, (list, tuple)) else v for v in lengths]
    for size in lengths:
        if not all(isinstance(v, int) for v in (size if isinstance(size, tuple) else (size,))):
            raise ValueError(f"element of lengths should be int or tuple of ints: instead {size!r}")
    ragged = [i for i, v in enumerate(lengths) if isinstance(v, tuple)]
    if count is None:
        count = ragged[-1] if ragged else 0
    if not isinstance(count, int):
        raise ValueError("num_row_partitions should be an int or None")
    if not lengths:
        if count > 0:
            raise ValueError("num_row_partitions==0 for a scalar shape")
        return [], []
    if count >= len(lengths):
        raise ValueError("num_row_partitions should be less than `len(lengths)` if shape is not scalar.")
    if ragged and ragged[0] == 0:
        raise ValueError("Shape not consistent: the first dimension must be uniform")
    if ragged and ragged[-1] > count:
        raise ValueError(f"num_row_partitions={count} does not fit lengths {lengths}")
    total, partitions = lengths[0], []
    for size in lengths[1 : count + 1]:
        if isinstance(size, tuple):
            if len(size) != total:
                raise ValueError(f"Shape not consistent: {len(size)} lengths of rows, but {total} rows: {size}")
            partitions.append(RowPartition.from_row_lengths(list(size), dtype=dtype))
            total = sum(size)
        else:
            partitions.append(RowPartition.from_uniform_row_length(size, nrows=total, dtype=dtype))
            total *= size
    return partitions, [total, *lengths[count + 1 :]]


class ShapeLayout:
    """What the shape of a ragged tensor, which is kept as partitions and an inner shape, does with its dimensions."""

    _static_inner_shape: TensorShape
    dtype: Any
    rank: Any
    inner_rank: Any
    inner_shape: Any
    row_partitions: Any
    num_row_partitions: Any
    is_uniform: Any

    def _made(self, *args: Any) -> Any:
        """A shape of these arguments."""
        cls: Any = type(self)
        return cls(*args)

    @property
    def static_inner_shape(self) -> TensorShape:
        """What is known of the shape of the flat values."""
        return self._static_inner_shape

    def _part(self, index: slice) -> Any:
        """Some of the outer dimensions, or inner dimensions that are uniform. Raises ValueError for ragged ones."""
        if index.step is not None and index.step != 1:
            raise IndexError("Cannot stride through a shape")
        start = self._start(index.start or 0)
        stop = _stop(index.stop, self.rank)
        if stop <= start:
            return self._made([], [], self.dtype)
        if start == 0:
            return self._outer(stop)
        outer = self if self.rank is not None and stop >= self.rank else self._outer(stop)
        if not all(p.is_uniform() for p in outer.row_partitions):
            raise ValueError("All relevant dimensions must be uniform")
        if outer.rank is None:
            raise NotImplementedError("__getitem__[start:stop] where start > 0 not implemented")
        return self._made([], outer._with_num_row_partitions(0).inner_shape[start:])

    def _start(self, index: int) -> int:
        rank = self.rank
        if index < 0:
            if rank is None:
                raise ValueError("Rank must be known to use __getitem__ on a negative index.")
            index = max(index + rank, 0)
        count = self.num_row_partitions
        if index == 0 or (count and index <= count + 1):
            return index
        if rank is None:
            raise ValueError("Rank must be known to use __getitem__ on a large index.")
        return min(index, rank)

    def _outer(self, stop: int) -> Any:
        parts = self.row_partitions
        if stop <= len(parts):
            if stop == 1:
                return self._made([], reshape(parts[0].nrows(), [1]))
            return self._made(parts[: stop - 1], reshape(parts[stop - 2].nvals(), [1]))
        if self.rank is not None and self.rank <= stop:
            return self
        inner = stop - len(parts)
        sizes = self._static_inner_shape
        known = None if sizes.rank is None else sizes[:inner]
        return self._made(parts, self.inner_shape[:inner], self.dtype, False, known)

    def _dimension(self, index: int) -> Any:
        """The size of a uniform dimension, a scalar. Raises ValueError for a ragged one."""
        rank, parts = self.rank, self.row_partitions
        if not isinstance(index, int):
            raise TypeError("index should be an int")
        if not parts or index > len(parts) + 1:
            if rank is None:
                raise ValueError("Rank must be known to use __getitem__ on a large index.")
            if index >= rank:
                raise IndexError(f"Index is too big: {index}>={rank}")
        if index < 0:
            raise IndexError(f"Index must be non-negative: {index}")
        if not self.is_uniform(index):
            raise ValueError(f"Index {index} is not uniform")
        if parts and index == 0:
            rows = parts[0].static_nrows
            return parts[0].nrows() if rows is None else constant(rows, self.dtype)
        if parts and index <= len(parts):
            return parts[index - 1].uniform_row_length()
        size = self._inner_shape_dim(index - len(parts))
        return constant(size, self.dtype) if isinstance(size, int) else size

    def _inner_shape_dim(self, index: int) -> Any:
        """A size of the inner shape: an int where it is known."""
        known = self._static_inner_shape
        size = None if known.rank is None else known.as_list()[index]
        return self.inner_shape[index] if size is None else size

    def _num_slices_in_dimension(self, axis: int) -> Any:
        """How many there are of the dimension in all rows of those outside of it."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            if self.rank is None:
                raise ValueError("You can't use negative values if the rank is undefined")
            axis += self.rank
        count = self.num_row_partitions
        if axis == 0:
            return self._dimension(0)
        if axis <= count:
            return self.row_partitions[axis - 1].nvals()
        return product(self.inner_shape[: axis - count + 1])

    def _alt_inner_shape(self, rank: int) -> Any:
        """The inner shape where it has more of the dimensions, which are uniform, or fewer."""
        inner, kind = self.inner_rank, self.dtype
        if rank == 0:
            raise ValueError("new_inner_rank cannot be zero")
        if inner == 0:
            raise ValueError("old inner_rank cannot be zero")
        if rank == inner:
            return self.inner_shape
        first = reshape(cast(self._num_slices_in_dimension(-rank), kind), [1])
        if rank < inner:
            known = self._static_inner_shape
            if known.is_fully_defined():
                outer = known[: inner - rank + 1].num_elements()
                return constant([outer, *known.as_list()[inner - rank + 1 :]], kind)
            return first if rank == 1 else concat([first, self.inner_shape[1 - rank :]], 0)
        more = self.row_partitions[inner - rank :]
        if not all(p.is_uniform() for p in more):
            raise ValueError("Cannot get an inner shape over a ragged dimension")
        lengths = [reshape(cast(p.uniform_row_length(), kind), [1]) for p in more]
        return concat([first, *lengths, self.inner_shape[1:]], 0)

    def _with_inner_rank(self, inner_rank: int) -> Any:
        """The same shape with more or fewer dimensions in the inner self."""
        rank = self.rank
        if rank is None:
            raise ValueError("Rank must be known to adjust inner_rank")
        if rank < 2:
            if inner_rank == rank:
                return self
            raise ValueError("Cannot change inner_rank if rank < 2")
        return self._with_num_row_partitions(rank - inner_rank)

    def _with_num_row_partitions(self, count: int) -> Any:
        """The same shape with `count` partitions. Raises ValueError where a ragged dimension would be none."""
        rank, parts = self.rank, self.row_partitions
        if rank is None:
            raise ValueError("Rank must be known to adjust num_row_partitions")
        if not isinstance(count, int):
            raise ValueError("num_row_partitions must be an int")
        if count < 0:
            raise ValueError("num_row_partitions must be nonnegative")
        if count == len(parts):
            return self
        if count >= rank:
            raise ValueError("num_row_partitions must be less than rank")
        inner = self._alt_inner_shape(rank - count)
        if count < len(parts):
            return self._made(parts[:count], inner)
        rows, more = self._inner_shape_dim(0), []
        for i in range(count - len(parts)):
            length = self._inner_shape_dim(i + 1)
            more.append(RowPartition.from_uniform_row_length(length, nrows=rows, dtype=self.dtype))
            rows = rows * length
        return self._made([*parts, *more], inner)

    def _merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """The shape with the dimensions from `outer_axis` to `inner_axis` as one."""
        outer = positive_axis(outer_axis, self.rank, "outer_axis")
        inner = positive_axis(inner_axis, self.rank, "inner_axis")
        if outer > inner:
            raise ValueError(f"Expected outer_axis ({outer}) to be less than or equal to inner_axis ({inner}).")
        if outer == inner:
            return self
        parts, sizes, kind = self.row_partitions, self.inner_shape, self.dtype
        count, known = len(parts), self._static_inner_shape
        if outer > count or not parts:
            merged, static = _merged_sizes(sizes, known, outer - count, inner - count)
            return self._made(parts, merged, kind, False, static)
        if inner <= count:
            kept = parts[inner:]
            if outer:
                kept = (*parts[: outer - 1], _merged(parts[outer - 1 : inner]), *kept)
            return self._made(kept, sizes, kind, False, known)
        if self.rank is None:
            raise ValueError("Cannot merge_dims of the inner shape if the dimension of inner_shape is unknown")
        new_inner = self._alt_inner_shape(self.rank - inner)
        if outer == 0:
            return self._made([], new_inner)
        rows = _merged(parts[outer - 1 :])
        each = product(sizes[1 : inner - count + 1])
        tail = RowPartition.from_row_splits(rows.row_splits() * each, validate=False)
        return self._made([*parts[: outer - 1], tail], new_inner)


def _stop(index: int | None, rank: int | None) -> int:
    if index is None:
        if rank is None:
            raise ValueError("Rank must be known to use __getitem__ without a stop.")
        return rank
    if index < 0:
        if rank is None:
            raise ValueError("Rank must be known to use __getitem__ on a negative index.")
        index = max(index + rank, 0)
    return index if rank is None else min(rank, index)


def product(sizes: Any) -> Any:
    """The product of a vector of sizes."""
    return reduce_prod(sizes)


def _merged_sizes(sizes: Any, known: TensorShape, outer: int, inner: int) -> tuple[Any, TensorShape]:
    each = reshape(product(sizes[outer : inner + 1]), [1])
    if known.rank is None:
        return concat([sizes[:outer], each, sizes[inner + 1 :]], 0), known
    whole = known[outer : inner + 1].num_elements()
    static = known[:outer].concatenate([whole]).concatenate(known[inner + 1 :])
    return concat([sizes[:outer], each, sizes[inner + 1 :]], 0), static


def _merged(parts: Sequence[RowPartition]) -> RowPartition:
    """The partition into the rows of the first of what the last one cuts."""
    splits = parts[0].row_splits()
    for inner in parts[1:]:
        splits = gather(inner.row_splits(), splits)
    return RowPartition.from_row_splits(splits, validate=False)
