"""The operators of tensors until operations are loaded: the first use loads them, and they take over."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tapeflow import _native
from tapeflow.api import providers
from tapeflow.core import stand_ins
from tapeflow.core.public import boundary

_OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "invert", "neg", "abs",
    "lt", "le", "gt", "ge", "eq", "ne",
)  # fmt: skip


def _loading(name: str) -> Callable[..., Any]:
    """An operator that loads what replaces it, and is called again."""
    again = getattr(operator, f"{name}_" if name in ("and", "or") else name)

    def first(*operands: Any) -> Any:
        providers.load("operators")
        return again(*operands)

    return boundary(first)


def _stand_in(function: Any, args: Any, kwargs: Any) -> Any:
    providers.load("operators")
    return stand_ins.answer(function, args, kwargs)


def set_operators() -> None:
    """Give tensors operators that load operations."""
    for name in _OPERATORS:
        _native.set_operator(name, None, _loading(name), 0)
    _native.set_hook("getitem", _loading("getitem"))
    _native.set_hook("dispatch", _stand_in)
