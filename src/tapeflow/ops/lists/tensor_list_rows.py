"""Lists of tensors in scalar variant tensors: the ops that make elements of the rows of a tensor."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import Size
from tapeflow.ops.indexing.gather import Gather
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.lists.payload import TensorList, list_in, rows_of, text_of
from tapeflow.ops.lists.tensor_list import sample_list
from tapeflow.ops.lists.tensor_list_changing import TensorListResize
from tapeflow.ops.math import segment_functions
from tapeflow.ops.math.choice import Select
from tapeflow.ops.math.comparison import Equal
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text, type_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _tensor_list_reading() -> ModuleType:
    from tapeflow.ops.lists import tensor_list_reading  # a circle: it is made of this module

    return tensor_list_reading


def _at_least_vector(tensor: np.ndarray) -> None:
    if tensor.ndim < 1:
        raise invalid(
            f"Tensor must be at least a vector, but saw shape: {shape_text(tensor.shape)}"
        )


def _check_rows(shape: Any, tensor: np.ndarray) -> None:
    if not list_payload.fits(shape, tensor.shape[1:]):
        raise invalid(
            f"Specified a list with shape {text_of(shape)} from a tensor with shape "
            f"{shape_text(tensor.shape[1:])}"
        )


def _row_shape(call: GradientCall):
    """The shape of the rows of the input `tensor`, as the gradients' ops take it."""
    shape = call.static_shape("tensor")
    if shape.is_fully_defined():
        return np.array(shape.as_list()[1:], np.int32)
    return call.shape("tensor")[1:]


@op(
    "TensorListFromTensor",
    "tensor: element_dtype, element_shape: shape_type -> output_handle: variant",
    types={"element_dtype": ANY, "shape_type": INDEX},
    shape=shapes.scalar,
)
def TensorListFromTensor(xp: ModuleType, tensor: np.ndarray, element_shape: np.ndarray):
    _at_least_vector(tensor)
    shape = list_payload.parsed(element_shape)
    _check_rows(shape, tensor)
    kind = list_payload.dtype_of(tensor)
    return TensorList(rows_of(tensor, kind), kind, shape)


@TensorListFromTensor.gradient(needs="")
def _(call: GradientCall, dlist: Tensor):
    TensorListStack = _tensor_list_reading().TensorListStack
    shape = call.static_shape("tensor")
    count = shape.as_list()[0] if shape.rank else None
    kind = call.dtype("tensor")
    if count is not None:
        dlist = TensorListResize(dlist, count)  # others may have been appended to it
    return TensorListStack(dlist, _row_shape(call), kind, -1 if count is None else count), None


@TensorListFromTensor.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([[1.0, 2.0], [3.0, 4.0]]), -1, expect=sample_list([1, 2], [3, 4]))
    yield Sample(np.array([[1.0, 2.0]]), [-1], expect=sample_list([1, 2], shape=(None,)))
    yield Sample(np.zeros((0, 2)), [2], expect=sample_list(shape=(2,)))
    yield Sample(1.0, -1, raises=InvalidArgumentError)
    yield Sample([[1.0, 2.0]], [3], raises=InvalidArgumentError)


def _split_rule(call: ShapeCall):
    shapes.at_least(call.shape(0), 1)
    return [()]


