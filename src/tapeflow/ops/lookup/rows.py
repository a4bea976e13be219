"""Rows of lookup tables. A table is an object behind a resource handle: a dictionary from keys to values."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from tapeflow.core.files import file_system
from tapeflow.core.files.paths import local_path
from tapeflow.ops import shapes
from tapeflow.ops.signature import dtype, integer
from tapeflow.ops.string.rows import attr_bytes
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

from tapeflow.ops.lookup.table_object import Table, array_of, shown

WHOLE_LINE, LINE_NUMBER = -2, -1


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
    path = local_path(filename[()] if isinstance(filename, np.ndarray) else filename)
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
    table.fill(array_of(keys, table.key_dtype, ()), array_of(values, table.value_dtype, ()))
    return ()


def _column(line: bytes, number: int, index: int, delimiter: str, kind: DType, path: str, offset: int):
    if index == LINE_NUMBER:
        return number + offset
    text = line
    if index != WHOLE_LINE:
        parts = line.split(attr_bytes(delimiter) or b"\t")
        if index >= len(parts):
            raise invalid(
                f"Invalid number of columns in {path} line {number} ({shown(line)}) : expected {index + 1} got "
                f"{len(parts)}"
            )
        text = parts[index]
    if kind == dtypes.string:
        return text
    try:
        return float(text) if kind.is_floating else int(text)
    except ValueError:
        raise invalid(
            f"Field {shown(text)} in line {number} is not a valid {kind.name}."
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
