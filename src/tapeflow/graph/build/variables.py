"""Variables while a graph is built: nodes that a session gives values to; and variables that functions create."""

from __future__ import annotations

import contextlib
from types import ModuleType
from typing import Any

from tapeflow import _native
from tapeflow.core import context, dtypes
from tapeflow.core.tensor_shape import TensorShape, as_shape
from tapeflow.core.variables import declare, describe, graph_parts
from tapeflow.graph.build import building
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange.inlining import copy_operation
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import order, planning
from tapeflow.graph.tensor import OF_REFERENCE, SymbolicTensor
from tapeflow.ops.state import rows as state
from tapeflow.ops.state import variable
from tapeflow.ops.state.resource import VarHandleOp


def _variable_defs() -> ModuleType:
    from tapeflow.graph.interchange import variable_defs  # a circle: it is made of this module

    return variable_defs


CREATED_TWICE = (
    "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable is only "
    "created once or created outside tf.function. See "
    "https://www.tensorflow.org/guide/function#creating_tfvariables for "
    "more information."
)


class Parts:
    """The nodes of a variable of a graph."""

    __slots__ = ("graph", "handle", "initial_value", "initializer", "is_initialized", "element")

    graph: Graph
    handle: SymbolicTensor
    initial_value: Any
    initializer: Any
    is_initialized: Any
    element: Any


class Creation:
    """What `Variable()` asks for while a graph is built."""

    @staticmethod
    def create(made: Any, given: dict[str, Any]) -> None:
        """Fills in a new variable.

        Args:
          given: initial_value, trainable, name, dtype, shape, validate_shape, collections, ...
        """
        graph = context.current_graph()
        if isinstance(graph, FuncGraph):
            _create_in_function(made, given, graph)
        else:
            _create_in_graph(made, given, graph)

    @staticmethod
    def call(
        row: Any, values: Any, name: str | None, attrs: dict[str, Any] | None = None
    ) -> Operation:
        """A call of a row as an operation named `name`."""
        graph = context.current_graph() or building.graph_of(values)
        return building.call(graph, row, values, attrs or {}, name)

    @staticmethod
    def to_proto(made: Any, export_scope: str | None) -> Any:
        """The `VariableDef` of a variable."""
        return _variable_defs().to_proto(made, export_scope)

    @staticmethod
    def from_proto(definition: Any, import_scope: str | None) -> Any:
        """The variable of the default graph that a `VariableDef` names."""
        return _variable_defs().from_proto(definition, get_default_graph(), import_scope)

    @staticmethod
    def assigned(made: Any, op: Operation, read_value: bool) -> Any:
        """What an assignment returns: the variable as it is after `op`."""
        if not read_value:
            return op
        # Where only what is asked for runs, who reads the variable asks for the assignment.
        prunes = graph_parts(made) is not None or getattr(op.graph, "pruned", False)
        return UnreadVariable(made, op) if prunes else made

    @staticmethod
    def expect_shape(made: Any, shape: TensorShape) -> None:
        """To be called before an assignment of a value of a `shape` that may be another: later reads know no shape."""
        if not (shape.is_fully_defined() and made.shape.is_compatible_with(shape)):
            graph_parts(made).handle.handle_shape = None

    @staticmethod
    def reshaped(made: Any, op: Operation, shape: TensorShape) -> Any:
        """What an assignment of a value of another `shape` returns."""
        after = UnreadVariable(made, op)
        if not (shape.is_fully_defined() and made.shape.is_compatible_with(shape)):
            after._declared = shape
        return after


def _root(graph: FuncGraph) -> FuncGraph:
    """The trace that has begun the others around `graph`."""
    while isinstance(graph.enclosing_graph, FuncGraph):
        graph = graph.enclosing_graph
    return graph


def check_may_create() -> None:
    """Raises ValueError in a trace that is not the first one of its function: it may not create variables."""
    graph = context.current_graph()
    if isinstance(graph, FuncGraph) and _root(graph).created_variables is None:
        raise ValueError(CREATED_TWICE)


def _create_in_function(made: Any, given: dict[str, Any], graph: FuncGraph) -> None:
    """A variable that outlives the function whose trace creates it."""
    check_may_create()
    root = _root(graph)
    assert root.created_variables is not None
    value = given["initial_value"]
    lifted: Any = None
    late = None
    if not callable(value):
        value = (
            building.as_symbolic(graph, value, given["dtype"])
            if not isinstance(value, _native.EagerTensor)
            else value
        )
        if isinstance(value, SymbolicTensor):
            lifted = _lifted(graph, value, root)
            if lifted is None:
                late = value
        else:
            lifted = value
    scope = graph.get_name_scope()
    with context.init_scope():
        if late is not None:
            _create_late(made, {**given, "initial_value": None}, late, root)
        else:
            fresh = {**given, "initial_value": value if callable(value) else lifted}
            block: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
            if scope:
                eager = context.executing_eagerly()
                block = (context if eager else context.current_graph()).name_scope(scope + "/")
            with block:
                made._create(fresh)
    root.created_variables.append(made)
    if isinstance(made, variable.VariableV1) and root.enclosing_graph is None:
        keys = given.get("collections")
        keys = [GraphKeys.GLOBAL_VARIABLES] if keys is None else list(keys)
        for key in {*keys, *([GraphKeys.TRAINABLE_VARIABLES] if given["trainable"] else [])}:
            root.add_to_collection(key, made)
    if late is not None:
        state.AssignVariableOp(made, late)


def _create_late(made: Any, given: dict[str, Any], value: SymbolicTensor, root: FuncGraph) -> None:
    """A variable without a value yet, which the first run of the function sets."""
    shape = as_shape(given["shape"]) if given["shape"] is not None else value.shape
    declare(made, value.dtype, bool(given["trainable"]), shape)
    describe(made, given)
    root.late_variables.append(made)


