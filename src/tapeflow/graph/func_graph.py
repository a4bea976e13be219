"""`FuncGraph`: the body of a function, of a branch or of a loop: a graph with inputs, outputs and captures."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import ShapeLike
from tapeflow.core.variables import dtype_of
from tapeflow.graph import misuse
from tapeflow.graph.build import building, copied_tensors
from tapeflow.graph.default_graph import default_graph
from tapeflow.graph.graph import Graph, _known_shape
from tapeflow.graph.misuse import InaccessibleTensorError as InaccessibleTensorError
from tapeflow.graph.names import is_op
from tapeflow.graph.tensor import SymbolicTensor

_Eager = _native.EagerTensor
# The attr of inputs that says what the program calls the argument.
USER_NAME = "_user_specified_name"
# Captured whole numbers up to this size are constants: shapes and axes, which inference wants to see.
_SMALL = 128


class FuncGraph(Graph):
    """A graph that is called.

    Attributes:
      inputs: placeholders, those of captures last.
      outputs: flat list of tensors.
      structured_outputs: what the Python function returned, with tensors of this graph.
      structured_input_signature: (args, kwargs) of specs, for those who ask.
      enclosing_graph: the graph that was being built when this one was made; None: none.
    """

    _building_function = True
    # Whether the control flow of layers called in it is converted, as that of the function itself is.
    converts = True
    # Whether only `targets` run besides what the outputs need: the part of a function that was cut out.
    pruned = False
    # Why the function cannot be saved; "" if it can be.
    unsaveable = ""
    targets: Sequence[Any] = ()
    # Attributes of the function as AttrValue messages, by name.
    function_attrs: Mapping[str, Any] = {}

    def __init__(
        self,
        name: str,
        collections: Any = None,
        capture_by_value: Any = None,
        structured_input_signature: Any = None,
        structured_outputs: Any = None,
    ):
        super().__init__()
        self.name = name
        self.inputs: list[SymbolicTensor] = []
        self.outputs: list[SymbolicTensor] = []
        self.structured_outputs = structured_outputs
        self.structured_input_signature = structured_input_signature
        self.enclosing_graph = context.current_graph()
        self.capture_by_value = capture_by_value
        self._captured: dict[int, tuple[Any, SymbolicTensor]] = {}
        self._handed: dict[int, tuple[Any, SymbolicTensor]] | None = None
        self._variables: dict[int, Any] = {}
        # Where variables that are created go; None: none may be created. See function.Function.
        self.created_variables: list[Any] | None = []
        self.late_variables: list[Any] = []
        self.plans: dict[Any, Any] = {}  # what was compiled of it, by what for
        self.creation_lock = _native.CreationLock()  # of what is made of it later: plans, gradients
        # Operations of graphs around this one that run before it does.
        self.control_captures: list[Any] = []
        outer = self.enclosing_graph
        self.seed = outer.seed if outer is not None else context.eager_seed()
        if outer is not None:
            self.converts = getattr(outer, "converts", True)
            self.limits = outer.limits
            self._collections = outer.collection_lists if collections is None else collections
            self._scopes.devices = list(outer.scope_devices)

    @property
    def outer_graph(self) -> Graph:
        """The graph that was being built when this one was made, else the default one."""
        return default_graph() if self.enclosing_graph is None else self.enclosing_graph

    def _outer_control(self, op: Any) -> None:
        graph = self.enclosing_graph
        while graph is not None and graph is not op.graph:
            graph = graph.enclosing_graph
        if graph is not None and op not in self.control_captures:
            self.control_captures.append(op)

    # Captures.

    def placeholder_of(self, tensor: Any) -> SymbolicTensor | None:
        """The placeholder that stands for a tensor from outside, or None."""
        found = self._captured.get(id(tensor))
        return None if found is None else found[1]

    def captured_by(self, placeholder: SymbolicTensor) -> Any:
        """The tensor of a graph around this one for which a placeholder stands, or None."""
        outer = next((outer for outer, inner in self._captured.values() if inner is placeholder), None)
        return None if isinstance(outer, _Eager) else outer

    def set_captures(self, pairs: Iterable[tuple[Any, SymbolicTensor]]) -> None:
        """Let placeholders stand for these tensors from outside, and for no others."""
        self._captured = {id(outer): (outer, inner) for outer, inner in pairs}

    def hand_captures(self) -> list[Any]:
        """Turn the captures into arguments: the tensors from outside, which the caller gives from now on.

        What reads one of them later (a gradient's own gradient) gets the argument; others are out of scope.
        """
        self._handed, self._captured = self._captured, {}
        return [outer for outer, _ in self._handed.values()]

    def drop_capture(self, tensor: Any) -> None:
        """Let nothing stand for a tensor from outside."""
        del self._captured[id(tensor)]

    @property
    def captures(self) -> list[tuple[Any, SymbolicTensor]]:
        """Pairs of a tensor from outside and the placeholder that stands for it."""
        return list(self._captured.values())

    @property
    def external_captures(self) -> list[Any]:
        return [outer for outer, _ in self._captured.values()]

    @property
    def internal_captures(self) -> list[SymbolicTensor]:
        return [inner for _, inner in self._captured.values()]

    @property
    def function_captures(self) -> SimpleNamespace:
        """The captures as converters of TensorFlow's functions read them: dicts with the same keys."""
        return SimpleNamespace(
            by_val_external={id(outer): outer for outer, _ in self.captures},
            by_val_internal={id(outer): inner for outer, inner in self.captures},
        )

    @property
    def num_captures(self) -> int:
        return len(self._captured)

    def capture(self, tensor: Any, name: str | None = None, shape: ShapeLike | None = None) -> SymbolicTensor:
        """A tensor from outside as one of this graph.

        Raises TypeError for a tensor of a graph that is not around this one.
        """
        if isinstance(tensor, SymbolicTensor):
            tensor = copied_tensors.newest(tensor)
            if tensor.op.graph is self:
                return tensor
        known = self._captured.get(id(tensor))
        if known is None and self._handed is not None:
            known = self._handed.get(id(tensor))
        if known is not None:
            return known[1]
        if isinstance(tensor, _Eager):
            variable = _variable_of(tensor)
            if variable is not None:
                return self.capture_variable(variable, tensor)
            if (
                not _differentiable(tensor.dtype)
                and _size(tensor) <= _SMALL
                and id(tensor) not in _by_identity
            ):
                made = building.constant(self, tensor, name or "Const")
                self._captured_constant(tensor, made)
                return made
            outer: Any = tensor
            if isinstance(self.enclosing_graph, FuncGraph):
                outer = self.enclosing_graph.capture(tensor, name)
            elif self.enclosing_graph is not None:
                return building.constant(self, tensor, name or "Const")
        else:
            if (
                tensor.op.type == "Const"
                and not _differentiable(tensor.dtype)
                and id(tensor) not in _by_identity
            ):
                made = building.constant(
                    self, tensor.op.attrs["value"], tensor.op.name.rpartition("/")[2]
                )
                self._captured_constant(tensor, made)
                return made
            outer = self._from_outer(tensor)
        found = self._captured.get(id(outer))
        if found is not None:
            return found[1]
        return self.add_capture(outer, name)

    def _captured_constant(self, tensor: Any, made: SymbolicTensor) -> None:
        """Constants need no input; remembered here, so that each is there once."""
        self.__dict__.setdefault("_constants", {})[id(tensor)] = (tensor, made)

    def _from_outer(self, tensor: SymbolicTensor) -> SymbolicTensor:
        graph = self.enclosing_graph if self._handed is None else None
        while graph is not None and graph is not tensor.op.graph:
            graph = graph.enclosing_graph
        if graph is None:
            raise InaccessibleTensorError(misuse.out_of_scope(tensor, self.name))
        return tensor if self.enclosing_graph is tensor.op.graph else self.enclosing_graph.capture(tensor)

    def add_capture(self, outer: Any, name: str | None = None) -> SymbolicTensor:
        """A placeholder that stands for a tensor from outside of the graph, as a further input."""
        shape = (
            outer.shape_tuple if isinstance(outer, SymbolicTensor) else tuple(outer.shape.as_list())
        )
        with self.control_dependencies(None), self.name_scope(None):
            inner = building.placeholder(self, outer.dtype, shape, name or "captured")
        if isinstance(outer, SymbolicTensor):
            copy_handle(outer, inner)
            if outer.op.type == "Const" or outer.op.graph.building_function:
                inner._constant = outer.constant_value()
        self._captured[id(outer)] = (outer, inner)
        self.inputs.append(inner)
        return inner

    def capture_variable(self, variable: Any, handle: Any) -> SymbolicTensor:
        known = self.variables_by_handle.get(variable)
        if known is not None:
            return known
        outer = handle
        if self.enclosing_graph is not None:
            outer = self.enclosing_graph.capture_variable(variable, handle)
        inner = self.add_capture(
            outer, getattr(variable, "name", "variable").split(":")[0].rpartition("/")[2] or None
        )
        inner.handle_shape = _known_shape(variable)
        inner.handle_dtype = dtype_of(variable)
        self.variables_by_handle[variable] = inner
        self.watch_variable(variable)
        return inner

    def forget_captures(self, inputs: Sequence[SymbolicTensor]) -> dict[int, Any]:
        """Drop captures that nothing here uses: by the id of each one's placeholder, the tensor from outside."""
        outer = {id(inner): tensor for tensor, inner in self.captures}
        gone = {id(x): outer[id(x)] for x in inputs}
        self.inputs = [x for x in self.inputs if id(x) not in gone]
        self._operations = [op for op in self._operations if not (op.outputs and id(op.outputs[0]) in gone)]
        self._captured = {key: pair for key, pair in self._captured.items() if id(pair[1]) not in gone}
        known = self.variables_by_handle
        for variable in [v for v, x in known.items() if id(x) in gone]:
            del known[variable]
        self.edited()
        return gone

    def replace_capture(self, tensor: Any, placeholder: SymbolicTensor) -> None:
        """Let `placeholder` stand for `tensor` from now on."""
        self._captured[id(tensor)] = (tensor, placeholder)
        self.edited()

    def capture_again(self, tensor: Any, placeholder: SymbolicTensor) -> None:
        """Let `placeholder` stand for `tensor`, which another one may stand for already."""
        self._captured[-id(placeholder) if id(tensor) in self._captured else id(tensor)] = (tensor, placeholder)

    def deferred_external_captures(self) -> list[Any]:
        return []

    def mark_as_unsaveable(self, error_message: str) -> None:
        """Lets `tf.saved_model.save` refuse the function, and those that call it, with this message."""
        self.unsaveable = error_message
        if isinstance(self.enclosing_graph, FuncGraph):
            self.enclosing_graph.mark_as_unsaveable(error_message)

    # Variables.

    def watch_variable(self, variable: Any) -> None:
        """Notes that the function uses `variable`, and so do those around it."""
        self._variables.setdefault(id(variable), variable)
        if isinstance(self.enclosing_graph, FuncGraph):
            self.enclosing_graph.watch_variable(variable)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that the function uses, in the order of their first use."""
        return tuple(self._variables.values())

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple(v for v in self._variables.values() if v.trainable)

    # Shape of the call.

    @property
    def control_outputs(self) -> list[Any]:
        """The operations that run though no output needs them."""
        return list(self.targets) if self.pruned else [op for op in self.operations if op.effects]

    @property
    def output_types(self) -> list[Any]:
        return [t.dtype for t in self.outputs]

    @property
    def output_shapes(self) -> list[Any]:
        return [t.shape for t in self.outputs]

    def add_input(self, dtype: Any, shape: Any, name: str, label: bytes = b"") -> SymbolicTensor:
        """A new placeholder, after the other inputs; `label`: what the program calls the argument."""
        name = name if is_op(name) else "Placeholder"  # a parameter may be called _
        inner = building.placeholder(self, dtype, shape, name)
        if label:
            inner.op.set_attr(USER_NAME, label)
        self.inputs.append(inner)
        return inner

    def __repr__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"


def _variable_of(tensor: Any) -> Any:
    """The variable whose handle an eager tensor is; None for other tensors."""
    if tensor.dtype is not dtypes.resource or tensor.shape.rank:
        return None
    held = tensor.numpy()
    variable = held() if isinstance(held, weakref.ref) else None
    return variable if isinstance(variable, _native.Variable) else None


def copy_handle(source: SymbolicTensor, target: SymbolicTensor) -> None:
    """What is known of the variable behind a resource tensor."""
    if source.dtype is dtypes.resource or source.dtype is dtypes.variant:
        target.handle_shape = getattr(source, "handle_shape", None)
        target.handle_dtype = getattr(source, "handle_dtype", None)


def branch(name: str) -> FuncGraph:
    """The graph of a branch or loop body. In graphs of 1.x only what its results need runs."""
    graph = FuncGraph(name)
    outer = graph.enclosing_graph
    graph.pruned = outer is not None and (not isinstance(outer, FuncGraph) or outer.pruned)
    return graph


def wait_for_captures(op: Any, bodies: Any) -> None:
    """Lets a node run after the operations that its bodies wait for."""
    for body in bodies:
        for other in body.control_captures:
            found = op.graph.control_operation(other)
            if found is not None:
                op.add_control_inputs([found])


def own_collections() -> dict[Any, list[Any]] | None:
    """The collections of a function that is traced now: those of variables are shared with the graph around it."""
    outer = context.current_graph()
    if outer is None:
        return None
    shared = ("variables", "local_variables", "trainable_variables")
    return {
        **{
            key: list(items) if isinstance(key, str) and not key.startswith("_") else items
            for key, items in outer.collection_lists.items()
        },
        **{key: outer.get_collection_ref(key) for key in shared},
    }


# Tensors that may stand for something else in another place, such as the path of a file that a model takes along.
_by_identity: dict[int, Any] = {}


def capture_by_identity(tensor: Any) -> None:
    """Lets functions that use a constant `tensor` take it as a capture, however small it is."""
    _by_identity[id(tensor)] = tensor


def _differentiable(dtype: Any) -> bool:
    return dtype.is_floating or dtype.is_complex or dtype in (dtypes.resource, dtypes.variant)


def _size(tensor: Any) -> int:
    size = 1
    for d in tensor.shape.as_list():
        size *= d
    return size


def outermost() -> Graph:
    """The graph around all functions being traced; the default graph if there is none."""
    graph = context.current_graph()
    while isinstance(graph, FuncGraph):
        graph = graph.enclosing_graph
    return default_graph() if graph is None else graph


@api("inside_function")
def inside_function() -> bool:
    """Whether what is called now becomes part of the body of a function."""
    return isinstance(context.current_graph(), FuncGraph)
