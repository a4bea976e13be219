"""Clusters: operations of a graph that XLA compiles together, carved out of what a plan runs on the host.

Marked are operations of `tf.xla.experimental.compile` and of `jit_scope`; clustering that is automatic takes all that
can be compiled. What is left runs in the plan, in an order in which clusters are as large as can be.
"""

from __future__ import annotations

import functools
import heapq
import importlib.util
import weakref
from collections.abc import Sequence
from typing import Any

from tapeflow.api import providers
from tapeflow.core import dtypes
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.log import get_logger
from tapeflow.graph.build import streams
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.clustering import Clustering
from tapeflow.graph.run.placement import Part, bodies_of
from tapeflow.graph.run.program import Instruction
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.control.grouping import NoOp
from tapeflow.ops.state.resource import VarHandleOp

# What turned out not to compile.
_refused: weakref.WeakSet[Operation] = weakref.WeakSet()
_COMPILE, _SCOPE, _AUTO = "compile", "scope", "auto"
_Key = tuple[str, Any]


class Cluster(Part):
    """Operations that one program of XLA's runs on the host.

    Attributes:
      required: whether there is no other way to run them.
    """

    def __init__(self, operations: list[Operation], key: _Key):
        super().__init__(0, operations)
        self.required = key[0] == _COMPILE


def emit(
    emitter: Any, ops: Sequence[Operation], results: Sequence[SymbolicTensor], given: set[int], wanted: Clustering
) -> None:
    """Put the instructions of operations into a program, those of clusters as one each.

    Args:
      emitter: a `planning.Emitter`.
      ops: in an order in which they can run.
      results: the tensors that are taken from the program.
      given: the ids of the tensors that are known before, or fed.
      wanted: which operations XLA gets.

    Raises:
      UnimplementedError: what has to be compiled cannot be, or jax is missing.
    """
    keys = _keys(ops, wanted) if emitter.program.limits is None else {}
    if not keys:
        for op in ops:
            emitter.emit_around(op, given)
        return
    groups = _groups(ops, keys, given)
    taken = {id(x) for x in results}
    groups_of = {op: number for number, group in enumerate(groups) for op in group}
    crossing = {id(x) for op in ops for x in op.inputs if x.op in groups_of and groups_of[x.op] != groups_of[op]}
    for group in groups:
        key = keys.get(group[0])
        if key is None or not _is_worth_it(group, key, wanted):
            for op in group:
                emitter.emit_around(op, given)
            continue
        cluster = Cluster(_with_constants(group, given), key)
        cluster.connect(taken | crossing, given)
        cluster.outputs = [y for y in cluster.outputs if y.op.type != "Const"]  # the plan has these
        _emit_cluster(emitter, cluster, wanted)


def _emit_cluster(emitter: Any, cluster: Cluster, wanted: Clustering) -> None:
    numbers = emitter.streams

    def rest(op: Operation | None) -> Any:
        """The plan where `op` is not compiled; None: where nothing is."""
        inner = emitter.beside(cluster.name)
        for x in cluster.inputs:
            inner.input(x)
        if op is None:
            for each in cluster.operations:
                inner.emit(each)
        else:
            _refused.add(op)
            emit(inner, cluster.operations, cluster.outputs, set(map(id, cluster.inputs)), wanted)
        return inner.plan(cluster.outputs)

    run = providers.load("clusters").program(cluster, lambda op: streams.attrs_of(op, numbers), rest)
    inputs = [emitter.number(x) for x in cluster.inputs]
    outputs = [emitter.output(y) for y in cluster.outputs]
    stateful = any(op.stateful for op in cluster.operations)
    emitter.program.instructions.append(
        Instruction("python", run, inputs, outputs, cluster.operations[-1], stateful)
    )


def _keys(ops: Sequence[Operation], wanted: Clustering) -> dict[Operation, _Key]:
    """Which cluster each operation belongs to that XLA is to compile, and can."""
    found: dict[Operation, _Key] = {}
    for op in ops:
        key = _key(op, wanted)
        if key is None or op.type in ("Const", VarHandleOp.name):
            continue
        if not _compiles(op):
            if key[0] == _COMPILE and op.type not in ("Placeholder", NoOp.name):
                raise UnimplementedError(None, op, f"{op.type} cannot be compiled (node '{op.name}')")
            continue
        found[op] = key
    if found and not _has_jax(any(key[0] == _COMPILE for key in found.values())):
        return {}
    return found


