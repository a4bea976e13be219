"""Specs of the shapes of ragged tensors: what is known of the sizes before values are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.tensor_shape import TensorShape, as_shape
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.row_partition import RowPartitionSpec
from tapeflow.ops.ragged.tensor import RaggedTensorSpec


class RaggedShapeSpec:
    """What the specs of ragged shapes can do: they know the partitions' specs, and what is known of the inner shape."""

    _row_partitions: Any
    _inner_shape: Any
    _static_inner_shape: Any

    @classmethod
    def _from_tensor_shape(cls, shape: Any, num_row_partitions: int, dtype: DTypeLike) -> Any:
        """The spec of a dense shape of which the outer dimensions are cut into rows of one length.

        Raises ValueError for more row partitions than there are dimensions to cut, or a dtype but int32 and int64.
        """
        shape, kind = as_shape(shape), _index(dtype)
        count = num_row_partitions
        if shape.rank is None:
            return cls([RowPartitionSpec(dtype=kind) for _ in range(count)], TensorShape(None), kind)  # type: ignore[call-arg]
        if count and shape.rank <= 1:
            raise ValueError("num_row_partitions should be zero if shape is a scalar or vector.")
        if count and shape.rank <= count:
            raise ValueError("num_row_partitions must be less than rank")
        sizes = shape.as_list()
        total, parts = (sizes[0] if sizes else None), []
        for size in sizes[1 : count + 1]:
            inner = None if size is None or total is None else total * size
            parts.append(RowPartitionSpec(total, inner, size, kind))
            total = inner
        inner_shape = TensorShape([total, *sizes[count + 1 :]]) if sizes else shape
        return cls(parts, inner_shape, kind)  # type: ignore[call-arg]

    @classmethod
    def _from_spec(cls, spec: Any, dtype: DTypeLike = dtypes.int64) -> Any:
        """The spec of the shape of what a spec describes; None where that has no such shape."""
        if isinstance(spec, cls):
            return spec
        if isinstance(spec, RaggedTensorSpec):
            return cls._from_tensor_shape(spec.shape, spec.ragged_rank, spec.row_splits_dtype)
        return cls._from_tensor_shape(spec.shape, 0, dtype) if isinstance(spec, TensorSpec) else None

    @property
    def row_partitions(self) -> tuple[RowPartitionSpec, ...]:
        """The specs of the partitions."""
        return tuple(self._row_partitions)

    @property
    def static_inner_shape(self) -> TensorShape:
        """What is known of the shape of the flat values."""
        return self._static_inner_shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._inner_shape.dtype

    @property
    def inner_rank(self) -> int | None:
        if self._static_inner_shape.rank is not None:
            return self._static_inner_shape.rank
        sizes = self._inner_shape.shape
        return None if sizes.rank is None else sizes.as_list()[0]

    @property
    def num_row_partitions(self) -> int:
        return len(self._row_partitions)

    @property
    def rank(self) -> int | None:
        inner = self.inner_rank
        return None if inner is None else inner + self.num_row_partitions

    def with_dtype(self, dtype: DTypeLike) -> Any:
        """The same with sizes of int32 or int64."""
        parts = [part.with_dtype(dtype) for part in self._row_partitions]
        return self._remade(parts, self._static_inner_shape, dtype)

    def _remade(self, parts: Sequence[Any], inner: Any, dtype: DTypeLike | None = None) -> Any:
        return type(self)(parts, inner, self.dtype if dtype is None else dtype)  # type: ignore[call-arg]

    def _dimension(self, index: int) -> int | None:
        """The size of a dimension; None where it is ragged or not known. Raises ValueError for one beyond the rank."""
        parts = self._row_partitions
        if parts and index == 0:
            return parts[0].nrows
        if 0 < index <= len(parts):
            return parts[index - 1].uniform_row_length
        inner = index - len(parts)
        if self.inner_rank is None:
            return None
        if inner >= self.inner_rank:
            raise ValueError(f"Index out of range: {index}.")
        return self._static_inner_shape.as_list()[inner]

    def _num_slices_in_dimension(self, axis: int) -> int | None:
        """How many there are of the dimension in all rows of those outside of it; None where that is not known."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        axis = positive_axis(axis, self.rank)
        if axis == 0:
            return self._dimension(0)
        if axis <= self.num_row_partitions:
            return self._row_partitions[axis - 1].nvals
        return self._static_inner_shape[: axis - self.num_row_partitions + 1].num_elements()

    def _with_num_row_partitions(self, new_num_row_partitions: int) -> Any:
        """The same shape with more or fewer of the dimensions as partitions."""
        count, rank, wanted = self.num_row_partitions, self.rank, new_num_row_partitions
        if rank is None:
            raise ValueError("Changing num_row_partitions with unknown rank unsupported")
        if wanted > max(rank - 1, 0):
            raise ValueError("Number of row partitions too large")
        if wanted < 0:
            raise ValueError("Number of row partitions negative")
        if count == wanted:
            return self
        parts = self._row_partitions
        if count < wanted:
            tail = self._from_tensor_shape(self._static_inner_shape, wanted - count, self.dtype)
            return self._remade([*parts, *tail.row_partitions], tail.static_inner_shape)
        first = parts[wanted - 1].nvals if wanted else parts[0].nrows
        sizes = TensorShape([first, *(part.uniform_row_length for part in parts[wanted:])])
        return self._remade(parts[:wanted], sizes.concatenate(self._static_inner_shape[1:]))

    def _merge_with(self, other: Any) -> Any:
        """What both specs say of one shape. Raises ValueError where they contradict each other."""
        count = max(self.num_row_partitions, other.num_row_partitions)
        mine, its = (spec._with_num_row_partitions(count) for spec in (self, other))
        kind = its.dtype if mine.dtype == dtypes.int32 else dtypes.int64
        parts = [
            a.with_dtype(kind).merged_with(b.with_dtype(kind))
            for a, b in zip(mine.row_partitions, its.row_partitions, strict=True)
        ]
        return self._remade(parts, mine.static_inner_shape.merge_with(its.static_inner_shape), kind)

    def _set_rank_if_unknown(self, new_rank: int) -> Any:
        """The same with a rank: its own, or where that is not known the given one."""
        if new_rank is None:
            raise TypeError("new_rank is None, but expected int")
        if new_rank < 0:
            raise ValueError("Rank must be non-negative")
        if self.rank is not None:
            if self.rank < new_rank:
                raise ValueError(f"Rank is {self.rank}, expected at least {new_rank}.")
            return self
        if not self._row_partitions:
            return self._remade([], TensorShape([None] * new_rank))
        inner = max(new_rank - self.num_row_partitions, 1)
        sizes = [self._row_partitions[-1].nvals, *[None] * (inner - 1)]
        return self._remade(self._row_partitions, TensorShape(sizes))

    def _truncate(self, new_rank: int) -> Any:
        """The spec of the outer dimensions."""
        if self.rank is None:
            return self._set_rank_if_unknown(new_rank)._truncate(new_rank)
        if new_rank == 0:
            return self._from_tensor_shape([], 0, self.dtype)
        if new_rank == 1:
            return self._from_tensor_shape([self._dimension(0)], 0, self.dtype)
        if new_rank <= self.num_row_partitions:
            parts = self._row_partitions[: new_rank - 1]
            return self._remade(parts, TensorShape([parts[-1].nvals]))
        return self._remade(
            self._row_partitions, self._static_inner_shape[: new_rank - self.num_row_partitions]
        )

    def _to_tensor_shape(self) -> TensorShape:
        """What is known of the sizes, None for ragged dimensions."""
        inner = self._static_inner_shape
        if not inner.rank:
            return TensorShape(None) if inner.rank is None else inner
        lengths = [part.uniform_row_length for part in self._row_partitions]
        return TensorShape([self._dimension(0), *lengths, *inner.as_list()[1:]])

    def __repr__(self) -> str:
        return (
            f"DynamicRaggedShape.Spec(row_partitions={self._row_partitions!r}, "
            f"static_inner_shape={self._static_inner_shape!r}, dtype={self.dtype!r})"
        )


def _index(dtype: DTypeLike) -> dtypes.DType:
    kind = dtypes.as_dtype(dtype)
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError("dtype must be tf.int32 or tf.int64")
    return kind


def fields_of_spec(row_partitions: Any, static_inner_shape: Any, dtype: DTypeLike) -> dict[str, Any]:
    """The fields of the spec of a ragged shape, with the numbers that follow from one another.

    Raises TypeError for partitions that are no specs, ValueError for what does not fit.
    """
    if not isinstance(row_partitions, Iterable):
        raise TypeError("row_partitions should be an Iterable")
    parts, inner, kind = tuple(row_partitions), as_shape(static_inner_shape), dtypes.as_dtype(dtype)
    if not all(isinstance(part, RowPartitionSpec) for part in parts):
        raise TypeError("row_partitions should be an Iterable of RowPartitionSpecs")
    kind = _index(kind)
    for part in parts:
        if part.dtype != kind:
            raise ValueError(f"dtype of {part!r} is {part.dtype!r}: expected {kind!r}")
    if parts and inner.rank == 0:
        raise ValueError("If row_partitions are provided, must have inner_rank > 0")
    if parts:
        first = None if inner.rank is None else inner.as_list()[0]
        counts = _counts(parts, first)
        if inner.rank is not None:
            inner = TensorShape([counts[-1], *inner.as_list()[1:]])
        parts = tuple(
            RowPartitionSpec(counts[i], counts[i + 1], part.uniform_row_length, kind)
            for i, part in enumerate(parts)
        )
    return {
        "_row_partitions": parts, "_static_inner_shape": inner, "_inner_shape": TensorSpec([inner.rank], kind)
    }  # fmt: skip


def _counts(parts: tuple[Any, ...], first: int | None) -> list[int | None]:
    """How many rows each partition has, and last how many values there are, as far as one of them tells it."""
    outer = [None, *(part.nvals for part in parts[:-1])]
    found = [_same(part.nrows, count) for part, count in zip(parts, outer, strict=True)]
    found.append(_same(parts[-1].nvals, first))
    for i, part in enumerate(parts):
        found[i + 1] = _same(found[i + 1], _product(found[i], part.uniform_row_length))
    for i in range(len(parts) - 1, -1, -1):
        length, inner = parts[i].uniform_row_length, found[i + 1]
        if length and inner is not None:
            found[i] = _same(found[i], inner // length)
    return found


def _product(count: int | None, length: int | None) -> int | None:
    return None if count is None or length is None else count * length


def _same(one: int | None, other: int | None) -> int | None:
    if one is not None and other is not None and one != other:
        raise ValueError(f"Dimensions {one} and {other} are not compatible")
    return other if one is None else one
