"""What the feature columns of `tf.contrib.layers` share: they are columns of `tf.feature_column` with older names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.feature_column.column import FeatureColumn


class _FeatureColumn(FeatureColumn):
    """Base of the columns; a column is a named tuple of what describes it."""

    # Fields that do not tell columns apart.
    _free: tuple[str, ...] = ()

    def __init_subclass__(cls, **kwargs):
        # No configuration names these classes: they do not join those of `tf.feature_column`.
        object.__init_subclass__(**kwargs)

    @property
    def config(self) -> dict[str, Any]:
        """What `tf.io.parse_example` needs to know to find the raw features."""
        raise NotImplementedError

    @property
    def parse_example_spec(self):
        return self.config

    @property
    def key(self) -> str:
        """A text that two columns share only if one of them is superfluous; columns are sorted by it."""
        fields = (f"{k}={v}" for k, v in self._asdict().items() if k not in self._free)  # type: ignore[attr-defined]
        return f"{type(self).__name__}({', '.join(fields)})"

    def insert_transformed_feature(self, columns_to_tensors: Mapping[Any, Any]):
        """Adds the column's tensor to a dict of raw features and of columns."""
        Features(columns_to_tensors).get(self)

    def for_linear_model(self, columns_to_tensors: Features):
        """The IdWeightPair whose rows of weights a linear model sums up.

        Raises NotImplementedError for columns of numbers, whose `for_dense_weights` a linear model multiplies.
        """
        raise NotImplementedError(f"No wide embedding lookup arguments for column {self}.")

    def for_dense_weights(self, tensor: TensorLike):
        """The transformed tensor as a dense one. Raises NotImplementedError where there is none."""
        raise NotImplementedError(f"No dense tensor representation for column {self}.")

    def for_network(self, tensor, state_manager, output_rank):
        """The transformed tensor as a dense input of that rank. Raises ValueError where there is none."""
        raise ValueError("Calling an abstract method.")


class Features:
    """The tensors of raw features, by their keys, and of columns, each made once; the dict given is filled."""

    def __init__(self, columns_to_tensors):
        self.tensors = columns_to_tensors

    def get(self, key: Any, state_manager=None, training: bool | Tensor | None = None):
        """The tensor of a key or a column. Raises ValueError for missing features, TypeError for other things."""
        if key in self.tensors:
            return self.tensors[key]
        if isinstance(key, str):
            raise ValueError(f"features dictionary doesn't contain key ({key})")
        if not isinstance(key, _FeatureColumn):
            raise TypeError(f'"key" must be either a "str" or "_FeatureColumn". Provided: {key}')
        made = self.tensors[key] = key.transform_feature(self, state_manager)
        return made


def check_feature_columns(feature_columns: Sequence[Any]):
    """Raises ValueError for a dict, and for columns of the same key."""
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    seen = set()
    for column in feature_columns:
        if column.key in seen:
            raise ValueError(
                f"Duplicate feature column key found for column: {column.name}. This usually means that the column is "
                "almost identical to another column, and one must be discarded."
            )
        seen.add(column.key)


def in_order(feature_columns: Sequence[Any]) -> list[Any]:
    """The columns, sorted by their keys."""
    return sorted(set(feature_columns), key=lambda column: column.key)
