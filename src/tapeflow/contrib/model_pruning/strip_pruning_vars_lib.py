"""Frozen graphs of pruned models without their masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.compat import v1

__all__ = ["graph_def_from_checkpoint", "strip_pruning_vars_fn"]


def strip_pruning_vars_fn(input_graph_def: Any, output_node_names: Sequence[str]) -> Any:
    """A GraphDef in which masked weights are constants.

    Args:
      input_graph_def: a GraphDef without variables.
      output_node_names: the nodes that are kept, with what they need.
    """
    names = [node.name for node in input_graph_def.node if "masked_weight" in node.name]
    with v1.Graph().as_default():
        tensors = v1.import_graph_def(input_graph_def, return_elements=[f"{name}:0" for name in names], name="")
        with v1.Session() as session:
            values = dict(zip(names, session.run(tensors), strict=True))
    stripped = v1.GraphDef()
    for node in input_graph_def.node:
        added = stripped.node.add()
        if node.name in values:
            added.op, added.name = "Const", node.name
            added.attr["dtype"].CopyFrom(node.attr["T"])
            added.attr["value"].tensor.CopyFrom(v1.make_tensor_proto(values[node.name]))
        else:
            added.CopyFrom(node)
    return v1.graph_util.extract_sub_graph(stripped, list(output_node_names))


def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: Sequence[str]) -> Any:
    """The graph of the newest checkpoint of a folder, with constants for variables.

    Raises ValueError where there is none.
    """
    path = v1.train.latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    with v1.Graph().as_default() as graph, v1.Session() as session:
        v1.train.import_meta_graph(f"{path}.meta", clear_devices=True).restore(session, path)
        return v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), list(output_node_names))
