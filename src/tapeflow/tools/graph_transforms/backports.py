"""Transforms to ops that older versions of TensorFlow know."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.ops.array.joining import Concat, ConcatV2
from tapeflow.tools.graph_transforms.registry import Call, transform
from tapeflow.tools.nodes import Nodes, constant


@transform
def backport_concatv2(graph_def: protos.GraphDef, call: Call) -> Any:
    """Concatenate by the op that takes the axis first."""
    nodes = Nodes(graph_def)
    for node in nodes:
        if node.op == ConcatV2.name:
            node.op = Concat.name
            values = [text for text in node.input if not text.startswith("^")]
            node.input[: len(values)] = [values[-1], *values[:-1]]
            node.attr.pop("Tidx", None)
    return nodes.graph_def()


@transform
def backport_tensor_array_v3(graph_def: protos.GraphDef, call: Call) -> Any:
    """Use the ops of arrays of tensors of the second version, which have no flow of their own."""
    nodes, flows = Nodes(graph_def), {}
    for node in nodes:
        if node.op.startswith("TensorArray") and node.op.endswith("V3"):
            if node.op in ("TensorArrayV3", "TensorArrayGradV3"):
                flows[node.name] = f"{node.name}/replacement_flow_node"
                nodes.put(constant(flows[node.name], np.float32(1)))
            node.op = node.op[:-1] + "2"
    nodes.redirect(lambda name, output: flows[name] if name in flows and output == 1 else None)
    return nodes.graph_def()
