"""`freeze_graph`: a graph and a checkpoint become one `GraphDef` without variables."""

from __future__ import annotations

from tapeflow import protos
from tapeflow.compat import v1
from tapeflow.core.public import public
from tapeflow.ops.state.resource import VarHandleOp
from tapeflow.saved_model import constants
from tapeflow.tools.files import read_message, write_message
from tapeflow.tools.saved_model_utils import get_meta_graph_def

__all__ = ["freeze_graph", "freeze_graph_with_def_protos"]


@public
def freeze_graph_with_def_protos(
    input_graph_def, input_saver_def, input_checkpoint, output_node_names, restore_op_name,
    filename_tensor_name, output_graph, clear_devices, initializer_nodes, variable_names_whitelist: str = "",
    variable_names_blacklist: str = "", input_meta_graph_def=None, input_saved_model_dir=None,
    saved_model_tags=None, checkpoint_version=protos.SaverDef.V2,
):
    """Replace the variables of a graph by the values that a checkpoint has.

    Args:
      input_graph_def: a `GraphDef`, or None with `input_meta_graph_def`.
      input_saver_def: the `SaverDef` of who wrote the checkpoint, or None.
      input_checkpoint: the prefix of the checkpoint's files.
      output_node_names: the nodes that are wanted, with commas between them.
      restore_op_name: unused, as in TensorFlow.
      filename_tensor_name: unused, as in TensorFlow.
      output_graph: the file to write; empty for none.
      clear_devices: whether nodes lose their devices.
      initializer_nodes: nodes to run first, with commas between them.
      variable_names_whitelist: the only variables to replace, with commas between them; empty for all.
      variable_names_blacklist: variables to leave, with commas between them.
      input_meta_graph_def: a `MetaGraphDef` with the graph and its saver.
      input_saved_model_dir: the folder of a SavedModel with the graph and its variables.
      saved_model_tags: the tags of its graph.
      checkpoint_version: a version of `SaverDef`.

    Returns:
      A `GraphDef`.

    Raises:
      ValueError: where there is no checkpoint or no output, for a graph without variables, and for one whose
        variables are parts.
    """
    if not input_saved_model_dir and not v1.train.checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    graph_def = input_meta_graph_def.graph_def if input_meta_graph_def else input_graph_def
    if clear_devices and graph_def:
        for node in graph_def.node:
            node.device = ""
    with v1.Graph().as_default():
        if input_graph_def and not input_saved_model_dir:
            v1.import_graph_def(input_graph_def, name="")
        with v1.Session() as session:
            if input_saver_def:
                saver = v1.train.Saver(saver_def=input_saver_def, write_version=checkpoint_version)
                saver.restore(session, input_checkpoint)
            elif input_meta_graph_def:
                v1.train.import_meta_graph(input_meta_graph_def, clear_devices=True).restore(session, input_checkpoint)
            elif input_saved_model_dir:
                loaded = v1.saved_model.load(session, saved_model_tags or [], input_saved_model_dir)
                graph_def = graph_def or loaded.graph_def
            else:
                _restore(session, input_checkpoint)
            if initializer_nodes and not input_saver_def and not input_saved_model_dir:
                session.run(_listed(initializer_nodes))
            result = v1.graph_util.convert_variables_to_constants(
                session, graph_def, _listed(output_node_names), _listed(variable_names_whitelist) or None,
                _listed(variable_names_blacklist) or None,
            )  # fmt: skip
    if output_graph:
        write_message(result, output_graph)
    return result


def _listed(text: str):
    return text.replace(" ", "").split(",") if text else []


def _restore(session, checkpoint):
    """Give the variables of the session's graph the values of a checkpoint, by their names."""
    operations = session.graph.get_operations()
    reader, found = v1.train.NewCheckpointReader(checkpoint), {}
    for name, shape in reader.get_variable_to_shape_map().items():
        handles = (f"{name}/resource_handle", name)  # the first one: of a reference variable of 1.x
        op = next((op for op in operations if op.name in handles and op.type == VarHandleOp.name), None)
        if op is not None:
            value = v1.placeholder(op.get_attr("dtype"), shape)
            found[name] = v1.raw_ops.AssignVariableOp(resource=op.outputs[0], value=value), value
        elif any(other.name.startswith(f"{name}/part_") for other in operations):
            raise ValueError(
                "Models containing partition variables cannot be converted from checkpoint files. Please pass in a "
                "SavedModel using the flag --input_saved_model_dir."
            )
    if not found:
        raise ValueError(
            "No variables were found in this model. It is likely the model was frozen previously. You cannot freeze a "
            "graph twice."
        )
    session.run([op for op, _ in found.values()], {feed: reader.get_tensor(name) for name, (_, feed) in found.items()})


@public
def freeze_graph(
    input_graph, input_saver, input_binary, input_checkpoint, output_node_names, restore_op_name,
    filename_tensor_name, output_graph, clear_devices, initializer_nodes, variable_names_whitelist: str = "",
    variable_names_blacklist: str = "", input_meta_graph=None, input_saved_model_dir=None,
    saved_model_tags=constants.SERVING, checkpoint_version=protos.SaverDef.V2,
):
    """Freeze the graph of a file; see `freeze_graph_with_def_protos` for what is not said here.

    Args:
      input_graph: the file of a `GraphDef`.
      input_saver: the file of a `SaverDef`, or empty.
      input_binary: whether files are in the binary format of protocol buffers; else they are text.
      input_checkpoint: the prefix of the checkpoint's files.
      output_node_names: the nodes that are wanted, with commas between them.
      restore_op_name: unused, as in TensorFlow.
      filename_tensor_name: unused, as in TensorFlow.
      output_graph: the file to write.
      clear_devices: whether nodes lose their devices.
      initializer_nodes: nodes to run first, with commas between them.
      variable_names_whitelist: the only variables to replace.
      variable_names_blacklist: variables to leave.
      input_meta_graph: the file of a `MetaGraphDef`, or empty.
      input_saved_model_dir: the folder of a SavedModel, or empty.
      saved_model_tags: the tags of its graph, with commas between them.
      checkpoint_version: a version of `SaverDef`.

    Returns:
      A `GraphDef`.

    Raises:
      OSError: for files that are not there.
      ValueError: as `freeze_graph_with_def_protos`.
    """
    graph_def = meta_graph = saver_def = None
    if input_saved_model_dir:
        graph_def = get_meta_graph_def(input_saved_model_dir, saved_model_tags).graph_def
    elif input_graph:
        graph_def = read_message(protos.GraphDef(), input_graph, input_binary, "graph")
    if input_meta_graph:
        meta_graph = read_message(protos.MetaGraphDef(), input_meta_graph, input_binary, "meta graph")
    if input_saver:
        saver_def = read_message(protos.SaverDef(), input_saver, input_binary, "saver")
    return freeze_graph_with_def_protos(
        graph_def, saver_def, input_checkpoint, output_node_names, restore_op_name, filename_tensor_name, output_graph,
        clear_devices, initializer_nodes, variable_names_whitelist, variable_names_blacklist, meta_graph,
        input_saved_model_dir, saved_model_tags.replace(" ", "").split(","), checkpoint_version,
    )  # fmt: skip
