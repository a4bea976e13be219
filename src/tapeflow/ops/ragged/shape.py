"""The shapes of ragged tensors as values: `DynamicRaggedShape`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.core.specs.extension_batching import BatchableExtensionType
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array import layout
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control.assertions import assert_equal_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.casting import cast
from tapeflow.ops.ragged.row_partition import RowPartition, RowPartitionSpec
from tapeflow.ops.ragged.shape_layout import ShapeLayout, of_lengths
from tapeflow.ops.ragged.shape_spec import RaggedShapeSpec, fields_of_spec
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.static import constant_value_as_shape, static_value


@public_methods
class DynamicRaggedShape(ShapeLayout, BatchableExtensionType):
    """The shape of a ragged tensor: how its outer dimensions are partitioned, and the shape of its flat values.

    Args:
      row_partitions: a `RowPartition` for each partitioned dimension, the outermost first.
      inner_shape: the shape of the flat values, an integer vector.
      dtype: int32 or int64, by default that of the partitions.
      validate: checks that the partitions and the inner shape fit each other when the graph runs, where that is not
        known before.
      static_inner_shape: what is known of the inner shape besides.

    Raises ValueError for partitions and shapes that are known not to fit each other, TypeError for other partitions.
    """

    __name__ = "tf.DynamicRaggedShape"

    _row_partitions: tuple[RowPartition, ...]
    _inner_shape: _native.Tensor
    _static_inner_shape: TensorShape

    def __init__(
        self, row_partitions: Sequence[Any], inner_shape: TensorLike, dtype: DTypeLike | None = None,
        validate: bool = False, static_inner_shape=None,
    ):
        if not isinstance(row_partitions, Iterable):
            raise TypeError(f"row_partitions should be a list of row partitions. Instead, got {row_partitions}")
        partitions = tuple(row_partitions)
        for part in partitions:
            if not isinstance(part, RowPartition):
                raise TypeError(f"row_partitions contains {part} which is not a RowPartition")
        kind = _dtype_of(partitions, inner_shape, dtype)
        parts = tuple(p.with_dtype(kind) for p in partitions)
        shape = convert_to_tensor(inner_shape, dtype_hint=kind)
        shape = shape if shape.dtype == kind else cast(shape, kind)
        shape.shape.assert_has_rank(1)
        known = constant_value_as_shape(shape).merge_with(static_inner_shape)
        checks = _checked(parts, shape, known, validate)
        if checks:
            with control_dependencies(checks):
                shape = identity(shape)
        self._row_partitions, self._inner_shape, self._static_inner_shape = parts, shape, known

    @classmethod
    def from_lengths(
        cls, lengths: Sequence[Any], num_row_partitions: int | None = None, dtype: DTypeLike = dtypes.int64
    ):
        """The shape of a list of numbers, for uniform dimensions, and tuples of numbers, for ragged ones.

        Raises ValueError for lengths that are nothing of both, or do not fit each other.
        """
        return cls(*of_lengths(lengths, num_row_partitions, dtype), dtype)

    @classmethod
    def from_row_partitions(cls, row_partitions, dtype: DTypeLike | None = None):
        """The shape of rows of scalars."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        return cls(row_partitions, layout.reshape(row_partitions[-1].nvals(), [1]), dtype)

    @classmethod
    def _from_inner_shape(cls, inner_shape, dtype: DTypeLike | None = None):
        return cls([], inner_shape, dtype)

    @classmethod
    def from_tensor(cls, t: Any, dtype: DTypeLike | None = None):
        """The shape of a tensor or ragged tensor."""
        value = as_ragged_or_tensor(t)
        if not isinstance(value, RaggedTensor):
            return cls([], Shape(value), dtype, static_inner_shape=value.shape)
        partitions, part = [], value
        while isinstance(part, RaggedTensor):
            partitions.append(RowPartition.of_ragged(part))
            part = part.values
        return cls(partitions, Shape(part), dtype, static_inner_shape=part.shape)

    @property
    def dtype(self):
        return self._inner_shape.dtype

    @property
    def row_partitions(self):
        return self._row_partitions

    @property
    def num_row_partitions(self):
        return len(self._row_partitions)

    @property
    def inner_shape(self):
        return self._inner_shape

    @property
    def inner_rank(self):
        return self._static_inner_shape.rank

    @property
    def rank(self):
        inner = self.inner_rank
        return None if inner is None else inner + len(self._row_partitions)

    def with_dtype(self, dtype: DTypeLike):
        """The same with sizes of int32 or int64."""
        if dtypes.as_dtype(dtype) == self.dtype:
            return self
        return DynamicRaggedShape(self._row_partitions, self._inner_shape, dtype, False, self._static_inner_shape)

    def is_uniform(self, axis: int):
        """Whether all rows of dimension `axis` are known to be equally long."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            raise IndexError("Negative axis values are not supported")
        if self.rank is not None and axis >= self.rank:
            raise IndexError(f"Expected axis={axis} < rank={self.rank}")
        parts = self._row_partitions
        return axis == 0 or axis > len(parts) or parts[axis - 1].is_uniform()

    def static_lengths(self, ragged_lengths=True):
        """The sizes as far as they are known: tuples for ragged dimensions (None without `ragged_lengths`).

        The last one is an ellipsis where the rank is not known.
        """
        out: list[Any] = []
        if self._row_partitions:
            out.append(self._row_partitions[0].static_nrows)
        for part in self._row_partitions:
            if part.is_uniform():
                out.append(part.static_uniform_row_length)
                continue
            known = static_value(part.row_lengths()) if ragged_lengths else None
            out.append(None if known is None else tuple(int(v) for v in known))
        inner = self._static_inner_shape
        if inner.rank is None:
            return [*out, ...]
        return out + (inner.as_list()[1:] if self._row_partitions else inner.as_list())

    def _to_tensor_shape(self) -> TensorShape:
        lengths = self.static_lengths(ragged_lengths=False)
        return TensorShape(None) if lengths and lengths[-1] is ... else TensorShape(lengths)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._part(index)
        if not isinstance(index, int):
            raise TypeError("Argument is not an int or a slice")
        if index < 0:
            if self.rank is None:
                raise ValueError("Rank must be known to use __getitem__ with a negative index.")
            index += self.rank
        return self._dimension(index)

    def _merge_with(self, other: DynamicRaggedShape) -> DynamicRaggedShape:
        """This shape, which `other` equals, with all partitions that either has, checked against each other."""
        mine, its, kind, known = _alike(self, other)
        parts = [
            a.with_dtype(kind).merged_with(b.with_dtype(kind))
            for a, b in zip(mine.row_partitions, its.row_partitions, strict=True)
        ]
        return DynamicRaggedShape(parts, mine.inner_shape, kind, True, known)

    def _merge_with_spec(self, other: Any) -> DynamicRaggedShape:
        """This shape, of which `other` says what is known."""
        mine, _, kind, known = _alike(self, other)
        type(self).Spec.from_value(mine)._merge_with(other)  # raises what does not fit
        return DynamicRaggedShape(mine.row_partitions, mine.inner_shape, kind, True, known)

    def _as_row_partitions(self):
        if self.rank is None:
            raise ValueError("rank must be known for _as_row_partitions")
        if self.rank < 1:
            raise ValueError("rank must be >= 1 for _as_row_partitions")
        return self._with_num_row_partitions(self.rank - 1)._row_partitions

    def _add_row_partitions(self, flat_values: Any, validate: bool = False):
        """The flat values in the rows of this shape. Raises ValueError where they are known to be others in number."""
        out = flat_values
        if validate and self._row_partitions and isinstance(flat_values, _native.Tensor):
            part, sizes = self._row_partitions[-1], flat_values.shape
            rows, count = None if sizes.rank is None else sizes.as_list()[0], part.static_nvals
            if rows is None or count is None:
                told = "Last row partition does not match flat_values."
                check = assert_equal_v1(part.nvals(), cast(Shape(flat_values)[0], self.dtype), message=told)
                with control_dependencies([c for c in (check,) if c is not None]):
                    out = identity(flat_values)
            elif rows != count:
                raise ValueError("Last row partition does not match flat_values.")
        for part in self._row_partitions[::-1]:
            out = part.rows_of(out)
        return out

    def with_flat_values(self, flat: Tensor):
        """The flat values in the rows of this shape."""
        return self._add_row_partitions(flat)

    def __repr__(self):
        known = ["..." if size is ... else str(size) for size in self.static_lengths()]
        return f"<DynamicRaggedShape lengths=[{', '.join(known)}] num_row_partitions={self.num_row_partitions}>"

    class Spec(RaggedShapeSpec):
        """What is known of the shape of a ragged tensor.

        Args:
          row_partitions: the specs of the partitions.
          static_inner_shape: what is known of the shape of the flat values.
          dtype: int32 or int64, of the sizes.
        """

        def __init__(self, row_partitions, static_inner_shape: TensorShape, dtype: dtypes.DType):
            for name, field in fields_of_spec(row_partitions, static_inner_shape, dtype).items():
                setattr(self, name, field)

        @classmethod
        def from_value(cls, value: Any) -> Any:
            """The spec of a shape."""
            parts = [RowPartitionSpec.from_value(part) for part in value.row_partitions]
            return cls(parts, value.static_inner_shape, value.dtype)


def _alike(shape: Any, other: Any) -> tuple[Any, Any, dtypes.DType, TensorShape]:
    """Two shapes, or a shape and a spec, with as many partitions; the dtype and the inner shape of both."""
    count = max(shape.num_row_partitions, other.num_row_partitions)
    mine, its = (each._with_num_row_partitions(count) for each in (shape, other))
    kind = its.dtype if mine.dtype == dtypes.int32 else dtypes.int64
    one, two = (each.static_inner_shape for each in (mine, its))
    return mine, its, kind, one.merge_with(two)


def _dtype_of(partitions: tuple[RowPartition, ...], inner_shape: Any, dtype: DTypeLike | None) -> dtypes.DType:
    """The dtype of the sizes: what is asked for, else that of the first that has one. Raises ValueError for others."""
    known: Any = dtype or (partitions[0].dtype if partitions else getattr(inner_shape, "dtype", None))
    kind = dtypes.int64 if known is None else dtypes.as_dtype(known)
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Illegal dtype: {kind}")
    return kind


def _checked(parts: tuple[RowPartition, ...], shape: Any, known: TensorShape, validate: bool) -> list[Any]:
    """Assertions that what one partition counts is what the next one, or the inner shape, has.

    Raises ValueError where it is known that it has not.
    """
    found = []
    for i, (part, after) in enumerate(itertools.pairwise(parts)):
        message = f"RowPartitions in DynamicRaggedShape do not align between {i} and {i + 1}"
        rows, values = after.static_nrows, part.static_nvals
        if rows is not None and values is not None:
            if rows != values:
                raise ValueError(message)
        elif validate:
            found.append(assert_equal_v1(part.nvals(), after.nrows(), message=message))
    if parts:
        message = "Last row partition does not match inner_shape."
        values, size = parts[-1].static_nvals, None if known.rank is None else known.as_list()[0]
        if values is not None and size is not None:
            if values != size:
                raise ValueError(message)
        elif validate:
            found.append(assert_equal_v1(parts[-1].nvals(), shape[0], message=message))
    return [check for check in found if check is not None]
