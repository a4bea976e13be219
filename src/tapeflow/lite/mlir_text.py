"""Types, attributes and constants as MLIR spells them in TensorFlow's dialect."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.files.tensor_proto import make_ndarray
from tapeflow.lite.importing import load

Shape = tuple[int | None, ...] | None

_TYPES = {
    dtypes.float16: "f16", dtypes.bfloat16: "bf16", dtypes.float32: "f32", dtypes.float64: "f64",
    dtypes.int8: "i8", dtypes.int16: "i16", dtypes.int32: "i32", dtypes.int64: "i64",
    dtypes.uint8: "ui8", dtypes.uint16: "ui16", dtypes.uint32: "ui32", dtypes.uint64: "ui64",
    dtypes.bool: "i1", dtypes.complex64: "complex<f32>", dtypes.complex128: "complex<f64>",
    dtypes.string: "!tf_type.string", dtypes.variant: "!tf_type.variant", dtypes.resource: "!tf_type.resource",
    dtypes.qint8: "!tf_type.qint8", dtypes.quint8: "!tf_type.quint8", dtypes.qint32: "!tf_type.qint32",
    dtypes.qint16: "!tf_type.qint16", dtypes.quint16: "!tf_type.quint16",
}  # fmt: skip


def element_type(dtype: DType) -> str:
    """The type of the elements of tensors of a dtype."""
    return _TYPES[dtype.base_dtype]


def tensor_type(dtype: DType, shape: Shape) -> str:
    """The type of tensors of a dtype and of a shape as far as it is known."""
    sizes = "*x" if shape is None else "".join("?x" if d is None else f"{d}x" for d in shape)
    return f"tensor<{sizes}{element_type(dtype)}>"


def quoted(text: str | bytes) -> str:
    """A string literal: printable ASCII as it is, other bytes as two hexadecimal digits."""
    data = text.encode() if isinstance(text, str) else text
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data) + '"'


def elements(array: np.ndarray, dtype: DType) -> str:
    """The elements of a constant, with its type."""
    kind = tensor_type(dtype, array.shape)
    if not array.size:
        return f"dense<> : {kind}"
    if dtype == dtypes.string:
        texts = [quoted(x if isinstance(x, (str, bytes)) else bytes(x)) for x in array.ravel()]
        return f"dense<{texts[0] if array.ndim == 0 else _nested(texts, array.shape)}> : {kind}"
    if dtype == dtypes.bool:
        words = ["true" if x else "false" for x in array.ravel()]
        return f"dense<{words[0] if array.ndim == 0 else _nested(words, array.shape)}> : {kind}"
    stored = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return f'dense<"0x{stored.tobytes().hex().upper()}"> : {kind}'


def _nested(words: list[str], shape: tuple[int, ...]) -> str:
    for size in reversed(shape):
        words = ["[" + ", ".join(words[i : i + size]) + "]" for i in range(0, len(words), size)]
    return words[0]


def attribute(value: Any) -> str | None:
    """An `AttrValue`; None for what follows from the types of inputs and outputs."""
    field = value.WhichOneof("value")
    if field in ("type", None):
        return None
    if field != "list":
        return _single(field, getattr(value, field))
    for kind in ("i", "f", "b", "s", "shape"):
        listed = getattr(value.list, kind)
        if listed:
            return "[" + ", ".join(_single(kind, x) for x in listed) + "]"
    return None if value.list.type else "[]"


def _single(field: str, value: Any) -> str:
    if field == "i":
        return f"{value} : i64"
    if field == "b":
        return "true" if value else "false"
    if field == "s":
        return quoted(value)
    if field == "f":
        return f"{number(value)} : f32"
    if field == "shape":
        if value.unknown_rank:
            return "#tf_type.shape<*>"
        return "#tf_type.shape<" + "x".join("?" if d.size < 0 else str(d.size) for d in value.dim) + ">"
    if field == "tensor":
        return elements(np.asarray(make_ndarray(value)), dtypes.as_dtype(value.dtype))
    raise ValueError(f"an attr of the kind {field} has no counterpart in MLIR")


def number(value: float) -> str:
    """A float32 as a literal: its bits where it is not finite."""
    if math.isfinite(value):
        return f"{float(np.float32(value)):.9e}"
    return f"0x{np.float32(value).view(np.uint32):08X}"


def location(name: str, place: tuple[str, int] | None) -> str:
    """Where an operation comes from: its name, which the tensors of the model get, and the line of the program."""
    return f"loc({quoted(name)})" if place is None else f"loc({quoted(name)}({quoted(place[0])}:{place[1]}:0))"


def custom(node: Any) -> dict[str, str]:
    """The attributes of a custom operation of TensorFlow Lite for a `NodeDef`: its attrs are a map in FlexBuffers."""
    values = {}
    for name, value in sorted(node.attr.items()):
        field = value.WhichOneof("value")
        if field in ("i", "f", "b", "s", "type") and not name.startswith("_"):
            values[name] = getattr(value, field)
    options = bytes(load("flatbuffers.flexbuffers").Dumps(values))
    return {"custom_code": quoted(node.op), "custom_option": f'#tfl<const_bytes : "0x{options.hex().upper()}">'}
