"""Tables of words and their numbers, as programs of 1.x make them."""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import size
from tapeflow.ops.lookup.buckets import (
    FastHashSpec,
    HasherSpec,
    IdTableWithHashBuckets,
    StrongHashSpec,
)
from tapeflow.ops.lookup.growing import DenseHashTable as MutableDenseHashTable
from tapeflow.ops.lookup.growing import MutableHashTable
from tapeflow.ops.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIndex,
    TextFileInitializer,
)
from tapeflow.ops.lookup.tables import StaticHashTable, tables_initializer
from tapeflow.ops.math.casting import cast

__all__ = [
    "FastHashSpec", "HashTable", "HasherSpec", "IdTableWithHashBuckets", "KeyValueTensorInitializer",
    "MutableDenseHashTable", "MutableHashTable", "StrongHashSpec", "TextFileIdTableInitializer", "TextFileIndex",
    "TextFileInitializer", "TextFileStringTableInitializer", "index_table_from_file", "index_table_from_tensor",
    "index_to_string", "index_to_string_table_from_file", "index_to_string_table_from_tensor",
    "string_to_index", "string_to_index_table_from_file", "string_to_index_table_from_tensor",
    "tables_initializer",
]  # fmt: skip


class HashTable(StaticHashTable):
    """A table that is set once, by its initializer."""

    def __init__(self, initializer, default_value, shared_name=None, name: str | None = None):
        super().__init__(initializer, default_value, name=name)

    @property
    def init(self):
        """The operation that fills the table."""
        return getattr(self, "initializer", None)


def TextFileIdTableInitializer(
    filename, key_column_index=TextFileIndex.WHOLE_LINE, value_column_index=TextFileIndex.LINE_NUMBER,
    vocab_size=None, delimiter: str = "\t", name: str = "text_file_id_table_init",
    key_dtype: DTypeLike = dtypes.string,
):  # fmt: skip
    """Words of a file to the numbers of their lines."""
    return TextFileInitializer(
        filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter, name
    )


def TextFileStringTableInitializer(
    filename, key_column_index=TextFileIndex.LINE_NUMBER, value_column_index=TextFileIndex.WHOLE_LINE,
    vocab_size=None, delimiter: str = "\t", name: str = "text_file_string_table_init",
):  # fmt: skip
    """Numbers of lines to the words of a file."""
    return TextFileInitializer(
        filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter,
        name,
    )  # fmt: skip


def _indexed(
    initializer, num_oov_buckets: int, default_value: int, hasher_spec: HasherSpec, key_dtype: DType,
    name: str | None,
):
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if not num_oov_buckets:
        return HashTable(initializer, default_value, name=name)
    table = HashTable(initializer, -1)
    return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, name, key_dtype)


def index_table_from_tensor(
    mapping: Sequence[str], num_oov_buckets: int = 0, default_value: int = -1,
    hasher_spec: HasherSpec = FastHashSpec, dtype: DTypeLike = dtypes.string, name: str | None = None,
):  # fmt: skip
    """A table from the elements of a vector to their places; `hasher_spec` is the hash of all other keys.

    Raises ValueError without a vector, and for one that is not of `dtype`.
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    keys, dtype = convert_to_tensor(mapping), dtypes.as_dtype(dtype)
    if dtype.is_integer != keys.dtype.is_integer:
        wanted = "integer" if dtype.is_integer else "non-integer"
        raise ValueError(f"Invalid `dtype`: Expected {wanted}, got {keys.dtype}.")
    if not dtype.is_integer and keys.dtype != dtype:
        raise ValueError(f"Invalid `dtype`: Expected {dtype}, got {keys.dtype}.")
    if keys.dtype.is_integer:
        keys = cast(keys, dtypes.int64)
    values = range_(cast(size(keys), dtypes.int64))
    made = KeyValueTensorInitializer(keys, values)
    return _indexed(made, num_oov_buckets, default_value, hasher_spec, dtype, name)


def index_table_from_file(
    vocabulary_file=None, num_oov_buckets: int = 0, vocab_size=None, default_value=-1,
    hasher_spec=FastHashSpec, key_dtype: DTypeLike = dtypes.string, name: str | None = None,
    key_column_index=TextFileIndex.WHOLE_LINE, value_column_index=TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
):  # fmt: skip
    """A table from the words of a file to the numbers of their lines; `hasher_spec` is the hash of all others.

    Raises ValueError without a file, TypeError for keys that are neither whole numbers nor strings.
    """
    if not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    key_dtype = dtypes.as_dtype(key_dtype)
    if not key_dtype.is_integer and key_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")
    kept = dtypes.int64 if key_dtype.is_integer else key_dtype
    made = TextFileInitializer(
        vocabulary_file, kept, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter
    )
    return _indexed(made, num_oov_buckets, default_value, hasher_spec, key_dtype, name)


def index_to_string_table_from_tensor(mapping, default_value: str = "UNK", name: str | None = None):
    """A table from places to the elements of a vector. Raises ValueError without one."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    values = convert_to_tensor(mapping)
    keys = range_(cast(size(values), dtypes.int64))
    return HashTable(KeyValueTensorInitializer(keys, values), default_value, name=name)


def index_to_string_table_from_file(
    vocabulary_file, vocab_size=None, default_value: str = "UNK", name: str | None = None,
    key_column_index=TextFileIndex.LINE_NUMBER, value_column_index=TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
):  # fmt: skip
    """A table from the numbers of lines to the words of a file. Raises ValueError without a file."""
    if not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    made = TextFileInitializer(
        vocabulary_file, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter
    )
    return HashTable(made, default_value, name=name)


string_to_index_table_from_file = index_table_from_file


def string_to_index_table_from_tensor(
    mapping, num_oov_buckets: int = 0, default_value=-1, hasher_spec=FastHashSpec, name: str | None = None
):
    """`index_table_from_tensor` of strings."""
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=name)


def string_to_index(tensor, mapping, default_value=-1, name: str | None = None):
    """The places of strings in a vector."""
    return index_table_from_tensor(mapping, default_value=default_value).lookup(tensor, name=name)


def index_to_string(tensor, mapping, default_value: str = "UNK", name: str | None = None):
    """The elements of a vector at places."""
    return index_to_string_table_from_tensor(mapping, default_value).lookup(tensor, name=name)
