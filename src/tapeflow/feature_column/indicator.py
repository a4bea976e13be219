"""`tf.feature_column.indicator_column`: how often an example has each category."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

from tapeflow.core.public import public
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
)
from tapeflow.feature_column.sequence_categorical import (
    lengths_of,
    refuse_sequence,
    require_sequence,
)
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.indexing.scatter import scatter_nd
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.sparse import functions as sparse
from tapeflow.ops.sparse import shaping

if TYPE_CHECKING:
    from tapeflow.feature_column.state import StateManager


class IndicatorColumn(DenseColumn, SequenceDenseColumn, namedtuple("IndicatorColumn", ("categorical_column",))):
    """See `indicator_column`."""

    @property
    def name(self):
        return f"{self.categorical_column.name}_indicator"

    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    @property
    def parents(self):
        return [self.categorical_column]

    @property
    def variable_shape(self):
        return TensorShape([1, self.categorical_column.num_buckets])

    def transform_feature(self, transformation_cache, state_manager):
        ids, weights = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        size = self.variable_shape[-1]
        if weights is not None:
            merged = sparse.sparse_merge(ids, weights, int(size))
            # Ids that are not there are left out.
            merged = shaping.slice_(merged, [0, 0], merged.dense_shape)
            return scatter_nd(merged.indices, merged.values, merged.dense_shape)
        hot = one_hot(sparse.to_dense(ids, default_value=-1), size, on_value=1.0, off_value=0.0)
        return reduce_sum(hot, axis=[-2])

    def get_dense_tensor(self, transformation_cache, state_manager):
        refuse_sequence(self, "indicator_column", state_manager)
        return transformation_cache.get(self, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: StateManager):
        require_sequence(self, "indicator_column")
        dense = transformation_cache.get(self, state_manager)
        ids = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager).id_tensor
        return TensorSequenceLengthPair(dense, lengths_of(ids))


@public
def indicator_column(categorical_column):
    """Vectors with the number of times, or the sum of the weights, of each category. Raises ValueError for others."""
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError(
            f"Unsupported input type. Input must be a CategoricalColumn. Given: {categorical_column}"
        )
    return IndicatorColumn(categorical_column)
