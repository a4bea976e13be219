"""`RaggedTensor`: rows of different lengths, kept as the values of all rows and the places where rows begin."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tapeflow import _native
from tapeflow.core import dtypes, tensor_shape
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.context import executing_eagerly
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import dispatched_class_methods, public_methods, served_as
from tapeflow.core.specs import type_spec_registry
from tapeflow.core.specs.protocol import component_specs, type_spec_of
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec, placeholder_shape
from tapeflow.core.structures import gradient_parts, nest
from tapeflow.ops.array.construction import fill, ones_like, zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.tiling import repeat
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.selection import searchsorted
from tapeflow.ops.math import reductions
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.segment_functions import unsorted_segment_sum
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.partitions import (
    INDEX,
    LENGTHS,
    ROWIDS,
    SPLITS,
    UNIFORM,
    partition,
    required,
    row_count,
    static_rows,
)
from tapeflow.ops.ragged.value import RaggedTensorValue, rows_as_array
from tapeflow.ops.static import static_value


def _convert() -> ModuleType:
    from tapeflow.ops.ragged import convert  # a circle: it is made of this module

    return convert


def _variant() -> ModuleType:
    from tapeflow.ops.ragged import variant  # a circle: it is made of this module

    return variant


def is_ragged(value: Any) -> bool:
    return isinstance(value, RaggedTensor)


def as_ragged_or_tensor(value: Any, dtype: Any = None) -> Any:
    """A ragged tensor as it is, a `RaggedTensorValue` as a ragged tensor, anything else as a tensor."""
    if isinstance(value, RaggedTensor):
        return value
    if isinstance(value, RaggedTensorValue):
        return RaggedTensor.from_row_splits(
            as_ragged_or_tensor(value.values), convert_to_tensor(value.row_splits), validate=False
        )
    return convert_to_tensor(value, dtype)


@public_methods
@dispatched_class_methods
class RaggedTensor:
    """A tensor with rows of different lengths; made by `tf.ragged.constant` or `RaggedTensor.from_...`."""

    _counts_as_tensor = True  # for tf.is_tensor
    __module__ = served_as.get("RaggedTensor", __name__)

    __slots__ = ("__weakref__", "_row_splits", "_uniform_row_length", "_values")
    __array_priority__ = 100

    def __init__(self, values: Any, row_partition: Any, internal: bool = False, uniform: Any = None):
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead "
                "(e.g., RaggedTensor.from_row_lengths())"
            )
        self._values = values
        self._row_splits = row_partition
        self._uniform_row_length = uniform

    # Making

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True):
        """Row i is `values[row_splits[i]:row_splits[i + 1]]`.

        Raises InvalidArgumentError for splits that do not cut `values` into rows.
        """
        values, row_splits = _made(values), partition(row_splits, "row_splits")
        row_splits.shape.assert_has_rank(1)
        if row_splits.shape.rank == 1 and row_splits.shape.as_list() == [0]:
            raise ValueError("row_splits tensor may not be empty.")
        row_splits = required(validate, values, row_splits, SPLITS)
        if isinstance(values, RaggedTensor) and values.row_splits.dtype != row_splits.dtype:
            values, row_splits = (
                values.with_row_splits_dtype(dtypes.int64),
                cast(row_splits, dtypes.int64),
            )
        return cls(values, row_splits, internal=True)

    @classmethod
    def from_row_lengths(
        cls, values: Tensor | RaggedTensor, row_lengths: Tensor, name: str | None = None, validate: bool = True
    ):
        """Row i has `row_lengths[i]` values."""
        values, lengths = _made(values), partition(row_lengths, "row_lengths")
        lengths.shape.assert_has_rank(1)
        lengths = required(validate, values, lengths, LENGTHS)
        return cls.from_row_splits(values, splits_of_lengths(lengths), validate=False)

    @classmethod
    def from_value_rowids(
        cls, values: Tensor, value_rowids: Tensor, nrows: TensorLike | None = None, name: str | None = None,
        validate: bool = True,
    ):
        """Value j is in row `value_rowids[j]`; these must not decrease."""
        values, rowids = _made(values), partition(value_rowids, "value_rowids")
        rowids.shape.assert_has_rank(1)
        if isinstance(nrows, int) and nrows < 0:
            raise ValueError(f"Expected nrows >= 0; got {nrows}")
        count, ids = static_rows(values), static_rows(rowids)
        if count is not None and ids is not None and ids != count:
            raise ValueError(f"There are {ids} value_rowids, but {count} values")
        bound = [] if nrows is None else [convert_to_tensor(nrows)]
        for rows in bound:
            rows.shape.assert_has_rank(0)
        known, last = static_value(nrows) if nrows is not None else None, static_value(rowids)
        if validate and known is not None and last is not None and len(last) and last[-1] >= known:
            raise ValueError(
                f"Expected nrows >= value_rowids[-1] + 1; got nrows={int(known)}, value_rowids[-1]={int(last[-1])}"
            )
        rowids = required(validate, values, rowids, ROWIDS, *bound)
        if nrows is None:
            ends = concat([zeros([1], rowids.dtype), rowids[-1:] + 1], 0)
            nrows = ends[-1]
        rows = cast(nrows, rowids.dtype)
        lengths = unsorted_segment_sum(ones_like(rowids), rowids, rows)
        return cls.from_row_splits(values, splits_of_lengths(lengths), validate=False)

    @classmethod
    def from_row_starts(cls, values: Tensor, row_starts: Tensor, name: str | None = None, validate: bool = True):
        """Row i begins at `values[row_starts[i]]`."""
        values, starts = _made(values), partition(row_starts, "row_starts")
        end = reshape(cast(row_count(values), starts.dtype), [1])
        return cls.from_row_splits(values, concat([starts, end], 0), validate=validate)

    @classmethod
    def from_row_limits(cls, values: Tensor, row_limits: Tensor, name: str | None = None, validate: bool = True):
        """Row i ends before `values[row_limits[i]]`."""
        values, limits = _made(values), partition(row_limits, "row_limits")
        splits = concat([zeros([1], limits.dtype), limits], 0)
        return cls.from_row_splits(values, splits, validate=validate)

    @classmethod
    def from_uniform_row_length(
        cls, values: Tensor | RaggedTensor, uniform_row_length: TensorLike, nrows: TensorLike | None = None,
        validate: bool = True, name: str | None = None,
    ):
        """Every row has `uniform_row_length` values."""
        values = _made(values)
        length = partition(uniform_row_length, "uniform_row_length", dtypes.int64)
        known, count = static_value(length), static_rows(values)
        if known is not None and int(known) < 0:
            raise ValueError("`uniform_row_length` must be greater than or equal to zero.")
        if nrows is None:
            if known is not None and int(known) == 0:
                raise ValueError("When uniform_row_length=0, nrows must be specified")
            nrows = cast(row_count(values), length.dtype) // length
        rows = cast(nrows, length.dtype)
        rows_known = static_value(rows)
        if validate and known is not None and count is not None and rows_known is not None:
            if int(known) * int(rows_known) != count:
                raise ValueError(
                    "Arguments to _from_row_partition do not form a valid RaggedTensor: "
                    f"{int(rows_known)} rows of {int(known)} values, but there are {count} values",
                )
        if rows_known is None or known is None or count is None:
            length = required(validate, values, length, UNIFORM, rows)
        splits = range_(cast(0, length.dtype), rows + 1) * length
        out = cls.from_row_splits(values, splits, validate=False)
        return cls(out.values, out.row_splits, internal=True, uniform=length)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Tensor, nested_row_splits: Any, name: str | None = None, validate: bool = True
    ):
        """Rows in rows: the splits of the outermost first."""
        return _nested(cls.from_row_splits, flat_values, nested_row_splits, validate)

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values, nested_row_lengths, name: str | None = None, validate: bool = True
    ):
        """Rows in rows: the lengths of the outermost first."""
        return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)

    @classmethod
    def from_nested_value_rowids(
        cls, flat_values, nested_value_rowids, nested_nrows=None, name: str | None = None,
        validate: bool = True,
    ):
        """Rows in rows: the rows of the values of the outermost first."""
        if isinstance(nested_value_rowids, _native.Tensor):
            raise TypeError(
                "Argument `nested_value_rowids` must be a list of Tensors. Received "
                f"{nested_value_rowids}."
            )
        nrows = (
            list(nested_nrows) if nested_nrows is not None else [None] * len(nested_value_rowids)
        )
        if len(nrows) != len(nested_value_rowids):
            raise ValueError(
                "Argument `nested_nrows` must have the same length as `nested_value_rowids`."
            )
        out = flat_values
        for ids, rows in list(zip(nested_value_rowids, nrows, strict=True))[::-1]:
            out = cls.from_value_rowids(out, ids, rows, validate=validate)
        return out

    @classmethod
    def from_tensor(
        cls, tensor: Tensor, lengths=None, padding=None, ragged_rank: int = 1, name: str | None = None,
        row_splits_dtype: DType = dtypes.int64,
    ):
        """The rows of a dense tensor, cut to `lengths`, or without `padding` at their ends."""
        return _convert().from_tensor(tensor, lengths, padding, ragged_rank, row_splits_dtype)

    @classmethod
    def from_sparse(cls, st_input, name: str | None = None, row_splits_dtype=dtypes.int64):
        """The rows of a sparse matrix, whose elements must stand at the starts of rows."""
        return _convert().from_sparse(st_input, row_splits_dtype)

    # What it is made of

    @property
    def values(self):
        return self._values

    @property
    def row_splits(self):
        return self._row_splits

    @property
    def flat_values(self):
        """The values inside of all ragged dimensions, a dense tensor."""
        out = self._values
        while isinstance(out, RaggedTensor):
            out = out.values
        return out

    @property
    def nested_row_splits(self):
        """The splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        inner = self._values
        return 1 + (inner.ragged_rank if isinstance(inner, RaggedTensor) else 0)

    @property
    def uniform_row_length(self):
        """The length of all rows if it is known to be one."""
        return self._uniform_row_length

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def shape(self) -> tensor_shape.TensorShape:
        """What is known of the shape: None for ragged dimensions."""
        splits = static_rows(self._row_splits)
        rows = None if splits is None else splits - 1
        length = None
        if self._uniform_row_length is not None:
            found = static_value(self._uniform_row_length)
            length = None if found is None else int(found)
        inner = self._values.shape
        if inner.rank is None:
            return tensor_shape.TensorShape(None)
        return tensor_shape.TensorShape([rows, length, *inner.as_list()[1:]])

    def get_shape(self):
        """What is known of the shape."""
        return self.shape

    @property
    def graph(self):
        return self._row_splits.graph

    def consumers(self):
        """The operations of a graph that take the parts of this as inputs."""
        parts = nest.flatten(self, expand_composites=True)
        return [op for part in parts if not hasattr(part, "numpy") for op in part.consumers()]

    def nrows(self, out_type: DTypeLike | None = None, name: str | None = None):
        """The number of rows, a scalar of `out_type`, by default the dtype of the splits."""
        kind = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        return cast(Shape(self._row_splits)[0] - 1, kind)

    def row_starts(self, name: str | None = None):
        """Where in `values` each row begins."""
        return self._row_splits[:-1]

    def row_limits(self, name: str | None = None):
        """Where in `values` each row ends."""
        return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None):
        """The lengths of the rows in dimension `axis`, ragged where that is inside of another ragged dimension."""
        axis = positive_axis(axis, self.shape.rank)
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._row_splits[1:] - self._row_splits[:-1]
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        size = cast(Shape(self._values)[axis - 1], self._row_splits.dtype)
        return self.with_values(fill(cast(Shape(self._values)[: axis - 1], dtypes.int32), size))

    def value_rowids(self, name: str | None = None):
        """The row that each value is in."""
        return rowids_of_splits(self._row_splits, row_count(self._values))

    def nested_row_lengths(self, name: str | None = None):
        """The lengths of the rows of all ragged dimensions."""
        return tuple(s[1:] - s[:-1] for s in self.nested_row_splits)

    def nested_value_rowids(self, name: str | None = None):
        """The rows of the values of all ragged dimensions."""
        found, x = [], self
        while isinstance(x, RaggedTensor):
            found.append(x.value_rowids())
            x = x.values
        return tuple(found)

    def bounding_shape(self, axis=None, name: str | None = None, out_type: DTypeLike | None = None):
        """The smallest dense shape that holds all rows, or its sizes at `axis`."""
        kind = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        nested = self.nested_row_lengths()
        sizes = [reshape(self.nrows(kind), [1])]
        for lengths in nested:
            longest = reductions.reduce_max(concat([zeros([1], lengths.dtype), lengths], 0))
            sizes.append(reshape(cast(longest, kind), [1]))
        shape = concat([*sizes, cast(Shape(self.flat_values)[1:], kind)], 0)
        return shape if axis is None else gather(shape, axis)

    # Changing

    def with_values(self, new_values):
        """The same rows of other values, of which there must be as many."""
        new_values = _made(new_values)
        if (
            isinstance(new_values, RaggedTensor)
            and new_values.row_splits.dtype != self._row_splits.dtype
        ):
            new_values = new_values.with_row_splits_dtype(dtypes.int64)
            return RaggedTensor(new_values, cast(self._row_splits, dtypes.int64), internal=True)
        new_values.shape.with_rank_at_least(1)[:1].assert_is_compatible_with(self._values.shape[:1])
        return RaggedTensor(new_values, self._row_splits, internal=True, uniform=self._uniform_row_length)

    def with_flat_values(self, new_values: TensorLike):
        """The same rows in rows of other flat values."""
        inner = self._values
        return self.with_values(
            inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values
        )

    def with_row_splits_dtype(self, dtype: DTypeLike):
        """The same with splits of int32 or int64."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in INDEX:
            raise ValueError(
                f"Argument `row_splits` dtype must be int32 or int64. Received {dtype}."
            )
        inner = self._values
        if isinstance(inner, RaggedTensor):
            inner = inner.with_row_splits_dtype(dtype)
        uniform = self._uniform_row_length
        uniform = None if uniform is None else cast(uniform, dtype)
        return RaggedTensor(inner, cast(self._row_splits, dtype), internal=True, uniform=uniform)

    def merge_dims(self, outer_axis: int | str, inner_axis: Any):
        """Dimensions `outer_axis` to `inner_axis` as one."""
        return _convert().merge_dims(self, outer_axis, inner_axis)

    def to_tensor(self, default_value: int | None = None, name: str | None = None, shape: Any = None):
        """The dense tensor with rows filled up with `default_value` (zero, or ""), or cut, to `shape`."""
        return _convert().to_tensor(self, default_value, shape)

    def to_sparse(self, name: str | None = None):
        """The sparse tensor of the values, in their places from the start of each row."""
        return _convert().to_sparse(self)

    def to_list(self):
        """The values as nested lists. Raises ValueError in a graph."""
        if not hasattr(self._row_splits, "numpy"):
            raise ValueError("to_list can only be used in eager mode.")
        splits, inner = static_value(self._row_splits), self._values
        flat = inner.to_list() if isinstance(inner, RaggedTensor) else static_value(inner).tolist()
        return [flat[a:b] for a, b in itertools.pairwise(splits)]

    def numpy(self):
        """The rows as an array: of objects (arrays) where their lengths differ."""
        splits, inner = static_value(self._row_splits), self._values
        if splits is None:
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        return rows_as_array(inner.numpy(), splits)

    def _to_variant(self, batched_input: bool = False, name: str | None = None):
        return _variant().to_variant(self, batched_input)

    @classmethod
    def _from_variant(
        cls, variant, dtype: DType, output_ragged_rank, input_ragged_rank=None, row_splits_dtype=dtypes.int64,
        name: str | None = None,
    ):
        return _variant().from_variant(variant, dtype, output_ragged_rank, input_ragged_rank, row_splits_dtype)

    def _from_session_values(self, values):
        flat, *splits = values
        out = flat
        for part in reversed(splits):
            out = RaggedTensorValue(out, part)
        return out

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def _trace_specs(self):
        """What a trace of a function depends on: the number of rows, not how many elements there are."""
        specs = component_specs(self._type_spec)
        return [(spec.dtype, None if spec.shape.rank is None else tuple(spec.shape.as_list())) for spec in specs]

    def __getitem__(self, key: Any):
        from tapeflow.ops.ragged.getitem import getitem

        return getitem(self, key)

    def __len__(self):
        raise TypeError("object of type 'RaggedTensor' has no len()")

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __repr__(self):
        if all(hasattr(p, "numpy") for p in nest.flatten(self, expand_composites=True)):
            from tapeflow.ops.ragged.text import eager_repr

            return eager_repr(self)
        return f"tf.RaggedTensor(values={self._values!s}, row_splits={self._row_splits!s})"

    __str__ = __repr__


def _made(values: Any) -> Any:
    values = as_ragged_or_tensor(values)
    if not isinstance(values, RaggedTensor):
        values.shape.with_rank_at_least(1)
    return values


def _nested(make: Callable[..., Any], flat: Tensor, parts: Any, validate: bool):
    if isinstance(parts, _native.Tensor):
        raise TypeError(f"Expected a list of Tensors, got {parts}")
    out = flat
    for part in list(parts)[::-1]:
        out = make(out, part, validate=validate)
    return as_ragged_or_tensor(out)


def splits_of_lengths(lengths: Any) -> Any:
    return concat([zeros([1], lengths.dtype), cumsum(lengths)], 0)


def rowids_of_splits(splits: Any, count: Any = None) -> Any:
    """The row of each value. `count`: how many values there are, where they tell it by their shape."""
    if count is not None and not _ends_at(splits, count):
        return searchsorted(splits, range_(cast(count, splits.dtype)), "right", splits.dtype) - 1
    lengths = splits[1:] - splits[:-1]
    return repeat(range_(cast(Shape(lengths)[0], splits.dtype)), lengths)


def for_each_value(ragged: RaggedTensor, of_rows: Any) -> Any:
    """For each value, the element of `of_rows`, a vector, that is its row's."""
    if _ends_at(ragged.row_splits, row_count(ragged.values)):
        return repeat(of_rows, ragged.row_lengths())
    return gather(of_rows, ragged.value_rowids())


