"""The wire format of protocol buffers, for the few small messages of a checkpoint.

A message is described by {field number: (name, kind)}; kinds: "int" (varint), "fixed32", "float", "double",
"bytes", "string", a description of a message, or a list of one of these for repeated fields. Decoded messages
are dicts; missing fields are missing. The format: https://protobuf.dev/programming-guides/encoding/.
"""

from __future__ import annotations

import struct
from typing import Any

_FIXED = {"fixed32": (5, "<I"), "float": (5, "<f"), "double": (1, "<d"), "fixed64": (1, "<Q")}


def varint(value: int) -> bytes:
    """An integer in groups of 7 bits; negative ones as 64-bit two's complement."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_varint(data: Any, at: int) -> tuple[int, int]:
    """(value, position after it). Raises ValueError where the data end, or the value has too many bits."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("a number is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & ((1 << 64) - 1), at
        shift += 7


def signed(value: int) -> int:
    """A 64-bit number as a signed one."""
    return value - (1 << 64) if value >> 63 else value


def encode(message: dict, description: dict) -> bytes:
    """The message as bytes, fields in the order of their numbers. Zeros and empty fields are left out."""
    out = bytearray()
    for number in sorted(description):
        name, kind = description[number]
        value = message.get(name)
        if isinstance(kind, list):
            items = value or ()
            if items and kind[0] in ("int", *_FIXED):
                packed = b"".join(_scalar(item, kind[0]) for item in items)
                out += varint(number << 3 | 2) + varint(len(packed)) + packed
                continue
            for item in items:
                out += _field(number, item, kind[0])
        elif value is not None and (isinstance(kind, dict) or value):
            out += _field(number, value, kind)
    return bytes(out)


def _scalar(value: Any, kind: str) -> bytes:
    return varint(value) if kind == "int" else struct.pack(_FIXED[kind][1], value)


def _field(number: int, value: Any, kind: Any) -> bytes:
    if kind == "int":
        return varint(number << 3) + varint(value)
    if isinstance(kind, str) and kind in _FIXED:
        return varint(number << 3 | _FIXED[kind][0]) + _scalar(value, kind)
    if isinstance(kind, dict):
        value = encode(value, kind)
    elif kind == "string":
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + bytes(value)


def decode(data: Any, description: dict) -> dict:
    """The message in the bytes; unknown fields are skipped. Raises ValueError for what is no message."""
    message: dict[str, Any] = {}
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        number, wire_type = tag >> 3, tag & 7
        value: Any
        if wire_type == 0:
            value, at = read_varint(data, at)
        elif wire_type == 2:
            size, at = read_varint(data, at)
            if size > len(data) - at:
                raise ValueError("a field is cut off")
            value, at = data[at : at + size], at + size
        elif wire_type in (1, 5):
            size = 8 if wire_type == 1 else 4
            if size > len(data) - at:
                raise ValueError("a field is cut off")
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"wire type {wire_type} is unknown")
        if number in description:
            name, kind = description[number]
            _keep(message, name, kind, wire_type, value)
    return message


def _keep(message: dict, name: str, kind: Any, wire_type: int, value: Any) -> None:
    if not isinstance(kind, list):
        message[name] = _value(kind, wire_type, value)
        return
    items = message.setdefault(name, [])
    if wire_type == 2 and kind[0] in ("int", *_FIXED):
        at = 0
        while at < len(value):
            if kind[0] == "int":
                item, at = read_varint(value, at)
            else:
                size = struct.calcsize(_FIXED[kind[0]][1])
                item, at = value[at : at + size], at + size
            items.append(_value(kind[0], 0 if kind[0] == "int" else 5, item))
        return
    items.append(_value(kind[0], wire_type, value))


def _value(kind: Any, wire_type: int, value: Any) -> Any:
    if kind == "int":
        if wire_type != 0:
            raise ValueError("a field has another type than it should")
        return signed(value)
    if isinstance(kind, str) and kind in _FIXED:
        layout = _FIXED[kind][1]
        if wire_type in (0, 2) or len(value) != struct.calcsize(layout):
            raise ValueError("a field has another type than it should")
        return struct.unpack(layout, value)[0]
    if wire_type != 2:
        raise ValueError("a field has another type than it should")
    if isinstance(kind, dict):
        return decode(value, kind)
    return bytes(value).decode() if kind == "string" else bytes(value)
