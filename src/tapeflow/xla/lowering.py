"""Lowers a graph to XLA: `jax.jit` traces each row's kernel under `jax.numpy`.

Operations of which all inputs are known run while compiling, on NumPy: sizes and axes stay known behind `tf.shape`
and the arithmetic on it. What operations change (variables, random streams) goes in and out as values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.core import context, dtypes
from tapeflow.core.errors import OpError, UnimplementedError
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.order import needed
from tapeflow.graph.run.placement import Part
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.array.stacking import Pack
from tapeflow.ops.control.grouping import NoOp
from tapeflow.ops.math.accumulate import AddN
from tapeflow.ops.math.arithmetic import Add, AddV2
from tapeflow.ops.random import distributions as random
from tapeflow.ops.random import philox
from tapeflow.ops.state.rows import (
    AssignVariableOp,
    ReadVariableOp,
    VariableShape,
    VarIsInitializedOp,
)
from tapeflow.xla import lists, rows
from tapeflow.xla.boundary import array_of, tensor_of
from tapeflow.xla.importing import jax, jnp
from tapeflow.xla.values import ListValue, State, VariableHandle, is_known, traced

# Checks of values: compiled code cannot raise.
_DROPPED = frozenset(["Assert", NoOp.name])


def checks(op: Operation) -> bool:
    """Whether a node is there to raise, which compiled code cannot."""
    return (op.type in _DROPPED and bool(op.inputs)) or (op.row is not None and op.row.checks)


def of_shapes(row: Any, attrs: Mapping[str, Any], inputs: Sequence[Any]) -> list[Any] | None:
    """The outputs of a call that depends on the shapes of its inputs alone; None for another one."""
    if row.of_shape is None:
        return None
    kind = attrs.get("out_type", dtypes.int32).as_numpy_dtype
    return [np.array(row.of_shape(x.shape), kind) for x in inputs]


# Larger results are left to XLA, which need not store them.
_LARGEST_FOLDED = 4096


def _compiled(ops: list[Operation], outputs: Sequence[SymbolicTensor]) -> list[Operation]:
    """The operations without the checks that others wait for, and what only these need."""
    wanted = {x.op for x in outputs} | {op for op in ops if op.effects}
    kept = []
    for op in reversed(ops):
        if op in wanted and op.type not in _DROPPED:
            kept.append(op)
            wanted.update(x.op for x in op.inputs)
    return kept[::-1]


def _ordered(graph: Any, outputs: Sequence[SymbolicTensor]) -> list[Operation]:
    """The operations that a run of a graph, or of a part of one, takes."""
    if isinstance(graph, Part):
        return graph.operations
    effects = [op for op in graph.operations if op.effects and op.type not in _DROPPED]
    return needed(graph, outputs, effects, graph.inputs)


def _own_attrs(op: Operation) -> dict[str, Any]:
    return op.attrs


class Lowering:
    """One trace of a graph.

    Attributes:
      state: what operations have changed so far.
      streams: for each random stream that is used, by what identifies it to the host, how many blocks are drawn; None:
        that depends on branches or loops.
      attrs_of: gives the attrs with which an operation runs.
      share: the number of a replica and how many there are: each draws its share of the numbers of a stream.
    """

    def __init__(
        self, state: dict[Any, Any], probing: bool = False, attrs_of: Callable[[Operation], Any] | None = None,
        share: tuple[Any, int] | None = None,
    ):  # fmt: skip
        self.share = share
        self.attrs_of = attrs_of or _own_attrs
        self.state = self._outermost = State(state)
        self.probing = probing
        self.streams: dict[tuple[Any, ...], int | None] = {}
        self.packed: dict[int, tuple[Any, list[Any]]] = {}  # id of a traced vector -> it, its elements

    def body(self, graph: Any, outputs: Sequence[SymbolicTensor], inputs: Sequence[Any]) -> list[Any]:
        """The values of `outputs` where the inputs of `graph` have these values."""
        values: dict[int, Any] = dict(zip(map(id, graph.inputs), inputs, strict=True))
        fed = set(values)
        for op in _compiled(_ordered(graph, outputs), outputs):
            if op.outputs and id(op.outputs[0]) in fed:
                continue
            given = [values[id(x)] for x in op.inputs]
            for y, value in zip(op.outputs, self.operation(op, given), strict=False):
                if id(y) not in fed:
                    values[id(y)] = value
        return [values[id(y)] for y in outputs]

    def operation(self, op: Operation, inputs: list[Any]) -> Sequence[Any]:
        """The values of the outputs of an operation."""
        kind = op.type
        try:
            if kind == "Const":
                return [array_of(op.attrs["value"])]
            if op.forwards:
                return inputs
            if kind in _DROPPED:
                return []
            if kind in _NODES:
                return _NODES[kind](self, op, inputs)
            if op.row is None:
                raise UnimplementedError(None, None, f"{kind} cannot be compiled")
            return self.row(op, inputs)
        except OpError as error:
            if error.op is not None:
                raise
            file, line, _ = op.defined_at
            text = f"{error.message} (node '{op.name}', defined at {file}:{line})"
            again: Any = type(error)
            raise again(None, op, text) from error

    def row(self, op: Operation, inputs: list[Any]) -> Sequence[Any]:
        """The outputs of a row's kernel."""
        row, sizes = op.row, op.list_sizes
        if any(isinstance(x, ListValue) for x in inputs) or op.type in lists.OPS:
            return self._list(op, inputs)
        known = all(is_known(x) for x in inputs)
        shapes_alone = of_shapes(row, row.schema.filled(op.attrs), inputs)
        if shapes_alone is not None:
            return shapes_alone
        if known and not row.stateful and (not row.not_compiled or inputs) and _small(op):
            return _run_now(row, inputs, op.attrs, sizes)
        random.streams.source = self._stream
        try:
            return rows.run(row, inputs, self.attrs_of(op), sizes)
        finally:
            random.streams.source = None

    def elements(self, vector: Any) -> list[Any]:
        """The elements of a vector of integers: ints as far as they are known, else traced scalars."""
        if is_known(vector):
            return [int(v) for v in vector]
        packed = self.packed.get(id(vector))
        return [vector[i] for i in range(vector.shape[0])] if packed is None else packed[1]

    def _list(self, op: Operation, inputs: list[Any]) -> Sequence[Any]:
        if op.row is ZerosLike:
            return [lists.zeros_like(inputs[0])]
        if op.row in (AddN, Add, AddV2):
            total = inputs[0]
            for x in inputs[1:]:
                total = lists.added(total, x)
            return [total]
        function = lists.OPS.get(op.type)
        if function is None:
            raise rows.cannot(op.row, "it takes lists of tensors")
        for x, name in zip(inputs, op.row.inputs, strict=True):
            if name in lists.STATIC and not is_known(x):
                raise rows.cannot(op.row, f"the value of its input `{name}` has to be known")
        return function(op.row.schema.filled(op.attrs), *inputs)

    def _stream(self, name: str, a: int, b: int, seed: int, seed2: int, blocks: int) -> philox.Philox:
        """The position of a random stream, which moves on by `blocks`."""
        key = ("stream", name, a, b, seed, seed2)
        drawn = self.streams.get(key, 0)
        outermost = self.state is self._outermost
        self.streams[key] = drawn + int(blocks) if outermost and drawn is not None else None
        position = self.state.values.get(key)
        if position is None:
            position = jnp.zeros(3, np.uint64) + jnp.uint64(0)
            if not self.probing:
                raise UnimplementedError(None, None, f"The random stream of {name} was not foreseen")
        if key in self.state.values:
            count = 1 if self.share is None else self.share[1]
            self.state.write(key, _moved(position, np.uint64(blocks * count)))
        begin = position
        if self.share is not None:
            begin = _moved(position, np.uint64(blocks) * self.share[0].astype(np.uint64))
        return philox.Philox(begin[0], begin[1], begin[2])


