"""`RowPartition`: how the values of a ragged dimension are cut into rows, and the spec of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import constant, convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.core.specs import type_spec_registry
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array import construction, ranges
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control.assertions import assert_equal_v1
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.ragged.partitions import static_rows
from tapeflow.ops.ragged.tensor import RaggedTensor, rowids_of_splits
from tapeflow.ops.static import static_value


@public_methods
class RowPartition:
    """How values are cut into rows; made by one of the `from_...` methods."""

    __slots__ = ("_nvals", "_splits", "_uniform")

    def __init__(
        self, row_splits: Tensor, uniform_row_length: Tensor | None = None, internal: bool = False, nvals=None
    ):
        if not internal:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods instead "
                "(e.g., RowPartition.from_row_lengths())"
            )
        # Of splits, the number of values is known where something else says it.
        self._splits, self._uniform, self._nvals = row_splits, uniform_row_length, nvals

    @classmethod
    def of_ragged(cls, ragged: RaggedTensor, nvals: int | None = None):
        return cls(ragged.row_splits, ragged.uniform_row_length, internal=True, nvals=nvals)

    @staticmethod
    def _places(count: TensorLike):
        return ranges.range(cast(count, dtypes.int64))

    @classmethod
    def from_row_splits(
        cls, row_splits: Sequence[int], validate: bool = True, dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ):
        """Row i ends where row i + 1 begins, at `row_splits[i + 1]`."""
        splits = convert_to_tensor(row_splits, dtype, dtype_hint=dtype_hint or dtypes.int64)
        return cls.of_ragged(
            RaggedTensor.from_row_splits(cls._places(splits[-1]), splits, validate=validate)
        )

    @classmethod
    def from_row_lengths(
        cls, row_lengths: Sequence[int], validate: bool = True, dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ):
        """Row i has `row_lengths[i]` values."""
        lengths = convert_to_tensor(row_lengths, dtype, dtype_hint=dtype_hint or dtypes.int64)

        values = cls._places(reduce_sum(lengths))
        return cls.of_ragged(RaggedTensor.from_row_lengths(values, lengths, validate=validate))

    @classmethod
    def from_value_rowids(
        cls, value_rowids: Sequence[int], nrows=None, validate: bool = True, dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ):
        """Value j is in row `value_rowids[j]`; these must not decrease."""
        ids = convert_to_tensor(value_rowids, dtype, dtype_hint=dtype_hint or dtypes.int64)
        values = cls._places(Shape(ids)[0])
        made = RaggedTensor.from_value_rowids(values, ids, nrows, validate=validate)
        return cls.of_ragged(made, static_rows(ids))

    @classmethod
    def from_row_starts(
        cls, row_starts: Sequence[int], nvals: int, validate: bool = True, dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ):
        """Row i begins at `row_starts[i]`; there are `nvals` values."""
        starts = convert_to_tensor(row_starts, dtype, dtype_hint=dtype_hint or dtypes.int64)
        known = static_value(nvals)
        made = RaggedTensor.from_row_starts(cls._places(nvals), starts, validate=validate)
        return cls.of_ragged(made, None if known is None else int(known))

    @classmethod
    def from_row_limits(
        cls, row_limits: Sequence[int], validate: bool = True, dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ):
        """Row i ends before `row_limits[i]`."""
        limits = convert_to_tensor(row_limits, dtype, dtype_hint=dtype_hint or dtypes.int64)
        count = concat([construction.zeros([1], limits.dtype), limits], 0)[-1]
        return cls.of_ragged(
            RaggedTensor.from_row_limits(cls._places(count), limits, validate=validate)
        )

    @classmethod
    def from_uniform_row_length(
        cls, uniform_row_length: int, nvals: int | None = None, nrows=None, validate: bool = True,
        dtype: DTypeLike | None = None, dtype_hint: DTypeLike | None = None,
    ):
        """Every row has `uniform_row_length` values."""
        length = convert_to_tensor(
            uniform_row_length, dtype, dtype_hint=dtype_hint or dtypes.int64
        )
        if nvals is None and nrows is None:
            raise ValueError("At least one of nvals and nrows must be given")
        if nvals is None:
            nvals = cast(nrows, length.dtype) * length
        return cls.of_ragged(
            RaggedTensor.from_uniform_row_length(cls._places(nvals), length, nrows, validate)
        )

    @property
    def dtype(self):
        return self._splits.dtype

    @property
    def static_nrows(self):
        """The number of rows as far as it is known."""
        rows = static_rows(self._splits)
        return None if rows is None else rows - 1

    @property
    def static_nvals(self):
        """The number of values as far as it is known from other than the splits."""
        rows, length = self.static_nrows, self.static_uniform_row_length
        return self._nvals if rows is None or length is None else rows * length

    @property
    def static_uniform_row_length(self):
        """The length of all rows as far as it is known to be one."""
        known = None if self._uniform is None else static_value(self._uniform)
        return None if known is None else int(known)

    @property
    def _type_spec(self) -> RowPartitionSpec:
        return RowPartitionSpec.from_value(self)

    @property
    def _trace_key(self) -> Any:
        """What is known of it besides the splits, for a trace to depend on."""
        return self.is_uniform(), self.static_uniform_row_length, self.static_nvals

    def row_splits(self):
        return self._splits

    def row_starts(self):
        return self._splits[:-1]

    def row_limits(self):
        return self._splits[1:]

    def row_lengths(self):
        return self._splits[1:] - self._splits[:-1]

    def value_rowids(self):
        return rowids_of_splits(self._splits)

    def offsets_in_rows(self):
        """The place of each value in its row."""
        ids = self.value_rowids()
        return ranges.range(cast(self.nvals(), self.dtype)) - gather(self._splits, ids)

    def nrows(self):
        return cast(Shape(self._splits)[0] - 1, self.dtype)

    def nvals(self):
        return self._splits[-1]

    def uniform_row_length(self):
        return self._uniform

    def is_uniform(self):
        return self._uniform is not None

    def with_dtype(self, dtype: DTypeLike):
        """The same with splits of int32 or int64."""
        uniform = None if self._uniform is None else cast(self._uniform, dtype)
        return RowPartition(cast(self._splits, dtype), uniform, internal=True, nvals=self._nvals)

    def merged_with(self, other: RowPartition, validate: bool = True) -> RowPartition:
        """This partition, which `other` cuts alike, with what either knows.

        Raises ValueError for another number of rows, and InvalidArgumentError, now or when the graph runs, for others.
        """
        uniform = self._uniform if self._uniform is not None else other.uniform_row_length()
        values = self._nvals if self._nvals is not None else other.static_nvals
        splits, others_splits = self._splits, other.row_splits()
        if others_splits is splits:
            same = uniform is self._uniform and values == self._nvals
            return self if same else RowPartition(splits, uniform, internal=True, nvals=values)
        rows, others = self.static_nrows, other.static_nrows
        message = "The partitions have incompatible {}"
        if rows is not None and others is not None and rows != others:
            raise ValueError(message.format("row_splits"))
        if validate:
            check = assert_equal_v1(splits, others_splits, message=message.format("row_splits"))
            if check is not None:
                with control_dependencies([check]):
                    splits = identity(splits)
        return RowPartition(splits, uniform, internal=True, nvals=values)

    def rows_of(self, values: Tensor):
        made = RaggedTensor.from_row_splits(values, self._splits, validate=False)
        return RaggedTensor(made.values, made.row_splits, internal=True, uniform=self._uniform)

    def __repr__(self):
        if self._uniform is not None and self.static_uniform_row_length is not None:
            count = self.static_nrows
            return (
                f"tf.RowPartition(nrows={count}, uniform_row_length="
                f"{self.static_uniform_row_length})"
            )
        splits = static_value(self._splits)
        return f"tf.RowPartition(row_splits={self._splits if splits is None else splits})"


def _as_parts(partition: RowPartition) -> list[Any]:
    return [partition.row_splits()]


def _of_parts(like: Any, parts: list[Any]) -> Any:
    (part,) = parts
    if isinstance(part, TensorSpec):
        return RowPartitionSpec.from_value(like)
    return RowPartition(part, like.uniform_row_length(), internal=True, nvals=like.static_nvals)


nest.register_composite(RowPartition, _as_parts, _of_parts)


@type_spec_registry.register("tf.RowPartitionSpec")
class RowPartitionSpec(TypeSpec):
    """Describes a `RowPartition` by what is known of its rows.

    Args:
      nrows: the number of rows, None where it is not known.
      nvals: the number of values, None where it is not known.
      uniform_row_length: how many values each row has, None where that differs or is not known.
      dtype: int32 or int64, of the splits.

    Raises ValueError for numbers that do not fit each other, and other dtypes.
    """

    __slots__ = ("_dtype", "_nrows", "_nvals", "_uniform_row_length")

    def __init__(self, nrows=None, nvals=None, uniform_row_length=None, dtype: DTypeLike = dtypes.int64):
        self._dtype = dtypes.as_dtype(dtype)
        if self._dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be tf.int32 or tf.int64")
        rows, values, length = (_number(n) for n in (nrows, nvals, uniform_row_length))
        self._nrows, self._nvals, self._uniform_row_length = map(
            TensorShape, ([n] for n in _completed(rows, values, length))
        )

    @property
    def value_type(self) -> type:
        return RowPartition

    @property
    def nrows(self) -> int | None:
        return self._nrows.as_list()[0]

    @property
    def nvals(self) -> int | None:
        return self._nvals.as_list()[0]

    @property
    def uniform_row_length(self) -> int | None:
        return self._uniform_row_length.as_list()[0]

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @classmethod
    def from_value(cls, value: RowPartition) -> RowPartitionSpec:
        """The spec of a partition. Raises TypeError for another value."""
        if not isinstance(value, RowPartition):
            raise TypeError("Expected `value` to be a `RowPartition`")
        return cls(value.static_nrows, value.static_nvals, value.static_uniform_row_length, value.dtype)

    def with_dtype(self, dtype: DTypeLike) -> RowPartitionSpec:
        """The same for splits of int32 or int64."""
        return RowPartitionSpec(self.nrows, self.nvals, self.uniform_row_length, dtype)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a partition, or one that a spec describes, agrees with this."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        if not isinstance(other, RowPartitionSpec) or not super().is_compatible_with(other):
            return False
        try:
            self.merged_with(other)
        except ValueError:
            return False
        return True

    def merged_with(self, other: RowPartitionSpec) -> RowPartitionSpec:
        """What both say. Raises ValueError where they contradict each other."""
        if self._dtype != other.dtype:
            raise ValueError("Merging RowPartitionSpecs with incompatible dtypes")
        sizes = zip(self._parts()[:3], (other.nrows, other.nvals, other.uniform_row_length), strict=True)
        rows, values, length = (mine.merge_with([its]).as_list()[0] for mine, its in sizes)
        try:
            return RowPartitionSpec(rows, values, length, self._dtype)
        except ValueError as error:
            raise ValueError("Merging incompatible RowPartitionSpecs") from error

    def _parts(self) -> tuple[Any, ...]:
        return self._nrows, self._nvals, self._uniform_row_length, self._dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rows = self.nrows
        return [TensorSpec([None if rows is None else rows + 1], self._dtype)]

    def _to_components(self, value: RowPartition) -> list[Any]:
        return [value.row_splits()]

    def _from_components(self, components: Sequence[Any]) -> RowPartition:
        (splits,) = components
        length = self.uniform_row_length
        known = None if length is None else constant(length, self._dtype)
        return RowPartition(splits, known, internal=True, nvals=self.nvals)

    def __repr__(self) -> str:
        return (
            f"RowPartitionSpec(nrows={self.nrows}, nvals={self.nvals}, uniform_row_length={self.uniform_row_length}, "
            f"dtype={self._dtype!r})"
        )


def _number(size: Any) -> int | None:
    """A size given as a number, a dimension, or a shape of one."""
    if isinstance(size, TensorShape):
        size = size.with_rank(1).as_list()[0]
    return getattr(size, "value", size)


def _completed(rows: int | None, values: int | None, length: int | None) -> tuple[int | None, int | None, int | None]:
    """The numbers with those that follow from the others. Raises ValueError where they do not fit each other."""
    if rows == 0 or length == 0:
        if values:
            reason = f"nrows={rows}" if rows == 0 else f"uniform_row_length={length}"
            raise ValueError(f"nvals={values} is not compatible with {reason}")
        values = 0
    if length is not None and values is not None:
        if length and values % length:
            raise ValueError(
                f"nvals={values} is not compatible with uniform_row_length={length} "
                "(doesn't divide evenly)"
            )
        if rows is not None and values != length * rows:
            raise ValueError(
                f"nvals={values} is not compatible with nrows={rows} and uniform_row_length={length}"
            )
        if rows is None and length:
            rows = values // length
    if length is not None and rows is not None and values is None:
        values = length * rows
    return rows, values, length
