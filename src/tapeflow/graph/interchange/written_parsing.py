"""Rows that parse one feature, as the nodes by which TensorFlow parses all: GraphDefs have one for each feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.nodes.parsing_nodes import outputs_of
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.io.example_rows import (
    ParseExampleDenseFeature,
    ParseExampleRaggedFeature,
    ParseExampleSparseFeature,
    ParseSequenceDenseList,
    ParseSequenceRaggedList,
    ParseSequenceSparseList,
)
from tapeflow.ops.string.rows import attr_bytes


def _strings(*values: Any) -> Any:
    return convert_to_tensor(np.array([attr_bytes(v) for v in values], object), dtypes.string)


def _no_strings(count: int) -> list[Any]:
    return [_strings()] * count


def _example(
    serialized: Any, names: Any, kind: str, key: str, sequence: bool, defaults: Any = (), **attrs: Any
) -> Sequence[Any]:
    """The outputs of the node for one feature. `kind`: "sparse", "dense" or "ragged"."""
    kinds = ("sparse", "dense", "ragged")
    keys = [_strings(key) if each == kind else _strings() for each in kinds]
    if not sequence:
        return outputs_of("ParseExampleV2", [serialized, names, *keys, *defaults], **attrs)
    attrs = {
        "Ncontext_sparse" if name == "num_sparse" else "Tcontext_dense" if name == "Tdense" else f"context_{name}": x
        for name, x in attrs.items()
    }
    return outputs_of(
        "ParseSequenceExampleV2",
        [serialized, names, *keys, *_no_strings(3), np.zeros(0, bool), *defaults], **attrs,
    )  # fmt: skip


def _dense(
    serialized: Any, names: Any, default: Any, key: str, sequence: bool, feature_shape: Any, variable: bool,
    required: bool,
) -> Any:  # fmt: skip
    if variable and sequence:
        raise TypeError(
            f"Feature {key} of a context has any number of values of a shape: TensorFlow has no node for that"
        )
    if variable:
        default = reshape(default, [])
    elif required:
        default = convert_to_tensor(np.zeros(0, default.dtype.as_numpy_dtype), default.dtype)
    else:
        scalar = default.shape.rank == 0
        default = (broadcast_to if scalar else reshape)(default, list(feature_shape))
    shape = TensorShape([None, *feature_shape] if variable else list(feature_shape))
    return _example(
        serialized, names, "dense", key, sequence, [default], Tdense=[default.dtype], dense_shapes=[shape]
    )[0]


def _sparse(serialized: Any, names: Any, key: str, sequence: bool, dtype: DTypeLike) -> Any:
    attrs = {"num_sparse": 1, "sparse_types": [dtype]}
    return list(_example(serialized, names, "sparse", key, sequence, **attrs))


def _ragged(
    serialized: Any, names: Any, key: str, sequence: bool, dtype: DTypeLike, splits_dtype: Any
) -> Any:
    attrs = {"ragged_value_types": [dtype], "ragged_split_types": [splits_dtype]}
    return list(_example(serialized, names, "ragged", key, sequence, **attrs))


def _list(
    serialized: Any, names: Any, sparse: Any = (), dense: Any = (), ragged: Any = (), missing: Any = (), **attrs: Any
) -> Any:
    """The outputs of the node for one list of features."""
    keys = [_strings(*each) for each in (sparse, dense, ragged)]
    inputs = [serialized, names, *_no_strings(3), *keys]
    attrs = {f"feature_list_{name}": value for name, value in attrs.items()}
    return outputs_of(
        "ParseSequenceExampleV2", [*inputs, np.array(missing, bool)],
        Nfeature_list_sparse=len(sparse), Nfeature_list_dense=len(dense), **attrs,
    )  # fmt: skip


def _dense_list(
    serialized: Any, names: Any, key: str, dtype: DTypeLike, feature_shape: Any, allow_missing: bool
) -> Any:
    shapes = [TensorShape(list(feature_shape))]
    return list(
        _list(serialized, names, dense=[key], missing=[allow_missing], dense_types=[dtype], dense_shapes=shapes)
    )


def _sparse_list(serialized: Any, names: Any, key: str, dtype: DTypeLike) -> Any:
    return list(_list(serialized, names, sparse=[key], sparse_types=[dtype]))


def _ragged_list(serialized: Any, names: Any, key: str, dtype: DTypeLike, splits_dtype: Any) -> Any:
    attrs = {"ragged_value_types": [dtype], "ragged_split_types": [splits_dtype]}
    return list(_list(serialized, names, ragged=[key], **attrs))


ROWS = {
    ParseExampleDenseFeature: _dense,
    ParseExampleSparseFeature: _sparse,
    ParseExampleRaggedFeature: _ragged,
    ParseSequenceDenseList: _dense_list,
    ParseSequenceRaggedList: _ragged_list,
    ParseSequenceSparseList: _sparse_list,
}
