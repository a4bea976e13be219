"""The table behind a handle: a dictionary from keys to values."""

from __future__ import annotations

import functools
import threading
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import FailedPreconditionError
from tapeflow.ops.state.resource_op import WRITTEN
from tapeflow.ops.validate import invalid, shape_text


def locked(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a table that no other thread calls meanwhile, nor any other such method."""

    @functools.wraps(method)
    def alone(self: Table, *args: Any) -> Any:
        with self.lock:
            return method(self, *args)

    return alone


class _Index:
    """The entries of a table, whose keys are integers or texts, as arrays, for many keys at once."""

    def __init__(self, entries: dict[Any, Any], values: np.ndarray, kind: type):
        self.entries, self.count, self.values = entries, len(entries), values
        self.keys = _native.key_index(np.fromiter(entries, kind, len(entries)))


_INDEXED: dict[DType, type] = {dtypes.int32: np.int64, dtypes.int64: np.int64, dtypes.string: object}
_MANY = 64  # so many keys are found sooner by an index


class Table:
    """The contents of a lookup table.

    Args:
      fixed: whether it is filled once, before it is read.
      forbidden: keys that a dense table keeps for itself, by what it calls them.
    """

    def __init__(
        self, key_dtype, value_dtype, key_shape: Sequence[Any] = (), value_shape: Sequence[Any] = (),
        fixed: bool = False, forbidden=None,
    ):
        self.key_dtype, self.value_dtype = key_dtype, value_dtype
        self.key_shape, self.value_shape = tuple(key_shape), tuple(value_shape)
        self.fixed = fixed
        self.forbidden: dict[Any, str] = forbidden or {}
        self.entries: dict[Any, Any] | None = None if fixed else {}
        self._index: _Index | None = None  # of the entries, until they change
        self.lock = threading.RLock()  # of the contents

    @functools.cached_property
    def shared_name(self) -> str:
        """What all nodes that stand for this table are called together where graphs are written."""
        name = f"hash_table_{uuid.uuid4()}"
        WRITTEN[name] = self
        return name

    def check_same(self, other: Table) -> None:
        """Raises InvalidArgumentError if `other` is a table of other keys or values."""
        mine, its = ((t.key_dtype, t.value_dtype) for t in (self, other))
        if mine != its:
            raise invalid(
                f"The table maps {mine[0].name} to {mine[1].name}, not {its[0].name} to {its[1].name}"
            )

    def contents(self) -> dict[Any, Any]:
        if self.entries is None:
            raise FailedPreconditionError(None, None, "Table not initialized.")
        return self.entries

    def check_keys(self, keys: np.ndarray) -> None:
        """Raises InvalidArgumentError for an array of other keys than the table's."""
        _require_dtype(keys, self.key_dtype, "key")
        rank = len(self.key_shape)
        if keys.shape[keys.ndim - rank :] != self.key_shape or keys.ndim < rank:
            raise invalid(
                f"Expected key shape to end with {shape_text(self.key_shape)}, got {shape_text(keys.shape)}"
            )

    def keys_of(self, keys: np.ndarray) -> list[Any]:
        """The keys in an array, as a dictionary holds them."""
        self.check_keys(keys)
        if not self.key_shape:
            found = keys.ravel().tolist()
        else:
            found = [tuple(row) for row in keys.reshape(-1, *self.key_shape).tolist()]
        if self.forbidden:
            for key in found:
                if key in self.forbidden:
                    raise invalid(f"Using the {self.forbidden[key]} as a table key is not allowed")
        return found

    def outer(self, keys: np.ndarray) -> tuple[int, ...]:
        return keys.shape[: keys.ndim - len(self.key_shape)]

    @locked
    def insert(self, keys: np.ndarray, values: np.ndarray, replace: bool = False) -> None:
        _require_dtype(values, self.value_dtype, "value")
        expected = (*self.outer(keys), *self.value_shape)
        if values.shape != expected:
            raise invalid(
                f"Expected shape {shape_text(expected)} for value, got {shape_text(values.shape)}"
            )
        found = self.keys_of(keys)
        rows = values.reshape((len(found), *self.value_shape))
        entries: dict[Any, Any] = {} if replace or self.entries is None else self.entries
        entries.update(zip(found, map(np.copy, rows) if self.value_shape else rows.tolist(), strict=True))
        self.entries, self._index = entries, None

    @locked
    def fill(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Fill a table once; the same contents once more are no error."""
        _require_dtype(values, self.value_dtype, "value")
        found, rows = self.keys_of(keys), values.ravel().tolist()
        if len(found) != len(rows):
            raise invalid(
                f"Expected same number of keys and values, got {len(found)} and {len(rows)}"
            )
        entries: dict[Any, Any] = {}
        for key, value in zip(found, rows, strict=True):
            held = entries.setdefault(key, value)
            if held is not value and held != value:
                raise FailedPreconditionError(
                    None, None,
                    f"HashTable has different value for same key. Key {shown(key)} has {shown(held)} "
                    f"and trying to add value {shown(value)}",
                )  # fmt: skip
        if self.entries and self.entries != entries:
            raise FailedPreconditionError(None, None, "Table already initialized.")
        self.entries = entries

    @locked
    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        _require_dtype(default, self.value_dtype, "default value")
        index = self._index_for(keys)
        found, outer = [] if index else self.keys_of(keys), self.outer(keys)
        many = default.shape == (*outer, *self.value_shape) and default.ndim > len(self.value_shape)
        if not many and default.shape != self.value_shape and default.size != 1:
            raise invalid(
                f"Expected shape {shape_text(self.value_shape)} or {shape_text((*outer, *self.value_shape))} for "
                f"default value, got {shape_text(default.shape)}"
            )
        rest = default if many else np.broadcast_to(default.reshape(default.shape if self.value_shape else ()),
                                                    (*outer, *self.value_shape))  # fmt: skip
        if index:
            return _found_by(index, keys, rest)
        return self._found(found, rest)

    def _index_for(self, keys: np.ndarray) -> _Index | None:
        """An index of the entries, where it pays for an array of so many keys."""
        entries, index = self.contents(), self._index
        if keys.size < _MANY or self.key_dtype not in _INDEXED or self.key_shape:
            return None
        if index is None or index.entries is not entries or index.count != len(entries):
            if not 0 < len(entries) <= keys.size * 8:
                return None
            values = array_of(list(entries.values()), self.value_dtype, self.value_shape)
            index = self._index = _Index(entries, values, _INDEXED[self.key_dtype])
        self.check_keys(keys)
        forbidden = self.forbidden and np.isin(keys, list(self.forbidden)).any()
        return None if forbidden else index

    def _found(self, keys: list[Any], rest: np.ndarray) -> np.ndarray:
        """The values of keys; `rest` has those of keys that are missing."""
        entries = self.contents()
        if not self.value_shape:
            made = map(entries.get, keys, rest.ravel().tolist())
            return np.fromiter(made, rest.dtype, len(keys)).reshape(rest.shape)
        out = np.array(rest).reshape((len(keys), *self.value_shape))
        for i, key in enumerate(keys):
            if key in entries:
                out[i] = entries[key]
        return out.reshape(rest.shape)

    @locked
    def remove(self, keys: np.ndarray) -> None:
        """Take the entries of `keys` away; those that are missing do nothing."""
        for key in self.keys_of(keys):
            self.contents().pop(key, None)

    @locked
    def export(self) -> tuple[np.ndarray, np.ndarray]:
        entries = self.contents()
        return array_of(list(entries), self.key_dtype, self.key_shape), array_of(
            list(entries.values()), self.value_dtype, self.value_shape
        )


def _found_by(index: _Index, keys: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """The values of keys; `rest` has those of keys that are missing."""
    places = np.empty(keys.shape, np.int64)
    _native.key_places(index.keys, np.ascontiguousarray(keys), places)
    out = index.values.take(places, 0)
    missing = places < 0
    if missing.any():
        np.copyto(out, rest, where=missing.reshape(keys.shape + (1,) * (rest.ndim - keys.ndim)))
    return out


def array_of(rows: Any, kind: DType, shape: Sequence[Any]):
    numpy_type: Any = object if kind == dtypes.string else kind.as_numpy_dtype
    if not shape:
        return np.fromiter(rows, numpy_type, len(rows))
    out = np.empty((len(rows), *shape), numpy_type)
    for i, row in enumerate(rows):
        out[i] = row
    return out


def shown(value) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _require_dtype(array: np.ndarray, kind, what: str) -> None:
    found = dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)
    if found != kind:
        raise invalid(f"The table has {what}s of {kind.name}, got {found.name}")