@op(
    "TensorListSplit",
    "tensor: element_dtype, element_shape: shape_type, lengths: int64 -> output_handle: variant",
    types={"element_dtype": ANY, "shape_type": INDEX},
    shape=_split_rule,
)
def TensorListSplit(xp: ModuleType, tensor: np.ndarray, element_shape: np.ndarray, lengths: Array):
    shape = list_payload.parsed(element_shape)
    if shape == ():
        raise invalid(
            "TensorListSplit requires element_shape to be at least of rank 1, but saw: []"
        )
    _at_least_vector(tensor)
    if lengths.ndim != 1:
        raise invalid(
            f"Expected lengths to be a vector, received shape: {shape_text(lengths.shape)}"
        )
    any_length = None if shape is None else (None, *shape[1:])
    if not list_payload.fits(any_length, tensor.shape):
        raise invalid(
            f"tensor shape {shape_text(tensor.shape)} is not compatible with element_shape "
            f"{text_of(shape)}"
        )
    kind = list_payload.dtype_of(tensor)
    elements, end = [], 0
    for length in map(int, lengths):
        if length < 0:
            raise invalid(f"Invalid value in lengths: {length}")
        if end + length > len(tensor):
            raise invalid(
                f"Attempting to slice [{end}, {end + length}] from tensor with length {len(tensor)}"
            )
        elements.append(list_payload.element(tensor[end : end + length], kind))
        end += length
    if end != len(tensor):
        raise invalid(
            f"Unused values in tensor. Length of tensor: {len(tensor)} Values used: {end}"
        )
    return TensorList(elements, kind, shape)


@TensorListSplit.gradient(needs="lengths")
def _(call: GradientCall, dlist: Tensor):
    TensorListConcatV2 = _tensor_list_reading().TensorListConcatV2
    shape = ConcatV2([np.array([-1], np.int32), _row_shape(call)], 0)
    return TensorListConcatV2(dlist, shape, call.lengths, call.dtype("tensor")).tensor, None, None


@TensorListSplit.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([1.0, 2.0, 3.0]), [-1], np.array([1, 2]),
                 expect=sample_list([1], [2, 3], shape=(None,)))  # fmt: skip
    yield Sample(np.array([1.0, 2.0]), -1, np.array([0, 2]), expect=sample_list([], [1, 2]))
    for tensor, shape, lengths in (
        (1.0, [-1], [1]),
        ([1.0], [], [1]),
        ([1.0, 2.0], [-1], [[1, 1]]),
        ([1.0, 2.0], [-1], [1]),
        ([1.0, 2.0], [-1], [1, 5]),
        ([1.0, 2.0], [-1], [1, 2**63 - 1]),
        ([1.0, 2.0], [-1], [-1, 3]),
        ([[1.0, 2.0]], [-1, 3], [1]),
    ):
        yield Sample(tensor, shape, np.array(lengths, np.int64), raises=InvalidArgumentError)


def _positions(indices, limit: int) -> list[int]:
    """The indices; `limit`, if any, is the length of the list."""
    for i in indices.flat:
        if i < 0:
            raise invalid("Indices in TensorListScatter must all be non-negative.")
        if 0 <= limit <= i:
            raise invalid(
                f"TensorListScatter: Trying to scatter at index {i} in list with size {limit}"
            )
    return [int(i) for i in indices.flat]


def _scattered(tensors, positions, rows):
    tensors = tensors + [None] * (max(positions, default=-1) + 1 - len(tensors))
    for i, row in zip(positions, rows, strict=True):
        tensors[i] = row
    return tensors


@op(
    "TensorListScatterV2",
    "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32 "
    "-> output_handle: variant",
    types={"element_dtype": ANY, "shape_type": INDEX},
    shape=shapes.scalar,
)
def TensorListScatterV2(
    xp: ModuleType, tensor: np.ndarray, indices: Array, element_shape: np.ndarray, num_elements: Array
):
    shape = list_payload.parsed(element_shape)
    if num_elements.ndim:
        raise invalid("num_elements must be a scalar")
    count = int(num_elements[()])
    if count < -1:
        raise invalid(f"TensorListScatter expects num_elements >= -1, found: {count}")
    _at_least_vector(tensor)
    if indices.size != len(tensor):
        raise invalid(
            f"Invalid number of rows in input tensor. Expected: {indices.size} Actual: {len(tensor)}"
        )
    _check_rows(shape, tensor)
    positions = _positions(indices, count)
    kind = list_payload.dtype_of(tensor)
    unset = [None] * max(count, 0)
    return TensorList(_scattered(unset, positions, rows_of(tensor, kind)), kind, shape)


