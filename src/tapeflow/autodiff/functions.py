"""Functions to functions: those that compute gradients of a given one, as `tf.contrib.eager` has them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.autodiff.tape import GradientTape, trainable
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.ops.array.rows import identity


def _positions(f, params, args: Sequence[TensorLike]):
    """The positions of the arguments to differentiate with respect to."""
    if params is None:
        return range(len(args))
    params = list(params)
    names = [
        p.name
        for p in inspect.signature(f).parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if all(isinstance(p, str) for p in params):
        unknown = [p for p in params if p not in names]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not an argument of {_name(f)}: {names}")
        return [names.index(p) for p in params]
    if all(isinstance(p, int) and not isinstance(p, bool) for p in params):
        wrong = [p for p in params if not 0 <= p < len(args)]
        if wrong:
            raise ValueError(
                f"params must be between 0 and {len(args) - 1}, the arguments given; got {params}."
            )
        return params
    raise ValueError(f"params must be all strings or all integers; got {params}.")


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", repr(f))


def _returned(f, result: Tensor):
    if result is None:
        raise ValueError(
            "Cannot differentiate a function that returns None; did you forget to return a value "
            f"from {_name(f)}?"
        )
    return result


def make_vjp(f, params=None, persistent: bool = True):
    """A function that returns `f`'s result and `vjp(dy=None)`, the gradients weighted with `dy`.

    Args:
      f: a function of tensors.
      params: names or positions of the arguments to differentiate by; None: all.
      persistent: whether `vjp` may be called more than once.

    Raises ValueError when `f` returns None.
    """

    @functools.wraps(f)
    def decorated(*args, **kwds):
        if kwds:
            raise ValueError("The gradient function can't take keyword arguments.")
        positions = _positions(f, params, args)
        args = list(args)
        tape = GradientTape(persistent=persistent)
        sources = []
        for i in positions:
            # An argument that is given twice is two sources.
            if not isinstance(args[i], _native.Variable) or any(args[i] is x for x in sources):
                args[i] = identity(convert_to_tensor(args[i]))
            sources.append(args[i])
        with tape:
            for source in sources:
                if trainable(source.dtype):
                    tape._watch_any(source)
            result = _returned(f, f(*args))
            result = nest.map_structure(lambda x: identity(convert_to_tensor(x)), result)

        def vjp(dy=None):
            return tape.gradient(nest.flatten(result), sources, _weights(dy))

        return result, vjp

    return decorated


def _weights(dy):
    return (
        None
        if dy is None
        else [None if d is None else convert_to_tensor(d) for d in nest.flatten(dy)]
    )


def value_and_gradients_function(f, params=None):
    """A function that returns `f`'s result and the list of its gradients.

    Args:
      f: a function of tensors; floats given for them are converted.
      params: names or positions of the arguments to differentiate by; None: all.

    The function takes `dy=`, the weights of the result's elements. An argument that the result does
    not depend on has the gradient None. Raises ValueError when `f` returns None.
    """

    @functools.wraps(f)
    def decorated(*args, **kwds):
        dy = kwds.pop("dy", None)
        if kwds:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        value, vjp = make_vjp(f, params, persistent=False)(*args)
        return value, vjp(dy)

    return decorated


def gradients_function(f, params=None):
    """A function that returns the list of the gradients of `f`; see `value_and_gradients_function`."""
    both = value_and_gradients_function(f, params)

    @functools.wraps(f)
    def decorated(*args, **kwds):
        return both(*args, **kwds)[1]

    return decorated


def implicit_value_and_gradients(f: Callable[..., Any]):
    """A function that returns `f`'s result and (gradient, variable) of each trainable variable it used.

    Raises ValueError when `f` returns None or used no trainable variable.
    """

    @functools.wraps(f)
    def decorated(*args, **kwds):
        tape = GradientTape()
        with tape:
            result = _returned(f, f(*args, **kwds))
        variables = list(tape.watched_variables())
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being computed."
            )
        return result, list(zip(tape.gradient(result, variables), variables))

    return decorated


def implicit_gradients(f: Callable[..., Any]):
    """A function that returns (gradient, variable) of each trainable variable that `f` used."""
    both = implicit_value_and_gradients(f)

    @functools.wraps(f)
    def decorated(*args, **kwds):
        return both(*args, **kwds)[1]

    return decorated
