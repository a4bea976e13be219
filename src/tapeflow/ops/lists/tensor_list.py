"""Lists of tensors in scalar variant tensors: the ops that make and change them. Reading them: tensor_list_reading.

A list is a value as any other: an op that changes it makes a new one (in the old one's memory, where nobody else can
see that). Loops of graphs, and TensorArray in them, are built on these ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.lists.payload import TensorList, element, list_in, text_of
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import ANY, INDEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text, type_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _tensor_list_reading() -> ModuleType:
    from tapeflow.ops.lists import tensor_list_reading  # a circle: it is made of this module

    return tensor_list_reading


def _tensor_list_changing() -> ModuleType:
    from tapeflow.ops.lists import tensor_list_changing  # a circle: it is made of this module

    return tensor_list_changing


VARIANT = "variant"


def sample_list(*elements, shape: Any = None, limit: int = -1, kind: str = "float64"):
    """The variant of a list, for samples; None is an element that was not set."""
    tensors = [None if e is None else element(np.asarray(e, kind), kind) for e in elements]
    return element(TensorList(tensors, kind, shape, limit), VARIANT)


def static_rest(call: GradientCall, name: str):
    """What is known of the shape of `name` without its first dimension, as an op takes it."""
    shape = call.static_shape(name)
    if shape.rank is None:
        return np.array(-1, np.int32)
    return np.array([-1 if d is None else d for d in shape.as_list()[1:]], np.int32)


@op(
    "EmptyTensorList",
    "element_shape: shape_type, max_num_elements: int32 -> handle: variant",
    types={"shape_type": INDEX},
    attrs={"element_dtype": dtype},
    shape=shapes.scalar,
)
def EmptyTensorList(
    xp: ModuleType, element_shape: np.ndarray, max_num_elements: np.ndarray, element_dtype: DType
):
    if max_num_elements.ndim:
        raise invalid(
            f"max_num_elements expected to be a scalar but got shape: {shape_text(max_num_elements.shape)}"
        )
    return TensorList(
        [], element_dtype, list_payload.parsed(element_shape), int(max_num_elements[()])
    )


EmptyTensorList.gradient(None)


@EmptyTensorList.samples
def _(rng: SampleGenerator):
    yield Sample([2, -1], -1, "float64", expect=sample_list(shape=(2, None)))
    yield Sample(-1, -1, "float64", expect=sample_list())
    yield Sample(3, -1, "float32", raises=InvalidArgumentError)
    yield Sample([-2], -1, "float32", raises=InvalidArgumentError)
    yield Sample([[1]], -1, "float32", raises=InvalidArgumentError)
    yield Sample(-1, [1, 2], "float32", raises=InvalidArgumentError)


@op(
    "TensorListReserve",
    "element_shape: shape_type, num_elements: int32 -> handle: variant",
    types={"shape_type": INDEX},
    attrs={"element_dtype": dtype},
    shape=shapes.scalar,
)
def TensorListReserve(
    xp: ModuleType, element_shape: np.ndarray, num_elements: np.ndarray, element_dtype: DType
):
    if num_elements.ndim:
        raise invalid(
            f"The num_elements to reserve must be a tensor size 1, but got {shape_text(num_elements.shape)}"
        )
    if num_elements < 0:
        raise invalid(
            f"The num_elements to reserve must be a non negative number, but got {num_elements}"
        )
    return TensorList([None] * int(num_elements), element_dtype, list_payload.parsed(element_shape))


TensorListReserve.gradient(None)


@TensorListReserve.samples
def _(rng: SampleGenerator):
    yield Sample([2], 3, "float64", expect=sample_list(None, None, None, shape=(2,)))
    yield Sample(-1, 0, "float64", expect=sample_list())
    yield Sample([2], -1, "float64", raises=InvalidArgumentError)
    yield Sample([2], [1], "float64", raises=InvalidArgumentError)


@op(
    "TensorListPushBack",
    "input_handle: variant, tensor: element_dtype -> output_handle: variant",
    types={"element_dtype": ANY},
    shape=shapes.scalar,
)
def TensorListPushBack(xp: ModuleType, input_handle: np.ndarray, tensor: Array):
    before = list_in(input_handle)
    return _with_pushed(before, tensor, "Invalid data types", "list.")


def _with_pushed(before, tensor: Any, what: str, place: str):
    kind = list_payload.dtype_of(tensor)
    if before.dtype != kind:
        raise invalid(
            f"{what}; op elements {type_text(kind)} but list elements "
            f"{type_text(before.dtype)}"
        )
    if not list_payload.fits(before.element_shape, tensor.shape):
        raise invalid(
            f"Tried to append a tensor with incompatible shape to a {place} Op element shape: "
            f"{shape_text(tensor.shape)} list shape: {text_of(before.element_shape)}"
        )
    limit = before.max_num_elements
    if limit != -1 and len(before) >= limit:
        raise invalid(
            f"Tried to push item into a full list list size: {len(before)} max_num_elements: {limit}"
        )
    return changed(before, [*before.tensors(), element(tensor, kind)])


def changed(before, tensors: Sequence[Tensor | None]):
    return TensorList(tensors, before.dtype, before.element_shape, before.max_num_elements)


@TensorListPushBack.gradient(needs="")
def _(call: GradientCall, dlist: Tensor):
    popped = TensorListPopBack(dlist, call.shape("tensor"), call.dtype("tensor"))
    return popped.output_handle, popped.tensor


@TensorListPushBack.samples
def _(rng: SampleGenerator):
    yield Sample(sample_list(1), np.float64(2.0), expect=sample_list(1, 2), differentiable=False)
    yield Sample(sample_list(shape=(None, 2)), np.array([[1.0, 2.0]]),
                 expect=sample_list([[1, 2]], shape=(None, 2)), differentiable=False)  # fmt: skip
    yield Sample(sample_list(), np.array(b"a", object), raises=InvalidArgumentError)
    yield Sample(sample_list(shape=(3,)), np.array([1.0, 2.0]), raises=InvalidArgumentError)
    yield Sample(sample_list(1, limit=1), np.float64(2.0), raises=InvalidArgumentError)
    yield Sample(sample_list(kind="int32"), np.float64(2.0), raises=InvalidArgumentError)
    yield Sample(
        element(np.full(2, 0, object), VARIANT), np.float64(2.0), raises=InvalidArgumentError
    )
    yield Sample(
        element(np.array(0, object), VARIANT), np.float64(2.0), raises=InvalidArgumentError
    )


@op(
    "TensorListPushBackBatch",
    "input_handles: variant, tensor: element_dtype -> output_handles: variant",
    types={"element_dtype": ANY},
    shape=shapes.same_as_first,
)
def TensorListPushBackBatch(xp: ModuleType, input_handles: Array, tensor: Array):
    if tensor.ndim < 1:
        raise invalid(
            f"Expected tensor to be at least a vector, but saw shape: {shape_text(tensor.shape)}"
        )
    if input_handles.ndim != 1:
        raise invalid(
            f"Expected input_handles to be a vector, but saw shape: {shape_text(input_handles.shape)}"
        )
    if len(tensor) != len(input_handles):
        raise invalid(
            "Expected tensor.shape[0] == input_handles.size, but saw "
            f"{len(tensor)} vs. {len(input_handles)}"
        )
    out = np.empty(input_handles.shape, object)
    for i, before in enumerate(input_handles):
        out[i] = _with_pushed(
            list_payload.list_of(before),
            tensor[i, ...],
            f"Invalid data type at index {i}",
            f"list at index {i}.",
        )
    return out


TensorListPushBackBatch.gradient(None)


def lists(*variants):
    out = np.empty(len(variants), object)
    for i, variant in enumerate(variants):
        out[i] = variant.numpy()
    return element(out, VARIANT)


TensorListPushBackBatch.compiled(never="it takes lists of lists")


@TensorListPushBackBatch.samples
def _(rng: SampleGenerator):
    yield Sample(lists(sample_list(1), sample_list()), np.array([5.0, 6.0]),
                 expect=lists(sample_list(1, 5), sample_list(6)), differentiable=False)  # fmt: skip
    yield Sample(lists(sample_list(1)), np.array([5.0, 6.0]), raises=InvalidArgumentError)
    yield Sample(lists(sample_list(1)), np.float64(5.0), raises=InvalidArgumentError)
    yield Sample(sample_list(1), np.array([5.0]), raises=InvalidArgumentError)
    yield Sample(lists(sample_list(shape=())), np.array([[5.0]]), raises=InvalidArgumentError)


@op(
    "TensorListPopBack",
    "input_handle: variant, element_shape: int32 -> output_handle: variant, tensor: element_dtype",
    attrs={"element_dtype": dtype},
    shape=lambda call: [(), spelled(call, 1)],
)
def TensorListPopBack(
    xp: ModuleType, input_handle: np.ndarray, element_shape: np.ndarray, element_dtype: DType
):
    before = list_in(input_handle)
    list_payload.check_dtype(before, element_dtype)
    if len(before) == 0:
        raise invalid("Trying to pop from an empty list.")
    *rest, last = before.tensors()
    if last is None:
        shape = list_payload.merged(list_payload.parsed(element_shape), before.element_shape)
        if not list_payload.is_full(shape):
            raise invalid(
                "Trying to read an uninitialized tensor but element_shape is not fully defined."
                + text_of(shape)
            )
        last = list_payload.blank(shape, element_dtype)
    return changed(before, rest), last


def spelled(call: ShapeCall, i: int):
    """The shape that input `i` spells; -1 spells none."""
    return shapes.from_value(call, i) if call.shape(i) else None


@TensorListPopBack.gradient(needs="output_handle")
def _(call: GradientCall, dlist: Tensor, dtensor: Tensor):
    if dlist is None:
        dlist = TensorListReserve(-1, length_in(call, "output_handle"), call.dtype("tensor"))
    if dtensor is None:
        dtensor = zeros(call.shape("tensor"), call.dtype("tensor"))
    return TensorListPushBack(dlist, dtensor), None


def length_in(call: GradientCall, name: str):
    """The length of the list `name`. In a graph it is computed beside the call: loops then need not keep the list."""
    TensorListLength = _tensor_list_reading().TensorListLength
    beside = getattr(call, "beside", None)
    return TensorListLength(call[name]) if beside is None else beside(TensorListLength, name)


@TensorListPopBack.samples
def _(rng: SampleGenerator):
    yield Sample(sample_list(1, 2), -1, "float64", expect=(sample_list(1), np.float64(2)))
    yield Sample(sample_list([1], None, shape=(None,)), [2], "float64",
                 expect=(sample_list([1], shape=(None,)), np.zeros(2)))  # fmt: skip
    yield Sample(sample_list(None), -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(), -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(1), -1, "int32", raises=InvalidArgumentError)
    yield Sample(sample_list(None, shape=(2,)), [3], "float64", raises=InvalidArgumentError)


@op(
    "TensorListSetItem",
    "input_handle: variant, index: int32, item: element_dtype -> output_handle: variant",
    types={"element_dtype": ANY},
    attrs={"resize_if_index_out_of_bounds": False},
    shape=shapes.scalar,
)
def TensorListSetItem(
    xp: ModuleType, input_handle: np.ndarray, index: np.ndarray, item: np.ndarray,
    resize_if_index_out_of_bounds: bool,
):
    before = list_in(input_handle)
    kind = list_payload.dtype_of(item)
    list_payload.check_dtype(before, kind)
    at, count = list_payload.one(index, "index must be a scalar"), len(before)
    if at < 0 or (at >= count and not resize_if_index_out_of_bounds):
        raise invalid(f"Trying to modify element {at} in a list with {count} elements.")
    if not list_payload.fits(before.element_shape, item.shape):
        raise invalid(
            "Tried to set a tensor with incompatible shape at a list index. Item element shape: "
            f"{shape_text(item.shape)} list shape: {text_of(before.element_shape)}"
        )
    tensors = before.tensors() + [None] * (at + 1 - count)
    tensors[at] = element(item, kind)
    return changed(before, tensors)


@TensorListSetItem.gradient(needs="index, item")
def _(call: GradientCall, dlist: Tensor):
    TensorListGetItem = _tensor_list_reading().TensorListGetItem
    kind = call.dtype("item")
    shape = call.shape("item")
    blank = ZerosLike(call.item) if kind == VARIANT else zeros(shape, kind)
    ditem = TensorListGetItem(
        dlist, call.index, shape, kind
    )  # first: then the list may change in place
    dbefore = TensorListSetItem(dlist, call.index, blank)
    if call.resize_if_index_out_of_bounds and getattr(call, "beside", None) is not None:
        # As long as the list was. Of an eager call it is not kept: what made the list shortens its gradient.
        dbefore = _tensor_list_changing().TensorListResize(dbefore, length_in(call, "input_handle"))
    return dbefore, None, ditem


@TensorListSetItem.samples
def _(rng: SampleGenerator):
    yield Sample(
        sample_list(1, 2), 1, np.float64(5.0), expect=sample_list(1, 5), differentiable=False
    )
    yield Sample(sample_list(1), 2, np.float64(5.0), resize_if_index_out_of_bounds=True,
                 expect=sample_list(1, None, 5), differentiable=False)  # fmt: skip
    yield Sample(sample_list(1), 1, np.float64(2.0), raises=InvalidArgumentError)
    yield Sample(sample_list(1), -1, np.float64(2.0), raises=InvalidArgumentError)
    yield Sample(
        sample_list(1),
        -1,
        np.float64(2.0),
        resize_if_index_out_of_bounds=True,
        raises=InvalidArgumentError,
    )
    yield Sample(sample_list([1], shape=(1,)), 0, np.array([1.0, 2.0]), raises=InvalidArgumentError)
    yield Sample(sample_list(1), 0, np.int32(1), raises=InvalidArgumentError)
    yield Sample(sample_list(1, 2), np.array([0, 1]), np.float64(1.0), raises=InvalidArgumentError)
