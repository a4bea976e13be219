"""Restoration of objects from a checkpoint: what is there now, at once; what comes later, when it comes."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from tapeflow.checkpoint import following as trackable
from tapeflow.checkpoint.first_format import Reader
from tapeflow.checkpoint.object_graph import (
    OBJECT_GRAPH_KEY,
    VALUE,
    decode_graph,
    of_library,
    parts_of,
    slot_of,
)
from tapeflow.core import dtypes
from tapeflow.core.context import init_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtensor import placed
from tapeflow.core.errors import DataLossError, InvalidArgumentError
from tapeflow.core.public import boundaries
from tapeflow.core.tracking.initial_values import CheckpointPosition
from tapeflow.core.variables import graph_parts
from tapeflow.ops.state.variable import Variable
from tapeflow.ops.validate import type_text

_numbers = itertools.count()


class _Objects(dict):
    """Objects by node, held weakly where they can be: a checkpoint does not keep a program's objects."""

    def __setitem__(self, number: int, value: Any) -> None:
        try:
            super().__setitem__(number, weakref.ref(value))
        except TypeError:
            super().__setitem__(number, lambda: value)

    def __getitem__(self, number: int) -> Any:
        return super().__getitem__(number)()

    def __contains__(self, number: object) -> bool:
        return super().__contains__(number) and super().__getitem__(number)() is not None

    def items(self) -> Any:
        """(node, object) of the objects that are still there."""
        pairs = [(number, found()) for number, found in super().items()]
        return [(number, value) for number, value in pairs if value is not None]

    def values(self) -> Any:
        """The objects that are still there."""
        return [value for _, value in self.items()]


class _Streamed(list):
    """Variables to set: they are set at once."""

    def __init__(self, session: Any):
        super().__init__()
        self._session = session

    def append(self, pair: tuple[Any, Any]) -> None:
        variable, value = pair
        variable.load(value, self._session)


