"""`and`, `or`, `not`, chained comparisons, and `==` where it is asked for."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.function.autograph.operators import staging
from tapeflow.function.autograph.operators.conditional import choose
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.logic import logical_not, logical_or

_SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}


def not_(a: TensorLike) -> Any:
    """`not a`."""
    if not staging.is_staged(a):
        return not a

    return logical_not(a)


def none_of(*flags: Any) -> Any:
    """Whether no jump was taken, by the flags that say so."""
    found: Any = False
    for flag in flags:
        if not staging.is_staged(flag):
            if flag:
                return False
        elif found is False:
            found = flag
        else:
            found = logical_or(found, flag)
    return not_(found)


def and_(a: TensorLike, b: Callable[[], Any]) -> Any:
    """`a and b()`."""
    if not staging.is_staged(a):
        return a and b()
    return choose(staging.condition(a, "logical expression"), b, lambda: a, "and")


def or_(a: TensorLike, b: Callable[[], Any]) -> Any:
    """`a or b()`."""
    if not staging.is_staged(a):
        return a or b()
    return choose(staging.condition(a, "logical expression"), lambda: a, b, "or")


def chained(left: Any, signs: tuple[str, ...], operands: tuple[Callable[[], Any], ...]) -> Any:
    """`left < b() <= c()`: each operand is evaluated once, and only if the comparisons before it hold."""
    right = operands[0]()
    holds = _SIGNS[signs[0]](left, right)
    if len(signs) == 1:
        return holds
    return and_(holds, lambda: chained(right, signs[1:], operands[1:]))


def eq(a: TensorLike, b: TensorLike) -> Any:
    """`a == b`, elementwise where one is a staged tensor."""
    if staging.is_staged(a) or staging.is_staged(b):
        return equal(a, b)
    return a == b


def not_eq(a: TensorLike, b: TensorLike) -> Any:
    """`a != b`, elementwise where one is a staged tensor."""
    return not_(eq(a, b))