def _gathered(call: GradientCall, dlist: Tensor):
    TensorListGather = _tensor_list_reading().TensorListGather
    TensorListLength = _tensor_list_reading().TensorListLength
    kind = call.dtype("tensor")
    rows = TensorListGather(dlist, call.indices, _row_shape(call), kind)
    if not (kind.is_floating or kind.is_complex):
        return rows
    # Of the rows that were written to one place the last one stayed.
    indices = Reshape(call.indices, [-1])
    order = range_(Size(indices))
    last = segment_functions.unsorted_segment_max(order, indices, TensorListLength(dlist))
    return Select(Equal(Gather(last, indices), order), rows, ZerosLike(rows))


@TensorListScatterV2.gradient(needs="indices")
def _(call: GradientCall, dlist: Tensor):
    return _gathered(call, dlist), None, None, None


@TensorListScatterV2.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([1.0, 2.0]), [2, 0], -1, -1, expect=sample_list(2, None, 1))
    yield Sample(np.array([1.0, 2.0]), [1, 1], [], 3, expect=sample_list(None, 2, None, shape=()))
    yield Sample(np.zeros((0, 2)), np.zeros(0, np.int32), [2], -1, expect=sample_list(shape=(2,)))
    for tensor, indices, shape, count in (
        ([1.0, 2.0], [2, 0], -1, 2),
        ([1.0], [-1], -1, -1),
        ([1.0, 2.0], [0], -1, -1),
        (1.0, [0], -1, -1),
        ([1.0], [0], [2], -1),
        ([1.0], [0], -1, -2),
        ([1.0], [0], -1, [1]),
    ):
        yield Sample(tensor, indices, shape, count, raises=InvalidArgumentError)


@op(
    "TensorListScatterIntoExistingList",
    "input_handle: variant, tensor: element_dtype, indices: int32 -> output_handle: variant",
    types={"element_dtype": ANY},
    shape=shapes.scalar,
)
def TensorListScatterIntoExistingList(
    xp: ModuleType, input_handle: np.ndarray, tensor: np.ndarray, indices: np.ndarray
):
    before = list_in(input_handle)
    kind = list_payload.dtype_of(tensor)
    if before.dtype != kind:
        raise invalid(
            f"Invalid data types; input tensor type: {type_text(kind)} "
            f"list element_type: {type_text(before.dtype)}"
        )
    if indices.ndim != 1:
        raise invalid(
            f"Expected indices to be a vector, but received shape: {shape_text(indices.shape)}"
        )
    _at_least_vector(tensor)
    if len(indices) != len(tensor):
        raise invalid(
            f"Expected len(indices) == tensor.shape[0], but saw: {len(indices)} vs. {len(tensor)}"
        )
    _check_rows(before.element_shape, tensor)
    tensors = _scattered(before.tensors(), _positions(indices, -1), rows_of(tensor, kind))
    return TensorList(tensors, kind, before.element_shape, before.max_num_elements)


@TensorListScatterIntoExistingList.gradient(needs="indices")
def _(call: GradientCall, dlist: Tensor):
    blank = zeros(call.shape("tensor"), call.dtype("tensor"))
    dtensor = _gathered(call, dlist)  # first: then the list may change in place
    return TensorListScatterIntoExistingList(dlist, blank, call.indices), dtensor, None


@TensorListScatterIntoExistingList.samples
def _(rng: SampleGenerator):
    yield Sample(
        sample_list(1, 2), np.array([5.0]), [1], expect=sample_list(1, 5), differentiable=False
    )
    yield Sample(
        sample_list(1), np.array([5.0]), [2], expect=sample_list(1, None, 5), differentiable=False
    )
    for elements, tensor, indices in (
        (sample_list(1), np.array([5.0]), [-1]),
        (sample_list(1, shape=()), np.array([[5.0]]), [0]),
        (sample_list(1), np.array([5]), [0]),
        (sample_list(1), np.array([5.0, 6.0]), [0]),
        (sample_list(1), np.float64(5), [0]),
        (sample_list(1), np.array([5.0]), [[0]]),
    ):
        yield Sample(elements, tensor, indices, raises=InvalidArgumentError)
