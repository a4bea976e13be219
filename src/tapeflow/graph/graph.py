"""`Graph`: operations in the order of their creation, and the default graph."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, KeysView, Mapping
from types import SimpleNamespace
from typing import Any

from tapeflow import _native, protos
from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.annotations import ShapeLike
from tapeflow.core.dtypes import DType, as_dtype
from tapeflow.core.tensor_shape import as_shape
from tapeflow.core.variables import dtype_of, graph_parts
from tapeflow.graph import misuse
from tapeflow.graph.build import copied_tensors
from tapeflow.graph.build.collected import Collections
from tapeflow.graph.elements import Elements
from tapeflow.graph.names import Names, check_op
from tapeflow.graph.operation import Operation
from tapeflow.graph.scopes import Scopes, ThreadScopes
from tapeflow.graph.services import services
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.graph.variable_handles import VariableHandles


@api("Graph")
class Graph(Scopes, Collections, Elements):
    """Operations that are run together later, by a `Session` or as the body of a function.

    Operations are in the order of their creation, which is an order in which they can run.
    """

    _building_function = False
    enclosing_graph: Any = None
    # What runs may use, if nodes that are not trusted were imported: `trust.Limits`.
    limits: Any = None

    def _create_op_from_tf_operation(self, c_op: Any, compute_device: bool = True) -> Any:
        """The operation that `tf.__internal__.create_c_op` has added."""
        return c_op

    @property
    def _nodes_by_name(self) -> dict[str, Any]:
        return {op.name: op for op in self.operations}

    def _get_control_flow_context(self) -> None:
        """None: branches and loops have graphs of their own."""

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._by_name = {}
        self._names = Names()
        self._scopes = ThreadScopes()
        self._collections = {}
        self._unfeedable: list[Any] = []
        self._unfetchable: set[Any] = set()
        self._consumers: Any = None
        self.lock = threading.RLock()
        self._finalized = False
        self._inserted = 0
        # Whether an edge was added against the order of creation.
        self.reordered = False
        # Operations that got an input of a wrong dtype, and what is to be said of it.
        self.mistyped: dict[Operation, str] = {}
        # Rises with each change, so that what was made of the graph can be seen to be old.
        self.version = 0
        # Rises when operations that were there before change. Additions leave the plans of the others valid.
        self.edits = 0
        self.seed: int | None = None
        self.variables_by_handle = VariableHandles()
        self.producer_version = 2474  # that of TensorFlow 2.21, whose ops these are
        self.min_consumer = 0

    def edited(self) -> None:
        """Notes that an operation that was there before has changed."""
        self.version += 1
        self.edits += 1

    @property
    def building_function(self) -> bool:
        """Whether this is the body of a function, which init_scope leaves."""
        return self._building_function

    @property
    def prunes(self) -> bool:
        """Whether only what is asked for runs: in graphs of sessions, and in branches and loops of 1.x in them."""
        return not self._building_function or getattr(self, "pruned", False)

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

    @contextlib.contextmanager
    def unfinalized(self) -> Iterator[None]:
        """A block in which it takes further operations, though it was finalised."""
        saved, self._finalized = self._finalized, False
        try:
            yield
        finally:
            self._finalized = saved

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
        control = self._control_inputs(inputs) if scopes.controls else []
        with self.lock:
            name = self.take_name(name or kind)
            op = Operation.make(self, kind, row, inputs, input_sizes, attrs, name, "", control)
            op.index = len(self._operations)
            self._operations.append(op)
            self._by_name[name] = op
            self.version += 1
        if scopes.devices or scopes.colocated:
            self._place(op)
        if scopes.attributes:
            for key, value in scopes.attributes.items():
                value = value(protos.NodeDef(name=name, op=kind)) if callable(value) else value  # no outputs yet
                if value is not None and key not in op.extra_attrs:
                    op.set_attr(key, value)
        if scopes.overrides and kind in scopes.overrides:
            op.set_attr("_gradient_op_type", scopes.overrides[kind].encode())
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

    @property
    def names(self) -> KeysView[str]:
        """The names of its operations."""
        return self._by_name.keys()

    def free_name(self, name: str) -> str:
        """A name like `name` that no operation has yet, `name` itself left out."""
        self._names.mark(name)
        return self._names.unique(name)

    def rename(self, op: Operation, name: str) -> None:
        """Give an operation another name, which is free."""
        self._by_name.pop(op.name, None)
        op.name = name
        self._by_name[name] = op
        self._names.mark(name)

    def create_op(
        self,
        op_type: str,
        inputs: Any,
        dtypes: Any = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: Mapping[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """A new operation of type `op_type`. Programs call the functions of the ops instead."""
        return services().building.create(self, op_type, list(inputs), dtypes, attrs or {}, name)

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

    # Feeding and fetching.

    def prevent_feeding(self, tensor: Any) -> None:
        """Let no session feed a tensor."""
        self._unfeedable.append(tensor)

    def is_feedable(self, tensor: Any) -> bool:
        """Whether sessions may feed a tensor."""
        return all(tensor is not x for x in self._unfeedable)

    def prevent_fetching(self, op: Any) -> None:
        """Let no session fetch an operation or its outputs."""
        self._unfetchable.add(op)

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether sessions may fetch a tensor or an operation."""
        op = tensor_or_op.op if isinstance(tensor_or_op, SymbolicTensor) else tensor_or_op
        return op not in self._unfetchable

    # What the packages below ask of it.

    def effects_of(self, function: Any) -> list[Operation]:
        """The operations with effects that `function()` adds, without the initialisation of new variables."""
        first = len(self._operations)
        function()
        fresh = self._operations[first:]
        initial = {
            graph_parts(v).initializer
            for v, _ in self.variables_by_handle.items()
            if graph_parts(v) is not None
        }
        return [op for op in fresh if op.effects and op not in initial]

    def gradients(self, ys: list[Any], xs: list[Any], grad_ys: Any = None) -> list[Any]:
        """The gradients of the sum of `ys` by each of `xs`, tensors or variables."""
        return services().gradients(ys, xs, grad_ys)

    def as_tensor(self, value: Any) -> SymbolicTensor:
        """`value` as a tensor of this graph."""
        return services().building.as_symbolic(self, value)

    def with_gradient(
        self, outputs: list[Any], inputs: list[Any], variables: list[Any], backward: Any
    ) -> list[Any]:
        """`outputs`, through a node whose gradients for `inputs` and `variables` are what `backward(*dys)` returns."""
        building = services().building
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
        op.custom_gradient = copied_tensors.kept(lambda _, *dys: [None] * count + backward(*dys[:count]))
        return [op.add_output(x.dtype, x.shape_tuple) for x in own[:count]]

    # What others make of it.

    def as_default(self) -> contextlib.AbstractContextManager[Graph]:
        """A block whose operations go to this graph."""
        return context.graph_scope(self)

    def capture(self, tensor: Any, name: str | None = None, shape: ShapeLike | None = None) -> SymbolicTensor:
        """A tensor from outside as one of this graph: an eager one becomes a constant.

        Raises ValueError for a tensor of another graph.
        """
        if isinstance(tensor, _native.EagerTensor):
            return services().building.constant(self, tensor, name or "Const")
        tensor = copied_tensors.newest(tensor)
        if tensor.op.graph is self:
            return tensor
        raise ValueError(misuse.other_graph(tensor, self))

    def capture_variable(self, variable: Any, handle: Any) -> SymbolicTensor:
        """The handle of an eager variable as a tensor of this graph."""
        known = self.variables_by_handle.get(variable)
        if known is None:
            known = self.capture(handle)
            known.handle_shape = _known_shape(variable)
            known.handle_dtype = dtype_of(variable)
            self.variables_by_handle[variable] = known
        return known

    @property
    def graph_def_versions(self) -> Any:
        return self.as_graph_def().versions

    def as_graph_def(
        self, from_version: int | None = None, add_shapes: bool = False, **_options: Any
    ) -> Any:
        """The graph as a `GraphDef`."""
        return services().graph_def().to_graph_def(self, from_version, add_shapes)

    def _written(self) -> Any:
        """The nodes of the operations, as a `GraphDef` that is made anew where the graph has changed."""
        graph_def = services().graph_def()
        known = self.__dict__.get("_written_graph")
        if known is None or known[0] != self.version:
            written = graph_def.of_operations(self, self.operations, counted=False)
            known = self.__dict__["_written_graph"] = (self.version, written, {})
        return known[1]

    def written_nodes(self) -> dict[str, Any]:
        """The nodes of the graph as a `GraphDef`, by name: what they call functions by."""
        written = self._written()
        nodes: dict[str, Any] = self.__dict__["_written_graph"][2]
        if not nodes:
            nodes.update((node.name, node) for node in written.node)
        return nodes

    @property
    def _functions(self) -> dict[str, Any]:
        """The functions that nodes of the graph call, by name, each with its `definition`, a `FunctionDef`."""
        return {each.signature.name: SimpleNamespace(definition=each) for each in self._written().library.function}

    def _repr_svg_(self) -> str:
        """The picture that notebooks show."""
        return services().drawing().draw(self)

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
