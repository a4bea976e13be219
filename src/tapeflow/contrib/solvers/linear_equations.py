"""Linear equations by the method of conjugate gradients (Hestenes and Stiefel 1952)."""

from __future__ import annotations

import collections

import tapeflow.compat.v1 as tf
from tapeflow.contrib.solvers import util
from tapeflow.core.annotations import IntLike, Tensor

__all__ = ["conjugate_gradient"]

CGState = collections.namedtuple("CGState", ["i", "x", "r", "p", "gamma"])


def conjugate_gradient(
    operator, rhs, preconditioner=None, x=None, tol=1e-4, max_iter=20, name="conjugate_gradient"
):
    """The solution of A x = rhs for a self-adjoint positive definite A.

    Args:
      operator: A, with `shape`, `dtype` and `apply`, which multiplies columns by it; see `util.create_operator`.
      rhs: [n].
      preconditioner: an operator near the inverse of A.
      x: [n] where the search begins; 0 by default.
      tol: it ends when the residual's norm is at most so large, as a part of the first one's,
      max_iter: or after so many steps.

    Returns:
      A tuple (i: steps taken, x: the solution, r: the residual, p: the last direction, gamma: the residual's square
      under the preconditioner).
    """

    def conditioned(r: Tensor):
        return r if preconditioner is None else preconditioner.apply(r)

    def step(i: IntLike, state):
        z = operator.apply(state.p)
        alpha = state.gamma / util.dot(state.p, z)
        r = state.r - alpha * z
        q = conditioned(r)
        gamma = util.dot(r, q)
        p = q + gamma / state.gamma * state.p
        return i + 1, CGState(i + 1, state.x + alpha * state.p, r, p, gamma)

    with tf.name_scope(name):
        rhs = tf.expand_dims(rhs, -1)
        if x is None:
            x, r = tf.expand_dims(tf.zeros(operator.shape[1:], rhs.dtype.base_dtype), -1), rhs
        else:
            x = tf.expand_dims(x, -1)
            r = rhs - operator.apply(x)
        p = conditioned(r)
        bound = tol * tf.norm(r)
        start = tf.constant(0, tf.int32)
        _, last = tf.while_loop(
            lambda i, state: tf.logical_and(i < max_iter, tf.norm(state.r) > bound),
            step,
            [start, CGState(start, x, r, p, util.dot(r, p))],
        )
        return CGState(last.i, *(tf.squeeze(v) for v in (last.x, last.r, last.p)), last.gamma)
