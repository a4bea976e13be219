"""What programs say of the gradients of ops, by the names of the ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow import raw_ops
from tapeflow.api import api, api_value
from tapeflow.core.public import boundaries, public
from tapeflow.graph.build import gradients
from tapeflow.ops.table import REGISTRY

# Names of ops that are no rows, which programs may declare all the same.
_declared: set[str] = set()


def _row_of(op_type: str) -> Any:
    """The row of that name, whose module may not be loaded yet; None if there is none."""
    return REGISTRY[op_type] if op_type in dir(raw_ops) and getattr(raw_ops, op_type) else None


def _check_free(op_type: Any) -> None:
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    row = _row_of(op_type)
    known = row is not None and row.gradient_known
    if known or op_type in _declared or op_type in gradients.registered:
        raise KeyError(f"Registering two gradient with name '{op_type}'!")


@api("RegisterGradient")
class RegisterGradient:
    """A decorator: the function is the gradient of ops of the type `op_type`, or for `Graph.gradient_override_map`
    what ops are given that name.

    The function takes the operation and the gradients of its outputs; it returns one gradient for each input.
    Raises TypeError for a name that is no string, KeyError if the op's gradient is known already.
    """

    def __init__(self, op_type: str):
        _check_free(op_type)
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        _check_free(self._op_type)
        gradients.registered[self._op_type] = f
        return f


@api(v1="NotDifferentiable")
@public
def NotDifferentiable(op_type):
    """Declares that the op of that name has no gradient: tapes end there without an error.

    Raises TypeError for a name that is no string, KeyError if the op's gradient is known already.
    """
    _check_free(op_type)
    row = _row_of(op_type)
    if row is not None:
        row.gradient(None, "")
    else:
        _declared.add(op_type)


NoGradient = no_gradient = NotDifferentiable
api_value("NoGradient", v1="NoGradient")
api_value("no_gradient", "no_gradient")


boundaries(globals())
