"""The shapes of ragged tensors as values: `RowPartition` cuts values into rows, `DynamicRaggedShape` all dimensions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array import construction, layout
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control.assertions import assert_equal_v1
from tapeflow.ops.control.flow import control_dependencies
from tapeflow.ops.math.casting import cast
from tapeflow.ops.ragged.broadcast import broadcast, broadcast_to
from tapeflow.ops.ragged.row_partition import RowPartition
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.static import static_value


@public_methods
class DynamicRaggedShape:
    """The shape of a ragged tensor: how its outer dimensions are partitioned, and the shape of its flat values.

    Args:
      row_partitions: a `RowPartition` for each partitioned dimension, the outermost first.
      inner_shape: the shape of the flat values, an integer vector.
      dtype: int32 or int64, by default that of the partitions.
      validate: checks that the partitions and the inner shape fit each other, now or when the graph runs.
      static_inner_shape: what is known of the inner shape besides.

    Raises ValueError for a static inner shape that contradicts the inner shape.
    """

    __slots__ = ("_inner_shape", "_partitions", "_static_inner_shape")

    def __init__(
        self, row_partitions: Sequence[Any], inner_shape: TensorLike, dtype: DTypeLike | None = None,
        validate: bool = False, static_inner_shape=None,
    ):
        partitions = list(row_partitions)
        if not all(isinstance(p, RowPartition) for p in partitions):
            raise TypeError(
                f"row_partitions should be a list of RowPartitions. Got {row_partitions}"
            )
        kind = dtype or (partitions[0].dtype if partitions else None)
        shape = convert_to_tensor(inner_shape, dtype_hint=kind or dtypes.int64)
        kind = dtypes.as_dtype(kind or shape.dtype)
        known = static_value(shape)
        sizes = TensorShape(None) if known is None else TensorShape(known.tolist())
        if known is None and shape.shape.rank and shape.shape[0] is not None:
            sizes = TensorShape([None] * shape.shape[0])
        self._static_inner_shape = sizes.merge_with(static_inner_shape)
        self._inner_shape = cast(shape, kind)
        self._partitions = tuple(
            p if p.dtype == kind else p.with_dtype(kind) for p in partitions
        )
        checks = self._checks() if validate else []
        if checks:
            with control_dependencies(checks):
                self._inner_shape = identity(self._inner_shape)

    def _checks(self):
        """Assertions that what one partition counts is what the next one, or the inner shape, has."""
        parts = self._partitions
        made = [
            assert_equal_v1(
                part.nvals(), after.nrows(),
                message=f"RowPartitions in DynamicRaggedShape do not align between {i} and {i + 1}",
            )
            for i, (part, after) in enumerate(itertools.pairwise(parts))
        ]  # fmt: skip
        if parts:
            message = "Last row partition does not match inner_shape."
            made.append(assert_equal_v1(parts[-1].nvals(), self._inner_shape[0], message=message))
        return [check for check in made if check is not None]

    @classmethod
    def from_lengths(cls, lengths: Sequence[Any], num_row_partitions=None, dtype: DTypeLike = dtypes.int64):
        """The shape of a list of numbers, for uniform dimensions, and tuples of numbers, for ragged ones."""
        lengths = list(lengths)
        ragged = [i for i, v in enumerate(lengths) if isinstance(v, (tuple, list))]
        last = ragged[-1] if ragged else 0
        if lengths and ragged and ragged[0] == 0:
            raise ValueError("The first dimension must be uniform")
        count = last if num_row_partitions is None else num_row_partitions
        if count < last or count > max(len(lengths) - 1, 0):
            raise ValueError(f"num_row_partitions={count} does not fit lengths {lengths}")
        total, partitions = (lengths[0] if lengths else 0), []
        for length in lengths[1 : count + 1]:
            if isinstance(length, (tuple, list)):
                if len(length) != total:
                    raise ValueError(
                        f"{len(length)} row lengths were given for {total} rows: {length}"
                    )
                partitions.append(RowPartition.from_row_lengths(list(length), dtype=dtype))
                total = sum(length)
            else:
                partitions.append(
                    RowPartition.from_uniform_row_length(length, nrows=total, dtype=dtype)
                )
                total *= length
        inner = lengths[count:] if not count else [total, *lengths[count + 1 :]]
        return cls(partitions, convert_to_tensor(inner, dtype), dtype)

    @classmethod
    def from_row_partitions(cls, row_partitions, dtype: DTypeLike | None = None):
        """The shape of rows of scalars."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        return cls(row_partitions, layout.reshape(row_partitions[-1].nvals(), [1]), dtype)

    @classmethod
    def from_tensor(cls, t: Any, dtype: DTypeLike | None = None):
        """The shape of a tensor or ragged tensor."""
        value = as_ragged_or_tensor(t)
        if not isinstance(value, RaggedTensor):
            kind = dtype or dtypes.int64
            return cls([], cast(Shape(value), kind), kind)
        partitions, part = [], value
        while isinstance(part, RaggedTensor):
            partitions.append(RowPartition._of(part))
            part = part.values
        kind = dtype or value.row_splits.dtype
        return cls(partitions, cast(Shape(part), kind), kind)

    @property
    def dtype(self):
        return self._inner_shape.dtype

    @property
    def row_partitions(self):
        return self._partitions

    @property
    def num_row_partitions(self):
        return len(self._partitions)

    @property
    def inner_shape(self):
        return self._inner_shape

    @property
    def inner_rank(self):
        return self._static_inner_shape.rank

    @property
    def rank(self):
        inner = self.inner_rank
        return None if inner is None else inner + len(self._partitions)

    def with_dtype(self, dtype: DTypeLike):
        """The same with sizes of int32 or int64."""
        known = self._static_inner_shape
        return DynamicRaggedShape(self._partitions, self._inner_shape, dtype, False, known)

    def is_uniform(self, axis: int):
        """Whether all rows of dimension `axis` are known to be equally long."""
        self._check(axis)
        return axis == 0 or axis > len(self._partitions) or self._partitions[axis - 1].is_uniform()

    def _check(self, axis: int):
        rank = self.rank
        if axis < 0 or (rank is not None and axis >= rank):
            raise IndexError(f"Index must be in [0, {rank}), got {axis}")

    def static_lengths(self, ragged_lengths=True):
        """The sizes as far as they are known: tuples for ragged dimensions (None without `ragged_lengths`)."""
        out: list[Any] = []
        if self._partitions:
            out.append(self._partitions[0].static_nrows)
        for part in self._partitions:
            if part.is_uniform():
                out.append(part.static_uniform_row_length)
                continue
            known = static_value(part.row_lengths()) if ragged_lengths else None
            out.append(None if known is None else tuple(int(v) for v in known))
        known = self._static_inner_shape
        sizes = [] if known.rank is None else known.as_list()
        return out + (sizes[1:] if self._partitions else sizes)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._slice(index)
        rank = self.rank
        if index < 0:
            if rank is None:
                raise ValueError("Rank must be known to use a negative index")
            index += rank
        self._check(index)
        if not self._partitions:
            return self._inner_shape[index]
        if index == 0:
            return self._partitions[0].nrows()
        if index > len(self._partitions):
            return self._inner_shape[index - len(self._partitions)]
        part = self._partitions[index - 1]
        if not part.is_uniform():
            raise ValueError(f"Index {index} is not uniform")
        return part.uniform_row_length()

    def _slice(self, part):
        start, stop, step = part.indices(self.rank)
        if step != 1:
            raise IndexError("Cannot stride through a shape")
        count = len(self._partitions)
        if start == 0:
            if stop > count:
                inner = self._inner_shape[: stop - count]
                return DynamicRaggedShape(self._partitions, inner, self.dtype)
            if stop == 0:
                return DynamicRaggedShape([], self._inner_shape[:0], self.dtype)
            kept = self._partitions[: stop - 1]
            rows = self._partitions[stop - 1].nrows()
            return DynamicRaggedShape(kept, layout.reshape(rows, [1]), self.dtype)
        if not all(self.is_uniform(axis) for axis in range(start, stop)):
            raise ValueError("All relevant dimensions must be uniform")
        sizes = [cast(self[axis], self.dtype) for axis in range(start, stop)]
        inner = (
            concat([layout.reshape(size, [1]) for size in sizes], 0)
            if sizes
            else self._inner_shape[:0]
        )
        return DynamicRaggedShape([], inner, self.dtype)

    def _with_flat_values(self, flat: Tensor):
        out = flat
        for part in self._partitions[::-1]:
            out = part._rows_of(out)
        return out

    def _flat(self, value):
        return value.flat_values if isinstance(value, RaggedTensor) else value

    def __repr__(self):
        known = self.static_lengths()
        return (
            f"<DynamicRaggedShape lengths=[{', '.join(map(str, known))}] "
            f"num_row_partitions={self.num_row_partitions}>"
        )


