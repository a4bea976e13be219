"""What a tape that is used while a graph is built has recorded: a stretch of the graph's operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.graph.build import building, gradients
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.state.variable import variable_behind

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

_Variable = _native.Variable


class _Marks(NamedTuple):
    """What depends on what a tape watches: ids of tensors, and the operations that made them."""

    tensors: set[int]
    operations: set[Operation]


class Recording:
    """The operations that a tape saw, and what it watches."""

    def __init__(self, graph: Any, watch_accessed: bool):
        self.graph = graph
        self.stretches: list[list[float]] = []
        self.watch_accessed = watch_accessed
        self.watched: list[Any] = []
        self._marks: tuple[Any, _Marks] | None = None

    def begin(self) -> None:
        self.stretches.append([len(self.graph.operations), float("inf")])

    def end(self) -> None:
        if self.stretches and self.stretches[-1][1] == float("inf"):
            self.stretches[-1][1] = len(self.graph.operations)

    def has(self, op: Operation) -> bool:
        """Whether the tape recorded an operation."""
        if op.graph is not self.graph:
            return isinstance(op.graph, FuncGraph)  # of a body inside of what was recorded
        return any(first <= op.index < last for first, last in self.stretches)

    def watch(self, x: TensorLike) -> None:
        self.watched.append((x, len(self.graph.operations)))
        self._marks = None

    def variables(self) -> list[Any]:
        """The variables watched: those that were named, and the trainable ones that were read."""
        found: dict[int, Any] = {id(x): x for x, _ in self.watched if isinstance(x, _Variable)}
        found.update((id(x), x) for x in self._accessed())
        return list(found.values())

    def _accessed(self) -> list[Any]:
        """The trainable variables that recorded operations read, where the tape watches them by itself."""
        found: dict[int, Any] = {}
        if not self.watch_accessed:
            return []
        handles: dict[int, Any] = {}
        graph = self.graph
        while graph is not None:
            handles.update((id(h), v) for v, h in graph.variables_by_handle.items())
            graph = graph.enclosing_graph
        origin = gradients.Origins(set(handles))
        for op in self.graph.operations:
            if self.has(op):
                for x in op.inputs:
                    v = handles.get(id(origin(x)))
                    if v is not None and v.trainable:
                        found.setdefault(id(v), v)
        return list(found.values())

    def marks(self) -> _Marks:
        """What depends on what is watched."""
        key = (self.graph.version, len(self.watched))
        if self._marks is not None and self._marks[0] == key:
            return self._marks[1]
        # The number of operations that the graph had when a tensor became watched: what used it before is not recorded.
        since: dict[int, int] = {}
        for x, start in (*self.watched, *((v, 0) for v in self._accessed())):
            # Operations of the graph take a placeholder for an eager tensor and a handle for a variable.
            for each in (x, source_in(self.graph, x)):
                if each is not None:
                    since[id(each)] = min(start, since.get(id(each), start))
        origin = gradients.Origins(set(since))
        operations = set()
        for op in sorted(self.graph.operations, key=lambda op: op.index):
            if self.has(op) and any(since.get(id(origin(x)), op.index + 1) <= op.index for x in op.inputs):
                operations.add(op)
                since.update((id(y), op.index) for y in op.outputs)
        marks = _Marks(set(since), operations)
        self._marks = (key, marks)
        return marks

    def gradient(
        self, targets: Sequence[Any], sources: Sequence[Any], weights: TensorLike, zero: bool
    ) -> list[Any]:
        """The gradients of the targets, as nodes of the graph being built."""
        self_ended = [list(s) for s in self.stretches]
        for stretch in self.stretches:
            stretch[1] = min(stretch[1], len(self.graph.operations))
        try:
            return self._gradient(targets, sources, weights, zero)
        finally:
            self.stretches = self_ended

    def _gradient(
        self, targets: Sequence[Any], sources: Sequence[Any], weights: Any, zero: bool
    ) -> list[Any]:
        marks = self.marks()
        ys = [
            building.as_symbolic(self.graph, y) if not isinstance(y, SymbolicTensor) else y
            for y in targets
        ]
        graph = ys[0].op.graph
        xs = [source_in(graph, x) for x in sources]
        known = [
            i
            for i, x in enumerate(xs)
            if x is not None and (id(x) in marks.tensors or x.op.graph is not self.graph)
        ]
        found = gradients.gradients(
            ys,
            [x for i, x in enumerate(xs) if i in known and x is not None],
            weights,
            recorded=lambda op: op in marks.operations if op.graph is self.graph else self.has(op),
        )
        result: list[Any] = [None] * len(sources)
        for i, dx in zip(known, found, strict=True):
            result[i] = dx
        return [
            unconnected(x) if dx is None and zero else dx
            for dx, x in zip(result, sources, strict=True)
        ]


def unconnected(x: TensorLike) -> Any:
    """Zeros in the shape of a source."""
    if isinstance(x, _Variable):
        shape = x.shape  # type: ignore[attr-defined]
        return zeros(shape, x.dtype) if shape.is_fully_defined() else zeros_like(x.read_value())
    return zeros_like(x)


def handle_of(graph: Graph, variable: Any) -> SymbolicTensor | None:
    """The tensor that stands for a variable in a graph and those around it, if they use it: the outermost one."""
    parts = getattr(variable, "_parts", None)
    if parts is not None:
        return parts.handle
    variable = getattr(variable, "_parent", variable)
    found = None
    while graph is not None:
        known = graph.variables_by_handle.get(variable)
        found = found if known is None else known
        graph = graph.enclosing_graph
    return found


def source_in(graph: Graph, x: TensorLike) -> SymbolicTensor | None:
    """What gradients with respect to `x` are taken by where the targets are in `graph`;
    None if nothing there is made of it.
    """
    if isinstance(x, IndexedSlices):
        x = x.values
    x = variable_behind(x)
    if isinstance(x, _Variable):
        return handle_of(graph, x)
    if isinstance(x, SymbolicTensor):
        return x
    found = None
    while isinstance(graph, FuncGraph):
        known = graph.placeholder_of(x)
        found = found if known is None else known
        graph = graph.enclosing_graph
    return found


def follow(tape: Any, event: str) -> None:
    """What the native tape tells while a graph is built."""
    recording = tape.in_graph
    graph = context.current_graph()
    if event in ("enter", "resume"):
        if recording is None or recording.graph is not graph:
            if recording is not None and event == "resume":
                return
            recording = tape.in_graph = Recording(graph, tape._watches_accessed)
        recording.begin()
    elif recording is not None and recording.graph is graph:
        recording.end()


_native.set_hook("graph_tape", follow)
