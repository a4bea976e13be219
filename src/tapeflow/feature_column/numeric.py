"""`tf.feature_column.numeric_column`: numbers as they are."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, ShapeLike
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.feature_column import checks
from tapeflow.feature_column.column import DenseColumn
from tapeflow.ops.io.example_features import FixedLenFeature
from tapeflow.ops.math.casting import cast

if TYPE_CHECKING:
    from tapeflow.feature_column.cache import FeatureTransformationCache
    from tapeflow.feature_column.state import StateManager


class NumericColumn(
    DenseColumn, namedtuple("NumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn"))
):
    """See `numeric_column`."""

    @property
    def name(self):
        return self.key

    @property
    def parse_example_spec(self):
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def parents(self):
        return [self.key]

    @property
    def variable_shape(self):
        return TensorShape(self.shape)

    def transform_feature(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager | None
    ):
        tensor = transformation_cache.get(self.key, state_manager)
        if isinstance(tensor, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. "
                f"key: {self.key}"
            )
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return cast(tensor, dtypes.float32)

    def get_dense_tensor(self, transformation_cache, state_manager):
        return transformation_cache.get(self, state_manager)


@public
def numeric_column(
    key: str, shape: ShapeLike = (1,), default_value: float | None = None, dtype: DTypeLike = dtypes.float32,
    normalizer_fn: Callable[..., Any] | None = None,
):
    """Make a column of numbers, as float32.

    Args:
      key: the name of the feature.
      shape: the shape of the numbers of an example.
      default_value: the numbers of examples without the feature; None where all must have it.
      dtype: the dtype of the feature.
      normalizer_fn: a function of the tensor that gives a changed one; None for none.

    Returns:
      A column.

    Raises:
      TypeError: for a default value of another type.
      ValueError: for a non-numeric dtype, an invalid shape, and a default value that does not fit it.

    >>> column = tf.feature_column.numeric_column("price", normalizer_fn=lambda x: x / 10.0)
    >>> print(tf.keras.layers.DenseFeatures([column])({"price": tf.constant([[5.0]])}).numpy())
    [[0.5]]
    """
    shape = checks.shape_of(shape, key)
    checks.require_number(dtype, key)
    default_value = checks.default_of(shape, default_value, dtype, key)
    checks.require_function(normalizer_fn)
    checks.require_key(key)
    return NumericColumn(key, shape, default_value, dtype, normalizer_fn)
