"""Nodes that libraries add to a graph from their definition."""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.core.structures import nest
from tapeflow.graph.interchange.importing import import_graph_def
from tapeflow.graph.tensor import SymbolicTensor


def create_c_op(
    graph: Any, node_def: Any, inputs: Any, control_inputs: Any, op_def: Any = None, extract_traceback: bool = True
) -> Any:
    """The operation that a NodeDef describes, added to a graph.

    Args:
      graph: the graph.
      node_def: a NodeDef; its inputs are left out of account.
      inputs: the inputs, tensors of the graph, or lists of such where the op takes a list.
      control_inputs: operations that run before it.
      op_def: not used: the ops are known.
      extract_traceback: not used.

    Raises ValueError for an op that is not known, or inputs that do not fit it.
    """
    flat = [x for x in nest.flatten(inputs) if isinstance(x, SymbolicTensor)]
    message = protos.NodeDef()
    message.CopyFrom(node_def)
    given = {}
    del message.input[:]
    made = protos.GraphDef()
    for i, x in enumerate(flat):
        made.node.add(name=f"_input_{i}", op="Placeholder").attr["dtype"].type = x.dtype.as_datatype_enum
        message.input.append(f"_input_{i}:0")
        given[f"_input_{i}:0"] = x
    made.node.append(message)
    with graph.as_default(), graph.control_dependencies(list(control_inputs or ())):
        (found,) = import_graph_def(made, input_map=given, return_elements=[message.name], name="") or (None,)
    return found
