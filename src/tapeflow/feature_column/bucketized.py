"""`tf.feature_column.bucketized_column`: in which range a number is."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.feature_column.column import CategoricalColumn, DenseColumn, IdWeightPair
from tapeflow.feature_column.numeric import NumericColumn
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tiling import repeat, tile
from tapeflow.ops.math.casting import cast
from tapeflow.ops.statistics.histogram import Bucketize

if TYPE_CHECKING:
    from tapeflow.feature_column.cache import FeatureTransformationCache
    from tapeflow.feature_column.state import StateManager


class BucketizedColumn(
    DenseColumn, CategoricalColumn, namedtuple("BucketizedColumn", ("source_column", "boundaries"))
):
    """See `bucketized_column`."""

    @property
    def name(self):
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self):
        return self.source_column.parse_example_spec

    @property
    def parents(self):
        return [self.source_column]

    @property
    def _ranges(self):
        return len(self.boundaries) + 1

    @property
    def variable_shape(self):
        return TensorShape((*self.source_column.shape, self._ranges))

    @property
    def num_buckets(self):
        return self._ranges * self.source_column.shape[0]

    def transform_feature(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager | None
    ):
        source = transformation_cache.get(self.source_column, state_manager)
        return Bucketize(source, boundaries=list(self.boundaries))

    def get_dense_tensor(self, transformation_cache: FeatureTransformationCache, state_manager: StateManager):
        found = transformation_cache.get(self, state_manager)
        return one_hot(cast(found, dtypes.int64), self._ranges, on_value=1.0, off_value=0.0)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        found = transformation_cache.get(self, state_manager)
        return IdWeightPair(ids_of_ranges(found, self._ranges, self.source_column.shape[0]), None)


def ids_of_ranges(found: Tensor, ranges: int, width: int):
    """Ranges [batch, width] as sparse ids; every element of the source has ranges of its own."""
    batch = shape_of(found)[0]
    elements = tile(range_(0, width), [batch])
    ids = reshape(found, (-1,)) + ranges * elements
    indices = cast(stack([repeat(range_(0, batch), width), elements], axis=1), dtypes.int64)
    return SparseTensor(indices, ids, cast(stack([batch, width]), dtypes.int64))


@public
def bucketized_column(source_column: str | NumericColumn, boundaries: Sequence[float]):
    """Make a column of the range that a number is in. Dense, it is one-hot.

    Args:
      source_column: a numeric column of one axis.
      boundaries: the ascending numbers between ranges; a range includes its lower end.

    Returns:
      A column.

    Raises:
      ValueError: for other columns, more than one axis, and boundaries that do not ascend.

    >>> age = tf.feature_column.numeric_column("age")
    >>> column = tf.feature_column.bucketized_column(age, boundaries=[18, 65])
    >>> layer = tf.keras.layers.DenseFeatures([column])
    >>> print(layer({"age": tf.constant([[10.0], [18.0], [70.0]])}).numpy())
    [[1. 0. 0.]
     [0. 1. 0.]
     [0. 0. 1.]]
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            f"source_column must be a column generated with numeric_column(). Given: {source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)) or any(a >= b for a, b in pairwise(boundaries)):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))
