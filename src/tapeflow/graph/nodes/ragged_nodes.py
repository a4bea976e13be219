"""How the nodes by which TensorFlow makes dense and sparse tensors of ragged ones run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.core import dtypes
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.graph.nodes import python_ops
from tapeflow.graph.nodes.node_kinds import SPECIAL
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import planning
from tapeflow.ops.array.sizes import Size
from tapeflow.ops.ragged.tensor import RaggedTensor

if TYPE_CHECKING:
    from tapeflow.graph.nodes.from_node_def import NodeMaker

_KIND = "RaggedTensorToTensor"
_SPARSE = "RaggedTensorToSparse"


def _made(values: Any, kinds: list[str], parts: list[Any]) -> Any:
    """The ragged tensor of partitions, the outermost first."""
    pairs = list(zip(kinds, parts, strict=True))
    rows = None
    if pairs and pairs[0][0] == "FIRST_DIM_SIZE":
        rows = pairs.pop(0)[1]
    levels = []
    for kind, part in pairs:
        levels.append((kind, part, rows))
        rows = part[-1] if kind == "ROW_SPLITS" else Size(part, part.dtype)
    for kind, part, count in reversed(levels):
        if kind == "ROW_SPLITS":
            values = RaggedTensor.from_row_splits(values, part)
        elif kind == "VALUE_ROWIDS":
            values = RaggedTensor.from_value_rowids(values, part, count)
        else:
            raise InvalidArgumentError(None, None, f"Unsupported row partition type: {kind}")
    return values


def _to_tensor(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    kinds = attrs["row_partition_types"]

    def run(shape: Any, values: Any, default: Any, *parts: Any) -> list[Any]:
        found = _made(values, kinds, list(parts))
        wanted = None
        if shape.shape.rank:
            wanted = [None if size < 0 else size for size in shape.numpy().tolist()]
        return [found.to_tensor(default, shape=wanted)]

    values = inputs[1].shape_tuple
    rank = None if values is None else len(values) + len([k for k in kinds if k != "FIRST_DIM_SIZE"])
    outputs = [(attrs["T"], None if rank is None else (None,) * rank)]
    return python_ops.node(_KIND, run, inputs, outputs, name + "/", False, **attrs)


def _to_sparse(maker: NodeMaker, node: protos.NodeDef, inputs: Any, name: str, attrs: dict[str, Any]) -> Operation:
    def run(*parts: Any) -> list[Any]:
        *splits, values = parts
        found = RaggedTensor.from_nested_row_splits(values, splits).to_sparse()
        return [found.indices, found.values, found.dense_shape]

    values = inputs[-1].shape_tuple
    rank = None if values is None else len(values) + len(inputs) - 1
    outputs = [(dtypes.int64, (None, rank)), (attrs["T"], (None,)), (dtypes.int64, (rank,))]
    return python_ops.node(_SPARSE, run, inputs, outputs, name + "/", False, **attrs)


for _kind, _maker in ((_KIND, _to_tensor), (_SPARSE, _to_sparse)):
    SPECIAL[_kind] = _maker
    planning.emits(_kind)(python_ops.emit)
