"""`tf.feature_column.shared_embedding_columns` of 1.x: columns that find their vectors in a collection."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.context import name_scope
from tapeflow.core.public import public
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.feature_column import checks, initial
from tapeflow.feature_column.column import TensorSequenceLengthPair
from tapeflow.feature_column.lookup import embedded, restored
from tapeflow.feature_column.sequence_categorical import (
    lengths_of,
    refuse_sequence,
    require_sequence,
)
from tapeflow.feature_column.shared import require_alike, require_graph
from tapeflow.graph.default_graph import get_default_graph

if TYPE_CHECKING:
    from tapeflow.v1.feature_column.state import Features, ScopedState

_ADVICE = (
    "Suggested fix A: Choose a unique name for this collection. Suggested fix B: Do not add any variables to this "
    "collection. The feature_column library already adds a variable under the hood."
)


class _SharedEmbeddingColumn(
    namedtuple(
        "_SharedEmbeddingColumn",
        (
            "categorical_column", "dimension", "combiner", "initializer", "shared_embedding_collection_name",
            "ckpt_to_load_from", "tensor_name_in_ckpt", "max_norm", "trainable", "use_safe_embedding_lookup",
        ),
    )
):  # fmt: skip
    """See `shared_embedding_columns`; no column of 2.x, whose layers do not take it."""

    @property
    def name(self):
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self):
        return TensorShape([self.dimension])

    def create_state(self, state_manager: ScopedState):
        """Nothing: the collection has the variable."""

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.categorical_column, state_manager)

    def _weights(self, state_manager: ScopedState):
        shape, name = [self.categorical_column.num_buckets, self.dimension], self.shared_embedding_collection_name
        graph = get_default_graph()
        found = graph.get_collection(name)
        if len(found) > 1:
            raise ValueError(f"Collection {found} can only contain one variable. {_ADVICE}")
        if found:
            if found[0].shape != TensorShape(shape):
                raise ValueError(
                    f"Shared embedding collection {name} contains variable {found[0].name} of unexpected shape "
                    f"{found[0].shape}. Expected shape is {tuple(shape)}. {_ADVICE}"
                )
            return found[0]
        made = state_manager.create_variable(
            self, "embedding_weights", shape, dtypes.float32, self.trainable, initializer=self.initializer
        )
        graph.add_to_collection(name, made)
        return made

    def _embedded(self, transformation_cache: Features, state_manager: ScopedState):
        with name_scope(self.name):
            found = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
            weights = self._weights(state_manager)
            restored(weights, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
            return embedded(weights, found, self.combiner, self.max_norm, self.use_safe_embedding_lookup)

    def get_dense_tensor(self, transformation_cache: Features, state_manager: ScopedState):
        refuse_sequence(self, "embedding_column", state_manager)
        return self._embedded(transformation_cache, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        require_sequence(self, "embedding_column")
        dense = self._embedded(transformation_cache, state_manager)
        ids = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager).id_tensor
        return TensorSequenceLengthPair(dense, lengths_of(ids))


SharedEmbeddingColumnV1: Any = _SharedEmbeddingColumn


@public
def shared_embedding_columns(
    categorical_columns: Sequence[Any], dimension: int, combiner: str = "mean",
    initializer: Callable[..., Any] | None = None, shared_embedding_collection_name=None, ckpt_to_load_from=None,
    tensor_name_in_ckpt=None, max_norm: float | None = None, trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
):
    """`embedding_column` of each of the columns, all with the vectors that the collection of that name has.

    Raises RuntimeError eagerly, ValueError for columns of different kinds or numbers of categories, and for
    arguments that are wrong or do not fit.

    Args:
      categorical_columns: the columns.
      dimension: the length of a vector.
      combiner: "sum", "mean" or "sqrtn": how the vectors of one example are joined.
      initializer: of the vectors; None: truncated normal.
      shared_embedding_collection_name: the name of the collection; None: made of the columns' names.
      ckpt_to_load_from: a checkpoint that has the vectors (optional).
      tensor_name_in_ckpt: their name there.
      max_norm: the largest norm of a vector; None: any.
      trainable: whether optimizers update the vectors.
      use_safe_embedding_lookup: whether examples without a category get zeros.
    """
    require_graph()
    checks.require_embedding(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    _, name = require_alike(categorical_columns, "_CategoricalColumn")
    return [
        _SharedEmbeddingColumn(
            column, dimension, combiner, initializer or initial.for_dimension(dimension),
            shared_embedding_collection_name or name, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable,
            use_safe_embedding_lookup,
        )
        for column in categorical_columns
    ]  # fmt: skip
