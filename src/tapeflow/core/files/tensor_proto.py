"""Tensors as `TensorProto` messages: `make_tensor_proto`, `make_ndarray`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow import _native, protos
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.files import tensor_bytes
from tapeflow.core.files.wire import WireError
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import as_shape

# The field with the elements of each type, where they are not in `tensor_content`.
_FIELDS = {
    "float_val": (dtypes.float32,),
    "double_val": (dtypes.float64,),
    "int_val": (
        dtypes.int32, dtypes.uint8, dtypes.int16, dtypes.int8, dtypes.uint16, dtypes.int4, dtypes.uint4, dtypes.int2,
        dtypes.uint2, dtypes.qint8, dtypes.quint8, dtypes.qint16, dtypes.quint16, dtypes.qint32,
    ),
    "string_val": (dtypes.string,),
    "scomplex_val": (dtypes.complex64,),
    "dcomplex_val": (dtypes.complex128,),
    "int64_val": (dtypes.int64,),
    "bool_val": (dtypes.bool,),
    "half_val": (dtypes.float16, dtypes.bfloat16),
    "uint32_val": (dtypes.uint32,),
    "uint64_val": (dtypes.uint64,),
    "float8_val": (
        dtypes.float8_e5m2, dtypes.float8_e4m3fn, dtypes.float8_e4m3fnuz, dtypes.float8_e4m3b11fnuz,
        dtypes.float8_e5m2fnuz,
    ),
}  # fmt: skip
FIELD = {kind: field for field, kinds in _FIELDS.items() for kind in kinds}
# Types whose elements TensorFlow writes one by one even where there are several.
_ONE_BY_ONE = {
    dtypes.string, dtypes.bool, dtypes.complex64, dtypes.complex128, dtypes.uint16, dtypes.int4, dtypes.uint4,
    dtypes.int2, dtypes.uint2,
}  # fmt: skip
# A message cannot be larger.
_MOST_BYTES = 1 << 31
_TYPES_PAGE = "See https://www.tensorflow.org/api_docs/python/tf/dtypes for supported TF dtypes."


@api("make_tensor_proto")
def make_tensor_proto(
    values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False
) -> Any:  # fmt: skip
    """`values` as a `TensorProto`.

    Args:
      values: a number, string, list of them, or array; a `TensorProto` is returned as it is.
      dtype: None takes it from the values: Python floats are float32, and integers int32 where they fit.
      shape: of the result. It may have more elements than `values`, of which the last is then repeated.
      verify_shape: whether `values` must have that shape.
      allow_broadcast: whether a single value may stand for all, and everything else must have the same size.

    Raises TypeError or ValueError for what cannot be such a tensor.
    """
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    if isinstance(values, protos.TensorProto):
        return values
    wanted = None if dtype is None else as_dtype(dtype)
    array = _array(values, wanted, shape)
    kind = wanted if wanted is not None and wanted.is_quantized else as_dtype(array.dtype)
    if wanted is not None and wanted.base_dtype != kind.base_dtype:
        raise TypeError(
            f"`dtype` <dtype: '{wanted.name}'> is not compatible with {values} of dtype {array.dtype}."
        )
    dims = array.shape if shape is None else tuple(int(d) for d in shape)
    size = math.prod(dims)
    if shape is not None:
        _check_size(array, dims, size, verify_shape, allow_broadcast)
    proto = protos.TensorProto(dtype=kind.as_datatype_enum, tensor_shape=as_shape(dims).as_proto())
    if size == array.size and size > 1 and kind not in _ONE_BY_ONE:
        if array.nbytes >= _MOST_BYTES:
            raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
        proto.tensor_content = array.tobytes()
    elif kind == dtypes.string:
        proto.string_val.extend(_strings(values, array))
    else:
        put_elements(proto, kind, array)
    return proto


def _array(values: Any, dtype: DType | None, shape: Any) -> np.ndarray:
    if isinstance(values, _native.EagerTensor):
        values = np.asarray(values)
    if not isinstance(values, (np.ndarray, np.generic, list, tuple)):
        if hasattr(values, "__array__") or hasattr(values, "__array_interface__"):
            values = np.asarray(values)
    if isinstance(values, (np.ndarray, np.generic)):
        array = np.asarray(values)
        return (
            array
            if dtype is None or not dtype.is_numpy_compatible
            else array.astype(dtype.as_numpy_dtype)
        )
    if values is None:
        raise ValueError("None values not supported.")
    target = dtype.as_numpy_dtype if dtype is not None and dtype.is_numpy_compatible else None
    if shape is not None and math.prod(int(d) for d in shape) == 0:
        return np.empty(tuple(int(d) for d in shape), target if target is not None else np.float32)
    _check_elements(values, dtype)
    try:
        array = np.array(values, dtype=target)
    except (OverflowError, RecursionError):
        raise TypeError(_unconvertible(values)) from None
    dims = _dense_shape(values)
    if list(array.shape) != dims and not (dtype is not None and dtype.is_quantized):
        raise ValueError(
            f"Expected values {values} to be a dense tensor with shape {dims}, but got shape {list(array.shape)}."
        )
    if dtype is None and array.dtype == np.float64:
        with np.errstate(over="ignore"):
            return array.astype(np.float32)
    if dtype is None and array.dtype == np.int64:
        short = array.astype(np.int32)
        return short if np.array_equal(short, array) else array
    return array


def _unconvertible(values: Any) -> str:
    return (
        f"Failed to convert elements of {values} to Tensor. Consider casting elements to a "
        f"supported type. {_TYPES_PAGE}"
    )


def _dense_shape(values: Any) -> list[int]:
    """The shape of nested lists, as the first element of each tells."""
    dims = []
    while isinstance(values, (list, tuple)):
        dims.append(len(values))
        if not values:
            break
        values = values[0]
    if isinstance(values, (np.ndarray, np.generic)):
        dims += values.shape
    return dims


_INTEGERS = (int, np.integer)
_REALS = (int, float, np.integer, np.floating, np.bool_)


def _allowed(dtype: DType) -> tuple[type, ...]:
    """The Python types that may become elements of `dtype`."""
    if dtype.is_bool:
        return (bool, np.bool_)
    if dtype == dtypes.string:
        return (str, bytes)
    if dtype.is_complex:
        return (*_REALS, complex, np.complexfloating)
    if dtype.is_floating:
        return _REALS
    if dtype.is_quantized:
        return (tuple,)  # each element in a tuple of its own, to tell it from a plain integer
    return _INTEGERS


def _check_elements(values: Any, dtype: DType | None) -> None:
    if dtype is None or not dtype.is_numpy_compatible:
        return
    allowed = _allowed(dtype)
    waiting = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, allowed) or hasattr(value, "__array__"):
            continue
        if isinstance(value, (list, tuple)):
            waiting += reversed(value)
        elif not (_INTEGERS[0] in allowed and hasattr(value, "__index__")):
            raise TypeError(
                f"Expected {dtype.name}, but got {value} of type '{type(value).__name__}'."
            )


def _check_size(
    array: np.ndarray, dims: tuple[int, ...], size: int, verify_shape: bool, allow_broadcast: bool
) -> None:
    unlike = TypeError(f"Expected Tensor's shape: {dims}, but got {array.shape}.")
    if allow_broadcast:
        if array.shape not in ((1,), ()) and array.size != size:
            raise unlike
        return
    if verify_shape and array.shape != dims:
        raise unlike
    if array.size > size:
        raise ValueError(f"Too many elements provided. Takes at most {size}, but got {array.size}.")


def _string_list(content: bytes, shape: list[int]) -> np.ndarray:
    """Strings whose lengths and bytes are the content, as TensorFlow's optimizers write them."""
    try:
        texts = tensor_bytes.unpacked(content, math.prod(shape))
    except WireError as error:
        raise ValueError(f"The content of a tensor of strings is malformed: {error}") from None
    found = np.empty(len(texts), object)
    found[:] = texts
    return found.reshape(shape)


