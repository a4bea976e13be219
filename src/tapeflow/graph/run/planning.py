"""From a graph to a native plan: which operations run, as which instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.graph import passes
from tapeflow.graph.build import streams
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.nodes import resource_nodes
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import clusters
from tapeflow.graph.run.clustering import clustering
from tapeflow.graph.run.order import needed
from tapeflow.graph.run.program import Instruction, Program
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.control.grouping import NoOp
from tapeflow.ops.state.resource_op import row_of

# Gives the instructions of nodes without a row: type -> f(emitter, operation).
_EMIT: dict[str, Callable[[Any, Operation], None]] = {}


def emits(kind: str) -> Callable[[Any], Any]:
    """Decorates the function that makes the instructions of nodes of type `kind`."""

    def register(function: Any) -> Any:
        _EMIT[kind] = function
        return function

    return register


def is_special(op: Operation) -> bool:
    """Whether more than the row of an operation says what a run of it does."""
    return op.type in _EMIT


class Emitter:
    """Makes the program of some operations of a graph.

    Args:
      resolve: gives the eager tensor of a node that stands for something outside, such as the handle of a
        variable of a session; None if there is nothing.
    """

    def __init__(self, name: str, resolve: Callable[[Operation], Any] | None = None):
        self.program = Program(name)
        self.numbers: dict[int, int] = {}  # id of a tensor -> value
        self._alive: list[Any] = []
        self.resolve = resolve
        # The ids of the tensors that others take or that are results, where that is known.
        self.wanted: set[int] | None = None
        # The streams of its random ops, where they are not those of functions.
        self.streams: streams.Numbers | None = None

    def beside(self, name: str) -> Emitter:
        """One for a part of the same graph, with nothing in it yet."""
        made = Emitter(name, self.resolve)
        made.program.limits, made.streams = self.program.limits, self.streams
        return made

    def plan(self, outputs: Sequence[SymbolicTensor]) -> Any:
        """The plan that gives these."""
        self.program.outputs = [self.number(y) for y in outputs]
        return compile_program(self.program)

    def input(self, tensor: SymbolicTensor) -> None:
        self.program.inputs.append(self.output(tensor))

    def output(self, tensor: SymbolicTensor) -> int:
        number = self.program.value(tensor.dtype, tensor.shape_tuple)
        self.numbers[id(tensor)] = number
        self._alive.append(tensor)
        return number

    def number(self, tensor: SymbolicTensor) -> int:
        return self.numbers[id(tensor)]

    def constant(self, tensor: SymbolicTensor, value: Any) -> None:
        self.numbers[id(tensor)] = self.program.constant(value)
        self._alive.append(tensor)

    def add(
        self, kind: str, payload: Any, inputs: list[int], outputs: list[int], op: Operation
    ) -> None:
        self.program.instructions.append(
            Instruction(kind, payload, inputs, outputs, op, op.stateful)
        )

    def emit(self, op: Operation) -> None:
        kind = op.type
        if kind == "Const":
            self.constant(op.outputs[0], op.attrs["value"])
            return
        if op.forwards:
            for x, y in zip(op.inputs, op.outputs, strict=False):
                self.numbers[id(y)] = self.numbers[id(x)]
                self._alive.append(y)
            return
        special = _EMIT.get(kind)
        if special is not None:
            special(self, op)
            return
        if op.row is None and row_of(kind) is not None:
            resource_nodes.emit(self, op)
            return
        if self.resolve is not None:
            value = self.resolve(op)
            if value is not None:
                self.constant(op.outputs[0], value)
                return
        if op.row is None:
            raise UnimplementedError(
                None,
                op,
                f"Op type not registered '{kind}' (of node '{op.name}'): no row of the op table has this name.",
            )
        inputs = [self.numbers[id(x)] for x in op.inputs]
        lists = op.list_sizes or None
        self.add(
            "op",
            (op.row, streams.attrs_of(op, self.streams), lists),
            inputs,
            [self.output(y) for y in op.outputs],
            op,
        )

    def emit_around(self, op: Operation, given: set[int]) -> None:
        """`emit`, where some of the outputs were fed, which stand as they are."""
        saved = {id(y): self.numbers[id(y)] for y in op.outputs if id(y) in given}
        self.emit(op)
        self.numbers.update(saved)


@emits(NoOp.name)
def _nothing(emitter: Emitter, op: Operation) -> None:
    """Only there to be depended on."""


@emits("Placeholder")
def _placeholder(emitter: Emitter, op: Operation) -> None:
    """One that is not fed: an error when it is reached."""
    tensor = op.outputs[0]
    shape = "" if tensor.shape_tuple is None else f" and shape {_shape_text(tensor.shape_tuple)}"

    def missing() -> list[Any]:
        raise InvalidArgumentError(
            None, op,
            f"You must feed a value for placeholder tensor '{op.name}' with dtype {_short(tensor.dtype)}{shape}",
        )  # fmt: skip

    emitter.program.instructions.append(
        Instruction("python", missing, [], [emitter.output(tensor)], op, True)
    )


def _shape_text(shape: tuple[int | None, ...]) -> str:
    return "[" + ",".join("?" if d is None else str(d) for d in shape) + "]"


def _short(dtype: Any) -> str:
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def function_program(
    graph: FuncGraph,
    outputs: Sequence[SymbolicTensor] | None = None,
    constants: Any = None,
    numbers: streams.Numbers | None = None,
) -> Program:
    """The program of a function's body: side effects are kept whether or not the outputs need them.

    Args:
      outputs: instead of the graph's own.
      constants: id of an input -> eager tensor; those inputs need not be given.
      numbers: the streams of its random ops, where they are to begin anew.
    """
    outputs = graph.outputs if outputs is None else outputs
    emitter = Emitter(graph.name)
    emitter.program.limits = graph.limits
    emitter.streams = numbers
    for x in graph.inputs:
        value = None if constants is None else constants.get(id(x))
        if value is None:
            emitter.input(x)
        else:
            emitter.constant(x, value)
    ops = graph.operations
    inputs = {id(x) for x in graph.inputs}
    effects = graph.targets if graph.pruned else [op for op in ops if op.effects]
    wanted = needed(graph, outputs, effects, graph.inputs)
    if graph.pruned:
        emitter.wanted = taken(wanted, outputs)
    ops = [op for op in wanted if not (op.outputs and id(op.outputs[0]) in inputs)]
    clusters.emit(emitter, ops, outputs, set(inputs), clustering())
    program = emitter.program
    program.outputs = [emitter.number(y) for y in outputs]
    return program


def taken(ops: Sequence[Operation], results: Sequence[SymbolicTensor]) -> set[int]:
    """The ids of the tensors that operations take, or that are results."""
    return {id(x) for op in ops for x in op.inputs} | {id(x) for x in results}


def limited(limits: Any, function: Callable[[], Any]) -> Any:
    """What `function` returns, which may compute as much as the limits of a graph allow; None: any amount.

    Raises ResourceExhaustedError beyond that.
    """
    return function() if limits is None else _native.call_limited(limits.steps, limits.memory, function)


def compile_program(program: Program) -> Any:
    """The native plan of a program, after all passes."""
    limits = program.limits
    limited(limits, lambda: passes.optimise(program))  # constants are folded
    return _native.Plan(
        program.name,
        len(program.values),
        program.inputs,
        list(program.constants.items()),
        [(x.kind, _payload(x), x.inputs, x.outputs, x.label) for x in program.instructions],
        program.outputs,
        *(limits or ()),
    )


def _payload(instruction: Instruction) -> Any:
    kind, payload = instruction.kind, instruction.payload
    if kind == "call":
        return body_plan(payload)
    if kind == "if":
        return tuple(body_plan(body) for body in payload)
    if kind == "case":
        return [body_plan(body) for body in payload]
    if kind == "while":
        condition, body, count = payload
        return body_plan(condition), body_plan(body), count
    if kind == "fused":
        return payload.compiled(compile_program)
    return payload


def body_plan(body: Any) -> Any:
    """The plan of a branch or of a loop's body; made once for each state of the graph."""
    graph, outputs = body
    key = ("body", graph.version, clustering(), tuple(map(id, outputs)))
    plan = graph.plans.get(key)
    if plan is None:
        plan = graph.plans[key] = compile_program(function_program(graph, outputs))
    return plan