class Restoration:
    """One restoration: which node of the checkpoint belongs to which object.

    With `slots` False those of optimizers are left as they are.
    """

    def __init__(self, reader: Reader, root: Any, slots: bool = True):
        self.reader = reader
        self.order = next(_numbers)
        try:
            self.nodes = decode_graph(bytes(reader.read(OBJECT_GRAPH_KEY).item()))
        except (ValueError, TypeError) as error:
            raise DataLossError(
                None,
                None,
                f"The object graph of the checkpoint {reader.prefix} is damaged: {error}",
            ) from None
        self.objects = _Objects()
        self._node_of: dict[int, int] = {}  # by id of an object
        self.unused: dict[
            int, str
        ] = {}  # attributes of the checkpoint that an object does not have
        self.ambiguous = False
        self._slots: dict[tuple[int, int, str], int] = {}
        self._restored_slots: set[tuple[int, int, str]] = set()
        self._offered: set[tuple[int, int, str]] = set()  # slots that optimizers were asked to make
        for number, node in enumerate(self.nodes):
            for slot in node["slot_variables"] if slots else ():
                key = (number, slot["original_variable_node_id"], slot.get("slot_name", ""))
                self._slots[key] = slot.get("slot_variable_node_id", 0)
        self.to_load: list[tuple[Any, Any]] = []  # variables of a graph, which a session sets
        if self.nodes:
            self.bind(0, root)
        self._wait(root)

    def bind(self, number: int, value: Any) -> None:
        """Says that a node is this object, and goes on to what they hold."""
        todo = [(number, value)]
        while todo:
            number, value = todo.pop(0)
            if number in self.objects:
                continue
            self.objects[number] = value
            self._node_of[id(value)] = number
            self._restore(number, value)
            self.restore_slots(number, value)
            if hasattr(value, "_expect"):
                value._expect({child["local_name"] for child in self.nodes[number]["children"]})
            found = trackable.restorable_children(value)
            missing = False
            for child in self.nodes[number]["children"]:
                name = child["local_name"]
                if name in found:
                    todo.append((child["node_id"], found[name]))
                else:
                    missing = True
            owners = [value]
            if hasattr(type(value), "_held_root"):
                # A checkpoint's root gets attributes of its own, which are the checkpoint's too.
                owners.append(getattr(value, "_root", None))
            for owner in owners if missing else ():
                if hasattr(owner, "__dict__"):
                    owner.__dict__.setdefault("_pending_restores", []).append((self, number))

    def _wait(self, root: Any) -> None:
        if len(self.objects) < len(self.nodes) - len(self._slots):
            trackable.waiting[id(self)] = self
            # The root keeps a restoration alive for as long as it may go on.
            if hasattr(root, "__dict__"):
                root.__dict__.setdefault("_restorations", []).append(self)
        else:
            trackable.waiting.pop(id(self), None)

    def attach(self, number: int, name: str, value: Any) -> None:
        """An object that was waited for has come."""
        for child in self.nodes[number]["children"]:
            if child["local_name"] == name and trackable.is_trackable(value):
                self.bind(child["node_id"], value)

    def awaited(self, number: int, name: str, value: Any) -> Any:
        """`value`, which an object gets as an attribute: a list or dict that is waited for tells what it gets."""
        if any(child["local_name"] == name for child in self.nodes[number]["children"]):
            return trackable.told(value)
        return value

    def match_again(self) -> None:
        """Looks for objects that came without being announced."""
        for optimizer in {key[0] for key in self._slots if key not in self._restored_slots}:
            if optimizer in self.objects:
                self.restore_slots(optimizer, self.objects[optimizer])
        for number, value in list(self.objects.items()):
            children = self.nodes[number]["children"]
            if any(child["node_id"] not in self.objects for child in children):
                found = trackable.restorable_children(value)
                for child in children:
                    if child["node_id"] not in self.objects and child["local_name"] in found:
                        self.bind(child["node_id"], found[child["local_name"]])
        if len(self.objects) >= len(self.nodes) - len(self._slots):
            trackable.waiting.pop(id(self), None)

    def _restore(self, number: int, value: Any) -> None:
        attributes = self.nodes[number]["attributes"]
        if not attributes:
            return
        own = {} if isinstance(value, Variable) else _setters(value)
        parts = parts_of(value) if hasattr(value, "_restore_tensors") else {}
        together = _restore_all(value, self.reader, {a["name"]: a["checkpoint_key"] for a in attributes})
        for attribute in attributes:
            if attribute["name"] in together:
                continue
            key = attribute["checkpoint_key"]
            if isinstance(value, Variable):
                if attribute["name"] == "VARIABLE_VALUE":
                    self._assign(value, key)
                    continue
            elif attribute["name"] in parts:
                suffixes = parts[attribute["name"]]
                value._restore_tensors({end: self.reader.read(key + end) for end in suffixes})
                continue
            elif attribute["name"] in own:
                own[attribute["name"]](self.reader.read(key).item())
                continue
            self.unused[number] = attribute["name"]

    def restore_slots(self, number: int, value: Any) -> None:
        """The slots that join this object, an optimizer or a variable, to objects known already."""
        for key, node in self._slots.items():
            optimizer, original, _ = key
            if number not in (optimizer, original) or key in self._restored_slots:
                continue
            if optimizer not in self.objects or original not in self.objects:
                continue
            owner, variable = self.objects[optimizer], self.objects[original]
            slot = self._slot_to_set(key, node, owner, variable)
            if slot is not None:
                self._take_slot(key, node, slot)

    def _slot_to_set(self, key: tuple[int, int, str], node: int, owner: Any, variable: Any) -> Any:
        """The slot of an optimizer that is to be set, which optimizers may make; None where there is none yet."""
        name = key[2]
        make = getattr(owner, "_create_or_restore_slot_variable", None)
        if make is not None and key not in self._offered:
            self._offered.add(key)  # an optimizer that makes no slot now keeps the position for later
            return make(slot_variable_position=CheckpointPosition(self, node), slot_name=name, variable=variable)
        slot = slot_of(owner, variable, name) if hasattr(owner, "get_slot") else None
        if slot is None and hasattr(owner, "_restore_slot") and variable_is_eager(variable):
            slot = owner._restore_slot(variable, name)
        return slot

    def set_late(self, number: int, value: Any) -> None:
        """Takes an object that is made later than its owner, which kept the position: its node is this one."""
        for key, node in self._slots.items():
            if node == number:
                self._take_slot(key, node, value)
                return
        self.bind(number, value)

    def _take_slot(self, key: tuple[int, int, str], node: int, slot: Any) -> None:
        self._restored_slots.add(key)
        self.objects[node] = slot
        for attribute in self.nodes[node]["attributes"]:
            self._assign(slot, attribute["checkpoint_key"])

    def _assign(self, variable: Any, key: str) -> None:
        """Sets a variable, unless a restoration that began later has set it."""
        if getattr(variable, "_restored_by", -1) <= self.order:
            assign(variable, self.reader, key, self.to_load)
            variable._restored_by = self.order

    def stream_to(self, session: Any) -> None:
        """Sets variables of a graph in a session as soon as they come."""
        self.to_load = _Streamed(session)

    def is_plain_variable(self, number: int) -> bool:
        """Whether a node is nothing but a variable with its value."""
        return [a["name"] for a in self.nodes[number]["attributes"]] == [VALUE]

    def shape_of(self, number: int) -> Any:
        """The shape that the checkpoint has of a variable."""
        return self.reader.shape(self.nodes[number]["attributes"][0]["checkpoint_key"])

    def value_of(self, number: int) -> Any:
        """The value that the checkpoint has of a variable."""
        key = self.nodes[number]["attributes"][0]["checkpoint_key"]
        array = self.reader.read(key)
        return convert_to_tensor(array.tolist() if self.reader.dtype(key) == dtypes.string else array)

    def unresolved_slots(self) -> list[str]:
        """Names of slots that nothing has taken."""
        return [name for key in self._slots if key not in self._restored_slots for name in [key[2]]]

    def names(self) -> dict[int, str]:
        """A name for every node, for messages."""
        found = {0: "(root)"}
        todo = [0]
        for number in todo:
            for child in self.nodes[number]["children"]:
                if child["node_id"] not in found:
                    found[child["node_id"]] = f"{found[number]}.{child['local_name']}"
                    todo.append(child["node_id"])
        for (optimizer, original, name), node in self._slots.items():
            found[node] = (
                f"{found.get(optimizer, '?')}'s state '{name}' for {found.get(original, '?')}"
            )
        return found


