"""`tf.contrib.lookup`: tables under the names of before."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array import size
from tapeflow.ops.casting import cast
from tapeflow.ops.construction import range as range_
from tapeflow.ops.lookup import (
    DenseHashTable as MutableDenseHashTable,
)
from tapeflow.ops.lookup import (
    KeyValueTensorInitializer,
    MutableHashTable,
    StaticHashTable,
    StaticVocabularyTable,
    TextFileIndex,
    TextFileInitializer,
    tables_initializer,
)

__all__ = [
    "HashTable", "IdTableWithHashBuckets", "KeyValueTensorInitializer", "MutableDenseHashTable",
    "MutableHashTable", "TextFileIdTableInitializer", "TextFileIndex", "TextFileInitializer",
    "TextFileStringTableInitializer", "index_table_from_file", "index_table_from_tensor",
    "index_to_string", "index_to_string_table_from_file", "index_to_string_table_from_tensor",
    "string_to_index", "string_to_index_table_from_file", "string_to_index_table_from_tensor",
    "tables_initializer",
]  # fmt: skip


class HashTable(StaticHashTable):
    """A table that is set once, by its initializer."""

    def __init__(self, initializer, default_value, shared_name=None, name=None):
        super().__init__(initializer, default_value, name=name)

    @property
    def init(self):
        """The operation that fills the table."""
        return getattr(self, "initializer", None)


class IdTableWithHashBuckets(StaticVocabularyTable):
    """Keys that the table lacks go to buckets by their hash."""

    def __init__(self, table, num_oov_buckets, hasher_spec=None, name=None, key_dtype=None):
        super().__init__(getattr(table, "_initializer", table), num_oov_buckets, name=name)


def TextFileIdTableInitializer(
    filename, key_column_index=TextFileIndex.WHOLE_LINE, value_column_index=TextFileIndex.LINE_NUMBER,
    vocab_size=None, delimiter="\t", name="text_file_id_table_init", key_dtype=dtypes.string,
):  # fmt: skip
    """Words of a file to the numbers of their lines."""
    return TextFileInitializer(
        filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter, name
    )


def TextFileStringTableInitializer(
    filename, key_column_index=TextFileIndex.LINE_NUMBER, value_column_index=TextFileIndex.WHOLE_LINE,
    vocab_size=None, delimiter="\t", name="text_file_string_table_init",
):  # fmt: skip
    """Numbers of lines to the words of a file."""
    return TextFileInitializer(
        filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter,
        name,
    )  # fmt: skip


def _indexed(initializer, num_oov_buckets, default_value, name):
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, name=name)
    return HashTable(initializer, default_value, name=name)


def index_table_from_tensor(
    mapping, num_oov_buckets=0, default_value=-1, hasher_spec=None, dtype=dtypes.string, name=None
):  # fmt: skip
    """A table from the elements of a vector to their places. Raises ValueError without one."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    keys = convert_to_tensor(mapping)
    if keys.dtype.is_integer:
        keys = cast(keys, dtypes.int64)
    values = range_(cast(size(keys), dtypes.int64))
    return _indexed(KeyValueTensorInitializer(keys, values), num_oov_buckets, default_value, name)


def index_table_from_file(
    vocabulary_file=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=None,
    key_dtype=dtypes.string, name=None, key_column_index=TextFileIndex.WHOLE_LINE,
    value_column_index=TextFileIndex.LINE_NUMBER, delimiter="\t",
):  # fmt: skip
    """A table from the words of a file to the numbers of their lines. Raises ValueError without a file."""
    if not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    made = TextFileInitializer(
        vocabulary_file, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter
    )
    return _indexed(made, num_oov_buckets, default_value, name)


def index_to_string_table_from_tensor(mapping, default_value="UNK", name=None):
    """A table from places to the elements of a vector. Raises ValueError without one."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    values = convert_to_tensor(mapping)
    keys = range_(cast(size(values), dtypes.int64))
    return HashTable(KeyValueTensorInitializer(keys, values), default_value, name=name)


def index_to_string_table_from_file(
    vocabulary_file, vocab_size=None, default_value="UNK", name=None, key_column_index=TextFileIndex.LINE_NUMBER,
    value_column_index=TextFileIndex.WHOLE_LINE, delimiter="\t",
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
    mapping, num_oov_buckets=0, default_value=-1, hasher_spec=None, name=None
):
    """`index_table_from_tensor` of strings."""
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, name=name)


def string_to_index(tensor, mapping, default_value=-1, name=None):
    """The places of strings in a vector."""
    return index_table_from_tensor(mapping, default_value=default_value).lookup(tensor, name=name)


def index_to_string(tensor, mapping, default_value="UNK", name=None):
    """The elements of a vector at places."""
    return index_to_string_table_from_tensor(mapping, default_value).lookup(tensor, name=name)
