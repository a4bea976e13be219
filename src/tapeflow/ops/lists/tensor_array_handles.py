"""The ops of TensorArrays behind handles, of all three versions: graphs of 1.x hold them.

An array lives as long as the run that makes it. Its flow is a number without meaning, which orders its ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core.annotations import Array, ShapeLike
from tapeflow.core.dtypes import DType
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.lists import payload as list_payload
from tapeflow.ops.lists.tensor_array_state import ArrayOfTensors
from tapeflow.ops.signature import dtype, shape, string
from tapeflow.ops.state.resource_op import expect, handle_of, resource_op
from tapeflow.ops.validate import invalid

_ELEMENT = {"element_shape": shape(None)}
_ATTRS: dict[str, Any] = {
    "dtype": dtype, **_ELEMENT, "dynamic_size": False, "clear_after_read": True,
    "identical_element_shapes": False, "tensor_array_name": "",
}  # fmt: skip
# The handles of the ops by their versions.
_HANDLES = {"": "string_ref", "V2": "string", "V3": "resource"}


def _array(handle: Any) -> ArrayOfTensors:
    return expect(handle, ArrayOfTensors, "TensorArray")


def _flow(attrs: Any, inputs: Any) -> list[Any]:
    return [()]


def _unknown_shape(attrs: Any, inputs: Any) -> list[Any]:
    return [None]


def _in_versions(
    name: str, signature: str, attrs: Any = None, shapes: Any = _flow, versions: tuple[str, ...] = ("", "V2", "V3")
) -> Callable[[Any], Any]:
    def register(kernel: Any) -> Any:
        for version in versions:
            resource_op(name + version, signature, attrs, shapes, handles=_HANDLES[version])(kernel)
        return kernel

    return register


def _scalar(tensor: Any, what: str) -> int:
    if tensor.shape.rank:
        raise invalid(f"{what} must be scalar, but had shape: {tensor.shape}")
    return int(tensor.numpy())


def _new(
    size, dtype: DType, element_shape: ShapeLike, dynamic_size, clear_after_read, tensor_array_name,
    identical_element_shapes: bool = False,
):
    """A new array of `size` elements that were not written yet."""
    count = _scalar(size, "TensorArray size")
    return handle_of(
        ArrayOfTensors(tensor_array_name or "TensorArray", dtype, count, element_shape, dynamic_size, clear_after_read,
                       identical_element_shapes)
    )  # fmt: skip


# What graphs say of the shape of a handle, which is a scalar: the op's definition comes from handles of two strings.
_HANDLE = (2,)
_OLD_ATTRS = {key: value for key, value in _ATTRS.items() if key != "identical_element_shapes"}
_in_versions("TensorArray", "size: int32 -> handle: resource", _OLD_ATTRS, versions=("", "V2"))(_new)


@resource_op("TensorArrayV3", "size: int32 -> handle: resource, flow: float32", _ATTRS,
             lambda attrs, inputs: [_HANDLE, ()])  # fmt: skip
def TensorArrayV3(size: Array, **attrs):
    """A new array of `size` elements that were not written yet, and its flow."""
    return [_new(size, **attrs), np.float32(0)]


@_in_versions("TensorArrayWrite", "handle: resource, index: int32, value: T, flow_in: float32 -> flow_out: float32",
              {"T": dtype})  # fmt: skip
def _write(handle, index: int, value, flow_in, T: DType):
    """Puts an element."""
    _array(handle).write(_scalar(index, "TensorArray index"), value)
    return flow_in


@_in_versions("TensorArrayRead", "handle: resource, index: int32, flow_in: float32 -> value: dtype",
              {"dtype": dtype}, _unknown_shape)  # fmt: skip
def _read(handle, index: int, flow_in, dtype: DType):
    """An element, which goes unless the array keeps what was read."""
    return _array(handle).read(_scalar(index, "TensorArray index"), dtype)


def _stacked(array: ArrayOfTensors, indices: list[int], dtype: Any, shape: Any) -> Any:
    array.check_dtype(dtype, "read")
    if not array.shape.is_compatible_with(shape):
        raise invalid(
            f"TensorArray was passed element_shape {shape} which does not match the Tensor's shape: {array.shape}"
        )
    values = [array.read(i, dtype) for i in indices]
    if len({tuple(v.shape.as_list()) for v in values}) > 1:
        raise invalid(
            f"TensorArray has inconsistent shapes.  Index 0 has shape: {values[0].shape} but others have "
            f"{sorted({str(v.shape) for v in values[1:]})}"
        )
    if values:
        inner = tuple(values[0].shape.as_list())
    else:
        known = array.shape.merge_with(shape)
        if not known.is_fully_defined():
            raise invalid(
                f"TensorArray has size zero, but element shape {known} is not fully defined. Currently only static "
                "shapes are supported when packing zero-size TensorArrays."
            )
        inner = tuple(known.as_list())
    parts = [list_payload.array_of(v)[None] for v in values]
    return list_payload.element(list_payload.joined(parts, (len(values), *inner), dtype), dtype)


@_in_versions("TensorArrayGather", "handle: resource, indices: int32, flow_in: float32 -> value: dtype",
              {"dtype": dtype, **_ELEMENT}, _unknown_shape)  # fmt: skip
def _gather(handle, indices, flow_in, dtype: DType, element_shape: ShapeLike):
    """The elements at `indices`, one below the other."""
    if indices.shape.rank != 1:
        raise invalid(f"Expected indices to be a vector, but received shape: {indices.shape}")
    return _stacked(_array(handle), indices.numpy().tolist(), dtype, TensorShape(element_shape))


@_in_versions("TensorArrayPack", "handle: resource, flow_in: float32 -> value: dtype", {"dtype": dtype, **_ELEMENT},
              _unknown_shape, ("",))  # fmt: skip
def _pack(handle, flow_in, dtype: DType, element_shape: ShapeLike):
    """All elements, one below the other."""
    array = _array(handle)
    return _stacked(array, list(range(len(array.elements()))), dtype, TensorShape(element_shape))


def _scattered(array: ArrayOfTensors, indices: list[int], value: Any) -> None:
    if not value.shape.rank or len(indices) != value.shape[0]:
        raise invalid(
            f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {value.shape}"
        )
    array.check_dtype(value.dtype, "write")
    for i, row in zip(indices, list_payload.rows_of(list_payload.array_of(value), value.dtype), strict=True):
        array.write(i, row)


@_in_versions("TensorArrayScatter", "handle: resource, indices: int32, value: T, flow_in: float32 -> flow_out: float32",
              {"T": dtype})  # fmt: skip
def _scatter(handle, indices, value, flow_in, T: DType):
    """Puts the rows of a tensor at `indices`."""
    if indices.shape.rank != 1:
        raise invalid(f"Expected indices to be a vector, but received shape: {indices.shape}")
    _scattered(_array(handle), indices.numpy().tolist(), value)
    return flow_in


@_in_versions("TensorArrayUnpack", "handle: resource, value: T, flow_in: float32 -> flow_out: float32",
              {"T": dtype}, versions=("",))  # fmt: skip
def _unpack(handle, value, flow_in, T: DType):
    """Puts the rows of a tensor."""
    _scattered(_array(handle), list(range(value.shape[0] if value.shape.rank else 0)), value)
    return flow_in


@_in_versions("TensorArrayConcat", "handle: resource, flow_in: float32 -> value: dtype, lengths: int64",
              {"dtype": dtype, "element_shape_except0": shape(None)},
              lambda attrs, inputs: [None, (None,)])  # fmt: skip
def _concat(handle, flow_in, dtype, element_shape_except0):
    """All elements joined along their first axis, and their lengths."""
    array = _array(handle)
    array.check_dtype(dtype, "read")
    values = [list_payload.array_of(array.read(i, dtype)) for i in range(len(array.elements()))]
    rest = TensorShape(element_shape_except0)
    for i, value in enumerate(values):
        if not value.ndim:
            raise invalid(f"Concat saw a scalar shape at index {i} but requires at least vectors.")
        if value.shape[1:] != values[0].shape[1:] or not rest.is_compatible_with(value.shape[1:]):
            raise invalid(
                f"TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: "
                f"{list(values[0].shape[1:])} but index {i} has (excepting dimension 0) shape: {list(value.shape[1:])}"
            )
    if not values and not rest.is_fully_defined():
        raise invalid(
            f"TensorArray has size zero, but element_shape_except0 {rest} is not fully defined. Currently only static "
            "shapes are supported when concatenating zero-size TensorArrays."
        )
    lengths = np.array([len(v) for v in values], np.int64)
    inner = values[0].shape[1:] if values else tuple(rest.as_list())
    return [list_payload.element(list_payload.joined(values, (int(lengths.sum()), *inner), dtype), dtype), lengths]


@_in_versions("TensorArraySplit", "handle: resource, value: T, lengths: int64, flow_in: float32 -> flow_out: float32",
              {"T": dtype})  # fmt: skip
def _split(handle, value, lengths, flow_in, T: DType):
    """Puts consecutive parts of a tensor, which have these lengths."""
    array = _array(handle)
    if lengths.shape.rank != 1:
        raise invalid(f"Expected lengths to be a vector, received shape: {lengths.shape}")
    if not value.shape.rank:
        raise invalid(f"Expected value to be at least a vector, but received shape: {value.shape}")
    sizes, whole, end = lengths.numpy().tolist(), list_payload.array_of(value), 0
    if min(sizes, default=0) < 0 or sum(sizes) != len(whole):
        raise invalid(
            f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {sum(sizes)} and value's "
            f"shape is: {value.shape}"
        )
    array.check_dtype(value.dtype, "write")
    if len(sizes) != len(array.elements()) and not array.dynamic:
        raise invalid(
            f"TensorArray's size is not equal to the size of lengths ({len(array.elements())} vs. {len(sizes)}), and "
            "the TensorArray is not marked as dynamically resizeable"
        )
    for i, size in enumerate(sizes):
        array.write(i, list_payload.element(whole[end : end + size], value.dtype))
        end += size
    return flow_in


@_in_versions("TensorArraySize", "handle: resource, flow_in: float32 -> size: int32")
def _size(handle, flow_in):
    """How many elements it has."""
    return np.int32(len(_array(handle).elements()))


@_in_versions("TensorArrayClose", "handle: resource ->", shapes=None)
def _close(handle):
    """Drops the elements."""
    _array(handle).close()


def _grad(handle, flow_in, source):
    """The array of the gradients of its elements."""
    return handle_of(_array(handle).gradient(source))


_SOURCE = {"source": string}
_in_versions("TensorArrayGrad", "handle: resource, flow_in: float32 -> grad_handle: resource", _SOURCE,
             versions=("", "V2"))(_grad)  # fmt: skip


@resource_op("TensorArrayGradV3", "handle: resource, flow_in: float32 -> grad_handle: resource, flow_out: float32",
             _SOURCE, lambda attrs, inputs: [_HANDLE, ()])  # fmt: skip
def TensorArrayGradV3(handle: Array, flow_in: Array, source):
    """The array of the gradients of its elements, and its flow."""
    return [_grad(handle, flow_in, source), flow_in]


@resource_op(
    "TensorArrayGradWithShape",
    "handle: resource, flow_in: float32, shape_to_prepend: int32 -> grad_handle: resource, flow_out: float32",
    _SOURCE, lambda attrs, inputs: [_HANDLE, ()],
)  # fmt: skip
def TensorArrayGradWithShape(handle: Array, flow_in: Array, shape_to_prepend: Any, source):
    """As `TensorArrayGradV3`, with dimensions before those of the elements."""
    sizes = np.ravel(shape_to_prepend.numpy()).tolist()
    if min(sizes, default=0) < 0:
        raise invalid(f"shape_to_prepend must not be negative, got {sizes}")
    return [handle_of(_array(handle).gradient(source, tuple(sizes))), flow_in]
