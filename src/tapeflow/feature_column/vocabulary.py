"""`tf.feature_column.categorical_column_with_vocabulary_list` and `..._file`: ids that are places in a list."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence

import numpy as np

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.context import init_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.files.file_system import GFile, exists
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.feature_column import checks
from tapeflow.feature_column.column import CategoricalColumn
from tapeflow.feature_column.sparse_input import as_ids
from tapeflow.ops.io.example_features import VarLenFeature
from tapeflow.ops.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIndex,
    TextFileInitializer,
)
from tapeflow.ops.lookup.tables import StaticHashTable, StaticVocabularyTable
from tapeflow.ops.math.casting import cast
from tapeflow.ops.string.numbers import to_number


class _VocabularyColumn(CategoricalColumn):
    """What the two have in common."""

    @property
    def name(self):
        return self.key

    @property
    def parse_example_spec(self):
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def parents(self):
        return [self.key]

    def transform_feature(self, transformation_cache, state_manager):
        found = as_ids(transformation_cache.get(self.key, state_manager))
        checks.require_same_kind(self.key, self.dtype, found.dtype)
        checks.require_string_or_int(found.dtype, f"column_name: {self.key} input_tensor")
        kind = self.dtype
        if found.dtype.is_integer:
            kind = dtypes.int64
            found = SparseTensor(found.indices, cast(found.values, kind), found.dense_shape)
        return self._table(kind, state_manager).lookup(found)

    def _table(self, kind, state_manager):
        name = f"{self.key}_lookup"
        if state_manager is not None and state_manager.has_resource(self, name):
            return state_manager.get_resource(self, name)
        # A table outlives the function that is being traced.
        with init_scope():
            table = self._make_table(kind, name)
        if state_manager is not None:
            state_manager.add_resource(self, name, table)
        return table

    def _make_table(self, kind, name: str):
        raise NotImplementedError

    def _indexed(self, initializer, kind, name):
        if self.num_oov_buckets:
            return StaticVocabularyTable(initializer, self.num_oov_buckets, kind, name)
        return StaticHashTable(initializer, self.default_value, name)


class VocabularyFileCategoricalColumn(
    _VocabularyColumn,
    namedtuple(
        "VocabularyFileCategoricalColumn",
        ("key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value", "file_format"),
    ),
):
    """See `categorical_column_with_vocabulary_file`."""

    def __new__(
        cls, key: str, vocabulary_file: str, vocabulary_size: TensorLike, num_oov_buckets: int,
        dtype: DTypeLike, default_value: int, file_format: str | None = None,
    ):
        return super().__new__(
            cls, key, vocabulary_file, vocabulary_size, num_oov_buckets, dtype, default_value, file_format
        )

    @property
    def num_buckets(self):
        return self.vocabulary_size + self.num_oov_buckets

    def _make_table(self, kind: DType, name: str):
        if self.file_format == "tfrecord_gzip":
            from tapeflow.data.sources.tables import index_table_from_dataset

            words = _records(self.vocabulary_file)
            if kind != dtypes.string:
                words = words.map(lambda word: to_number(word, kind))
            return index_table_from_dataset(
                words, self.num_oov_buckets, self.vocabulary_size, self.default_value, key_dtype=kind, name=name
            )
        initializer = TextFileInitializer(
            self.vocabulary_file, kind, TextFileIndex.WHOLE_LINE, dtypes.int64, TextFileIndex.LINE_NUMBER,
            self.vocabulary_size,
        )  # fmt: skip
        return self._indexed(initializer, kind, name)


class VocabularyListCategoricalColumn(
    _VocabularyColumn,
    namedtuple(
        "VocabularyListCategoricalColumn",
        ("key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets"),
    ),
):
    """See `categorical_column_with_vocabulary_list`."""

    @property
    def num_buckets(self):
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _make_table(self, kind: DType, name: str):
        words = convert_to_tensor(list(self.vocabulary_list), kind if kind.is_integer else None)
        places = np.arange(len(self.vocabulary_list), dtype=np.int64)
        return self._indexed(KeyValueTensorInitializer(words, places, kind, dtypes.int64), kind, name)


def _require_one_default(key: str, num_oov_buckets: int, default_given: bool):
    if not num_oov_buckets:
        return
    if default_given:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def _records(path: str):
    from tapeflow.data.sources.records import TFRecordDataset

    return TFRecordDataset(path, compression_type="GZIP")


def _size_of(path: str, file_format: str | None, key: str):
    if not exists(path):
        raise ValueError(f"vocabulary_file in {key} does not exist.")
    if file_format == "tfrecord_gzip":
        size = _records(path).reduce(0, lambda count, _: count + 1)
        return size.numpy() if context.executing_eagerly() else size
    with GFile(path, "rb") as file:
        return sum(1 for _ in file)


@public
def categorical_column_with_vocabulary_file(
    key, vocabulary_file: str, vocabulary_size: int | None = None, dtype: DTypeLike = dtypes.string,
    default_value=None, num_oov_buckets: int = 0, file_format=None,
):
    """Make a column of strings or integers, whose ids are the numbers of their lines in a file.

    Args:
      key: the name of the feature.
      vocabulary_file: the file.
      vocabulary_size: how many lines count; None for all.
      dtype: the dtype of the feature, string or an integer.
      default_value: the id of values that are not among them; -1 for none.
      num_oov_buckets: into how many ids behind the others such values are hashed, instead.
      file_format: None for lines, "tfrecord_gzip" for records.

    Returns:
      A column.

    Raises:
      ValueError: for wrong arguments.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if file_format is None and vocabulary_file.endswith("tfrecord.gz"):
        file_format = "tfrecord_gzip"
    if vocabulary_size is None:
        vocabulary_size = _size_of(vocabulary_file, file_format, key)
    if not hasattr(vocabulary_size, "graph") and vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _require_one_default(key, num_oov_buckets, default_value is not None)
    checks.require_string_or_int(dtype, f"column_name: {key}")
    checks.require_key(key)
    return VocabularyFileCategoricalColumn(
        key, vocabulary_file, vocabulary_size, num_oov_buckets or 0, dtype,
        -1 if default_value is None else default_value, file_format,
    )  # fmt: skip


