"""`While` nodes under XLA: `jax.lax.while_loop`, with room set aside for lists that grow in the loop.

Loop variables that are small known integers and depend on nothing else, such as counters, are run ahead while
compiling. So the number of iterations is known where it does not depend on data, and with it how long lists become.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.errors import UnimplementedError
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.order import needed
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.lists.tensor_list import TensorListPopBack, TensorListPushBack, TensorListSetItem
from tapeflow.ops.math.accumulate import AddN
from tapeflow.ops.math.arithmetic import AddV2
from tapeflow.xla.importing import jax, jnp
from tapeflow.xla.lowering import Lowering, joined, lowers, split
from tapeflow.xla.values import ListValue, is_known

_MOST_ITERATIONS = 100_000
_MOST_ELEMENTS = 16


@lowers("While")
def _while(lowering: Lowering, op: Operation, inputs: list[Any]) -> Sequence[Any]:
    count = op.attrs["n_vars"]
    cond, body = op.attrs["cond"], op.attrs["body"]
    start, invariants = inputs[:count], inputs[count:]
    growth = _growth(op)
    ahead = _run_ahead(lowering, op, start, invariants, growth)
    if ahead is not None and ahead.iterations == 0:
        return start
    lengths = _final_lengths(start, growth, ahead)
    start = _with_room(lowering, op, start, invariants, lengths)
    state = lowering.state
    keys = list(state.values)
    handles: dict[int, Any] = {}
    written: set[Any] = set()

    def condition(carried: Any) -> Any:
        values, now = carried
        lowering.state = state.inner(now)
        try:
            (wanted,) = lowering.body(cond.graph, cond.outputs, [*joined(values, handles), *invariants])
        finally:
            lowering.state = state
        return jnp.asarray(wanted).reshape(())

    def step(carried: Any) -> Any:
        values, now = carried
        lowering.state = inner = state.inner(now)
        try:
            results = lowering.body(body.graph, body.outputs, [*joined(values, handles), *invariants])
        finally:
            lowering.state = state
        written.update(inner.written)
        return _like(split(results, {}), values), [jnp.asarray(inner.values[k]) for k in keys]

    first = [
        value if growth.get(i) == (0, []) else _unknown_length(value)
        for i, value in enumerate(split(start, handles))
    ]
    carried = (first, [jnp.asarray(v) for v in state.values.values()])
    try:
        values, after = jax.lax.while_loop(condition, step, carried)
    except TypeError as error:
        text = str(error).strip().split("\n")[0][:200]
        raise UnimplementedError(
            None, None, f"The loop cannot be compiled: a variable changes its shape or dtype ({text})"
        ) from error
    for key, value in zip(keys, after, strict=True):
        if key in written:
            state.write(key, value)
    results = joined(values, handles)
    for i, value in ahead.values.items() if ahead is not None else ():
        results[i] = value
    for i, length in lengths.items():
        if length is not None and isinstance(results[i], ListValue):
            results[i] = results[i].with_buffer(results[i].buffer, length)
    return results


def _unknown_length(value: Any) -> Any:
    """A list as a loop carries it: its length is a value."""
    if isinstance(value, ListValue):
        return value.with_buffer(value.buffer, jnp.asarray(value.length, np.int32))
    return value


def _like(results: list[Any], values: list[Any]) -> list[Any]:
    """Results in the form of the variables they become: lists whose length is a value if the variable's is."""
    fixed = []
    for result, value in zip(results, values, strict=True):
        if isinstance(result, ListValue) and isinstance(value, ListValue):
            length = result.length
            if not isinstance(value.length, int):
                length = jnp.asarray(length, np.int32)
            result = ListValue(value.dtype, value.shape, result.buffer, length, result.constant)
        fixed.append(result)
    return fixed


class _Growth(NamedTuple):
    """How a variable that is a list changes in one iteration."""

    pushed: int  # elements put to its end, less those taken from there
    places: list[SymbolicTensor]  # where elements are set that may be behind its end


class _Ahead(NamedTuple):
    """What is known of a loop before it runs."""

    iterations: int
    values: dict[int, Any]  # what counters are in the end
    highest: dict[int, int]  # id of a tensor that says where an element is set -> the largest it gets


# Counting ahead.


def _run_ahead(
    lowering: Lowering, op: Operation, start: list[Any], invariants: list[Any], growth: dict[int, _Growth]
) -> _Ahead | None:
    """What is known of the loop; None where the number of its iterations depends on data."""
    count = op.attrs["n_vars"]
    cond, body = op.attrs["cond"], op.attrs["body"]
    places = {id(x): i for i, x in enumerate(body.graph.inputs)}
    simple = {
        i for i, x in enumerate(start) if is_known(x) and x.size <= _MOST_ELEMENTS and x.dtype.kind in "iub"
    }
    fixed = {count + i for i, x in enumerate(invariants) if is_known(x)}
    reads: dict[int, set[int] | None] = {i: _reads(body, body.outputs[i], places) for i in simple}
    while True:
        bad = {i for i in simple if reads[i] is None or not reads[i] <= simple | fixed}  # type: ignore[operator]
        if not bad:
            break
        simple -= bad
    asked = _reads(cond, cond.outputs[0], {id(x): i for i, x in enumerate(cond.graph.inputs)})
    if asked is None or not asked <= simple | fixed:
        return None
    wanted = sorted(simple)
    found = [t for each in growth.values() for t in each.places]
    set_at = [t for t in found if (_reads(body, t, places) or {-1}) <= simple | fixed]
    outputs = [body.outputs[i] for i in wanted] + set_at
    values = list(start)
    iterations, highest = 0, dict.fromkeys(map(id, set_at), -1)
    while True:
        now = [*values, *invariants]
        (more,) = lowering.body(_Pure(cond.graph), cond.outputs, now)
        if not is_known(more):
            return None
        if not more:
            break
        iterations += 1
        if iterations > _MOST_ITERATIONS:
            return None
        results = lowering.body(_Pure(body.graph), outputs, now)
        if not all(is_known(x) for x in results):
            return None
        for i, value in zip(wanted, results, strict=False):
            values[i] = value
        for t, value in zip(set_at, results[len(wanted) :], strict=True):
            highest[id(t)] = max(highest[id(t)], int(value))
    return _Ahead(iterations, {i: values[i] for i in wanted}, highest)


