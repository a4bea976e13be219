"""Assertions about values, dtypes and shapes, with TensorFlow's texts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api, api_value
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, FloatLike, IntLike, TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import public
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.rows import Rank, Shape
from tapeflow.ops.control import flow as control
from tapeflow.ops.control.printing import tensor_text
from tapeflow.ops.math import comparison, elementwise, reduction
from tapeflow.ops.static import concrete_value, static_value
from tapeflow.ops.validate import invalid


def _prefix(message: str | None) -> str:
    return f"{message}.  " if message else ""


def _described(name: str, x: Tensor) -> str:
    return f"{name} (shape={x.shape} dtype={x.dtype.name}) = "


def _flat(item: Any, summarize: int | None) -> tuple[list, bool]:
    """The first elements of `item`, and whether there are more. None or 3 elements; -1: all."""
    values = concrete_value(convert_to_tensor(item))
    flat = values.ravel()
    limit = flat.size if summarize == -1 else (3 if summarize is None else summarize)
    return list(flat[:limit]), flat.size > limit


def _summary(item: Any, summarize: int | None) -> str:
    values, more = _flat(item, summarize)
    return ", ".join([str(v) for v in values] + ["..."] * more)


@api("debugging.Assert", "Assert")
@public
def Assert(condition: TensorLike, data: Any, summarize: Any = None, name: str | None = None):
    """Raise an error, showing tensors, unless a condition holds.

    Args:
      condition: a scalar bool.
      data: a list of tensors to show.
      summarize: how many elements of each to show; None: 3.
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph the operation that checks.

    Raises:
      InvalidArgumentError: where the condition does not hold.
    """
    if control.staged(condition):
        return control.staging.assertion(condition, data, summarize, name)
    return check(condition, data, summarize)


def check(condition: Any, data: Any, summarize=None):
    """The assertion, on values."""
    if not condition:
        text = "\n".join(_summary(item, summarize) for item in data)
        raise invalid(f"Expected '{condition!s}' to be true. Summarized data: {text}")


def _pretty(item: Any, summarize: int | None) -> str:
    if not hasattr(item, "numpy"):
        return str(item)
    if not len(item.shape):
        return str(item.numpy())
    values, more = _flat(item, summarize)
    return str([str(v) for v in values] + ["..."] * more)


def _elements(x: np.ndarray, summarize: int) -> tuple[int, np.ndarray]:
    count = min(summarize, x.size) if summarize >= 0 else x.size
    return count, x.ravel()[:count]


def _in_brackets(values: np.ndarray, limit: int) -> str:
    """The first elements of an array as a failed assertion of a graph shows them: rows in brackets."""
    if values.ndim <= 1:
        words = [
            v.decode(errors="replace") if isinstance(v, bytes) else tensor_text(np.asarray(v))
            for v in values.ravel()[:limit]
        ]
        return " ".join(words) + ("..." if values.size > limit else "")
    rows, left = [], limit
    for row in values:
        if left <= 0:
            break
        rows.append(f"[{_in_brackets(row, left)}]")
        left -= row.size
    return "".join(rows) + ("..." if left < 0 else "")


def failed_in_graph(data, summarize) -> Exception:
    """The error of an assertion in a graph, which shows `data` one behind the other."""
    texts = []
    for item in data:
        if isinstance(item, str):
            texts.append(item)
            continue
        values = np.asarray(concrete_value(convert_to_tensor(item)))
        texts.append(_in_brackets(values, values.size if summarize == -1 else summarize or 3))
    return invalid("assertion failed: " + " ".join(f"[{text}]" for text in texts))


def _name_of(x: Tensor) -> str:
    return "" if x is None or hasattr(x, "numpy") else getattr(x, "name", "")


def _named(name: str, x: Tensor) -> str:
    return f"{name} ({_name_of(x)}) = "


def _staged_check(
    function: Callable[..., Any], values: Any, condition: Callable[..., Any], data: Any, name: str, summarize=None
):
    """`function(values)`, which raises, now where all tensors in `values` are constants; else when the graph runs.

    That is an operation, which is returned, that shows the texts and tensors `data` unless `condition()` holds.
    """
    leaves = nest.flatten(values)
    known = [static_value(x) if is_tensor(x) else x for x in leaves]
    if any(is_tensor(x) and value is None for x, value in zip(leaves, known, strict=True)):
        with context.name_scope(name):
            return control.staging.assertion(condition(), data, summarize, "Assert")
    with context.eager_mode():
        tensors = [
            convert_to_tensor(v) if is_tensor(x) else x for x, v in zip(leaves, known, strict=True)
        ]
        function(nest.pack_sequence_as(values, tensors))
    return control.no_op(name)


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
    if control.staged(found):
        words = f"Condition x {relation} y did not hold element-wise:"
        told = [words, _named("x", x), x, _named("y", y), y] if data is None else list(data)
        return _staged_check(
            lambda v: _binary(relation, function, v[0], v[1], v[2], summarize, message),
            [x, y, data],
            lambda: reduction.reduce_all(found),
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
    staged = control.staged(x, y)

    def holds():
        limit = atol + rtol * elementwise.abs(y)
        return reduction.reduce_all(comparison.less_equal(elementwise.abs(x - y), limit))

    told = _named if staged else _described
    shown = [
        _prefix(message),
        f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}",
        told("x", x),
        x,
        told("y", y),
        y,
    ]
    shown = shown if data is None else list(data)
    if staged:
        return _staged_check(
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
        if control.staged(x):
            words = f"Condition x {relation} 0 did not hold element-wise:"
            return _staged_check(
                lambda v: assertion_v1(*v, summarize, message),
                [x, data],
                lambda: reduction.reduce_all(function(x, convert_to_tensor(0, dtype=x.dtype))),
                [_prefix(message), words, _named("x", x), x] if data is None else list(data),
                name or public_name,
                summarize,
            )
        if concrete_value(function(x, convert_to_tensor(0, dtype=x.dtype))).all():
            return None
        if data is None:
            words = [f"Condition x {relation} 0 did not hold element-wise:", _described("x", x)]
            data = [_prefix(message), *(["".join(words)] if joined else words), x]
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


def _rank_number(rank) -> int | None:
    """A rank to compare with; None where it is only known when the graph runs."""
    value = static_value(rank)
    if value is None:
        if not rank.dtype.is_integer:
            raise TypeError(f"{rank} must be of integer type")
        if rank.shape.rank:
            raise ValueError("Rank must be a scalar.")
        return None
    if value.dtype.kind not in "iu":
        raise TypeError(f"{rank} must be of integer type")
    if value.ndim:
        raise ValueError("Rank must be a scalar.")
    return int(value)


def _require_rank(x: Tensor, holds: Callable[..., Any], words: str, message: str | None) -> None:
    rank = x.shape.rank
    if rank is not None and not holds(rank):
        raise ValueError(
            f"{_prefix(message)}Tensor  must have rank {words}.  Received rank {rank}, shape {x.shape}"
        )


def _rank_assertion(
    public_name: str, function: Callable[..., Any], x: TensorLike, ranks: Any, holds: Callable[..., Any],
    words: Callable[..., Any], message: str | None, name: str | None, data: Sequence[Tensor | str] | None = None,
    summarize=None,
):
    """Checks the rank now, or when the graph runs if it or one of `ranks` is not known yet.

    `function` does so for a value, `holds(rank, ranks)` says whether it is right, also of tensors. What is raised
    when the graph runs shows `data`, if it is given, and not the message.
    """
    x = convert_to_tensor(x)
    given = ranks if isinstance(ranks, (list, tuple)) else [ranks]
    numbers = tuple(_rank_number(r) for r in given)
    if None in numbers or x.shape.rank is None:
        manner = words(("",)).strip()
        told = f"Tensor {_name_of(x)} must have rank {manner}".rstrip()
        shown = [_prefix(message), told, *given, "Received shape: ", Shape(x)]

        def condition():
            odd = [r for r in given if is_tensor(r) and r.shape.rank is None]
            checks = [
                Assert(comparison.equal(Rank(r), 0), ["Rank must be a scalar. Received rank: ", r])
                for r in odd
            ]
            with control.control_dependencies(checks):
                return holds(Rank(x), given)

        return _staged_check(
            lambda v: function(v[0], v[1], message), [x, ranks], condition,
            shown if data is None else list(data), name or public_name, summarize,
        )  # fmt: skip
    _require_rank(x, lambda r: holds(r, numbers), words(numbers), message)
    return control.no_op(name)


def _is_one_of(rank: TensorLike, ranks: Sequence[int]):
    found = [comparison.equal(rank, r) if is_tensor(rank) else rank == r for r in ranks]
    if not is_tensor(rank):
        return any(found)
    return functools.reduce(comparison.logical_or, found)


@api(v2=("debugging.assert_rank", "assert_rank"))
@public
def assert_rank(x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None):
    """Check that a tensor has a number of dimensions.

    Args:
      x: a tensor.
      rank: the number of dimensions, a scalar integer.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph the operation that checks.

    Raises:
      ValueError: where it has another one; in a graph, where that is known.
    """
    return assert_rank_v1(x, rank, None, None, message, name)


@api(v1=("debugging.assert_rank", "assert_rank"))
@public
def assert_rank_v1(
    x: TensorLike, rank: TensorLike, data=None, summarize: TensorLike | None = None, message: str | None = None,
    name: str | None = None,
):
    """`assert_rank` with the 1.x order of arguments; `data` is shown where it fails while a graph runs.

    Args:
      x: a tensor.
      rank: a scalar, the rank.
      data: tensors that are shown where the assertion fails while a graph runs.
      summarize: how many elements of each tensor are shown.
      message: what the error begins with.
      name: a name for the operation (optional).
    """
    return _rank_assertion(
        "assert_rank", assert_rank, x, rank, _is_one_of, lambda n: str(n[0]), message, name, data, summarize
    )


@api(v2="debugging.assert_rank_at_least")
@public
def assert_rank_at_least(x: TensorLike, rank: TensorLike, message: str | None = None, name: str | None = None):
    """Check that a tensor has at least a number of dimensions.

    Args:
      x: a tensor.
      rank: the number of dimensions, a scalar integer.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph the operation that checks.

    Raises:
      ValueError: where it has fewer; in a graph, where that is known.
    """
    return assert_rank_at_least_v1(x, rank, None, None, message, name)


@api(v1=("debugging.assert_rank_at_least", "assert_rank_at_least"))
@public
def assert_rank_at_least_v1(
    x: TensorLike, rank: TensorLike, data=None, summarize: TensorLike | None = None, message: str | None = None,
    name: str | None = None,
):
    """`assert_rank_at_least` with the 1.x order of arguments; see `assert_rank_v1` for `data`.

    Args:
      x: a tensor.
      rank: a scalar, the rank.
      data: tensors that are shown where the assertion fails while a graph runs.
      summarize: how many elements of each tensor are shown.
      message: what the error begins with.
      name: a name for the operation (optional).
    """
    return _rank_assertion(
        "assert_rank_at_least", assert_rank_at_least, x, rank, lambda r, n: r >= n[0],
        lambda n: f"at least {n[0]}", message, name, data, summarize,
    )  # fmt: skip


@api(v2="debugging.assert_rank_in")
@public
def assert_rank_in(x: TensorLike, ranks: Sequence[int], message: str | None = None, name: str | None = None):
    """Check that the number of dimensions of a tensor is one of several.

    Args:
      x: a tensor.
      ranks: a list of scalar integers.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph the operation that checks.

    Raises:
      ValueError: where it is none of them; in a graph, where that is known.
    """
    return assert_rank_in_v1(x, ranks, None, None, message, name)


@api(v1=("debugging.assert_rank_in", "assert_rank_in"))
@public
def assert_rank_in_v1(
    x: TensorLike, ranks: Sequence[int], data=None, summarize: TensorLike | None = None, message: str | None = None,
    name: str | None = None,
):
    """`assert_rank_in` with the 1.x order of arguments; see `assert_rank_v1` for `data`.

    Args:
      x: a tensor.
      ranks: scalars, the ranks that are allowed.
      data: tensors that are shown where the assertion fails while a graph runs.
      summarize: how many elements of each tensor are shown.
      message: what the error begins with.
      name: a name for the operation (optional).
    """
    return _rank_assertion(
        "assert_rank_in", assert_rank_in, x, list(ranks), _is_one_of,
        lambda n: f"in {n}" if n[0] != "" else "in", message, name, data, summarize,
    )  # fmt: skip


@api(v1=("debugging.assert_integer", "assert_integer"))
@public
def assert_integer(x: TensorLike, message: str | None = None, name: str | None = None):
    """Check that a tensor is of an integer dtype.

    Args:
      x: a tensor.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph an operation that does nothing.

    Raises:
      TypeError: for other dtypes.
    """
    x = convert_to_tensor(x)
    if not x.dtype.is_integer:
        raise TypeError(
            f'{_prefix(message)}Expected "x" to be integer type.  Found: tensor of dtype {x.dtype}'
        )
    return control.no_op(name)


@api(v1=("debugging.assert_type", "assert_type"))
@public
def assert_type(tensor: TensorLike, tf_type: DType, message: str | None = None, name: str | None = None):
    """Check that a tensor is of a dtype.

    Args:
      tensor: a tensor.
      tf_type: the dtype.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph an operation that does nothing.

    Raises:
      TypeError: for other dtypes.
    """
    wanted = dtypes.as_dtype(tf_type)
    found = convert_to_tensor(tensor).dtype
    if found != wanted:
        raise TypeError(
            f"{_prefix(message)}tensor must be of type tf.{wanted.name}; got tf.{found.name}"
        )
    return control.no_op(name)


@api(v1=("debugging.assert_scalar", "assert_scalar"))
@public
def assert_scalar(tensor: TensorLike, name: str | None = None, message: str | None = None):
    """Raise ValueError unless `tensor` has no dimensions.

    Args:
      tensor: a tensor.
      name: a name for the operation (optional).
      message: what the error begins with.
    """
    tensor = convert_to_tensor(tensor)
    if tensor.shape.rank != 0:
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {tensor.shape}.")
    return tensor


@api(v2="debugging.assert_scalar")
@public
def assert_scalar_v2(tensor: TensorLike, message: str | None = None, name: str | None = None):
    """Check that a tensor has no dimensions.

    Args:
      tensor: a tensor.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Raises:
      ValueError: where it has some.
    """
    assert_scalar(tensor, name, message)


@api("debugging.assert_same_float_dtype", v1="assert_same_float_dtype")
@public
def assert_same_float_dtype(tensors=None, dtype: DTypeLike | None = None):
    """Check that tensors have one floating dtype, and return it.

    Args:
      tensors: a list of tensors or None (optional).
      dtype: the dtype that they must have (optional).

    Returns:
      The dtype; float32 where there are neither tensors nor a dtype.

    Raises:
      ValueError: where dtypes differ, or are not floating.
    """
    first = None
    for tensor in [t for t in tensors or [] if t is not None]:
        found = tensor.dtype
        wanted = (
            dtypes.as_dtype(dtype)
            if dtype is not None
            else (first.dtype if first is not None else found)
        )
        if found != wanted:
            beside = "" if first is None or dtype is not None else f" as {first}"
            raise ValueError(
                f"{tensor}, type={found}, must be of the same type ({wanted}){beside}."
            )
        first = tensor if first is None else first
    kind = (
        dtypes.as_dtype(dtype)
        if dtype is not None
        else (dtypes.float32 if first is None else first.dtype)
    )
    if not kind.is_floating:
        raise ValueError(f"Expected floating point type, got {kind}.")
    return kind


@api("debugging.assert_proper_iterable", v1="assert_proper_iterable")
@public
def assert_proper_iterable(values: TensorLike):
    """Raises TypeError unless `values` is iterable and no tensor, array or string."""
    if hasattr(values, "dtype") or isinstance(values, (str, bytes)):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not isinstance(values, Iterable):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


@api("debugging.is_numeric_tensor", v1="is_numeric_tensor")
@public
def is_numeric_tensor(tensor: TensorLike):
    """Whether `tensor` is a tensor of numbers."""
    if not isinstance(tensor, Tensor):
        return False
    return tensor.dtype.is_integer or tensor.dtype.is_floating or tensor.dtype.is_complex


@api(v1="debugging.assert_shapes")
@public
def assert_shapes(
    shapes: Sequence[Any], data=None, summarize: TensorLike | None = None, message: str | None = None,
    name: str | None = None,
):
    """Check that tensors have shapes whose sizes may be symbols.

    Args:
      shapes: a list of pairs (tensor, shape), or a dict of those. In a shape, a number is a size; None and "."
        stand for any; every other symbol stands for one size wherever it comes; `...` at its start or end stands
        for any dimensions.
      data: what to show where the check fails as a graph runs; None: the condition and tensors (optional).
      summarize: how many elements of each tensor of `data` to show; None: 3.
      message: a text that begins the error (optional).
      name: a name for the operation (optional).

    Returns:
      None in eager execution; in a graph the operation that checks what was not known.

    Raises:
      ValueError: where a tensor does not have its shape.

    >>> tf.debugging.assert_shapes([(tf.zeros([2, 3]), ("N", "D")), (tf.zeros([3]), ("D",))])
    """
    pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    known: dict = {}
    later: list = []
    for tensor, symbols in pairs:
        if symbols is None or (isinstance(symbols, TensorShape) and symbols.rank is None):
            continue
        tensor = convert_to_tensor(tensor.deref() if hasattr(tensor, "deref") else tensor)
        words = f"Tensor shape={tensor.shape} dtype={tensor.dtype.name}"
        for place, size, symbol in _paired(tensor, symbols, words, message, data, summarize, later):
            if size is None:
                later.append((tensor, place, symbol))
                continue
            if isinstance(symbol, (int, np.integer)) or str(symbol).isdigit():
                wanted, where = int(symbol), "Specified explicitly"
            else:
                here = f"Specified by tensor {words[len('Tensor ') :]} dimension {place}"
                wanted, where = known.setdefault(symbol, (size, here))
            if size != wanted:
                raise ValueError(
                    f"{_prefix(message)}{where}.  {words} dimension {place} must have size {wanted}.  "
                    f"Received size {size}, shape {tensor.shape}"
                )
    if not later:
        return control.no_op(name)
    with context.name_scope(name or "assert_shapes"):
        return control.group(*_size_assertions(later, known, data, summarize, message))


def _size_assertions(
    later: Sequence[Any], known: dict, data: Sequence[Tensor | str] | None, summarize, message: str | None
) -> list:
    """The operations that check sizes which are known when the graph runs, and ranks, which are there already."""
    made = []
    for item in later:
        if not isinstance(item, tuple):
            made.append(item)
            continue
        tensor, place, symbol = item
        shape = Shape(tensor)
        # A scalar and a vector of one element are the same here.
        size = (concat([shape, [1]], 0) if place == 0 else shape)[place]
        if isinstance(symbol, (int, np.integer)) or str(symbol).isdigit():
            wanted, where = int(symbol), "Specified explicitly"
        elif symbol in known:
            wanted, where = known[symbol]
        else:
            known[symbol] = size, f"Specified by tensor {_name_of(tensor)} dimension {place}"
            continue
        told = f"Tensor {_name_of(tensor)} dimension"
        shown = [_prefix(message), where, told, place, "must have size", wanted, "Received shape: ", shape]
        made.append(Assert(comparison.equal(size, wanted), data or shown, summarize))
    return made


def _paired(
    tensor: Tensor, symbols: Any, words: str, message: str | None, data: Sequence[Tensor | str] | None, summarize,
    later: list,
) -> list:
    """(dimension, size, symbol) of every dimension of `tensor` whose size is specified.

    A size is None where it is not known; the check of a rank that is not known is added to `later`.
    """
    if not (hasattr(symbols, "__iter__") or hasattr(symbols, "__getitem__")):
        raise ValueError(
            f"{words}.  Specified shape must be an iterable.  An iterable has the attribute `__iter__` or "
            f"`__getitem__`.  Received specified shape: {symbols}"
        )
    symbols = symbols.as_list() if isinstance(symbols, TensorShape) else list(symbols)
    for i, symbol in enumerate(symbols[1:], 1):
        if symbol is Ellipsis or symbol == "*":
            raise ValueError(
                f"{words} specified shape index {i}.  Symbol `...` or `*` for a variable number of "
                "unspecified dimensions is only allowed as the first entry"
            )
    outer = bool(symbols) and (symbols[0] is Ellipsis or symbols[0] == "*")
    symbols = symbols[1:] if outer else symbols
    count = len(symbols)
    unknown = tensor.shape.rank is None
    if outer:
        if unknown:
            later.append(assert_rank_at_least_v1(tensor, count, data, summarize, message))
        _require_rank(tensor, lambda r: r >= count, f"at least {count}", message)
    elif count <= 1:
        if unknown:
            later.append(assert_rank_in_v1(tensor, (0, 1), data, summarize, message))
        _require_rank(tensor, lambda r: r <= 1, "in (0, 1)", message)
        symbols = symbols or [1]
    else:
        if unknown:
            later.append(assert_rank_v1(tensor, count, data, summarize, message))
        _require_rank(tensor, lambda r: r == count, str(count), message)
    # A scalar and a vector of one element are the same here.
    sizes = [None] * len(symbols) if unknown else tensor.shape.as_list() or [1]
    first = -len(symbols) if outer else 0
    places = range(first, first + len(symbols))
    return [
        (place, sizes[place], symbol)
        for place, symbol in zip(places, symbols, strict=True)
        if symbol is not None and symbol != "."
    ]
