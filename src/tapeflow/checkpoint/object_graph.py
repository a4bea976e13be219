"""The objects of a checkpoint as a graph: nodes, names of edges, keys of values, slots of optimizers."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.checkpoint.following import children
from tapeflow.core.context import eager_mode
from tapeflow.core.dtensor import placed
from tapeflow.core.dtypes import bfloat16, string
from tapeflow.core.public import defines
from tapeflow.core.tracking.trackable import Trackable
from tapeflow.core.variables import graph_parts, shared_name_of
from tapeflow.ops.state.variable import Variable

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE = "VARIABLE_VALUE"


class Saved:
    """What is to be saved of an object and all it holds: values by key, and the graph of the objects.

    Args:
      view: the objects, where they are known: `objects`, `children` (of each object pairs of a name and a number) and
        `slots` (of the number of each optimizer: original, slot name, number of the slot).

    Attributes:
      values: functions that give the values, by key.
      keys_of_objects: pairs of a key and the number of the object that has it.
      graph: the graph, as bytes.
    """

    def __init__(self, root: Any, view: Any = None):
        self.values: dict[str, Any] = {}
        self.keys_of_objects: list[tuple[str, int]] = []
        view = Walk(root) if view is None else view
        self.objects: list[Any] = view.objects
        self._names = _names(view.children)
        nodes: list[dict] = [
            {
                "children": [{"node_id": n, "local_name": name} for name, n in edges],
                "attributes": [],
                "slot_variables": [],
            }
            for edges in view.children
        ]
        slots = {slot for found in view.slots.values() for _, _, slot in found}
        for number, node in enumerate(nodes):
            if number not in slots:
                self._add_values(node, number, self._names.get(number))
        self._add_slots(nodes, view.slots)
        self.graph = _encoded(nodes)

    def _add_values(self, node: dict, number: int, name: str | None) -> None:
        if name is None:
            return
        value = self.objects[number]
        for attribute, parts in parts_of(value).items():
            key = f"{name}/.ATTRIBUTES/{attribute}" if name else f".ATTRIBUTES/{attribute}"
            full = shared_name_of(value) if isinstance(value, Variable) else name
            node["attributes"].append({"name": attribute, "full_name": full, "checkpoint_key": key})
            self.keys_of_objects.append((key, number))
            for suffix, read in parts.items():
                self.values[key + suffix] = read

    def _add_slots(self, nodes: list[dict], slots: dict[int, Any]) -> None:
        for optimizer, found in slots.items():
            for original, slot_name, slot in found:
                name = (
                    f"{self._names[original]}/.OPTIMIZER_SLOT/{self._names[optimizer]}/"
                    f"{escaped(slot_name)}"
                )
                if not nodes[slot]["attributes"]:
                    self._add_values(nodes[slot], slot, name)
                nodes[optimizer]["slot_variables"].append(
                    {
                        "original_variable_node_id": original,
                        "slot_name": slot_name,
                        "slot_variable_node_id": slot,
                    }
                )


class Walk:
    """The objects that a checkpoint follows from a root, breadth first, so that each has the shortest of its names."""

    def __init__(self, root: Any, with_slots: bool = True):
        self.objects = [root]
        self.children: list[list[tuple[str, int]]] = []
        numbers = {id(root): 0}
        for value in self.objects:
            edges = []
            for name, child in children(value).items():
                if id(child) not in numbers:
                    numbers[id(child)] = len(self.objects)
                    self.objects.append(child)
                edges.append((name, numbers[id(child)]))
            self.children.append(edges)
        self.slots: dict[int, list[tuple[int, str, int]]] = {}
        for number, original, name, slot in slots_of(self.objects) if with_slots else ():
            self.slots.setdefault(number, []).append((original, name, len(self.objects)))
            self.objects.append(slot)
            self.children.append([])


def slots_of(objects: list[Any]) -> list[tuple[int, int, str, Any]]:
    """The slots of optimizers: number of the optimizer, number of the variable, name, slot."""
    variables = [(n, value) for n, value in enumerate(objects) if isinstance(value, Variable)]
    found = []
    for number, optimizer in enumerate(objects):
        if not hasattr(optimizer, "get_slot_names") or not getattr(optimizer, "_saves_slots", True):
            continue
        for slot_name in optimizer.get_slot_names():
            for original, variable in variables:
                slot = slot_of(optimizer, variable, slot_name)
                if slot is not None:
                    found.append((number, original, slot_name, slot))
    return found


def _names(edges: list[list[tuple[str, int]]]) -> dict[int, str]:
    """The shortest name of each object, by number; objects that nothing leads to have none."""
    names = {0: ""}
    todo = [0]
    for number in todo:
        for name, child in edges[number]:
            if child not in names:
                prefix = names[number]
                names[child] = f"{prefix}/{escaped(name)}" if prefix else escaped(name)
                todo.append(child)
    return names


def slot_of(optimizer: Any, variable: Any, name: str) -> Any:
    """A slot of an optimizer, or None."""
    try:
        return optimizer.get_slot(variable, name)
    except KeyError:
        return None


def values_of(value: Any) -> dict[str, Any]:
    """Functions that give the values an object has of its own, by attribute."""
    if isinstance(value, Variable):
        return {VALUE: functools.partial(_of_variable, value)}
    own = getattr(value, "_checkpoint_values", None)
    return {} if own is None else {name: get for name, (get, _) in own().items()}


def parts_of(value: Any) -> dict[str, dict[str, Any]]:
    """As `values_of`, for each attribute by what the keys of its tensors end with: "" where there is one tensor."""
    own = getattr(value, "_checkpoint_tensors", None)
    if own is not None:
        return own()
    found = {name: {"": get} for name, get in values_of(value).items()}
    return found or {name: {"": get} for name, (get, _) in of_library(value).items()}


def of_library(value: Any) -> dict[str, tuple[Any, Any]]:
    """Functions that give and take the values of an object whose class has TensorFlow's methods for it, by name."""
    if not isinstance(value, Trackable) or isinstance(value, Variable):
        return {}
    if defines(type(value), Trackable, "_serialize_to_tensors"):
        # What stands for another object has the method even where that one has not.
        with contextlib.suppress(NotImplementedError):
            return {
                name: (functools.partial(_serialized, value, name), functools.partial(_restored, value, name))
                for name in value._serialize_to_tensors()
            }
    if not defines(type(value), Trackable, "_gather_saveables_for_checkpoint"):
        return {}
    found = {}
    for name, made in value._gather_saveables_for_checkpoint().items():
        saveable = made if isinstance(made, (Variable, Trackable)) or not callable(made) else made(name=name)
        if isinstance(saveable, Variable):
            found[name] = (functools.partial(_eager_value, saveable), saveable.assign)
        else:
            found[name] = (
                functools.partial(_of_spec, saveable.specs[0]),
                functools.partial(_restored_by, saveable),
            )
    return found


