"""Slices of tensors in checkpoints: how they are written, and the keys under which a bundle keeps them.

A partitioned variable is one tensor whose parts have entries of their own, with keys that begin with a zero byte.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow import protos
from tapeflow.core.errors import InvalidArgumentError

_SPEC = re.compile(r"-|\d{1,18},\d{1,18}")


class Part(NamedTuple):
    """A part of a tensor.

    Attributes:
      value: the array of the part.
      shape: that of the whole tensor.
      extents: start and length along each axis; None for all of an axis.
    """

    value: Any
    shape: tuple[int, ...]
    extents: tuple[tuple[int, int] | None, ...]


def parse(spec: str) -> tuple[tuple[int, ...], tuple[tuple[int, int] | None, ...]]:
    """The shape of the whole tensor and the extents of "4,5 0,2:-". Raises InvalidArgumentError for other text."""
    words = spec.split(" ")
    slices = words[-1].split(":")
    sizes = words[:-1]
    if (
        len(sizes) != len(slices)
        or not all(word.isascii() and word.isdigit() and len(word) < 19 for word in sizes)
        or not all(_SPEC.fullmatch(text) for text in slices)
    ):
        raise InvalidArgumentError(
            None, None, f"Expected something like '4 5 0,2:-' for a slice of a variable, got '{spec}'"
        )
    shape = tuple(map(int, sizes))
    extents = tuple(
        None if text == "-" else (int(text.split(",")[0]), int(text.split(",")[1]))
        for text in slices
    )
    for size, extent in zip(shape, extents, strict=True):
        if extent is not None and sum(extent) > size:
            raise InvalidArgumentError(None, None, f"The slice '{spec}' is larger than its variable")
    return shape, extents


def lengths(part_shape: Sequence[int], extents: Sequence[tuple[int, int] | None]) -> tuple[int, ...]:
    """The sizes of a slice of a tensor."""
    return tuple(
        size if extent is None else extent[1] for size, extent in zip(part_shape, extents, strict=True)
    )


def indices(extents: Sequence[tuple[int, int] | None]) -> tuple[slice, ...]:
    """What of an array a slice is."""
    return tuple(slice(None) if e is None else slice(e[0], e[0] + e[1]) for e in extents)


def joined(
    sizes: Sequence[int],
    kind: np.dtype,
    parts: Iterable[tuple[Sequence[tuple[int, int] | None], np.ndarray]],
    wanted: tuple[slice, ...],
) -> np.ndarray:
    """What is wanted of the tensor that the parts make. Raises ValueError where they do not fit, or not make it."""
    value = np.empty(sizes, kind)
    filled = np.zeros(sizes, bool)
    for extents, array in parts:
        place = indices(extents)
        # Of an array of objects, an element is what it holds, which has no shape.
        shape = value[place].shape if place else value.shape
        if shape != array.shape or array.dtype != kind:
            raise ValueError(f"its part {extents} has shape {list(array.shape)}")
        value[place] = array
        filled[place] = True
    if not filled[wanted].all():
        raise ValueError("not all of its parts are there")
    return np.ascontiguousarray(value[wanted]) if wanted else value


def message(extents: Sequence[tuple[int, int] | None]) -> Any:
    """The `TensorSliceProto`."""
    made = protos.TensorSliceProto()
    for extent in extents:
        own = made.extent.add()
        if extent is not None:
            own.start, own.length = extent
    return made


def of_message(proto: Any) -> tuple[tuple[int, int] | None, ...]:
    """The extents of a `TensorSliceProto`."""
    return tuple(
        (e.start, e.length) if e.HasField("length") else None for e in proto.extent
    )


def key(name: str, extents: Sequence[tuple[int, int] | None]) -> bytes:
    """The key of a part: a code whose order is that of the names, then of the slices."""
    out = bytearray(b"\x00")
    out += name.encode().replace(b"\xff", b"\xff\x00").replace(b"\x00", b"\x00\xff") + b"\x00\x01"
    out += _number(len(extents))
    for extent in extents:
        start, length = (0, -1) if extent is None else extent
        out += _signed(start) + _signed(length)
    return bytes(out)


def _number(value: int) -> bytes:
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(digits)]) + digits


def _signed(value: int) -> bytes:
    """A number of 7 bits a byte, whose first bits tell how many bytes there are."""
    bits = (~value if value < 0 else value).bit_length()
    length = bits // 7 + 1
    if length == 1:
        return bytes([(0x80 ^ value) & 0xFF])
    raw = bytearray((b"\xff\xff" if value < 0 else b"\x00\x00") + struct.pack(">q", value))[-length:]
    header = (0xFFFF << (16 - length)) & 0xFFFF
    raw[0] ^= header >> 8
    raw[1] ^= header & 0xFF
    return bytes(raw)


def as_array(value: Any) -> np.ndarray:
    """The array of a value to be saved; a string keeps the zeros at its end, which NumPy's own strings lose."""
    return np.array(value, object) if isinstance(value, (bytes, str)) else np.asarray(value)
