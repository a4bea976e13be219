"""`strip_unused`: the part of a `GraphDef` between inputs, which become placeholders, and outputs."""

from __future__ import annotations

from tapeflow import protos
from tapeflow.core.public import public
from tapeflow.gfile import exists
from tapeflow.graph.interchange.graph_util import copy_setting, extract_sub_graph
from tapeflow.tools.files import read_message, write_message

__all__ = ["strip_unused", "strip_unused_from_files"]


@public
def strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum):
    """Return what the outputs need of a `GraphDef`, where the inputs are placeholders.

    Args:
      input_graph_def: a `GraphDef`.
      input_node_names: the nodes that become placeholders.
      output_node_names: the nodes whose values are wanted.
      placeholder_type_enum: the dtype of the placeholders as a number of `DataType`, or a list with one for each.

    Returns:
      A new `GraphDef`.

    Raises:
      ValueError: for an input that is a tensor's name.
      KeyError: for inputs that are not there.
    """
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not an Operation.")
    types = placeholder_type_enum
    if not isinstance(types, list):
        types = [types] * len(input_node_names)
    kinds = dict(zip(input_node_names, types, strict=True))
    made = protos.GraphDef()
    for node in input_graph_def.node:
        if node.name not in kinds:
            made.node.add().CopyFrom(node)
            continue
        placeholder = made.node.add(name=node.name, op="Placeholder")
        placeholder.attr["dtype"].type = kinds.pop(node.name)
        for key in ("_output_shapes", "shape"):
            if key in node.attr:
                placeholder.attr[key].CopyFrom(node.attr[key])
    if kinds:
        raise KeyError(f"The following input nodes were not found: {set(kinds)}.")
    copy_setting(input_graph_def, made)
    return extract_sub_graph(made, output_node_names)


@public
def strip_unused_from_files(
    input_graph, input_binary, output_graph, output_binary, input_node_names, output_node_names, placeholder_type_enum
):
    """Strip the graph of a file, and write the result to another.

    Args:
      input_graph: the file to read.
      input_binary: whether it is in the binary format of protocol buffers; else it is text.
      output_graph: the file to write.
      output_binary: its format.
      input_node_names: names with commas between them, as of `strip_unused`.
      output_node_names: names with commas between them.
      placeholder_type_enum: as of `strip_unused`.

    Returns:
      None; -1 where there is no such file, or no output.
    """
    if not exists(input_graph):
        print(f"Input graph file '{input_graph}' does not exist!")
        return -1
    if not output_node_names:
        print("You need to supply the name of a node to --output_node_names.")
        return -1
    graph_def = read_message(protos.GraphDef(), input_graph, input_binary, "graph")
    result = strip_unused(graph_def, input_node_names.split(","), output_node_names.split(","), placeholder_type_enum)
    write_message(result, output_graph, output_binary)
    print(f"{len(result.node)} ops in the final graph.")
    return None
