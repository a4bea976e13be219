"""The ops of lists of tensors on arrays of a fixed size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.errors import UnimplementedError
from tapeflow.xla.importing import jax, jnp
from tapeflow.xla.values import ListValue, parsed_shape, require_list

# op -> f(attrs, *inputs) -> list of outputs
OPS: dict[str, Callable[..., list[Any]]] = {}
_LARGEST_CONSTANT = 16
# The inputs whose values have to be known.
STATIC = frozenset({"element_shape", "num_elements", "size", "max_num_elements", "lengths"})


def _op(function: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    OPS["".join(part.capitalize() for part in function.__name__.split("_"))] = function
    return function


def _index(list_: ListValue, index: Any) -> Any:
    """A place in the list; JAX clamps those outside."""
    if isinstance(index, np.ndarray):
        return int(index)
    return index


@_op
def empty_tensor_list(attrs: Mapping[str, Any], element_shape: Any, max_num_elements: Any) -> list[Any]:
    return [ListValue(attrs["element_dtype"], parsed_shape(element_shape), None, 0)]


@_op
def tensor_list_reserve(attrs: Mapping[str, Any], element_shape: Any, num_elements: Any) -> list[Any]:
    shape, count = parsed_shape(element_shape), int(num_elements)
    made = ListValue(attrs["element_dtype"], shape, None, count)
    if shape is not None and None not in shape:
        made = made.grown(count)
    return [made]


@_op
def tensor_list_push_back(attrs: Mapping[str, Any], handle: Any, tensor: Any) -> list[Any]:
    old = require_list(handle)
    constant = _still_constant(old, tensor)
    if constant is not None and old.constant is not None and old.buffer is None:
        return [ListValue(old.dtype, old.shape, None, old.length + 1, constant)]
    tensor = jnp.asarray(tensor)
    if isinstance(old.length, int):
        new = old.grown(old.length + 1, tuple(tensor.shape))
    elif old.capacity:
        new = old
    else:
        raise UnimplementedError(None, None, "A list that grows in a loop has no room set aside")
    assert new.buffer is not None
    buffer = jax.lax.dynamic_update_index_in_dim(new.buffer, tensor, new.length, 0)
    return [new.with_buffer(buffer, old.length + 1).with_constant(constant)]


def _still_constant(old: ListValue, tensor: Any) -> Any:
    """The value of all elements when `tensor` is put to the others, where that is known."""
    if not isinstance(tensor, np.ndarray) or tensor.size > _LARGEST_CONSTANT:
        return None
    if old.constant is None:
        return tensor if isinstance(old.length, int) and old.length == 0 else None
    return tensor if np.array_equal(old.constant, tensor) else None


@_op
def tensor_list_pop_back(attrs: Mapping[str, Any], handle: Any, element_shape: Any) -> list[Any]:
    old = require_list(handle)
    length = old.length - 1
    if old.constant is not None:
        return [old.with_buffer(old.buffer, length), old.constant]
    if old.buffer is None:
        return [old, jnp.zeros(old.element_shape(), old.dtype.as_numpy_dtype)]
    value = jax.lax.dynamic_index_in_dim(old.buffer, length, 0, keepdims=False)
    return [old.with_buffer(old.buffer, length), value]


@_op
def tensor_list_set_item(attrs: Mapping[str, Any], handle: Any, index: Any, item: Any) -> list[Any]:
    old, item = require_list(handle), jnp.asarray(item)
    at = _index(old, index)
    length = old.length
    if attrs.get("resize_if_index_out_of_bounds") and isinstance(at, int) and isinstance(length, int):
        length = max(length, at + 1)
    # Loops see to it that there is room for elements at places that are only known when they run.
    room = max(length, 1) if isinstance(length, int) else old.capacity
    new = old.grown(room, tuple(item.shape))
    buffer = jax.lax.dynamic_update_index_in_dim(new.buffer, item, at, 0)
    return [new.with_buffer(buffer, length).with_constant(None)]


@_op
def tensor_list_get_item(attrs: Mapping[str, Any], handle: Any, index: Any, element_shape: Any) -> list[Any]:
    old = require_list(handle)
    if old.buffer is None:
        shape = parsed_shape(element_shape) if old.shape is None else old.shape
        blank = ListValue(old.dtype, shape, None, 0).element_shape()
        return [jnp.zeros(blank, old.dtype.as_numpy_dtype)]
    return [jax.lax.dynamic_index_in_dim(old.buffer, _index(old, index), 0, keepdims=False)]


@_op
def tensor_list_length(attrs: Mapping[str, Any], handle: Any) -> list[Any]:
    length = require_list(handle).length
    return [np.asarray(length, np.int32) if isinstance(length, int) else length]


@_op
def tensor_list_element_shape(attrs: Any, handle: Any) -> list[Any]:
    known = require_list(handle)
    kind = attrs["shape_type"].as_numpy_dtype
    if known.shape is None:
        return [np.asarray(-1, kind)]
    return [np.array([-1 if d is None else d for d in known.shape], kind)]


@_op
def tensor_list_resize(attrs: Mapping[str, Any], handle: Any, size: Any) -> list[Any]:
    old, count = require_list(handle), int(size)
    old.known_length()
    if old.buffer is None:
        return [ListValue(old.dtype, old.shape, None, count)]
    return [old.grown(count).with_buffer(old.grown(count).buffer[:count], count)]


@_op
def tensor_list_stack(attrs: Mapping[str, Any], handle: Any, element_shape: Any) -> list[Any]:
    return [_stacked(require_list(handle), element_shape)]


def _stacked(values: ListValue, element_shape: Any) -> Any:
    count = values.known_length()
    if values.buffer is None and values.constant is not None:
        return jnp.broadcast_to(values.constant, (count, *values.constant.shape))
    if values.buffer is None:
        shape = parsed_shape(element_shape) if values.shape is None else values.shape
        return ListValue(values.dtype, shape, None, 0).grown(count).buffer if count else jnp.zeros(
            (0, *(d or 0 for d in shape or ())), values.dtype.as_numpy_dtype
        )
    return values.buffer[:count]


@_op
def tensor_list_from_tensor(attrs: Mapping[str, Any], tensor: Any, element_shape: Any) -> list[Any]:
    tensor = jnp.asarray(tensor)
    return [ListValue(dtypes.as_dtype(tensor.dtype), tuple(tensor.shape[1:]), tensor, tensor.shape[0])]


@_op
def tensor_list_gather(attrs: Mapping[str, Any], handle: Any, indices: TensorLike, element_shape: Any) -> list[Any]:
    old = require_list(handle)
    return [_stacked(old.with_buffer(old.buffer, old.capacity), element_shape)[jnp.asarray(indices)]]


@_op
def tensor_list_scatter_v2(
    attrs: Mapping[str, Any], tensor: Any, indices: TensorLike, element_shape: Any, num_elements: Any
) -> list[Any]:
    tensor = jnp.asarray(tensor)
    count = int(num_elements)
    if count < 0:
        if not isinstance(indices, np.ndarray):
            raise UnimplementedError(None, None, "How many elements a scattered list has is not known")
        count = int(indices.max(initial=-1)) + 1
    made = ListValue(dtypes.as_dtype(tensor.dtype), tuple(tensor.shape[1:]), None, count).grown(count)
    assert made.buffer is not None
    return [made.with_buffer(made.buffer.at[jnp.asarray(indices)].set(tensor))]


@_op
def tensor_list_scatter_into_existing_list(
    attrs: Mapping[str, Any], handle: Any, tensor: Any, indices: TensorLike
) -> list[Any]:
    old, tensor = require_list(handle), jnp.asarray(tensor)
    count = old.known_length()
    if isinstance(indices, np.ndarray):
        count = max(count, int(indices.max(initial=-1)) + 1)
    new = old.grown(count, tuple(tensor.shape[1:]))
    assert new.buffer is not None
    return [new.with_buffer(new.buffer.at[jnp.asarray(indices)].set(tensor), count).with_constant(None)]


@_op
def tensor_list_concat_v2(
    attrs: Mapping[str, Any], handle: Any, element_shape: Any, leading_dims: Any
) -> list[Any]:
    values = _stacked(require_list(handle), element_shape)
    if values.ndim < 2:
        raise UnimplementedError(None, None, "Concat requires elements to be at least vectors")
    lengths = np.full(values.shape[0], values.shape[1], np.int64)
    return [values.reshape(-1, *values.shape[2:]), lengths]


@_op
def tensor_list_split(attrs: Mapping[str, Any], tensor: Any, element_shape: Any, lengths: Any) -> list[Any]:
    tensor = jnp.asarray(tensor)
    sizes = {int(n) for n in lengths}
    if len(sizes) > 1:
        raise UnimplementedError(None, None, "Lists of elements of different sizes cannot be compiled")
    size = sizes.pop() if sizes else 1
    parts = tensor.reshape(len(lengths), size, *tensor.shape[1:])
    return [ListValue(dtypes.as_dtype(tensor.dtype), tuple(parts.shape[1:]), parts, len(lengths))]


def zeros_like(value: ListValue) -> ListValue:
    zeros = None if value.buffer is None else jnp.zeros_like(value.buffer)
    return value.with_buffer(zeros).with_constant(None)


def added(a: ListValue, b: ListValue) -> ListValue:
    """The sum of two lists, element by element; what was never set counts as nothing."""
    if a.buffer is None or b.buffer is None:
        return b if a.buffer is None else a
    capacity = max(a.capacity, b.capacity)
    return a.with_buffer(a.grown(capacity).buffer + b.grown(capacity).buffer).with_constant(None)


def from_payload(value: Any) -> Any:
    """The list in a variant tensor."""
    if isinstance(value, ListValue):
        return value
    if not isinstance(value, _native.TensorList):
        raise UnimplementedError(None, None, f"A variant of {type(value).__name__} cannot be compiled")
    elements = [None if t is None else t.numpy() for t in value.tensors()]
    made = ListValue(value.dtype, value.element_shape, None, len(elements))
    shape = next((np.shape(x) for x in elements if x is not None), None)
    if shape is None:
        return made
    blank = np.zeros(shape, value.dtype.as_numpy_dtype)
    if any(x is not None and np.shape(x) != shape for x in elements):
        raise UnimplementedError(None, None, "Lists of elements of different shapes cannot be compiled")
    return made.with_buffer(np.stack([blank if x is None else x for x in elements]))


def as_payload(value: ListValue) -> Any:
    """The list as eager ops know it."""
    if value.buffer is None and value.constant is not None:
        same = _native.tensor_of(value.constant, value.dtype)
        return _native.TensorList([same] * int(value.length), value.dtype, value.shape)
    if value.buffer is None:
        return _native.TensorList([None] * int(value.length), value.dtype, value.shape)
    rows = np.asarray(value.buffer)[: int(value.length)]
    return _native.TensorList([_native.tensor_of(r, value.dtype) for r in rows], value.dtype, value.shape)
