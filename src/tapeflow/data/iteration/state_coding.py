"""The states of passes as bytes, in checkpoints.

A state is made of None, bool, int, float, str, bytes, lists, tuples, dicts, tensors (dense, sparse, ragged), and
windows, which are datasets in memory. One letter says what follows; counts and numbers are little-endian, 64 bits.
Reading checks every count against what is left, and makes nothing but these values.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import DataLossError, InvalidArgumentError
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.data.transform.windows import in_memory, kept_in_memory
from tapeflow.ops.ragged.tensor import RaggedTensor

_MAGIC = b"tapeflow state 1\n"
_DEEPEST = 100


def encode(state: TensorLike):
    """The bytes of a state. Raises InvalidArgumentError for what cannot be kept."""
    parts = [_MAGIC]
    _write(parts.append, state)
    return b"".join(parts)


def decode(data: bytes):
    """The state in `data`. Raises DataLossError where that is damaged."""
    if not data.startswith(_MAGIC):
        raise DataLossError(None, None, "This is not the state of an iterator.")
    try:
        reader = _Reader(data, len(_MAGIC))
        state = reader.read(0)
    except (struct.error, ValueError, TypeError, OverflowError) as error:
        raise DataLossError(None, None, f"Damaged state of an iterator: {error}") from None
    if reader.at != len(data):
        raise DataLossError(None, None, "Damaged state of an iterator: bytes after its end")
    return state


def _number(n: int):
    return struct.pack("<q", n)


def _write(put: Callable[..., Any], value: TensorLike | dict[str, Any]):
    if value is None:
        put(b"N")
    elif isinstance(value, bool):
        put(b"T" if value else b"F")
    elif isinstance(value, int):
        text = str(value).encode()
        put(b"i" + _number(len(text)) + text)
    elif isinstance(value, float):
        put(b"f" + struct.pack("<d", value))
    elif isinstance(value, (str, bytes)):
        data = value.encode() if isinstance(value, str) else value
        put((b"s" if isinstance(value, str) else b"b") + _number(len(data)) + data)
    elif isinstance(value, (list, tuple)):
        put((b"l" if isinstance(value, list) else b"t") + _number(len(value)))
        for item in value:
            _write(put, item)
    elif isinstance(value, dict):
        put(b"d" + _number(len(value)))
        for key, item in value.items():
            _write(put, key)
            _write(put, item)
    elif isinstance(value, Tensor):
        _write_tensor(put, value)
    elif isinstance(value, SparseTensor):
        put(b"S")
        for part in (value.indices, value.values, value.dense_shape):
            _write_tensor(put, part)
    elif isinstance(value, RaggedTensor):
        put(b"R")
        _write(put, [value.flat_values, *value.nested_row_splits])
    else:
        elements = kept_in_memory(value)
        if elements is None:
            raise InvalidArgumentError(
                None, None, f"Elements of type {type(value).__name__} cannot be saved with an iterator."
            )
        put(b"W")
        _write(put, elements)


def _write_tensor(put: Callable[..., Any], tensor: Tensor):
    array = np.asarray(tensor)
    put(b"X")
    _write(put, tensor.dtype.name)
    put(_number(array.ndim) + b"".join(_number(n) for n in array.shape))
    if tensor.dtype == dtypes.string:
        for text in array.ravel():
            put(_number(len(text)) + text)
    elif array.dtype == object:
        raise InvalidArgumentError(
            None, None, f"Tensors of dtype {tensor.dtype.name} cannot be saved with an iterator."
        )
    else:
        put(np.ascontiguousarray(array).tobytes())


class _Reader:
    def __init__(self, data: bytes, at: int):
        self.data = data
        self.at = at

    def take(self, count: int):
        if not 0 <= count <= len(self.data) - self.at:
            raise ValueError(f"{count} bytes wanted at {self.at} of {len(self.data)}")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self):
        return struct.unpack("<q", self.take(8))[0]

    def count(self):
        found = self.number()
        if not 0 <= found <= len(self.data) - self.at:
            raise ValueError(f"a count of {found} at {self.at}")
        return found

    def read(self, depth: int):
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")
        kind = self.take(1)
        if kind in _PLAIN:
            return _PLAIN[kind]
        if kind == b"f":
            return struct.unpack("<d", self.take(8))[0]
        if kind in b"isb":
            data = self.take(self.number())
            return int(data) if kind == b"i" else data.decode() if kind == b"s" else data
        if kind in b"lt":
            items = [self.read(depth + 1) for _ in range(self.count())]
            return items if kind == b"l" else tuple(items)
        if kind == b"d":
            return {self.read(depth + 1): self.read(depth + 1) for _ in range(self.count())}
        if kind == b"X":
            return self._tensor()
        if kind == b"S":
            return SparseTensor(*[self.read(depth + 1) for _ in range(3)])
        if kind == b"R":
            values, *splits = self.read(depth + 1)
            return RaggedTensor.from_nested_row_splits(values, splits)
        if kind == b"W":
            return in_memory(self.read(depth + 1))
        raise ValueError(f"unknown kind {kind!r}")

    def _tensor(self):
        dtype = dtypes.as_dtype(self.read(0))
        rank = self.number()
        if not 0 <= rank <= 254:
            raise ValueError(f"a rank of {rank}")
        shape = [self.number() for _ in range(rank)]
        size = math.prod(shape)
        if min(shape, default=0) < 0 or size > len(self.data):
            raise ValueError(f"a tensor of shape {shape}")
        if dtype == dtypes.string:
            texts = np.empty(size, object)
            for i in range(size):
                texts[i] = self.take(self.number())
            return convert_to_tensor(texts.reshape(shape), dtype)
        kind = np.dtype(dtype.as_numpy_dtype)
        if kind.hasobject:
            raise ValueError(f"a tensor of {dtype.name}")
        found = np.frombuffer(self.take(size * kind.itemsize), kind).reshape(shape)
        return convert_to_tensor(found, dtype)


_PLAIN = {b"N": None, b"T": True, b"F": False}
