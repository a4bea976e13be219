"""Calls that change no variable: a scope in which variables have other values, and lose them when it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.autodiff.custom_gradient import custom_gradient
from tapeflow.autodiff.tape import GradientTape
from tapeflow.core import dtypes
from tapeflow.core.annotations import Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.math.casting import cast

if TYPE_CHECKING:
    import numpy as np


class _Open(threading.local):
    """The scopes that a thread is in."""

    def __init__(self):
        self.stateless: list[StatelessScope] = []
        self.symbolic = 0


open_scopes = _Open()


class StatelessScope:
    """A context in which variables have given values, and what is assigned to them is kept by the scope.

    The variables have their own values again when the scope ends.

    Args:
      state_mapping: pairs of a variable and the value that it has in the scope; None for none.
      collect_losses: whether what layers pass to `add_loss` in the scope goes to its `losses`, and not to the layers.
      initialize_variables: accepted, as variables that are made in a scope have their first values at once.

    Attributes:
      losses: the losses of calls in the scope.
      state_mapping: by the identity of a variable, its value in the scope, or the last one after it.

    Raises ValueError for a key that is no variable of Keras, and for a value whose shape is not the variable's.
    """

    def __init__(
        self, state_mapping: Sequence[Any] | None = None, collect_losses: bool = False,
        initialize_variables: bool = True,
    ):
        self.collect_losses, self.initialize_variables = collect_losses, initialize_variables
        self.losses: list[Any] = []
        self.state_mapping: dict[int, Any] = {}
        self._variables: dict[int, Any] = {}
        self._before: dict[int, Any] | None = None  # of an open scope, the values that come back
        for variable, value in state_mapping or ():
            _check_variable(variable)
            value = cast(convert_to_tensor(value), variable.dtype)
            if not TensorShape(value.shape).is_compatible_with(variable.shape):
                raise ValueError(
                    "Invalid variable value in StatelessScope: all values in argument `mapping` must be tensors with a "
                    f"shape that matches the corresponding variable shape. For variable {variable}, received invalid "
                    f"value {value} with shape {value.shape}."
                )
            self._variables[id(variable)] = variable
            self.state_mapping[id(variable)] = value

    def __enter__(self):
        self._before = {}
        open_scopes.stateless.append(self)
        for key, variable in self._variables.items():
            self.keep(variable)
            variable.assign(self.state_mapping[key])
        return self

    def __exit__(self, *exc_info):
        for key in self._before or ():
            self.state_mapping[key] = self._variables[key].read_value()
        open_scopes.stateless.remove(self)
        for key, value in (self._before or {}).items():
            self._variables[key].assign(value)
        self._before = None

    def keep(self, variable: Variable):
        """Remembers the value that a variable gets back; called before the variable changes."""
        if self._before is not None and id(variable) not in self._before:
            self._variables[id(variable)] = variable
            self._before[id(variable)] = variable.read_value()

    def add_loss(self, loss):
        """Appends a loss to `losses`."""
        self.losses.append(loss)

    def add_update(self, update):
        """Gives a variable a value: `update` is the pair of both."""
        variable, value = update
        _check_variable(variable)
        if self._before is None:
            self._variables[id(variable)] = variable
            self.state_mapping[id(variable)] = cast(convert_to_tensor(value), variable.dtype)
        else:
            variable.assign(value)

    def get_current_value(self, variable: Variable):
        """The value that a variable has in the scope; None where the scope has none for it."""
        if self._before is not None and id(variable) in self._before:
            return variable.read_value()
        return self.state_mapping.get(id(variable))


class SymbolicScope:
    """A context for calls that only ask for shapes and dtypes: layers keep none of the losses of such calls."""

    def __enter__(self):
        open_scopes.symbolic += 1
        return self

    def __exit__(self, *exc_info):
        open_scopes.symbolic -= 1


def in_symbolic_scope():
    """Whether the thread is in a `SymbolicScope`."""
    return bool(open_scopes.symbolic)


def current_scope():
    """The innermost `StatelessScope` of the thread, or None."""
    return open_scopes.stateless[-1] if open_scopes.stateless else None


def keep(variable: Variable):
    """Lets the scopes of the thread remember a variable that is about to change."""
    for scope in open_scopes.stateless:
        scope.keep(variable)


def values_after(
    function: Callable[..., Any], variables: Sequence[Variable], values: Sequence[np.ndarray],
    kept: Sequence[Variable],
):
    """(function(), values of `kept` after it) with `values` in `variables`, which are as before in the end.

    Gradients of what the function computes reach `values`.
    """
    structure: list[Any] = []

    @custom_gradient
    def compute(*given):
        with GradientTape(persistent=True) as tape:
            with StatelessScope(list(zip(variables, given))) as scope:
                found = function()
            after = [scope.get_current_value(variable) for variable in kept]
        flat = nest.flatten(found)
        structure[:] = [found]
        sources = [variable for variable in variables if dtypes.as_dtype(variable.dtype).is_floating]

        def gradient(*upstream, variables: Sequence[Any] = ()):
            found = tape.gradient(flat, [*sources, *variables], list(upstream[: len(flat)]))
            of_values = iter(found)
            given_back = [
                next(of_values) if dtypes.as_dtype(v.dtype).is_floating else None for v in all_variables
            ]
            return given_back, [None] * len(variables)

        return [*flat, *after], gradient

    all_variables = list(variables)
    results = compute(*values) if values else None
    if results is None:
        return function(), [variable.read_value() for variable in kept]
    count = len(nest.flatten(structure[0]))
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    return nest.pack_sequence_as(structure[0], results[:count]), results[count:]


def _check_variable(variable: Variable):
    if not hasattr(variable, "assign") or not hasattr(variable, "read_value"):
        raise ValueError(
            "Invalid reference variable in StatelessScope: all keys in argument `mapping` must be Variable instances. "
            f"Received instead: {variable}"
        )


boundaries(globals())
