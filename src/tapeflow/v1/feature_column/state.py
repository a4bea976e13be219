"""Columns in a graph of 1.x: their variables come from `get_variable`, in the scope that is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import context
from tapeflow.core.annotations import DTypeLike, ShapeLike
from tapeflow.core.public import public
from tapeflow.feature_column.cache import FeatureTransformationCache
from tapeflow.feature_column.column import CategoricalColumn, DenseColumn, FeatureColumn, normalized
from tapeflow.feature_column.shared import SharedEmbeddingColumn
from tapeflow.feature_column.spec import spec_of
from tapeflow.feature_column.state import StateManager
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.v1.feature_column.shared import SharedEmbeddingColumnV1
from tapeflow.v1.variable_getting import get_variable

COLUMNS = (FeatureColumn, SharedEmbeddingColumnV1)
DENSE = (DenseColumn, SharedEmbeddingColumnV1)
CATEGORICAL = CategoricalColumn


class Features(FeatureTransformationCache):
    """The tensors of a batch; see the base class."""

    columns = COLUMNS
    kind = "_FeatureColumn"


class ScopedState(StateManager):
    """Variables from `get_variable`, in the collections that are asked for."""

    prefix = "_"

    def __init__(self, trainable: bool, collections: Sequence[str]):
        super().__init__(None, trainable)
        self.collections = collections

    def _make(self, column, name, shape, dtype, trainable, initializer):
        return scoped_variable(name, shape, dtype, initializer, trainable, self.collections)


def scoped_variable(
    name: str, shape: ShapeLike, dtype: DTypeLike, initializer, trainable: bool, collections: Sequence[str]
):
    """`get_variable` in those collections, as far as there are collections."""
    return get_variable(
        name, shape=shape, dtype=dtype, initializer=initializer, trainable=trainable,
        collections=None if context.executing_eagerly() else list(collections),
    )  # fmt: skip


def sorted_columns(feature_columns: Sequence[Any]) -> list[Any]:
    """The columns in the order of their names; see `normalized`."""
    return normalized(feature_columns, COLUMNS, "_FeatureColumn")


def scope_name_of(column) -> str:
    """The variable scope of a column."""
    if isinstance(column, SharedEmbeddingColumn):
        raise ValueError(
            "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. "
            "Please use `DenseFeatures` or `LinearModel` instead."
        )
    if isinstance(column, SharedEmbeddingColumnV1):
        return column.shared_embedding_collection_name
    return column.name


def collections_of(weight_collections: Sequence[str] | None) -> list[str]:
    """The collections of a variable: those asked for, and those that all are in."""
    found = list(weight_collections or [])
    return found + [name for name in ("variables", "model_variables") if name not in found]


def variables_in(scope: str) -> list[Any]:
    """The variables of the graph whose names begin with that."""
    return get_default_graph().get_collection("variables", scope=scope)


@public
def make_parse_example_spec(feature_columns: Sequence[Any]):
    """The argument `features` of `tf.io.parse_example` for the columns.

    Raises ValueError for what is no column, and for columns that need a feature in different forms.
    """
    return spec_of(feature_columns, COLUMNS, "_FeatureColumn")
