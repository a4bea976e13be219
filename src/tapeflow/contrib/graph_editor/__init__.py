"""`tf.contrib.graph_editor`: parts of graphs as views, which are selected, copied, cut off and connected anew."""

from tapeflow.contrib.graph_editor.edit import (
    bypass,
    connect,
    detach,
    detach_control_inputs,
    detach_control_outputs,
    detach_inputs,
    detach_outputs,
)
from tapeflow.contrib.graph_editor.reroute import (
    add_control_inputs,
    remove_control_inputs,
    reroute_inputs,
    reroute_ios,
    reroute_outputs,
    reroute_ts,
    swap_inputs,
    swap_ios,
    swap_outputs,
    swap_ts,
)
from tapeflow.contrib.graph_editor.select import (
    can_be_regex,
    check_cios,
    compute_boundary_ts,
    filter_ops,
    filter_ops_from_regex,
    filter_ts,
    filter_ts_from_regex,
    get_name_scope_ops,
    get_ops_ios,
    make_regex,
    select_ops,
    select_ops_and_ts,
    select_ts,
)
from tapeflow.contrib.graph_editor.subgraph import SubGraphView, make_view, make_view_from_scope
from tapeflow.contrib.graph_editor.transform import (
    Transformer,
    TransformerInfo,
    assign_renamed_collections_handler,
    copy,
    copy_op_handler,
    copy_with_input_replacements,
    graph_replace,
    keep_t_if_possible_handler,
    replace_t_with_placeholder_handler,
    transform_op_if_inside_handler,
)
from tapeflow.contrib.graph_editor.util import (
    ControlOutputs,
    find_corresponding,
    find_corresponding_elem,
    get_consuming_ops,
    get_generating_ops,
    get_tensors,
    make_list_of_op,
    make_list_of_t,
    make_placeholder_from_dtype_and_shape,
    make_placeholder_from_tensor,
    placeholder_name,
)
from tapeflow.contrib.graph_editor.walks import (
    get_backward_walk_ops,
    get_forward_walk_ops,
    get_walks_intersection_ops,
    get_walks_union_ops,
    get_within_boundary_ops,
)

ph = make_placeholder_from_dtype_and_shape
sgv = make_view
sgv_scope = make_view_from_scope

__all__ = [
    "ControlOutputs", "SubGraphView", "Transformer", "TransformerInfo", "add_control_inputs",
    "assign_renamed_collections_handler", "bypass", "can_be_regex", "check_cios", "compute_boundary_ts", "connect",
    "copy", "copy_op_handler", "copy_with_input_replacements", "detach", "detach_control_inputs",
    "detach_control_outputs", "detach_inputs", "detach_outputs", "filter_ops", "filter_ops_from_regex", "filter_ts",
    "filter_ts_from_regex", "find_corresponding", "find_corresponding_elem", "get_backward_walk_ops",
    "get_consuming_ops", "get_forward_walk_ops", "get_generating_ops", "get_name_scope_ops", "get_ops_ios",
    "get_tensors", "get_walks_intersection_ops", "get_walks_union_ops", "get_within_boundary_ops", "graph_replace",
    "keep_t_if_possible_handler", "make_list_of_op", "make_list_of_t", "make_placeholder_from_dtype_and_shape",
    "make_placeholder_from_tensor", "make_regex", "make_view", "make_view_from_scope", "ph", "placeholder_name",
    "remove_control_inputs", "replace_t_with_placeholder_handler", "reroute_inputs", "reroute_ios",
    "reroute_outputs", "reroute_ts", "select_ops", "select_ops_and_ts", "select_ts", "sgv", "sgv_scope",
    "swap_inputs", "swap_ios", "swap_outputs", "swap_ts", "transform_op_if_inside_handler",
]  # fmt: skip
