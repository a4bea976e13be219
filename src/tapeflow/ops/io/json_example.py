"""`Example` messages from their JSON form (https://protobuf.dev/programming-guides/json/)."""

from __future__ import annotations

import base64
import binascii
import json
import struct
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.files.wire import bytes_field, varint
from tapeflow.core.public import tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.string.rows import each, texts
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

_WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def _member(value: Any, *names: str) -> Any:
    """A member by its name, which may be written in either case. Raises ValueError for others."""
    if not isinstance(value, dict):
        raise ValueError(f"an object was expected, got {value!r}")
    if set(value) - set(names):
        raise ValueError(f"no member of that name: {sorted(set(value) - set(names))}")
    return next((value[name] for name in names if value.get(name) is not None), None)


def _bytes(value: Any) -> bytes:
    if not isinstance(value, str):
        raise ValueError(f"base64 text was expected, got {value!r}")
    text = value.replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _list_of(value: Any) -> list[Any]:
    found = _member(value, "value")
    if found is None:
        return []
    if not isinstance(found, list):
        raise ValueError(f"a list was expected, got {found!r}")
    return found


def _feature(value: Any) -> bytes:
    names = ("bytesList", "bytes_list", "floatList", "float_list", "int64List", "int64_list")
    if not isinstance(value, dict) or set(value) - set(names) or len(value) > 1:
        raise ValueError(f"a feature was expected, got {value!r}")
    for name, inner in value.items():
        items = _list_of(inner)
        if name.startswith("bytes"):
            return bytes_field(1, b"".join(bytes_field(1, _bytes(v)) for v in items))
        if name.startswith("float"):
            numbers = [float(_WORDS.get(v, v) if isinstance(v, str) else v) for v in items]
            return bytes_field(2, bytes_field(1, struct.pack(f"<{len(numbers)}f", *numbers)))
        whole = [int(v) for v in items]
        if any(not -(2**63) <= v < 2**63 for v in whole):
            raise ValueError("an integer does not fit 64 bits")
        return bytes_field(3, bytes_field(1, b"".join(varint(v) for v in whole)))
    return b""


def _example(text: bytes) -> bytes:
    whole = json.loads(text)
    features = _member(whole, "features")
    if features is None:
        return b""
    entries = b""
    for key, value in (_member(features, "feature") or {}).items():
        entry = bytes_field(1, key.encode()) + bytes_field(2, _feature(value))
        entries += bytes_field(1, entry)
    return bytes_field(1, entries)


@op(
    "DecodeJSONExample",
    "json_examples: string -> binary_examples: string",
    shape=shapes.same_as_first,
)
def DecodeJSONExample(xp: ModuleType, json_examples: Array):
    def decoded(text: bytes) -> bytes:
        try:
            return _example(text)
        except (
            ValueError,
            TypeError,
            AttributeError,
            OverflowError,
            RecursionError,
            binascii.Error,
        ) as error:
            raise invalid(f"Error while parsing JSON: {error}") from None

    return each(decoded, json_examples)


DecodeJSONExample.gradient(None)


@DecodeJSONExample.samples
def _(rng: SampleGenerator):
    text = '{"features": {"feature": {"a": {"int64List": {"value": ["1", 2]}}}}}'
    yield Sample(
        texts(text), expect=texts(b"\x0a\x0d\x0a\x0b\x0a\x01a\x12\x06\x1a\x04\x0a\x02\1\2")
    )
    for bad in (
        "{",
        '{"features": 3}',
        '{"other": {}}',
        '{"features": {"feature": {"a": {"x": 1}}}}',
    ):
        yield Sample(texts(bad), raises=InvalidArgumentError)


@api("io.decode_json_example", v1="decode_json_example")
@tensor_function
def decode_json_example(json_examples: TensorLike, name: str | None = None) -> Tensor:
    """Serialized `Example` messages from JSON texts. Raises InvalidArgumentError for malformed texts."""
    return DecodeJSONExample(json_examples)