def variable_is_eager(value: Any) -> bool:
    """Whether a variable is none of a graph: slots of those are made by the optimizer alone."""
    return isinstance(value, Variable) and graph_parts(value) is None


def _setters(value: Any) -> dict[str, Any]:
    own = getattr(value, "_checkpoint_values", None)
    return {} if own is None else {name: put for name, (_, put) in own().items()}


def _restore_all(value: Any, reader: Reader, keys: dict[str, str]) -> set[str]:
    """Restores the values of an object by the methods that its class has for it; the names of those restored."""
    known = of_library(value)
    values = {
        name: convert_to_tensor(reader.read(key).tolist() if reader.dtype(key) == dtypes.string else reader.read(key))
        for name, key in keys.items()
        if name in known
    }
    if not values:
        return set()
    try:
        value._restore_from_tensors(values)
    except NotImplementedError:
        for name, tensor in values.items():
            known[name][1](tensor)
    return set(values)


def assign(variable: Any, reader: Reader, key: str, to_load: Any = None) -> None:
    """Sets a variable. Raises ValueError for a value of another shape, InvalidArgumentError of another dtype."""
    dtype = reader.dtype(key)
    narrow = dtype == dtypes.bfloat16 and getattr(variable, "save_as_bf16", False)
    if dtype != variable.dtype.base_dtype and not narrow:
        raise InvalidArgumentError(
            None,
            None,
            f"tensor_name = {key}; expected dtype {type_text(variable.dtype.base_dtype)} does not equal "
            f"original dtype {type_text(dtype)} [Op:RestoreV2]",
        )
    shape = reader.shape(key)
    if not variable.shape.is_compatible_with(shape):
        raise ValueError(
            f"Received incompatible tensor with shape {shape} when attempting to restore variable "
            f"with shape {variable.shape} and name {variable.name}."
        )
    if graph_parts(variable) is not None:
        to_load.append((variable, reader.read(key)))
        return
    value = reader.read_tensor(key)
    if value is None:
        array = reader.read(key)
        value = convert_to_tensor(array.tolist() if dtype == dtypes.string else array, dtype)
    if narrow:
        value = convert_to_tensor(value.numpy().astype(variable.dtype.as_numpy_dtype))
    with init_scope():  # also for a variable that a function makes while it is traced
        variable.assign(placed.like(value, variable))


boundaries(globals())
