"""`tf.contrib.copy_graph`: operations and variables of one graph, again in another."""

from tapeflow.contrib.copy_graph import copy_elements
from tapeflow.contrib.copy_graph.copy_elements import (
    copy_op_to_graph,
    copy_variable_to_graph,
    get_copied_op,
)

__all__ = ["copy_elements", "copy_op_to_graph", "copy_variable_to_graph", "get_copied_op"]
