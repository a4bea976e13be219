"""`import_graph_def`: the nodes of a `GraphDef` become operations of a graph.

What comes from a file can hold anything: every mistake in it is a named error, found before anything is built
of what it concerns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tapeflow import _native, protos
from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.public import names_itself, public
from tapeflow.graph.build import building, reference_variables
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange import trust
from tapeflow.graph.interchange.function_bodies import Functions
from tapeflow.graph.interchange.functionalize import functionalized
from tapeflow.graph.interchange.references import split_reference, topological
from tapeflow.graph.nodes.from_node_def import NodeMaker
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor

# The newest version of GraphDef that is understood, TensorFlow 2.21's.
NEWEST_VERSION = 2474


@api("graph_util.import_graph_def", "import_graph_def")
@public
@names_itself
def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> Any:
    """Add the nodes of a `GraphDef` to the graph being built.

    Args:
      graph_def: a `GraphDef` message.
      input_map: tensors, by the names ("node:0") of those in `graph_def` that they replace.
      return_elements: names of operations ("node") and tensors ("node:0") to return.
      name: the prefix of all names; None: "import"; "": none.
      op_dict: not used.
      producer_op_list: an `OpList` of who wrote it: attrs that have its defaults and are not known here are
        dropped.

    Returns:
      What `return_elements` names, or None.

    Raises:
      TypeError: for arguments of the wrong type.
      ValueError: for a `graph_def` that cannot be a graph.
      NotFoundError: where it has an op that is not known.
      PermissionDeniedError: where it is not trusted (`python -m tapeflow.run --untrusted`), and touches files or
        Python.
    """
    return import_nodes(graph_def, input_map, return_elements, name, producer_op_list)


def import_nodes(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    producer_op_list: Any = None,
    own_files: Iterable[str] = (),
) -> list[Any] | None:
    """As `import_graph_def`; `own_files` are tensors that are paths of files of the model."""
    graph_def = _message(graph_def)
    inputs = _checked_inputs(input_map)
    wanted = _checked_elements(return_elements)
    check_versions(graph_def)
    graph_def = functionalized(reference_variables.rewritten(graph_def))
    graph = context.current_graph() or get_default_graph()
    with graph.as_default(), graph.name_scope("import" if name is None else name) as scope:
        tensors = _replacements(graph, inputs, scope)
        _set_versions(graph, graph_def.versions)
        prefix = scope.rstrip("/")
        importer = _Importer(graph, prefix, graph_def, tensors, producer_op_list, own_files)
        if graph.limits is None:
            importer.run()
        else:  # inference of shapes computes values
            _native.call_limited(graph.limits.steps, graph.limits.memory, importer.run)
    missing = [key for key in inputs if key not in importer.replaced]
    if missing:
        raise ValueError(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]"
        )
    return None if wanted is None else [importer.element(each) for each in wanted]


# Arguments.


def _message(graph_def: Any) -> Any:
    if isinstance(graph_def, protos.GraphDef):
        return graph_def
    descriptor = getattr(graph_def, "DESCRIPTOR", None)
    if getattr(descriptor, "full_name", "") != "tensorflow.GraphDef":
        raise TypeError("Argument `graph_def` must be a GraphDef proto.")
    return protos.GraphDef.FromString(
        graph_def.SerializeToString()
    )  # another library's message of this name


def _checked_inputs(input_map: Any) -> dict[str, Any]:
    if input_map is None:
        return {}
    if not isinstance(input_map, Mapping):
        raise TypeError(
            f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}"
        )
    keys = [_key(key) for key in input_map]
    if not all(isinstance(key, str) for key in keys):
        raise TypeError(
            f"All keys for argument `input_map` must be strings. Obtained keys: {list(input_map)}"
        )
    return dict(zip(keys, input_map.values(), strict=True))


def _key(key: Any) -> Any:
    if isinstance(key, bytes):
        return key.decode()
    return key if isinstance(key, str) else getattr(key, "name", key)


def _checked_elements(elements: Any) -> list[str] | None:
    if elements is None:
        return None
    found = [e.decode() if isinstance(e, bytes) else e for e in elements]
    if not all(isinstance(e, str) for e in found):
        raise TypeError(
            f"Argument `return_elements` must be a list of strings. Obtained {elements}."
        )
    for e in found:
        if e.count(":") > 1:
            raise ValueError(
                f"Cannot convert '{e}' to a tensor name. Tensor names should not contain more than 1 `:`. "
                f"Obtained {e.count(':')}"
            )
    return found


def check_versions(graph_def: Any) -> None:
    """Raises ValueError for a GraphDef that is too new or too old."""
    versions = graph_def.versions
    if versions.min_consumer > NEWEST_VERSION:
        raise ValueError(
            f"GraphDef min consumer version {versions.min_consumer} above current version {NEWEST_VERSION} for "
            "TensorFlow 2.21.0.  Please upgrade TensorFlow."
        )
    if versions.producer < 0:
        raise ValueError(
            f"GraphDef producer version {versions.producer} below min producer 0 supported by TensorFlow 2.21.0.  "
            "Please regenerate your graph."
        )
    if NEWEST_VERSION in versions.bad_consumers:
        raise ValueError(
            f"GraphDef disallows consumer version {NEWEST_VERSION}.  Please upgrade TensorFlow."
        )


def _set_versions(graph: Graph, versions: Any) -> None:
    """Lets the graph be as old as what is added to it."""
    own = graph.producer_version if graph.operations else versions.producer
    graph.producer_version = min(own, versions.producer)
    graph.min_consumer = max(graph.min_consumer, versions.min_consumer)


def _replacements(graph: Graph, inputs: dict[str, Any], scope: str) -> dict[str, Any]:
    """The tensors and operations that stand for names in the GraphDef; "node" is "node:0"."""
    found: dict[str, Any] = {}
    for key, value in inputs.items():
        if key.startswith("^"):
            found[key] = value if isinstance(value, Operation) else getattr(value, "op", value)
            continue
        if not isinstance(value, SymbolicTensor):
            if not scope:
                raise ValueError(
                    "tf.import_graph_def() requires a non-empty `name` if `input_map` contains non-Tensor values. Try "
                    "calling tf.convert_to_tensor() on `input_map` values before calling tf.import_graph_def()."
                )
            with graph.name_scope("_inputs"):
                value = building.as_symbolic(graph, value)
        elif value.op.graph is not graph:
            value = graph.capture(value)
        found[key if ":" in key else f"{key}:0"] = value
    return found


# The nodes.


def _scopes_of(name: str) -> list[str]:
    """The scopes that a name is in: "a" and "a/b" of "a/b/c"."""
    return [name[:i] for i, letter in enumerate(name) if letter == "/"]


class _Importer:
    """Adds nodes to a graph.

    Args:
      own_files: tensors that are paths of the files of the model that the nodes belong to.

    Attributes:
      replaced: the keys of the input map that were found.
    """

    def __init__(
        self,
        graph: Graph,
        prefix: str,
        graph_def: Any,
        inputs: dict[str, Any],
        producer_op_list: Any,
        own_files: Iterable[str],
    ):
        self.graph = graph
        self.prefix = prefix
        self.nodes = graph_def.node
        self.inputs = inputs
        self.replaced: set[str] = set()
        self.operations: dict[str, Operation] = {}
        self.scopes = {scope for op in graph.operations for scope in _scopes_of(op.name)}
        functions = Functions(graph_def.library)
        if functions.limits is not None:
            functions.checked.graph(graph_def.node, own_files)
            graph.limits = trust.narrower(graph.limits, functions.limits)
        self.maker = NodeMaker(
            graph, functions, graph_def.versions.producer, _producer_defaults(producer_op_list)
        )

    def run(self) -> None:
        order = topological(self.nodes, split_reference, self._given())
        known = {node.name for node in self.nodes}
        for i in order:
            node = self.nodes[i]
            self.maker.check_known(node)
            self._check_colocation(node, known)
        for i in order:
            self._add(self.nodes[i])
        for op in self.operations.values():
            groups = op.extra_attrs.get("_class")
            if isinstance(groups, list) and all(isinstance(group, bytes) for group in groups):
                self._colocate(op, groups)
        for key in self.inputs:
            name = split_reference(key)[0]
            if key not in self.replaced and name in self.operations:
                if key.startswith("^") or split_reference(key)[1] < len(
                    self.operations[name].outputs
                ):
                    self._replace(key)

    def _given(self) -> set[str]:
        names = set(self.inputs)
        return names | {key[:-2] for key in names if key.endswith(":0")}

    def _replace(self, key: str) -> Any:
        self.replaced |= {key, key[:-2]} if key.endswith(":0") else {key}
        return self.inputs[key]

    def _check_colocation(self, node: protos.NodeDef, known: set[str]) -> None:
        for group in node.attr["_class"].list.s if "_class" in node.attr else ():
            other = group.decode(errors="replace").removeprefix("loc:@")
            if group.startswith(b"loc:@") and other not in known:
                raise ValueError(
                    f"Node '{node.name}' expects to be colocated with unknown node '{other}'"
                )

    def _add(self, node: protos.NodeDef) -> None:
        name = self._free_name(f"{self.prefix}/{node.name}" if self.prefix else node.name)
        inputs = [self._input(node, text) for text in node.input if not text.startswith("^")]
        op = self.maker.make(node, inputs, name)
        for text in node.input:
            if text.startswith("^"):
                other = self._replace(text) if text in self.inputs else self.operations[text[1:]]
                if other not in op.control_inputs:
                    op.control_inputs.append(other)
        self.operations[node.name] = op

    def _free_name(self, name: str) -> str:
        """`name`, or another if an operation has it, or was in a scope of that name before."""
        if name not in self.graph.names and name not in self.scopes:
            return name
        return self.graph.free_name(name)

    def _colocate(self, op: Operation, given: list[bytes]) -> None:
        """Gives an operation the device of those that it is to be with."""
        groups = []
        others = []
        for group in given:
            other = self.operations.get(group.decode(errors="replace").removeprefix("loc:@"))
            if group.startswith(b"loc:@") and other is not None:
                groups.append(b"loc:@" + other.name.encode())
                if other is not op:
                    others.append(other)
            else:
                groups.append(group)
        op.set_attr("_class", groups)
        if others:
            op.device = next((other.device for other in others if other.device), "")

    def _input(self, node: protos.NodeDef, text: str) -> SymbolicTensor:
        name, number = split_reference(text)
        key = f"{name}:{number}"
        if key in self.inputs:
            return self._replace(key)
        op = self.operations[name]
        if number >= len(op.outputs):
            raise ValueError(
                f"Node '{node.name}': Connecting to invalid output {number} of source node {name} which has "
                f"{len(op.outputs)} outputs."
            )
        return op.outputs[number]

    def element(self, text: str) -> Any:
        """What is returned for an element of `return_elements`."""
        if ":" not in text:
            if text not in self.operations:
                raise ValueError(f"Requested return node '{text}' not found in graph def")
            return self.operations[text]
        if text in self.inputs:
            return self.inputs[text]
        name, number = split_reference(text)
        op = self.operations.get(name)
        if op is None:
            raise ValueError(f"Requested return tensor '{text}' not found in graph def")
        if number >= len(op.outputs):
            raise ValueError(
                f"Invalid return output {number} of node '{name}', which has {len(op.outputs)} output(s)"
            )
        return op.outputs[number]


def _producer_defaults(op_list: Any) -> dict[str, dict[str, Any]]:
    """The defaults of attrs, by op, of whoever wrote the GraphDef."""
    if op_list is None:
        return {}
    return {
        op.name: {
            attr.name: attr.default_value for attr in op.attr if attr.HasField("default_value")
        }
        for op in op_list.op
    }
