"""`tf.feature_column.linear_model` of 1.x: a weight for each number and each category."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public
from tapeflow.keras.layers.dense_features import require_same_batch
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.nn.bias import bias_add
from tapeflow.ops.nn.embedding_sparse import safe_embedding_lookup_sparse
from tapeflow.ops.sparse import shaping
from tapeflow.v1.feature_column import state
from tapeflow.v1.initializers import zeros
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope

if TYPE_CHECKING:
    from tapeflow.core.sparse_tensor import SparseTensor
    from tapeflow.v1.feature_column.state import Features, ScopedState


@public
def linear_model(
    features: dict[str, Any], feature_columns: Sequence[Any], units: TensorLike = 1,
    sparse_combiner: str = "sum", weight_collections: Sequence[str] | None = None, trainable: bool = True,
    cols_to_vars: dict[str, Any] | None = None,
):
    """A tensor [batch, units]: the weighted sum of all columns, and a bias; all weights start as zeros.

    `sparse_combiner`: how the weights of several categories of one example are combined ("sum", "mean", "sqrtn").
    `cols_to_vars` is a dict to fill. Raises ValueError for columns that are neither dense nor categorical.

    Args:
      features: a dict of tensors by the keys of the columns.
      feature_columns: the columns.
      units: the number of outputs.
      sparse_combiner: "sum", "mean" or "sqrtn".
      weight_collections: names of collections of the graph that variables are added to.
      trainable: whether optimizers update the variables.
      cols_to_vars: a dict that gets the variables of each column (optional).
    """
    columns = state.sorted_columns(feature_columns)
    for column in columns:
        if not isinstance(column, (*state.DENSE, state.CATEGORICAL)):
            raise ValueError(
                f"Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. Given: {column}"
            )
    collections = state.collections_of(weight_collections)
    manager = state.ScopedState(trainable, collections)
    sums, made = [], {}
    model = _new_scope("linear_model")
    # The names of columns are made unique outside of the model, whose second one has them numbered too.
    scopes = [_new_scope(state.scope_name_of(column)) for column in columns]
    with variable_scope(model):
        cache = state.Features(features)
        for column, scope in zip(columns, scopes):
            with variable_scope(scope):
                sums.append(_weighted(column, cache, manager, units, sparse_combiner))
                made[column] = state.variables_in(get_variable_scope().name)
        require_same_batch(sums, columns)
        bias = state.scoped_variable(
            "bias_weights", [units], dtypes.float32, zeros(), trainable, collections
        )
        total = bias_add(add_n(sums, name="weighted_sum_no_bias"), bias, name="weighted_sum")
    if cols_to_vars is not None:
        cols_to_vars.update(made, bias=list(bias) if hasattr(bias, "as_tensor") else [bias])
    return total


def _new_scope(name: str) -> str:
    with variable_scope(None, default_name=name) as found:
        return found.name.rpartition("/")[2]


def _weighted(column: Any, cache: Features, manager: ScopedState, units, combiner: str) -> Any:
    categorical = isinstance(column, state.CATEGORICAL)
    size = column.num_buckets if categorical else column.variable_shape.num_elements()
    weights = manager.create_variable(
        column, "weights", [size, units], dtypes.float32, initializer=zeros()
    )
    if categorical:
        ids, own = column.get_sparse_tensors(cache, manager)
        return safe_embedding_lookup_sparse(weights, _rows(ids), _rows(own), combiner=combiner)
    column.create_state(manager)
    dense = column.get_dense_tensor(cache, manager)
    return matmul(reshape(dense, (shape_of(dense)[0], size)), weights)


def _rows(tensor: SparseTensor | None):
    return None if tensor is None else shaping.reshape(tensor, [shape_of(tensor)[0], -1])
