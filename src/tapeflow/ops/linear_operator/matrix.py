"""The linear operators that are one matrix: full, diagonal, and triangular."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from tapeflow.api import api
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array import band, diagonal, diagonal_matrix, layout
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control import assertions
from tapeflow.ops.linalg.solve import triangular_solve
from tapeflow.ops.linear_operator.arguments import (
    acts_as_identity,
    as_matrix_tensor,
    assert_is_real,
    assert_no_zeros,
    both,
    commuting_hints,
    conjugated,
    multiplier_of,
    parameters_of,
    squared,
)
from tapeflow.ops.linear_operator.base import LinearOperator
from tapeflow.ops.math import arithmetic, casting, division, elementwise, reductions
from tapeflow.ops.math.complex_numbers import real
from tapeflow.ops.math.conjugate import conj

if TYPE_CHECKING:
    import numpy as np


@api("linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(LinearOperator):
    """The operator of a plain matrix."""

    _matrix_dimensions = MappingProxyType({"matrix": 2})

    def __init__(
        self, matrix: np.ndarray, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ):
        parameters = parameters_of(locals())
        self._matrix = as_matrix_tensor(matrix, "matrix")
        super().__init__(
            self._matrix.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            parameters,
        )

    @property
    def matrix(self):
        return self._matrix

    def _shape(self):
        return self._matrix.shape

    def _shape_tensor(self):
        return Shape(self._matrix)

    def _to_dense(self):
        return convert_to_tensor(self._matrix)


@api("linalg.LinearOperatorDiag")
class LinearOperatorDiag(LinearOperator):
    """The operator of a diagonal matrix, given its diagonal."""

    _matrix_dimensions = MappingProxyType({"diag": 1})

    def __init__(
        self, diag: TensorLike, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None, name: str = "LinearOperatorDiag",
    ):
        parameters = parameters_of(locals())
        self._diag = as_matrix_tensor(diag, "diag", 1)
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(
            self._diag.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def diag(self):
        return self._diag

    def _shape(self):
        return squared(self._diag.shape)

    def _shape_tensor(self):
        return squared(Shape(self._diag))

    def _to_dense(self):
        return diagonal_matrix.MatrixDiag(self._diag)

    def _matmul(self, x: Tensor, adjoint: bool):
        return arithmetic.Mul(layout.ExpandDims(conjugated(self._diag, adjoint), -1), x)

    def _solve(self, rhs: Tensor, adjoint: bool):
        return division.RealDiv(rhs, layout.ExpandDims(conjugated(self._diag, adjoint), -1))

    def _determinant(self):
        return reductions.reduce_prod(self._diag, -1)

    def _log_abs_determinant(self):
        logs = elementwise.Log(elementwise.abs(self._diag))
        return casting.cast(reductions.reduce_sum(logs, -1), self.dtype)

    def _diag_part(self):
        return convert_to_tensor(self._diag)

    def _eigvals(self):
        return convert_to_tensor(self._diag)

    def _cond(self):
        sizes = elementwise.abs(self._diag)
        return division.RealDiv(reductions.reduce_max(sizes, -1), reductions.reduce_min(sizes, -1))

    def _like(self, diag: Tensor):
        """A diagonal operator that is what this one promises to be."""
        return LinearOperatorDiag(diag, *self._hints[:3], is_square=True)

    def _adjoint(self):
        return self._like(conj(self._diag))

    def _inverse(self):
        return self._like(division.RealDiv(1.0, self._diag))

    def _cholesky(self):
        return LinearOperatorDiag(elementwise.Sqrt(self._diag), True, None, True, True)

    def _simple_product(self, other: LinearOperator):
        if acts_as_identity(other):
            return self
        if (multiplier := multiplier_of(other)) is not None:
            scale = layout.ExpandDims(multiplier, -1)
            return _diagonal(self, other, arithmetic.Mul(self._diag, scale))
        if isinstance(other, LinearOperatorDiag):
            return _diagonal(self, other, arithmetic.Mul(self._diag, other.diag))
        if isinstance(other, LinearOperatorLowerTriangular):
            return _triangular(self, other, self._matmul(other.to_dense(), False))
        return None

    def _simple_quotient(self, other: LinearOperator):
        if (multiplier := multiplier_of(other)) is not None:
            scale = layout.ExpandDims(multiplier, -1)
            return _diagonal(self, other, division.RealDiv(scale, self._diag))
        if isinstance(other, LinearOperatorDiag):
            return _diagonal(self, other, division.RealDiv(other.diag, self._diag))
        if isinstance(other, LinearOperatorLowerTriangular):
            return _triangular(self, other, self._solve(other.to_dense(), False))
        return None

    def _assert_non_singular(self):
        return assert_no_zeros(self._diag, "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self):
        if self.dtype.is_complex:
            what = "Diagonal operator had diagonal entries with non-positive real part"
        else:
            what = "Real diagonal operator had non-positive diagonal entries"
        message = f"{what}, thus was not positive definite."
        return assertions.assert_positive(real(self._diag), message=message)

    def _assert_self_adjoint(self):
        return assert_is_real(
            self._diag,
            "This diagonal operator contained non-zero imaginary values.  Thus was not self-adjoint.",
        )


def _diagonal(left, right, diag):
    return LinearOperatorDiag(diag, *commuting_hints(left, right), is_square=True)


def _triangular(
    left: LinearOperatorDiag | LinearOperatorLowerTriangular,
    right: LinearOperatorDiag | LinearOperatorLowerTriangular, tril: Tensor,
):
    return LinearOperatorLowerTriangular(
        tril,
        both(left, right, "is_non_singular", True),
        both(left, right, "is_self_adjoint"),
        is_square=True,
    )


@api("linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular(LinearOperator):
    """The operator of the lower triangle of a matrix."""

    _matrix_dimensions = MappingProxyType({"tril": 2})

    def __init__(
        self, tril: TensorLike, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        parameters = parameters_of(locals())
        self._given = as_matrix_tensor(tril, "tril")
        super().__init__(
            self._given.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def tril(self):
        return self._given

    def _shape(self):
        return self._given.shape

    def _shape_tensor(self):
        return Shape(self._given)

    def _to_dense(self):
        return band.MatrixBandPart(self._given, -1, 0)

    def _solve(self, rhs: Tensor, adjoint: bool):
        return triangular_solve(self._given, rhs, lower=True, adjoint=adjoint)

    def _determinant(self):
        return reductions.reduce_prod(self._diag_part(), -1)

    def _log_abs_determinant(self):
        logs = elementwise.Log(elementwise.abs(self._diag_part()))
        return casting.cast(reductions.reduce_sum(logs, -1), self.dtype)

    def _diag_part(self):
        return diagonal.MatrixDiagPart(self._given)

    def _eigvals(self):
        return self._diag_part()

    def _simple_product(self, other: LinearOperator):
        if isinstance(other, LinearOperatorDiag):
            columns = layout.ExpandDims(other.diag, -2)
            return _triangular(self, other, arithmetic.Mul(self.to_dense(), columns))
        return None

    def _assert_non_singular(self):
        return assert_no_zeros(
            self._diag_part(), "Singular operator:  Diagonal contained zero values."
        )


