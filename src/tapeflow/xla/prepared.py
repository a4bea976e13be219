"""Calls of programs whose shapes are known: variables stay on the device, and updates reuse their memory.

A variable that a program assigns is empty while it runs, so that nothing but the program has the old value, whose
memory XLA then takes for the new one (donation). Who reads the variable meanwhile waits. A value that somebody else
has is copied first.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow import _native
from tapeflow.core.errors import FailedPreconditionError
from tapeflow.xla.importing import jax

# References to an object that only one list holds, as `sys.getrefcount(list[i])` counts them; those of a local variable
# some versions of Python do not count. Without a GIL others may take some while they are counted.
_OWN = 2 if getattr(sys, "_is_gil_enabled", lambda: True)() else -1


class Signature(NamedTuple):
    """What a program takes and gives.

    Attributes:
      given: for each array that a call gives, the place among the program's arguments.
      kept: all arguments before the variables; None where a call gives one.
      variables: weak references to the variables whose values come next.
      streams: what random streams are asked for, with how many blocks each call draws.
      results: dtypes of the results, which come before the new values of variables.
    """

    given: Sequence[int]
    kept: Sequence[Any]
    variables: Sequence[Callable[[], Any]]
    streams: Sequence[tuple[Any, ...]]
    results: Sequence[Any]


class PreparedCall:
    """A program that XLA compiled, called with eager tensors.

    Args:
      trace: f(arguments, values of variables, positions of streams) -> results, new values of variables by number.
      memory: where it runs.
      arrays, state: the arguments and the values of variables, for their shapes.
    """

    direct: Any = None  # as `memory.direct`, once it was called, where that is all that a call is

    def __init__(
        self, trace: Callable[..., Any], signature: Signature, memory: Any, arrays: Sequence[Any], state: Sequence[Any]
    ):
        self._signature, self._memory = signature, memory
        self._all_given = len(signature.given) == len(signature.kept)
        first, last = len(arrays), len(arrays) + len(state)

        def flat(*given: Any) -> list[Any]:
            results, written = trace(given[:first], given[first:last], [_wide(p) for p in given[last:]])
            self.assigned = sorted(written)
            exact = [jax.numpy.asarray(y, t.as_numpy_dtype) for y, t in zip(results, signature.results, strict=True)]
            return [*exact, *(written[i] for i in self.assigned)]

        specs = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (*arrays, *state)]
        positions = [jax.ShapeDtypeStruct((6,), np.uint32) for _ in signature.streams]
        seen = jax.eval_shape(flat, *specs, *positions)  # which variables it assigns
        self._shapes = [x.shape for x in seen[len(signature.results) :]]
        donated = [first + i for i in self.assigned]
        jitted = jax.jit(flat, donate_argnums=donated)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Some donated buffers were not usable")
            self._compiled = jitted.lower(*arrays, *state, *positions).compile()
        self._read = [i for i in range(len(state)) if i not in self.assigned]
        kinds = [*signature.results, *(signature.variables[i]().dtype for i in self.assigned)]
        self._numbers = tuple([kind.as_datatype_enum for kind in kinds])

    def check_shapes(self, variables: Sequence[Any]) -> None:
        """Raise ValueError for a new value of another shape than its variable's."""
        for i, shape in zip(self.assigned, self._shapes, strict=True):
            variables[i].shape.assert_is_compatible_with(shape)

    def __call__(self, arguments: tuple[Any, ...]) -> list[Any] | None:
        """The results, as tensors; None where a variable is not where the program runs."""
        memory, signature = self._memory, self._signature
        arrays = memory.arrays_of(arguments)
        if not self._all_given:
            given, arrays = arrays, list(signature.kept)
            for place, array in zip(signature.given, given, strict=True):
                arrays[place] = array
        if not signature.variables:
            results: list[Any] = memory.tensors_of(self._compiled(*arrays, *self._positions()), self._numbers)
            if self._all_given and not signature.streams:
                # What jax makes with the first call has one Python frame less.
                program = getattr(self._compiled, "_call", None) or self._compiled
                self.direct = memory.direct(program, self._numbers)
            return results
        variables = [_there(reference()) for reference in signature.variables]
        # Whoever has taken values must not wait for what others have taken: they may wait for it.
        state = self._state(variables)
        if not self.assigned:
            found: list[Any] = memory.tensors_of(self._compiled(*arrays, *state, *self._positions()), self._numbers)
            return found
        assigned = tuple([variables[i] for i in self.assigned])

        def run(values: list[Any]) -> list[Any] | None:
            if not memory.holds(values):
                return None
            return self._updated(arrays, state, variables, values)

        result: list[Any] | None = _native.update_taken(assigned, run)
        return result

    def _state(self, variables: list[Any]) -> list[Any]:
        """The arrays of variables, by number; None for those that the program assigns."""
        read = _native.Variable.read_value
        state: list[Any] = [None] * len(variables)
        found = self._memory.arrays_of(tuple([read(variables[i]) for i in self._read]))
        for i, array in zip(self._read, found, strict=True):
            state[i] = array
        return state

    def _updated(self, arrays: list[Any], state: list[Any], variables: list[Any], values: list[Any]) -> list[Any]:
        """The results, where `values` has the only reference to those of the assigned variables, and gets the new."""
        memory = self._memory
        try:
            for k, i in enumerate(self.assigned):
                state[i] = memory.own_array(values[k])
                values[k] = None
                if sys.getrefcount(state[i]) > _OWN:
                    state[i] = _copy(state[i])
            found = self._compiled(*arrays, *state, *self._positions())
            tensors = memory.tensors_of(found, self._numbers)
            del found
        except BaseException:
            for k, i in enumerate(self.assigned):
                if values[k] is None and not state[i].is_deleted():
                    values[k] = memory.tensor_of(state[i], variables[i].dtype)
            raise
        count = len(self._signature.results)
        values[:] = tensors[count:]
        return tensors[:count]

    def _positions(self) -> Sequence[Any]:
        """Where random streams begin, which move on: 64 bits as two of 32, which are never narrowed."""
        reserve = _native.random_reserve
        if not self._signature.streams:
            return ()
        return [np.array(reserve(*asked), np.uint64).view(np.uint32) for asked in self._signature.streams]


def _wide(position: Any) -> Any:
    return jax.lax.bitcast_convert_type(position.reshape(3, 2), np.uint64)


def _copy(array: Any) -> Any:
    with jax.enable_x64(True):
        return array.copy()


def _there(variable: Any) -> Any:
    if variable is None:
        raise FailedPreconditionError(None, None, "A variable of the function is gone: it was deleted.")
    return variable
