"""The fields of tensors of structures: their common shape, and what changes all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.specs.extension_type import ExtensionType
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.math.casting import cast
from tapeflow.ops.ragged import convert
from tapeflow.ops.ragged.row_partition import RowPartition
from tapeflow.ops.ragged.shape import DynamicRaggedShape
from tapeflow.ops.ragged.tensor import RaggedTensor, as_ragged_or_tensor
from tapeflow.ops.ragged.value import RaggedTensorValue


def is_structured(value: Any) -> bool:
    """Whether a value has fields."""
    return hasattr(value, "ragged_shape")


def converted(value: Any) -> Any:
    """The value of a field. Raises TypeError for what is no tensor, ragged tensor, structure or extension type."""
    if isinstance(value, (_native.Tensor, RaggedTensor, ExtensionType)):
        return value
    if isinstance(value, RaggedTensorValue):
        return as_ragged_or_tensor(value)
    try:
        return convert_to_tensor(value)
    except (ValueError, TypeError) as error:
        raise TypeError(f"Unexpected type for value in `fields`: {value!r}") from error


def shape_of(value: Any, dtype: Any = None) -> DynamicRaggedShape:
    """The shape of a value, also of structures."""
    if is_structured(value):
        return value.ragged_shape
    kind = value.row_splits.dtype if isinstance(value, RaggedTensor) else dtype
    return DynamicRaggedShape.from_tensor(value, kind)


def sizes_dtype(fields: Mapping[str, Any], nrows: Any, partitions: Sequence[RowPartition] | None) -> dtypes.DType:
    """The dtype of the sizes of all: int64 where one has that, or none says it."""
    found = [
        v.row_splits.dtype if isinstance(v, RaggedTensor) else v.ragged_shape.dtype
        for v in fields.values()
        if isinstance(v, RaggedTensor) or is_structured(v)
    ]
    found += [nrows.dtype] if isinstance(nrows, _native.Tensor) else []
    found += [part.dtype for part in partitions or ()]
    return dtypes.int32 if dtypes.int32 in found and dtypes.int64 not in found else dtypes.int64


def with_sizes_dtype(fields: Mapping[str, Any], dtype: Any) -> dict[str, Any]:
    """The fields with sizes of one dtype."""
    return {key: _with_dtype(value, dtype) for key, value in fields.items()}


def _with_dtype(value: Any, dtype: Any) -> Any:
    if isinstance(value, RaggedTensor):
        return value.with_row_splits_dtype(dtype)
    return value.with_shape_dtype(dtype) if is_structured(value) else value


def common_shape(fields: Mapping[str, Any], rank: int, dtype: Any) -> DynamicRaggedShape | None:
    """The outer `rank` dimensions that all fields share; None without fields. Raises ValueError where they differ."""
    found = None
    for name, value in fields.items():
        try:
            found = merged(found, shape_of(value, dtype).with_dtype(dtype)[:rank])
        except Exception as error:
            raise ValueError(f"Error in shape of {name}") from error
    return found


def merged(one: DynamicRaggedShape | None, other: DynamicRaggedShape | None) -> DynamicRaggedShape | None:
    """What two shapes of the same sizes say."""
    if one is None or other is None:
        return other if one is None else one
    return one._merge_with(other)


def shape_of_all(
    fields: Mapping[str, Any], shape: TensorShape, nrows: Any, partitions: Sequence[RowPartition] | None
) -> DynamicRaggedShape:
    """The shape of structures with these fields, as far as it follows from these and from what else is given.

    Raises ValueError where it does not follow, and for what does not fit.
    """
    rank: Any = shape.rank
    kind = sizes_dtype(fields, nrows, partitions)
    if rank == 0:
        return DynamicRaggedShape([], [], kind)
    known = shape.as_list()
    found = DynamicRaggedShape([], known, kind) if shape.is_fully_defined() else None
    found = merged(found, common_shape(with_sizes_dtype(fields, kind), rank, kind))
    if rank == 1:
        rows = known[0] if known[0] is not None else nrows
        if rows is not None:
            size = [rows] if isinstance(rows, int) else reshape(cast(rows, kind), [1])
            found = merged(found, DynamicRaggedShape([], size, kind))
        if found is None:
            raise ValueError("Must specify `nrows`, a fully specified `shape`, or have `fields` if `rank=1`")
        return found
    if partitions:
        found = merged(found, DynamicRaggedShape.from_row_partitions(partitions, kind))
    if found is None:
        raise ValueError("Must specify row_partitions, a fully specified shape, or have fields if rank > 1")
    return found


def each(value: Any, change: Callable[[Any], Any], shape: Any) -> Any:
    """Structures of which `change` makes the fields, and which have the given shape."""
    return type(value)({name: change(value.field_value(name)) for name in value.field_names()}, shape)


def with_partitions(value: Any, partitions: Sequence[RowPartition]) -> Any:
    """The same value, with these partitions in the place of its outer ones, which cut it alike."""
    if not partitions or isinstance(value, _native.Tensor):
        return value
    if isinstance(value, RaggedTensor):
        return partitions[0].rows_of(with_partitions(value.values, partitions[1:]))
    if not is_structured(value):
        return value
    shape = shape_of(value)
    parts = [*partitions, *row_partitions(value)[len(partitions) :]]
    whole = shape_of(value)._with_num_row_partitions(len(parts))
    made = DynamicRaggedShape(parts, whole.inner_shape, shape.dtype, False, whole.static_inner_shape)
    return each(value, lambda field: with_partitions(field, partitions), made)


def row_partitions(value: Any) -> tuple[RowPartition, ...]:
    """The partitions of all dimensions of structures but the outermost."""
    shape = shape_of(value)
    return shape_of(value)._as_row_partitions() if shape.rank and shape.rank > 1 else ()


def partitioned(value: Any, partition: RowPartition) -> Any:
    """A value of which the outer dimension is cut into rows."""
    length = partition.uniform_row_length()
    if isinstance(value, _native.Tensor) and length is not None:
        kind = partition.dtype
        outer = [reshape(cast(size, kind), [1]) for size in (partition.nrows(), length)]
        return reshape(value, concat([*outer, cast(Shape(value)[1:], kind)], 0))
    if not is_structured(value):
        fitting = RaggedTensor.from_row_splits(value, partition.row_splits())
        return partition.rows_of(fitting.values) if length is not None else fitting
    shape = shape_of(value)
    kind = shape.dtype
    parts = [partition.with_dtype(kind), *row_partitions(value)]
    inner = shape_of(value)._with_num_row_partitions(len(parts) - 1)
    made = DynamicRaggedShape(parts, inner.inner_shape, kind)
    return each(value, lambda field: partitioned(field, partition), made)


def merge_dims(value: Any, outer: int, inner: int) -> Any:
    """A value with the dimensions from `outer` to `inner` as one."""
    if not is_structured(value):
        return convert.merge_dims(value, outer, inner)
    shape = shape_of(value)._merge_dims(outer, inner)
    return each(value, lambda field: merge_dims(field, outer, inner), shape)
