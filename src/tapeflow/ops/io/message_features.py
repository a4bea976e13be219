"""The features of `Example` and `SequenceExample` messages, checked, for the rows that read one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import ShapeLike
from tapeflow.core.files import examples
from tapeflow.core.files.wire import WireError
from tapeflow.ops.string.rows import attr_bytes
from tapeflow.ops.validate import invalid, shape_text

KINDS = {"float32": "float", "int64": "int64", "string": "bytes"}
SHOWN = {"float32": "float", "int64": "int64", "string": "string"}
TYPES = (dtypes.float32, dtypes.int64, dtypes.string)


def numpy_type(kind: str):
    """The type of the arrays that hold elements of a kind."""
    return {"float32": np.float32, "int64": np.int64}.get(kind, object)


def name_of(names: Any, i: int) -> str:
    """The name of the example of a number."""
    flat = names.ravel()
    return flat[i].decode("utf-8", "replace") if i < len(flat) else "<unknown>"


def messages_of(serialized: Any, names: Any) -> list[bytes]:
    """The messages of a call, checked."""
    if serialized.ndim > 1:
        raise invalid(
            f"Expected serialized to be a scalar or vector, got shape: {shape_text(serialized.shape)}"
        )
    if names.size and names.size != serialized.size:
        raise invalid(
            f"Expected len(names) == len(serialized), but got: {names.size} vs. {serialized.size}"
        )
    return serialized.ravel().tolist()


def features_of(message: bytes, i: int, sequence: bool):
    """The features of a message, by key: those of its context if it is a sequence."""
    try:
        return examples.sequence_example(message)[0] if sequence else examples.example(message)
    except WireError:
        raise invalid(
            f"Could not parse example input, value: '{message[:100]!r}' (batch index {i})"
        ) from None


def feature_of_each(messages: list[bytes], key: str, sequence: bool) -> list[Any]:
    """The feature `key` of each message."""
    name = attr_bytes(key)
    return [features_of(message, i, sequence).get(name) for i, message in enumerate(messages)]


def lists_of(message: bytes, i: int):
    """The lists of features of a message, by key."""
    try:
        return examples.sequence_example(message)[1]
    except WireError:
        raise invalid(
            f"Could not parse example input, value: '{message[:100]!r}' (batch index {i})"
        ) from None


def elements(feature: Sequence[Any] | None, kind: str, where: str):
    """The elements of a feature, None where it holds nothing; `where` begins the message of an error."""
    if feature is None or feature[0] == "":
        return None
    if feature[0] != KINDS[kind]:
        raise invalid(
            f"{where}  Data types don't match. Expected type: {SHOWN[kind]}  Feature is: {feature[0]}_list"
        )
    return feature[1]


def rows_of(values: Any, kind: str, shape: ShapeLike):
    """Elements as an array of a shape."""
    out = np.empty(len(values), numpy_type(kind))
    out[:] = values
    return out.reshape(shape)


def size_of(shape: Sequence[Any]) -> int:
    """The number of elements of a shape."""
    return int(np.prod(shape)) if len(shape) else 1