def _strings(values: Any, array: np.ndarray) -> list[bytes]:
    flat = (
        _flat(values) if isinstance(values, (list, tuple, str, bytes)) else array.ravel().tolist()
    )
    if not all(isinstance(x, (str, bytes)) for x in flat):
        raise TypeError(_unconvertible(values))
    return [x.encode() if isinstance(x, str) else x for x in flat]


def _flat(values: Any) -> list[Any]:
    if isinstance(values, (list, tuple)):
        return [x for value in values for x in _flat(value)]
    return values.ravel().tolist() if isinstance(values, np.ndarray) else [values]


def put_elements(proto: Any, kind: DType, array: np.ndarray) -> None:
    """The elements into the field of their type, one by one."""
    flat = np.ascontiguousarray(array).ravel()
    name = FIELD.get(kind)
    if name is None:
        raise TypeError(f"Element type {kind.name} cannot be written to a TensorProto.")
    if name == "float8_val":
        proto.float8_val = flat.tobytes()
        return
    if name == "half_val":
        flat = flat.view(np.uint16)
    elif kind.is_complex:
        flat = flat.view(kind.real_dtype.as_numpy_dtype)
    elif kind.is_quantized:
        flat = flat[kind.name] if flat.dtype.names else flat
    elif kind in (dtypes.int4, dtypes.uint4, dtypes.int2, dtypes.uint2):
        flat = flat.astype(np.int32)
    getattr(proto, name).extend(flat.tolist())