@public
def categorical_column_with_vocabulary_file_v1(
    key: TensorLike, vocabulary_file, vocabulary_size=None, num_oov_buckets: int = 0, default_value=None,
    dtype: DTypeLike = dtypes.string,
):
    """`categorical_column_with_vocabulary_file` with the arguments of 1.x.

    Args:
      key: the name of the feature.
      vocabulary_file: the path of a file with one word a line.
      vocabulary_size: how many lines count; None: all.
      num_oov_buckets: how many numbers other words get, by their hash.
      default_value: the number of other words; None: -1.
      dtype: of the words, a string or integer dtype.
    """
    return categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
    )


@public
def categorical_column_with_vocabulary_list(
    key, vocabulary_list: Sequence[float | str], dtype=None, default_value: int = -1, num_oov_buckets: int = 0
):
    """Make a column of strings or integers, whose ids are their places in a list.

    Args:
      key: the name of the feature.
      vocabulary_list: the values, each once.
      dtype: the dtype of the feature; None for that of the list.
      default_value: the id of values that are not among them; -1 for none.
      num_oov_buckets: into how many ids behind the others such values are hashed, instead.

    Returns:
      A column.

    Raises:
      ValueError: for a list that is empty or repeats itself, and for other dtypes.

    >>> column = tf.feature_column.categorical_column_with_vocabulary_list("colour", ["red", "green"])
    >>> layer = tf.keras.layers.DenseFeatures([tf.feature_column.indicator_column(column)])
    >>> print(layer({"colour": tf.constant([["green"], ["red"]])}).numpy())
    [[0. 1.]
     [1. 0.]]
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    own = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    _require_one_default(key, num_oov_buckets, default_value != -1)
    checks.require_string_or_int(own, f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = own
    elif dtype.is_integer != own.is_integer:
        raise ValueError(f"dtype {dtype} and vocabulary dtype {own} do not match, column_name: {key}")
    checks.require_string_or_int(dtype, f"column_name: {key}")
    checks.require_key(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), dtype, default_value, num_oov_buckets)
