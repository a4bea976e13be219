"""`RowPartition`: how the values of a ragged dimension are cut into rows."""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.ops.array import construction, ranges
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.ragged.tensor import RaggedTensor, rowids_of_splits
from tapeflow.ops.static import static_value


@public_methods
class RowPartition:
    """How values are cut into rows; made by one of the `from_...` methods."""

    __slots__ = ("_splits", "_uniform")

    def __init__(self, row_splits: Tensor, uniform_row_length: Tensor | None = None, internal: bool = False):
        if not internal:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods instead "
                "(e.g., RowPartition.from_row_lengths())"
            )
        self._splits, self._uniform = row_splits, uniform_row_length

    @classmethod
    def _of(cls, ragged: RaggedTensor):
        return cls(ragged.row_splits, ragged.uniform_row_length, internal=True)

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
        return cls._of(
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
        return cls._of(RaggedTensor.from_row_lengths(values, lengths, validate=validate))

    @classmethod
    def from_value_rowids(
        cls, value_rowids: Sequence[int], nrows=None, validate: bool = True, dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ):
        """Value j is in row `value_rowids[j]`; these must not decrease."""
        ids = convert_to_tensor(value_rowids, dtype, dtype_hint=dtype_hint or dtypes.int64)
        values = cls._places(Shape(ids)[0])
        return cls._of(RaggedTensor.from_value_rowids(values, ids, nrows, validate=validate))

    @classmethod
    def from_row_starts(
        cls, row_starts: Sequence[int], nvals: int, validate: bool = True, dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ):
        """Row i begins at `row_starts[i]`; there are `nvals` values."""
        starts = convert_to_tensor(row_starts, dtype, dtype_hint=dtype_hint or dtypes.int64)
        return cls._of(
            RaggedTensor.from_row_starts(cls._places(nvals), starts, validate=validate)
        )

    @classmethod
    def from_row_limits(
        cls, row_limits: Sequence[int], validate: bool = True, dtype: DTypeLike | None = None,
        dtype_hint: DTypeLike | None = None,
    ):
        """Row i ends before `row_limits[i]`."""
        limits = convert_to_tensor(row_limits, dtype, dtype_hint=dtype_hint or dtypes.int64)
        count = concat([construction.zeros([1], limits.dtype), limits], 0)[-1]
        return cls._of(
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
        return cls._of(
            RaggedTensor.from_uniform_row_length(cls._places(nvals), length, nrows, validate)
        )

    @property
    def dtype(self):
        return self._splits.dtype

    @property
    def static_nrows(self):
        """The number of rows as far as it is known."""
        rows = self._splits.shape.as_list()[0]
        return None if rows is None else rows - 1

    @property
    def static_nvals(self):
        """The number of values as far as it is known."""
        splits = static_value(self._splits)
        return None if splits is None else int(splits[-1])

    @property
    def static_uniform_row_length(self):
        """The length of all rows as far as it is known to be one."""
        known = None if self._uniform is None else static_value(self._uniform)
        return None if known is None else int(known)

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
        return RowPartition(cast(self._splits, dtype), uniform, internal=True)

    def _rows_of(self, values: Tensor):
        made = RaggedTensor.from_row_splits(values, self._splits, validate=False)
        made._uniform_row_length = self._uniform
        return made

    def __repr__(self):
        if self._uniform is not None and self.static_uniform_row_length is not None:
            count = self.static_nrows
            return (
                f"tf.RowPartition(nrows={count}, uniform_row_length="
                f"{self.static_uniform_row_length})"
            )
        splits = static_value(self._splits)
        return f"tf.RowPartition(row_splits={self._splits if splits is None else splits})"
