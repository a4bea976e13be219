"""`TransformGraph`: passes over a `GraphDef`, by the names and with the parameters of the tool of TensorFlow 1.x."""

from __future__ import annotations

from typing import Any

from tapeflow.core.errors import InternalError, OpError
from tapeflow.core.log import get_logger
from tapeflow.core.public import public
from tapeflow.graph.interchange.graph_util import node_name
from tapeflow.graph.nodes.from_node_def import load_all_rows
from tapeflow.tools.graph_transforms import (
    backports,
    batch_norms,
    constants,
    convolutions,
    folding,
    nodes_and_names,
    quantizing,
    ranges,
    sparse_rows,
    stripping,
)
from tapeflow.tools.graph_transforms.registry import TRANSFORMS, Call, calls, invalid

__all__ = ["TransformGraph"]


@public
def TransformGraph(input_graph_def, inputs: Any, outputs, transforms):
    """Apply transforms to a `GraphDef`, one after another.

    Args:
      input_graph_def: a `GraphDef`, which stays as it is.
      inputs: names of the nodes that are fed.
      outputs: names of the nodes that are fetched.
      transforms: strings, each with names of transforms and their parameters, as
        "strip_unused_nodes(type=float, shape=\\"1,299,299,3\\")". All take `ignore_errors=true`, with which a
        transform that fails is logged and left out.

    Returns:
      A new `GraphDef`.

    Raises:
      InvalidArgumentError: for a text that cannot be read, a transform that is not known, and parameters or graphs
        that a transform cannot take.
      InternalError: where nodes of the result have inputs that are not there.
    """
    load_all_rows()  # transforms ask what ops are like
    graph_def = type(input_graph_def)()
    graph_def.CopyFrom(input_graph_def)
    for name, parameters in calls(" ".join(transforms)):
        if name not in TRANSFORMS:
            raise invalid(f"Transform '{name}' not recognized.")
        call = Call(name, list(inputs), list(outputs), parameters)
        ignoring = call.flag("ignore_errors", False)
        try:
            result = TRANSFORMS[name](graph_def, call)
        except OpError as error:
            if not ignoring:
                raise
            get_logger().error("%s: Ignoring error %s", name, error.message)
            continue
        result.library.CopyFrom(graph_def.library)
        known = {node.name for node in result.node}
        if not all(node_name(text) in known for node in result.node for text in node.input):
            raise InternalError(None, None, "Invalid graph with inputs referring to nonexistent nodes")
        graph_def = result
    return graph_def