# The other way.


@api("make_ndarray")
def make_ndarray(tensor: Any) -> np.ndarray:
    """The elements of a `TensorProto` as an array. Fewer elements than the shape asks for: the last is repeated.

    Raises TypeError for a type without elements, ValueError where elements and shape do not fit.
    """
    kind = as_dtype(tensor.dtype)
    if kind._is_ref_dtype or (kind not in FIELD and kind.is_numpy_compatible):
        raise TypeError(f"Unsupported tensor type: {tensor.dtype}. {_TYPES_PAGE}")
    numpy_type = np.dtype(kind.as_numpy_dtype)
    shape = [d.size for d in tensor.tensor_shape.dim]
    if tensor.tensor_content and kind == dtypes.string:
        return _string_list(tensor.tensor_content, shape)
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, dtype=numpy_type).copy().reshape(shape)
    values = _get(tensor, kind, numpy_type)
    size = math.prod(shape)
    if any(d < 0 for d in shape):
        raise ValueError("negative dimensions are not allowed")
    if values.size > size:
        raise ValueError(f"{values.size} elements for a tensor of shape {shape}")
    if values.size == size:
        return values.reshape(shape)
    if not values.size:
        return (
            np.full(size, b"", object) if kind == dtypes.string else np.zeros(size, numpy_type)
        ).reshape(shape)
    # Plain integers of the same width are repeated much faster than types that NumPy does not know.
    width = numpy_type.itemsize
    plain = np.dtype(f"u{width}") if kind != dtypes.string and width in (1, 2, 4, 8) else numpy_type
    full = np.full(size, values.view(plain)[-1], plain)
    full[: values.size] = values.view(plain)
    return full.view(numpy_type).reshape(shape)


def _get(tensor: Any, kind: DType, numpy_type: np.dtype) -> np.ndarray:
    """The elements that are there, in one dimension."""
    name = FIELD[kind]
    values = getattr(tensor, name)
    if name == "float8_val":
        return np.frombuffer(values, numpy_type)
    if name == "half_val":
        return np.array([v & 0xFFFF for v in values], np.uint16).view(numpy_type)
    if kind.is_complex:
        part = np.array(values, kind.real_dtype.as_numpy_dtype)
        return part[: len(part) // 2 * 2].view(numpy_type)
    if kind == dtypes.string:
        array = np.empty(len(values), object)
        array[:] = list(values)
        return array
    if kind.is_quantized:
        return np.array([(v,) for v in values], numpy_type)
    return np.array(list(values), dtype=numpy_type)


def to_tensor(proto: Any, name: str = "a TensorProto") -> Any:
    """The eager tensor of a `TensorProto`, whatever it holds.

    Raises ValueError, which begins with `name`, for contents that make no tensor: such messages come from files.
    """
    try:
        kind = as_dtype(proto.dtype)
        sizes = [d.size for d in proto.tensor_shape.dim]
        if proto.tensor_shape.unknown_rank or any(d < 0 for d in sizes):
            raise ValueError(f"shape {_text(proto.tensor_shape)} is not fully known")
        if math.prod(sizes) * max(1, kind.size) > _MOST_BYTES:
            raise ValueError(f"a tensor of shape {sizes} is larger than 2GB")
        if len(sizes) > 254:
            raise ValueError(f"{len(sizes)} dimensions are too many")
        _native.tensor_of(
            np.zeros(0, kind.as_numpy_dtype), kind
        )  # a type that tensors cannot have, before it takes memory
        array = make_ndarray(proto)
        return _native.tensor_of(array, kind)
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise ValueError(f"Cannot parse tensor from proto: {name}: {error}") from None


def _text(shape: Any) -> str:
    return "<unknown>" if shape.unknown_rank else str([d.size for d in shape.dim])


def of_tensor(tensor: Any) -> Any:
    """An eager tensor as a `TensorProto`; elements that are all the same are written once.

    Raises TypeError for a resource or variant.
    """
    if not tensor.dtype.is_numpy_compatible:
        raise TypeError(
            f"A tensor of dtype {tensor.dtype.name} has no elements that can be written."
        )
    array = np.asarray(tensor, dtype=tensor.dtype.as_numpy_dtype)
    flat = array.reshape(-1)
    if array.size > 1 and tensor.dtype != dtypes.string and array.dtype.names is None:
        raw = np.ascontiguousarray(flat).view(np.uint8).reshape(array.size, -1)
        if (raw == raw[0]).all():
            return make_tensor_proto(flat[:1], tensor.dtype, array.shape)
    return make_tensor_proto(array, tensor.dtype)


boundaries(globals())
