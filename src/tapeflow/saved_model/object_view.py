"""The objects of a SavedModel: those that checkpoints follow, and functions, files, tables and constants."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from tapeflow import _native
from tapeflow.checkpoint import following as trackable
from tapeflow.checkpoint.object_graph import slots_of
from tapeflow.core.tracking.module import Module
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.function.function import Function
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.state.variable import Variable
from tapeflow.saved_model import datasets
from tapeflow.saved_model.assets import Asset
from tapeflow.saved_model.function_writing import can_be_saved
from tapeflow.saved_model.signatures import DEFAULT, SignatureMap
from tapeflow.saved_model.tables import Resources, is_resource, is_table

SIGNATURES = "signatures"
_FUNCTIONS = (Function, ConcreteFunction)
# What models of Keras keep for themselves.
_NOT_SAVED = frozenset({"train_function", "test_function", "predict_function"})


class Constant:
    """A tensor that functions captured.

    Attributes:
      tensor: what functions captured.
      value: its value, an eager tensor.
    """

    def __init__(self, tensor: Any):
        self.tensor = tensor
        self.value = value_of(tensor)


class ObjectView:
    """What is to be saved of `root`.

    Attributes:
      objects: all of them, the root first; the number of each is its place.
      children: of each object, pairs of a name and a number.
      slots: of each optimizer, by its number: number of a variable, name of a slot, number of the slot.

    Functions are traced where their signature says how.
    """

    def __init__(self, root: Any, signatures: SignatureMap | None = None):
        self.root = root
        self._signatures = signatures
        self._functions: dict[int, dict[str, Any]] = {}  # found once: properties may make new ones
        self._concretes: dict[int, list[Any]] = {}
        self._constants: dict[int, Constant] = {}
        self._resources = Resources()
        self._of_datasets: dict[int, Any] = {}
        self._kept: list[Any] = []
        self._cache: dict[Any, Any] = {}  # where objects of libraries keep what they make for this model
        self.objects: list[Any] = []
        self.children: list[list[tuple[str, int]]] = []
        self.slots: dict[int, list[tuple[int, str, int]]] = {}
        self._numbers: dict[int, int] = {}
        self._behind: dict[int, int] = {}

    def sign(self, signatures: SignatureMap) -> None:
        """Lets the root have signatures."""
        self._signatures = signatures

    def walk(self) -> None:
        """Finds the objects; twice, as tracing a function may make variables."""
        self._walk(functions_only=True)
        self._walk()
        self._add_slots()
        self._add_captures()
        self._behind = {}
        for number, value in enumerate(self.objects):
            tensor = _tensor_behind(value)
            if tensor is not None:
                self._behind.setdefault(id(tensor), number)

    def add(self, value: Any) -> int:
        """The number of an object that is nobody's child."""
        number = self._numbers.setdefault(id(value), len(self.objects))
        if number == len(self.objects):
            self.objects.append(value)
            self.children.append([])
        return number

    def number_behind(self, tensor: Any) -> int | None:
        """The number of the object that a captured tensor stands for; None if it is none of these."""
        return self._behind.get(id(tensor))

    def number_of(self, value: Any) -> int | None:
        """The number of an object; None if it is none of this view."""
        return self._numbers.get(id(value))

    def constant(self, value: Any) -> Constant:
        """The constant of a captured tensor, the same one for the same tensor."""
        found = self._constants.get(id(value))
        if found is None:
            found = self._constants[id(value)] = Constant(value)
        return found

    def concretes(self, function: Any) -> list[Any]:
        """The traces of a function that can be saved."""
        found = self._concretes.get(id(function))
        if found is None:
            found = self._concretes[id(function)] = concretes_of(function)
            self._kept.append(function)
        return found

    def root_children(self) -> dict[str, Any]:
        """The children of the root, with the signatures of before left out."""
        found = self._of(self.root)
        return {name: child for name, child in found.items() if name != SIGNATURES}

    def _walk(self, functions_only: bool = False) -> None:
        self.objects, self.children = [self.root], []
        self._numbers = {id(self.root): 0}
        self._walk_on(functions_only)
        self.objects += self._datasets()
        self._numbers = {id(value): number for number, value in enumerate(self.objects)}
        self._walk_on(functions_only)

    def _walk_on(self, functions_only: bool) -> None:
        """Visits the objects that were not visited yet, and what they hold."""
        for value in itertools.islice(self.objects, len(self.children), None):
            if isinstance(value, Function):
                self.concretes(value)
            found = self._of(value)
            edges = []
            for name, child in found.items():
                if functions_only and isinstance(value, ConcreteFunction):
                    continue
                if id(child) not in self._numbers:
                    self._numbers[id(child)] = len(self.objects)
                    self.objects.append(child)
                edges.append((name, self._numbers[id(child)]))
            self.children.append(edges)

    def _datasets(self) -> list[Any]:
        """What stands for datasets that functions captured, and that no object holds."""
        held = {id(value.resource_handle) for value in self.objects if is_resource(value)}
        found = []
        for function in self.objects:
            if not isinstance(function, ConcreteFunction):
                continue
            for outer, _ in captures_of(function):
                if id(outer) not in held and datasets.is_dataset(outer):
                    held.add(id(outer))
                    if id(outer) not in self._of_datasets:
                        self._of_datasets[id(outer)] = datasets.DatasetResource(outer)
                    found.append(self._of_datasets[id(outer)])
        return found

    def _add_slots(self) -> None:
        self.slots = {}
        for number, original, name, slot in slots_of(self.objects):
            self.slots.setdefault(number, []).append((original, name, self.add(slot)))

    def _add_captures(self) -> None:
        """Tensors that functions captured, as children of the functions; files among them are there already."""
        paths = {id(a.asset_path): a for a in self.objects if isinstance(a, Asset)}
        for function in list(self.objects):
            if not isinstance(function, ConcreteFunction):
                continue
            edges = self.children[self._numbers[id(function)]]
            for i, (outer, _) in enumerate(captures_of(function)):
                if outer.dtype.name == "resource" or not _is_constant(outer) or datasets.is_dataset(outer):
                    continue
                value = paths.get(id(outer)) or self.constant(outer)
                edges.append((f"capture_{i}", self.add(value)))

    def _check_root(self, found: dict[str, Any]) -> None:
        known = found.get(SIGNATURES)
        if known is not None and not isinstance(known, SignatureMap):
            raise ValueError(
                f"Exporting an object {self.root} which has an attribute named '{SIGNATURES}'. This is a "
                "reserved attribute used to store SavedModel signatures in objects which come from "
                "`tf.saved_model.load`. Delete this attribute (e.g. `del obj.signatures`) before saving if "
                "this shadowing is acceptable."
            )

    def _of(self, value: Any) -> dict[str, Any]:
        if isinstance(value, (Variable, Constant, ConcreteFunction)):
            return {}
        if isinstance(value, Function):
            return {f"trace_{i}": each for i, each in enumerate(self.concretes(value))}
        if isinstance(value, SignatureMap):
            return dict(value)
        parts = self._resources.children(value)
        if parts is not None:
            return parts
        found = trackable.children(value, "savedmodel", cache=self._cache)
        found = {**found, **self._functions_of(value, found)}
        if value is self.root:
            self._check_root(found)
            found.pop(SIGNATURES, None)
            if self._signatures is not None:
                found = {**found, SIGNATURES: self._signatures}
        return found

    def _functions_of(self, value: Any, children: dict[str, Any]) -> dict[str, Any]:
        if isinstance(value, (list, tuple)):
            items = ((str(i), each) for i, each in enumerate(value))
        elif isinstance(value, Mapping):
            items = ((key, each) for key, each in value.items() if isinstance(key, str))
        else:
            found = self._functions.get(id(value))
            if found is None:
                found = self._functions[id(value)] = _attributes_of(value)
                self._kept.append(value)
            return {name: each for name, each in found.items() if name not in children}
        return {
            name: each
            for name, each in items
            if isinstance(each, (*_FUNCTIONS, Asset)) or _holds_functions(each)
        }