def reshape(tensor: Any, shape: Any, name: str | None = None):
    """`tf.reshape` of a ragged tensor, or to a `DynamicRaggedShape`."""
    flat = tensor.flat_values if isinstance(tensor, RaggedTensor) else convert_to_tensor(tensor)
    if isinstance(shape, DynamicRaggedShape):
        return shape._with_flat_values(layout.reshape(flat, shape.inner_shape))
    return layout.reshape(flat, shape)


def shape(input, out_type: DTypeLike = dtypes.int32, name: str | None = None):
    """`tf.shape` of a ragged tensor: a `DynamicRaggedShape`."""
    return DynamicRaggedShape.from_tensor(input, out_type or dtypes.int32)


def shape_v1(input, name: str | None = None, out_type: DTypeLike = dtypes.int32):
    """`shape` with the 1.x order of arguments."""
    return DynamicRaggedShape.from_tensor(input, out_type or dtypes.int32)


def zeros(shape, dtype: DTypeLike = dtypes.float32, name: str | None = None, layout=None):
    """`tf.zeros` of a `DynamicRaggedShape`."""
    return shape._with_flat_values(construction.zeros(shape.inner_shape, dtype, layout=layout))


def ones(shape, dtype=dtypes.float32, name: str | None = None, layout: str | None = None):
    """`tf.ones` of a `DynamicRaggedShape`."""
    return shape._with_flat_values(construction.ones(shape.inner_shape, dtype, layout=layout))


