# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.graph.interchange.freezing import convert_variables_to_constants as convert_variables_to_constants
from tapeflow.graph.interchange.graph_util import extract_sub_graph as extract_sub_graph
from tapeflow.graph.interchange.graph_util import must_run_on_cpu as must_run_on_cpu
from tapeflow.graph.interchange.graph_util import remove_training_nodes as remove_training_nodes
from tapeflow.graph.interchange.graph_util import tensor_shape_from_node_def_name as tensor_shape_from_node_def_name
from tapeflow.graph.interchange.importing import import_graph_def as import_graph_def
__all__ = [
    "convert_variables_to_constants",
    "extract_sub_graph",
    "import_graph_def",
    "must_run_on_cpu",
    "remove_training_nodes",
    "tensor_shape_from_node_def_name",
]
