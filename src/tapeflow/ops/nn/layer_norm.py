"""Normalization of rows: each gets mean 0 and variance 1, then a factor and an offset of its own for every column."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.construction import ones, zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import ExpandDims, reshape
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.sizes import size
from tapeflow.ops.control.flow import cond
from tapeflow.ops.derived import vjp
from tapeflow.ops.math import elementwise, reductions
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, SampleGenerator, ShapeCall

_TYPES = {"T": (dtypes.float32, dtypes.float64)}


def _given(weights: Tensor, x: Tensor, filled: Callable[..., Any]):
    """The weights of the columns of `x`, by default `filled`; None for weights that are known to be left out."""
    sizes = [None] if weights.shape.rank is None else weights.shape.as_list()
    if 0 in sizes:
        return None
    if any(sizes):
        return weights
    return cond(size(weights) > 0, lambda: weights, lambda: filled(shape_of(x)[-1:], x.dtype))


def _normalized(x: Tensor, epsilon: float):
    """The rows of `x` with mean 0 and variance 1, their means and what they were multiplied by."""
    mean = reductions.reduce_mean(x, -1, True)
    centred = x - mean
    variance = reductions.reduce_mean(elementwise.square(centred), -1, True)
    rate = elementwise.rsqrt(variance + epsilon)
    return centred * rate, mean, rate


def _composed(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float):
    """The outputs of `LayerNormRows`, made of ops that TensorFlow knows."""
    y, mean, rate = _normalized(x, epsilon)
    gamma, beta = _given(gamma, x, ones), _given(beta, x, zeros)
    y = y if gamma is None else y * gamma
    y = y if beta is None else y + beta
    return y, reductions.reduce_sum(mean, -1), reductions.reduce_sum(rate, -1)


def _slopes(dy: Tensor, x: Tensor, gamma: Tensor, mean: Tensor, rate: Tensor):
    """dx, and the terms of the gradients of gamma and beta from each row, made of ops that TensorFlow knows."""
    mean, rate = ExpandDims(mean, -1), ExpandDims(rate, -1)
    normal = (x - mean) * rate
    gamma = _given(gamma, x, ones)
    g = dy if gamma is None else dy * gamma
    pull = reductions.reduce_mean(g, -1, True) + normal * reductions.reduce_mean(g * normal, -1, True)
    return (g - pull) * rate, dy * normal, dy


def _of_columns(x: Tensor):
    """`x` added up over all axes but the last."""
    rank = x.shape.rank
    if rank is not None:
        return reductions.reduce_sum(x, list(range(rank - 1)))
    return reductions.reduce_sum(reshape(x, concat([[-1], shape_of(x)[-1:]], 0)), 0)


def _composed_gradient(dy: Tensor, x: Tensor, gamma: Tensor, mean: Tensor, rate: Tensor, epsilon: float):
    """The outputs of `LayerNormRowsGrad`, made of ops that TensorFlow knows."""
    dx, of_gamma, of_beta = _slopes(dy, x, gamma, mean, rate)
    return dx, _of_columns(of_gamma), _of_columns(of_beta)


def _check_rows(x) -> None:
    if x.ndim < 1:
        raise invalid(f"x must have >= 1 dimension, got {shape_text(x.shape)}")


def _check_weights(name: str, weights, x) -> None:
    if weights.ndim != 1:
        raise invalid(f"{name} must be 1-dimensional, got {shape_text(weights.shape)}")
    if weights.size not in (0, x.shape[-1]):
        raise invalid(
            f"{name} must have as many elements as the last axis of x, or none, got {shape_text(weights.shape)} and "
            f"{shape_text(x.shape)}"
        )


def _rule(call: ShapeCall):
    x = shapes.at_least(call.shape(0), 1)
    outer = None if x is None else x[:-1]
    return [x, outer, outer]


@op(
    "LayerNormRows", "x: T, gamma: T, beta: T -> y: T, mean: T, rate: T", types=_TYPES, attrs={"epsilon": 0.001},
    shape=_rule, ranks="gamma: 1, beta: 1",
)  # fmt: skip
def LayerNormRows(xp: ModuleType, x: np.ndarray, gamma: Array, beta: Array, epsilon: float):
    """(x - mean) * rate * gamma + beta along the last axis; gamma and beta may be empty, for 1 and 0.

    mean and rate, the reciprocal of the standard deviation, are those of each row.
    """
    _check_rows(x)
    _check_weights("gamma", gamma, x)
    _check_weights("beta", beta, x)
    mean = x.mean(-1, keepdims=True)
    centred = x - mean
    rate = x.dtype.type(1) / xp.sqrt((centred * centred).mean(-1, keepdims=True) + x.dtype.type(epsilon))
    y = centred * rate
    y = y * gamma if gamma.size else y
    y = y + beta if beta.size else y
    return y, mean[..., 0], rate[..., 0]


LayerNormRows.batching(batching.leading(0, least=[1]))


@LayerNormRows.gradient(needs="x, gamma, beta, mean, rate", none=True)
def _(call, dy, dmean, drate):
    if dmean is not None or drate is not None:  # of what only the gradient itself reads
        inputs, upstream = [call.x, call.gamma, call.beta], [dy, dmean, drate]
        return vjp(lambda *own: _composed(*own, call.epsilon), inputs, upstream)
    dx, dgamma, dbeta = LayerNormRowsGrad(dy, call.x, call.gamma, call.mean, call.rate, call.epsilon)
    return [dx, _as_given(dgamma, call.gamma), _as_given(dbeta, call.beta)]


def _as_given(gradient: Tensor, weights: Tensor):
    """The gradient of weights, which is empty where they are."""
    sizes = [None] if weights.shape.rank is None else weights.shape.as_list()
    if any(sizes):
        return gradient
    return zeros([0], gradient.dtype) if 0 in sizes else gradient[: size(weights)]


LayerNormRows.composite = _composed


@LayerNormRows.samples
def _(rng: SampleGenerator):
    for shape in ((4,), (2, 3), (2, 1, 37), (5, 64), (0, 3)):
        yield Sample(rng.normal(*shape), rng.normal(shape[-1]), rng.normal(shape[-1]))
    yield Sample(rng.normal(3, 5), rng.normal(0), rng.normal(0), epsilon=0.5)
    yield Sample(rng.normal(3, 5), rng.normal(5), rng.normal(0))
    yield Sample(rng.normal(3, 5), rng.normal(0), rng.normal(5))
    yield Sample(rng.normal(), rng.normal(0), rng.normal(0), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), rng.normal(2), rng.normal(0), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), rng.normal(3), rng.normal(1, 3), raises=InvalidArgumentError)


@LayerNormRows.reference
def _(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, epsilon: float):
    wide = x.astype(np.float64)
    mean, variance = wide.mean(-1), wide.var(-1)
    rate = (variance + epsilon) ** -0.5
    y = (wide - mean[..., None]) * rate[..., None] * (gamma if gamma.size else 1) + (beta if beta.size else 0)
    return tuple(each.astype(x.dtype) for each in (y, mean, rate))


def _gradient_rule(call: ShapeCall):
    x = shapes.at_least(shapes.merge(call.shape(0), call.shape(1)), 1)
    columns = (None if x is None else x[-1],)
    return [x, columns, columns]


@op(
    "LayerNormRowsGrad", "dy: T, x: T, gamma: T, mean: T, rate: T -> dx: T, dgamma: T, dbeta: T", types=_TYPES,
    attrs={"epsilon": 0.001}, shape=_gradient_rule, ranks="gamma: 1",
)  # fmt: skip
def LayerNormRowsGrad(xp, dy, x, gamma, mean, rate, epsilon):
    """The gradients of `LayerNormRows`; those of gamma and beta have the length of a row also where these are empty.

    epsilon is what the mean and the rate were made with, for gradients of the gradients.
    """
    _check_rows(x)
    for name, value, wanted in (("dy", dy, x.shape), ("mean", mean, x.shape[:-1]), ("rate", rate, x.shape[:-1])):
        if value.shape != wanted:
            raise invalid(f"{name} must have shape {shape_text(wanted)}, got {shape_text(value.shape)}")
    _check_weights("gamma", gamma, x)
    normal = (x - mean[..., None]) * rate[..., None]
    g = dy * gamma if gamma.size else dy
    pull = g.mean(-1, keepdims=True) + normal * (g * normal).mean(-1, keepdims=True)
    outer = tuple(range(x.ndim - 1))
    return (g - pull) * rate[..., None], (dy * normal).sum(outer), dy.sum(outer)


@LayerNormRowsGrad.batching
def _(call: BatchedCall):
    inputs = call.positions([0, 1, 3, 4])
    if not call.only(inputs) or not call.ranks[1]:
        return None
    dy, x, mean, rate = (call.with_batch(i) for i in inputs)
    dx, *terms = _slopes(dy, x, call.inputs[2], mean, rate)
    return [dx, *(reductions.reduce_sum(each, list(range(1, call.ranks[1]))) for each in terms)]


@LayerNormRowsGrad.gradient(needs="dy, x, gamma, mean, rate")
def _(call: GradientCall, *upstream):
    """The mean and the rate count as functions of x, which they are."""

    def again(dy: Tensor, x: Tensor, gamma: Tensor):
        _, mean, rate = _composed(x, zeros([0], x.dtype), zeros([0], x.dtype), call.epsilon)
        return _composed_gradient(dy, x, gamma, mean, rate, call.epsilon)

    found = vjp(again, [call.dy, call.x, call.gamma], upstream)
    return [*found, ZerosLike(call.mean), ZerosLike(call.rate)]


LayerNormRowsGrad.composite = _composed_gradient


@LayerNormRowsGrad.samples
def _(rng: SampleGenerator):
    for shape, own in (((4,), True), ((2, 3), False), ((2, 1, 37), True), ((70, 16), True), ((0, 3), True)):
        x, gamma = rng.normal(*shape), rng.normal(shape[-1] if own else 0)
        _, mean, rate = LayerNormRows.formula(x, gamma, gamma, 0.001)
        # The mean and the rate belong to x, so that derivatives for these alone mean nothing.
        yield Sample(rng.normal(*shape), x, gamma, mean, rate, differentiable=(0, 2))
    good = [rng.normal(2, 3), rng.normal(2, 3), rng.normal(3), rng.normal(2), rng.normal(2)]
    for i, bad in enumerate((rng.normal(3, 2), rng.normal(), rng.normal(2), rng.normal(3), rng.normal(2, 1))):
        yield Sample(*good[:i], bad, *good[i + 1 :], raises=InvalidArgumentError)


@LayerNormRowsGrad.reference
def _(dy: np.ndarray, x: np.ndarray, gamma: np.ndarray, mean: np.ndarray, rate: np.ndarray, epsilon: float):
    """By the matrix of derivatives of each row."""
    n = x.shape[-1]
    rows = x.astype(np.float64).reshape(-1, n)
    upstream = dy.reshape(-1, n)
    wide_mean, wide_rate = mean.astype(np.float64).reshape(-1, 1), rate.astype(np.float64).reshape(-1, 1)
    normal = (rows - wide_mean) * wide_rate
    slopes = (np.eye(n) - 1 / n - normal[:, :, None] * normal[:, None, :] / n) * wide_rate[:, :, None]
    dx = np.einsum("rij,rj->ri", slopes, upstream * (gamma if gamma.size else 1))
    found = dx.reshape(x.shape), np.einsum("ri,ri->i", upstream, normal), np.einsum("ri->i", upstream)
    return tuple(each.astype(x.dtype) for each in found)
