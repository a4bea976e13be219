"""Eager operations on accelerators: each runs the row's kernel, compiled by XLA once for each kind of call.

A kind of call is a row with its attrs, the shapes and dtypes of its inputs, the values of those that have to be known,
and a device. Results come back at once, and are waited for when somebody looks at them. What cannot be compiled runs
on the host with copies, and its results stay there; any other failure is an error.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import dtypes
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import OpError, ResourceExhaustedError, UnimplementedError
from tapeflow.core.variables import set_value, variable_behind
from tapeflow.ops import shape_inference
from tapeflow.ops.random import distributions as random
from tapeflow.ops.random import philox
from tapeflow.ops.row_facts import SEEDS
from tapeflow.xla import device_memory, rows
from tapeflow.xla.importing import jax
from tapeflow.xla.lowering import of_shapes
from tapeflow.xla.values import State, VariableHandle

# Compiled calls by their kinds; None: it runs on the host.
_programs: dict[Any, Program | None] = {}
# Those that take arrays of the device and nothing else, by what is seen at a glance.
_ready: dict[Any, Program] = {}
# By a kind without values: the positions of inputs whose values have to be known.
_static: dict[Any, tuple[int, ...]] = {}
# How many kinds of calls are remembered; then the oldest are forgotten.
_MOST = 10_000
# The rows of which the log says why they run on the host.
_explained: set[str] = set()
_logger = logging.getLogger("tensorflow")


def _remember(known: dict[Any, Any], key: Any, value: Any) -> None:
    while len(known) >= _MOST:
        known.pop(next(iter(known)), None)
    known[key] = value


def call(
    row: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], device: int, sizes: tuple[int, ...]
) -> tuple[Any, ...]:
    """The outputs of a call, flat, where the scope asks for `device` (0: none) or an input is off the host."""
    places = [_native.device_array(x) for x in inputs]
    index = device if device > 0 else places[0][0] if places else 0
    key: Any = None
    if index and all(where == index for where, _ in places):  # nothing to be copied, no variables
        key = (row.name, index, sizes, _frozen(attrs), *[(x.shape, x.dtype) for _, x in places])
        ready = _ready.get(key)
        if ready is not None:
            return ready.finish(ready.compiled(*[x for _, x in places]))
    outputs, program = _general(row, inputs, attrs, device, sizes)
    if key is not None and program is not None and program.is_plain:
        _remember(_ready, key, program)
    return outputs


def _general(
    row: Any, inputs: tuple[Any, ...], attrs: dict[str, Any], device: int, sizes: tuple[int, ...]
) -> tuple[tuple[Any, ...], Program | None]:
    """The outputs, and what computed them; None: the host."""
    variables = [variable_behind(x) for x in inputs]
    index = _chosen(row, inputs, variables, attrs, device, sizes)
    shapes_alone = of_shapes(row, row.schema.filled(attrs), inputs)
    if shapes_alone is not None:
        return tuple(_native.tensor_of(x, dtypes.as_dtype(x.dtype)) for x in shapes_alone), None
    failure: Exception | None = None
    try:
        program = program_of(row, inputs, variables, attrs, OnDevice(index), sizes) if index else None
    except (MemoryError, ResourceExhaustedError):
        raise
    except Exception as error:
        failure = error
    if failure is not None:
        if not row.stateful:
            _on_host(row, inputs, attrs, sizes)  # where the call is wrong, this says how
        raise failure
    if program is None:
        outputs = _on_host(row, inputs, attrs, sizes)
        if row.checks and index:  # what was looked at goes on where it was
            outputs = tuple(device_memory.moved(y, index) for y in outputs)
        return outputs, None
    held = tuple(v for v in variables if v is not None)
    if not held:
        return program.run(inputs, attrs), program
    outputs = _native.update_locked(held, lambda: program.run(inputs, attrs, variables))
    return outputs, program


def _value(variable: Any) -> Any:
    return _native.Variable.read_value(variable)


def _chosen(
    row: Any, inputs: Sequence[Any], variables: Sequence[Any], attrs: Mapping[str, Any], device: int,
    sizes: Sequence[int]
) -> int:
    """The index of the device that a call runs on: that of its variables, of the scope, of its inputs."""
    for v in variables:
        if v is not None:
            return _native.device_array(_value(v))[0]
    elsewhere = [i for x in inputs if (i := _native.device_array(x)[0])]
    if device > 0 and not elsewhere and _of_the_host(row, inputs, attrs, sizes):
        return 0
    return device if device > 0 else elsewhere[0] if elsewhere else 0


def _of_the_host(row: Any, inputs: Sequence[Any], attrs: Mapping[str, Any], sizes: Sequence[int]) -> bool:
    """Whether a call only computes int32, of which TensorFlow keeps the results in the host's memory."""
    kinds = [x.dtype for x in inputs]
    results = row.schema.output_dtypes(kinds, row.schema.filled(attrs), sizes)
    return bool(results) and all(kind == dtypes.int32 for kind in results)


