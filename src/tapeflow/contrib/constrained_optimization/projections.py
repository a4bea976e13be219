"""The nearest weights, or matrices of weights, that are allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import Tensor, TensorLike


def _emptied(x, step: Callable[..., Any]):
    """Takes as much of all positive elements as `step` says, drops those that become negative, until none does."""
    size = int(x.shape[0])

    def body(i: Tensor, x, active: Tensor, before: Tensor | None):
        moved = x + step(x, active) * active
        still = v1.cast(moved > 0, x.dtype)
        return i + 1, moved * still, still, active

    first = body(v1.constant(0), x, v1.ones_like(x), None)
    return v1.while_loop(
        lambda i, x, active, before: v1.logical_and(i < size, v1.reduce_any(v1.not_equal(active, before))), body, first
    )[1]


def onto_multipliers(x: TensorLike, radius: float):
    """The nearest numbers that are not negative and at most `radius` together."""
    return _emptied(
        x, lambda x, active: v1.minimum(0.0, (radius - v1.reduce_sum(x)) / v1.maximum(1.0, v1.reduce_sum(active)))
    )


def onto_stochastic(x: TensorLike):
    """The nearest matrix whose columns are not negative and add up to one."""
    return _emptied(
        x,
        lambda x, active: (1.0 - v1.reduce_sum(x, 0, keepdims=True))
        / v1.maximum(1.0, v1.reduce_sum(active, 0, keepdims=True)),
    )


def onto_log_stochastic(x: TensorLike):
    """The logarithm of the nearest matrix, by the Kullback-Leibler divergence, whose columns add up to one."""
    return v1.nn.log_softmax(x, axis=0)


def maximal_eigenvector(matrix: Tensor, epsilon: float = 1e-6, maximum_iterations: int = 100):
    """The eigenvector of the greatest eigenvalue, by powers of the matrix: a unit vector."""

    def powered(i: Tensor, now: Tensor, before: Tensor | None):
        found = v1.matmul(matrix, now[:, None])[:, 0]
        return i + 1, found / v1.norm(found), now

    size = int(matrix.shape[0])
    first = powered(v1.constant(0), v1.ones([size], matrix.dtype) / size, None)
    return v1.while_loop(
        lambda i, now, before: v1.logical_and(i < maximum_iterations, v1.norm(now - before) > epsilon), powered, first
    )[1]
