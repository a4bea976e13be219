"""`CsvDataset`: records of comma-separated values (RFC 4180), which may go on over several lines."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import boundaries
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.data.building import build
from tapeflow.data.iteration.passes import Over
from tapeflow.data.parts import parts_of
from tapeflow.data.sources.records import _FileDataset, filenames_dataset, opened, text_of
from tapeflow.data.transform.record import ELEMENTS, record

if TYPE_CHECKING:
    from tapeflow.data.sources.rows import RowPass

_BLOCK = 1 << 18
_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)
_SHOWN = {"float32": "float", "float64": "double"}


def invalid(message: str):
    """The error for a record that cannot be read."""
    return InvalidArgumentError(None, None, message)


class CsvDataset(_FileDataset):
    """Tuples of the fields of the records of CSV files.

    When it is reached, a record that is not as promised raises InvalidArgumentError; the next one follows it.

    Args:
      filenames: a file or several: a string, strings, a string tensor or a dataset of strings.
      record_defaults: of each column its dtype, where it is required, or a value for where it is empty, in a list.
      compression_type: "" (or None), "ZLIB" or "GZIP".
      buffer_size: accepted; how much is read at once is not set by it.
      header: whether the first line of each file is left out.
      field_delim: what separates fields, one character.
      use_quote_delim: whether fields may be in double quotes.
      na_value: a text that counts as empty, too.
      select_cols: the numbers of the columns that are read, ascending; None for all.
      exclude_cols: the numbers of the columns that are not read; not together with `select_cols`.
    """

    _shown_as = "CsvDatasetV2"

    def __init__(
        self, filenames, record_defaults: Sequence[Any], compression_type: str | None = None,
        buffer_size: int | None = None, header: bool = False, field_delim: str = ",", use_quote_delim: bool = True,
        na_value: str = "", select_cols: Sequence[int] | None = None, exclude_cols: Sequence[int] | None = None,
    ):
        super().__init__(
            csv_records(
                filenames, record_defaults, compression_type, buffer_size, header, field_delim, use_quote_delim,
                na_value, select_cols, exclude_cols,
            )
        )  # fmt: skip


def _default(value: DType | Sequence[int]):
    """(dtype, the value for an empty field or None) of one record default."""
    if isinstance(value, dtypes.DType):
        return _checked(value), None
    if isinstance(value, type) and issubclass(value, (int, float, str, np.generic)):
        return _checked(dtypes.as_dtype(value)), None
    tensor = convert_to_tensor(value, dtypes.float32 if isinstance(value, list) and not value else None)
    array = np.asarray(tensor)
    if array.ndim > 1:
        raise invalid("Each record default should be at most rank 1")
    if array.size > 1:
        raise invalid(f"There should only be 1 default per field but field has {array.size}")
    return _checked(tensor.dtype), (array.reshape(-1)[0] if array.size else None)


def _checked(dtype: DType):
    if dtype not in _TYPES:
        raise TypeError(f"Columns of CSV files cannot be of {dtype!r}.")
    return dtype


@record("csv_records")
def csv_records(
    filenames: str, record_defaults: Sequence[Any], compression_type: str | None, buffer_size: int | None,
    header: bool, field_delim: str, use_quote_delim: bool, na_value: str, select_cols: Sequence[int] | None,
    exclude_cols: Sequence[int] | None = None,
):  # fmt: skip
    """The records of CSV files as a dataset."""
    names = filenames_dataset(filenames)
    columns = [_default(value) for value in record_defaults]
    delimiter = text_of(field_delim).encode()
    if len(delimiter) != 1:
        raise invalid(f"field_delim should be only 1 char, got {field_delim!r}")
    if buffer_size is not None and int(buffer_size) <= 0:
        raise invalid(f"buffer_size should be positive, got {buffer_size}")
    if select_cols is not None and exclude_cols is not None:
        raise invalid("Either select_cols or exclude_cols should be empty, but both are given.")
    selected = None if select_cols is None else _numbers(select_cols, "select_cols")
    excluded = None if exclude_cols is None else _numbers(exclude_cols, "exclude_cols")
    if selected is not None and len(selected) != len(columns):
        raise invalid(
            f"select_cols should match output size: {len(selected)} columns for {len(columns)} record defaults"
        )
    missing = text_of(na_value).encode()
    kind = text_of(compression_type)
    if kind not in ("", "GZIP", "ZLIB"):
        raise invalid(f"Unsupported compression_type: {kind}.")
    quotes, skip = bool(use_quote_delim), bool(header)
    parse = _Parser(columns, selected, excluded, missing)

    def start():
        return _Csv(parts_of(names).start(), kind, delimiter, quotes, skip, parse)

    return build(("CSV", start, tuple(TensorSpec([], dtype) for dtype, _ in columns)), names)


def _columns(attrs, given):
    """The arguments of a node. A default without elements only tells the dtype."""
    defaults = given["record_defaults"]
    defaults = defaults if isinstance(defaults, tuple) else (defaults,)
    numbers = {key: given[key].numpy().tolist() or None for key in ("select_cols", "exclude_cols") if key in given}
    return {**given, **numbers, "record_defaults": [x if x.shape.num_elements() else x.dtype for x in defaults]}


_INPUTS = (
    "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, "
    "use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: output_types"
)
csv_records.node(
    "CSVDataset", f"{_INPUTS} -> handle: variant", ELEMENTS, stateful=True, touches="files", reads=_columns,
    written=False,
).also("ExperimentalCSVDataset")  # fmt: skip
csv_records.node(
    "CSVDatasetV2", f"{_INPUTS}, exclude_cols: int64 -> handle: variant", ELEMENTS, stateful=True, touches="files",
    reads=_columns, written=False,
)  # fmt: skip


def _numbers(given: Sequence[int], name: str):
    found = [int(n) for n in np.asarray(given.numpy() if hasattr(given, "numpy") else given).reshape(-1)]
    if any(b <= a for a, b in itertools.pairwise(found)):
        raise invalid(f"{name} should be strictly increasing indices, got {found}")
    if found and found[0] < 0:
        raise invalid(f"{name} should be non-negative indices, got {found}")
    return found


class _Parser:
    """Fields of a record to tensors."""

    def __init__(
        self, columns: Sequence[Any], selected: Sequence[int] | None, excluded: Sequence[int] | None, missing: bytes
    ):
        self._columns = columns
        self._selected = selected
        self._excluded = set(excluded or ())
        self._missing = missing

    def __call__(self, fields: Sequence[bytes]):
        wanted = len(self._columns)
        if self._selected is not None:
            found = [fields[i] for i in self._selected if i < len(fields)]
        else:
            found = [f for i, f in enumerate(fields) if i not in self._excluded]
            if len(found) > wanted:
                raise invalid(f"Expect {wanted} fields but have more in record")
        if len(found) < wanted:
            raise invalid(f"Expect {wanted} fields but have {len(found)} in record")
        return tuple(
            [self._value(i, text, *column) for i, (text, column) in enumerate(zip(found, self._columns))]
        )

    def _value(self, number, text, dtype: DType, default: TensorLike | None):
        if not text or text == self._missing:
            if default is None:
                raise invalid(f"Field {number} is required but missing in record!")
            return convert_to_tensor(default, dtype)
        if dtype == dtypes.string:
            return convert_to_tensor(text, dtype)
        try:
            if b"_" in text:
                raise ValueError
            value = int(text) if dtype.is_integer else float(text)
            return convert_to_tensor(dtype.as_numpy_dtype(value), dtype)
        except (ValueError, OverflowError):
            shown = _SHOWN.get(dtype.name, dtype.name)
            text = text.decode("utf-8", "replace")
            raise invalid(f"Field {number} in record is not a valid {shown}: {text}") from None


class _Csv(Over):
    """The records of one file after another. After a bad one the pass goes on with the next."""

    __slots__ = ("_args", "_count", "_header", "_name", "_parse", "_rows")

    def __init__(self, names: RowPass, compression: str, delimiter: bytes, quotes: bool, header: bool, parse):
        super().__init__(names)
        self._args = compression, delimiter, quotes
        self._header = header
        self._parse = parse
        self._rows = None
        self._name = None
        self._count = 0

    def __next__(self):
        while True:
            if self._rows is None:
                self._name = next(self._input)
                self._open()
            self._count += 1
            try:
                row = next(self._rows)
            except StopIteration:
                self._rows = None
                continue
            if isinstance(row, Exception):
                raise row
            return self._parse(row)

    def _open(self):
        path = self._name.numpy().decode()
        self._count = 0
        self._rows = rows_of(path, *self._args)
        if self._header and next(self._rows, None) is None:
            self._rows = None
            raise invalid(f"Can't read header of file {path}")

    def save(self):
        return [self._input.save(), None if self._rows is None else [self._name, self._count]]

    def restore(self, state):
        inner, current = state
        self._input.restore(inner)
        self._rows = None
        if current is not None:
            self._name = current[0]
            self._open()
            for _ in range(current[1]):
                next(self._rows, None)
            self._count = current[1]


def rows_of(path: str, compression: str, delimiter: bytes, quotes: bool):
    """The fields of each record of a file; an exception, not raised, in the place of a damaged record."""
    with opened(path, compression) as file:
        left, over = b"", False
        while not over or left:
            if not over:
                # As much again as there is: a long record is not searched for its end too often.
                block = file.read(max(_BLOCK, len(left)))
                over = not block
                left += block
                if compression:
                    file.check(len(left))
            at = 0
            while at < len(left):
                fields, end = _record(left, at, delimiter, quotes, over)
                if fields is None:
                    break  # its end has not been read
                yield fields
                at = end
            left = left[at:]


def _record(data: bytes, at: int, delimiter: bytes, quotes: bool, over: bool):
    """The fields of the record at `at` (or an exception), and where the next begins; (None, at) if it is cut off."""
    fields = []
    size = len(data)
    plain = not quotes
    if plain or b'"' not in data[at : _line_end(data, at, over)]:
        # Without quotes a record is a line: the common case.
        end = _line_end(data, at, over)
        if end < 0 or (end == size and not over):
            return None, at
        line = data[at:end]
        after = end + 2 if data[end : end + 2] == b"\r\n" else end + 1
        if data[end : end + 1] == b"\r" and end + 1 == size and not over:
            return None, at
        return line.split(delimiter), min(after, size)
    error = None
    while True:
        if data[at : at + 1] == b'"':
            text, at, ok = _quoted(data, at + 1)
            if not ok:
                if not over:
                    return None, at
                return invalid("Reached end of file without closing quoted field in record"), size
            if at >= size and not over:
                return None, at
            if at < size and data[at : at + 1] not in (delimiter, b"\n", b"\r"):
                error = error or invalid("Quote inside a string has to be escaped by another quote")
                text, at = _unquoted(data, at, delimiter)
        else:
            start = at
            text, at = _unquoted(data, at, delimiter)
            if b'"' in data[start:at]:
                error = error or invalid("Unquoted fields cannot have quotes inside")
        fields.append(text)
        if at >= size:
            return (None, at) if not over else (error or fields, size)
        mark = data[at : at + 1]
        at += 1
        if mark == b"\r":
            if at >= size and not over:
                return None, at
            if data[at : at + 1] == b"\n":
                at += 1
        if mark != delimiter:
            return error or fields, at
        if at >= size:
            if not over:
                return None, at
            fields.append(b"")
            return error or fields, size


def _line_end(data: bytes, at: int, over: bool):
    end = data.find(b"\n", at)
    back = data.find(b"\r", at, end if end >= 0 else len(data))
    if back >= 0:
        return back
    return end if end >= 0 else len(data)


def _quoted(data: bytes, at: int):
    """The text of a quoted field, where it ends, and whether it does."""
    parts = []
    while True:
        end = data.find(b'"', at)
        if end < 0:
            return b"", at, False
        parts.append(data[at:end])
        if data[end + 1 : end + 2] != b'"':
            return b"".join(parts), end + 1, True
        parts.append(b'"')
        at = end + 2


def _unquoted(data: bytes, at: int, delimiter: bytes):
    ends = [n for n in (data.find(mark, at) for mark in (delimiter, b"\n", b"\r")) if n >= 0]
    end = min(ends, default=len(data))
    return data[at:end], end


boundaries(globals())
