"""Least squares by conjugate gradients on the normal equations."""

from __future__ import annotations

import collections

import tapeflow.compat.v1 as tf
from tapeflow.contrib.solvers import util
from tapeflow.core.annotations import IntLike

__all__ = ["cgls"]

CGLSState = collections.namedtuple("CGLSState", ["i", "x", "r", "p", "gamma"])


def cgls(operator, rhs, tol=1e-6, max_iter=20, name="cgls"):
    """The x for which A x is nearest to rhs.

    Args:
      operator: A, with `shape`, `dtype`, `apply` and `apply_adjoint`; see `util.create_operator`.
      rhs: [m].
      tol: it ends when the norm of the residual of the normal equations is at most so large, as a part of the first
        one's,
      max_iter: or after so many steps.

    Returns:
      A tuple (i: steps taken, x: the solution, r: the residual, p: the next direction, gamma: the square of the
      residual of the normal equations).
    """

    def step(i: IntLike, state):
        q = operator.apply(state.p)
        alpha = state.gamma / util.l2norm_squared(q)
        r = state.r - alpha * q
        s = operator.apply_adjoint(r)
        gamma = util.l2norm_squared(s)
        p = s + gamma / state.gamma * state.p
        return i + 1, CGLSState(i + 1, state.x + alpha * state.p, r, p, gamma)

    with tf.name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        s = operator.apply_adjoint(rhs)
        gamma = util.l2norm_squared(s)
        bound = tol * tol * gamma
        x = tf.expand_dims(tf.zeros(operator.shape[1:], rhs.dtype.base_dtype), -1)
        start = tf.constant(0, tf.int32)
        _, last = tf.while_loop(
            lambda i, state: tf.logical_and(i < max_iter, state.gamma > bound),
            step,
            [start, CGLSState(start, x, rhs, s, gamma)],
        )
        return CGLSState(last.i, *(tf.squeeze(v) for v in (last.x, last.r, last.p)), last.gamma)
