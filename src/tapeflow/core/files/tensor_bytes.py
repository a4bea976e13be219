"""Tensors as TensorProto messages, the form in which TensorFlow's files hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.files.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    WireError,
    bytes_field,
    fields,
    packed_varints,
    read_varint,
    signed,
    varint,
    varint_field,
)

_DTYPE, _SHAPE, _CONTENT, _STRINGS, _VARIANTS = 1, 2, 4, 8, 15
# The field that holds the elements of a dtype one by one.
_ELEMENTS = {
    "float32": 5, "float64": 6, "int32": 7, "int16": 7, "int8": 7, "uint8": 7, "uint16": 7,
    "complex64": 9, "int64": 10, "bool": 11, "complex128": 12, "float16": 13, "bfloat16": 13,
    "uint32": 16, "uint64": 17,
}  # fmt: skip
_WIRE_FLOATS = {5: "<f4", 9: "<f4", 6: "<f8", 12: "<f8"}
MAX_ELEMENTS = 2**40


@dataclass(frozen=True, slots=True)
class VariantData:
    """What an element of a variant tensor is that can be written: the name of its type, and the bytes that tell it."""

    type_name: str
    metadata: bytes


def _sizes(shape: tuple[int, ...]) -> bytes:
    """The content of a TensorShapeProto, in which a field that is 0 is left out."""
    return b"".join(bytes_field(2, varint_field(1, n) if n else b"") for n in shape)


def encode(array: np.ndarray, dtype: DType) -> bytes:
    """The message of an array: strings one by one, all else as its memory."""
    dims = _sizes(array.shape)
    out = varint_field(_DTYPE, int(dtype.as_datatype_enum)) + bytes_field(_SHAPE, dims)
    if dtype == dtypes.string:
        texts = (t if isinstance(t, bytes) else str(t).encode() for t in array.ravel())
        return out + b"".join(bytes_field(_STRINGS, t) for t in texts)
    if dtype == dtypes.variant:
        return out + b"".join(bytes_field(_VARIANTS, _variant(v)) for v in array.ravel())
    return out + (bytes_field(_CONTENT, array.tobytes()) if array.size else b"")


def _variant(value: Any) -> bytes:
    if not isinstance(value, VariantData):
        raise TypeError(f"a variant that holds {type(value).__name__} cannot be written")
    return bytes_field(1, value.type_name.encode()) + bytes_field(2, value.metadata)


def _variant_of(message: bytes) -> VariantData:
    found = {number: value for number, _, value in fields(message) if isinstance(value, bytes)}
    if 3 in found:
        raise WireError("a variant of several tensors")
    return VariantData(found.get(1, b"").decode(), found.get(2, b""))


def encode_packed(array: np.ndarray) -> bytes:
    """The message of an array of strings with their lengths and then their bytes as its memory."""
    dims = _sizes(array.shape)
    out = varint_field(_DTYPE, int(dtypes.string.as_datatype_enum)) + bytes_field(_SHAPE, dims)
    texts = array.ravel().tolist()
    content = b"".join(varint(len(t)) for t in texts) + b"".join(texts)
    return out + (bytes_field(_CONTENT, content) if texts else b"")


def unpacked(content: bytes, count: int) -> list[bytes]:
    """The strings of such memory. Raises WireError for malformed bytes."""
    lengths, at = [], 0
    if count > len(content):
        raise WireError(f"{len(content)} bytes for {count} strings")
    for _ in range(count):
        length, at = read_varint(content, at)
        lengths.append(length)
    if sum(lengths) != len(content) - at:
        raise WireError(f"{len(content) - at} bytes for strings of {sum(lengths)}")
    strings = []
    for length in lengths:
        strings.append(content[at : at + length])
        at += length
    return strings


def decode(message: bytes) -> tuple[np.ndarray, DType]:
    """The array of a message. Raises WireError for malformed bytes."""
    kind, content = 0, b""
    shape: tuple[int, ...] = ()
    strings: list[bytes] = []
    variants: list[VariantData] = []
    elements: dict[int, list[np.ndarray]] = {}
    for number, wire, value in fields(message):
        if number == _DTYPE and isinstance(value, int):
            kind = value
        elif number == _SHAPE and isinstance(value, bytes):
            shape = _shape(value)
        elif number == _CONTENT and isinstance(value, bytes):
            content = value
        elif number == _STRINGS and isinstance(value, bytes):
            strings.append(value)
        elif number == _VARIANTS and isinstance(value, bytes):
            variants.append(_variant_of(value))
        elif number in set(_ELEMENTS.values()):
            elements.setdefault(number, []).append(_numbers(number, wire, value))
    try:
        dtype = dtypes.as_dtype(kind)
    except TypeError as error:
        raise WireError(str(error)) from None
    count = int(np.prod(np.array(shape, object))) if shape else 1
    if count < 0 or count > MAX_ELEMENTS:
        raise WireError(f"a tensor of shape {shape}")
    if dtype == dtypes.string:
        flat = np.empty(count, object)
        if content:
            strings = unpacked(content, count)
        if count and len(strings) != count:
            if not strings:
                strings = [b""]
            strings = (strings + strings[-1:] * count)[:count]
        flat[:] = strings[:count]
        return flat.reshape(shape), dtype
    if dtype == dtypes.variant:
        if len(variants) != count:
            raise WireError(f"{len(variants)} variants for {count} elements")
        flat = np.empty(count, object)
        for i, variant in enumerate(variants):
            flat[i] = variant
        return flat.reshape(shape), dtype
    if dtype.name not in _ELEMENTS and not content:
        raise WireError(f"a tensor of {dtype.name}")
    numpy_type = np.dtype(dtype.as_numpy_dtype)
    if content:
        if len(content) != count * numpy_type.itemsize:
            raise WireError(f"{len(content)} bytes for {count} elements of {dtype.name}")
        return np.frombuffer(content, numpy_type).reshape(shape).copy(), dtype
    return _filled(elements.get(_ELEMENTS[dtype.name], []), numpy_type, count).reshape(shape), dtype


def _shape(message: bytes) -> tuple[int, ...]:
    dims = []
    for number, _, value in fields(message):
        if number == 3 and value:
            raise WireError("the shape of a tensor is unknown")
        if number == 2 and isinstance(value, bytes):
            size = 0
            for inner, _, found in fields(value):
                if inner == 1 and isinstance(found, int):
                    size = found - (1 << 64) if found >> 63 else found
            if size < 0:
                raise WireError(f"a dimension of size {size}")
            dims.append(size)
    return tuple(dims)


def _numbers(number: int, wire: int, value: Any) -> np.ndarray:
    if number in _WIRE_FLOATS:
        if wire not in (BYTES, FIXED32, FIXED64) or len(value) % int(_WIRE_FLOATS[number][-1]):
            raise WireError("elements are cut off")
        return np.frombuffer(value, _WIRE_FLOATS[number])
    if wire == VARINT:
        return np.array([value], np.uint64)
    if wire != BYTES:
        raise WireError("elements of an unknown form")
    return packed_varints(value)


def _filled(parts: list[np.ndarray], numpy_type: np.dtype, count: int) -> np.ndarray:
    """`count` elements; the last of those written stands for all that follow."""
    values = np.concatenate(parts) if parts else np.zeros(1, np.uint64)
    if values.dtype == np.uint64:
        if numpy_type.itemsize == 2 and numpy_type.kind not in "iu":
            values = values.astype(np.uint16).view(numpy_type)
        elif numpy_type != np.uint64:
            values = signed(values)
    elif numpy_type.kind == "c":
        values = values.astype(values.dtype.newbyteorder("="))
        values = values[: len(values) // 2 * 2].view(numpy_type)
    values = values.astype(numpy_type)[:count]
    if not len(values):
        values = np.zeros(1 if count else 0, numpy_type)
    return np.concatenate([values, np.repeat(values[-1:], count - len(values))])