class OnDevice:
    """Where a call runs, and what it makes tensors of: the accelerator of that index."""

    def __init__(self, index: int):
        self._index = index

    def key(self, values: Sequence[Any]) -> Any:
        """What programs for other places differ by."""
        return self._index

    @functools.cached_property
    def everywhere(self) -> Any:
        """The sharding of what the whole place has."""
        return jax.sharding.SingleDeviceSharding(device_memory.jax_device(self._index))

    def sharding_of(self, tensor: Any) -> Any:
        """The sharding of the array that stands for a tensor."""
        return self.everywhere

    def compiled(self, function: Any, given: Sequence[Any], shapes: Sequence[Any], written: Sequence[Any]) -> Any:
        """A function compiled for arrays like `given`; `written`: the values of variables that its last results are."""
        return jax.jit(function, out_shardings=self.everywhere).lower(*given).compile()

    def array_of(self, tensor: Any) -> Any:
        """The elements of a tensor there."""
        return device_memory.array_on(tensor, self._index)

    def tensor_of(self, array: Any, number: int) -> Any:
        """The tensor of a result; `number`: of its dtype."""
        return _native.device_tensor(array, number, self._index)


class Program:
    """One kind of call, compiled.

    Args:
      place: where it runs; see `OnDevice`.
      static: the positions of inputs whose values are part of the program.
    """

    def __init__(
        self, row: Any, inputs: Sequence[Any], variables: Sequence[Any], attrs: Any, place: Any,
        sizes: Sequence[int], static: tuple[int, ...],
    ):  # fmt: skip
        self._row, self._place, self._static = row, place, set(static)
        self._sizes = tuple(sizes)
        self._draws: list[tuple[Any, ...]] = []  # what each draw asks of the registry of streams
        self._attrs = row.schema.filled(attrs)
        self._variables = [v is not None for v in variables]
        kinds = [v.dtype if v is not None else x.dtype for x, v in zip(inputs, variables, strict=True)]
        self._known = {i: device_memory.host_array(inputs[i]) for i in static}
        self._handles: list[VariableHandle] = []
        wanted = [dtypes.resource if v is not None else k for k, v in zip(kinds, variables, strict=True)]
        results = row.schema.output_dtypes(wanted, self._attrs, sizes)
        self._numbers = [kind.as_datatype_enum for kind in results]
        self._written: list[int] = []
        values = [x if v is None else _value(v) for x, v in zip(inputs, variables, strict=True)]
        given = [
            jax.ShapeDtypeStruct(tuple(x.shape.as_list()), kind.as_numpy_dtype, sharding=place.sharding_of(x))
            for i, (x, kind) in enumerate(zip(values, kinds, strict=True))
            if i not in self._static
        ]
        with jax.enable_x64(True):
            # The shapes of the results, and which streams the call draws from.
            shapes = jax.eval_shape(lambda *arrays: self._trace(arrays, None), *given)
            position = jax.ShapeDtypeStruct((3,), np.uint64, sharding=place.everywhere)
            positions = [position] * len(self._draws)
            count = len(given)
            self.compiled = place.compiled(
                lambda *all: self._trace(all[:count], all[count:]), [*given, *positions], shapes,
                [values[i] for i in self._written],
            )  # fmt: skip
        self.is_plain = not (self._static or self._draws or self._written or any(self._variables))

    def _trace(self, arrays: Sequence[Any], positions: Sequence[Any] | None) -> Any:
        """Outputs, and the new values of variables that were written."""
        rest = iter(arrays)
        values = [self._known[i] if i in self._static else next(rest) for i in range(len(self._variables))]
        state = State({i: values[i] for i, variable in enumerate(self._variables) if variable})
        holder = _Holder(state)
        given = [
            VariableHandle(holder, i, dtypes.as_dtype(x.dtype)) if self._variables[i] else x
            for i, x in enumerate(values)
        ]
        draws: list[tuple[Any, ...]] = []

        def stream(*asked: Any) -> philox.Philox:
            draws.append(asked)
            if positions is None:
                return philox.Philox(*(jax.numpy.zeros((), np.uint64) for _ in range(3)))
            return philox.Philox(*positions[len(draws) - 1])

        random.streams.source = stream
        try:
            outputs = rows.run(self._row, given, self._attrs, self._sizes)
        finally:
            random.streams.source = None
        self._draws = draws
        self._written = sorted(state.written)
        return *outputs, *(state.values[i] for i in self._written)

    def run(
        self, inputs: Sequence[Any], attrs: dict[str, Any], variables: Sequence[Any] = ()
    ) -> tuple[Any, ...]:
        """The outputs, on the device; variables are written."""
        place = self._place
        arrays = [
            place.array_of(_value(variables[i]) if self._variables[i] else x)
            for i, x in enumerate(inputs)
            if i not in self._static
        ]
        positions = []
        for name, a, b, _, _, blocks in self._draws:
            seeds = attrs.get("seed", 0), attrs.get("seed2", 0)
            position = np.array(_native.random_reserve(name, a, b, *seeds, blocks), np.uint64)
            with jax.enable_x64(True):
                positions.append(jax.device_put(position, place.everywhere))
        try:
            results = self.compiled(*arrays, *positions)
        except jax.errors.JaxRuntimeError as error:
            _raise_exhausted(self._row, error)
            raise
        for i, value in zip(self._written, results[len(self._numbers) :], strict=True):
            variable = variables[i]
            set_value(variable, place.tensor_of(value, variable.dtype.as_datatype_enum))
        return self.finish(results)

    def finish(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """The tensors of what `compiled` returned."""
        make = self._place.tensor_of
        return tuple([make(y, number) for y, number in zip(results, self._numbers, strict=False)])


class _Holder:
    """What a `VariableHandle` reads and writes."""

    def __init__(self, state: State):
        self.state = state


def program_of(
    row: Any, inputs: Sequence[Any], variables: Sequence[Any], attrs: dict[str, Any], place: Any,
    sizes: Sequence[int],
) -> Program | None:  # fmt: skip
    """The program of a call at a place, see `OnDevice`; None for one that runs on the host.

    Raises what keeps it from being compiled, but for what compiled code cannot do.
    """
    if row.checks or not all(_compilable(x, v) for x, v in zip(inputs, variables, strict=True)):
        return None
    if row.not_compiled:
        _explain(row, row.not_compiled)
        return None
    values = [x if v is None else _value(v) for x, v in zip(inputs, variables, strict=True)]
    key: Any = (row.name, place.key(values), tuple(sizes), _frozen(_without_seeds(row, attrs)), tuple(
        (x.dtype, tuple(value.shape.as_list())) for x, value in zip(inputs, values, strict=True)
    ))  # fmt: skip
    if key not in _static:
        _remember(_static, key, _positions(row, inputs, variables, attrs, sizes))
    static = _static[key]
    if static:
        key = (key, tuple(device_memory.host_array(inputs[i]).tobytes() for i in static))
    if key in _programs:
        return _programs[key]
    try:
        program = Program(row, inputs, variables, attrs, place, sizes, static)
    except UnimplementedError as error:
        _explain(row, error.message)
        program = None
    except Exception as error:
        _raise_exhausted(row, error)
        raise
    _remember(_programs, key, program)
    return program


def _raise_exhausted(row: Any, error: Exception) -> None:
    """Raise for a lack of memory, which says nothing of the next call."""
    if isinstance(error, MemoryError):
        raise error
    if isinstance(error, jax.errors.JaxRuntimeError) and "RESOURCE_EXHAUSTED" in str(error):
        raise ResourceExhaustedError(None, None, f"{row.name}: {error}") from error


def _explain(row: Any, why: str) -> None:
    """Log once for each row why it runs on the host."""
    if row.name not in _explained:
        _explained.add(row.name)
        _logger.info("%s runs on the host: %s", row.name, why)


def _without_seeds(row: Any, attrs: dict[str, Any]) -> dict[str, Any]:
    """What programs differ by: where random streams begin is an input of theirs."""
    if not row.draws:
        return attrs
    return {key: value for key, value in attrs.items() if key not in SEEDS}


def _compilable(tensor: Any, variable: Any) -> bool:
    return variable is not None or device_memory.can_hold(tensor.dtype)


def _positions(
    row: Any, inputs: Sequence[Any], variables: Sequence[Any], attrs: Mapping[str, Any], sizes: Sequence[int]
) -> tuple[int, ...]:
    """Which inputs the shape rule reads the values of, or the kernel has to know."""
    watched = [
        rows.Watched(device_memory.host_array(x if v is None else _value(v)), x.dtype)
        for x, v in zip(inputs, variables, strict=True)
    ]
    try:
        shape_inference.infer(row, watched, row.schema.filled(attrs), sizes)
    except (OpError, ValueError):  # said where the call runs
        return ()
    labels = row.schema.flat_names(sizes)
    return tuple(i for i, seen in enumerate(watched) if seen.asked or labels[i] in row.static)


def _frozen(value: Any) -> Any:
    """A value of an attr as a key of dicts."""
    if isinstance(value, dict):
        return tuple((k, _frozen(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(_frozen, value))
    try:
        hash(value)
    except TypeError:
        return object()  # like no other
    return value.as_datatype_enum if isinstance(value, DType) else value


def _on_host(row: Any, inputs: Sequence[Any], attrs: dict[str, Any], sizes: Sequence[int]) -> tuple[Any, ...]:
    given = row.schema.grouped([device_memory.on_host(x) for x in inputs], sizes)
    before = _native.set_device_scope(-1)
    try:
        with _native.PausedTapes():  # the core records the call
            return tuple(rows.flat(row(*given, **attrs)))
    finally:
        _native.set_device_scope(before)
