"""`tf.feature_column.embedding_column`: trained vectors of categories."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.public import public
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.feature_column import checks, initial
from tapeflow.feature_column.column import (
    DenseColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
)
from tapeflow.feature_column.lookup import embedded, restored
from tapeflow.feature_column.sequence_categorical import (
    lengths_of,
    refuse_sequence,
    require_sequence,
)

if TYPE_CHECKING:
    from tapeflow.feature_column.cache import FeatureTransformationCache
    from tapeflow.feature_column.initial import TruncatedNormal
    from tapeflow.feature_column.state import StateManager


class EmbeddingColumn(
    DenseColumn,
    SequenceDenseColumn,
    namedtuple(
        "EmbeddingColumn",
        (
            "categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt",
            "max_norm", "trainable", "use_safe_embedding_lookup",
        ),
    ),
):  # fmt: skip
    """See `embedding_column`."""

    def __new__(
        cls, categorical_column: Any, dimension: int, combiner: str,
        initializer: Callable[..., Any] | TruncatedNormal, ckpt_to_load_from, tensor_name_in_ckpt,
        max_norm: float | None, trainable: bool, use_safe_embedding_lookup: bool = True,
    ):  # fmt: skip
        return super().__new__(
            cls, categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
            max_norm, trainable, use_safe_embedding_lookup,
        )  # fmt: skip

    @property
    def name(self):
        return f"{self.categorical_column.name}_embedding"

    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    @property
    def parents(self):
        return [self.categorical_column]

    @property
    def variable_shape(self):
        return TensorShape([self.dimension])

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.categorical_column, state_manager)

    def create_state(self, state_manager: StateManager):
        state_manager.create_variable(
            self, name="embedding_weights", shape=(self.categorical_column.num_buckets, self.dimension),
            dtype=dtypes.float32, trainable=self.trainable, use_resource=True, initializer=self.initializer,
        )  # fmt: skip

    def _embedded(self, found, state_manager: StateManager):
        weights = state_manager.get_variable(self, name="embedding_weights")
        restored(weights, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return embedded(weights, found, self.combiner, self.max_norm, self.use_safe_embedding_lookup)

    def get_dense_tensor(self, transformation_cache: FeatureTransformationCache, state_manager: StateManager):
        refuse_sequence(self, "embedding_column", state_manager)
        found = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return self._embedded(found, state_manager)

    def get_sequence_dense_tensor(
        self, transformation_cache: FeatureTransformationCache, state_manager: StateManager
    ):
        require_sequence(self, "embedding_column")
        found = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
        return TensorSequenceLengthPair(self._embedded(found, state_manager), lengths_of(found.id_tensor))


@public
def embedding_column(
    categorical_column: Any, dimension: int, combiner: str = "mean", initializer: Callable[..., Any] | None = None,
    ckpt_to_load_from: str | None = None, tensor_name_in_ckpt=None, max_norm=None, trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
):
    """Make a dense column of trained vectors for the categories of a column.

    Args:
      categorical_column: the column.
      dimension: the size of the vectors, above 0.
      combiner: how vectors of one example become one: "mean", "sum", or "sqrtn" for the sum by the root of their
        number.
      initializer: first values of the vectors; None for a truncated normal.
      ckpt_to_load_from: a checkpoint to start from instead; None for none.
      tensor_name_in_ckpt: the name of the vectors in it.
      max_norm: vectors that are longer are scaled down to this length; None for any.
      trainable: whether the vectors are trained.
      use_safe_embedding_lookup: whether examples may be without ids; if not, every example needs one.

    Returns:
      A column.

    Raises:
      ValueError: for arguments that are wrong or do not fit.
    """
    about = f" Embedding of column_name: {getattr(categorical_column, 'name', categorical_column)}"
    checks.require_embedding(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, about)
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer or initial.for_dimension(dimension), ckpt_to_load_from,
        tensor_name_in_ckpt, max_norm, trainable, use_safe_embedding_lookup,
    )  # fmt: skip
