"""`tf.contrib.feature_column`: columns of sequences, and the layer that takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.feature_column import (
    sequence_categorical_column_with_hash_bucket,
    sequence_categorical_column_with_identity,
    sequence_categorical_column_with_vocabulary_file,
    sequence_categorical_column_with_vocabulary_list,
    sequence_numeric_column,
)
from tapeflow.feature_column.column import SequenceDenseColumn
from tapeflow.keras.layers.dense_features import require_same_batch
from tapeflow.v1.feature_column import state

__all__ = [
    "sequence_categorical_column_with_hash_bucket", "sequence_categorical_column_with_identity",
    "sequence_categorical_column_with_vocabulary_file", "sequence_categorical_column_with_vocabulary_list",
    "sequence_input_layer", "sequence_numeric_column",
]  # fmt: skip


def sequence_input_layer(
    features: dict[str, Any], feature_columns: Sequence[Any], weight_collections=None, trainable: bool = True
):
    """(a tensor [batch, time, n] of all columns, side by side in the order of their names, the lengths of sequences).

    Args:
      features: a dict of sparse tensors.
      feature_columns: sequence columns, categorical ones in embeddings or indicators.
      weight_collections: the collections of variables.
      trainable: whether these are trained.

    Raises ValueError for other columns, InvalidArgumentError for columns of different lengths.
    """
    columns = state.sorted_columns(feature_columns)
    for column in columns:
        if not isinstance(column, SequenceDenseColumn):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. You can wrap a "
                "sequence_categorical_column with an embedding_column or indicator_column. Given (type "
                f"{type(column)}): {column}"
            )
    manager = state.ScopedState(trainable, state.collections_of(weight_collections))
    made, lengths = [], []
    with v1.variable_scope(None, default_name="sequence_input_layer"):
        cache = state.Features(features)
        for column in columns:
            with v1.variable_scope(None, default_name=state.scope_name_of(column)):
                column.create_state(manager)
                dense, length = column.get_sequence_dense_tensor(cache, manager)
                shape = v1.shape(dense)
                made.append(v1.reshape(dense, [shape[0], shape[1], column.variable_shape.num_elements()]))
                lengths.append(length)
        require_same_batch(made, columns)
        require_same_batch(lengths, columns)
        checks = [v1.assert_equal(lengths[0], other) for other in lengths[1:]]
        with v1.control_dependencies(checks):
            return v1.concat(made, -1), v1.identity(lengths[0])
