"""The scopes of a graph: what a block says of the operations that are made in it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow import _native
from tapeflow.core import device as placement
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.variables import creators, element_of_graph
from tapeflow.graph.names import Names, check_scope
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor


class ThreadScopes(threading.local):
    """What each thread that builds a graph has of its own."""

    def __init__(self) -> None:
        self.name = ""
        self.devices: list[Any] = []
        self.controls: list[Any] = []
        self.attributes: dict[str, Any] = {}
        self.overrides: dict[str, str] = {}
        self.colocated: list[Any] = []


class Scopes:
    """The scopes of a `Graph`."""

    _names: Names
    _scopes: ThreadScopes
    _operations: list[Operation]
    resource_container = ""  # the name that resources are kept under
    building_function: Any
    as_graph_element: Any

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` within the current name scope, made unique."""
        scope = self._scopes.name
        return self._names.unique(f"{scope}/{name}" if scope else name, mark_as_used)

    def get_name_scope(self) -> str:
        """The name scope that new operations are in, without the slash at its end."""
        return self._scopes.name

    @property
    def _name_stack(self) -> str:
        return self._scopes.name

    @contextlib.contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """A block in which names get a prefix: enters as "outer/name/", "" or None is the root.

        Raises ValueError for a name that cannot be one.
        """
        if name:
            if isinstance(name, bytes):
                name = name.decode()
            check_scope(name, not self._scopes.name)
        scopes = self._scopes
        saved = scopes.name
        if not name:
            new = ""
        elif name.endswith("/"):
            new = name[:-1]
        else:
            new = self.unique_name(name)
        scopes.name = new
        try:
            yield f"{new}/" if name else ""
        finally:
            scopes.name = saved

    @contextlib.contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """A block whose operations are marked with a device: a name, a `DeviceSpec`, or a function of the operation."""
        if device_name_or_function is not None and not callable(device_name_or_function):
            device_name_or_function = placement.DeviceSpec.from_string(
                placement.canonical_name(device_name_or_function)
            )
        stack = self._scopes.devices
        stack.append(device_name_or_function)
        depth = len(stack)
        try:
            yield
        finally:
            if len(stack) != depth:
                raise RuntimeError("Exiting device scope without proper scope nesting.")
            stack.pop()

    @property
    def scope_devices(self) -> list[Any]:
        """The devices of the blocks around what is built now, the outermost first."""
        return self._scopes.devices

    def _device_of_scope(self, op: Any, set_device: Callable[[str], None]) -> str:
        """The device that the blocks around say for `op`; functions among them are called with it, once it is set."""
        spec = placement.DeviceSpec()
        for entry in reversed(self._scopes.devices):
            if entry is None:
                break
            if callable(entry) and not isinstance(entry, placement.DeviceSpec):
                set_device(spec.to_string())
                entry = entry(op)
                entry = placement.DeviceSpec.from_string(placement.canonical_name(entry or ""))
            spec = entry.make_merged_spec(spec)
        return spec.to_string()

    def _apply_device_functions(self, op: Any) -> None:
        """Sets the device of what is like an operation: libraries ask so which device the blocks around say."""
        set_device = getattr(op, "_set_device_from_string", None) or op._set_device
        device = self._device_of_scope(op, set_device)
        if device:
            set_device(device)

    @property
    def _variable_creator_stack(self) -> list[Any]:
        return [(100, creator) for creator in creators.stack]  # each with its priority, which is one for all

    @property
    def _colocation_stack(self) -> list[Any]:
        return [op for op in self._scopes.colocated if op is not None]

    def _record_op_seen_by_control_dependencies(self, op: Any) -> None:
        """Takes an operation of the graph, which `control_dependencies` knows by its place."""

    def _add_op(self, op: Operation, op_name: str | None = None) -> None:
        """Takes an operation, which is in its graph from the start. Raises ValueError for one of another graph."""
        if op.graph is not self:
            raise ValueError(f"{op.name} must be from this graph.")

    def _place(self, op: Operation) -> None:
        scopes = self._scopes
        op.device = self._device_of_scope(op, lambda device: setattr(op, "device", device))
        for other in scopes.colocated:
            if other is not None and other is not op:
                op.set_attr("_class", sorted({*op.colocation_groups(), *other.colocation_groups()} -
                                              {b"loc:@" + op.name.encode()}))  # fmt: skip
                op.device = other.device or op.device

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """A block whose operations share the device of `op`, whatever the blocks around say."""
        if op is None and not ignore_existing:
            raise ValueError(
                "Trying to reset colocation (op is None) but ignore_existing is not True"
            )
        scopes = self._scopes
        saved = scopes.colocated, scopes.devices
        if op is not None:
            op = getattr(op, "op", op)
        scopes.colocated = [op] if ignore_existing else [*scopes.colocated, op]
        scopes.devices = []
        try:
            yield
        finally:
            scopes.colocated, scopes.devices = saved

    _colocate_with_for_gradient = None

    @contextlib.contextmanager
    def init_scope(self, names: str, around: Any) -> Iterator[None]:
        """A block of what is lifted into this graph: without control dependencies, in the name scope and, where
        the graph `around` is given, on the devices that it was lifted from."""
        scopes = self._scopes
        saved = scopes.name, scopes.devices
        scopes.name = names.removesuffix("/")
        if around is not None and around.scope_devices:
            scopes.devices = list(around.scope_devices)
        try:
            with self.control_dependencies(None):
                yield
        finally:
            scopes.name, scopes.devices = saved

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        """A block whose operations run after `control_inputs`; None lifts the dependencies around it."""
        stack = self._scopes.controls
        if control_inputs is None:
            saved = list(stack)
            stack.clear()
            try:
                yield
            finally:
                stack[:] = saved
            return
        ops: list[Operation] = []
        for each in control_inputs:
            op = self.control_operation(each)
            if op is not None and op not in ops:
                ops.append(op)
        # What is created inside of the block depends on the inputs already.
        stack.append((ops, len(self._operations)))
        try:
            yield
        finally:
            stack.pop()

    def control_operation(self, each: Any) -> Operation | None:
        """The operation that a control dependency on `each` waits for, None where there is none."""
        if isinstance(each, IndexedSlices):
            each = each.values
        if isinstance(each, Operation):
            found = each
        elif (assignment := getattr(each, "_assignment", None)) is not None:
            found = assignment
        else:
            if hasattr(each, "_as_graph_element") and not isinstance(each, str):
                each = element_of_graph(each)
            # Eager variables and tensors are there already; a function's effects run in program order anyway.
            if each is None or isinstance(each, (_native.EagerTensor, _native.Variable)):
                return None
            element = each if isinstance(each, SymbolicTensor) else self.as_graph_element(each)
            found = element.op if isinstance(element, SymbolicTensor) else element
        if found.graph is self:
            return found
        if self.building_function:
            self._outer_control(found)
            return None
        raise ValueError(f"Operation {found!r} is not an element of this graph.")

    def _outer_control(self, op: Operation) -> None:
        """Notes that `op`, of a graph around this one, is to run before."""

    def _control_inputs(self, inputs: tuple[SymbolicTensor, ...]) -> list[Operation]:
        found: list[Operation] = []
        for ops, first in self._scopes.controls:
            # An operation that takes what was made inside of the block waits already; not with a placeholder,
            # which may stand for what comes from outside.
            if any(
                x.op.index >= first and x.op.graph is self and x.op.type != "Placeholder"
                for x in inputs
            ):
                continue
            found += [op for op in ops if op not in found]
        sources = {x.op for x in inputs}
        return [op for op in found if op not in sources]

    @property
    def _container(self) -> str:
        """TensorFlow's name for what resources are kept under."""
        return self.resource_container

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """A block whose resources are kept under a name of their own."""
        saved = self.resource_container
        self.resource_container = container_name
        try:
            yield container_name
        finally:
            self.resource_container = saved

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        """A block in which operations of some types ask for kernels with a label; every type has one kernel here."""
        if not isinstance(op_to_kernel_label_map, dict):
            raise TypeError(
                "op_to_kernel_label_map must be a dictionary mapping strings to strings"
            )
        yield

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """A block in which operations of some types get the gradient registered under another name."""
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for key, value in op_type_map.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        scopes = self._scopes
        saved = scopes.overrides
        scopes.overrides = {**saved, **op_type_map}
        try:
            yield
        finally:
            scopes.overrides = saved

    @contextlib.contextmanager
    def attr_scope(self, attr_map: dict[str, Any]) -> Iterator[None]:
        """A block whose operations get these attrs."""
        scopes = self._scopes
        saved = scopes.attributes
        scopes.attributes = {**saved, **attr_map}
        try:
            yield
        finally:
            scopes.attributes = saved

    _attr_scope = attr_scope
