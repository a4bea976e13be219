"""Columns as the input of a network, or as a linear model."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tapeflow.contrib.framework.variables import model_variable
from tapeflow.contrib.layers.columns.base import Features, check_feature_columns, in_order
from tapeflow.contrib.layers.columns.crossed import _CrossedColumn
from tapeflow.contrib.layers.columns.dense import (
    _EmbeddingColumn,
    _OneHotColumn,
    _ScatteredEmbeddingColumn,
)
from tapeflow.contrib.layers.columns.numeric import (
    _BucketizedColumn,
    _RealValuedColumn,
    _RealValuedVarLenColumn,
    real_valued_column,
)
from tapeflow.contrib.layers.columns.ranks import with_rank
from tapeflow.core.annotations import Collections, ShapeLike, Tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.structures import nest
from tapeflow.feature_column.lookup import restored
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.nn.bias import bias_add
from tapeflow.ops.nn.embedding_sparse import safe_embedding_lookup_sparse
from tapeflow.ops.sparse import shaping
from tapeflow.v1.feature_column.state import ScopedState
from tapeflow.v1.initializers import zeros_initializer
from tapeflow.v1.variable_scoping import VariableScope, variable_scope

_OF_SEQUENCES = (_OneHotColumn, _EmbeddingColumn, _RealValuedColumn, _RealValuedVarLenColumn)
_NOT_OF_SEQUENCES = (_ScatteredEmbeddingColumn, _BucketizedColumn, _CrossedColumn)


class _ModelVariables(ScopedState):
    """Variables of the model, in the scope that is open."""

    def _make(self, column, name: str | None, shape, dtype, trainable: bool, initializer):
        return model_variable(
            name, shape, dtype, initializer, trainable=trainable, collections=self.collections
        )


def _input(
    features, columns: Sequence[Any], weight_collections, trainable: bool, scope, rank: int, default_name: str,
    outputs,
):
    check_feature_columns(columns)
    if outputs is not None and not isinstance(outputs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    made, found = [], Features(features.copy())
    with variable_scope(scope, default_name):
        manager = _ModelVariables(trainable, weight_collections)
        for column in in_order(columns):
            with variable_scope(None, column.name):
                tensor = found.get(column)
                if rank == 3:
                    lift = functools.partial(with_rank, rank=rank, name=column.name)
                    tensor = nest.map_structure(lift, tensor)
                try:
                    made.append(column.for_network(tensor, manager, rank))
                except ValueError as error:
                    raise ValueError(
                        f"Error creating input layer for column: {column.name}.\n{error}"
                    ) from error
                if outputs is not None:
                    outputs[column] = made[-1]
        return concat(made, rank - 1)


def input_from_feature_columns(
    columns_to_tensors, feature_columns: Sequence[Any], weight_collections: Collections | None = None,
    trainable: bool = True, scope: str | VariableScope | None = None, cols_to_outs: dict[str, Any] | None = None,
):
    """A tensor [batch, n] of all columns, side by side in the order of their keys.

    Args:
      columns_to_tensors: raw features by key; also transformed ones, by column.
      feature_columns: dense columns: of numbers and their ranges, one-hot, embeddings.
      weight_collections: the collections that the variables join.
      trainable: whether the variables are trained.
      scope: the variable scope.
      cols_to_outs: a dict to fill with the tensor of each column.
    Raises:
      ValueError: for columns that are not dense, and for two that are the same.
    """
    return _input(
        columns_to_tensors, feature_columns, weight_collections, trainable, scope, 2, "input_from_feature_columns",
        cols_to_outs,
    )  # fmt: skip


def sequence_input_from_feature_columns(
    columns_to_tensors: dict[str, Any], feature_columns: Sequence[Any], weight_collections: Collections | None = None,
    trainable: bool = True, scope: str | VariableScope | None = None,
):
    """A tensor [batch, time, n] of all columns of sequences; see `input_from_feature_columns`.

    Raises ValueError for columns of ranges, of combinations and of scattered embeddings, or of what is made of these.
    """
    for column in feature_columns:
        if not isinstance(column, _OF_SEQUENCES):
            raise ValueError(
                f"FeatureColumn type {type(column).__name__} is not currently supported for sequence data."
            )
    for column in _with_parents(feature_columns):
        if isinstance(column, _NOT_OF_SEQUENCES):
            raise ValueError(
                f"Column {column.name} is of type {type(column).__name__}, which is not currently supported for "
                "sequences."
            )
    return _input(
        columns_to_tensors, feature_columns, weight_collections, trainable, scope, 3,
        "sequence_input_from_feature_columns", None,
    )  # fmt: skip


def _with_parents(columns: Sequence[Any]):
    for column in columns:
        if not isinstance(column, str):
            yield column
            yield from _with_parents(column.parents)


def _parts(variable):
    return list(variable) if hasattr(variable, "as_tensor") else [variable]


def _variable(name: str, shape: ShapeLike, trainable: bool, weight_collections: Collections | None) -> Any:
    return model_variable(
        name,
        shape,
        initializer=zeros_initializer(),
        trainable=trainable,
        collections=weight_collections,
    )


def _weighted(column: Any, features, num_outputs: int, trainable: bool, weight_collections: Collections | None):
    """(the parts of its weights, [batch, num_outputs]) of a column."""
    tensor = features.get(column)
    with variable_scope(None, column.name):
        try:
            ids, weights = column.for_linear_model(features)
        except NotImplementedError:
            dense = with_rank(column.for_dense_weights(tensor), 2, column.name)
            made = _variable("weight", [dense.shape[1], num_outputs], trainable, weight_collections)
            return [made], matmul(dense, made)
        except ValueError as error:
            raise ValueError(
                f"Error creating weighted sum for column: {column.name}.\n{error}"
            ) from error
        made = _variable(
            "weights", [column.num_buckets, num_outputs], trainable, weight_collections
        )
        found = safe_embedding_lookup_sparse(made, ids, weights, combiner=column.combiner)
        return _parts(made), found


def _biased(total: Tensor, num_outputs: int, trainable: bool, weight_collections: Collections | None):
    bias = _variable("bias_weight", [num_outputs], trainable, weight_collections)
    return bias_add(total, bias), bias


def weighted_sum_from_feature_columns(
    columns_to_tensors, feature_columns: Sequence[Any], num_outputs: int,
    weight_collections: Collections | None = None, trainable: bool = True, scope: str | VariableScope | None = None,
):
    """A linear model of the columns, whose weights start as zeros.

    Args:
      columns_to_tensors: raw features by key; also transformed ones, by column.
      feature_columns: columns of numbers, and of ids, with or without weights.
      num_outputs: the number of sums.
      weight_collections: the collections that the variables join.
      trainable: whether the variables are trained.
      scope: the variable scope.
    Returns:
      The sums [batch, num_outputs], a dict of the variables (a list, of one or of its parts) by column, the bias.
    Raises:
      ValueError: for embeddings, and for two columns that are the same.
    """
    check_feature_columns(feature_columns)
    features, sums, variables = Features(columns_to_tensors.copy()), [], {}
    with variable_scope(scope, "weighted_sum_from_feature_columns"):
        for column in in_order(feature_columns):
            made, found = _weighted(column, features, num_outputs, trainable, weight_collections)
            sums.append(reshape(found, (-1, num_outputs)))
            variables[column] = made
            if isinstance(column, _CrossedColumn):
                part = made[0] if len(made) == 1 else made
                restored(part, column.ckpt_to_load_from, column.tensor_name_in_ckpt)
        total, bias = _biased(add_n(sums), num_outputs, trainable, weight_collections)
        return total, variables, bias


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors, feature_columns: Sequence[Any], num_outputs: int,
    weight_collections: Collections | None = None, trainable: bool = True, scope: str | VariableScope | None = None,
):
    """`weighted_sum_from_feature_columns` of columns of ids, whose weights are one variable.

    Returns (sums, the parts of the variable, bias). Raises NotImplementedError for columns of numbers, AssertionError
    for ids with weights, other combiners than "sum", and no columns.
    """
    check_feature_columns(feature_columns)
    features, shifted, size = Features(columns_to_tensors.copy()), [], 0
    with variable_scope(scope, "joint_weighted_sum_from_feature_columns"):
        for column in in_order(feature_columns):
            try:
                ids, weights = column.for_linear_model(features)
            except NotImplementedError as error:
                raise NotImplementedError(
                    "Real-valued columns are not supported. Use weighted_sum_from_feature_columns instead, or "
                    "bucketize these columns."
                ) from error
            advice = "Please use weighted_sum_from_feature_columns instead."
            assert weights is None, (
                f"Joint sums for weighted sparse columns are not supported. {advice}"
            )
            assert column.combiner == "sum", (
                f"Combiners other than sum are not supported for joint sums. {advice}"
            )
            shifted.append(SparseTensor(ids.indices, ids.values + size, ids.dense_shape))
            size += column.num_buckets
        assert shifted, "At least one column must be in the model."
        with variable_scope(None, "linear_weights"):
            made = _variable("weights", [size, num_outputs], trainable, weight_collections)
            total = safe_embedding_lookup_sparse(made, shaping.concat(1, shifted), combiner="sum")
        total, bias = _biased(total, num_outputs, trainable, weight_collections)
        return total, _parts(made), bias


def infer_real_valued_columns(features: Tensor | dict[str, Any]):
    """Real-valued columns for a tensor, or for a dict of them. Raises ValueError for tensors without dense numbers."""
    named = features if isinstance(features, dict) else {"": features}
    return [_real_valued(name, tensor) for name, tensor in named.items()]


def _real_valued(name: str, tensor):
    number = tensor.dtype.is_integer or tensor.dtype.is_floating
    if isinstance(tensor, SparseTensor) or not number:
        what = (
            "SparseTensor is"
            if isinstance(tensor, SparseTensor)
            else "Non integer or non floating types are"
        )
        raise ValueError(
            f"{what} not supported for auto detection. Please define corresponding FeatureColumn for tensor {name} "
            f"{tensor}."
        )
    return real_valued_column(name, dimension=tensor.shape[1:].num_elements(), dtype=tensor.dtype)
