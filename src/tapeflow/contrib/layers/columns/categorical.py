"""Columns of ids: integers, hashes, places in a vocabulary, and these with weights."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.contrib import lookup
from tapeflow.contrib.layers.columns.base import _FeatureColumn
from tapeflow.contrib.layers.columns.ranks import with_rank
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.structures import nest
from tapeflow.feature_column.column import CategoricalColumn, IdWeightPair
from tapeflow.feature_column.sparse_input import as_ids
from tapeflow.ops.io.example_features import VarLenFeature
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.division import floormod
from tapeflow.ops.sparse import shaping
from tapeflow.ops.string.hashing import to_hash_bucket_fast
from tapeflow.ops.string.hashing_keyed import to_hash_bucket_strong
from tapeflow.ops.string.numbers import as_string

if TYPE_CHECKING:
    from tapeflow.contrib.layers.columns.base import Features

_SparseIdLookupConfig = namedtuple(
    "_SparseIdLookupConfig",
    ["vocabulary_file", "keys", "num_oov_buckets", "vocab_size", "default_value"],
    defaults=(None, None, 0, None, -1),
)


class _Categorical(CategoricalColumn):
    """What the columns of ids share; the sparse tensor of a column without weights is its ids."""

    length: Any
    # How errors call the column.
    kind = "SparseColumn"
    # What makes a dense tensor of it.
    remedy = "embedding_column or one_hot_column"

    @property
    def num_buckets(self):
        return self.length

    def id_tensor(self, input_tensor: SparseTensor):
        """The ids of a transformed tensor."""
        return input_tensor

    def weight_tensor(self, input_tensor: SparseTensor):
        """The weights of a transformed tensor; None, unless the column has any."""

    def get_sparse_tensors(self, transformation_cache: Features, state_manager):
        found = transformation_cache.get(self, state_manager)
        return IdWeightPair(self.id_tensor(found), self.weight_tensor(found))

    def for_linear_model(self, columns_to_tensors: Features):
        return self.get_sparse_tensors(columns_to_tensors, None)

    def for_network(self, tensor, state_manager, output_rank):
        raise ValueError(
            f"{self.kind} is not supported in DNN. Please use {self.remedy}. column: {self}"
        )


class _SparseColumn(
    _Categorical,
    _FeatureColumn,
    namedtuple(
        "_SparseColumn",
        ["column_name", "is_integerized", "bucket_size", "lookup_config", "combiner", "dtype"],
        defaults=(False, None, None, "sum", dtypes.string),
    ),
):
    """A column of the ids of one feature."""

    def __new__(cls, *args, **kwargs):
        self = super().__new__(cls, *args, **kwargs)
        about = f"column_name: {self.column_name}"
        if self.is_integerized and self.bucket_size is None:
            raise ValueError(f"bucket_size must be set if is_integerized is True. {about}")
        if self.is_integerized and not self.dtype.is_integer:
            raise ValueError(
                f"dtype must be an integer if is_integerized is True. dtype: {self.dtype}, {about}."
            )
        if self.dtype != dtypes.string and not self.dtype.is_integer:
            raise ValueError(f"dtype must be string or integer. dtype: {self.dtype}, {about}")
        if self.bucket_size is None and self.lookup_config is None:
            raise ValueError(f"one of bucket_size or lookup_config must be set. {about}")
        if self.bucket_size is not None and self.bucket_size < 1:
            raise ValueError(
                f"bucket_size must be at least 1. bucket_size: {self.bucket_size}, {about}"
            )
        return self

    @property
    def name(self):
        return self.column_name

    @property
    def length(self):
        """The number of ids."""
        if self.bucket_size is not None:
            return self.bucket_size
        return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    @property
    def config(self):
        return {self.column_name: VarLenFeature(self.dtype)}

    @property
    def parents(self):
        return [self.column_name]

    def is_compatible(self, other_column):
        """Whether the ids of two columns may have the same vectors."""
        if self.lookup_config and other_column.lookup_config:
            return self.lookup_config == other_column.lookup_config
        integers = self.dtype.is_integer and other_column.dtype.is_integer
        return self.length == other_column.length and (self.dtype == other_column.dtype or integers)

    def transform_feature(self, transformation_cache, state_manager):
        found = transformation_cache.get(self.name, state_manager)
        if not isinstance(found, SparseTensor):
            found = as_ids(with_rank(convert_to_tensor(found), 2, self.name))
        return self._ids_of(found)

    def _ids_of(self, found):
        raise NotImplementedError


def _with_values(ids, values):
    return SparseTensor(ids.indices, values, ids.dense_shape)


class _SparseColumnIntegerized(_SparseColumn):
    """See `sparse_column_with_integerized_feature`."""

    def _ids_of(self, found: SparseTensor):
        return _with_values(found, floormod(found.values, self.bucket_size))


class _SparseColumnHashed(_SparseColumn):
    """See `sparse_column_with_hash_bucket`."""

    hash_keys: Any = None

    def _ids_of(self, found: SparseTensor):
        words = as_string(found.values) if self.dtype.is_integer else found.values
        if not self.hash_keys:
            return _with_values(found, to_hash_bucket_fast(words, self.bucket_size))
        hashed = [to_hash_bucket_strong(words, self.bucket_size, key) for key in self.hash_keys]
        return shaping.concat(1, [_with_values(found, ids) for ids in hashed])


class _SparseColumnKeys(_SparseColumn):
    """See `sparse_column_with_keys`."""

    def _ids_of(self, found: SparseTensor):
        table = lookup.index_table_from_tensor(
            mapping=self.lookup_config.keys, default_value=self.lookup_config.default_value, dtype=self.dtype,
            name="lookup",
        )  # fmt: skip
        return table.lookup(found)


class _SparseColumnVocabulary(_SparseColumn):
    """See `sparse_column_with_vocabulary_file`."""

    def _ids_of(self, found):
        if self.dtype.is_integer:
            found = _with_values(found, as_string(found.values))
        table = lookup.index_table_from_file(
            vocabulary_file=self.lookup_config.vocabulary_file, num_oov_buckets=self.lookup_config.num_oov_buckets,
            vocab_size=self.lookup_config.vocab_size, default_value=self.lookup_config.default_value,
            name=f"{self.name}_lookup",
        )  # fmt: skip
        return table.lookup(found)


def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: DTypeLike = dtypes.int64
):
    """Integers as ids, modulo `bucket_size`. Raises ValueError for fewer than one, and for other dtypes."""
    return _SparseColumnIntegerized(
        column_name, is_integerized=True, bucket_size=bucket_size, combiner=combiner, dtype=dtype
    )


def sparse_column_with_hash_bucket(
    column_name: str, hash_bucket_size: int, combiner: str = "sum", dtype: DTypeLike = dtypes.string, hash_keys=None
):
    """Strings or integers, whose ids are their hashes modulo `hash_bucket_size`.

    With `hash_keys`, a list of pairs of integers, each value has a strong hash for each pair. Raises ValueError for
    fewer than one bucket, for other dtypes and other keys.
    """
    if hash_keys is not None:
        if not isinstance(hash_keys, list) or not hash_keys:
            raise ValueError("hash_keys must be a non-empty list.")
        pairs = all(isinstance(pair, list) and len(pair) == 2 for pair in hash_keys)
        if not pairs or not all(isinstance(key, int) for key in nest.flatten(hash_keys)):
            raise ValueError("Each element of hash_keys must be a pair of integers.")
    column = _SparseColumnHashed(
        column_name, bucket_size=hash_bucket_size, combiner=combiner, dtype=dtype
    )
    column.hash_keys = hash_keys
    return column


def sparse_column_with_keys(
    column_name: str, keys: Sequence[int | str], default_value: int = -1, combiner: str = "sum",
    dtype: DTypeLike = dtypes.string,
):
    """Strings or integers, whose ids are their places in `keys`; others have the id `default_value`."""
    keys = tuple(keys)
    config = _SparseIdLookupConfig(keys=keys, vocab_size=len(keys), default_value=default_value)
    return _SparseColumnKeys(column_name, lookup_config=config, combiner=combiner, dtype=dtype)


def sparse_column_with_vocabulary_file(
    column_name: str, vocabulary_file: str, num_oov_buckets: int = 0, vocab_size: int | None = None,
    default_value: int = -1, combiner: str = "sum", dtype: DTypeLike = dtypes.string,
):
    """Strings or integers, whose ids are the numbers of their lines in a file; see `tf.feature_column`.

    Raises ValueError without `vocab_size`.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    config = _SparseIdLookupConfig(
        vocabulary_file, None, num_oov_buckets, vocab_size, default_value
    )
    return _SparseColumnVocabulary(
        column_name, lookup_config=config, combiner=combiner, dtype=dtype
    )


