"""Where the variables and tables of columns live: in a layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow.core.annotations import DTypeLike, ShapeLike

if TYPE_CHECKING:
    from tapeflow.feature_column.embedding import EmbeddingColumn
    from tapeflow.feature_column.initial import TruncatedNormal
    from tapeflow.feature_column.vocabulary import (
        VocabularyFileCategoricalColumn,
        VocabularyListCategoricalColumn,
    )
    from tapeflow.ops.lookup.tables import StaticHashTable, StaticVocabularyTable


class StateManager:
    """The variables that a layer makes for its columns, and the tables that they look ids up in."""

    # What stands before the names of classes in errors.
    prefix = ""

    def __init__(self, layer, trainable: bool):
        self._layer = layer
        self._trainable = trainable
        self._variables: dict[Any, dict[str, Any]] = {}
        self._tables: dict[Any, dict[str, Any]] = {}

    def create_variable(
        self, feature_column: Any, name: str, shape: ShapeLike, dtype: DTypeLike | None = None,
        trainable: bool = True, use_resource: bool = True, initializer: Any = None,
    ):
        """A variable of the column. Raises ValueError where it has one of the name."""
        held = self._variables.setdefault(feature_column, {})
        if name in held:
            raise ValueError("Variable already exists.")
        made = held[name] = self._make(
            feature_column, name, shape, dtype, bool(self._trainable and trainable), initializer
        )
        return made

    def _make(
        self, column: EmbeddingColumn, name: str, shape: ShapeLike, dtype: DTypeLike | None, trainable: bool,
        initializer: Callable[..., Any] | TruncatedNormal,
    ):
        # The column's name is a part of the name under which a checkpoint has the variable, as of its own.
        return self._layer.add_weight(
            name=f"{column.name}/{name}", shape=shape, dtype=dtype, initializer=initializer, trainable=trainable
        )

    def get_variable(self, feature_column: EmbeddingColumn, name: str):
        """The column's variable of that name. Raises ValueError where it has none."""
        if name not in self._variables.get(feature_column, {}):
            raise ValueError("Variable does not exist.")
        return self._variables[feature_column][name]

    def add_resource(
        self, feature_column: VocabularyFileCategoricalColumn | VocabularyListCategoricalColumn, name: str,
        resource: StaticHashTable | StaticVocabularyTable,
    ):
        """Keeps a table of the column."""
        self._tables.setdefault(feature_column, {})[name] = resource
        if self._layer is not None:
            held = self._layer.__dict__.get("_resources", {})
            held = {**held, feature_column.name: {**held.get(feature_column.name, {}), name: resource}}
            self._layer._resources = held

    def has_resource(
        self, feature_column: VocabularyFileCategoricalColumn | VocabularyListCategoricalColumn, name: str
    ):
        """Whether the column has a table of that name."""
        return name in self._tables.get(feature_column, {})

    def get_resource(self, feature_column: VocabularyListCategoricalColumn, name: str):
        """The column's table of that name. Raises ValueError where it has none."""
        if not self.has_resource(feature_column, name):
            raise ValueError("Resource does not exist.")
        return self._tables[feature_column][name]
