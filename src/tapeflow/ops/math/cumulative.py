"""Running sums, products and log-sums along one axis."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.math import arithmetic, choice, comparison, division_no_nan, elementwise
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import FLOATING, INDEX, NUMERIC, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

ATTRS = {"exclusive": False, "reverse": False}


def _scan(
    name: str, types, accumulate: Callable[..., Any], start: float, reference: Callable[..., Any]
):
    """The row of a running total: `accumulate(xp, x, axis)` totals it up, `start` is the total of nothing."""

    @op(name, "x: T, axis: Tidx -> out: T", types={"T": types, "Tidx": Preferring(INDEX)}, attrs=ATTRS,
        shape=shapes.same_as_first, rounds=True)  # fmt: skip
    def row(xp: ModuleType, x, axis, exclusive: bool, reverse: bool):
        axis = _scan_axis(axis, x.ndim)
        if reverse:
            x = xp.flip(x, axis)
        total = accumulate(xp, x, axis).astype(x.dtype)
        if exclusive:
            first = (*(slice(None),) * axis, slice(0, 1))
            but_last = (*(slice(None),) * axis, slice(0, -1))
            total = xp.concatenate([xp.full_like(x[first], start), total[but_last]], axis)
        return xp.flip(total, axis) if reverse else total

    @row.samples
    def _(rng: SampleGenerator):
        yield Sample(rng.normal(3, 4), 0)
        yield Sample(rng.normal(3, 4), -1, exclusive=True)
        yield Sample(rng.normal(2, 3, 2), 1, reverse=True)
        yield Sample(rng.normal(5), np.asarray(0, np.int64), exclusive=True, reverse=True)
        yield Sample(rng.normal(0, 3), 0)
        yield Sample(rng.normal(2, 0), 1, exclusive=True)
        yield Sample(rng.normal(3), 1, raises=InvalidArgumentError)
        yield Sample(rng.normal(3), -2, raises=InvalidArgumentError)
        yield Sample(rng.normal(3), np.array([0, 0]), raises=InvalidArgumentError)
        yield Sample(np.asarray(rng.normal()), 0, raises=InvalidArgumentError)

    row.compiled(static="axis")
    row.batching(batching.along(1, 0))

    @row.reference
    def _(x: np.ndarray, axis: np.ndarray, exclusive: bool, reverse: bool):
        lines = np.moveaxis(x, int(axis), -1)
        out = np.zeros_like(lines)
        for at in np.ndindex(lines.shape):
            *line, i = at
            values = lines[tuple(line)].tolist()
            parts = values[i + exclusive :] if reverse else values[: i + 1 - exclusive]
            out[at] = reference(parts)
        return np.moveaxis(out, -1, int(axis))

    return row


def _scan_axis(axis: np.ndarray, rank: int) -> int:
    axis = np.asarray(axis)
    if axis.ndim:
        raise invalid(f"ScanOp: axis must be a scalar, not {shape_text(axis.shape)}")
    if not -rank <= axis < rank:
        raise invalid(f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {axis}")
    return int(axis) % rank


Cumsum = _scan("Cumsum", NUMERIC, lambda xp, x, axis: xp.cumsum(x, axis, dtype=x.dtype), 0, sum)


@Cumsum.gradient(needs="axis")
def _(call: GradientCall, dy: Tensor):
    return Cumsum(dy, call.axis, call.exclusive, not call.reverse), None


@api("math.cumsum", "cumsum")
@tensor_function
def cumsum(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Compute the running sum along `axis`.

    Args:
      x: a numeric tensor.
      axis: the axis, in [-rank, rank).
      exclusive: whether each sum leaves out its own element, so that the first one is 0.
      reverse: whether to start from the end.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `x`.

    Raises:
      InvalidArgumentError: for an axis out of range.

    >>> tf.cumsum([1, 2, 3])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 3, 6], dtype=int32)>
    >>> tf.cumsum([1, 2, 3], exclusive=True, reverse=True)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([5, 3, 0], dtype=int32)>
    """
    return Cumsum(x, axis, exclusive, reverse)


Cumprod = _scan(
    "Cumprod", NUMERIC, lambda xp, x, axis: xp.cumprod(x, axis, dtype=x.dtype), 1, math.prod
)


@Cumprod.gradient(needs="x, axis, out")
def _(call: GradientCall, dy: Tensor):
    products = arithmetic.Mul(dy, conj(call.out))
    totals = Cumsum(products, call.axis, call.exclusive, not call.reverse)
    return division_no_nan.DivNoNan(totals, conj(call.x)), None


@api("math.cumprod", v1="cumprod")
@tensor_function
def cumprod(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Compute the running product along `axis`.

    Args:
      x: a numeric tensor.
      axis: the axis, in [-rank, rank).
      exclusive: whether each product leaves out its own element, so that the first one is 1.
      reverse: whether to start from the end.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `x`.

    Raises:
      InvalidArgumentError: for an axis out of range.

    >>> tf.math.cumprod([2, 3, 4])
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([ 2,  6, 24], dtype=int32)>
    """
    return Cumprod(x, axis, exclusive, reverse)


def _log_add(xp: ModuleType, x: Array, axis: int):
    if xp is np:
        return np.logaddexp.accumulate(x, axis) if x.dtype.itemsize > 2 else _log_add_half(x, axis)
    return importlib.import_module("jax.lax").associative_scan(xp.logaddexp, x, axis=axis)


def _log_add_half(x, axis):
    return np.logaddexp.accumulate(x.astype(np.float32), axis)


CumulativeLogsumexp = _scan(
    "CumulativeLogsumexp",
    FLOATING,
    _log_add,
    -math.inf,
    lambda v: math.log(math.fsum(math.exp(a) for a in v)) if v else -math.inf,
)


@CumulativeLogsumexp.gradient(needs="x, axis, out")
def _(call: GradientCall, dy: Tensor):
    """Sums of both signs of `dy` times exp(x - out), added up as logarithms, so that nothing overflows."""
    x, out = call.x, call.out

    def part(sign):
        held = comparison.Greater(arithmetic.Mul(dy, sign), 0)
        size = choice.SelectV2(held, arithmetic.Mul(dy, sign), 1)
        logs = choice.SelectV2(held, elementwise.Log(size), -math.inf)
        terms = choice.SelectV2(held, arithmetic.Sub(logs, out), -math.inf)
        totals = CumulativeLogsumexp(terms, call.axis, call.exclusive, not call.reverse)
        return elementwise.Exp(arithmetic.AddV2(totals, x))

    return arithmetic.Sub(part(1.0), part(-1.0)), None


@api("math.cumulative_logsumexp")
@tensor_function
def cumulative_logsumexp(
    x: TensorLike,
    axis: TensorLike = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Compute the running `log(sum(exp(x)))` along `axis` without overflow.

    Args:
      x: a floating tensor.
      axis: the axis, in [-rank, rank).
      exclusive: whether each sum leaves out its own element, so that the first one is -inf.
      reverse: whether to start from the end.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `x`.

    Raises:
      InvalidArgumentError: for an axis out of range.
    """
    return CumulativeLogsumexp(x, axis, exclusive, reverse)
