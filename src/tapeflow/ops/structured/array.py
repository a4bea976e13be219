"""Functions of tensors, of structures: those that move whole elements, and those that ask for their shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import constant
from tapeflow.ops.api_dispatch import OpDispatcher
from tapeflow.ops.array import construction, joining, layout, sizes
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.indexing import gather as gathering
from tapeflow.ops.math.casting import cast
from tapeflow.ops.ragged.axis import positive_axis
from tapeflow.ops.ragged.shape import DynamicRaggedShape
from tapeflow.ops.ragged.tensor import as_ragged_or_tensor
from tapeflow.ops.random import functions as random_functions
from tapeflow.ops.structured.fields import shape_of
from tapeflow.ops.structured.tensor import StructuredTensor

# What a function does with a field, or with the fields of several values.
_OfFields = Callable[[list[Any]], Any]


class _OfStructures(OpDispatcher):
    """Answers for one function where it is given structures, alone or in a list."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function

    def handle(self, args: Any, kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        if any(_is_structured(value) for value in given):
            return self._function(*args, **kwargs)
        return self.NOT_SUPPORTED


def _is_structured(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(item, StructuredTensor) for item in value)
    return isinstance(value, StructuredTensor)


def _extended(values: Sequence[Any], of_fields: _OfFields) -> Any:
    """What `of_fields` makes of the fields of structures, in structures; of those without fields it makes the shape."""
    if not isinstance(values[0], StructuredTensor):
        return of_fields(list(values))
    names = values[0].field_names()
    if not names:
        of_zeros = of_fields([_filled(value, construction.zeros, dtypes.int32) for value in values])
        return StructuredTensor.from_shape(DynamicRaggedShape.from_tensor(of_zeros))
    made = {name: _extended([value.field_value(name) for value in values], of_fields) for name in names}
    rank = shape_of(_extended([StructuredTensor.from_shape(shape_of(v)) for v in values], of_fields)).rank
    return StructuredTensor.from_fields_and_rank(made, rank)


def _filled(value: StructuredTensor, fill: Any, dtype: DTypeLike) -> Any:
    shape = value.ragged_shape
    if shape.rank and shape.rank > 1:
        shape = shape_of(value)._with_num_row_partitions(shape.rank - 1)
    return shape.with_flat_values(fill(shape.inner_shape, dtype))


def shape(input: StructuredTensor, out_type: DTypeLike = dtypes.int32, name: str | None = None):
    """`tf.shape`: a `DynamicRaggedShape`."""
    return input.ragged_shape.with_dtype(out_type or dtypes.int32)


def shape_v1(input: StructuredTensor, name: str | None = None, out_type: DTypeLike = dtypes.int32):
    """`shape` with the 1.x order of arguments."""
    return shape(input, out_type)


def size(input: StructuredTensor, out_type: DTypeLike | None = None, name: str | None = None):
    """`tf.size`: the number of structures."""
    parts = input.row_partitions
    count = parts[-1].nvals() if parts else input.nrows()
    kind = dtypes.int32 if out_type is None else out_type
    return constant(1, kind) if count is None else cast(count, kind)


def size_v1(input: StructuredTensor, name: str | None = None, out_type: DTypeLike | None = None):
    """`size` with the 1.x order of arguments."""
    return size(input, out_type)


def rank(input: StructuredTensor, name: str | None = None):
    """`tf.rank`: the number of dimensions."""
    return constant(input.rank, dtypes.int32)


def zeros_like(input: StructuredTensor, dtype: DTypeLike | None = None, name: str | None = None, layout=None):
    """`tf.zeros_like`: a tensor of zeros, one for each structure."""
    return _filled(input, construction.zeros, dtype or dtypes.float32)


def ones_like(input: StructuredTensor, dtype: DTypeLike | None = None, name: str | None = None, layout=None):
    """`tf.ones_like`: a tensor of ones, one for each structure."""
    return _filled(input, construction.ones, dtype or dtypes.float32)


def zeros_like_v1(tensor: StructuredTensor, dtype=None, name: str | None = None, optimize: bool = True):
    """`zeros_like` with the arguments of 1.x."""
    return zeros_like(tensor, dtype)


def ones_like_v1(tensor: StructuredTensor, dtype=None, name: str | None = None, optimize: bool = True):
    """`ones_like` with the arguments of 1.x."""
    return ones_like(tensor, dtype)


def expand_dims(input: StructuredTensor, axis: int, name: str | None = None):
    """`tf.expand_dims`: a dimension of size one, before or behind the others."""
    place = positive_axis(axis, input.rank, "axis", 1)
    return _extended([input], lambda fields: layout.expand_dims(fields[0], place))


def expand_dims_v1(input: StructuredTensor, axis: int | None = None, name: str | None = None, dim=None):
    """`expand_dims` with the arguments of 1.x."""
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'axis' and 'dim'.")
    return expand_dims(input, dim if axis is None else axis)


def gather(
    params: StructuredTensor, indices: Any, validate_indices=None, axis: int | None = None, batch_dims: int = 0,
    name: str | None = None,
):
    """`tf.gather`: the structures at `indices` of dimension `axis`."""
    place = positive_axis(batch_dims if axis is None else axis, params.rank, "axis")
    rows = as_ragged_or_tensor(indices)

    def of_field(fields: list[Any]) -> Any:
        return gathering.gather(fields[0], rows, axis=place, batch_dims=batch_dims)

    return _extended([params], of_field)


def gather_v1(
    params: StructuredTensor, indices: Any, validate_indices=None, name: str | None = None, axis: int | None = None,
    batch_dims: int = 0,
):
    """`gather` with the 1.x order of arguments."""
    return gather(params, indices, validate_indices, axis, batch_dims)


def concat(values: Sequence[StructuredTensor], axis: int, name: str | None = "concat"):
    """`tf.concat`: structures one after the other. Raises ValueError where they have other fields or ranks."""
    if not isinstance(values, (list, tuple)):
        raise ValueError("values must be a list of StructuredTensors (not a list)")
    if not values:
        raise ValueError("values must not be an empty list")
    if not all(isinstance(value, StructuredTensor) for value in values):
        raise ValueError("values must be a list of StructuredTensors")
    outlines = [dict(_outline(value, ())) for value in values]
    others = set().union(*(outlines[0].keys() ^ each.keys() for each in outlines[1:]))
    if others:
        raise ValueError(f"Some paths are present in some, but not all, structured tensors: {others!r}")
    if any(each != outlines[0] for each in outlines[1:]):
        raise ValueError("Ranks of sub-message do not match")
    place = positive_axis(axis, values[0].rank)
    return _extended(values, lambda fields: joining.concat(fields, place))


def _outline(value: StructuredTensor, path: tuple[str, ...]):
    """The paths of all fields, with the ranks of those that are structures."""
    yield path, value.rank
    for name in value.field_names():
        field = value.field_value(name)
        if isinstance(field, StructuredTensor):
            yield from _outline(field, (*path, name))
        else:
            yield (*path, name), None


def shuffle(value: StructuredTensor, seed: int | None = None, name: str | None = None):
    """`tf.random.shuffle`: the structures along the first dimension in random order."""
    if value.rank == 0:
        raise ValueError("Cannot shuffle a scalar StructuredTensor")
    return gather(value, random_functions.shuffle(range_(value.nrows()), seed), axis=0)


for _api, _function in (
    (sizes.shape, shape), (sizes.shape_v1, shape_v1), (sizes.size, size), (sizes.size_v1, size_v1), (sizes.rank, rank),
    (construction.zeros_like, zeros_like), (construction.zeros_like_v1, zeros_like_v1),
    (construction.ones_like, ones_like), (construction.ones_like_v1, ones_like_v1),
    (layout.expand_dims, expand_dims), (layout.expand_dims_v1, expand_dims_v1),
    (gathering.gather, gather), (gathering.gather_v1, gather_v1), (joining.concat, concat),
    (random_functions.shuffle, shuffle),
):  # fmt: skip
    _OfStructures(_function).register(_api)
