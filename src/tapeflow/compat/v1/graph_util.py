"""tf.compat.v1.graph_util: GraphDefs and their parts."""

from tapeflow.graph.interchange.freezing import convert_variables_to_constants
from tapeflow.graph.interchange.graph_util import (
    extract_sub_graph,
    must_run_on_cpu,
    remove_training_nodes,
    tensor_shape_from_node_def_name,
)
from tapeflow.graph.interchange.importing import import_graph_def

__all__ = [
    "convert_variables_to_constants", "extract_sub_graph", "import_graph_def", "must_run_on_cpu",
    "remove_training_nodes", "tensor_shape_from_node_def_name",
]  # fmt: skip
