"""Functions of matrices that take linear operators too: they call the operator's method.

The class of operators, which imports this module, is passed to `register`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.dtypes import DType
from tapeflow.ops.api_dispatch import dispatch_for_types
from tapeflow.ops.array.band import trace
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.linalg.decomposition import cholesky
from tapeflow.ops.linalg.inverse import det, inv, logdet
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.matrix_function import adjoint
from tapeflow.ops.linalg.solve import solve

_stand_ins: list[tuple[Any, Callable[..., Any]]] = []


def _stands_in(function: Any) -> Callable[[Any], Any]:
    """A decorator: the function is called, with the same arguments, where one of them is an operator."""

    def decorate(stand_in: Callable[..., Any]) -> Callable[..., Any]:
        _stand_ins.append((function, stand_in))
        return stand_in

    return decorate


def register(operators: type) -> None:
    """Let the functions of matrices take operators.

    Args:
      operators: the class of all linear operators.
    """
    for function, stand_in in _stand_ins:
        dispatch_for_types(function, operators)(stand_in)


@_stands_in(adjoint)
def _adjoint(matrix, name: str | None = None):
    return matrix.adjoint(name)


@_stands_in(cholesky)
def _cholesky(input, name: str | None = None):
    return input.cholesky(name)


@_stands_in(det)
def _det(input, name: str | None = None):
    return input.determinant(name)


@_stands_in(diag_part)
def _diag_part(input, name: str = "diag_part", k: int = 0, padding_value: int = 0, align: str = "RIGHT_LEFT"):
    if k != 0:
        raise ValueError(f"Only the main diagonal of a linear operator is known, not k = {k}")
    return input.diag_part(name)


@_stands_in(inv)
def _inv(input, adjoint: bool = False, name: str | None = None):
    inverse = input.inverse(name)
    return inverse.adjoint() if adjoint else inverse


@_stands_in(logdet)
def _logdet(matrix, name: str | None = None):
    if not (matrix.is_positive_definite and matrix.is_self_adjoint):
        raise ValueError("Expected matrix to be self-adjoint positive definite.")
    return matrix.log_abs_determinant(name)


@_stands_in(solve)
def _solve(matrix, rhs, adjoint: bool = False, name=None):
    if not hasattr(matrix, "solve"):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint=adjoint, name=name)


@_stands_in(trace)
def _trace(x, name: str | None = None):
    return x.trace(name)


@_stands_in(matmul)
def _matmul(
    a, b, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False,
    output_type: DType | None = None, grad_a: bool = False, grad_b: bool = False, name=None,
):  # fmt: skip
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if hasattr(a, "matmul"):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b, name=name)
    # a b is the adjoint of b* a*.
    return adjoint(b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a, name=name))
