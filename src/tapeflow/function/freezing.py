"""`convert_variables_to_constants_v2`: traced functions with constants in place of their variables, and no calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.files.tensor_proto import make_tensor_proto
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.variables import dtype_of
from tapeflow.function.wrapping import WrappedFunction
from tapeflow.graph.build import building
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.func_graph import FuncGraph, copy_handle
from tapeflow.graph.interchange.freezing import freeze
from tapeflow.graph.interchange.importing import import_nodes
from tapeflow.graph.interchange.inlining import copy_operation
from tapeflow.graph.operation import Operation
from tapeflow.graph.passes.folding import MOST_ELEMENTS, evaluate
from tapeflow.graph.run import planning
from tapeflow.graph.run.order import needed
from tapeflow.graph.run.planning import limited
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.lookup.table_object import Table
from tapeflow.ops.state.resource_op import object_of

__all__ = ["convert_variables_to_constants_v2", "convert_variables_to_constants_v2_as_graph"]


def convert_variables_to_constants_v2(
    func: Callable[..., Any], lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> WrappedFunction:
    """Freeze a function: its variables become constants with the values that they have now.

    Calls of other functions are inlined, and what follows from constants alone is computed. A lookup table becomes a
    node with a name of its own; what reads the GraphDef elsewhere has to fill it.

    Args:
      func: a `ConcreteFunction`.
      lower_control_flow: whether TensorFlow, when it runs the written graph, makes `Switch` and `Merge` nodes of
        branches and loops. Here they stay `If` and `While` nodes, which say so in an attr.
      aggressive_inlining: not used: all calls are inlined.

    Returns:
      A function of the same arguments that returns the flat list of results. Its `graph` can be written as a
      GraphDef of its own.

    Raises:
      TypeError: `func` is no `ConcreteFunction`.
      ValueError: the function does more with a variable than read it.
    """
    if not hasattr(func, "graph"):
        raise TypeError(f"Expected a concrete function, not {func!r}: use `get_concrete_function(...)`")
    graph = func.graph
    variables = {id(inner): variable for variable, inner in graph.variables_by_handle.items()}
    values: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for outer, inner in graph.captures:
        variable = variables.get(id(inner))
        if variable is not None:
            values[inner.op.name] = make_tensor_proto(variable.numpy(), dtype_of(variable))
        elif outer.dtype in (dtypes.resource, dtypes.variant):
            kept[inner.name] = outer
        else:
            values[inner.op.name] = make_tensor_proto(outer.numpy(), outer.dtype)
    frozen = freeze(graph.as_graph_def(), values)
    with context.init_scope():
        whole, flat = FuncGraph(graph.name), FuncGraph(graph.name)
    whole.limits = flat.limits = graph.limits
    with whole.as_default():
        replaced = {name: whole.capture(outer) for name, outer in kept.items()}
        import_nodes(frozen, replaced, name="")
    internal = {id(x) for x in graph.internal_captures}
    arguments = [x for x in graph.inputs if id(x) not in internal]
    given = [whole.get_tensor_by_name(x.name) for x in arguments]
    whole.inputs = given + whole.internal_captures
    copy = Copy(flat, [y.op for y in graph.outputs], lower=bool(lower_control_flow))
    with flat.as_default():
        for x in given:
            copy.found[id(x)] = flat.add_input(x.dtype, x.shape_tuple, x.op.name)
        for outer, inner in whole.captures:
            if outer.dtype is dtypes.resource and isinstance(object_of(outer), Table):
                # A node that makes it, so that a GraphDef has the table.
                copy.found[id(inner)] = building.constant(flat, outer, inner.op.name)
                continue
            copy.found[id(inner)] = flat.capture(outer)
            copy_handle(inner, copy.found[id(inner)])
        outputs = [whole.get_tensor_by_name(y.name) for y in graph.outputs]
        flat.outputs = limited(graph.limits, lambda: copy.add(whole, outputs))
    flat.structured_outputs = list(flat.outputs)
    specs = tuple(TensorSpec(x.shape, x.dtype, x.op.name) for x in arguments)
    return WrappedFunction(flat, graph.name, (specs, {}), [x.op.name for x in arguments])


def convert_variables_to_constants_v2_as_graph(
    func: Callable[..., Any], lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> tuple[WrappedFunction, Any]:
    """Freeze a function as `convert_variables_to_constants_v2` does.

    Args:
      func: a `ConcreteFunction`.
      lower_control_flow: as for `convert_variables_to_constants_v2`.
      aggressive_inlining: not used: all calls are inlined.

    Returns:
      The function, and its graph as a GraphDef.
    """
    frozen = convert_variables_to_constants_v2(func, lower_control_flow, aggressive_inlining)
    return frozen, frozen.graph.as_graph_def()


# Operations that say how the numbers that they round are to be quantized.
_ROUNDING = "FakeQuantWithMinMax"


class Copy:
    """A copy of a graph: calls are inlined, constants folded.

    Args:
      target: where the copies go.
      named: the operations that stay under their names, though they could be computed.
      scope: what the names of all copies begin with.
      lower: what branches and loops say of whether TensorFlow may lower them; None: what they said.

    Attributes:
      found: what tensors have become.
    """

    def __init__(self, target: FuncGraph, named: Iterable[Operation], scope: str = "", lower: bool | None = None):
        self.target = target
        self._scope, self._lower = scope, lower
        self.found: dict[int, SymbolicTensor] = {}
        self._constants: dict[int, _Constant] = {}
        self._copies: dict[int, Operation] = {}
        self._named = {op.name for op in named}

    def add(
        self,
        graph: FuncGraph,
        outputs: Sequence[SymbolicTensor],
        called: bool = False,
        targets: Sequence[Operation] | None = None,
    ) -> list[SymbolicTensor]:
        """Copies what `outputs` and `targets` of a graph need, by default its effects; the copies of the outputs."""
        given = [x for x in graph.inputs if id(x) in self.found or id(x) in self._constants]
        arguments = {id(x) for x in given}
        if targets is None:
            targets = [op for op in graph.operations if op.effects]
        for op in needed(graph, outputs, targets, given):
            if op.outputs and id(op.outputs[0]) in arguments:
                continue
            if op.type == "PartitionedCall":
                self._inline(op)
            elif _is_of_loop(op) and (op.name not in self._named or called):
                self._pass_on(op)
            elif not self._fold(op) or (op.name in self._named and not called):
                self._plain(op, called)
        return [self._made(y) for y in outputs]

    def _made(self, x: SymbolicTensor) -> SymbolicTensor:
        """What a tensor has become; constants become nodes when they are asked for."""
        if id(x) not in self.found:
            known = self._constants[id(x)]
            if known.node is None:
                known.node = building.constant(self.target, known.value, known.name)
            self.found[id(x)] = known.node
        return self.found[id(x)]

    def _inline(self, op: Operation) -> None:
        body = op.attrs["branches"][0]
        first = len(self.target.operations)
        for inner, given in zip(body.graph.inputs, op.inputs, strict=True):
            if id(given) in self._constants:
                self._constants[id(inner)] = self._constants[id(given)]
            else:
                self.found[id(inner)] = self.found[id(given)]
        before = [self._copies[id(other)] for other in op.control_inputs if id(other) in self._copies]
        with self.target.control_dependencies(before), self.target.name_scope(op.name + "/"):
            results = self.add(body.graph, body.outputs, called=True)
        for x in body.graph.operations:  # each call has copies of its own
            for y in x.outputs:
                self.found.pop(id(y), None)
                self._constants.pop(id(y), None)
        for y, own in zip(op.outputs, results, strict=True):
            self.found[id(y)] = own
        made = self.target.operations[first:]
        if made:  # who waited for the call waits for the last that it does
            self._copies[id(op)] = next((x for x in reversed(made) if x.effects), made[-1])

    def _pass_on(self, op: Operation) -> None:
        for x, y in zip(op.inputs, op.outputs, strict=True):
            self.found[id(y)] = self.found[id(x)]
        self._copies[id(op)] = self._copies[id(op.inputs[0].op)]

    def _plain(self, op: Operation, called: bool) -> None:
        for x in op.inputs:
            self._made(x)
        name = None if called else f"{self._scope}{op.name}/"
        made = copy_operation(self.target, op, self.found, self._copies, name)
        self._copies[id(op)] = made
        attrs = made.attrs
        if "branches" in attrs:
            bodies = [self._flat(body, f"{made.name}/branch{i}/") for i, body in enumerate(attrs["branches"])]
            made.attrs = {**attrs, "branches": bodies}
        elif "body" in attrs:
            made.attrs = {**attrs, **{key: self._flat(attrs[key], f"{made.name}/{key}/") for key in ("cond", "body")}}
        else:
            return
        if self._lower is not None:
            made.set_attr("_lower_using_switch_merge", self._lower)

    def _flat(self, body: Body, scope: str) -> Body:
        """A function of a branch or loop, with calls inlined and constants folded.

        The names of its operations begin with `scope`: converters put functions into the graph that uses them.
        """
        with context.init_scope():
            made = FuncGraph(body.graph.name)
        made.limits = body.graph.limits
        copy = Copy(made, [], scope, self._lower)
        with made.as_default(), made.name_scope(scope):
            for x in body.graph.inputs:
                copy.found[id(x)] = made.add_input(x.dtype, x.shape_tuple, x.op.name)
                copy_handle(x, copy.found[id(x)])
            made.outputs = copy.add(body.graph, body.outputs)
        return Body(made, list(made.outputs))

    def _fold(self, op: Operation) -> bool:
        """Computes an operation whose inputs are constants; whether that could be done."""
        if op.control_inputs:
            return False
        if op.type == "Const":
            self._constants[id(op.outputs[0])] = _Constant(op.attrs["value"], op.name)
            return True
        if op.row is None or op.stateful or not op.inputs or planning.is_special(op) or op.type.startswith(_ROUNDING):
            return False
        inputs = [self._constants.get(id(x)) for x in op.inputs]
        if any(x is None for x in inputs):
            return False
        if op.row is Identity:
            self._constants[id(op.outputs[0])] = self._constants[id(op.inputs[0])]
            return True
        if any((y.shape.num_elements() or 0) > MOST_ELEMENTS for y in op.outputs):
            return False
        results = evaluate(op.row, op.attrs, op.list_sizes, [x.value for x in inputs if x is not None])
        if results is None:
            return False
        for i, (y, tensor) in enumerate(zip(op.outputs, results, strict=True)):
            self._constants[id(y)] = _Constant(tensor, f"{op.name}_{i}" if i else op.name)
        return True


def _is_of_loop(op: Operation) -> bool:
    """Whether an operation only hands on what a loop returns, as loops are written."""
    return (
        op.type == "IdentityN"
        and not op.control_inputs
        and not op.extra_attrs
        and all(x.op.type == "While" for x in op.inputs)
    )


class _Constant:
    """A value that is known, and its node where one was made."""

    def __init__(self, value: Any, name: str):
        self.value, self.name = value, name
        self.node: SymbolicTensor | None = None
