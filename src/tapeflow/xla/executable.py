"""`compile_graph`: a graph as a callable on eager tensors that XLA has compiled.

Variables and the positions of random streams go in as values; what was written comes out and is stored afterwards.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.variables import is_set
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.placement import Part, bodies_of
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.xla import (
    lists,
    slices,  # noqa: F401 (registers how slices are lowered)
)
from tapeflow.xla.host_memory import HostMemory
from tapeflow.xla.importing import jax
from tapeflow.xla.prepared import PreparedCall, Signature
from tapeflow.xla.tracing import Lowering
from tapeflow.xla.values import ListValue, VariableHandle, traced

# How an input gets its value: from the call or once for all, as an array or as a variable.
_ARRAY, _KEPT, _VARIABLE, _OWN_VARIABLE = range(4)
# Lists, and elements of which two share a byte.
_UNPREPARED = (dtypes.variant, dtypes.int4, dtypes.uint4)
_NO_ARRAYS = (dtypes.resource, dtypes.string, dtypes.variant)


class Executable:
    """A graph compiled by XLA, called with eager tensors for its inputs.

    Args:
      graph: a `FuncGraph`, or a `Part` of a graph.
      constants: id of an input -> eager tensor, for those that a call does not give.
      attrs_of: gives the attrs with which an operation runs; None: those of the operation.
      memory: where it runs, the host's or that of an accelerator: what makes arrays of tensors, and tensors of arrays.
    """

    def __init__(
        self, graph: FuncGraph | Part, outputs: Sequence[SymbolicTensor], constants: dict[int, Any],
        memory: Any = None, attrs_of: Callable[[Operation], dict[str, Any]] | None = None,
    ):  # fmt: skip
        self._attrs_of = attrs_of
        self.graph = graph
        self.outputs = list(outputs)
        self._sets = isinstance(graph, Part)  # whether it may give variables their first values
        self._constants = [constants.get(id(x)) for x in graph.inputs]
        self._ways: list[tuple[int, Any]] = []  # of the inputs; known with the first call
        self._streams: dict[Any, int | None] | None = None if any_operation(graph, _draws) else {}
        self._prints = any_operation(graph, lambda op: op.type == "PrintV2")
        self._jitted: dict[Any, Any] = {}  # by which inputs are which variables
        self._prepared: Any = None  # serves all calls, where shapes are known; False: nothing does
        self._direct: Any = None  # serves those of them whose arguments are arrays
        self._written: dict[Any, list[int]] = {}  # likewise: the numbers of those that a run assigns
        shown = {id(y) for y in graph.outputs}
        self._results = [(y.dtype, id(y) in shown) for y in self.outputs]
        self._memory: Any = HostMemory() if memory is None else memory
        self._device = self._memory.device

    def __call__(self, *arguments: Any) -> list[Any]:
        results: list[Any] | None
        if self._direct is not None:
            results = self._direct(arguments)
            if results is not None:
                return results
        if self._prepared is None:
            self._prepared = self._prepare(arguments)
        if self._prepared:
            results = self._prepared(arguments)
            self._direct = self._prepared.direct
            if results is not None:
                return results
        arrays, variables, slots = self._inputs(arguments)
        binding = (slots, tuple([v.dtype for v in variables]))
        # No update of another thread comes between the reading of a variable and its assignment.
        assigned = self._written.get(binding, range(len(variables)))
        if not assigned:
            return self._call(binding, arrays, variables)
        held = tuple([variables[i] for i in assigned if _has_value(variables[i])])
        return _native.update_locked(held, partial(self._call, binding, arrays, variables))

    def _call(self, binding: Any, arrays: list[Any], variables: list[Any]) -> list[Any]:
        array_of, value_of = self._memory.array_of, _native.Variable.read_value
        if self._sets:
            state = [array_of(value_of(v)) if _has_value(v) else None for v in variables]
        else:
            state = [array_of(value_of(v)) for v in variables]
        with jax.enable_x64(True), self._placed():
            results, written, moved = self._run(binding, arrays, state)
            if self._prints:
                jax.effects_barrier()
        self._written[binding] = list(written)
        for slot, value in written.items():  # all or none
            variables[slot].shape.assert_is_compatible_with(value.shape)
        for slot, value in written.items():
            self._memory.assign(variables[slot], value)
        for key, blocks in moved:
            _native.random_reserve(*key[1:], blocks)
        return self._tensors(results)

    def _placed(self) -> Any:
        """A block in which jax puts what it makes on the device of the program."""
        return jax.default_device(self._device) if self._device else nullcontext()

    def _prepare(self, arguments: Sequence[Any]) -> Any:
        """What serves all calls from now on; False: nothing does, None: it is not known yet."""
        if not self._has_one_kind():
            return False
        arrays, variables, slots = self._inputs(arguments)
        if any(way == _VARIABLE for way, _ in self._ways):
            return False
        if not all(_has_value(v) for v in variables):
            return None
        binding = (slots, tuple([v.dtype for v in variables]))
        state = [self._memory.array_of(_native.Variable.read_value(v)) for v in variables]
        with jax.enable_x64(True), self._placed():
            if self._streams is None:
                self._streams = self._probe(binding, arrays, state)
            if None in self._streams.values():
                return False
            ways = [(way, kept) for way, kept in self._ways if way != _OWN_VARIABLE]
            signature = Signature(
                given=[i for i, (way, _) in enumerate(ways) if way == _ARRAY],
                kept=[kept for _, kept in ways],
                variables=[weakref.ref(v) for v in variables],
                streams=[(*key[1:], blocks) for key, blocks in self._streams.items()],
                results=[dtype for dtype, _ in self._results],
            )
            made = PreparedCall(
                lambda *given: self._trace(binding, *given)[:2], signature, self._memory, arrays, state
            )
            made.check_shapes(variables)
            return made

    def lowered(self) -> Any:
        """The graph as `jax.stages.Lowered`, for inputs of the shapes that it knows.

        Raises ValueError for an input whose shape it does not know, or which is a variable that calls give.
        """
        given = [x for x, kept in zip(self.graph.inputs, self._constants, strict=True) if kept is None]
        if any(x.dtype in _NO_ARRAYS or x.shape_tuple is None or None in x.shape_tuple for x in given):
            raise ValueError(f"Only support static input shape but got inputs = {given}")
        with jax.enable_x64(True):
            specs = [jax.ShapeDtypeStruct(x.shape_tuple, x.dtype.as_numpy_dtype) for x in given]
            arrays, variables, slots = self._inputs(specs)
            state = [self._memory.array_of(_native.Variable.read_value(v)) for v in variables]
            binding = (slots, tuple([v.dtype for v in variables]))
            if self._streams is None:
                self._streams = self._probe(binding, arrays, state)
            positions = [jax.ShapeDtypeStruct((3,), np.uint64) for _ in self._streams]

            def program(arrays: Any, state: Any, positions: Any) -> Any:
                return self._trace(binding, arrays, state, positions)

            program.__name__ = self.graph.name or program.__name__
            return jax.jit(program).lower(arrays, state, positions)

    def _tensors(self, results: Sequence[Any]) -> list[Any]:
        tensor_of = self._memory.tensor_of
        return [
            tensor_of(lists.as_payload(y) if shown and isinstance(y, ListValue) else y, dtype)
            for y, (dtype, shown) in zip(results, self._results, strict=True)
        ]

    def _inputs(self, arguments: Sequence[Any]) -> tuple[list[Any], list[Any], tuple[int, ...]]:
        """Arrays, variables, and which variable each handle among the inputs stands for."""
        if not self._ways:
            self._ways = [self._way(x, kept) for x, kept in zip(self.graph.inputs, self._constants, strict=True)]
        given = iter(arguments)
        arrays: list[Any] = []
        variables: list[Any] = []
        numbers: dict[int, int] = {}
        slots = []
        for way, kept in self._ways:
            if way == _ARRAY:
                arrays.append(self._argument(next(given)))
            elif way == _KEPT:
                arrays.append(kept)
            else:
                variable = kept() if way == _OWN_VARIABLE else next(given).numpy()()
                if id(variable) not in numbers:
                    numbers[id(variable)] = len(variables)
                    variables.append(variable)
                slots.append(numbers[id(variable)])
        return arrays, variables, tuple(slots)

    def _way(self, x: SymbolicTensor, constant: Any) -> tuple[int, Any]:
        """How an input gets its value, with what it gets once for all: an array, or what refers to a variable."""
        if x.dtype is dtypes.string:
            raise UnimplementedError(None, None, f"Strings cannot be compiled, but {self.graph.name} takes some")
        if x.dtype is dtypes.resource:
            return (_VARIABLE, None) if constant is None else (_OWN_VARIABLE, constant.numpy())
        return (_ARRAY, None) if constant is None else (_KEPT, self._memory.constant(constant))

    def _argument(self, x: TensorLike) -> Any:
        return x if isinstance(x, jax.ShapeDtypeStruct) else self._memory.array_of(x)

    def _run(self, binding: Any, arrays: list[Any], state: list[Any]) -> Any:
        """Results, new values of variables by number, and by how many blocks each random stream moved on."""
        if self._streams is None:
            self._streams = self._probe(binding, arrays, state)
        jitted = self._jitted.get(binding)
        if jitted is None:
            jitted = self._jitted[binding] = jax.jit(partial(self._trace, binding))
        if not self._streams:
            results, written, _ = jitted(arrays, state, [])
            return results, written, ()
        keys = list(self._streams)
        positions = [np.array(_native.random_reserve(*key[1:], 0), np.uint64) for key in keys]
        results, written, after = jitted(arrays, state, positions)
        moved = [(keys[i], _distance(positions[i], np.asarray(p))) for i, p in after.items()]
        return results, written, moved

    def _has_one_kind(self) -> bool:
        """Whether all calls have arrays of the same shapes on one device."""
        if self._prints or not self._memory.single_device:
            return False
        shapes = [x.handle_shape if x.dtype is dtypes.resource else x.shape_tuple for x in self.graph.inputs]
        known = all(shape is not None and None not in shape for shape in shapes)
        return known and not any(x.dtype in _UNPREPARED for x in (*self.graph.inputs, *self.outputs))

    def _probe(self, binding: Any, arrays: list[Any], state: list[Any]) -> dict[Any, int | None]:
        """The random streams that the graph draws from, and how many blocks a run takes; None: that differs."""
        found: dict[Any, int | None] = {}

        def run(arrays: Any, state: Any) -> Any:
            lowering = self._lowering(dict(enumerate(state)), probing=True)
            self._body(lowering, arrays, binding)
            found.update(lowering.streams)
            return 0

        jax.eval_shape(run, arrays, state)
        return found

    def _trace(self, binding: Any, arrays: Any, state: Any, positions: Any) -> Any:
        streams = dict(zip(self._streams or (), positions, strict=True))
        lowering = self._lowering({**dict(enumerate(state)), **streams})
        results = self._body(lowering, arrays, binding)
        values, changed = lowering.state.values, lowering.state.written
        written = {slot: values[slot] for slot in range(len(state)) if slot in changed}
        after = {i: values[key] for i, key in enumerate(streams) if key in changed}
        return results, written, after

    def _lowering(self, values: dict[Any, Any], probing: bool = False) -> Lowering:
        return Lowering(values, probing, self._attrs_of)

    def _body(self, lowering: Lowering, arrays: Any, binding: Any) -> list[Any]:
        slots, kinds = binding
        rest, places = iter(arrays), iter(slots)
        inputs: list[Any] = []
        for x in self.graph.inputs:
            if x.dtype is dtypes.resource:
                slot = next(places)
                inputs.append(VariableHandle(lowering, slot, kinds[slot]))
            else:
                inputs.append(next(rest))
        return [traced(y) for y in lowering.body(self.graph, self.outputs, inputs)]


def any_operation(graph: FuncGraph | Part, holds: Callable[[Operation], bool]) -> bool:
    """Whether something holds of an operation of the graph or of the bodies in it."""
    for op in graph.operations:
        if holds(op):
            return True
        if any(any_operation(body.graph, holds) for body in bodies_of(op)):
            return True
    return False


def _has_value(variable: Any) -> bool:
    return bool(is_set(variable))


def _draws(op: Operation) -> bool:
    """Whether the operation draws numbers from a stream."""
    return op.row is not None and op.row.draws


def _distance(before: np.ndarray, after: np.ndarray) -> int:
    """How many blocks a stream has moved on."""
    wide = [int(p[2]) << 64 | int(p[1]) for p in (before, after)]
    return (wide[1] - wide[0]) & ((1 << 64) - 1)


def compile_graph(
    graph: FuncGraph, outputs: Sequence[SymbolicTensor] | None = None, constants: dict[int, Any] | None = None
) -> Executable:
    """`graph` compiled by XLA for the CPU: a callable on eager tensors for its inputs, variables' handles among them.

    Compiled on the first call for each combination of shapes. Variables are written when the run is over.

    Args:
      outputs: instead of the graph's own.
      constants: id of an input -> eager tensor; those inputs are not given by calls.

    Raises:
      UnimplementedError: jax is missing, or (when called) an operation cannot be compiled.
    """
    return Executable(graph, graph.outputs if outputs is None else outputs, constants or {})

