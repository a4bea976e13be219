"""`tf.feature_column.categorical_column_with_identity`: ids that the features have themselves."""

from __future__ import annotations

from collections import namedtuple

from tapeflow.core import dtypes
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.feature_column import checks
from tapeflow.feature_column.column import CategoricalColumn
from tapeflow.feature_column.sparse_input import as_ids
from tapeflow.ops.io.example_features import VarLenFeature
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.logic import logical_or


class IdentityCategoricalColumn(
    CategoricalColumn, namedtuple("IdentityCategoricalColumn", ("key", "number_buckets", "default_value"))
):
    """See `categorical_column_with_identity`."""

    @property
    def name(self):
        return self.key

    @property
    def parse_example_spec(self):
        return {self.key: VarLenFeature(dtypes.int64)}

    @property
    def parents(self):
        return [self.key]

    @property
    def num_buckets(self):
        return self.number_buckets

    def transform_feature(self, transformation_cache, state_manager):
        found = as_ids(transformation_cache.get(self.key, state_manager))
        if not found.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {found.dtype}")
        ids = cast(found.values, dtypes.int64)
        if self.default_value is not None:
            count = cast(self.number_buckets, dtypes.int64)
            outside = logical_or(ids < cast(0, dtypes.int64), ids >= count)
            ids = where(outside, cast(self.default_value, dtypes.int64), ids)
        return SparseTensor(found.indices, ids, found.dense_shape)


@public
def categorical_column_with_identity(key: str, num_buckets: int, default_value: int | None = None):
    """Make a column of integers that are ids themselves.

    Args:
      key: the name of the feature.
      num_buckets: the number of ids; integers are from 0 to below it.
      default_value: the id of all others; None where there must not be any.

    Returns:
      A column.

    Raises:
      ValueError: for fewer than one bucket and a default value that is no id.
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    checks.require_key(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)
