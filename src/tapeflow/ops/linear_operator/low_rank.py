"""Low-rank updates of linear operators."""

from __future__ import annotations

from types import MappingProxyType

from tapeflow.api import api
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape, broadcast_static_shape
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.linalg.inverse import det, slogdet
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.matrix_function import adjoint as adjoint_of
from tapeflow.ops.linalg.solve import solve
from tapeflow.ops.linear_operator.arguments import (
    as_matrix_tensor,
    parameters_of,
    static_size,
    with_common_batch,
)
from tapeflow.ops.linear_operator.base import LinearOperator
from tapeflow.ops.linear_operator.identity import LinearOperatorIdentity
from tapeflow.ops.linear_operator.matrix import LinearOperatorDiag
from tapeflow.ops.linear_operator.slicing import OPERATORS
from tapeflow.ops.math import arithmetic
from tapeflow.ops.static import size_of


@api("linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(LinearOperator):
    """The operator L + U D V^H: another operator plus a product of thin matrices; `v` is `u` where not given."""

    _matrix_dimensions = MappingProxyType({"base_operator": OPERATORS, "u": 2, "diag_update": 1, "v": 2})

    def __init__(
        self, base_operator: LinearOperatorDiag, u: TensorLike, diag_update: TensorLike | None = None, v=None,
        is_diag_update_positive=None, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ):
        parameters = parameters_of(locals())
        self._base = base_operator
        self._u = as_matrix_tensor(u, "u")
        self._v = self._u if v is None else as_matrix_tensor(v, "v")
        self._diag_update = (
            None if diag_update is None else as_matrix_tensor(diag_update, "diag_update", 1)
        )
        self._positive = True if diag_update is None else is_diag_update_positive
        if v is None and self._positive and base_operator.is_positive_definite:
            is_positive_definite = True if is_positive_definite is None else is_positive_definite
        if v is None and base_operator.is_self_adjoint and not self._u.dtype.is_complex:
            is_self_adjoint = True if is_self_adjoint is None else is_self_adjoint
        super().__init__(
            base_operator.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            parameters,
        )

    @property
    def base_operator(self):
        return self._base

    @property
    def u(self):
        return self._u

    @property
    def v(self):
        return self._v

    @property
    def diag_update(self):
        return self._diag_update

    @property
    def is_diag_update_positive(self):
        return self._positive

    @property
    def diag_operator(self):
        if self._diag_update is None:
            return LinearOperatorIdentity(size_of(self._u, -1), dtype=self.dtype)
        return LinearOperatorDiag(self._diag_update, is_positive_definite=self._positive)

    def _shape(self):
        batch = broadcast_static_shape(self._base.batch_shape, self._u.shape[:-2])
        sizes = [static_size(self._base.shape, -2), static_size(self._base.shape, -1)]
        return batch.concatenate(sizes)

    def _shape_tensor(self):
        batch = broadcast_dynamic_shape(self._base.batch_shape_tensor(), Shape(self._u)[:-2])
        return concat([batch, self._base.shape_tensor()[-2:]], 0)

    def _assert_self_adjoint(self):
        if self._u is self._v and self._diag_update is None:
            return self._base.assert_self_adjoint()
        return super()._assert_self_adjoint()

    def _to_dense(self):
        scaled = matmul(self._u, self.diag_operator.matmul(adjoint_of(self._v)))
        return arithmetic.AddV2(self._base.to_dense(), scaled)

    def _matmul(self, x: Tensor, adjoint: bool):
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = self.diag_operator.matmul(matmul(right, x, adjoint_a=True), adjoint=adjoint)
        return arithmetic.AddV2(self._base.matmul(x, adjoint=adjoint), matmul(left, inner))

    def _capacitance(self):
        """D^-1 + V^H L^-1 U, small and square: what is left to invert once L is (the identity of Woodbury)."""
        between = matmul(self._v, self._base.solve(self._u), adjoint_a=True)
        return self.diag_operator.inverse().add_to_tensor(between)

    def _solve(self, rhs: Tensor, adjoint: bool):
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        first = self._base.solve(rhs, adjoint=adjoint)
        small, thin = with_common_batch(self._capacitance(), matmul(right, first, adjoint_a=True))
        correction = self._base.solve(matmul(left, solve(small, thin, adjoint=adjoint)), adjoint=adjoint)
        return arithmetic.Sub(first, correction)

    def _determinant(self):
        rest = arithmetic.Mul(det(self._capacitance()), self.diag_operator.determinant())
        return arithmetic.Mul(rest, self._base.determinant())

    def _log_abs_determinant(self):
        rest = arithmetic.AddV2(slogdet(self._capacitance())[1], self.diag_operator.log_abs_determinant())
        return arithmetic.AddV2(rest, self._base.log_abs_determinant())
