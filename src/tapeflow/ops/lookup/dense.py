"""Tables with open addressing: their buckets lie where TensorFlow's do, which exports and checkpoints show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.ops.lookup.table_object import Table, locked
from tapeflow.ops.string.hashing_keyed import murmur64
from tapeflow.ops.validate import invalid, shape_text

_ALL = 2**64 - 1
_MAX_LOAD = 0.8
_DEFAULT_BUCKETS = 1 << 17


def _hash_of(part: Any) -> int:
    return murmur64(part) if isinstance(part, bytes) else int(part) & _ALL


def hash_of_key(key: Any) -> int:
    """The hash of a key: of a number the number itself, of several parts their hashes combined."""
    if not isinstance(key, tuple):
        return _hash_of(key)
    out = 0
    for part in _flat(key):
        out ^= (_hash_of(part) + 0x9E3779B97F4A7800 + (out << 10) + (out >> 4)) & _ALL
        out &= _ALL
    return out


def _flat(key: Any) -> list[Any]:
    return [x for part in key for x in _flat(part)] if isinstance(key, (list, tuple)) else [key]


class DenseTable(Table):
    """The contents of a dense table.

    Args:
      empty: the key that marks buckets never used.
      deleted: the key that marks buckets whose entry was taken away.
      buckets: how many there are at first, a power of two.
    """

    def __init__(
        self, key_dtype, value_dtype, key_shape: Sequence[Any], value_shape: Sequence[Any], empty, deleted: int,
        buckets: int | None,
    ):
        super().__init__(key_dtype, value_dtype, key_shape, value_shape)
        count = _DEFAULT_BUCKETS if buckets is None else buckets
        if count < 4 or count & (count - 1):
            raise invalid(f"Number of buckets must be at least 4 and a power of 2, got: {count}")
        self.empty, self.deleted, self.count = empty, deleted, count
        # The key in each bucket that was ever used, and the value that a deleted entry left behind.
        self.buckets: dict[int, Any] = {}
        self.left: dict[int, Any] = {}

    def check_keys(self, keys: np.ndarray) -> None:
        """Raises InvalidArgumentError for other keys, and for more than one dimension of them."""
        size = int(np.prod(self.key_shape, dtype=np.int64))
        if keys.ndim and keys.size != len(keys) * size:
            expected = (len(keys), *self.key_shape)
            raise invalid(f"Expected key shape {shape_text(expected)} got {shape_text(keys.shape)}")
        super().check_keys(keys)

    def _place(self, key: Any) -> tuple[int, bool]:
        """(the bucket that has `key`, or that is to take it; whether it has it)."""
        at, free, probes = hash_of_key(key) & (self.count - 1), None, 0
        while True:
            found = self.buckets.get(at, self.empty)
            if found == key:
                return at, True
            if found == self.empty:
                return (at if free is None else free), False
            if found == self.deleted and free is None:
                free = at
            probes += 1
            if probes >= self.count:
                return (at if free is None else free), False
            at = (at + probes) & (self.count - 1)

    def _spread(self, count: int) -> None:
        """Buckets anew, `count` of them, for the entries that are there."""
        order = sorted((at, key) for at, key in self.buckets.items() if key != self.deleted)
        self.count, self.buckets, self.left = count, {}, {}
        for _, key in order:
            self.buckets[self._place(key)[0]] = key

    def _grow(self, coming: int) -> None:
        wanted, count = len(self.contents()) + coming, self.count
        while wanted > count * _MAX_LOAD:
            count <<= 1
        if count != self.count:
            self._spread(count)

    @locked
    def insert(self, keys: np.ndarray, values: np.ndarray, replace: bool = False) -> None:
        if replace:
            self._import(keys, values)
            return
        found = self.keys_of(keys)
        self._grow(len(found))
        super().insert(keys, values)
        for key in found:
            at, there = self._place(key)
            if not there:
                self.buckets[at] = key
                self.left.pop(at, None)

    @locked
    def remove(self, keys: np.ndarray) -> None:
        """Take the entries of `keys` away."""
        for key in self.keys_of(keys):
            at, there = self._place(key)
            if there:
                self.left[at] = self.contents().pop(key)
                self.buckets[at] = self.deleted

    def _import(self, keys: np.ndarray, values: np.ndarray) -> None:
        """The buckets of an export."""
        rows = keys.reshape((len(keys), *self.key_shape)) if keys.ndim else keys
        if not keys.ndim or len(keys) < 4 or len(keys) & (len(keys) - 1) or len(values) != len(keys):
            raise invalid(
                "Number of buckets must be at least 4 and a power of 2, as many keys as values; got shapes "
                f"{shape_text(keys.shape)} and {shape_text(values.shape)}"
            )
        cells = values.reshape((len(values), *self.value_shape))
        self.entries, self.buckets, self.left, self.count = {}, {}, {}, len(keys)
        listed = rows.tolist()
        for at, (row, value) in enumerate(zip(listed, cells, strict=True)):
            key = tuple(row) if isinstance(row, list) else row
            if key == self.empty:
                continue
            self.buckets[at] = key
            if key == self.deleted:
                self.left[at] = value
            else:
                self.entries[key] = np.array(value, cells.dtype) if self.value_shape else value

    @locked
    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """All buckets, the empty ones too, as matrices: keys and values lie flat in rows."""
        entries = self.contents()
        keys = _rows(self.count, self.key_shape, self.key_dtype, self.empty)
        values = _rows(self.count, self.value_shape, self.value_dtype, None)
        for at, key in self.buckets.items():
            keys[at] = _flat(key)
            value = self.left.get(at) if key == self.deleted else entries[key]
            if value is not None:
                values[at] = np.ravel(np.asarray(value, values.dtype))
        return keys, values


def _rows(count: int, shape: tuple[int, ...], kind: Any, key: Any) -> np.ndarray:
    width = int(np.prod(shape, dtype=np.int64))
    if kind == dtypes.string:
        out = np.full((count, width), b"", object)
    else:
        out = np.zeros((count, width), kind.as_numpy_dtype)
    if key is not None:
        out[:] = _flat(key)
    return out
