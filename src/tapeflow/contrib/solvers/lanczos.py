"""Bidiagonalization after Lanczos, Golub and Kahan (1965)."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING, Any

import tapeflow.compat.v1 as tf
from tapeflow.contrib.solvers import util
from tapeflow.core.annotations import IntLike, Tensor, TensorLike

if TYPE_CHECKING:
    from tapeflow.ops.lists.tensor_array import TensorArray
    from tapeflow.ops.lists.tensor_array_staged import StagedTensorArray

__all__ = ["bidiag_matmul", "lanczos_bidiag"]

LanczosBidiagState = collections.namedtuple("LanczosBidiagState", ["u", "v", "alpha", "beta"])


def _column(array, i):
    return tf.expand_dims(array.read(i), -1)


def _with_column(array: TensorArray | StagedTensorArray, column: Any, i: IntLike):
    return array.write(i, tf.reshape(column, [-1]))


def _once(count: IntLike, basis: TensorArray | StagedTensorArray, v: Tensor):
    """(v made orthogonal to the first `count` columns and normalized, its norm before that)."""

    def step(j: IntLike, v: Tensor):
        other = _column(basis, j)
        out = v - tf.matmul(other, v, adjoint_a=True) * other
        out.set_shape(v.shape)
        return j + 1, out

    _, v = tf.while_loop(lambda j, v: j < count, step, [tf.constant(0, tf.int32), v])
    return util.l2normalize(v)


def _orthogonal(count: IntLike, basis: TensorArray | StagedTensorArray, v: Tensor):
    """`_once`, and again where the first time took most of the vector away."""
    once, norm = _once(count, basis, v)

    def twice():
        out, rest = _once(count, basis, once)
        return out, norm * rest

    return tf.cond(norm < 0.7071 * util.l2norm(v), twice, lambda: (once, norm))


def lanczos_bidiag(
    operator, k, orthogonalize: bool = True, starting_vector: TensorLike | None = None, name: str = "lanczos_bidiag"
):
    """Orthonormal U [m, k + 1] and V [n, k] with A V = U B for a lower bidiagonal B.

    Args:
      operator: A, with `shape`, `dtype`, `apply` and `apply_adjoint`; see `util.create_operator`.
      k: the number of steps.
      orthogonalize: whether each column is made orthogonal to all before it, against rounding errors.
      starting_vector: [m] the direction of the first column of U; random by default.

    Returns:
      A tuple (u, v, alpha: the diagonal of B [k], beta: what lies below it [k]).
    """

    def normal(count: IntLike, basis: TensorArray | StagedTensorArray, v: Tensor):
        return _orthogonal(count, basis, v) if orthogonalize else util.l2normalize(v)

    def step(i: IntLike, state):
        u = _column(state.u, i)
        r = operator.apply_adjoint(u)
        shape = r.shape
        r = tf.cond(i > 0, lambda: r - state.beta.read(i - 1) * _column(state.v, i - 1), lambda: r)
        r.set_shape(shape)
        v, alpha = normal(i, state.v, r)
        following, beta = normal(i + 1, state.u, operator.apply(v) - alpha * u)
        return i + 1, LanczosBidiagState(
            _with_column(state.u, following, i + 1),
            _with_column(state.v, v, i),
            state.alpha.write(i, alpha),
            state.beta.write(i, beta),
        )

    def array(size: TensorLike):
        return tf.TensorArray(operator.dtype, size, clear_after_read=False)

    with tf.name_scope(name):
        if starting_vector is None:
            starting_vector = tf.random_uniform(operator.shape[:1], -1, 1, dtype=operator.dtype)
        first, _ = util.l2normalize(starting_vector)
        state = LanczosBidiagState(_with_column(array(k + 1), first, 0), array(k), array(k), array(k))
        _, last = tf.while_loop(lambda i, _: i < k, step, [tf.constant(0, tf.int32), state])
        u, v = (tf.matrix_transpose(each.stack()) for each in (last.u, last.v))
        return LanczosBidiagState(u, v, last.alpha.stack(), last.beta.stack())


def bidiag_matmul(matrix: Any, alpha: Any, beta: Any, adjoint_b: bool = False, name: str = "bidiag_matmul"):
    """A matrix times a lower bidiagonal B [k + 1, k], or times the adjoint of B without its last row.

    Args:
      matrix: [m, k + 1], or [m, k] with `adjoint_b`.
      alpha: [k] the diagonal of B.
      beta: [k] what lies below it.
      adjoint_b: whether to multiply by the adjoint.
    """
    with tf.name_scope(name):
        if not adjoint_b:
            return matrix[:, :-1] * alpha[None] + matrix[:, 1:] * beta[None]
        shifted = tf.concat([tf.zeros_like(matrix[:, :1]), matrix[:, :-1] * beta[None, :-1]], 1)
        return matrix * alpha[None] + shifted