class _Pure:
    """A graph without its side effects: what a value needs and nothing else."""

    def __init__(self, graph: Any):
        self._graph = graph
        self.operations: list[Operation] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)


def _reads(body: Any, y: SymbolicTensor, places: dict[int, int]) -> set[int] | None:
    """The inputs that a tensor of a body depends on; None where an operation with effects is among its sources."""
    found = set()
    if id(y) in places:
        return {places[id(y)]}
    for op in needed(_Pure(body.graph), [y], [], body.graph.inputs):
        if op.outputs and id(op.outputs[0]) in places:
            continue
        if op.stateful:
            return None
        found |= {places[id(x)] for x in op.inputs if id(x) in places}
    return found


# Lists.


def _growth(op: Operation) -> dict[int, _Growth]:
    """How each variable that is a list changes in one iteration, where that is plain to see."""
    body = op.attrs["body"]
    places = {id(x): i for i, x in enumerate(body.graph.inputs[: op.attrs["n_vars"]])}
    growth = {}

    def follow(y: SymbolicTensor, pushed: int, behind: list[SymbolicTensor]) -> tuple[int, _Growth] | None:
        """The variable that the list `y` is made of, and how."""
        if id(y) in places:
            return places[id(y)], _Growth(pushed, behind)
        node = y.op
        if node.row in (AddN, AddV2):
            found = (follow(x, pushed, behind) for x in node.inputs)
            return next((each for each in found if each is not None), None)
        if node.row is TensorListPushBack:
            pushed += 1
        elif node.row is TensorListPopBack and y.value_index == 0:
            pushed -= 1
        elif node.row is TensorListSetItem:
            if node.attrs.get("resize_if_index_out_of_bounds"):
                behind = [*behind, node.inputs[1]]
        elif node.row is not Identity:
            return None
        return follow(node.inputs[0], pushed, behind)

    for i, y in enumerate(body.outputs):
        found = follow(y, 0, []) if y.dtype is dtypes.variant else None
        if found is not None and found[0] == i:
            growth[i] = found[1]
    return growth


def _final_lengths(
    start: list[Any], growth: dict[int, _Growth], ahead: _Ahead | None
) -> dict[int, int | None]:
    """The length of each list when the loop is over; None where it is not known."""
    lengths: dict[int, int | None] = {}
    for i, value in enumerate(start):
        if not isinstance(value, ListValue):
            continue
        change = growth.get(i)
        lengths[i] = None
        if change is None or not isinstance(value.length, int):
            continue
        if change == (0, []):
            lengths[i] = value.length
        elif ahead is not None and all(id(t) in ahead.highest for t in change.places):
            last = max((ahead.highest[id(t)] for t in change.places), default=-1)
            lengths[i] = max(value.length + change.pushed * ahead.iterations, last + 1)
    return lengths


def _with_room(
    lowering: Lowering,
    op: Operation,
    start: list[Any],
    invariants: list[Any],
    lengths: dict[int, int | None],
) -> list[Any]:
    """The initial values, with lists that have room for all that the loop puts into them."""
    if not lengths:
        return start
    shapes = _element_shapes(lowering, op, start, invariants)
    growth = _growth(op)
    result = list(start)
    for i, length in lengths.items():
        value, change = start[i], growth.get(i)
        shape, constant = shapes.get(i, (None, None))
        if change is not None and change.pushed > 0 and not change.places and value.buffer is None:
            if constant is not None and value.length == 0:
                result[i] = value.with_constant(constant)  # needs no room
                continue
        if length is None:
            if change is None or change.pushed > 0 or change.places:
                raise UnimplementedError(
                    None, None,
                    "A list that grows in a loop can only be compiled where the number of iterations is known",
                )  # fmt: skip
            continue
        room = max(length, value.length)
        if room > value.capacity and shape is not None:
            result[i] = value.grown(room, shape)
        if change is not None and (change.pushed > 0 or change.places):
            result[i] = result[i].with_constant(None)
    return result


def _element_shapes(
    lowering: Lowering, op: Operation, start: list[Any], invariants: list[Any]
) -> dict[int, tuple[tuple[int, ...], Any]]:
    """The shapes of the elements of lists, as one iteration leaves them; their value where all have the same."""
    body = op.attrs["body"]
    shapes: dict[int, tuple[tuple[int, ...], Any]] = {}
    state = lowering.state
    handles: dict[int, Any] = {}
    given = split(start, handles)

    def step(values: Any, now: Any) -> Any:
        lowering.state = state.inner(now)
        try:
            results = lowering.body(body.graph, body.outputs, [*joined(values, handles), *invariants])
        finally:
            lowering.state = state
        for i, result in enumerate(results):
            if isinstance(result, ListValue) and result.buffer is not None:
                shapes[i] = tuple(result.buffer.shape[1:]), result.constant
            elif isinstance(result, ListValue) and result.constant is not None:
                shapes[i] = result.constant.shape, result.constant
        return 0

    jax.eval_shape(step, given, [jnp.asarray(v) for v in state.values.values()])
    return shapes
