"""Lists of tensors in scalar variant tensors: the ops that read elements, one or all at once."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.indexing.gather import Gather
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.lists.payload import list_in, text_of
from tapeflow.ops.lists.tensor_list import (
    VARIANT,
    TensorListReserve,
    TensorListSetItem,
    length_in,
    sample_list,
    spelled,
    static_rest,
)
from tapeflow.ops.lists.tensor_list_rows import (
    TensorListFromTensor,
    TensorListScatterIntoExistingList,
    TensorListSplit,
)
from tapeflow.ops.math import segment_functions
from tapeflow.ops.signature import Preferring, dtype
from tapeflow.ops.table import INDEX, Sample, op
from tapeflow.ops.validate import index_kind, invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


@op("TensorListLength", "input_handle: variant -> length: int32", shape=shapes.scalar)
def TensorListLength(xp: ModuleType, input_handle: np.ndarray):
    return np.int32(len(list_in(input_handle)))


TensorListLength.gradient(None)


@TensorListLength.samples
def _(rng: SampleGenerator):
    yield Sample(sample_list(1, None, 2), expect=np.int32(3))
    yield Sample(sample_list(), expect=np.int32(0))


def _element_shape_rule(call: ShapeCall):
    return [None]


@op(
    "TensorListElementShape",
    "input_handle: variant -> element_shape: shape_type",
    attrs={"shape_type": dtype},
    shape=_element_shape_rule,
)
def TensorListElementShape(xp: ModuleType, input_handle: np.ndarray, shape_type: DType):
    kind = index_kind(shape_type, "shape_type")
    shape = list_in(input_handle).element_shape
    return np.array(-1 if shape is None else [-1 if d is None else d for d in shape], kind)


TensorListElementShape.gradient(None)


@TensorListElementShape.samples
def _(rng: SampleGenerator):
    yield Sample(sample_list(shape=(2, None)), "int64", expect=np.array([2, -1]))
    yield Sample(sample_list(), "int32", expect=np.int32(-1))
    yield Sample(sample_list(shape=()), "int32", expect=np.zeros(0, np.int32))


@op(
    "TensorListGetItem",
    "input_handle: variant, index: int32, element_shape: Tshape -> item: element_dtype",
    types={"Tshape": Preferring(INDEX)},
    attrs={"element_dtype": dtype},
    shape=lambda call: [spelled(call, 2)],
)
def TensorListGetItem(
    xp: ModuleType, input_handle: np.ndarray, index: np.ndarray, element_shape: np.ndarray,
    element_dtype: DType,
):
    elements = list_in(input_handle)
    list_payload.check_dtype(elements, element_dtype)
    at, count = list_payload.one(index, "index must be a scalar"), len(elements)
    if not 0 <= at < count:
        raise invalid(f"Trying to access element {at} in a list with {count} elements.")
    if elements[at] is not None:
        return list_payload.array_of(elements[at])
    shape = list_payload.merged(list_payload.parsed(element_shape), elements.element_shape)
    if not list_payload.is_full(shape):
        for tensor in elements.tensors():
            if tensor is not None:
                shape = list_payload.merged(shape, list_payload.shape_of(tensor))
    if not list_payload.is_full(shape):
        raise invalid(
            "Trying to read an uninitialized tensor but element_shape is not fully defined: "
            f"{text_of(shape)} and no list element is set."
        )
    return list_payload.blank(shape, element_dtype)


@TensorListGetItem.gradient(needs="input_handle, index")
def _(call: GradientCall, ditem: Tensor):
    return TensorListSetItem(_unset(call, "item"), call.index, ditem), None, None


def _unset(call: GradientCall, element: str):
    """A list as long as that of the call's input, with nothing set. Its elements may be of any shape."""
    return TensorListReserve(-1, length_in(call, "input_handle"), call.dtype(element))


