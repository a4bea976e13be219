"""Assertions about ranks and shapes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.public import public
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.sizes import Rank, Shape
from tapeflow.ops.control import grouping
from tapeflow.ops.control.assert_op import Assert, name_of, prefix, staged_check
from tapeflow.ops.math import comparison, logic
from tapeflow.ops.static import static_value


def _rank_number(rank) -> int | None:
    """A rank to compare with; None where it is only known when the graph runs."""
    value = static_value(rank)
    if value is None:
        if not rank.dtype.is_integer:
            raise TypeError(f"{rank} must be of type tf.int32")
        if rank.shape.rank:
            raise ValueError("Rank must be a scalar.")
        return None
    if value.dtype.kind not in "iu":
        raise TypeError(f"{rank} must be of type tf.int32")
    if value.ndim:
        raise ValueError("Rank must be a scalar.")
    return int(value)


def _as_tensor(x: Any) -> Any:
    """A tensor, or a sparse tensor whose rank is known as it is."""
    return x if isinstance(x, SparseTensor) and x.shape.rank is not None else convert_to_tensor(x)


def _shape_of(x: Any) -> Any:
    return x.dense_shape if isinstance(x, SparseTensor) else Shape(x)


def _require_rank(x: Tensor, holds: Callable[..., Any], words: str, message: str | None) -> None:
    rank = x.shape.rank
    if rank is not None and not holds(rank):
        raise ValueError(
            f"{prefix(message)}Tensor  must have rank {words}.  Received rank {rank}, shape {x.shape}"
        )


def _rank_assertion(
    public_name: str, function: Callable[..., Any], x: Any, ranks: Any, holds: Callable[..., Any],
    words: Callable[..., Any], message: str | None, name: str | None, data: Sequence[Tensor | str] | None = None,
    summarize=None,
):
    """Checks the rank now, or when the graph runs if it or one of `ranks` is not known yet.

    `function` does so for a value, `holds(rank, ranks)` says whether it is right, also of tensors. What is raised
    when the graph runs shows `data`, if it is given, and not the message.
    """
    x = _as_tensor(x)
    given = ranks if isinstance(ranks, (list, tuple)) else [ranks]
    numbers = tuple(_rank_number(r) for r in given)
    if None in numbers or x.shape.rank is None:
        manner = words(("",)).strip()
        told = f"Tensor {name_of(x)} must have rank {manner}".rstrip()
        shown = [prefix(message), told, *given, "Received shape: ", Shape(x)]

        def condition():
            odd = [r for r in given if is_tensor(r) and r.shape.rank is None]
            checks = [
                Assert(comparison.equal(Rank(r), 0), ["Rank must be a scalar. Received rank: ", r])
                for r in odd
            ]
            with grouping.control_dependencies(checks):
                return holds(Rank(x), given)

        return staged_check(
            lambda v: function(v[0], v[1], message), [x, ranks], condition,
            shown if data is None else list(data), name or public_name, summarize,
        )  # fmt: skip
    _require_rank(x, lambda r: holds(r, numbers), words(numbers), message)
    return grouping.no_op(name)


def _is_one_of(rank: TensorLike, ranks: Sequence[int]):
    found = [comparison.equal(rank, r) if is_tensor(rank) else rank == r for r in ranks]
    if not is_tensor(rank):
        return any(found)
    return functools.reduce(logic.logical_or, found)


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
        tensor = _as_tensor(tensor.deref() if hasattr(tensor, "deref") else tensor)
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
                    f"{prefix(message)}{where}.  {words} dimension {place} must have size {wanted}.  "
                    f"Received size {size}, shape {tensor.shape}"
                )
    if not later:
        return grouping.no_op(name)
    with context.name_scope(name or "assert_shapes"):
        return grouping.group(*_size_assertions(later, known, data, summarize, message))


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
        shape = _shape_of(tensor)
        # A scalar and a vector of one element are the same here.
        size = (concat([shape, [1]], 0) if place == 0 else shape)[place]
        if isinstance(symbol, (int, np.integer)) or str(symbol).isdigit():
            wanted, where = int(symbol), "Specified explicitly"
        elif symbol in known:
            wanted, where = known[symbol]
        else:
            known[symbol] = size, f"Specified by tensor {name_of(tensor)} dimension {place}"
            continue
        told = f"Tensor {name_of(tensor)} dimension"
        shown = [prefix(message), where, told, place, "must have size", wanted, "Received shape: ", shape]
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
