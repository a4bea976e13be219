"""`Example` and `SequenceExample` messages read: features by name, each a list of bytes, floats or integers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core.files.wire import BYTES, VARINT, WireError, fields, packed_varints, signed

KINDS = {1: "bytes", 2: "float", 3: "int64"}
Feature = tuple[str, Any]  # the kind ("" for a feature that holds nothing) and its elements


def _list(number: int, message: bytes) -> Any:
    parts: list[Any] = []
    for inner, wire, value in fields(message):
        if inner != 1:
            continue
        if number == 1:
            parts.append(value)
        elif number == 2:
            if not isinstance(value, bytes) or len(value) % 4:
                raise WireError("a list of floats is cut off")
            parts.append(np.frombuffer(value, "<f4"))
        elif wire == VARINT:
            parts.append(signed(np.array([value], np.uint64)))
        else:
            parts.append(signed(packed_varints(value)) if isinstance(value, bytes) else value)
    if number == 1:
        return parts
    kind = np.float32 if number == 2 else np.int64
    return np.concatenate(parts).astype(kind) if parts else np.zeros(0, kind)


def _feature(message: bytes) -> Feature:
    return _native.read_feature(message) or feature_in_python(message)


def feature_in_python(message: bytes) -> Feature:
    """What a `Feature` holds. Raises WireError, where native code says only that something is wrong."""
    out: Feature = ("", [])
    for number, wire, value in fields(message):
        if number in KINDS:
            if wire != BYTES or not isinstance(value, bytes):
                raise WireError("a feature is no message")
            out = (KINDS[number], _list(number, value))
    return out


def _entries(message: bytes):
    """(key, value) of a message whose field 1 is a map from strings to messages."""
    for number, _, entry in fields(message):
        if number != 1 or not isinstance(entry, bytes):
            continue
        key, value = b"", b""
        for inner, _, found in fields(entry):
            if inner == 1 and isinstance(found, bytes):
                key = found
            elif inner == 2 and isinstance(found, bytes):
                value = found
        yield key, value


def _features(message: bytes) -> dict[bytes, Feature]:
    found = _native.read_features(message)
    return features_in_python(message) if found is None else found


def features_in_python(message: bytes) -> dict[bytes, Feature]:
    """The features of a `Features` message. Raises WireError, where native code says only that something is wrong."""
    return {key: feature_in_python(value) for key, value in _entries(message)}


@lru_cache(maxsize=1024)
def example(message: bytes) -> dict[bytes, Feature]:
    """The features of an `Example`. Raises WireError."""
    out: dict[bytes, Feature] = {}
    for number, _, value in fields(message):
        if number == 1 and isinstance(value, bytes):
            out.update(_features(value))
    return out


@lru_cache(maxsize=1024)
def sequence_example(message: bytes) -> tuple[dict[bytes, Feature], dict[bytes, list[Feature]]]:
    """The context features and the feature lists of a `SequenceExample`. Raises WireError."""
    context: dict[bytes, Feature] = {}
    lists: dict[bytes, list[Feature]] = {}
    for number, _, value in fields(message):
        if number == 1 and isinstance(value, bytes):
            context.update(_features(value))
        elif number == 2 and isinstance(value, bytes):
            for key, steps in _entries(value):
                lists[key] = [
                    _feature(v) for n, _, v in fields(steps) if n == 1 and isinstance(v, bytes)
                ]
    return context, lists