def _ends_at(splits: Any, count: Any) -> bool:
    """Whether there are values, so many, of which splits, which nobody need have checked, hold all."""
    if not executing_eagerly():  # XLA has to know how many there are by their shape
        return False
    known, end = static_value(splits), static_value(count)
    return known is not None and end is not None and len(known) > 0 and known[0] == 0 and known[-1] == end


def _components(ragged: RaggedTensor) -> list[Any]:
    return [ragged.flat_values, *ragged.nested_row_splits]


def _composed(like: Any, parts: Any) -> Any:
    flat, *splits = parts
    out = flat
    for part in reversed(splits):
        out = RaggedTensor(out, part, internal=True)
    return out


nest.register_composite(RaggedTensor, _components, _composed)
gradient_parts.register(
    RaggedTensor,
    lambda ragged: ragged.flat_values,
    lambda ragged, gradient: ragged.with_flat_values(gradient),
)


@type_spec_registry.register("tf.RaggedTensorSpec")
class RaggedTensorSpec(TypeSpec):
    """Describes a `RaggedTensor`: shape, dtype, number of ragged dimensions and dtype of the splits.

    Raises ValueError where `flat_values_spec`, the spec of the flat values, contradicts the dtype, and for one of
    values that are no plain tensor.
    """

    __slots__ = ("_dtype", "_flat_values_spec", "_ragged_rank", "_row_splits_dtype", "_shape")

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = dtypes.float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = dtypes.int64,
        flat_values_spec: Any = None,
    ):
        self._shape = tensor_shape.as_shape(shape)
        if flat_values_spec is not None:
            if not isinstance(flat_values_spec, TensorSpec):
                raise ValueError(
                    f"flat_values_spec must be a TensorSpec: flat values are plain tensors. Got {flat_values_spec}"
                )
            dtype = flat_values_spec.dtype if dtype is None else dtype
            if flat_values_spec.dtype != dtypes.as_dtype(dtype):
                raise ValueError("dtype must be the same as flat_values_spec.dtype")
        self._flat_values_spec = flat_values_spec
        self._dtype = dtypes.as_dtype(dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if rank is not None and ragged_rank >= rank:
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank})."
            )
        self._ragged_rank = ragged_rank
        self._row_splits_dtype = dtypes.as_dtype(row_splits_dtype)

    @property
    def shape(self) -> tensor_shape.TensorShape:
        return self._shape

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> dtypes.DType:
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        return self._flat_values_spec

    @property
    def value_type(self) -> type:
        return RaggedTensor if self._ragged_rank > 0 else _native.Tensor

    def _parts(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        """The flat values, then the splits from the outermost on."""
        known = self._shape.rank is not None
        sizes = self._shape.as_list() if known else []
        flat = TensorSpec([None, *sizes[self._ragged_rank + 1 :]] if known else None, self._dtype)
        rows = [sizes[0] + 1 if known and sizes[0] is not None else None]
        rows += [None] * (self._ragged_rank - 1)
        splits = [TensorSpec([n], self._row_splits_dtype) for n in rows[: self._ragged_rank]]
        return [flat, *splits]

    def _to_components(self, value: Any) -> list[Any]:
        """The flat values and the splits of a ragged tensor; a plain one is its only component."""
        return _components(value) if isinstance(value, RaggedTensor) else [value]

    def _from_components(self, components: list[Any]) -> Any:
        """The ragged tensor of flat values and splits, or the plain tensor that there is without splits."""
        return _composed(None, list(components)) if len(components) > 1 else components[0]

    def _from_placeholders(self, make: Callable[..., Any]) -> Any:
        """A ragged tensor of which `make(dtype, shape)` gives the parts."""
        parts = [make(s.dtype, placeholder_shape(s)) for s in self._component_specs]
        return _composed(None, parts)

    def _batch(self, batch_size: int | None) -> RaggedTensorSpec:
        """The spec of several of them in a stack."""
        shape = tensor_shape.TensorShape([batch_size]).concatenate(self._shape)
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank + 1, self._row_splits_dtype)

    def _unbatch(self) -> RaggedTensorSpec:
        """The spec of one of a stack."""
        return RaggedTensorSpec(
            self._shape[1:], self._dtype, self._ragged_rank - 1, self._row_splits_dtype
        )

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a ragged tensor."""
        return type_spec_of(value)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a ragged tensor, or one that a spec describes, agrees with this."""
        other = getattr(spec_or_value, "_type_spec", spec_or_value)
        return (
            isinstance(other, RaggedTensorSpec)
            and self._dtype == other.dtype
            and self._ragged_rank == other.ragged_rank
            and self._row_splits_dtype == other.row_splits_dtype
            and self._shape.is_compatible_with(other.shape)
        )

    def __repr__(self) -> str:
        return (
            f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank!r}, "
            f"{self._row_splits_dtype!r})"
        )
