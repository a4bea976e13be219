"""Assertions about values, with TensorFlow's texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api, api_value
from tapeflow.core import dtypes
from tapeflow.core.annotations import FloatLike, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.ops.control import staging
from tapeflow.ops.control.assert_op import (
    Assert,
    _described,
    _elements,
    _named,
    _pretty,
    prefix,
    staged_check,
)
from tapeflow.ops.math import comparison, elementwise, reductions
from tapeflow.ops.static import concrete_value
from tapeflow.ops.validate import invalid

_BINARY_NAMES = {
    "==": "assert_equal",
    "!=": "assert_none_equal",
    "<": "assert_less",
    "<=": "assert_less_equal",
    ">": "assert_greater",
    ">=": "assert_greater_equal",
}


def _binary(relation: str, function, x: Any, y: Any, data, summarize, message: str | None, name: str | None = None):
    """The assertion that `function` holds for all pairs."""
    x, y = _pair(x, y)
    found = function(x, y)
    if staging.staged(found):
        words = f"Condition x {relation} y did not hold element-wise:"
        told = [words, _named("x", x), x, _named("y", y), y] if data is None else list(data)
        return staged_check(
            lambda v: _binary(relation, function, v[0], v[1], v[2], summarize, message),
            [x, y, data],
            lambda: reductions.reduce_all(found),
            [message, *told] if message else told,
            name or _BINARY_NAMES[relation],
            summarize,
        )
    holds = concrete_value(found)
    if holds.all():
        return None
    if data is not None:
        text = (
            "\n".join([message, *(_pretty(d, summarize) for d in data)])
            if message
            else "\n".join(_pretty(d, summarize) for d in data)
        )
        raise invalid(text)
    summarize = 3 if summarize is None else summarize
    xs, ys = concrete_value(x), concrete_value(y)
    bad = np.argwhere(~holds)
    shown = len(bad) if summarize < 0 else min(summarize, len(bad))
    bad = bad[:shown]
    wide_x, wide_y = np.broadcast_arrays(xs, ys)
    at = tuple(bad.T)
    n_x, first_x = _elements(xs, summarize)
    n_y, first_y = _elements(ys, summarize)
    lead = f"{message}\n" if message else ""
    raise invalid(
        f"{lead}Condition x {relation} y did not hold.\n"
        f"Indices of first {shown} different values:\n{bad}\n"
        f"Corresponding x values:\n{wide_x[at]}\n"
        f"Corresponding y values:\n{wide_y[at]}\n"
        f"First {n_x} elements of x:\n{first_x}\n"
        f"First {n_y} elements of y:\n{first_y}"
    )


def _pair(x: TensorLike, y: TensorLike):
    if hasattr(y, "dtype") and not hasattr(x, "dtype"):
        y = convert_to_tensor(y)
        return convert_to_tensor(x, dtype=y.dtype), y
    x = convert_to_tensor(x)
    return x, y if hasattr(y, "dtype") else convert_to_tensor(y, dtype=x.dtype)


def _described_check(what: str, operands: str, suffix: str) -> str:
    """The docstring of an assertion about elements; that of 1.x says what to show."""
    shown = "  data: a list of tensors to show; None: the condition and the operands.\n" if suffix else ""
    return f"""{what}

Args:
{operands}
{shown}  message: a text that begins the error (optional).
  summarize: how many elements of each tensor to show; None: 3.
  name: a name for the operation (optional).

Returns:
  None in eager execution; in a graph the operation that checks.

Raises:
  InvalidArgumentError: where it does not hold, with the elements.