def _tensor_behind(value: Any) -> Any:
    """The eager tensor by which functions take an object; None for objects that they do not take."""
    if isinstance(value, Constant):
        return value.tensor
    if isinstance(value, Asset):
        return value.asset_path
    if isinstance(value, Variable):
        return value.handle
    return value.resource_handle if is_resource(value) else None


def _holds_functions(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(each, _FUNCTIONS) or _holds_functions(each) for each in value)
    if isinstance(value, Mapping):
        return any(
            isinstance(each, _FUNCTIONS) or _holds_functions(each) for each in value.values()
        )
    return False


def _attributes_of(value: Any) -> dict[str, Any]:
    """The functions, files and lists of functions among the attributes of an object and its class."""
    found: dict[str, Any] = {}
    own = getattr(value, "__dict__", {})
    of_keras = any(base.__module__.startswith("tapeflow.keras") for base in type(value).__mro__)
    for name, each in own.items():
        private = name.startswith("__") or (of_keras and name.startswith("_"))
        if (private and name not in ("__call__", DEFAULT)) or name in _NOT_SAVED:
            continue
        if isinstance(each, (*_FUNCTIONS, Asset)) or is_table(each) or _holds_functions(each):
            found[name] = each
    more = getattr(value, "_saved_model_functions", None)
    if more is not None:
        found |= {name: each for name, each in more().items() if name not in found}
    looks_at_properties = not of_keras and isinstance(value, (Module, trackable.AutoTrackable))
    for name in dir(type(value)):
        if name in found or name in own or (name.startswith("__") and name != "__call__"):
            continue
        kind = _class_attribute(type(value), name)
        if isinstance(kind, Function) or (looks_at_properties and isinstance(kind, property)):
            try:
                each = getattr(value, name)
            except Exception:  # a property may raise anything, and is none to save then
                continue
            if isinstance(each, _FUNCTIONS):
                found[name] = each
    return found