def fill(dims: DynamicRaggedShape, value: int, name: str | None = None, layout: str | None = None):
    """`tf.fill` of a `DynamicRaggedShape`."""
    return dims._with_flat_values(construction.fill(dims.inner_shape, value, layout=layout))


def broadcast_to_shape(input: Sequence[Any], shape: Any, name: str | None = None):
    """`tf.broadcast_to` a `DynamicRaggedShape`, or of a ragged tensor. Raises ValueError for a plain shape."""
    if not isinstance(shape, DynamicRaggedShape):
        raise ValueError(f"A ragged tensor is broadcast to a DynamicRaggedShape, not to {shape}")
    return broadcast_to(input, zeros(shape, dtypes.int8))


def broadcast_dynamic_shape(shape_x: DynamicRaggedShape, shape_y: Tensor):
    """`tf.broadcast_dynamic_shape` of shapes of which one is a `DynamicRaggedShape`."""
    made = [
        s
        if isinstance(s, DynamicRaggedShape)
        else DynamicRaggedShape([], s)
        for s in (shape_x, shape_y)
    ]
    kind = next(s.dtype for s in made if s.num_row_partitions)
    (x, y), in_rows = broadcast([zeros(s.with_dtype(kind), dtypes.int8) for s in made])
    return DynamicRaggedShape.from_tensor(in_rows(x + y), kind)
