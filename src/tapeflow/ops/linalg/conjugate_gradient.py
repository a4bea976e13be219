"""The conjugate gradient method: systems of equations by products with their matrix only."""

from __future__ import annotations

from collections import namedtuple

from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape, broadcast_to
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.flow import while_loop
from tapeflow.ops.linalg.norms import norm
from tapeflow.ops.math import comparison, logic, reductions
from tapeflow.ops.math.conjugate import conj

CGState = namedtuple("CGState", ["i", "x", "r", "p", "gamma"])


def _dot(x, y):
    return reductions.reduce_sum(conj(x) * y, -1)


@api("linalg.experimental.conjugate_gradient")
@public
def conjugate_gradient(
    operator, rhs: TensorLike, preconditioner=None, x: TensorLike | None = None, tol: float = 1e-5,
    max_iter: int = 20, name: str | None = "conjugate_gradient",
):
    """Solve `A x = rhs` by the method of conjugate gradients.

    Args:
      operator: A, a `tf.linalg.LinearOperator` that says it is self-adjoint and positive definite.
      rhs: right sides `[..., N]`.
      preconditioner: a linear operator that approximates the inverse of A (optional).
      x: where to start; None: zeros.
      tol: the search ends where the norm of the residual is at most this times that of `rhs`.
      max_iter: after how many steps it ends at last.
      name: a name for the operation (optional).

    Returns:
      A named tuple: `i`, the number of steps; `x`, the solution; `r`, the residual; `p`, the direction; `gamma`,
      the product of the residual with its preconditioned self.

    Raises:
      ValueError: for another operator.
    """
    if not (operator.is_self_adjoint and operator.is_positive_definite):
        raise ValueError("Expected a self-adjoint, positive definite operator.")
    rhs = convert_to_tensor(rhs)
    batch = broadcast_dynamic_shape(shape_of(rhs)[:-1], operator.batch_shape_tensor())
    if preconditioner is not None:
        batch = broadcast_dynamic_shape(batch, preconditioner.batch_shape_tensor())
    shape = concat([batch, shape_of(rhs)[-1:]], 0)
    r = broadcast_to(rhs, shape)
    limit = tol * norm(r, axis=-1)
    if x is None:
        x = zeros(shape, rhs.dtype)
    else:
        x = convert_to_tensor(x)
        r = rhs - operator.matvec(x)
    p = r if preconditioner is None else preconditioner.matvec(r)
    start = CGState(convert_to_tensor(0), x, r, p, _dot(r, p))

    def unfinished(state):
        far = reductions.reduce_any(comparison.greater(norm(state.r, axis=-1), limit))
        return logic.logical_and(comparison.less(state.i, max_iter), far)

    def step(state):
        z = operator.matvec(state.p)
        alpha = expand_dims(state.gamma / _dot(state.p, z), -1)
        r = state.r - alpha * z
        q = r if preconditioner is None else preconditioner.matvec(r)
        gamma = _dot(r, q)
        p = q + expand_dims(gamma / state.gamma, -1) * state.p
        return [CGState(state.i + 1, state.x + alpha * state.p, r, p, gamma)]

    (end,) = while_loop(unfinished, step, [start])
    return end
