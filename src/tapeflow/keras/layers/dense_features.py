"""`tf.keras.layers.DenseFeatures` and `tf.keras.experimental.SequenceFeatures`: raw features into tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.context import name_scope
from tapeflow.core.structures import nest
from tapeflow.feature_column.cache import FeatureTransformationCache
from tapeflow.feature_column.column import DenseColumn, SequenceDenseColumn, normalized
from tapeflow.feature_column.serialization import (
    deserialize_feature_column,
    serialize_feature_column,
)
from tapeflow.feature_column.state import StateManager
from tapeflow.keras import initializers
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assertions import assert_equal
from tapeflow.ops.control.grouping import control_dependencies


def require_same_batch(tensors: Sequence[Tensor], columns: Sequence[Any]) -> None:
    """Raises ValueError where the tensors of two columns are known to have different numbers of examples."""
    first = None
    for column, tensor in zip(columns, tensors):
        size = tensor.shape[0] if tensor.shape.rank else None
        if size is None:
            continue
        if first is None:
            first = column, size
        elif first[1] != size:
            raise ValueError(
                "Batch size (first dimension) of each feature must be same. "
                f"Batch size of columns ({first[0].name}, {column.name}): ({first[1]}, {size})"
            )


class _Features(Layer):
    """What the layers for columns have in common. The columns are taken in the order of their names."""

    _columns_of: type = DenseColumn

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        # What programs of a later Keras have in their configurations.
        partitioner = kwargs.pop("partitioner", None)
        super().__init__(name=name, trainable=trainable, **kwargs)
        self.__dict__["_partitioner"] = partitioner
        self.__dict__["_feature_columns"] = normalized(feature_columns)
        for column in self._feature_columns:
            if not isinstance(column, self._columns_of):
                raise ValueError(
                    f"Items of feature_columns must be a {self._columns_of}. You can wrap a categorical column with "
                    f"an embedding_column or indicator_column. Given: {column}"
                )
        self.__dict__["_state_manager"] = self._new_state()

    def _new_state(self):
        return StateManager(self, self.trainable)

    @property
    def _is_feature_layer(self):
        return True

    @property
    def _feature_dtypes(self):
        return {
            key: feature.dtype
            for column in self._feature_columns
            for key, feature in column.parse_example_spec.items()
        }

    def build(self, _):
        for column in self._feature_columns:
            column.create_state(self._state_manager)
        self.built = True

    def _target_shape(self, input_shape: Sequence[Any], elements):
        raise NotImplementedError

    def compute_output_shape(self, input_shape):
        elements = sum(column.variable_shape.num_elements() for column in self._feature_columns)
        return self._target_shape(input_shape, elements)

    def _flat(self, column: Any, tensor: Tensor):
        return reshape(tensor, self._target_shape(shape_of(tensor), column.variable_shape.num_elements()))

    def _joined(self, tensors):
        require_same_batch(tensors, self._feature_columns)
        return concat(tensors, -1)

    def get_config(self):
        config = super().get_config()
        columns = [serialize_feature_column(column) for column in self._feature_columns]
        return {**config, "feature_columns": columns, "partitioner": None}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
        config = dict(config)
        config.pop("partitioner", None)
        known = dict(initializers._NAMES)
        known.pop("TruncatedNormal")
        known.update(custom_objects or {})
        found: dict = {}
        columns = [deserialize_feature_column(one, known, found) for one in config.pop("feature_columns")]
        return cls(feature_columns=columns, **config)


def _require_dict(features: dict[str, Any]) -> None:
    if not isinstance(features, dict):
        raise ValueError("We expected a dictionary here. Instead we got: ", features)


class DenseFeatures(_Features):
    """Turns a dict of raw features into one tensor, as feature columns say.

    Output shape: `(batch, sum of the columns' sizes)`.

    Args:
      feature_columns: dense columns of `tf.feature_column`, which are taken in the order of their names.
      trainable: whether the weights of embedding columns are trained.
      name: the name of the layer.
      **kwargs: other arguments of `Layer`.

    Raises:
      ValueError: for columns of another kind.
    """

    def _target_shape(self, input_shape: Any, elements: int):
        return (input_shape[0], elements)

    def call(self, features, cols_to_output_tensors=None, training=None):
        _require_dict(features)
        cache = FeatureTransformationCache(features)
        made = []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor = self._flat(column, column.get_dense_tensor(cache, self._state_manager))
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensor
            made.append(tensor)
        return self._joined(made)


class SequenceFeatures(_Features):
    """Turns a dict of raw features of sequences into one tensor, as feature columns say, and the sequences' lengths.

    Output shape: `(batch, steps, sum of the columns' sizes)` and `(batch,)`.

    Args:
      feature_columns: sequence columns of `tf.feature_column`, which are taken in the order of their names.
      trainable: whether the weights of embedding columns are trained.
      name: the name of the layer.
      **kwargs: other arguments of `Layer`.

    Raises:
      ValueError: for columns of another kind.
    """

    _columns_of = SequenceDenseColumn

    def _target_shape(self, input_shape: Any, elements: int):
        return (input_shape[0], input_shape[1], elements)

    def call(self, features, training=None):
        _require_dict(features)
        cache = FeatureTransformationCache(features)
        made, lengths = [], []
        for column in self._feature_columns:
            with name_scope(column.name):
                dense, length = column.get_sequence_dense_tensor(cache, self._state_manager)
                made.append(self._flat(column, dense))
            lengths.append(length)
        require_same_batch(lengths, self._feature_columns)
        return self._joined(made), _same(lengths)


def _same(lengths: Sequence[Tensor]):
    if len(lengths) == 1:
        return lengths[0]
    with control_dependencies(nest.flatten([assert_equal(lengths[0], one) for one in lengths[1:]])):
        return identity(lengths[0])
