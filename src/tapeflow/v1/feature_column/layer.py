"""`tf.compat.v1.keras.layers.DenseFeatures`: its variables come from `get_variable`, in scopes of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.feature_column.state import StateManager
from tapeflow.keras.layers import dense_features
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import variable_scope

if TYPE_CHECKING:
    from tapeflow.v1.partitioned import PartitionedVariable


class _ScopedState(StateManager):
    def _make(self, column, name: str | None, shape, dtype, trainable: bool, initializer):
        made = get_variable(name, shape=shape, dtype=dtype, initializer=initializer, trainable=trainable)
        return self._layer._own(f"{column.name}/{name}", made)


class DenseFeatures(dense_features.DenseFeatures):
    """As in 2.x, but its variables may be divided by a `partitioner`, and be those of a scope that is used again."""

    def __init__(
        self, feature_columns: Sequence[Any], trainable: bool = True, name: str | None = None,
        partitioner: Callable[..., Any] | None = None, **kwargs,
    ):
        super().__init__(feature_columns, trainable, name, **kwargs)
        self.__dict__["_partitioner"] = partitioner

    def _new_state(self):
        return _ScopedState(self, self.trainable)

    def _own(self, name: str, variable: PartitionedVariable):
        parts = list(variable) if hasattr(variable, "as_tensor") else [variable]
        self._own_weights.extend(parts)
        self.__dict__.setdefault("_named_weights", {})[name] = variable
        return variable

    def build(self, _):
        for column in self._feature_columns:
            with variable_scope(self.name, partitioner=self._partitioner), variable_scope(column.name):
                column.create_state(self._state_manager)
        self.built = True
