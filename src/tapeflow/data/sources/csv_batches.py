"""`make_csv_dataset`: batches of CSV files as dicts of columns, with names and types found in the files."""

from __future__ import annotations

import csv
import io
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import boundaries
from tapeflow.data.dataset import AUTOTUNE, Dataset
from tapeflow.data.sources.csv_reading import CsvDataset
from tapeflow.data.sources.feature_batches import filenames_of, shuffled_and_repeated
from tapeflow.data.sources.records import opened, text_of

_LADDER = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)
_ROWS = 100  # that are looked at for types


def make_csv_dataset(
    file_pattern: str, batch_size: int, column_names: Sequence[str] | None = None, column_defaults=None,
    label_name: str | None = None, select_columns: Sequence[str] | None = None, field_delim: str = ",",
    use_quote_delim: bool = True, na_value: str = "", header: bool = True, num_epochs: int | None = None,
    shuffle: bool = True, shuffle_buffer_size: int = 10000, shuffle_seed=None, prefetch_buffer_size=None,
    num_parallel_reads: int | None = None, sloppy: bool = False, num_rows_for_inference: int = _ROWS,
    compression_type: str | None = None, ignore_errors: bool = False, encoding: str = "utf-8",
):
    """Make batches of the rows of CSV files.

    Args:
      file_pattern: a glob pattern, or several.
      batch_size: how many rows a batch has.
      column_names: the names of the columns; None for those of the first line.
      column_defaults: as `CsvDataset`'s record_defaults; None for what the first rows suggest, 0 or "" where empty.
      label_name: the column that is given apart from the others; None for none.
      select_columns: names or numbers of the columns that are wanted; None for all.
      field_delim: what separates fields, one character.
      use_quote_delim: whether fields may be in double quotes.
      na_value: a text that counts as empty, too.
      header: whether the files' first lines are names.
      num_epochs: the number of passes; None for without end.
      shuffle: whether examples are shuffled.
      shuffle_buffer_size: how many elements the buffer of the shuffle holds.
      shuffle_seed: an integer for the same order in every run; None for others.
      prefetch_buffer_size: how many batches are made ahead; None for as many as are useful.
      num_parallel_reads: how many files are read at once; None for one.
      sloppy: whether the order may depend on timing.
      num_rows_for_inference: how many rows of each file suggest the dtypes; None for all.
      compression_type: "" (or None), "ZLIB" or "GZIP".
      ignore_errors: whether rows that are not as promised are left out.
      encoding: the encoding of the first lines.

    Returns:
      A dataset of dicts of columns by name, or of (dict, label) pairs.

    Raises:
      ValueError: for columns that are not there, are there twice, or whose names differ from file to file.
    """
    names = filenames_of(file_pattern)
    reader = _Files(names, text_of(compression_type), field_delim, use_quote_delim, encoding)
    column_names = reader.column_names(header) if column_names is None else list(column_names)
    selected = None if select_columns is None else _numbers(select_columns, column_names)
    _check_columns(column_names, column_defaults, selected)
    wanted = range(len(column_names)) if selected is None else selected
    if column_defaults is None:
        column_defaults = reader.defaults(len(column_names), wanted, text_of(na_value), header, num_rows_for_inference)
    column_names = [column_names[i] for i in wanted]
    if label_name is not None and label_name not in column_names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def open_one(name: Tensor):
        found = CsvDataset(name, column_defaults, compression_type, None, header, field_delim, use_quote_delim,
                           na_value, selected)  # fmt: skip
        return found.ignore_errors() if ignore_errors else found

    files = Dataset.from_tensor_slices(names)
    files = files.shuffle(len(names), shuffle_seed) if shuffle else files
    cycle = None if num_parallel_reads == AUTOTUNE else num_parallel_reads or 1
    dataset = files.interleave(open_one, cycle, num_parallel_calls=cycle or AUTOTUNE, deterministic=not sloppy)
    dataset = shuffled_and_repeated(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    # Batches first: they are mapped at the cost of one row. Without an end all of them are whole.
    batches = dataset.batch(batch_size, drop_remainder=num_epochs is None)
    dataset = batches.map(partial(_with_names, column_names, label_name))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def _with_names(names: Sequence[str], label_name: str | None, *columns):
    features = OrderedDict(zip(names, columns))
    return features if label_name is None else (features, features.pop(label_name))


def _check_columns(names: Sequence[str], defaults, selected: Sequence[int] | None):
    if len(names) != len(set(names)):
        raise ValueError(f"Cannot have duplicate column names, got {names}.")
    if defaults is not None and selected is not None and len(defaults) != len(selected):
        raise ValueError("If specified, column_defaults and select_columns must have same length.")


def _numbers(select_columns: Sequence[str], column_names: Sequence[str]):
    """The numbers of columns, sorted."""
    found = []
    for column in select_columns:
        if isinstance(column, int):
            if not 0 <= column < len(column_names):
                raise ValueError(
                    f"Column index {column} specified in select_columns out of valid range."
                )
            found.append(column)
        elif column in column_names:
            found.append(column_names.index(column))
        else:
            raise ValueError(
                f"Value '{column}' specified in select_columns not a valid column index or name."
            )
    if len(set(found)) != len(found):
        raise ValueError("select_columns contains duplicate columns")
    return sorted(found)


class _Files:
    """What CSV files say about their columns."""

    def __init__(self, names: Sequence[bytes], compression: str, delimiter: str, quotes: bool, encoding: str):
        self._names = names
        self._compression = compression
        self._encoding = encoding
        self._style = {
            "delimiter": delimiter,
            "quoting": csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE,
        }

    def _rows(self, name):
        if self._compression not in ("", "GZIP"):
            raise ValueError(
                f"compression_type ({self._compression}) is not supported for probing columns"
            )
        raw = opened(name, self._compression)
        whole = io.BufferedReader(raw) if self._compression else raw
        with io.TextIOWrapper(whole, self._encoding, newline="") as file:
            yield from csv.reader(file, **self._style)

    def _first(self, name):
        row = next(self._rows(name), None)
        if row is None:
            raise ValueError(f"Failed when reading header line of {name}. Is it an empty file?")
        return row

    def column_names(self, header: bool):
        """Those of the first line of all files; `header`: whether they have such a line."""
        if not header:
            raise ValueError("Expected `column_names` or `header` argument. Neither is provided.")
        found = self._first(self._names[0])
        for name in self._names[1:]:
            if self._first(name) != found:
                raise ValueError("All input CSV files must have the same column names in the header row.")
        return found

    def defaults(self, count: int, wanted: Any, missing: str, header: bool, limit: int):
        """0 or "" of the narrowest type that holds what the first rows have in each column."""
        kinds = [None] * len(wanted)
        seen = 0
        for name in self._names:
            rows = self._rows(name)
            if header:
                next(rows, None)
            for row in rows:
                if limit is not None and seen >= limit:
                    break
                seen += 1
                if len(row) != count:
                    raise ValueError(
                        f"Problem inferring types: CSV row {row} has {len(row)} number of fields. Expected: {count}."
                    )
                for i, column in enumerate(wanted):
                    kinds[i] = _widened(kinds[i], row[column], missing)
        found = [kind or dtypes.string for kind in kinds]
        return [convert_to_tensor([b"" if kind == dtypes.string else 0], kind) for kind in found]


def _widened(kind: DType | None, text: str, missing: str):
    """The narrowest type of the ladder, no narrower than `kind`, that holds a text."""
    if text in ("", missing):
        return kind
    start = 0 if kind is None else _LADDER.index(kind)
    return next(step for step in _LADDER[start:] if _holds(step, text))


def _holds(dtype: DType, text: str):
    if dtype == dtypes.string:
        return True
    try:
        if dtype.is_integer:
            limits = np.iinfo(dtype.as_numpy_dtype)
            return limits.min <= int(text) <= limits.max
        return float(text) <= np.finfo(dtype.as_numpy_dtype).max
    except ValueError:
        return False


boundaries(globals())
