"""`Graph`: operations, their names and scopes, collections."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core import device as placement
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.tensor_shape import as_shape
from tapeflow.graph.names import Names, check_op, check_scope
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor


class _ByIdentity:
    """A dictionary whose keys are compared by identity, as variables must be."""

    def __init__(self) -> None:
        self._items: dict[int, tuple[Any, Any]] = {}

    def get(self, key: Any) -> Any:
        found = self._items.get(id(key))
        return None if found is None else found[1]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._items[id(key)] = (key, value)

    def items(self) -> list[tuple[Any, Any]]:
        return list(self._items.values())


class _Scopes(threading.local):
    """What each thread that builds a graph has of its own."""

    def __init__(self) -> None:
        self.name = ""
        self.devices: list[Any] = []
        self.controls: list[Any] = []
        self.attributes: dict[str, Any] = {}
        self.overrides: dict[str, str] = {}
        self.colocated: list[Any] = []


class Graph:
    """Operations that are run together later, by a `Session` or as the body of a function.

    Operations are in the order of their creation, which is an order in which they can run.
    """

    _building_function = False
    outer_graph: Any = None

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names = Names()
        self._scopes = _Scopes()
        self._collections: dict[Any, list[Any]] = {}
        self._unfeedable: list[Any] = []
        self._unfetchable: set[Any] = set()
        self._consumers: Any = None
        self._lock = threading.RLock()
        self._finalized = False
        self._inserted = 0
        self._container = ""
        # Whether an edge was added against the order of creation.
        self.reordered = False
        # Operations that got an input of a wrong dtype, and what is to be said of it.
        self.mistyped: dict[Operation, str] = {}
        # Rises with each change, so that what was made of the graph can be seen to be old.
        self.version = 0
        self.seed: int | None = None
        self.variables_by_handle: Any = _ByIdentity()
        self.producer_version = 2474  # that of TensorFlow 2.21, whose ops these are
        self.min_consumer = 0

    @property
    def building_function(self) -> bool:
        """Whether this is the body of a function, which init_scope leaves."""
        return self._building_function

    # Operations.

    @property
    def operations(self) -> list[Operation]:
        return self._operations

    def get_operations(self) -> list[Operation]:
        """The operations, in the order of their creation."""
        return list(self._operations)

    @property
    def finalized(self) -> bool:
        return self._finalized

    def finalize(self) -> None:
        """Refuse further operations."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    @property
    def _last_id(self) -> int:
        return len(self._operations)

    def add(
        self,
        kind: str,
        row: Any,
        inputs: tuple[SymbolicTensor, ...],
        input_sizes: tuple[int | None, ...],
        attrs: dict[str, Any],
        name: str | None,
    ) -> Operation:
        """A new operation without outputs yet. `name` is a wish; one that ends with "/" is taken as it is.

        Raises RuntimeError if the graph is finalised.
        """
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        scopes = self._scopes
        if isinstance(name, bytes):
            name = name.decode()
        name = self.take_name(name or kind)
        control = self._control_inputs(inputs) if scopes.controls else []
        op = Operation(self, kind, row, inputs, input_sizes, attrs, name, "", control)
        with self._lock:
            op.index = len(self._operations)
            self._operations.append(op)
            self._by_name[name] = op
            self.version += 1
        if scopes.devices or scopes.colocated:
            self._place(op)
        if scopes.attributes:
            for key, value in scopes.attributes.items():
                value = value(op.node_def) if callable(value) else value
                if value is not None and key not in op.extra_attrs:
                    op._set_attr(key, value)
        if scopes.overrides and kind in scopes.overrides:
            op._set_attr("_gradient_op_type", scopes.overrides[kind].encode())
        return op

    def take_name(self, name: str) -> str:
        """The full name of an operation that wishes for `name`, taken from then on. Raises ValueError for a bad one."""
        if name.endswith("/"):
            name = name[:-1]
            if name in self._by_name:
                return self._names.unique(name)
            self._names.mark(name)
            return name
        scope = self._scopes.name
        if not scope or not all(c.isalnum() or c in "_.\\/>-" for c in name):
            check_op(name)
        return self._names.unique(f"{scope}/{name}" if scope else name)

    def create_op(
        self,
        op_type: str,
        inputs: Any,
        dtypes: Any = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: Any = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """A new operation of type `op_type`. Programs call the functions of the ops instead."""
        from tapeflow.graph import building

        return building.create(self, op_type, list(inputs), dtypes, attrs or {}, name)

    _create_op_internal = create_op

    def index_before(self, op: Operation) -> float:
        """A place in the order of operations right before `op`, after others that were put there."""
        self._inserted += 1
        return op.index - 0.5 + self._inserted * 1e-7

    def consumers_of(self, tensor: SymbolicTensor) -> list[Operation]:
        """The operations with `tensor` as an input, once for each time that they have it."""
        known = self._consumers
        if known is None or known[0] != self.version:
            found: dict[int, list[Operation]] = {}
            for op in self._operations:
                for x in op.inputs:
                    found.setdefault(id(x), []).append(op)
            known = self._consumers = (self.version, found)
        return list(known[1].get(id(tensor), ()))

    # Looking up.

    def get_operation_by_name(self, name: str) -> Operation:
        """Raises ValueError or KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def get_tensor_by_name(self, name: str) -> SymbolicTensor:
        """Raises ValueError or KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The operation or tensor that `obj` is, names or stands for.

        Raises TypeError, ValueError or KeyError if it is none of this graph.
        """
        if allow_tensor and allow_operation:
            wanted = "Tensor or Operation"
        elif allow_tensor:
            wanted = "Tensor"
        elif allow_operation:
            wanted = "Operation"
        else:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        element = getattr(obj, "_as_graph_element", None)
        if element is not None and not isinstance(obj, str):
            converted = element()
            obj = obj if converted is None else converted
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        if isinstance(obj, SymbolicTensor) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj!r} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")

    def _element_by_name(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        if ":" in name and allow_tensor:
            op_name, _, number = name.partition(":")
            if not number.isdigit() or not op_name:
                raise ValueError(
                    f"The name {name!r} looks a like a Tensor name, but is not a valid one. Tensor names must be of "
                    'the form "<op_name>:<output_index>".'
                )
            op = self._by_name.get(op_name)
            if op is None:
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, does "
                    "not exist in the graph."
                )
            if int(number) >= len(op.outputs):
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation, {op_name!r}, exists "
                    f"but only has {len(op.outputs)} outputs."
                )
            return op.outputs[int(number)]
        if ":" in name:
            raise ValueError(f"The name {name!r} appears to refer to a Tensor, not a Operation.")
        if not allow_operation:
            if name in self._by_name:
                raise ValueError(
                    f"The name {name!r} refers to an Operation, not a Tensor. Tensor names must be of the form "
                    '"<op_name>:<output_index>".'
                )
            raise ValueError(
                f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. Tensor names must be of the "
                'form "<op_name>:<output_index>".'
            )
        if name not in self._by_name:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return self._by_name[name]

    # Scopes.

    @contextlib.contextmanager
    def as_default(self) -> Iterator[Graph]:
        """A block whose operations go to this graph."""
        with context.graph_scope(self):
            yield self

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` within the current name scope, made unique."""
        scope = self._scopes.name
        return self._names.unique(f"{scope}/{name}" if scope else name, mark_as_used)

    def get_name_scope(self) -> str:
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

    def _place(self, op: Operation) -> None:
        scopes = self._scopes
        spec = placement.DeviceSpec()
        for entry in reversed(scopes.devices):
            if entry is None:
                break
            if callable(entry) and not isinstance(entry, placement.DeviceSpec):
                op.device = spec.to_string()
                entry = entry(op)
                entry = placement.DeviceSpec.from_string(placement.canonical_name(entry or ""))
            spec = entry.make_merged_spec(spec)
        op.device = spec.to_string()
        for other in scopes.colocated:
            if other is not None and other is not op:
                op._set_attr("_class", sorted({*op.colocation_groups(), *other.colocation_groups()} -
                                              {b"loc:@" + op.name.encode()}))  # fmt: skip
                op.device = other.device or op.device

    @contextlib.contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """A block whose operations share the device of `op`."""
        if op is None and not ignore_existing:
            raise ValueError(
                "Trying to reset colocation (op is None) but ignore_existing is not True"
            )
        scopes = self._scopes
        saved = scopes.colocated
        if op is not None:
            op = getattr(op, "op", op)
        scopes.colocated = [op] if ignore_existing else [*saved, op]
        try:
            yield
        finally:
            scopes.colocated = saved

    _colocate_with_for_gradient = None

    @contextlib.contextmanager
    def init_scope(self, names: str, around: Any) -> Iterator[None]:
        """A block of what is lifted into this graph: without control dependencies, in the name scope and, where
        the graph `around` is given, on the devices that it was lifted from."""
        scopes = self._scopes
        saved = scopes.name, scopes.devices
        scopes.name = names.removesuffix("/")
        if around is not None and around._scopes.devices:
            scopes.devices = list(around._scopes.devices)
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
            op = self._control_operation(each)
            if op is not None and op not in ops:
                ops.append(op)
        # What is created inside of the block depends on the inputs already.
        stack.append((ops, len(self._operations)))
        try:
            yield
        finally:
            stack.pop()

    def _control_operation(self, each: Any) -> Operation | None:
        if isinstance(each, IndexedSlices):
            each = each.values
        if isinstance(each, Operation):
            found = each
        elif getattr(each, "_assignment", None) is not None:
            found = each._assignment
        else:
            if hasattr(each, "_as_graph_element") and not isinstance(each, str):
                each = each._as_graph_element()
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

    @contextlib.contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """A block whose resources are kept under a name of their own."""
        saved = self._container
        self._container = container_name
        try:
            yield container_name
        finally:
            self._container = saved

    @contextlib.contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        """A block in which operations of some types ask for kernels with a label; every type has one kernel here."""
        if not isinstance(op_to_kernel_label_map, dict):
            raise TypeError("op_to_kernel_label_map must be a dictionary mapping strings to strings")
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
    def _attr_scope(self, attr_map: dict[str, Any]) -> Iterator[None]:
        scopes = self._scopes
        saved = scopes.attributes
        scopes.attributes = {**saved, **attr_map}
        try:
            yield
        finally:
            scopes.attributes = saved

    # Collections.

    @property
    def collections(self) -> list[Any]:
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        return [key for key in self._collections if isinstance(key, str)]

    def add_to_collection(self, name: Any, value: Any) -> None:
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        for name in (names,) if isinstance(names, str) else set(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list itself, made if there is none."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of a collection; with `scope`, of the items whose name begins with it (a regular expression)."""
        found = self._collections.get(name)
        if found is None:
            return []
        if scope is None:
            return list(found)
        import re

        pattern = re.compile(scope)
        return [item for item in found if hasattr(item, "name") and pattern.match(item.name)]

    def clear_collection(self, name: Any) -> None:
        self._check_not_finalized()
        self._collections.pop(name, None)

    def _check_not_finalized(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    # Feeding and fetching.

    def prevent_feeding(self, tensor: Any) -> None:
        self._unfeedable.append(tensor)

    def is_feedable(self, tensor: Any) -> bool:
        return all(tensor is not x for x in self._unfeedable)

    def prevent_fetching(self, op: Any) -> None:
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        op = tensor_or_op.op if isinstance(tensor_or_op, SymbolicTensor) else tensor_or_op
        return op not in self._unfetchable

    # What the rooms below ask of it.

    def effects_of(self, function: Any) -> list[Operation]:
        """The operations with effects that `function()` adds, without the initialisation of new variables."""
        first = len(self._operations)
        function()
        fresh = self._operations[first:]
        initial = {
            v._parts.initializer
            for v, _ in self.variables_by_handle.items()
            if v._parts is not None
        }
        return [op for op in fresh if op.effects and op not in initial]

    def gradients(self, ys: list[Any], xs: list[Any], grad_ys: Any = None) -> list[Any]:
        """The gradients of the sum of `ys` by each of `xs`, tensors or variables."""
        from tapeflow.graph import derivatives

        return derivatives.gradients(ys, xs, grad_ys)

    def as_tensor(self, value: Any) -> SymbolicTensor:
        """`value` as a tensor of this graph."""
        from tapeflow.graph import building

        return building.as_symbolic(self, value)

    def with_gradient(
        self, outputs: list[Any], inputs: list[Any], variables: list[Any], backward: Any
    ) -> list[Any]:
        """`outputs`, through a node whose gradients for `inputs` and `variables` are what `backward(*dys)` returns."""
        from tapeflow.graph import building

        own = [building.as_symbolic(self, x) for x in (*outputs, *inputs)]
        handles = [building.handle_in(self, v) for v in variables]
        count = len(outputs)
        op = self.add(
            "IdentityN",
            None,
            (*own, *handles),
            (None,) * (len(own) + len(handles)),
            {},
            "IdentityN",
        )
        op.custom_gradient = lambda _, *dys: [None] * count + backward(*dys[:count])
        return [op.add_output(x.dtype, x.shape_tuple) for x in own[:count]]

    # What others make of it.

    def capture(self, tensor: Any, name: str | None = None, shape: Any = None) -> SymbolicTensor:
        """A tensor from outside as one of this graph: an eager one becomes a constant.

        Raises ValueError for a tensor of another graph.
        """
        if isinstance(tensor, _native.EagerTensor):
            from tapeflow.graph import building

            return building.constant(self, tensor, name or "Const")
        raise ValueError(
            f"Tensor {tensor!r} must be from the same graph as the operations that use it."
        )

    def capture_variable(self, variable: Any, handle: Any) -> SymbolicTensor:
        """The handle of an eager variable as a tensor of this graph."""
        known = self.variables_by_handle.get(variable)
        if known is None:
            known = self.capture(handle)
            known.handle_shape = _known_shape(variable)
            known.handle_dtype = variable.dtype
            self.variables_by_handle[variable] = known
        return known

    @property
    def graph_def_versions(self) -> Any:
        return self.as_graph_def().versions

    def as_graph_def(
        self, from_version: int | None = None, add_shapes: bool = False, **_options: Any
    ) -> Any:
        """The graph as a `GraphDef`."""
        from tapeflow.graph import graph_def

        return graph_def.to_graph_def(self, from_version, add_shapes)

    def _repr_svg_(self) -> str:
        """The picture that notebooks show."""
        from tapeflow.graph import drawing

        return drawing.draw(self)

    def switch_to_thread_local(self) -> None:
        """Scopes are always each thread's own."""

    def __enter__(self) -> Graph:
        stack = self.__dict__.setdefault("_entered", [])
        scope = self.as_default()
        scope.__enter__()
        stack.append(scope)
        return self

    def __exit__(self, *exception: Any) -> None:
        self.__dict__["_entered"].pop().__exit__(*exception)


def output_specs(dtypes: Any, shapes: Any = None) -> list[tuple[DType, Any]]:
    """Dtypes and shapes of outputs, as `Operation.add_output` takes them."""
    kinds = [as_dtype(d).base_dtype for d in dtypes or ()]
    found = [None] * len(kinds) if shapes is None else [as_shape(s) for s in shapes]
    return [
        (kind, None if s is None or s.rank is None else tuple(s.as_list()))
        for kind, s in zip(kinds, found, strict=True)
    ]


def _known_shape(variable: Any) -> tuple[int | None, ...] | None:
    shape = variable.shape
    return None if shape.rank is None else tuple(shape.as_list())


class _Defaults:
    """The graph that operations go to where the process builds graphs and none was entered."""

    def __init__(self) -> None:
        self.graph: Graph | None = None


_defaults = _Defaults()


def default_graph() -> Graph:
    if _defaults.graph is None:
        _defaults.graph = Graph()
    return _defaults.graph


def known_default_graph() -> Graph | None:
    """The default graph, None before there is one."""
    return _defaults.graph


context.default_graph = default_graph


def get_default_graph() -> Graph:
    """The graph that operations of this thread go to, or would if they were not eager."""
    graph = context.current_graph()
    if graph is None:
        graph = context.innermost_graph()
    return default_graph() if graph is None else graph


def reset_default_graph() -> None:
    """A new default graph. Raises AssertionError inside of a graph's block."""
    if context.inside_graph():
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the "
            "nesting and create a new graph."
        )
    _defaults.graph = Graph()