class _WeightedSparseColumn(
    _Categorical,
    _FeatureColumn,
    namedtuple("_WeightedSparseColumn", ["sparse_id_column", "weight_column_name", "dtype"]),
):
    """See `weighted_sparse_column`; the transformed tensor is a pair."""

    kind = "WeightedSparseColumn"

    @property
    def name(self):
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def length(self):
        """The number of ids."""
        return self.sparse_id_column.length

    @property
    def combiner(self):
        """How ids of one example are combined in a linear model."""
        return self.sparse_id_column.combiner

    @property
    def lookup_config(self):
        """That of the ids."""
        return self.sparse_id_column.lookup_config

    @property
    def config(self):
        return {**self.sparse_id_column.config, self.weight_column_name: VarLenFeature(self.dtype)}

    @property
    def parents(self):
        return [self.sparse_id_column, self.weight_column_name]

    def id_tensor(self, input_tensor):
        return input_tensor[0]

    def weight_tensor(self, input_tensor):
        return input_tensor[1]

    def is_compatible(self, other_column):
        """Whether the ids of two columns may have the same vectors."""
        if isinstance(other_column, _WeightedSparseColumn):
            other_column = other_column.sparse_id_column
        return self.sparse_id_column.is_compatible(other_column)

    def transform_feature(self, transformation_cache, state_manager):
        ids = transformation_cache.get(self.sparse_id_column, state_manager)
        weights = as_ids(
            transformation_cache.get(self.weight_column_name, state_manager), ignored=0.0
        )
        if not self.dtype.is_floating:
            weights = _with_values(weights, cast(weights.values, dtypes.float32))
        return ids, weights


def weighted_sparse_column(sparse_id_column: Any, weight_column_name: str, dtype=dtypes.float32):
    """The ids of a column, with another feature as their weights. Raises ValueError for a non-numeric dtype."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)
