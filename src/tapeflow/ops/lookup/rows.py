"""Rows of lookup tables. A table is an object behind a resource handle: a dictionary from keys to values."""

from __future__ import annotations

import functools
import threading
import uuid
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tapeflow.core.files import file_system
from tapeflow.ops import shapes
from tapeflow.ops.signature import dtype, integer
from tapeflow.ops.state.resource_op import WRITTEN
from tapeflow.ops.string.rows import attr_bytes
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

WHOLE_LINE, LINE_NUMBER = -2, -1


def locked(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a table that no other thread calls meanwhile, nor any other such method."""

    @functools.wraps(method)
    def alone(self: Table, *args: Any) -> Any:
        with self.lock:
            return method(self, *args)

    return alone


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

    def keys_of(self, keys: np.ndarray) -> list[Any]:
        """The keys in an array, as a dictionary holds them."""
        _require_dtype(keys, self.key_dtype, "key")
        rank = len(self.key_shape)
        if keys.shape[keys.ndim - rank :] != self.key_shape or keys.ndim < rank:
            raise invalid(
                f"Expected key shape to end with {shape_text(self.key_shape)}, got {shape_text(keys.shape)}"
            )
        if not rank:
            found = keys.ravel().tolist()
        else:
            found = [tuple(row) for row in keys.reshape(-1, *self.key_shape).tolist()]
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
        for key, value in zip(found, rows, strict=True):
            entries[key] = np.array(value, rows.dtype) if self.value_shape else value
        self.entries = entries

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
            if key in entries and entries[key] != value:
                raise invalid(
                    f"HashTable has different value for same key. Key {_shown(key)} has {_shown(entries[key])} "
                    f"and trying to add value {_shown(value)}"
                )
            entries[key] = value
        if self.entries and self.entries != entries:
            raise FailedPreconditionError(None, None, "Table already initialized.")
        self.entries = entries

    @locked
    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        _require_dtype(default, self.value_dtype, "default value")
        entries, found, outer = self.contents(), self.keys_of(keys), self.outer(keys)
        many = default.shape == (*outer, *self.value_shape) and default.ndim > len(self.value_shape)
        if not many and default.shape != self.value_shape and default.size != 1:
            raise invalid(
                f"Expected shape {shape_text(self.value_shape)} or {shape_text((*outer, *self.value_shape))} for "
                f"default value, got {shape_text(default.shape)}"
            )
        rest = default if many else np.broadcast_to(default.reshape(default.shape if self.value_shape else ()),
                                                    (*outer, *self.value_shape))  # fmt: skip
        out = np.array(rest, default.dtype).reshape((len(found), *self.value_shape))
        for i, key in enumerate(found):
            if key in entries:
                out[i] = entries[key]
        return out.reshape((*outer, *self.value_shape))

    @locked
    def remove(self, keys: np.ndarray) -> None:
        """Take the entries of `keys` away; those that are missing do nothing."""
        for key in self.keys_of(keys):
            self.contents().pop(key, None)

    @locked
    def export(self) -> tuple[np.ndarray, np.ndarray]:
        entries = self.contents()
        return _array(list(entries), self.key_dtype, self.key_shape), _array(
            list(entries.values()), self.value_dtype, self.value_shape
        )


def _array(rows: Any, kind: DType, shape: Sequence[Any]):
    numpy_type: Any = object if kind == dtypes.string else kind.as_numpy_dtype
    out = np.empty((len(rows), *shape), numpy_type)
    for i, row in enumerate(rows):
        out[i] = row
    return out


def _shown(value) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _require_dtype(array: np.ndarray, kind, what: str) -> None:
    found = dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)
    if found != kind:
        raise invalid(f"The table has {what}s of {kind.name}, got {found.name}")


def handle_of(table: Table) -> Any:
    """A resource tensor that holds a table."""
    box = np.empty((), object)
    box[()] = table
    return _native.tensor_of(box, dtypes.resource)


def _table(handle: Any) -> Table:
    table = handle[()] if isinstance(handle, np.ndarray) and handle.ndim == 0 else handle
    if not isinstance(table, Table):
        raise invalid(f"The handle is not that of a lookup table, but {type(table).__name__}")
    return table


def _find_rule(call: ShapeCall):
    # The shapes of keys and values are the table's, which only the run knows.
    return [None]


_SAMPLE_KEYS = np.array([1, 2, 5])


def _filled(values: Sequence[float] = (10.0, 20.0, 50.0), fixed: bool = False):
    table = Table(dtypes.int64, dtypes.float64, fixed=fixed)
    table.entries = dict(zip(_SAMPLE_KEYS.tolist(), values, strict=True))
    return handle_of(table)


@op("LookupTableFindV2", "table_handle: resource, keys: Tin, default_value: Tout -> values: Tout",
    types={"Tin": ANY, "Tout": ANY}, shape=_find_rule, stateful=True, reads_only=True)  # fmt: skip
def LookupTableFindV2(xp: ModuleType, table_handle: Array, keys: Array, default_value: Array):
    return _table(table_handle).find(np.asarray(keys), np.asarray(default_value))


@LookupTableFindV2.samples
def _(rng: SampleGenerator):
    default = np.array(-1.0)
    yield Sample(
        _filled(),
        np.array([[2, 3]]),
        default,
        expect=np.array([[20.0, -1.0]]),
        differentiable=False,
    )
    empty = handle_of(Table(dtypes.int64, dtypes.float64, fixed=True))
    yield Sample(empty, _SAMPLE_KEYS, default, raises=FailedPreconditionError)
    yield Sample(_filled(), np.array([1.0]), default, raises=InvalidArgumentError)
    yield Sample(_filled(), _SAMPLE_KEYS, np.ones(2), raises=InvalidArgumentError)


@op("LookupTableInsertV2", "table_handle: resource, keys: Tin, values: Tout ->",
    types={"Tin": ANY, "Tout": ANY}, stateful=True)  # fmt: skip
def LookupTableInsertV2(xp: ModuleType, table_handle: Array, keys: Array, values: Array):
    _table(table_handle).insert(np.asarray(keys), np.asarray(values))
    return ()


@op("LookupTableImportV2", "table_handle: resource, keys: Tin, values: Tout ->",
    types={"Tin": ANY, "Tout": ANY}, stateful=True)  # fmt: skip
def LookupTableImportV2(xp: ModuleType, table_handle: Array, keys: Array, values: Array):
    _table(table_handle).insert(np.asarray(keys), np.asarray(values), True)
    return ()


@op("InitializeTableV2", "table_handle: resource, keys: Tkey, values: Tval ->",
    types={"Tkey": ANY, "Tval": ANY}, stateful=True)  # fmt: skip
def InitializeTableV2(xp: ModuleType, table_handle: Array, keys: Array, values: Array):
    _table(table_handle).fill(np.asarray(keys), np.asarray(values))
    return ()


def _writing_samples(rng: SampleGenerator):
    values = np.array([1.0, 2.0, 3.0])
    yield Sample(handle_of(Table(dtypes.int64, dtypes.float64)), _SAMPLE_KEYS, values, expect=(),
                 differentiable=False)  # fmt: skip
    for keys, given in (
        (_SAMPLE_KEYS, values[:2]),
        (_SAMPLE_KEYS * 1.0, values),
        (_SAMPLE_KEYS, _SAMPLE_KEYS),
    ):
        table = handle_of(Table(dtypes.int64, dtypes.float64))
        yield Sample(table, keys, given, raises=InvalidArgumentError)


for _row in (LookupTableInsertV2, LookupTableImportV2, InitializeTableV2):
    _row.samples(_writing_samples)


@op(
    "LookupTableRemoveV2", "table_handle: resource, keys: Tin ->", types={"Tin": ANY}, stateful=True
)
def LookupTableRemoveV2(xp: ModuleType, table_handle: Array, keys: Array):
    _table(table_handle).remove(np.asarray(keys))
    return ()


@LookupTableRemoveV2.samples
def _(rng: SampleGenerator):
    yield Sample(_filled(), np.array([1, 7]), expect=())
    yield Sample(_filled(), np.array([1.0]), raises=InvalidArgumentError)


@op(
    "LookupTableSizeV2", "table_handle: resource -> size: int64", shape=shapes.scalar, stateful=True,
    reads_only=True,
)
def LookupTableSizeV2(xp: ModuleType, table_handle: Array):
    return np.array(len(_table(table_handle).entries or ()), np.int64)  # 0 before it is filled


@LookupTableSizeV2.samples
def _(rng: SampleGenerator):
    yield Sample(_filled(), expect=np.array(3))


@op("LookupTableExportV2", "table_handle: resource -> keys: Tkeys, values: Tvalues",
    attrs={"Tkeys": dtype, "Tvalues": dtype}, shape=shapes.unknowns(2), stateful=True, reads_only=True)  # fmt: skip
def LookupTableExportV2(xp, table_handle, Tkeys, Tvalues):
    table = _table(table_handle)
    if (Tkeys, Tvalues) != (table.key_dtype, table.value_dtype):
        raise invalid(
            f"The table maps {table.key_dtype.name} to {table.value_dtype.name}, not {Tkeys.name} to {Tvalues.name}"
        )
    return table.export()


@LookupTableExportV2.samples
def _(rng):
    kinds = {"Tkeys": dtypes.int64, "Tvalues": dtypes.float64}
    yield Sample(_filled(), **kinds, expect=(_SAMPLE_KEYS, np.array([10.0, 20.0, 50.0])))
    yield Sample(
        _filled(), Tkeys=dtypes.string, Tvalues=dtypes.float64, raises=InvalidArgumentError
    )


@op("InitializeTableFromTextFileV2", "table_handle: resource, filename: string ->",
    attrs={"key_index": integer, "value_index": integer, "vocab_size": -1, "delimiter": "\t", "offset": 0},
    stateful=True, touches="files", reads="filename")  # fmt: skip
def InitializeTableFromTextFileV2(
    xp: ModuleType, table_handle: Array, filename: Array, key_index: int, value_index: int, vocab_size: int,
    delimiter: str, offset: int,
):
    table = _table(table_handle)
    if np.ndim(filename):
        raise invalid(
            f"filename should be a single string, but got {shape_text(np.shape(filename))}"
        )
    path = file_system.text_path(filename[()] if isinstance(filename, np.ndarray) else filename)
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError as error:
        raise file_system.as_error(error, path) from None
    if lines and not lines[-1]:
        lines.pop()
    if vocab_size >= 0:
        if len(lines) < vocab_size:
            raise invalid(
                f"Invalid vocab_size in {path}: expected {vocab_size} but got {len(lines)}"
            )
        lines = lines[:vocab_size]
    lines = [line.removesuffix(b"\r") for line in lines]
    keys = [
        _column(line, i, key_index, delimiter, table.key_dtype, path, offset)
        for i, line in enumerate(lines)
    ]
    values = [
        _column(line, i, value_index, delimiter, table.value_dtype, path, offset)
        for i, line in enumerate(lines)
    ]
    table.fill(_array(keys, table.key_dtype, ()), _array(values, table.value_dtype, ()))
    return ()


def _column(line: bytes, number: int, index: int, delimiter: str, kind: DType, path: str, offset: int):
    if index == LINE_NUMBER:
        return number + offset
    text = line
    if index != WHOLE_LINE:
        parts = line.split(attr_bytes(delimiter) or b"\t")
        if index >= len(parts):
            raise invalid(
                f"Invalid number of columns in {path} line {number} ({_shown(line)}) : expected {index + 1} got "
                f"{len(parts)}"
            )
        text = parts[index]
    if kind == dtypes.string:
        return text
    try:
        return float(text) if kind.is_floating else int(text)
    except ValueError:
        raise invalid(
            f"Field {_shown(text)} in line {number} is not a valid {kind.name}."
        ) from None


@InitializeTableFromTextFileV2.samples
def _(rng):
    table = handle_of(Table(dtypes.string, dtypes.int64, fixed=True))
    columns = {"key_index": WHOLE_LINE, "value_index": LINE_NUMBER}
    yield Sample(table, np.array(b"/dev/null", object), **columns, expect=())
    yield Sample(table, np.array(b"/no/such/file", object), **columns, raises=NotFoundError)
    yield Sample(
        table, np.array(b"/dev/null", object), **columns, vocab_size=2, raises=InvalidArgumentError
    )


for _row in (
    LookupTableFindV2,
    LookupTableInsertV2,
    LookupTableImportV2,
    InitializeTableV2,
    LookupTableRemoveV2,
    LookupTableSizeV2,
    LookupTableExportV2,
    InitializeTableFromTextFileV2,
):
    _row.gradient(None)
