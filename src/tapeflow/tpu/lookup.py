"""Looking features up in tables of embeddings on the CPU, as a model that was trained on TPUs is served."""

from __future__ import annotations

from typing import Any

from tapeflow import math, nest, nn
from tapeflow._native import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.structures.nest_paths import flatten_with_joined_string_paths
from tapeflow.ops.array import layout, sizes
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing.scatter import scatter_nd
from tapeflow.ops.math.casting import cast
from tapeflow.ops.ragged.math import RaggedTensor
from tapeflow.ops.sparse.shaping import slice_ as sparse_slice
from tapeflow.tpu.table_configs import FeatureConfig


@public
def serving_embedding_lookup(inputs: Any, weights: Any, tables: Any, feature_config: Any) -> Any:
    """Look features up in tables.

    Args:
      inputs: a nested structure of ids: tensors, whose ids are looked up one by one, or sparse or ragged tensors,
        whose rows are combined.
      weights: what each id counts, of the structure of `inputs`; None: 1.
      tables: the variables of the tables, by their `TableConfig`.
      feature_config: a nested structure of `FeatureConfig` that has a part of the path of each input.

    Returns:
      The embeddings, in the structure of `inputs`.

    Raises:
      ValueError: for inputs without a `FeatureConfig`, and weights that do not fit.
    """
    features = dict(flatten_with_joined_string_paths(feature_config))
    named = flatten_with_joined_string_paths(inputs)
    paths = {path for path, _ in named}
    if not paths <= features.keys():
        raise ValueError(
            f"Inputs are not a subset of feature_config. Inputs keys are {paths}, but feature_config keys are "
            f"{features.keys()}"
        )
    if weights is None:
        counts = [None] * len(named)
    else:
        nest.assert_same_structure(inputs, weights)
        counts = nest.flatten(weights)
    found = [
        _looked_up(path, ids, weight, tables[features[path].table], features[path])
        for (path, ids), weight in zip(named, counts, strict=True)
    ]
    return nest.pack_sequence_as(inputs, found)


def _looked_up(path: str, ids: Any, weight: Any, table: Any, feature: FeatureConfig) -> Any:
    is_sequence = feature.max_sequence_length > 0
    if not isinstance(ids, (Tensor, SparseTensor, RaggedTensor)):
        raise ValueError(f"Input {path} is type {type(ids)}. Tensor, SparseTensor or RaggedTensor expected.")
    if weight is not None:
        if isinstance(ids, Tensor):
            raise ValueError(f"Weight specified for {path}, but input is dense.")
        if type(weight) is not type(ids):
            raise ValueError(
                f"Weight for {path} is of type {type(weight)} but it does not match type of the input which is "
                f"{type(ids)}."
            )
        if is_sequence:
            raise ValueError(f"Weight specified for {path}, but this is a sequence feature.")
    if isinstance(ids, SparseTensor):
        return _of_sparse(ids, weight, table, feature)
    if isinstance(ids, RaggedTensor):
        return _of_ragged(ids, weight, table, feature)
    if is_sequence:
        raise ValueError(f"Feature {path} is a sequence feature but a dense tensor was passed.")
    return nn.embedding_lookup(table, ids)


def _of_sparse(ids: Any, weight: Any, table: Any, feature: FeatureConfig) -> Any:
    rank = ids.shape.rank
    if not feature.output_shape and feature.max_sequence_length > 0 and rank in (None, 2):
        batch = cast(sizes.shape(ids)[0], "int64")
        length = feature.max_sequence_length
        kept = sparse_slice(ids, [0, 0], stack([batch, length]))
        rows = nn.embedding_lookup(table, kept.values)
        return scatter_nd(kept.indices, rows, stack([batch, length, feature.table.dim]))
    combined: Any = nn.safe_embedding_lookup_sparse
    if not feature.validate_weights_and_indices and rank is not None and rank <= 2:
        combined = nn.embedding_lookup_sparse
    return combined(table, ids, weight, combiner=feature.table.combiner)


def _of_ragged(ids: Any, weight: Any, table: Any, feature: FeatureConfig) -> Any:
    if ids.shape.rank != 2:
        raise ValueError(f"Only rank 2 ragged tensor is supported, but got rank {ids.shape.rank}")
    batch, dim = ids.shape[0], feature.table.dim
    if not feature.output_shape:
        if feature.max_sequence_length > 0:
            return nn.embedding_lookup(table, ids).to_tensor(shape=[batch, feature.max_sequence_length, dim])
        return _combined(ids, weight, table, feature.table.combiner)
    wanted = feature.output_shape.num_elements()
    shape = [*feature.output_shape.as_list(), dim]
    if wanted == batch:
        return layout.reshape(_combined(ids, weight, table, feature.table.combiner), shape)
    if wanted > batch and wanted % batch == 0:
        return layout.reshape(nn.embedding_lookup(table, ids).to_tensor(shape=[batch, wanted // batch, dim]), shape)
    raise ValueError(
        "Output shape set in the FeatureConfig should be the factor of the input data batch size. But instead got "
        f"output shape {feature.output_shape}, input data batch size {batch}"
    )


def _combined(ids: Any, weight: Any, table: Any, combiner: Any) -> Any:
    """The sum of the rows of each example by their weights, divided as the combiner says."""
    rows = nn.embedding_lookup(table, ids)
    flat = ones_like(ids.flat_values, dtype=table.dtype) if weight is None else weight.flat_values
    flat = layout.expand_dims(convert_to_tensor(flat), 1)

    def total(values: Any) -> Any:
        return math.reduce_sum(ids.with_flat_values(values), axis=1)

    result = total(rows.flat_values * flat)
    if combiner == "mean":
        return math.divide_no_nan(result, total(flat))
    return math.divide_no_nan(result, math.sqrt(total(flat * flat))) if combiner == "sqrtn" else result
