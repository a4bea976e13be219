"""Freezing: the nodes of a `GraphDef` that read variables take constants in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow import protos
from tapeflow.api import api
from tapeflow.core.dtypes import as_dtype, int32, resource
from tapeflow.core.files.tensor_proto import make_tensor_proto
from tapeflow.core.public import public
from tapeflow.graph.build import building
from tapeflow.graph.interchange.graph_util import extract_sub_graph, node_name
from tapeflow.graph.interchange.references import topological
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.indexing.gather import GatherV2
from tapeflow.ops.indexing.gather_nd import GatherNd
from tapeflow.ops.state.resource import VarHandleOp
from tapeflow.ops.state.rows import ReadVariableOp, ResourceGather, ResourceGatherNd, VariableShape

__all__ = ["convert_variables_to_constants"]

_VARIABLES = (VarHandleOp.name, "VariableV2", "Variable", "AutoReloadVariable")


@api(v1="graph_util.convert_variables_to_constants")
@public
def convert_variables_to_constants(
    sess,
    input_graph_def,
    output_node_names,
    variable_names_whitelist=None,
    variable_names_blacklist=None,
):
    """The part of a GraphDef that the outputs need, with the values that variables have in `sess` as constants.

    Args:
      variable_names_whitelist: names of the only variables to convert.
      variable_names_blacklist: names of variables to leave.

    Raises AssertionError for outputs that are not there, ValueError for a variable whose handle goes to a node that
    does not only read it.
    """
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    variables = [
        node.name
        for node in graph_def.node
        if node.op in _VARIABLES
        and (variable_names_whitelist is None or node.name in variable_names_whitelist)
        and (variable_names_blacklist is None or node.name not in variable_names_blacklist)
    ]
    return freeze(graph_def, _values(sess, sorted(variables)))


def convert_variables_to_constants_from_session_graph(
    session: Any,
    graph_def: protos.GraphDef,
    output_node_names: Sequence[str],
    variable_names_allowlist: Sequence[str] | None = None,
    variable_names_denylist: Sequence[str] | None = None,
) -> Any:
    """`convert_variables_to_constants`, by the name and with the arguments that it has in 2.x."""
    return convert_variables_to_constants(
        session, graph_def, output_node_names, variable_names_allowlist, variable_names_denylist
    )


def freeze(graph_def: protos.GraphDef, values: Mapping[str, Any]) -> Any:
    """A GraphDef in which some nodes are constants; where they gave handles of variables, functions take the values.

    Args:
      values: TensorProtos, by the names of these nodes.

    Raises ValueError for a variable whose handle goes to a node that does not only read it.
    """
    library = _Frozen(graph_def.library)
    made = protos.GraphDef()
    kinds: dict[str, int] = {}  # of what took the places of handles
    for node in _in_order(graph_def.node):
        copy = made.node.add()
        copy.CopyFrom(node)
        if node.name in values:
            if node.op == VarHandleOp.name or node.attr["dtype"].type == protos.DataType.DT_RESOURCE:
                kinds[node.name] = values[node.name].dtype
            _as_constant(copy, values[node.name])
            continue
        types = {
            i: kinds[name]
            for i, text in enumerate(node.input)
            if not text.startswith("^") and (name := text.partition(":")[0]) in kinds
        }
        if types:
            axis = _as_read(copy, types, library)
            if axis is not None:
                copy.input.append(axis.name)
                made.node.append(axis)
            if node.op == Identity.name:
                kinds[node.name] = types[0]
    made.library.CopyFrom(library.result)
    made.versions.CopyFrom(graph_def.versions)
    return made


def _values(sess: Any, names: Sequence[str]) -> dict[str, Any]:
    """The values of variables of a session, by the names of their nodes, as TensorProtos."""
    graph = sess.graph
    reads = []
    for name in names:
        handle = graph.get_operation_by_name(name).outputs[0]
        if handle.dtype != resource:  # of 1.x: what was imported for it has its name, and its value
            reads.append(handle)
            continue
        known = [op for op in graph.consumers_of(handle) if op.row is ReadVariableOp]
        if known:
            reads.append(known[0].outputs[0])
        else:
            op = building.call(graph, ReadVariableOp, (handle,), {"dtype": handle.handle_dtype}, f"{name}/Read")
            reads.append(op.outputs[0])
    arrays = sess.run(reads) if reads else []
    return {
        name: make_tensor_proto(array, as_dtype(read.dtype))
        for name, array, read in zip(names, arrays, reads, strict=True)
    }


def _as_constant(node: protos.NodeDef, value: Any) -> None:
    name = node.name
    node.Clear()
    node.name, node.op = name, "Const"
    node.attr["dtype"].type = value.dtype
    node.attr["value"].tensor.CopyFrom(value)


_LISTS_OF_TYPES = {"If": "Tin", "StatelessIf": "Tin", "Case": "Tin", "StatelessCase": "Tin", "While": "T",
                   "StatelessWhile": "T", "PartitionedCall": "Tin", "StatefulPartitionedCall": "Tin"}  # fmt: skip


def _as_read(node: protos.NodeDef, types: dict[int, int], library: Any) -> Any:
    """Lets a node take values where it took handles; `types` are those of these inputs.

    Returns:
      A constant that the node needs as its last input; None for none.

    Raises ValueError if the node needs the variable itself.
    """
    if node.op == ReadVariableOp.name:
        node.op = Identity.name
        _keep(node, {"T": types[0]})
    elif node.op == Identity.name:
        node.attr["T"].type = types[0]
    elif node.op == ResourceGather.name:
        batch_dims = node.attr["batch_dims"].i
        node.op = GatherV2.name
        _keep(node, {"Tparams": types[0], "Tindices": node.attr["Tindices"].type, "Taxis": protos.DataType.DT_INT32})
        node.attr["batch_dims"].i = batch_dims
        axis = protos.NodeDef(name=f"{node.name}/axis")
        _as_constant(axis, make_tensor_proto(batch_dims, int32))
        return axis
    elif node.op == ResourceGatherNd.name:
        node.op = GatherNd.name
        _keep(node, {"Tparams": types[0], "Tindices": node.attr["Tindices"].type})
    elif node.op == VariableShape.name:
        node.op = Shape.name
        _keep(node, {"T": types[0], "out_type": node.attr["out_type"].type or protos.DataType.DT_INT32})
    elif node.op in _LISTS_OF_TYPES:
        first = (
            1
            if _LISTS_OF_TYPES[node.op] == "Tin" and not node.op.endswith("PartitionedCall")
            else 0
        )
        listed = node.attr[_LISTS_OF_TYPES[node.op]].list.type
        inner = {i - first: kind for i, kind in types.items()}
        for i, kind in inner.items():
            listed[i] = kind
        loop = node.op.endswith("While")
        for key, attr in node.attr.items():
            if attr.WhichOneof("value") == "func":
                attr.func.name = library.convert(
                    attr.func.name, inner, returns=loop and key == "body"
                )
            elif key == "branches":
                for each in attr.list.func:
                    each.name = library.convert(each.name, inner)
        if loop and "output_shapes" in node.attr:
            node.attr["output_shapes"].list.Clear()
            node.attr["output_shapes"].list.SetInParent()
        node.attr.pop("_output_shapes", None)
    else:
        raise ValueError(
            f"Node '{node.name}' ({node.op}) needs a variable, not only its value: it cannot be converted"
        )
    return None


def _keep(node: protos.NodeDef, types: dict[str, int]) -> None:
    extra = {key: attr for key, attr in node.attr.items() if key == "_class"}
    node.ClearField("attr")
    for key, attr in extra.items():
        node.attr[key].CopyFrom(attr)
    for key, kind in types.items():
        node.attr[key].type = kind


class _Frozen:
    """A library whose functions take values where they took handles."""

    def __init__(self, library: Any):
        self.result = protos.FunctionDefLibrary()
        self.result.CopyFrom(library)
        self._originals = {f.signature.name: f for f in library.function}
        self._made: dict[Any, str] = {}

    def convert(self, name: str, types: dict[int, int], returns: bool = False) -> str:
        """The name of the function with other types of some arguments; `returns`: it hands these on as results."""
        key = (name, tuple(sorted(types.items())))
        if key in self._made:
            return self._made[key]
        self._made[key] = own = f"{name}_frozen_{len(self._made)}"
        copy = self.result.function.add()
        copy.CopyFrom(self._originals[name])
        copy.signature.name = own
        copy.ClearField("resource_arg_unique_id")
        values: dict[str, int] = {}
        for i, kind in types.items():
            argument = copy.signature.input_arg[i]
            argument.type = kind
            argument.ClearField("handle_data")
            copy.arg_attr[i].attr.pop("_output_shapes", None)
            values[argument.name] = kind
            if returns:
                copy.signature.output_arg[i].type = kind
        for node in _in_order(copy.node_def):
            places = {i: values[text] for i, text in enumerate(node.input) if text in values}
            if places:
                identity = node.op == Identity.name
                axis = _as_read(node, places, self)
                if axis is not None:
                    node.input.append(f"{axis.name}:output:0")
                    copy.node_def.append(axis)
                if identity:
                    values[f"{node.name}:output:0"] = places[0]
                elif node.op == Identity.name:
                    _rename_output(copy, f"{node.name}:value:", f"{node.name}:output:")
        return own


def _in_order(nodes: Any) -> list[Any]:
    names = {node.name for node in nodes}
    given = {text for node in nodes for text in node.input if node_name(text) not in names}
    turns = {node.name for node in nodes if node.op == "NextIteration"}  # what loops of 1.x go back through
    given |= {text for node in nodes for text in node.input if node_name(text) in turns}
    return [nodes[i] for i in topological(nodes, lambda text: (node_name(text), 0), given)]


def _rename_output(function: Any, old: str, new: str) -> None:
    for node in function.node_def:
        for i, text in enumerate(node.input):
            if text.startswith(old):
                node.input[i] = new + text.removeprefix(old)
    for key, text in list(function.ret.items()):
        if text.startswith(old):
            function.ret[key] = new + text.removeprefix(old)
