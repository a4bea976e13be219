"""Gradients that programs define themselves, and recomputation instead of keeping."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.api import api
from tapeflow.autodiff.tape import GradientTape
from tapeflow.core import context
from tapeflow.core.annotations import Tensor, TensorLike, Variable
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.structures import nest
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.rows import identity


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad_fn).parameters
    return "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _flat_gradients(gradients: TensorLike):
    """A list of tensors, slices and None, from one of them or a structure."""
    if gradients is None or isinstance(gradients, IndexedSlices):
        return [gradients]
    return nest.flatten(gradients)


@api("custom_gradient")
def custom_gradient(f: Callable[..., Any] | None = None):
    """Define the gradient of a function; a decorator.

    Args:
      f: a function that returns `(result, grad_fn)`, where `grad_fn(*upstream)` returns the gradient of each
        argument. Where `f` uses trainable variables, `grad_fn(*upstream, variables=[...])` returns the list of the
        gradients of the arguments and that of the variables. None: the decorator is returned.

    Returns:
      A function of the arguments of `f` that returns its result.

    Raises:
      TypeError: where `grad_fn` does not take `variables` though `f` uses some.
      ValueError: for a wrong number of gradients.

    >>> @tf.custom_gradient
    ... def clipped(x):
    ...     return x * x, lambda dy: tf.clip_by_value(dy * 2 * x, -1.0, 1.0)
    >>> x = tf.constant(3.0)
    >>> with tf.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = clipped(x)
    >>> tape.gradient(y, x)
    <tf.Tensor: shape=(), dtype=float32, numpy=1.0>
    """
    if f is None:
        return custom_gradient

    return _WithGradient(f)


class _WithGradient:
    """A function that says its gradient. In a class it is a method: the object that it is bound to is no input."""

    def __init__(self, f: Callable[..., Any]):
        self._function = f
        functools.update_wrapper(self, f)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else _WithGradient(self._function.__get__(instance, owner))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _called(self._function, args, kwargs)


def _called(f, args: Sequence[TensorLike], kwargs: dict[str, Any]):
    if context.executing_eagerly():
        args = nest.map_structure(convert_to_tensor, args)
    else:  # of this graph, as what `f` makes of them is: its gradient function may hold either
        args = nest.map_structure(context.current_graph().as_tensor, args)
    watcher = GradientTape()
    with watcher:
        returned = f(*args, **kwargs)
    if not (
        isinstance(returned, (tuple, list)) and len(returned) == 2 and callable(returned[1])
    ):
        raise TypeError(
            f"@tf.custom_gradient function {getattr(f, '__name__', f)!r} must return its result and a "
            f"function that computes the gradient, but returned {returned!r}"
        )
    result, grad_fn = returned
    inputs = nest.flatten(args)
    given = [*inputs, *kwargs.values()]
    variables = [
        v for v in watcher.watched_variables() if all(v is not other for other in given)
    ]
    if variables and not _takes_variables(grad_fn):
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function "
            f"uses variables: {variables}"
        )
    if not context.executing_eagerly():
        return _in_graph(result, grad_fn, inputs, variables)
    with _native.PausedTapes():
        # Other tensors than those that tapes know already as results of operations inside.
        result = nest.map_structure(lambda x: identity(convert_to_tensor(x)), result)
    outputs = nest.flatten(result)

    backward = _backward(grad_fn, outputs, inputs, variables)
    label = getattr(f, "__name__", "CustomGradient")
    _native.record_custom(label, outputs, [*inputs, *variables], backward)
    return result


def _backward(
    grad_fn: Callable[..., Any], outputs: Sequence[Tensor], inputs: Sequence[Tensor], variables: Sequence[Any]
):
    """The function from the gradients of `outputs` to those of `inputs` and `variables`."""

    def backward(*upstream):
        upstream = [zeros_like(y) if dy is None else dy for dy, y in zip(upstream, outputs)]
        if variables:
            of_inputs, of_variables = grad_fn(*upstream, variables=variables)
            of_variables = _flat_gradients(of_variables)
            if len(of_variables) != len(variables):
                raise ValueError(
                    "Must return gradient for each variable from @custom_gradient grad_fn."
                )
        else:
            of_inputs, of_variables = grad_fn(*upstream), []
        of_inputs = _flat_gradients(of_inputs)
        if len(of_inputs) != len(inputs):
            raise ValueError(
                f"custom_gradient function expected to return {len(inputs)} gradients, but returned "
                f"{len(of_inputs)} instead."
            )
        return [
            g if g is None or isinstance(g, IndexedSlices) else convert_to_tensor(g)
            for g in (*of_inputs, *of_variables)
        ]

    return backward


def _in_graph(result: TensorLike, grad_fn: Callable[..., Any], inputs: Sequence[Tensor], variables: Sequence[Any]):
    """The result as a node whose gradient is the function's own."""
    graph = context.current_graph()
    flat = [graph.as_tensor(x) for x in nest.flatten(result)]
    backward = _backward(grad_fn, flat, inputs, variables)
    outputs = graph.with_gradient(flat, inputs, variables, backward)
    return nest.pack_sequence_as(result, outputs)


@api("grad_pass_through")
def grad_pass_through(f: Callable[..., Any]):
    """`f`, with the gradient of the identity."""

    @custom_gradient
    def passing(*args, **kwargs):
        def grad(*upstream, variables: Sequence[Any] | None = None):
            gradients = upstream[0] if len(args) == 1 else list(upstream)
            return (gradients, [None] * len(variables)) if variables is not None else gradients

        return f(*args, **kwargs), grad

    return functools.wraps(f)(passing)


@api("recompute_grad")
def recompute_grad(f: Callable[..., Any]):
    """`f`, whose intermediate results are not kept for the gradient but computed again."""

    @custom_gradient
    def recomputing(*args, **kwargs):
        with _native.PausedTapes(), GradientTape() as watcher:
            result = f(*args, **kwargs)
        # The variables are announced to the tapes of this thread, so that they watch them too.
        for variable in watcher.watched_variables():
            variable.read_value()

        def grad(*upstream, variables: Sequence[Variable] | None = None):
            own = [identity(x) for x in nest.flatten(args)]
            with GradientTape() as tape:
                tape.watch([x for x in own if x.dtype.is_floating or x.dtype.is_complex])
                again = f(*nest.pack_sequence_as(args, own), **kwargs)
            gradients = tape.gradient(
                nest.flatten(again), own + list(variables or ()), output_gradients=list(upstream)
            )
            if variables is None:
                return gradients
            return gradients[: len(own)], gradients[len(own) :]

        return result, grad

    return functools.wraps(f)(recomputing)
