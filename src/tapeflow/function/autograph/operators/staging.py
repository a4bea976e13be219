"""The test by which operators choose between Python and the graph, and the graph's side of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from tapeflow import _native
from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import bool as bool_dtype
from tapeflow.function.autograph.errors import at_user_line
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.control import flow as control

_Tensor, _EagerTensor, _Variable = _native.Tensor, _native.EagerTensor, _native.Variable


class Undefined:
    """Stands for a variable without a value while its function is staged."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Any = Undefined()


class _NoReturn:
    """What a function returns that runs to its end, until that is known to be None."""


NO_RETURN: Any = _NoReturn()


def is_staged(x: TensorLike) -> bool:
    """Whether the value of `x` will only be known when the graph runs."""
    if isinstance(x, _Tensor):
        return not isinstance(x, _EagerTensor)
    return isinstance(x, _Variable) and not context.executing_eagerly()


def in_graph() -> bool:
    """Whether operations now build a graph."""
    return not context.executing_eagerly()


def condition(x: TensorLike, what: str) -> Any:
    """The staged `x` as a scalar bool tensor. Raises ValueError where it is none."""
    x = convert_to_tensor(x)
    hint = "to check for None, use `is not None`"
    if x.dtype != bool_dtype:
        raise at_user_line(
            ValueError,
            f"condition of {what} expected to be `tf.bool` scalar, got {x}; to use as boolean Tensor, use "
            f"`tf.cast`; {hint}",
        )
    rank = x.shape.rank
    if rank == 0:
        return x
    if rank is not None and any(d is not None and d > 1 for d in x.shape.as_list()):
        raise at_user_line(
            ValueError, f"condition of {what} expected to be `tf.bool` scalar, got {x}; {hint}"
        )

    return reshape(x, [])


def cond(pred: Any, true_fn: Any, false_fn: Any) -> Any:
    return control.cond(pred, true_fn, false_fn)


def while_loop(test: Any, body: Callable[..., Any], variables: list[Any], **options: Any) -> Any:
    return control.while_loop(test, body, variables, **options)


def scratch_graph() -> contextlib.AbstractContextManager[Any]:
    """A graph to try something in; what is built there is forgotten."""
    from tapeflow.graph.func_graph import FuncGraph

    return FuncGraph("scratch").as_default()