"""


def _assertion(name: str, relation: str, function: Callable[..., Any]):
    def assertion(
        x: TensorLike, y: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ):
        return _binary(relation, function, x, y, None, summarize, message, name)

    def assertion_v1(
        x: Tensor, y: Tensor, data: Sequence[Tensor | str] | None = None, summarize: int | None = None,
        message: str | None = None, name: str | None = None,
    ):
        return _binary(relation, function, x, y, data, summarize, message, name)

    what = f"Check that `x {relation} y` holds for all elements, with broadcasting."
    operands = "  x, y: tensors of one dtype, whose shapes broadcast."
    for f, suffix in ((assertion, ""), (assertion_v1, "_v1")):
        f.__name__ = f.__qualname__ = name + suffix
        f.__doc__ = _described_check(what, operands, suffix)
    return public(assertion), public(assertion_v1)


assert_equal, assert_equal_v1 = _assertion("assert_equal", "==", comparison.equal)
api_value("assert_equal", v2=("debugging.assert_equal", "assert_equal"))
api_value("assert_equal_v1", v1=("debugging.assert_equal", "assert_equal"))
assert_less, assert_less_v1 = _assertion("assert_less", "<", comparison.less)
api_value("assert_less", v2=("debugging.assert_less", "assert_less"))
api_value("assert_less_v1", v1=("debugging.assert_less", "assert_less"))
assert_less_equal, assert_less_equal_v1 = _assertion(
    "assert_less_equal", "<=", comparison.less_equal
)
api_value("assert_less_equal", v2="debugging.assert_less_equal")
api_value("assert_less_equal_v1", v1=("debugging.assert_less_equal", "assert_less_equal"))
assert_greater, assert_greater_v1 = _assertion("assert_greater", ">", comparison.greater)
api_value("assert_greater", v2=("debugging.assert_greater", "assert_greater"))
api_value("assert_greater_v1", v1=("debugging.assert_greater", "assert_greater"))
assert_greater_equal, assert_greater_equal_v1 = _assertion(
    "assert_greater_equal", ">=", comparison.greater_equal
)
api_value("assert_greater_equal", v2="debugging.assert_greater_equal")
api_value("assert_greater_equal_v1", v1=("debugging.assert_greater_equal", "assert_greater_equal"))


@api(v2="debugging.assert_none_equal")
@public
def assert_none_equal(
    x: TensorLike, y: TensorLike, summarize: IntLike | None = None, message: str | None = None,
    name: str | None = None,
):
    """Check that two tensors differ in all elements.

    Args:
      x, y: tensors of one dtype, whose shapes broadcast.
      summarize: how many elements of each tensor to show; None: 3.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph the operation that checks.

    Raises:
      InvalidArgumentError: where any pair of elements is equal.
    """
    return _binary("!=", comparison.not_equal, x, y, None, summarize, message, name)


@api(v1=("debugging.assert_none_equal", "assert_none_equal"))
@public
def assert_none_equal_v1(
    x: TensorLike, y: TensorLike, data: TensorLike | None = None, summarize: IntLike | None = None,
    message: str | None = None, name: str | None = None,
):
    """`assert_none_equal` with the 1.x argument `data`, shown instead of the elements.

    Args:
      x: a tensor.
      y: a tensor that broadcasts with `x`.
      data: tensors that are shown where the assertion fails while a graph runs.
      summarize: how many elements of each tensor are shown.
      message: what the error begins with.
      name: a name for the operation (optional).
    """
    return _binary("!=", comparison.not_equal, x, y, data, summarize, message, name)


@api(v2="debugging.assert_near")
@public
def assert_near(
    x: TensorLike, y: TensorLike, rtol: FloatLike | None = None, atol: TensorLike | None = None,
    message: str | None = None, summarize: IntLike | None = None, name: str | None = None,
):
    """Check that two tensors are equal but for small differences: `|x - y| <= atol + rtol * |y|`.

    Args:
      x, y: floating or complex tensors, whose shapes broadcast.
      rtol: the relative tolerance; None: ten times the epsilon of the dtype.
      atol: the absolute tolerance; None: the same.
      message: a text that begins the error (optional).
      summarize: how many elements of each tensor to show; None: 3.
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph the operation that checks.

    Raises:
      InvalidArgumentError: where it does not hold for all elements.
    """
    return assert_near_v1(x, y, rtol, atol, None, summarize, message, name=name)


@api(v1=("debugging.assert_near", "assert_near"))
@public
def assert_near_v1(x, y, rtol=None, atol=None, data=None, summarize=None, message=None, name=None):
    """`assert_near` with the 1.x argument `data`.

    Args:
      x: a tensor.
      y: a tensor that broadcasts with `x`.
      rtol: the tolerance relative to `y`; None: 10 times the precision of the dtype.
      atol: the absolute tolerance; None: 10 times the precision of the dtype.
      data: tensors that are shown where the assertion fails while a graph runs.
      summarize: how many elements of each tensor are shown.
      message: what the error begins with.
      name: a name for the operation (optional).
    """
    x = convert_to_tensor(x)
    y = convert_to_tensor(y, dtype=x.dtype)
    kind = x.dtype.real_dtype
    eps = 10 * float(np.finfo(kind.as_numpy_dtype).eps) if kind != dtypes.bfloat16 else 10 * 2.0**-7
    rtol = convert_to_tensor(eps if rtol is None else rtol, dtype=kind)
    atol = convert_to_tensor(eps if atol is None else atol, dtype=kind)
    staged = staging.staged(x, y)

    def holds():
        limit = atol + rtol * elementwise.abs(y)
        return reductions.reduce_all(comparison.less_equal(elementwise.abs(x - y), limit))

    told = _named if staged else _described
    shown = [
        prefix(message),
        f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}",
        told("x", x),
        x,
        told("y", y),
        y,
    ]
    shown = shown if data is None else list(data)
    if staged:
        return staged_check(
            lambda v: assert_near_v1(*v, summarize, message),
            [x, y, rtol, atol, data],
            holds,
            shown,
            name or "assert_near",
            summarize,
        )
    return Assert(holds(), shown, summarize)


def _sign_assertion(public_name: str, relation: str, function: Callable[..., Any], joined: bool = False):
    def assertion(x: TensorLike, message: str | None = None, summarize: int | None = None, name: str | None = None):
        return assertion_v1(x, None, summarize, message, name)

    def assertion_v1(x, data=None, summarize=None, message=None, name=None):
        x = convert_to_tensor(x)
        if staging.staged(x):
            words = f"Condition x {relation} 0 did not hold element-wise:"
            return staged_check(
                lambda v: assertion_v1(*v, summarize, message),
                [x, data],
                lambda: reductions.reduce_all(function(x, convert_to_tensor(0, dtype=x.dtype))),
                [prefix(message), words, _named("x", x), x] if data is None else list(data),
                name or public_name,
                summarize,
            )
        if concrete_value(function(x, convert_to_tensor(0, dtype=x.dtype))).all():
            return None
        if data is None:
            words = [f"Condition x {relation} 0 did not hold element-wise:", _described("x", x)]
            data = [prefix(message), *(["".join(words)] if joined else words), x]
        raise invalid("\n".join(_pretty(d, summarize) for d in data))

    what = f"Check that `x {relation} 0` holds for all elements."
    for f, suffix in ((assertion, ""), (assertion_v1, "_v1")):
        f.__name__ = f.__qualname__ = public_name + suffix
        f.__doc__ = _described_check(what, "  x: a real tensor.", suffix)
    return public(assertion), public(assertion_v1)


assert_positive, assert_positive_v1 = _sign_assertion("assert_positive", ">", comparison.greater)
api_value("assert_positive", v2="debugging.assert_positive")
api_value("assert_positive_v1", v1=("debugging.assert_positive", "assert_positive"))
assert_negative, assert_negative_v1 = _sign_assertion("assert_negative", "<", comparison.less)
api_value("assert_negative", v2="debugging.assert_negative")
api_value("assert_negative_v1", v1=("debugging.assert_negative", "assert_negative"))
assert_non_negative, assert_non_negative_v1 = _sign_assertion(
    "assert_non_negative", ">=", comparison.greater_equal
)
api_value("assert_non_negative", v2="debugging.assert_non_negative")
api_value("assert_non_negative_v1", v1=("debugging.assert_non_negative", "assert_non_negative"))
assert_non_positive, assert_non_positive_v1 = _sign_assertion(
    "assert_non_positive", "<=", comparison.less_equal, joined=True
)
api_value("assert_non_positive", v2="debugging.assert_non_positive")
api_value("assert_non_positive_v1", v1=("debugging.assert_non_positive", "assert_non_positive"))