def _key(op: Operation, wanted: Clustering) -> _Key | None:
    marks = op.extra_attrs
    if not marks:
        return (_AUTO, None) if wanted.auto else None
    if "_xla_compile_id" in marks:
        return (_COMPILE, marks["_xla_compile_id"])
    marked = marks.get("_XlaCompile")
    if marked is not None and not marked:
        return None
    if wanted.auto:
        return (_AUTO, None)
    return (_SCOPE, marks.get("_XlaScope")) if marked else None


@functools.cache
def _has_jax(required: bool) -> bool:
    found = importlib.util.find_spec("jax") is not None
    if not found:
        text = "Compiling parts of graphs with XLA needs jax, which is not installed: pip install 'tapeflow[xla]'"
        if required:
            raise UnimplementedError(None, None, text)
        get_logger().warning("%s. The graph runs uncompiled.", text)
    return found


def _compiles(op: Operation) -> bool:
    """Whether an operation may be part of a cluster, as far as is known without trying."""
    if op in _refused or op.type == "Placeholder":
        return False
    row, bodies = op.row, bodies_of(op)
    if row is None:
        if not bodies and not op.forwards:
            return False
    elif row.not_compiled or row.checks or (row is NoOp and op.inputs):
        return False
    if not all(_is_held(x) for x in (*op.inputs, *op.outputs)):
        return False
    inside = (each for body in bodies for each in body.graph.operations)
    return all(each.type in ("Const", "Placeholder") or _compiles(each) for each in inside)


def _is_held(x: SymbolicTensor) -> bool:
    if x.dtype == dtypes.resource:
        return x.op.type == VarHandleOp.name or getattr(x, "handle_dtype", None) is not None
    return x.dtype not in (dtypes.string, dtypes.variant) and not x.dtype.is_quantized


def _is_worth_it(group: list[Operation], key: _Key, wanted: Clustering) -> bool:
    if key[0] != _AUTO:
        return True
    return any(bodies_of(op) for op in group) or sum(not op.forwards for op in group) >= wanted.least


def _groups(ops: Sequence[Operation], keys: dict[Operation, _Key], given: set[int]) -> list[list[Operation]]:
    """The operations in an order in which they can run, those of a cluster together; each other is a group of its own.

    What has effects, or uses the same resource, keeps its order.
    """
    before = _sources(ops, given)
    waiting = {op: len(sources) for op, sources in before.items()}
    after: dict[Operation, list[Operation]] = {}
    for op, sources in before.items():
        for source in sources:
            after.setdefault(source, []).append(op)
    places = {op: i for i, op in enumerate(ops)}
    ready: dict[_Key | None, list[int]] = {}

    def add(op: Operation) -> None:
        heapq.heappush(ready.setdefault(keys.get(op), []), places[op])

    for op, count in waiting.items():
        if not count:
            add(op)
    groups: list[list[Operation]] = []
    while any(ready.values()):
        # First all that runs on the host; then the cluster whose first operation came first.
        key = None if ready.get(None) else min((k for k in ready if ready[k]), key=lambda k: ready[k][0])
        group = []
        while ready.get(key):
            op = ops[heapq.heappop(ready[key])]
            group.append(op)
            for follower in after.get(op, ()):
                waiting[follower] -= 1
                if not waiting[follower]:
                    add(follower)
        groups += [[op] for op in group] if key is None else [group]
    return groups


def _sources(ops: Sequence[Operation], given: set[int]) -> dict[Operation, set[Operation]]:
    """What each operation has to run after."""
    found: dict[Operation, set[Operation]] = {}
    last: dict[Any, Operation] = {}  # by resource, and of all that have effects, by None
    for op in ops:
        sources = {x.op for x in op.inputs if id(x) not in given}
        if op.type != "Const":
            sources |= set(op.control_inputs)
        used: list[Any] = [id(x) for x in op.inputs if x.dtype == dtypes.resource]
        if op.stateful or op.effects:
            used.append(None)
        for resource in used:
            if resource in last:
                sources.add(last[resource])
            last[resource] = op
        found[op] = sources & found.keys()
    return found


def _with_constants(ops: list[Operation], given: set[int]) -> list[Operation]:
    """The operations after the constants that they take: what is known when a program is compiled."""
    found = {x.op: None for op in ops for x in op.inputs if x.op.type == "Const" and id(x) not in given}
    return [*found, *ops]
