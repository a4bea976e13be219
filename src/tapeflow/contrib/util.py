"""tf.contrib.util: tensors as messages, constants, and the ops that a GraphDef uses."""

from tapeflow.core.files.tensor_proto import make_ndarray, make_tensor_proto
from tapeflow.graph.op_defs.op_lists import ops_used_by_graph_def, stripped_op_list_for_graph
from tapeflow.ops.static import get_static_value as constant_value

__all__ = [
    "constant_value", "make_ndarray", "make_tensor_proto", "ops_used_by_graph_def",
    "stripped_op_list_for_graph",
]  # fmt: skip
