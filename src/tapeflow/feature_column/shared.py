"""`tf.feature_column.shared_embeddings`: columns with the same vectors for their categories, in a graph."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import context, dtypes
from tapeflow.core.context import name_scope
from tapeflow.core.public import public
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.feature_column import checks, initial
from tapeflow.feature_column.column import (
    CategoricalColumn,
    DenseColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
)
from tapeflow.feature_column.lookup import embedded, restored
from tapeflow.feature_column.sequence_categorical import (
    SequenceCategoricalColumn,
    lengths_of,
    refuse_sequence,
    require_sequence,
)
from tapeflow.feature_column.weighted import WeightedCategoricalColumn
from tapeflow.function import template
from tapeflow.graph.default_graph import get_default_graph

if TYPE_CHECKING:
    from tapeflow.feature_column.cache import FeatureTransformationCache
    from tapeflow.feature_column.identity import IdentityCategoricalColumn
    from tapeflow.feature_column.initial import TruncatedNormal
    from tapeflow.feature_column.state import StateManager


class SharedEmbeddingColumnCreator:
    """The vectors of several columns: one variable in each graph."""

    def __init__(
        self, dimension: int, initializer: Callable[..., Any] | TruncatedNormal, ckpt_to_load_from,
        tensor_name_in_ckpt, num_buckets: int, trainable: bool, name: str,
    ):
        self.dimension = dimension
        self._initializer = initializer
        self._from = ckpt_to_load_from, tensor_name_in_ckpt
        self._num_buckets, self._trainable, self._name = num_buckets, trainable, name
        self._made: dict[Any, Any] = {}

    @property
    def embedding_weights(self):
        """The variable, in the graph that is being built."""
        graph = get_default_graph()
        if graph not in self._made:
            weights = self._made[graph] = self._make()
            restored(weights, *self._from)
        return self._made[graph]

    def _make(self):
        shape = (self._num_buckets, self.dimension)
        return template.scoping().variable(
            self._name, shape=shape, dtype=dtypes.float32, initializer=self._initializer, trainable=self._trainable
        )


class SharedEmbeddingColumn(
    DenseColumn,
    SequenceDenseColumn,
    namedtuple(
        "SharedEmbeddingColumn",
        (
            "categorical_column", "shared_embedding_column_creator", "combiner", "max_norm",
            "use_safe_embedding_lookup",
        ),
    ),
):  # fmt: skip
    """See `shared_embeddings`."""

    def __new__(
        cls, categorical_column: IdentityCategoricalColumn,
        shared_embedding_column_creator: SharedEmbeddingColumnCreator, combiner: str, max_norm: float | None,
        use_safe_embedding_lookup: bool = True,
    ):
        return super().__new__(
            cls, categorical_column, shared_embedding_column_creator, combiner, max_norm, use_safe_embedding_lookup
        )

    @property
    def name(self):
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    @property
    def parents(self):
        return [self.categorical_column]

    @property
    def variable_shape(self):
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.categorical_column, state_manager)

    def _embedded(self, transformation_cache: FeatureTransformationCache, state_manager: StateManager):
        with name_scope(self.name):
            found = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager)
            weights = self.shared_embedding_column_creator.embedding_weights
            return embedded(weights, found, self.combiner, self.max_norm, self.use_safe_embedding_lookup)

    def get_dense_tensor(self, transformation_cache: FeatureTransformationCache, state_manager: StateManager):
        refuse_sequence(self, "embedding_column", state_manager)
        return self._embedded(transformation_cache, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        require_sequence(self, "embedding_column")
        dense = self._embedded(transformation_cache, state_manager)
        ids = self.categorical_column.get_sparse_tensors(transformation_cache, state_manager).id_tensor
        return TensorSequenceLengthPair(dense, lengths_of(ids))


def _source(column):
    while isinstance(column, (WeightedCategoricalColumn, SequenceCategoricalColumn)):
        column = column.categorical_column
    return column


def require_alike(categorical_columns: Sequence[Any], kind: str) -> tuple[int, str]:
    """(the number of categories, a name) of columns that share vectors.

    Raises ValueError for columns that are not categorical, or of different kinds or numbers of categories.
    """
    by_name = sorted(categorical_columns, key=lambda column: column.name)
    first = by_name[0]
    if not isinstance(first, CategoricalColumn):
        raise ValueError(
            f"All categorical_columns must be subclasses of {kind}. Given: {first}, of type: {type(first)}"
        )
    count, first = first.num_buckets, _source(first)
    for column in map(_source, by_name[1:]):
        if not isinstance(column, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                "weighted_categorical_column or sequence column of the same type. Given column: "
                f"{first} of type: {type(first)} does not match given column: {column} of type: {type(column)}"
            )
        if count != column.num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. "
                f"Given column: {first} with buckets: {count} does  not match column: {column} with buckets: "
                f"{column.num_buckets}"
            )
    return count, "_".join(column.name for column in by_name) + "_shared_embedding"


def require_graph() -> None:
    """Raises RuntimeError outside of graphs."""
    if context.executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")


@public
def shared_embeddings(
    categorical_columns: Sequence[Any], dimension: int, combiner: str = "mean",
    initializer: Callable[..., Any] | None = None, shared_embedding_collection_name=None,
    ckpt_to_load_from=None, tensor_name_in_ckpt=None, max_norm=None, trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
):
    """Make an `embedding_column` of each of several columns, all with the same vectors.

    Args:
      categorical_columns: the columns, of one kind and number of categories.
      dimension: the size of the vectors, above 0.
      combiner: how vectors of one example become one: "mean", "sum", or "sqrtn" for the sum by the root of their
        number.
      initializer: first values of the vectors; None for a truncated normal.
      shared_embedding_collection_name: the name of the vectors; None for one made of the columns' names.
      ckpt_to_load_from: a checkpoint to start from instead; None for none.
      tensor_name_in_ckpt: the name of the vectors in it.
      max_norm: vectors that are longer are scaled down to this length; None for any.
      trainable: whether the vectors are trained.
      use_safe_embedding_lookup: whether examples may be without ids; if not, every example needs one.

    Returns:
      A list of columns.

    Raises:
      RuntimeError: eagerly.
      ValueError: for columns of different kinds or numbers of categories, and for arguments that are wrong or do not
        fit.
    """
    require_graph()
    checks.require_embedding(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    count, name = require_alike(categorical_columns, "CategoricalColumn")
    weights = SharedEmbeddingColumnCreator(
        dimension, initializer or initial.for_dimension(dimension), ckpt_to_load_from, tensor_name_in_ckpt, count,
        trainable, shared_embedding_collection_name or name,
    )  # fmt: skip
    return [
        SharedEmbeddingColumn(column, weights, combiner, max_norm, use_safe_embedding_lookup)
        for column in categorical_columns
    ]
