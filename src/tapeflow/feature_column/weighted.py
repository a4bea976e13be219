"""`tf.feature_column.weighted_categorical_column`: ids that have weights."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.feature_column.cache import as_feature
from tapeflow.feature_column.column import CategoricalColumn, IdWeightPair
from tapeflow.feature_column.sparse_input import as_ids
from tapeflow.ops.io.example_features import VarLenFeature
from tapeflow.ops.math.casting import cast

if TYPE_CHECKING:
    from tapeflow.feature_column.cache import FeatureTransformationCache
    from tapeflow.feature_column.state import StateManager


class WeightedCategoricalColumn(
    CategoricalColumn,
    namedtuple("WeightedCategoricalColumn", ("categorical_column", "weight_feature_key", "dtype")),
):
    """See `weighted_categorical_column`."""

    @property
    def name(self):
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self):
        spec, key = dict(self.categorical_column.parse_example_spec), self.weight_feature_key
        if key in spec:
            raise ValueError(f"Parse config {spec[key]} already exists for {key}.")
        return {**spec, key: VarLenFeature(self.dtype)}

    @property
    def parents(self):
        return [self.categorical_column, self.weight_feature_key]

    @property
    def num_buckets(self):
        return self.categorical_column.num_buckets

    def transform_feature(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ):
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        if weights is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        weights = as_feature(weights)
        if weights.dtype != self.dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        weights = as_ids(weights, ignored=0.0)
        if not weights.dtype.is_floating:
            values = cast(weights.values, dtypes.float32)
            weights = SparseTensor(weights.indices, values, weights.dense_shape)
        return as_ids(transformation_cache.get(self.categorical_column, state_manager)), weights

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: StateManager):
        return IdWeightPair(*transformation_cache.get(self, state_manager))


@public
def weighted_categorical_column(categorical_column: Any, weight_feature_key: str, dtype=dtypes.float32):
    """Make a column of the ids of another one, with weights.

    Args:
      categorical_column: the other column.
      weight_feature_key: the name of the feature that has the weights.
      dtype: the dtype of the weights.

    Returns:
      A column.

    Raises:
      ValueError: for a non-numeric dtype.
    """
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)
