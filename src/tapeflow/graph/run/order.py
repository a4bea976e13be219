"""Which operations are needed for what is wanted, in an order in which they can run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.graph.topology import in_order
from tapeflow.ops.state.resource_op import row_of


def needed(
    graph: Any,
    fetches: Sequence[SymbolicTensor],
    targets: Sequence[Operation],
    fed: Sequence[SymbolicTensor],
) -> list[Operation]:
    """The operations that `fetches` and `targets` need where `fed` are given, in an order in which they can run.

    Raises InvalidArgumentError if they depend on each other in a cycle, or an input was changed to a wrong dtype.
    """
    given = {id(x) for x in fed}
    seen: set[Operation] = set()
    todo = [x.op for x in fetches if id(x) not in given] + list(targets)
    while todo:
        op = todo.pop()
        if op in seen:
            continue
        seen.add(op)
        for x in op.inputs:
            if id(x) not in given and x.op not in seen:
                todo.append(x.op)
        for other in op.control_inputs:
            if other not in seen:
                todo.append(other)
    for op in graph.mistyped:
        if op in seen:
            raise InvalidArgumentError(None, op, graph.mistyped[op])
    ordered = sorted(seen, key=lambda op: op.index)
    # What a function does happens in the order of its statements, whatever has to wait.
    free = graph.prunes
    if free and any(op.row is None and _patience(op) for op in ordered):
        return sorted_topologically(ordered, given, _patience)
    return sorted_topologically(ordered, given) if graph.reordered else ordered


def _patience(op: Operation) -> int:
    """How long an operation should let others go first that it does not need: it may have to wait for them."""
    kind = row_of(op.type)
    return 0 if kind is None else kind.patience


def _sources(op: Operation, given: set[int]) -> set[Operation]:
    return {x.op for x in op.inputs if id(x) not in given} | set(op.control_inputs)


def _kept_in_place(ops: list[Operation], given: set[int]) -> dict[Operation, set[Operation]]:
    """What else operations follow: those on the same resource before them whose inputs were changed to later ones.

    An initializer that was given another value still comes before what begins with the value of its variable.
    """
    touching = [(op, found) for op in ops if (found := _resources(op))]
    after: dict[Operation, set[Operation]] = {}
    for op, resources in touching:
        if all(source.index < op.index for source in _sources(op, given)):
            continue
        before, todo = {op}, [op]
        while todo:
            sources = _sources(todo.pop(), given) - before
            before |= sources
            todo += sources
        for other, used in touching:
            if other.index > op.index and other not in before and resources & used:
                after.setdefault(other, set()).add(op)
    return after


def _resources(op: Operation) -> set[int]:
    return {id(x) for x in op.inputs if x.dtype == dtypes.resource}


def sorted_topologically(
    ops: list[Operation], given: set[int], patience: Callable[[Operation], int] = lambda op: 0
) -> list[Operation]:
    """The operations, each after those it depends on, else as they were, those with less patience first.

    Raises InvalidArgumentError for a cycle.
    """
    inside = set(ops)
    after = _kept_in_place(ops, given)
    needs = {op: (_sources(op, given) | after.get(op, set())) & inside for op in ops}
    result = in_order(needs, lambda op: (patience(op), op.index))
    if len(result) < len(ops):
        done = set(result)
        stuck = [op.name for op in ops if op not in done]
        raise InvalidArgumentError(
            None,
            None,
            f"Graph is invalid, contains a cycle with {len(stuck)} nodes, including: {', '.join(stuck[:5])}",
        )
    return result
