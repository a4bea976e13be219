"""Comma-separated values (RFC 4180): lines of text to columns of tensors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import public, tensor_function
from tapeflow.ops import shapes
from tapeflow.ops.signature import integer
from tapeflow.ops.string.rows import attr_bytes, texts
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


@lru_cache(maxsize=2048)
def _split(record: bytes, delimiter: bytes, quotes: bool, selected: int) -> tuple[bytes, ...]:
    """The fields of a record, up to that of number `selected` (-1: all)."""
    out: list[bytes] = []
    at, size = 0, len(record)
    while True:
        while record[at : at + 1] in (b"\n", b"\r"):
            at += 1
        if at >= size:
            return (*out, b"") if record.endswith(delimiter) else tuple(out)
        if quotes and record[at : at + 1] == b'"':
            field, at = _quoted(record, at + 1, delimiter)
        else:
            end = record.find(delimiter, at)
            end = size if end < 0 else end
            field, at = record[at:end], end
            if b"\n" in field or b"\r" in field or (quotes and b'"' in field):
                raise invalid("Unquoted fields cannot have quotes/CRLFs inside")
        out.append(field)
        at += 1
        if len(out) > selected >= 0:
            return tuple(out)


def _quoted(record: bytes, at: int, delimiter: bytes) -> tuple[bytes, int]:
    parts = []
    while True:
        end = record.find(b'"', at)
        if end < 0:
            raise invalid("Quoted field has to end with quote followed by delim or end")
        parts.append(record[at:end])
        if record[end + 1 : end + 2] != b'"':
            at = end + 1
            if at < len(record) and record[at : at + 1] != delimiter:
                raise invalid("Quoted field has to end with quote followed by delim or end")
            return b"".join(parts), at
        parts.append(b'"')
        at = end + 2


def _number(field: bytes, kind: str, column: int, row: int):
    try:
        text = field.strip().decode()
        if "_" in text:
            raise ValueError
        if kind.startswith("int"):
            value = int(text)
            if value not in range(-(2 ** (int(kind[3:]) - 1)), 2 ** (int(kind[3:]) - 1)):
                raise ValueError
            return value
        return float(text)
    except ValueError:
        shown = field.decode("utf-8", "replace")
        raise invalid(f"Field {column} in record {row} is not a valid {kind}: {shown}") from None


@op("DecodeCSVColumn", "records: string, record_default: T -> output: T", types={"T": _TYPES},
    attrs={"column": integer, "columns": integer, "field": integer, "selecting": False, "field_delim": ",",
           "use_quote_delim": True, "na_value": ""},
    shape=shapes.same_as_first, composed_in="records")  # fmt: skip
def DecodeCSVColumn(
    xp: ModuleType, records: Array, record_default: Array, column: int, columns: int, field: int,
    selecting: bool, field_delim: str, use_quote_delim: bool, na_value: str,
):
    """One column of DecodeCSV, of which the outputs have different dtypes."""
    delimiter, missing = attr_bytes(field_delim), attr_bytes(na_value)
    if len(delimiter) != 1:
        raise invalid(f"field_delim should be only 1 char, got {field_delim!r}")
    if record_default.ndim > 1:
        raise invalid("Each record default should be at most rank 1")
    if record_default.size > 1:
        raise invalid(
            f"There should only be 1 default per field but field {column} has {record_default.size}"
        )
    is_text = record_default.dtype == object
    kind = "string" if is_text else dtypes.as_dtype(record_default.dtype).name
    shown = {"float32": "float", "float64": "double"}.get(kind, kind)
    default = record_default.ravel()[0] if record_default.size else None
    out = np.empty(records.shape, record_default.dtype)
    flat = out.reshape(-1)
    for i, record in enumerate(records.ravel().tolist()):
        found = _split(record, delimiter, use_quote_delim, field if selecting else -1)
        if selecting:
            if field >= len(found):
                # Columns are selected in ascending order, so those before this one were there.
                raise invalid(f"Expect {columns} fields but have {column} in record {i}")
        elif len(found) != columns:
            raise invalid(f"Expect {columns} fields but have {len(found)} in record {i}")
        text = found[field]
        if text in (b"", missing):
            if default is None:
                raise invalid(f"Field {column} is required but missing in record {i}!")
            flat[i] = default
        else:
            flat[i] = text if is_text else _parsed(text, kind, shown, column, i)
    return out


def _parsed(text: bytes, kind: str, shown: str, column: int, row: int):
    try:
        return _number(text, kind, column, row)
    except InvalidArgumentError as error:
        raise invalid(error.message.replace(f"valid {kind}", f"valid {shown}")) from None


DecodeCSVColumn.gradient(None)


@DecodeCSVColumn.samples
def _(rng: SampleGenerator):
    lines, one = texts("1,a", '22,"b""c"'), np.array([], np.int32)
    yield Sample(lines, one, column=0, columns=2, field=0, expect=np.array([1, 22], np.int32))
    yield Sample(lines, texts(""), column=1, columns=2, field=1, expect=texts("a", 'b"c'))
    yield Sample(texts(",2"), one + 0, column=0, columns=2, field=0, raises=InvalidArgumentError)
    yield Sample(texts("1,2,3"), one, column=0, columns=2, field=0, raises=InvalidArgumentError)
    yield Sample(texts("x,2"), one, column=0, columns=2, field=0, raises=InvalidArgumentError)
    yield Sample(texts('"x,2'), one, column=0, columns=2, field=0, raises=InvalidArgumentError)
    for text in ("a\n", 'a\nb', '"a"\nb', '"a"\n', "", "\n"):
        yield Sample(texts(text), texts("d"), column=0, columns=1, field=0, raises=InvalidArgumentError)
    lines_between = texts("\na,\r\nb,", '"a",\n"b",')
    yield Sample(lines_between, texts("d"), column=1, columns=3, field=1, expect=texts("b", "b"))
    yield Sample(lines_between, texts("d"), column=2, columns=3, field=2, expect=texts("d", "d"))
    yield Sample(texts('a,"'), texts("d"), column=0, columns=1, field=0, selecting=True, expect=texts("a"))
    yield Sample(lines, np.ones((2, 2)), column=0, columns=2, field=0, raises=InvalidArgumentError)
    yield Sample(
        lines, one, column=0, columns=2, field=0, field_delim="||", raises=InvalidArgumentError
    )


def _decoded(
    records: Any, defaults: Sequence[Any], delimiter: str, quotes: bool, missing: str, selected: Sequence[int] | None
):
    columns = []
    if selected is not None:
        selected = list(selected)
        if any(a >= b for a, b in itertools.pairwise(selected)):
            raise ValueError("select_cols is not strictly increasing.")
        if any(c < 0 for c in selected):
            raise ValueError("select_cols contains negative values.")
        if selected and len(selected) != len(defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    records = convert_to_tensor(records, dtypes.string)
    for i, default in enumerate(defaults):
        default = convert_to_tensor(default)
        rank = default.shape.rank
        if rank is not None and rank > 1 and context.current_graph() is not None:
            raise ValueError(f"Shape must be at most rank 1 but is rank {rank}")
        if default.dtype not in _TYPES:
            raise TypeError(f"record_defaults[{i}] cannot have the dtype {default.dtype.name}")
        place = selected[i] if selected else i
        columns.append(
            DecodeCSVColumn(
                records,
                default,
                column=i,
                columns=len(defaults),
                field=place,
                selecting=bool(selected),
                field_delim=delimiter,
                use_quote_delim=quotes,
                na_value=missing,
            )
        )
    return columns


@api(v2="io.decode_csv")
@public
def decode_csv(
    records: TensorLike, record_defaults: Sequence[Any], field_delim: str = ",", use_quote_delim: bool = True,
    na_value: str = "", select_cols: Sequence[int] | None = None, name: str | None = None,
):
    """Read lines of comma-separated values.

    Args:
      records: lines, a string tensor.
      record_defaults: for each column what stands for a missing field, an empty tensor where none may be missing;
        its dtype is that of the column.
      field_delim: the character between fields.
      use_quote_delim: whether double quotes enclose fields in which that character may stand.
      na_value: a text that also stands for a missing field.
      select_cols: the numbers of the columns that are wanted, ascending; None: all.
      name: a name for the operation (optional).

    Returns:
      A list of tensors of the shape of `records`, one for each column.

    Raises:
      InvalidArgumentError: for a line with another number of fields, and for a field that is no number.

    >>> [column.numpy().tolist() for column in tf.io.decode_csv(["1,a", "2,b"], [[0], [""]])]
    [[1, 2], [b'a', b'b']]
    """
    return _decoded(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols)


@api(v1=("io.decode_csv", "decode_csv"))
@tensor_function
def decode_csv_v1(
    records, record_defaults, field_delim: str = ",", use_quote_delim: bool = True, name: str | None = None,
    na_value: str = "", select_cols=None,
):
    """`decode_csv` with the 1.x order of arguments."""
    return _decoded(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols)
