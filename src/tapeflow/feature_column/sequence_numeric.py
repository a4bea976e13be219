"""`tf.feature_column.sequence_numeric_column`: numbers in sequences."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, ShapeLike
from tapeflow.core.public import public
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.feature_column import checks
from tapeflow.feature_column.column import SequenceDenseColumn, TensorSequenceLengthPair
from tapeflow.feature_column.sequence_categorical import lengths_of
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.io.example_features import VarLenFeature
from tapeflow.ops.sparse import functions as sparse

if TYPE_CHECKING:
    from tapeflow.feature_column.cache import FeatureTransformationCache
    from tapeflow.feature_column.state import StateManager


class SequenceNumericColumn(
    SequenceDenseColumn,
    namedtuple("SequenceNumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn")),
):
    """See `sequence_numeric_column`."""

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
    def variable_shape(self):
        return TensorShape(self.shape)

    def transform_feature(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ):
        found = transformation_cache.get(self.key, state_manager)
        return found if self.normalizer_fn is None else self.normalizer_fn(found)

    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: StateManager):
        found = transformation_cache.get(self, state_manager)
        dense = sparse.to_dense(found, default_value=self.default_value)
        dense = reshape(dense, concat([shape_of(dense)[:1], [-1], list(self.shape)], axis=0))
        # A flat row has the elements of all steps one after the other.
        elements = self.variable_shape.num_elements() if found.shape.rank == 2 else 1
        return TensorSequenceLengthPair(dense, lengths_of(found, elements))


@public
def sequence_numeric_column(
    key: str, shape: ShapeLike = (1,), default_value: float = 0.0, dtype: DTypeLike = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
):
    """Make a column of sequences of numbers.

    Args:
      key: the name of the feature.
      shape: the shape of the numbers of an example.
      default_value: the number that fills what is missing.
      dtype: the dtype of the feature.
      normalizer_fn: a function of the tensor that gives a changed one; None for none.

    Returns:
      A column.

    Raises:
      TypeError: for a shape of other things than integers.
      ValueError: for a non-numeric dtype and for an invalid shape.
    """
    shape = checks.shape_of(shape, key)
    checks.require_number(dtype, key)
    checks.require_function(normalizer_fn)
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)
