"""`tf.feature_column.input_layer` of 1.x: raw features into one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.public import public
from tapeflow.keras.layers.dense_features import require_same_batch
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.v1.feature_column import state
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope


@public
def input_layer(
    features: dict[str, Any], feature_columns: Sequence[Any], weight_collections=None, trainable: bool = True,
    cols_to_vars: dict[str, Any] | None = None, cols_to_output_tensors: dict[str, Any] | None = None,
):
    """A tensor [batch, n] of all dense columns, side by side in the order of their names.

    `cols_to_vars` and `cols_to_output_tensors` are dicts to fill. Raises ValueError for columns that are not dense,
    for features that are missing and for different numbers of examples.

    Args:
      features: a dict of tensors by the keys of the columns.
      feature_columns: dense columns.
      weight_collections: names of collections of the graph that variables are added to.
      trainable: whether optimizers update the variables.
      cols_to_vars: a dict that gets the variables of each column (optional).
      cols_to_output_tensors: a dict that gets the output of each column (optional).
    """
    columns = state.sorted_columns(feature_columns)
    for column in columns:
        if not isinstance(column, state.DENSE):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with an "
                f"embedding_column or indicator_column. Given: {column}"
            )
    manager = state.ScopedState(trainable, state.collections_of(weight_collections))
    made = []
    with variable_scope(None, default_name="input_layer"):
        cache = state.Features(features)
        for column in columns:
            with variable_scope(None, default_name=state.scope_name_of(column)):
                column.create_state(manager)
                tensor = column.get_dense_tensor(cache, manager)
                tensor = reshape(tensor, (shape_of(tensor)[0], column.variable_shape.num_elements()))
                made.append(tensor)
                if cols_to_vars is not None:
                    cols_to_vars[column] = state.variables_in(get_variable_scope().name)
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = tensor
        require_same_batch(made, columns)
        return concat(made, 1)
