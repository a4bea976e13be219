"""`tf.feature_column.crossed_column`: which categories come together."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.feature_column.column import CategoricalColumn
from tapeflow.feature_column.hashed import HashedCategoricalColumn
from tapeflow.ops.io.example_features import VarLenFeature
from tapeflow.ops.ragged.cross import cross_hashed


class CrossedColumn(CategoricalColumn, namedtuple("CrossedColumn", ("keys", "hash_bucket_size", "hash_key"))):
    """See `crossed_column`."""

    @property
    def name(self):
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self._leaves()))

    def _leaves(self):
        """The keys and columns, with those of crossed columns in place of these."""
        for key in self.keys:
            if isinstance(key, CrossedColumn):
                yield from key._leaves()
            else:
                yield key

    @property
    def parse_example_spec(self):
        spec = {}
        for key in self.keys:
            spec.update({key: VarLenFeature(dtypes.string)} if isinstance(key, str) else key.parse_example_spec)
        return spec

    @property
    def parents(self):
        return list(self.keys)

    @property
    def num_buckets(self):
        return self.hash_bucket_size

    def transform_feature(self, transformation_cache, state_manager):
        crossed = []
        for key in self._leaves():
            if isinstance(key, str):
                crossed.append(transformation_cache.get(key, state_manager))
                continue
            found = key.get_sparse_tensors(transformation_cache, state_manager)
            if found.weight_tensor is not None:
                raise ValueError(
                    "crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                    f"Given column: {key.name}"
                )
            crossed.append(found.id_tensor)
        # The order is a part of what is hashed: dense ones come last.
        crossed.sort(key=lambda tensor: not isinstance(tensor, SparseTensor))
        return cross_hashed(crossed, self.hash_bucket_size, self.hash_key).to_sparse()


@public
def crossed_column(keys: Sequence[Any], hash_bucket_size: int, hash_key: int | None = None):
    """Make a column of all combinations of the categories of features and columns, hashed.

    Args:
      keys: two or more features of strings, by name, and categorical columns.
      hash_bucket_size: the number of ids.
      hash_key: an integer that changes the hash; None for TensorFlow's.

    Returns:
      A column.

    Raises:
      ValueError: for fewer than two of them, for other things and for columns that are hashed already.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except "
                f"HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will "
                f"increase probability of collision. Instead, use the feature name as a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
