"""The objects of a checkpoint as a graph: nodes, names of edges, keys of values, slots of optimizers."""

from __future__ import annotations

from typing import Any

from tapeflow.core.context import eager_mode
from tapeflow.ops.variable import Variable
from tapeflow.saved_model.wire import decode, encode
from tapeflow.train.trackable import children

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE = "VARIABLE_VALUE"

_OBJECT = {
    1: ("children", [{1: ("node_id", "int"), 2: ("local_name", "string")}]),
    2: (
        "attributes",
        [{1: ("name", "string"), 2: ("full_name", "string"), 3: ("checkpoint_key", "string")}],
    ),
    3: (
        "slot_variables",
        [
            {
                1: ("original_variable_node_id", "int"),
                2: ("slot_name", "string"),
                3: ("slot_variable_node_id", "int"),
            }
        ],
    ),
}
_GRAPH = {1: ("nodes", [_OBJECT])}


class Saved:
    """What is to be saved of an object and all it holds: values by key, and the graph of the objects."""

    def __init__(self, root: Any):
        self.values: dict[str, Any] = {}
        self.objects: list[Any] = []
        self._names: list[str] = []
        nodes = self._walk(root)
        self._add_slots(nodes)
        self.graph = encode({"nodes": nodes}, _GRAPH)

    def _walk(self, root: Any) -> list[dict]:
        """Nodes breadth first, so that every object has the shortest of its names."""
        numbers = {id(root): 0}
        self.objects, self._names = [root], [""]
        nodes: list[dict] = []
        for number, value in enumerate(self.objects):
            node: dict[str, list] = {"children": [], "attributes": [], "slot_variables": []}
            nodes.append(node)
            for name, child in children(value).items():
                if id(child) not in numbers:
                    numbers[id(child)] = len(self.objects)
                    self.objects.append(child)
                    prefix = self._names[number]
                    self._names.append(f"{prefix}/{escaped(name)}" if prefix else escaped(name))
                node["children"].append({"node_id": numbers[id(child)], "local_name": name})
            self._add_values(node, value, self._names[number])
        return nodes

    def _add_values(self, node: dict, value: Any, name: str) -> None:
        for attribute, read in values_of(value).items():
            key = f"{name}/.ATTRIBUTES/{attribute}" if name else f".ATTRIBUTES/{attribute}"
            full = value._shared_name if isinstance(value, Variable) else name
            node["attributes"].append({"name": attribute, "full_name": full, "checkpoint_key": key})
            self.values[key] = read

    def _add_slots(self, nodes: list[dict]) -> None:
        count = len(self.objects)
        variables = [
            (n, value)
            for n, value in enumerate(self.objects[:count])
            if isinstance(value, Variable)
        ]
        for number in range(count):
            optimizer = self.objects[number]
            if not hasattr(optimizer, "get_slot_names"):
                continue
            for slot_name in optimizer.get_slot_names():
                for original, variable in variables:
                    slot = slot_of(optimizer, variable, slot_name)
                    if slot is None:
                        continue
                    name = (
                        f"{self._names[original]}/.OPTIMIZER_SLOT/{self._names[number]}/"
                        f"{escaped(slot_name)}"
                    )
                    node: dict[str, list] = {"attributes": []}
                    self._add_values(node, slot, name)
                    nodes[number]["slot_variables"].append(
                        {
                            "original_variable_node_id": original,
                            "slot_name": slot_name,
                            "slot_variable_node_id": len(nodes),
                        }
                    )
                    nodes.append(node)


def slot_of(optimizer: Any, variable: Any, name: str) -> Any:
    """A slot of an optimizer, or None."""
    try:
        return optimizer.get_slot(variable, name)
    except KeyError:
        return None


def values_of(value: Any) -> dict[str, Any]:
    """Functions that give the values an object has of its own, by attribute."""
    if isinstance(value, Variable):
        return {VALUE: lambda: value if value._parts is not None else _eager_value(value)}
    own = getattr(value, "_checkpoint_values", None)
    return {} if own is None else {name: get for name, (get, _) in own().items()}


def _eager_value(variable: Variable) -> Any:
    with eager_mode():
        return variable.numpy()


def escaped(name: str) -> str:
    """A name as a part of a key, in which slashes part names."""
    return name.replace(".", "..").replace("/", ".S")


def decode_graph(data: bytes) -> list[dict]:
    """The nodes of a saved graph. Raises ValueError for edges to nowhere."""
    nodes = decode(data, _GRAPH).get("nodes", [])
    for node in nodes:
        for part in ("children", "attributes", "slot_variables"):
            node.setdefault(part, [])
        for child in node["children"]:
            child.setdefault("node_id", 0)
            child.setdefault("local_name", "")
            if not 0 <= child["node_id"] < len(nodes):
                raise ValueError(f"there is no node {child['node_id']}")
        for slot in node["slot_variables"]:
            slot.setdefault("original_variable_node_id", 0)
            if not 0 <= slot.get("slot_variable_node_id", 0) < len(nodes):
                raise ValueError(f"there is no node {slot['slot_variable_node_id']}")
        for attribute in node["attributes"]:
            for field in ("name", "full_name", "checkpoint_key"):
                attribute.setdefault(field, "")
    return nodes