@TensorListGetItem.samples
def _(rng: SampleGenerator):
    yield Sample(sample_list(1, 2), 1, -1, "float64", expect=np.float64(2))
    yield Sample(sample_list(None, shape=(2,)), 0, -1, "float64", expect=np.zeros(2))
    yield Sample(sample_list(None), 0, [3], "float64", expect=np.zeros(3))
    yield Sample(sample_list([1, 2], None), 1, -1, "float64", expect=np.zeros(2))
    yield Sample(sample_list(None), 0, -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list([1], [1, 2], None), 2, -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(None, shape=(2,)), 0, [3], "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(1), 1, -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(1), -1, -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(1), 0, -1, "int32", raises=InvalidArgumentError)


def _stack_rule(call: ShapeCall):
    row, count = spelled(call, 1), call.attr("num_elements")
    return [None if row is None else (None if count < 0 else count, *row)]


@op(
    "TensorListStack",
    "input_handle: variant, element_shape: int32 -> tensor: element_dtype",
    attrs={"element_dtype": dtype, "num_elements": -1},
    shape=_stack_rule,
    moves=True,
)
def TensorListStack(
    xp: ModuleType, input_handle: np.ndarray, element_shape: np.ndarray, element_dtype: DType,
    num_elements: int,
):
    elements = list_in(input_handle)
    list_payload.check_dtype(elements, element_dtype)
    shape = list_payload.merged(list_payload.parsed(element_shape), elements.element_shape)
    if num_elements not in (-1, len(elements)):
        raise invalid(
            f"Operation expected a list with {num_elements} elements but got a list with "
            f"{len(elements)} elements."
        )
    if len(elements) == 0 and not list_payload.is_full(shape):
        raise invalid(
            "Tried to stack elements of an empty list with non-fully-defined element_shape: "
            + text_of(shape)
        )
    return _stacked(
        elements.tensors(),
        shape,
        element_dtype,
        "Tried to stack list which only contains uninitialized tensors and has a "
        "non-fully-defined element_shape: ",
    )


def _stacked(tensors, shape, kind, message):
    for tensor in tensors:
        if tensor is not None:
            shape = list_payload.merged(shape, list_payload.shape_of(tensor))
    if not list_payload.is_full(shape):
        raise invalid(message + text_of(shape))
    parts = [
        list_payload.blank(shape, kind) if t is None else list_payload.array_of(t) for t in tensors
    ]
    return list_payload.joined(parts, (len(parts), *shape), kind)


@TensorListStack.gradient(needs="")
def _(call: GradientCall, dtensor: Tensor):
    return TensorListFromTensor(dtensor, static_rest(call, "tensor")), None


@TensorListStack.samples
def _(rng: SampleGenerator):
    yield Sample(
        sample_list([1, 2], [3, 4]), -1, "float64", expect=np.array([[1.0, 2.0], [3.0, 4.0]])
    )
    yield Sample(sample_list(None, [5]), -1, "float64", expect=np.array([[0.0], [5.0]]))
    yield Sample(sample_list(1), [], "float64", num_elements=1, expect=np.array([1.0]))
    yield Sample(sample_list(), [2], "float64", expect=np.zeros((0, 2)))
    yield Sample(sample_list(), -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(None), -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(1), -1, "float64", num_elements=2, raises=InvalidArgumentError)
    yield Sample(sample_list([1], [1, 2]), -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list([1]), [2], "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(1), -1, "int32", raises=InvalidArgumentError)


def _gather_rule(call: ShapeCall):
    row, indices = spelled(call, 2), call.shape(1)
    return [None if row is None else (shapes.element_count(indices), *row)]


@op(
    "TensorListGather",
    "input_handle: variant, indices: int32, element_shape: int32 -> values: element_dtype",
    attrs={"element_dtype": dtype},
    shape=_gather_rule,
)
def TensorListGather(
    xp: ModuleType, input_handle: np.ndarray, indices: Array, element_shape: np.ndarray, element_dtype: DType
):
    elements = list_in(input_handle)
    list_payload.check_dtype(elements, element_dtype)
    shape = list_payload.merged(list_payload.parsed(element_shape), elements.element_shape)
    if indices.size == 0 and not list_payload.is_full(shape):
        raise invalid(
            f"Tried to gather 0-elements from a list with non-fully-defined shape: {text_of(shape)}"
        )
    tensors = []
    for i in indices.flat:
        if not 0 <= i < len(elements):
            raise invalid(f"Trying to gather element {i} in a list with {len(elements)} elements.")
        tensors.append(elements[int(i)])
    return _stacked(
        tensors,
        shape,
        element_dtype,
        "Tried to gather uninitialized tensors from a list with non-fully-defined element_shape: ",
    )


@TensorListGather.gradient(needs="input_handle, indices")
def _(call: GradientCall, dvalues: Tensor):
    unset, indices = _unset(call, "values"), Reshape(call.indices, [-1])
    if call.dtype("values") != VARIANT:
        # An element that was read several times gets the sum of what came back for it.
        total = segment_functions.unsorted_segment_sum(dvalues, indices, length_in(call, "input_handle"))
        dvalues = Gather(total, indices)
    return TensorListScatterIntoExistingList(unset, dvalues, indices), None, None


@TensorListGather.samples
def _(rng: SampleGenerator):
    yield Sample(sample_list(1, 2, 3), [2, 0, 2], -1, "float64", expect=np.array([3.0, 1.0, 3.0]))
    yield Sample(sample_list([1], None), [[1, 0]], -1, "float64", expect=np.array([[0.0], [1.0]]))
    yield Sample(sample_list(1), np.zeros(0, np.int32), [], "float64", expect=np.zeros(0))
    yield Sample(sample_list(1), np.zeros(0, np.int32), -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(1), [1], -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(1), [-1], -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(1, None), [1], -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list([1], [1, 2]), [0, 1], -1, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(1), [0], -1, "int32", raises=InvalidArgumentError)


def _concat_rule(call: ShapeCall):
    shape = spelled(call, 1)
    return [None if shape is None else (None, *shape[1:]), (None,)]


@op(
    "TensorListConcatV2",
    "input_handle: variant, element_shape: shape_type, leading_dims: int64 "
    "-> tensor: element_dtype, lengths: int64",
    types={"shape_type": INDEX},
    attrs={"element_dtype": dtype},
    shape=_concat_rule,
)
def TensorListConcatV2(xp, input_handle, element_shape, leading_dims, element_dtype):
    elements = list_in(input_handle)
    list_payload.check_dtype(elements, element_dtype)
    if leading_dims.ndim != 1:
        raise invalid(
            f"leading_dims must be a vector, but saw shape: {text_of(leading_dims.shape)}"
        )
    shape = list_payload.merged(list_payload.parsed(element_shape), elements.element_shape)
    if shape == ():
        raise invalid("Concat requires elements to be at least vectors, found scalars instead.")
    tensors = elements.tensors()
    first, row = (None, None) if shape is None else (shape[0], shape[1:])
    if not tensors and not list_payload.is_full(row):
        raise invalid(
            "All except the first dimension must be fully defined when concating an empty tensor "
            f"list. element_shape: {text_of(shape)}"
        )
    lengths: list = [None] * len(tensors)
    for i, tensor in enumerate(tensors):
        if tensor is None:
            continue
        dims = list_payload.shape_of(tensor)
        if not dims:
            raise invalid(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
        if first not in (None, dims[0]):
            raise invalid(
                "First entry of element_shape input does not match the first dim of list element at "
                f"index: {i} Expected: {first} Actual: {dims[0]}"
            )
        lengths[i] = dims[0]
        row = list_payload.merged(row, dims[1:])
    if not list_payload.is_full(row):
        raise invalid(
            "Trying to concat list with only uninitialized tensors but "
            f"element_shape_except_first_dim is not fully defined: {text_of(row)}"
        )
    _fill_lengths(lengths, leading_dims, first)
    parts = [
        list_payload.blank((n, *row), element_dtype) if t is None else list_payload.array_of(t)
        for t, n in zip(tensors, lengths, strict=True)
    ]
    whole = list_payload.joined(parts, (sum(lengths), *row), element_dtype)
    return whole, np.array(lengths, np.int64)


def _fill_lengths(lengths, leading_dims, first) -> None:
    """How many rows the elements have that were not set."""
    known = {n for n in lengths if n is not None} | ({first} - {None})
    for i, n in enumerate(lengths):
        if n is not None:
            continue
        if i < len(leading_dims):
            lengths[i] = int(leading_dims[i])
            if lengths[i] < 0:
                raise invalid(f"Invalid value in leading_dims: {lengths[i]}")
        elif len(known) == 1:
            (lengths[i],) = known
        else:
            raise invalid(
                f"List contains uninitialized tensor at index {i} but leading_dims has only "
                f"{len(leading_dims)} elements."
            )


@TensorListConcatV2.gradient(needs="input_handle, lengths")
def _(call: GradientCall, dtensor: Tensor, dlengths: Tensor | None):
    shape = TensorListElementShape(call.input_handle, "int32")
    return TensorListSplit(dtensor, shape, call.lengths), None, None


@TensorListConcatV2.samples
def _(rng: SampleGenerator):
    none = np.zeros(0, np.int64)
    yield Sample(sample_list([1, 2], [3]), -1, none, "float64",
                 expect=(np.array([1.0, 2.0, 3.0]), np.array([2, 1])))  # fmt: skip
    yield Sample(sample_list([1, 2], None), [-1], np.array([2, 1]), "float64",
                 expect=(np.array([1.0, 2.0, 0.0]), np.array([2, 1])))  # fmt: skip
    yield Sample(sample_list([1, 2], None), [-1], none, "float64",
                 expect=(np.array([1.0, 2.0, 0.0, 0.0]), np.array([2, 2])))  # fmt: skip
    yield Sample(sample_list(None, shape=(3,)), -1, none, "float64",
                 expect=(np.zeros(3), np.array([3])))  # fmt: skip
    yield Sample(sample_list(), [-1, 2], none, "float64",
                 expect=(np.zeros((0, 2)), np.zeros(0, np.int64)))  # fmt: skip
    for bad, shape in (
        (sample_list(), -1),
        (sample_list(1), -1),
        (sample_list(1), []),
        (sample_list([[1]], [[1, 2]]), -1),
        (sample_list([1]), [-1, 2]),
        (sample_list([1]), [2]),
        (sample_list(None), -1),
        (sample_list(None), [-1]),
    ):
        yield Sample(bad, shape, none, "float64", raises=InvalidArgumentError)
    yield Sample(sample_list(None), [-1], np.array([-2]), "float64", raises=InvalidArgumentError)
    yield Sample(sample_list([1]), -1, np.int64(1), "float64", raises=InvalidArgumentError)
    yield Sample(sample_list([1]), -1, none, "int32", raises=InvalidArgumentError)