def _class_attribute(cls: type, name: str) -> Any:
    for base in cls.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def _is_constant(tensor: Any) -> bool:
    return isinstance(tensor, _native.EagerTensor) or tensor.op.type == "Const"


def value_of(tensor: Any) -> Any:
    """The eager value of a constant."""
    return tensor if isinstance(tensor, _native.EagerTensor) else tensor.op.attrs["value"]


def concretes_of(function: Any) -> list[Any]:
    """The traces of a function, each as later calls run it."""
    found = []
    for concrete in function._list_all_concrete_functions_for_serialization():
        again = getattr(concrete, "later", None)
        found.append(concrete if again is None else again())
    return [
        concrete for concrete in found if can_be_saved(concrete) and not _is_of_another(concrete)
    ]


def _is_of_another(concrete: Any) -> bool:
    """Whether a trace was made inside of another and takes what that one computes."""
    return any(
        isinstance(outer, SymbolicTensor)
        and isinstance(outer.op.graph, FuncGraph)
        and outer.op.type != "Const"
        for outer, _ in captures_of(concrete)
    )


def captures_of(concrete: Any) -> list[tuple[Any, Any]]:
    """Pairs of what a function takes from outside and the input that stands for it, in the order of the inputs."""
    outer_of = {id(inner): _outermost(outer) for outer, inner in concrete.graph.captures}
    return [(outer_of[id(x)], x) for x in concrete.graph.inputs if id(x) in outer_of]


def _outermost(tensor: Any) -> Any:
    """What stands behind a tensor that a function around this one captured itself."""
    while isinstance(tensor, SymbolicTensor) and isinstance(tensor.op.graph, FuncGraph):
        found = [outer for outer, inner in tensor.op.graph.captures if inner is tensor]
        if not found:
            break
        tensor = found[0]
    return tensor
