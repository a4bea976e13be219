"""How nodes of crossed features that TensorFlow wrote run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.nodes.node_kinds import SPECIAL
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import planning
from tapeflow.ops.math.casting import cast
from tapeflow.ops.node_rows import NODES
from tapeflow.ops.ragged import cross as ragged_cross
from tapeflow.ops.ragged.tensor import RaggedTensor

if TYPE_CHECKING:
    from tapeflow.graph.nodes.from_node_def import NodeMaker


def _sparse(indices: Any, values: Any, shapes: Any) -> list[Any]:
    return [SparseTensor(*parts) for parts in zip(indices, values, shapes, strict=True)]


def _ragged_cross(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(*given: Any) -> list[Any]:
        values, splits, indices, sparse, shapes, dense = NODES["RaggedCross"].grouped(attrs, given)
        ragged = [
            RaggedTensor.from_row_splits(*parts, validate=False)
            for parts in zip(values, splits, strict=True)
        ]
        kinds = {"R": iter(ragged), "S": iter(_sparse(indices, sparse, shapes)), "D": iter(dense)}
        columns = [next(kinds[letter]) for letter in attrs["input_order"]]
        made = ragged_cross.crossed(columns, **_hashing(attrs))
        return [made.values, cast(made.row_splits, attrs["out_row_splits_type"])]

    outputs = [(attrs["out_values_type"], (None,)), (attrs["out_row_splits_type"], (None,))]
    return python_ops.node(node.op, run, inputs, outputs, name + "/", False, **attrs)


def _hashing(attrs: Mapping[str, Any]) -> dict[str, Any]:
    if not attrs["hashed_output"]:
        return {}
    return {key: attrs[key] for key in ("hashed_output", "num_buckets", "hash_key")}


def _sparse_cross(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(*given: Any) -> list[Any]:
        indices, values, shapes, dense, *sep = NODES[node.op].grouped(attrs, given)
        how = {"separator": sep[0][0].numpy().decode()} if sep else _hashing(attrs)
        made = ragged_cross.crossed([*_sparse(indices, values, shapes), *dense], **how).to_sparse()
        return [made.indices, made.values, made.dense_shape]

    outputs = [(dtypes.int64, (None, 2)), (attrs.get("out_type", dtypes.string), (None,)), (dtypes.int64, (2,))]
    return python_ops.node(node.op, run, inputs, outputs, name + "/", False, **attrs)


SPECIAL.update({"RaggedCross": _ragged_cross, "SparseCross": _sparse_cross, "SparseCrossV2": _sparse_cross})
for _kind in ("RaggedCross", "SparseCross", "SparseCrossV2"):
    planning.emits(_kind)(python_ops.emit)
