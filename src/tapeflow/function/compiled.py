"""`Compiled`: a `FuncGraph` that runs on eager tensors, and that tapes can differentiate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core import context, device_calls, dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.variables import is_set
from tapeflow.function.garbage import collector_paused
from tapeflow.graph.build import building, gradients
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.interchange.inlining import inline
from tapeflow.graph.run import planning
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array.like import ZerosLike

_Eager = _native.EagerTensor


def _has_gradient(dtype: Any) -> bool:
    return dtype.is_floating or dtype.is_complex or dtype == dtypes.variant


class Compiled:
    """Calls a graph: as a plan on eager tensors, inlined where another graph is being built.

    Args:
      graph: its first inputs are the arguments, the others stand for what it captured.
    """

    drops_checks = False  # as XLA does where a program asks for it

    def __init__(self, graph: FuncGraph, outputs: Sequence[SymbolicTensor] | None = None):
        self.graph = graph
        self.outputs = list(graph.outputs if outputs is None else outputs)
        self.n_arguments = len(graph.inputs) - graph.num_captures
        self._captures: tuple[int, list[tuple[Any, SymbolicTensor, Any]]] = (-1, [])
        self._plan: Any = None
        self._first_order: Any = None
        self._any_order: Any = None

    # Running.

    @property
    def plan(self) -> Any:
        """The native plan of the arguments; what was captured is part of it."""
        if self._plan is None:
            with self.graph.creation_lock:
                if self._plan is None:
                    self._plan = self.make_plan(self.outputs)
        return self._plan

    def make_plan(self, outputs: Sequence[SymbolicTensor]) -> Any:
        with collector_paused():
            program = planning.function_program(self.graph, outputs, self.constants())
            return planning.compile_program(program)

    def constants(self) -> dict[int, Any]:
        return {
            id(inner): outer for outer, inner in self.graph.captures if isinstance(outer, _Eager)
        }

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """The outputs for eager arguments, or for symbolic ones while a graph is built."""
        if not context.executing_eagerly() or any(not isinstance(x, _Eager) for x in arguments):
            return self.inlined(arguments)
        if _native.recording_tapes():
            watched = self._watched(arguments)
            if watched is not None:
                return self._recorded(arguments, watched)
        return self.run(self.outputs, lambda: self.plan, arguments)

    def run(
        self, outputs: Sequence[SymbolicTensor], plan: Callable[[], Any], arguments: Sequence[Any]
    ) -> list[Any]:
        """The values of `outputs`: of the plan, or of a program on the accelerator that the call belongs to."""
        if device_calls.graph_driver is not None:
            program = self._program(outputs, arguments)
            results = None if program is None else program(*arguments)
            if results is not None:
                return results
        return list(plan()(*arguments))

    @property
    def off_host(self) -> bool:
        """Whether calls belong to an accelerator wherever their arguments are."""
        return device_calls.graph_driver is not None and self._program(self.outputs, ()) is not None

    def _program(self, outputs: Sequence[SymbolicTensor], arguments: Sequence[Any]) -> Any:
        assert device_calls.graph_driver is not None
        held = [v for _, _, v in self._captured() if v is not None]
        return device_calls.graph_driver(
            self.graph, outputs, self.constants(), held, arguments, self.drops_checks
        )

    def inlined(self, arguments: Sequence[Any]) -> list[Any]:
        """The outputs, of operations copied into the graph being built."""
        graph = building.graph_of(arguments)
        captured = []
        for outer, _, variable in self._captured():
            if variable is not None and isinstance(outer, _Eager):
                captured.append(graph.capture_variable(variable, outer))
            else:
                captured.append(building.as_symbolic(graph, outer))
        for variable in self.graph.variables:
            if hasattr(graph, "watch_variable"):
                graph.watch_variable(variable)
        with graph.control_dependencies(self.graph.control_captures):
            return list(inline(self.graph, self.outputs, [*arguments, *captured]))

    def _captured(self) -> list[tuple[Any, SymbolicTensor, Any]]:
        """What was captured, the inputs that stand for it, and the variables whose handles these are (or None).

        Gradients capture more, after the first calls.
        """
        version, found = self._captures
        if version != self.graph.version:
            version, variable_of = self.graph.version, self.graph.variables_by_handle.variable_of
            found = [(outer, inner, variable_of(inner)) for outer, inner in self.graph.captures]
            self._captures = (version, found)
        return found

    # Differentiating.

    def _watched(self, arguments: Sequence[Any]) -> list[Any] | None:
        """The tensors and variables that stand behind the inputs, if tapes watch any of them."""
        inputs: list[Any] = list(arguments)
        hit = any(_has_gradient(x.dtype) and _native.is_watched(x) for x in arguments)
        for outer, _, variable in self._captured():
            inputs.append(outer if variable is None else variable)
            if variable is not None:
                if is_set(variable) and _has_gradient(variable.dtype):
                    hit = _native.is_watched(variable.read_value()) or hit
            elif _has_gradient(outer.dtype):
                hit = hit or _native.is_watched(outer)
        return inputs if hit else None

    def _recorded(self, arguments: Sequence[Any], inputs: list[Any]) -> list[Any]:
        """Runs the plan that also returns what the gradient needs, and tells the tapes."""
        if _native.recording_tapes() == 1 and not _native.recording_persistent():
            pair = self._first_order
            if pair is None:
                with self.graph.creation_lock:
                    pair = self._first_order
                    if pair is None:
                        pair = self._first_order = Differentiated(self, self.outputs)
        else:
            pair = self._any_order
            if pair is None:
                with self.graph.creation_lock:
                    pair = self._any_order
                    if pair is None:
                        pair = self._any_order = Differentiated.closed(self)
        for outer, _, variable in self._captured()[len(inputs) - len(arguments) :]:  # what gradients alone use
            inputs.append(outer if variable is None else variable)
        results = self.run(pair.outputs, lambda: pair.plan, arguments)
        count = len(pair.targets)
        recorded = [i for i in range(count) if _has_gradient(results[i].dtype)]
        # A result that is an argument or a variable's value must be a tensor of its own for the tape.
        for i in recorded:
            results[i] = _native.fresh(results[i])
        kept = results[count:]
        sources = pair.sources
        if pair.higher:
            kept = [results[i] for i in pair.places]
        _native.record_custom(
            self.graph.name,
            [results[i] for i in recorded],
            [inputs[i] for i in sources],
            lambda *dys: pair.backward(dict(zip(recorded, dys, strict=True)), kept, results),
        )
        return results[: len(self.outputs)]


class Differentiated:
    """A graph made to be differentiated: the plan that keeps intermediate results, and the graphs of gradients.

    Attributes:
      targets: the outputs that have gradients to come; with `higher`, intermediate results too.
      outputs: the targets, then what `backward` reads.
      plan: returns them.
    """

    def __init__(self, compiled: Compiled, targets: Sequence[SymbolicTensor], higher: bool = False):
        self.compiled = compiled
        self.targets = list(targets)
        self.higher = higher
        self.sources = _sources(compiled)
        self.backs: dict[tuple[int, ...], Any] = {}
        everything = tuple(i for i, y in enumerate(self.targets) if _has_gradient(y.dtype))
        main = self.back(everything)
        self.kept = list(main[1])
        if higher:
            places = {id(y): i for i, y in enumerate(self.targets)}
            self.places = [places[id(t)] for t in self.kept]
            self.outputs = self.targets
        else:
            self.places = []
            self.outputs = [*self.targets, *self.kept]
        self.plan = compiled.make_plan(self.outputs)

    @classmethod
    def closed(cls, compiled: Compiled) -> Differentiated:
        """One whose intermediate results are targets themselves, so that gradients can be differentiated."""
        targets = list(compiled.outputs)
        while True:
            probe = cls.__new__(cls)
            probe.compiled, probe.targets, probe.backs, probe.higher = compiled, targets, {}, True
            probe.sources = _sources(compiled)
            everything = tuple(i for i, y in enumerate(targets) if _has_gradient(y.dtype))
            _, kept, _ = probe.back(everything)
            known = {id(y) for y in targets}
            fresh = [t for t in kept if id(t) not in known]
            if not fresh:
                return cls(compiled, targets, higher=True)
            targets = [*targets, *fresh]

    def back(self, given: tuple[int, ...]) -> tuple[Compiled, list[Any], list[tuple[int, int]]]:
        """The graph of the gradients where those of the targets `given` are there.

        Returns it, the tensors of the forward graph that it reads, and for which of `sources` it has gradients.
        """
        found = self.backs.get(given)
        if found is not None:
            return found
        with self.compiled.graph.creation_lock:
            found = self.backs.get(given)
            if found is None:
                found = self.backs[given] = self._made_back(given)
        return found

    def _made_back(self, given: tuple[int, ...]) -> tuple[Compiled, list[Any], list[tuple[int, int]]]:
        graph = self.compiled.graph
        with graph.as_default():
            back = FuncGraph(f"__backward_{graph.name}")
        with back.as_default(), collector_paused():
            dys = [
                back.add_input(self.targets[i].dtype, self.targets[i].shape_tuple, f"grad_{i}")
                for i in given
            ]
            dxs = gradients.gradients(
                [self.targets[i] for i in given], [graph.inputs[i] for i in self.sources], dys
            )
            reached, outputs = [], []
            for k, dx in enumerate(dxs):
                if dx is None:
                    continue
                parts = [dx.values, dx.indices] if isinstance(dx, IndexedSlices) else [dx]
                if isinstance(dx, IndexedSlices) and dx.dense_shape is not None:
                    parts.append(dx.dense_shape)
                reached.append((k, len(parts)))
                outputs += [building.as_symbolic(back, part) for part in parts]
            back.outputs = outputs
        kept = back.hand_captures()
        return type(self.compiled)(back), kept, reached

    def backward(self, dys: dict[int, Any], kept: list[Any], results: list[Any]) -> list[Any]:
        """The gradients of the sources, from those of some targets."""
        given = tuple(i for i, dy in dys.items() if dy is not None)
        result: list[Any] = [None] * len(self.sources)
        if not given:
            return result
        if not self.higher:
            given = tuple(dys)
            dys = {i: _zeros_like(results[i]) if dy is None else dy for i, dy in dys.items()}
        back, read, reached = self.back(given)
        if self.higher:
            places = {id(y): i for i, y in enumerate(self.targets)}
            kept = [results[places[id(t)]] for t in read]
        upstream = [_dense(dys[i]) for i in given]
        flat = iter(back([*upstream, *kept]))
        for k, count in reached:
            parts = [next(flat) for _ in range(count)]
            result[k] = parts[0] if count == 1 else IndexedSlices(*parts)
        return result


def _sources(compiled: Compiled) -> list[int]:
    """The inputs that have gradients: floating ones, and handles of variables of such."""
    found = []
    variable_of = compiled.graph.variables_by_handle.variable_of
    for i, x in enumerate(compiled.graph.inputs):
        variable = variable_of(x) if x.dtype == dtypes.resource else None
        if _has_gradient(x.dtype) or (variable is not None and _has_gradient(variable.dtype)):
            found.append(i)
    return found


def _dense(dy: Any) -> Any:
    return dy.to_dense() if isinstance(dy, IndexedSlices) else convert_to_tensor(dy)


def _zeros_like(x: TensorLike) -> Any:
    return ZerosLike(x)