def _lifted(graph: FuncGraph, value: SymbolicTensor, root: FuncGraph) -> Any:
    """`value` computed outside of the functions being traced; None where it depends on their arguments.

    So it does where it reads a variable that the first run of the function sets.
    """
    ops = order.needed(graph, [value], [], [])
    waiting = [made.handle for made in root.late_variables]
    unset = {id(inner) for outer, inner in graph.captures if any(outer is handle for handle in waiting)}
    captured = {id(inner): outer for outer, inner in graph.captures}
    for op in ops:
        if op.type == "Placeholder":
            if id(op.outputs[0]) not in captured or id(op.outputs[0]) in unset:
                return None
    outer = graph.enclosing_graph
    if outer is None:
        if any(not isinstance(x, _native.EagerTensor) for x in captured.values()):
            return None
        program = planning.Emitter(f"initial_{graph.name}")
        for inner in graph.internal_captures:
            program.constant(inner, captured[id(inner)])
        for op in ops:
            if op.type != "Placeholder":
                program.emit(op)
        program.program.outputs = [program.number(value)]
        with context.eager_mode():
            return planning.compile_program(program.program)()[0]
    with outer.as_default(), outer.control_dependencies(None):
        found: dict[int, SymbolicTensor] = {
            k: building.as_symbolic(outer, x) for k, x in captured.items()
        }
        for op in ops:
            if not (op.type == "Placeholder" and op.outputs and id(op.outputs[0]) in found):
                copy_operation(outer, op, found, {})
    result = found[id(value)]
    return _lifted(outer, result, root) if isinstance(outer, FuncGraph) else result


def _create_in_graph(made: Any, given: dict[str, Any], graph: Graph) -> None:
    """The nodes of a variable: its handle, its initial value, the assignment of it."""
    collections = given.get("collections")
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    trainable = given["trainable"]
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
        collections.append(GraphKeys.TRAINABLE_VARIABLES)
    base = given["name"] or "Variable"
    parts = Parts()
    parts.graph = graph
    with contextlib.ExitStack() as scopes:
        scopes.enter_context(graph.control_dependencies(None))
        name = scopes.enter_context(graph.name_scope(base)).removesuffix("/")
        # The initial value is made where the variable is.
        scopes.enter_context(graph.attr_scope({"_class": [b"loc:@" + name.encode()]}))
        value, dtype = given["initial_value"], given["dtype"]
        with graph.name_scope("Initializer"):
            if callable(value):
                value = value()
            value = building.as_symbolic(graph, value, dtype, "initial_value")
        declared = as_shape(given["shape"]) if given["shape"] is not None else (
            value.shape if given.get("validate_shape", True) else TensorShape(None))  # fmt: skip
        if given["shape"] is not None and not declared.is_compatible_with(value.shape):
            raise ValueError(
                f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) is not compatible with the "
                f"explicitly supplied `shape` argument ({given['shape']})."
            )
        if (
            made._is_reference
            and given.get("validate_shape", True)
            and given["shape"] is None
            and value.shape.rank is None
        ):
            raise ValueError(f"initial_value must have a shape specified: {value}")
        attrs = {
            "dtype": value.dtype,
            "shape": declared,
            "shared_name": name,
            "container": graph.resource_container,
        }
        op = graph.add(VarHandleOp.name, None, (), (), attrs, name + "/")
        handle = op.add_output(dtypes.resource, ())
        handle.handle_shape = None if declared.rank is None else tuple(declared.as_list())
        handle.handle_dtype = value.dtype
        parts.handle = handle
        parts.initial_value = value
        if made._is_reference:
            op.take_attrs({OF_REFERENCE: True})
        declare(made, value.dtype, bool(trainable), declared, parts)
        describe(made, {**given, "full_name": name})
        with graph.device(handle.device) if handle.device else contextlib.nullcontext():
            with graph.name_scope("IsInitialized"):
                parts.is_initialized = state.VarIsInitializedOp(handle)
            parts.initializer = building.call(
                graph, state.AssignVariableOp, (handle, value), {}, "Assign"
            )
            with graph.name_scope("Read"):
                parts.element = building.read(made, graph)
    for key in dict.fromkeys(collections):
        graph.add_to_collection(key, made)
    graph.variables_by_handle[made] = handle


class UnreadVariable(variable.Variable):
    """A variable after an assignment: reading it waits for that."""

    def __init__(self, parent: Any, op: Operation):
        self._init(parent.dtype, parent.trainable)
        self.__dict__.update(parent.__dict__)
        self._declared = parent.shape
        self._assignment = op
        self._parent = parent
        self._value: Any = None

    @property
    def handle(self):
        """That of the variable."""
        return self._parent.handle

    @property
    def name(self):
        """The name of the assignment."""
        return self._assignment.name

    @property
    def op(self):
        """The assignment."""
        return self._assignment

    def _read_in_graph(self) -> Any:
        current = context.current_graph() or self._assignment.graph
        with current.as_default(), current.control_dependencies([self._assignment]):
            value = building.read(self._parent, current)
        if value.shape.rank is None:
            value.set_shape(self._declared)
        return value

    def _as_graph_element(self) -> Any:
        if self._value is None:
            # A final graph gets it too: it is part of the assignment, and made late only to keep graphs small.
            graph = self._assignment.graph
            with graph.unfinalized(), graph.as_default():
                self._value = self._read_in_graph()
        return self._value

    def eval(self, session=None):
        """The value after the assignment, which runs."""
        return self._as_graph_element().eval(session=session)


# What programs of 1.x do with variables.
