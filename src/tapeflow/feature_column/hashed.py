"""`tf.feature_column.categorical_column_with_hash_bucket`: ids that are hashes."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.feature_column import checks
from tapeflow.feature_column.column import CategoricalColumn
from tapeflow.feature_column.sparse_input import as_ids
from tapeflow.ops.io.example_features import VarLenFeature
from tapeflow.ops.string.hashing import to_hash_bucket_fast
from tapeflow.ops.string.numbers import as_string

if TYPE_CHECKING:
    from tapeflow.feature_column.cache import FeatureTransformationCache
    from tapeflow.feature_column.state import StateManager


class HashedCategoricalColumn(
    CategoricalColumn, namedtuple("HashedCategoricalColumn", ("key", "hash_bucket_size", "dtype"))
):
    """See `categorical_column_with_hash_bucket`."""

    @property
    def name(self):
        return self.key

    @property
    def parse_example_spec(self):
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def parents(self):
        return [self.key]

    @property
    def num_buckets(self):
        return self.hash_bucket_size

    def transform_feature(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ):
        found = as_ids(transformation_cache.get(self.key, state_manager))
        checks.require_string_or_int(found.dtype, f"column_name: {self.key} input_tensor")
        checks.require_same_kind(self.key, self.dtype, found.dtype)
        words = found.values if self.dtype == dtypes.string else as_string(found.values)
        ids = to_hash_bucket_fast(words, self.hash_bucket_size)
        return SparseTensor(found.indices, ids, found.dense_shape)


@public
def categorical_column_with_hash_bucket(key, hash_bucket_size: int, dtype: DTypeLike = dtypes.string):
    """Make a column of strings or integers, whose ids are their hashes modulo a number.

    Args:
      key: the name of the feature.
      hash_bucket_size: the number of ids, above 0.
      dtype: the dtype of the feature, string or an integer.

    Returns:
      A column.

    Raises:
      ValueError: for fewer than one bucket and for other dtypes.
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    checks.require_key(key)
    checks.require_string_or_int(dtype, f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)
