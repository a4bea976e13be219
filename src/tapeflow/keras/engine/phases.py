"""Training or not: what a layer does in either case, also where that is only known when a graph runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._native import Tensor, Variable
from tapeflow.core import dtypes
from tapeflow.ops.control.flow import cond
from tapeflow.ops.math.casting import cast
from tapeflow.ops.static import static_value


def by_phase(training: bool | Tensor | None, active: Callable[..., Any], at_rest: Callable[..., Any]):
    """`active()` while `training`, a bool, number, tensor or None; `at_rest()` otherwise."""
    if isinstance(training, (Tensor, Variable)):
        known = static_value(training)
        if known is None:
            return cond(cast(training, dtypes.bool), active, at_rest)
        training = bool(known)
    return active() if training else at_rest()
