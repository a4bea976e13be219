"""Roots of positive definite matrices by iterations that need products only."""

from __future__ import annotations

from tapeflow.core.annotations import IntLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.control.flow import while_loop_v1
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.arithmetic import add, pow
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import sqrt, square
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_max, reduce_sum

__all__ = ["matrix_inverse_pth_root", "matrix_square_root"]


def _norm(matrix: Tensor):
    return sqrt(reduce_sum(square(matrix)))


def matrix_square_root(mat_a, mat_a_size, iter_count=100, ridge_epsilon: float = 1e-4):
    """The square root of a positive semi-definite matrix, by the Newton-Schulz iteration.

    `ridge_epsilon` times the identity is added first. The iteration ends when the error no longer falls.
    """
    mat_a = convert_to_tensor(mat_a)
    identity = eye(int(mat_a_size), dtype=mat_a.dtype)
    mat_a = mat_a + ridge_epsilon * identity
    size = _norm(mat_a)

    def falling(i: IntLike, y: Tensor, z: Tensor, best: Tensor, error: Tensor, before: Tensor):
        return logical_and(i < iter_count, error < before)

    def step(i: IntLike, y: Tensor, z: Tensor, best: Tensor, error: Tensor, before: Tensor):
        mixed = 0.5 * (3.0 * identity - matmul(z, y))
        root, inverse = matmul(y, mixed), matmul(mixed, z)
        residual = mat_a - matmul(root, root) * size
        return i + 1, root, inverse, y, _norm(residual) / size, error

    start = mat_a / size
    found = while_loop_v1(falling, step, [0, start, identity, start, size, size + 1.0])
    return found[3] * sqrt(size)


def _power(matrix: Tensor, exponent: int):
    """A matrix to the power of a positive integer."""
    out = None
    while exponent:
        if exponent % 2:
            out = matrix if out is None else matmul(matrix, out)
        exponent //= 2
        matrix = matmul(matrix, matrix)
    return out


def matrix_inverse_pth_root(
    mat_g: TensorLike, mat_g_size, alpha, iter_count: int = 100, epsilon: float = 1e-6, ridge_epsilon=1e-6
):
    """The power `alpha` = -1 / p of a positive definite matrix, p an integer, by a coupled Newton iteration.

    `ridge_epsilon` times the identity is added first (Guo and Higham, 2006).
    """
    if mat_g_size == 1:
        return pow(mat_g + ridge_epsilon, alpha)
    mat_g = convert_to_tensor(mat_g)
    identity = eye(int(mat_g_size), dtype=mat_g.dtype)
    damped = mat_g + ridge_epsilon * identity
    scale = (1 - 1 / alpha) / (2 * _norm(damped))

    def unfinished(i: IntLike, product: Tensor, root: Tensor):
        return logical_and(i < iter_count, reduce_max(abs_(product - identity)) > epsilon)

    def step(i: IntLike, product: Tensor, root: Tensor):
        factor = add((1 - alpha) * identity, alpha * product)
        return i + 1, matmul(_power(factor, round(-1.0 / alpha)), product), matmul(root, factor)

    return while_loop_v1(unfinished, step, [0, damped * scale, identity * pow(scale, -alpha)])[2]
