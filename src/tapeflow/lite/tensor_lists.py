"""Ops on lists of tensors, as ops on tensors: TensorFlow Lite has no lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.graph.operation import Operation
from tapeflow.lite.emitter import Emitter, Known, emits
from tapeflow.lite.lowering import ConverterError
from tapeflow.lite.values import ListValue, Value
from tapeflow.ops import partial_values, shapes
from tapeflow.ops.array.construction import Fill
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.layout import ExpandDims, Reshape
from tapeflow.ops.array.ranges import Range
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import Pack
from tapeflow.ops.indexing.gather import GatherV2
from tapeflow.ops.indexing.strided_slice import StridedSlice
from tapeflow.ops.lists.tensor_list import (
    EmptyTensorList,
    TensorListPushBack,
    TensorListReserve,
    TensorListSetItem,
)
from tapeflow.ops.lists.tensor_list_reading import (
    TensorListGetItem,
    TensorListLength,
    TensorListStack,
)
from tapeflow.ops.lists.tensor_list_rows import TensorListFromTensor
from tapeflow.ops.math.choice import SelectV2
from tapeflow.ops.math.comparison import Equal


def _scalar(number: int) -> Value:
    return Value.of_array(number, dtypes.int32)


def _vector(numbers: Sequence[int]) -> Value:
    return Value.of_array(np.array(numbers, np.int32), dtypes.int32)


def _integer(value: Value) -> int | None:
    known = value.constant_value()
    return None if known is None else int(known)


def _element_shape(value: Value) -> Any:
    """The shape of elements that an op was given: a vector, or -1 for an unknown rank."""
    return None if value.shape_tuple == () else partial_values.as_shape(value)


def whole(emitter: Emitter, x: ListValue, op: Operation) -> ListValue:
    """The list as one tensor."""
    if x.elements is None:
        return x
    found = [y for y in x.elements if y is not None]
    for y in found:
        x.shape = shapes.merge(x.shape, y.shape_tuple)
    if x.shape is None or (None in x.shape and len(found) < max(1, len(x.elements))):
        file, line = emitter.module.place_of(op.name) or ("<unknown>", 0)
        raise ConverterError(
            f"{op.type} (node '{op.name}', defined at {file}:{line}) has a list of tensors whose shape is not known, "
            f"{x.shape}: give the inputs of the function known shapes"
        )
    known: Any = x.shape
    if not found:
        empty = np.zeros((len(x.elements), *known), x.dtype.as_numpy_dtype)
        return ListValue(x.dtype, x.shape, None, Value.of_array(empty, x.dtype))
    elements = [
        Value.of_array(np.zeros(known, x.dtype.as_numpy_dtype), x.dtype) if y is None else y for y in x.elements
    ]
    made = emitter.op(Pack, elements, x.dtype, (len(elements), *known), op, axis="0 : i64")
    return ListValue(x.dtype, x.shape, None, made)


def _tensor(emitter: Emitter, x: ListValue, op: Operation) -> Value:
    made = whole(emitter, x, op).whole
    assert made is not None
    return made


@emits(TensorListReserve, EmptyTensorList)
def _reserve(emitter: Emitter, op: Operation, inputs: list[Value]) -> Sequence[Known]:
    dtype, shape = op.attrs["element_dtype"], _element_shape(inputs[0])
    count: int | None = 0
    if op.row is TensorListReserve:
        count = _integer(inputs[1])
    if count is not None:
        return [ListValue(dtype, shape, [None] * count)]
    if shape is None or None in shape:
        return [whole(emitter, ListValue(dtype, shape, [None]), op)]  # raises
    size = emitter.op(Pack, [inputs[1], *map(_scalar, shape)], dtypes.int32, (1 + len(shape),), op, axis="0 : i64")
    zero = Value.of_array(np.zeros((), dtype.as_numpy_dtype), dtype)
    return [ListValue(dtype, shape, None, emitter.op(Fill, [size, zero], dtype, (None, *shape), op))]


@emits(TensorListFromTensor)
def _from_tensor(emitter: Emitter, op: Operation, inputs: list[Value]) -> Sequence[Known]:
    x = inputs[0]
    shape = None if x.shape_tuple is None else x.shape_tuple[1:]
    return [ListValue(x.dtype, shape, None, x)]


@emits(TensorListStack)
def _stack(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    x = inputs[0]
    x.shape = shapes.merge(x.shape, _element_shape(inputs[1]))
    return [_tensor(emitter, x, op)]


@emits(TensorListGetItem)
def _get(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    x, place = inputs[0], inputs[1]
    number = _integer(place)
    if x.elements is not None and number is not None and 0 <= number < len(x.elements):
        found = x.elements[number]
        if found is not None:
            return [found]
    tensor = _tensor(emitter, x, op)
    rank = len(tensor.shape_tuple or ())
    shape = tensor.shape_tuple and tensor.shape_tuple[1:]
    if number is None:
        axis = _scalar(0)
        return [emitter.op(GatherV2, [tensor, place, axis], x.dtype, shape, op, batch_dims="0 : i64")]
    bounds = [[number] + [0] * (rank - 1), [number + 1] + [0] * (rank - 1), [1] * rank]
    masks = dict.fromkeys(("begin_mask", "end_mask"), f"{(1 << rank) - 2} : i64")
    attrs = {**masks, "ellipsis_mask": "0 : i64", "new_axis_mask": "0 : i64", "shrink_axis_mask": "1 : i64"}
    return [emitter.op(StridedSlice, [tensor, *map(_vector, bounds)], x.dtype, shape, op, **attrs)]


@emits(TensorListSetItem)
def _set(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    x, place, value = inputs
    number = _integer(place)
    shape = shapes.merge(x.shape, value.shape_tuple)
    if x.elements is not None and number is not None and 0 <= number < len(x.elements):
        return [ListValue(x.dtype, shape, [*x.elements[:number], value, *x.elements[number + 1 :]])]
    tensor = _tensor(emitter, ListValue(x.dtype, shape, x.elements, x.whole), op)
    rank = len(tensor.shape_tuple or ())
    row = emitter.op(ExpandDims, [value, _scalar(0)], x.dtype, None if shape is None else (1, *shape), op)
    length = _length_of(emitter, ListValue(x.dtype, shape, None, tensor), op)
    numbers = emitter.op(Range, [_scalar(0), length, _scalar(1)], dtypes.int32, (None,), op)
    here = emitter.op(Equal, [numbers, place], dtypes.bool, (None,), op, incompatible_shape_error="true")
    column = emitter.op(Reshape, [here, _vector([-1] + [1] * (rank - 1))], dtypes.bool, (None, *[1] * (rank - 1)), op)
    made = emitter.op(SelectV2, [column, row, tensor], x.dtype, tensor.shape_tuple, op)
    return [ListValue(x.dtype, shape, None, made)]


@emits(TensorListPushBack)
def _push(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    x, value = inputs
    shape = shapes.merge(x.shape, value.shape_tuple)
    if x.elements is not None:
        return [ListValue(x.dtype, shape, [*x.elements, value])]
    one, more = ((1, *shape), (None, *shape)) if shape is not None else (None, None)
    row = emitter.op(ExpandDims, [value, _scalar(0)], x.dtype, one, op)
    made = emitter.op(ConcatV2, [x.whole, row, _scalar(0)], x.dtype, more, op)
    return [ListValue(x.dtype, shape, None, made)]


@emits(TensorListLength)
def _length(emitter: Emitter, op: Operation, inputs: list[Any]) -> Sequence[Known]:
    return [_length_of(emitter, inputs[0], op)]


def _length_of(emitter: Emitter, x: ListValue, op: Operation) -> Value:
    if x.elements is not None:
        return _scalar(len(x.elements))
    tensor = _tensor(emitter, x, op)
    if tensor.shape_tuple is not None and tensor.shape_tuple[0] is not None:
        return _scalar(tensor.shape_tuple[0])
    sizes = emitter.op(Shape, [tensor], dtypes.int32, (len(tensor.shape_tuple or ()),), op)
    masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask"), "0 : i64")
    bounds = map(_vector, ([0], [1], [1]))
    return emitter.op(StridedSlice, [sizes, *bounds], dtypes.int32, (), op, shrink_axis_mask="1 : i64", **masks)