def _moved(position: Any, blocks: Any) -> Any:
    """A position in a random stream, so many blocks on."""
    low = position[1] + jnp.uint64(blocks)
    high = position[2] + (low < position[1]).astype(np.uint64)
    return jnp.stack([position[0], low, high])


_NODES: dict[str, Callable[[Lowering, Operation, list[Any]], Sequence[Any]]] = {}


def lowers(kind: Any) -> Callable[[Any], Any]:
    """Decorates what lowers nodes of a row, or of the type `kind`, which has none."""

    def register(function: Any) -> Any:
        _NODES[kind if isinstance(kind, str) else kind.name] = function
        return function

    return register


def _small(op: Operation) -> bool:
    total = 0
    for y in op.outputs:
        if y.shape_tuple is None or None in y.shape_tuple:
            continue
        total += math.prod(y.shape_tuple)  # type: ignore[arg-type]
    return total <= _LARGEST_FOLDED


def _run_now(row: Any, inputs: Sequence[Any], attrs: Mapping[str, Any], sizes: Sequence[int]) -> list[Any]:
    """The outputs of a call whose inputs are known."""
    # As tensors: an array may become of the dtype that a row prefers.
    tensors = [x if x.dtype == object else tensor_of(x, rows.dtype_of(x)) for x in inputs]
    given = row.schema.grouped(tensors, sizes)
    with context.eager_mode():
        result = row(*given, **attrs)
    return [array_of(y) for y in rows.flat(result)]


