"""`tf.compat.v1.graph_util`: parts of `GraphDef`s, and variables turned into constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import protos
from tapeflow.core.public import public
from tapeflow.graph.importing import import_graph_def

__all__ = [
    "convert_variables_to_constants", "extract_sub_graph", "import_graph_def", "must_run_on_cpu",
    "remove_training_nodes", "tensor_shape_from_node_def_name",
]  # fmt: skip

_VARIABLES = frozenset(
    ["Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp", "ReadVariableOp"]
)


def _node_name(text: str) -> str:
    """The node of an input: "^node" and "node:1" are "node"."""
    return text.removeprefix("^").partition(":")[0]


def _check(graph_def: Any) -> None:
    if getattr(getattr(graph_def, "DESCRIPTOR", None), "full_name", "") != "tensorflow.GraphDef":
        raise TypeError(
            f"graph_def must be a graph_pb2.GraphDef proto, but got type {type(graph_def)}."
        )


@public
def extract_sub_graph(graph_def, dest_nodes):
    """The part of a GraphDef that the nodes of these names need.

    Raises TypeError for arguments of wrong types, AssertionError for names that are not there.
    """
    _check(graph_def)
    if isinstance(dest_nodes, str):
        raise TypeError(
            f"dest_nodes must be an iterable of strings, but got type {type(dest_nodes)}."
        )
    nodes = {node.name: node for node in graph_def.node}
    wanted = [_node_name(name) for name in dest_nodes]
    for name in wanted:
        assert name in nodes, f"{name} is not in graph"
    kept: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name not in kept and name in nodes:
            kept.add(name)
            wanted += map(_node_name, nodes[name].input)
    made = protos.GraphDef()
    made.node.extend(node for node in graph_def.node if node.name in kept)
    made.library.CopyFrom(graph_def.library)
    made.versions.CopyFrom(graph_def.versions)
    return made


@public
def must_run_on_cpu(node, pin_variables_on_cpu=False):
    """Whether a node (a NodeDef or Operation) has no kernel for other devices: it is a variable, or of strings."""
    node = getattr(node, "node_def", node)
    assert isinstance(node, protos.NodeDef), f"{node!r} is no NodeDef"
    if pin_variables_on_cpu and node.op in _VARIABLES:
        return True
    if node.op == "Const":
        return node.attr["dtype"].type in (protos.DataType.DT_STRING, protos.DataType.DT_INT32)
    if node.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return node.attr["T"].type == protos.DataType.DT_INT32
    if node.op == "Cast":
        return node.attr["SrcT"].type == protos.DataType.DT_INT32
    return False


@public
def tensor_shape_from_node_def_name(graph, input_name):
    """The shape of a tensor of `graph`; "node" stands for "node:0"."""
    return graph.get_tensor_by_name(
        input_name if ":" in input_name else f"{input_name}:0"
    ).get_shape()


@public
def remove_training_nodes(input_graph, protected_nodes=None):
    """A GraphDef without the nodes that only training needs: CheckNumerics, and then Identity.

    Args:
      protected_nodes: names of nodes to keep.
    """
    protected = set(protected_nodes or ())
    made = _spliced(
        input_graph,
        lambda node: node.op == "CheckNumerics" and node.name not in protected,
        protected,
    )
    return _spliced(
        made, lambda node: node.op == "Identity" and node.name not in protected, protected
    )


def _spliced(graph_def: Any, removable: Callable[[Any], bool], protected: set[str]) -> Any:
    """The nodes without those that can go: who took their output takes their input.

    One stays if it has control inputs, or if it is waited for.
    """
    awaited = {
        _node_name(text) for node in graph_def.node for text in node.input if text.startswith("^")
    }
    gone: dict[str, str] = {}
    for node in graph_def.node:
        if (
            removable(node)
            and node.name not in awaited
            and len(node.input) == 1
            and not node.input[0].startswith("^")
        ):
            gone[node.name] = node.input[0]
    made = protos.GraphDef()
    for node in graph_def.node:
        if node.name in gone:
            continue
        copy = made.node.add()
        copy.CopyFrom(node)
        del copy.input[:]
        for text in node.input:
            seen: set[str] = set()
            while _node_name(text) in gone and _node_name(text) not in seen:
                seen.add(_node_name(text))
                text = gone[_node_name(text)]
            copy.input.append(text)
    made.library.CopyFrom(graph_def.library)
    made.versions.CopyFrom(graph_def.versions)
    return made


# Freezing.


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
    handles = {
        node.name
        for node in graph_def.node
        if node.op == "VarHandleOp"
        and (variable_names_whitelist is None or node.name in variable_names_whitelist)
        and (variable_names_blacklist is None or node.name not in variable_names_blacklist)
    }
    values = _values(sess, sorted(handles))
    library = _Frozen(graph_def.library)
    made = protos.GraphDef()
    frozen = set(handles)
    kinds = {name: value.dtype for name, value in values.items()}
    for node in graph_def.node:
        copy = made.node.add()
        copy.CopyFrom(node)
        if node.name in handles:
            _as_constant(copy, values[node.name])
            continue
        places = [i for i, text in enumerate(node.input) if text.partition(":")[0] in frozen]
        if places:
            types = {i: kinds[node.input[i].partition(":")[0]] for i in places}
            _as_read(copy, types, library)
            if node.op == "Identity":
                frozen.add(node.name)
                kinds[node.name] = types[0]
    made.library.CopyFrom(library.result)
    made.versions.CopyFrom(graph_def.versions)
    return made


def _values(sess: Any, names: Sequence[str]) -> dict[str, Any]:
    """The values of variables of a session, by the names of their handles, as TensorProtos."""
    from tapeflow.core.dtypes import as_dtype
    from tapeflow.core.tensor_proto import make_tensor_proto
    from tapeflow.graph import building
    from tapeflow.ops.table import REGISTRY

    graph = sess.graph
    reads = []
    for name in names:
        handle = graph.get_operation_by_name(name).outputs[0]
        known = [op for op in graph.consumers_of(handle) if op.type == "ReadVariableOp"]
        if known:
            reads.append(known[0].outputs[0])
        else:
            row = REGISTRY["ReadVariableOp"]
            op = building.call(
                graph, row, (handle,), {"dtype": handle.handle_dtype}, f"{name}/Read"
            )
            reads.append(op.outputs[0])
    arrays = sess.run(reads) if reads else []
    return {
        name: make_tensor_proto(array, as_dtype(read.dtype))
        for name, array, read in zip(names, arrays, reads, strict=True)
    }


def _as_constant(node: Any, value: Any) -> None:
    name = node.name
    node.Clear()
    node.name, node.op = name, "Const"
    node.attr["dtype"].type = value.dtype
    node.attr["value"].tensor.CopyFrom(value)


_LISTS_OF_TYPES = {"If": "Tin", "StatelessIf": "Tin", "Case": "Tin", "StatelessCase": "Tin", "While": "T",
                   "StatelessWhile": "T", "PartitionedCall": "Tin", "StatefulPartitionedCall": "Tin"}  # fmt: skip


def _as_read(node: Any, types: dict[int, int], library: Any) -> None:
    """Lets a node take values where it took handles; `types` are those of these inputs.

    Raises ValueError if the node needs the variable itself.
    """
    if node.op == "ReadVariableOp":
        node.op = "Identity"
        _keep(node, {"T": types[0]})
    elif node.op == "Identity":
        node.attr["T"].type = types[0]
    elif node.op == "ResourceGather" and not node.attr["batch_dims"].i:
        node.op = "Gather"
        _keep(node, {"Tparams": types[0], "Tindices": node.attr["Tindices"].type})
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


def _keep(node: Any, types: dict[str, int]) -> None:
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
                identity = node.op == "Identity"
                _as_read(node, places, self)
                if identity:
                    values[f"{node.name}:output:0"] = places[0]
                elif node.op == "Identity":
                    _rename_output(copy, f"{node.name}:value:", f"{node.name}:output:")
        return own


def _in_order(nodes: Any) -> list[Any]:
    from tapeflow.graph.importing import topological

    names = {node.name for node in nodes}
    given = {text for node in nodes for text in node.input if _node_name(text) not in names}
    return [nodes[i] for i in topological(nodes, lambda text: (_node_name(text), 0), given)]


def _rename_output(function: Any, old: str, new: str) -> None:
    for node in function.node_def:
        for i, text in enumerate(node.input):
            if text.startswith(old):
                node.input[i] = new + text.removeprefix(old)
    for key, text in function.ret.items():
        if text.startswith(old):
            function.ret[key] = new + text.removeprefix(old)