def _serialized(value: Any, name: str) -> Any:
    found = value._serialize_to_tensors()[name]
    return _of_variable(found) if isinstance(found, Variable) else found() if callable(found) else found


def _of_variable(variable: Variable) -> Any:
    """The value; a variable of a graph as it is, for a session to read."""
    return variable if graph_parts(variable) is not None else _eager_value(variable)


def _restored(value: Any, name: str, tensor: Any) -> None:
    value._restore_from_tensors({name: tensor})


def _of_spec(spec: Any) -> Any:
    tensor = spec.tensor  # read once: a SaveSpec computes it each time
    tensor = tensor() if callable(tensor) else tensor
    return tensor.numpy() if hasattr(tensor, "numpy") else tensor


def _restored_by(saveable: Any, tensor: Any) -> None:
    saveable.restore([tensor], None)


def _eager_value(variable: Variable) -> Any:
    """The value; of numbers without a copy: an update of the variable leaves what was read as it is."""
    with eager_mode():
        if variable.dtype == string:
            return variable.numpy()
        value = variable.read_value()
        held = placed.mesh_array(value)
        whole = np.asarray(value) if held is None else held.whole()
        return whole.astype(bfloat16.as_numpy_dtype) if getattr(variable, "save_as_bf16", False) else whole


def escaped(name: str) -> str:
    """A name as a part of a key, in which slashes part names."""
    return name.replace(".", "..").replace("/", ".S")


def _encoded(nodes: list[dict]) -> bytes:
    made = protos.TrackableObjectGraph()
    valued = _with_values(nodes)
    for number, node in enumerate(nodes):
        own = made.nodes.add()
        for child in node["children"]:
            own.children.add(**child)
        for attribute in node["attributes"]:
            own.attributes.add(**attribute)
        for slot in node["slot_variables"]:
            own.slot_variables.add(**slot)
        own.has_checkpoint_values.value = number in valued
    return made.SerializeToString(deterministic=True)


def _with_values(nodes: list[dict]) -> set[int]:
    """The objects that have values, or lead to some."""
    holders: dict[int, list[int]] = {}
    found = {number for number, node in enumerate(nodes) if node["attributes"]}
    for number, node in enumerate(nodes):
        for child in node["children"]:
            holders.setdefault(child["node_id"], []).append(number)
        if node["slot_variables"]:
            found.add(number)
    todo = list(found)
    for number in todo:
        for holder in holders.get(number, ()):
            if holder not in found:
                found.add(holder)
                todo.append(holder)
    return found


def decode_graph(data: bytes) -> list[dict]:
    """The nodes of a saved graph. Raises ValueError for edges to nowhere."""
    from google.protobuf.message import DecodeError

    try:
        saved = protos.TrackableObjectGraph.FromString(data).nodes
    except DecodeError as error:
        raise ValueError(str(error)) from None
    nodes = []
    for node in saved:
        for child in node.children:
            _check(child.node_id, saved)
        for slot in node.slot_variables:
            _check(slot.slot_variable_node_id, saved)
        nodes.append(
            {
                "children": [
                    {"node_id": c.node_id, "local_name": c.local_name} for c in node.children
                ],
                "attributes": [
                    {"name": a.name, "full_name": a.full_name, "checkpoint_key": a.checkpoint_key}
                    for a in node.attributes
                ],
                "slot_variables": [
                    {
                        "original_variable_node_id": s.original_variable_node_id,
                        "slot_name": s.slot_name,
                        "slot_variable_node_id": s.slot_variable_node_id,
                    }
                    for s in node.slot_variables
                ],
            }
        )
    return nodes


def _check(number: int, nodes: Any) -> None:
    if not 0 <= number < len(nodes):
        raise ValueError(f"there is no node {number}")