# Variables.


@lowers(ReadVariableOp)
def _read(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    return [inputs[0].numpy()]


@lowers(AssignVariableOp)
def _assign(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    inputs[0].assign(inputs[1])
    return []


@lowers(VariableShape)
def _shape(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    kind = op.row.schema.filled(op.attrs)["out_type"]
    return [np.array(inputs[0].numpy().shape, kind.as_numpy_dtype)]


@lowers(VarIsInitializedOp)
def _is_initialized(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    return [np.array(inputs[0].is_initialized())]


@lowers(Pack)
def _pack(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    """Which elements of a vector are known is remembered: those of `x[i, 2:4]` say how large the slice is."""
    result = lowering.row(op, inputs)
    if not is_known(result[0]) and op.outputs[0].dtype.is_integer and result[0].ndim == 1:
        elements = [int(x) if is_known(x) else x for x in inputs]
        lowering.packed[id(result[0])] = (result[0], elements)
    return result


# Calls of functions, prints.


@lowers("PartitionedCall")
def _call(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    body = op.attrs["branches"][0]
    return lowering.body(body.graph, body.outputs, inputs)


@lowers("PrintV2")
def _print(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    function = op.attrs["function"]

    def show(*values: Any) -> None:
        with context.eager_mode():
            function(*[tensor_of(v, x.dtype) for v, x in zip(values, op.inputs, strict=True)])

    if not lowering.probing:
        jax.debug.callback(show, *map(traced, inputs))
    return []


# Branches.


@lowers("If")
def _if(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    return _branches(lowering, op, inputs)


@lowers("Case")
def _case(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    return _branches(lowering, op, inputs)


def _branches(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    choice, arguments = inputs[0], inputs[1:]
    bodies = op.attrs["branches"]
    if is_known(choice):
        if op.type == "If":
            chosen = bodies[0] if choice else bodies[1]
        else:
            number = int(choice)
            chosen = bodies[number if 0 <= number < len(bodies) else -1]
        return lowering.body(chosen.graph, chosen.outputs, arguments)
    state = lowering.state
    before = list(state.values.values())
    handles: dict[int, Any] = {}
    inner_states: list[State] = []

    def branch(body: Any) -> Callable[[], Any]:
        def run() -> Any:
            lowering.state = inner = state.inner(before)
            try:
                values = lowering.body(body.graph, body.outputs, arguments)
            finally:
                lowering.state = state
            inner_states.append(inner)
            flat = [_varying(v) for v in split(values, handles)]
            return flat, [None if v is None else jnp.asarray(v) for v in inner.values.values()]

        return run

    try:
        if op.type == "If":
            values, after = jax.lax.cond(choice, branch(bodies[0]), branch(bodies[1]))
        else:
            index = jnp.where((choice < 0) | (choice >= len(bodies)), len(bodies) - 1, choice)
            values, after = jax.lax.switch(index, [branch(b) for b in bodies])
    except TypeError as error:
        raise UnimplementedError(
            None,
            None,
            f"The branches of {op.type} cannot be compiled: what they return differs in shape ({_first(error)})",
        ) from error
    for inner in inner_states:
        for key, value in zip(inner.values, after, strict=True):
            if key in inner.written:
                state.write(key, value)
    return joined(values, handles)


def _varying(value: Any) -> Any:
    """What a branch returns: that the elements of a list are all alike is true of that branch only."""
    if isinstance(value, ListValue) and value.buffer is not None:
        return value.with_constant(None)
    return value


def split(values: Sequence[Any], handles: dict[int, Any]) -> list[Any]:
    """Values as JAX takes them; handles, which are no values, are put aside by place."""
    result = []
    for i, value in enumerate(values):
        if isinstance(value, VariableHandle) or (is_known(value) and value.dtype == object):
            handles[i] = value
            value = jnp.zeros(())
        result.append(traced(value))
    return result


def joined(values: Sequence[Any], handles: dict[int, Any]) -> list[Any]:
    return [handles.get(i, value) for i, value in enumerate(values)]


def _first(error: BaseException) -> str:
    return str(error).strip().split("\n")[0][:200]
