"""What tables are filled with: tensors, or the lines of a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, public_methods
from tapeflow.ops.lookup.rows import (
    LINE_NUMBER,
    WHOLE_LINE,
    InitializeTableFromTextFileV2,
    InitializeTableV2,
)
from tapeflow.ops.static import static_value

if TYPE_CHECKING:
    from tapeflow.ops.lookup.tables import StaticHashTable

TABLE_INITIALIZERS = "table_initializer"
_numbers: dict[str, int] = {}


def own_name(name: str) -> str:
    count = _numbers.get(name, 0)
    _numbers[name] = count + 1
    return name if not count else f"{name}_{count}"


class TableInitializerBase:
    """What fills a fixed table."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self):
        return self._key_dtype

    @property
    def value_dtype(self):
        return self._value_dtype

    def _check(self, table) -> None:
        if (table.key_dtype, table.value_dtype) != (self._key_dtype, self._value_dtype):
            raise TypeError(
                f"Invalid key or value dtype: the table maps {table.key_dtype.name} to {table.value_dtype.name}, the "
                f"initializer {self._key_dtype.name} to {self._value_dtype.name}"
            )


def _collected(op):
    graph = context.current_graph()
    if graph is not None and op is not None:
        graph.add_to_collection(TABLE_INITIALIZERS, op)
    return op


@api("lookup.KeyValueTensorInitializer")
@public_methods
class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with keys and as many values."""

    def __init__(
        self, keys: TensorLike, values: TensorLike, key_dtype=None, value_dtype=None, name: str | None = None
    ):
        self._keys = convert_to_tensor(keys, key_dtype)
        self._values = convert_to_tensor(values, value_dtype)
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table):
        """Fill `table`. Raises TypeError for another dtype, InvalidArgumentError for a key with two values."""
        self._check(table)
        return _collected(InitializeTableV2(table.resource_handle, self._keys, self._values))


@api("lookup.TextFileIndex")
class TextFileIndex:
    """What of a line is a key or a value, instead of the number of a column."""

    WHOLE_LINE = WHOLE_LINE
    LINE_NUMBER = LINE_NUMBER


@api("lookup.TextFileInitializer")
@public_methods
class TextFileInitializer(TableInitializerBase):
    """Fills a table from the lines of a text file.

    Args:
      key_index, value_index: the number of a column, `TextFileIndex.WHOLE_LINE` or `TextFileIndex.LINE_NUMBER`.
      vocab_size: the number of lines to read, by default all.
      delimiter: what stands between columns.
      value_index_offset: the number of the first line.
    """

    def __init__(
        self, filename: str, key_dtype, key_index: int, value_dtype, value_index: int,
        vocab_size: int | None = None, delimiter: str = "\t", name: str | None = None,
        value_index_offset: int = 0,
    ):
        name_known = filename if not hasattr(filename, "dtype") else static_value(filename)
        if isinstance(name_known, (str, bytes)) and not name_known:
            raise ValueError(f'Filename required for TextFileInitializer "{name}".')
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        for index, what in ((key_index, "key"), (value_index, "value")):
            if index < -2:
                raise ValueError(f"Invalid {what} index {index}.")
        if key_index == LINE_NUMBER and key_dtype != dtypes.int64:
            raise ValueError(
                "Argument `key_dtype` must be tf.int64 if key_index is LINE_NUMBER. "
                f"Received {key_dtype}."
            )
        if key_index == WHOLE_LINE and not (key_dtype.is_integer or key_dtype == dtypes.string):
            raise ValueError(
                "Argument `key_dtype` must be an integer or a string if key_index is "
                f"WHOLE_LINE. Received {key_dtype}."
            )
        if value_index == LINE_NUMBER and value_dtype != dtypes.int64:
            raise ValueError(
                "Argument `value_dtype` must be tf.int64 if value_index is "
                f"LINE_NUMBER. Received {value_dtype}."
            )
        if value_index == WHOLE_LINE and not (
            value_dtype.is_integer or value_dtype == dtypes.string
        ):
            raise ValueError(
                "Argument `value_dtype` must be an integer or a string if value_index "
                f"is WHOLE_LINE. Received {value_dtype}."
            )
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"`vocab_size` should be greater than 0, got {vocab_size}.")
        if isinstance(filename, os.PathLike):
            filename = os.fspath(filename)
        self._filename = filename
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size = -1 if vocab_size is None else vocab_size
        self._delimiter, self._offset = delimiter, value_index_offset
        super().__init__(key_dtype, value_dtype)

    @property
    def _shared_name(self):
        """Tables of one file and the same columns have one name."""
        size = [] if self._vocab_size < 0 else [self._vocab_size]
        parts = [self._filename, *size, self._key_index, self._value_index]
        return "_".join(["hash_table", *(str(p) for p in parts)])

    def initialize(self, table: StaticHashTable):
        """Fill `table`. Raises NotFoundError for no such file, InvalidArgumentError for lines of another form."""
        self._check(table)
        return _collected(self._fill(table, convert_to_tensor(self._filename, dtypes.string)))

    def _fill(self, table: Any, filename: Any):
        """The operation that fills a table from the lines of a file."""
        return InitializeTableFromTextFileV2(
            table.resource_handle, filename, key_index=self._key_index, value_index=self._value_index,
            vocab_size=self._vocab_size, delimiter=self._delimiter, offset=self._offset,
        )  # fmt: skip


boundaries(globals())
