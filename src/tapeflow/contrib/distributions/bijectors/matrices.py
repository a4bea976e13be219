"""Bijectors of matrices: triangular ones, their diagonals, inverses and products."""

from __future__ import annotations

import math
from typing import Any

from tapeflow.contrib.distributions.bijectors.affine import AffineScalar
from tapeflow.contrib.distributions.bijectors.base import Bijector
from tapeflow.contrib.distributions.bijectors.composed import Chain
from tapeflow.contrib.distributions.bijectors.elementwise import Softplus
from tapeflow.contrib.distributions.matrices import (
    fill_triangular,
    fill_triangular_inverse,
    square_sides,
    triangle_side,
)
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries
from tapeflow.ops.array.band import band_part
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.diagonal import diag_part, set_diag
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.control.assertions import assert_equal_v1 as assert_equal
from tapeflow.ops.control.assertions import assert_none_equal_v1 as assert_none_equal
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.control.shape_assertions import assert_rank_at_least_v1 as assert_rank_at_least
from tapeflow.ops.linalg.decomposition import cholesky
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.solve import triangular_solve
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import log, sqrt
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.math.rounding import floor

__all__ = ["CholeskyOuterProduct", "FillTriangular", "MatrixInverseTriL", "ScaleTriL", "TransformDiagonal"]


def _square_matrix_checks(x: TensorLike) -> Any:
    yield lambda: assert_rank_at_least(x, 2, message="Input must be a (batch of) matrix.")
    yield lambda: assert_equal(
        shape_of(x)[-2], shape_of(x)[-1], message="Input must be a (batch of) square matrix."
    )


class CholeskyOuterProduct(Bijector):
    """y = x x^T, of lower triangular matrices with positive diagonals."""

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product"):
        super().__init__(validate_args=validate_args, forward_min_event_ndims=2, name=name)

    def _forward(self, x: Any) -> Any:
        x = band_part(self._checked(x, *_square_matrix_checks(x)), -1, 0)
        return matmul(x, x, adjoint_b=True)

    def _inverse(self, y: Any) -> Any:
        return cholesky(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        # By the columns of x: 2 x_jj for the diagonal and x_jj for each element below it.
        diagonal = diag_part(x)
        diagonal = self._checked(
            diagonal,
            *_square_matrix_checks(x),
            lambda: assert_positive(diagonal, message="Input must be positive definite."),
        )
        size = shape_of(x)[-1]
        powers = cast(range_(size, 0, -1), x.dtype)
        return reduce_sum(powers * log(diagonal), -1) + cast(size, x.dtype) * math.log(2.0)


class MatrixInverseTriL(Bijector):
    """The inverses of lower triangular matrices without zeros on their diagonals."""

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril"):
        super().__init__(validate_args=validate_args, forward_min_event_ndims=2, name=name)

    def _valid(self, x: TensorLike) -> Any:
        def lower() -> Any:
            above = x - band_part(x, -1, 0)
            return assert_equal(above, zeros_like(above), message="Input must be lower triangular.")

        def nonzero() -> Any:
            diagonal = diag_part(x)
            message = "Input must have all diagonal entries nonzero."
            return assert_none_equal(diagonal, zeros_like(diagonal), message=message)

        return self._checked(
            x,
            lambda: assert_rank_at_least(x, 2, message="Input must have rank at least 2."),
            lambda: assert_equal(shape_of(x)[-2], shape_of(x)[-1], message="Input must be a square matrix."),
            lower,
            nonzero,
        )

    def _forward(self, x: Any) -> Any:
        x = self._valid(x)
        shape = shape_of(x)
        return triangular_solve(x, eye(shape[-1], batch_shape=shape[:-2], dtype=x.dtype))

    def _inverse(self, y: Any) -> Any:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        # TensorFlow's value, which is that of a matrix of n * n free elements.
        x = self._valid(x)
        size = cast(shape_of(x)[-1], x.dtype)
        return -2.0 * size * reduce_sum(log(abs_(diag_part(x))), -1)


class FillTriangular(Bijector):
    """The triangular matrices of vectors, as `fill_triangular` makes them."""

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular"):
        self._upper = upper
        super().__init__(
            is_constant_jacobian=True, validate_args=validate_args, forward_min_event_ndims=1,
            inverse_min_event_ndims=2, name=name,
        )  # fmt: skip

    def _forward(self, x: Any) -> Any:
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Any) -> Any:
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: Any) -> Any:
        side = None
        count = static_size(input_shape, -1)
        if count is not None:
            side = triangle_side(count)
            if side is None:
                raise ValueError("Vector length is not a triangular number.")
        return input_shape[:-1].concatenate([side, side])

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        side = square_sides(output_shape)
        return output_shape[:-2].concatenate([None if side is None else side * (side + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        side = (sqrt(1.0 + 8.0 * cast(input_shape[-1], dtypes.float32)) - 1.0) / 2.0
        message = "Vector length is not a triangular number"
        side = self._checked(side, lambda: assert_equal(floor(side), side, message=message))
        n = cast(side, input_shape.dtype)
        return concat([input_shape[:-1], [n, n]], 0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        n = self._checked(
            output_shape[-1],
            lambda: assert_equal(output_shape[-1], output_shape[-2], message="Matrix must be square."),
        )
        return concat([output_shape[:-2], [n * (n + 1) // 2]], 0)


class TransformDiagonal(Bijector):
    """Another bijector, applied to the diagonals of matrices."""

    def __init__(self, diag_bijector: Any, validate_args: bool = False, name: str = "transform_diagonal"):
        self._diag_bijector = diag_bijector
        super().__init__(validate_args=validate_args, forward_min_event_ndims=2, name=name)

    def _forward(self, x: Any) -> Any:
        return set_diag(x, self._diag_bijector.forward(diag_part(x)))

    def _inverse(self, y: Any) -> Any:
        return set_diag(y, self._diag_bijector.inverse(diag_part(y)))

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return self._diag_bijector.forward_log_det_jacobian(diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._diag_bijector.inverse_log_det_jacobian(diag_part(y), event_ndims=1)


class ScaleTriL(Chain):
    """Lower triangular matrices with positive diagonals, of vectors.

    Args:
      diag_bijector: what makes the diagonal positive; a softplus unless given.
      diag_shift: what is added to the diagonal then; None: nothing.
    """

    def __init__(
        self, diag_bijector: Any = None, diag_shift: Any = 1e-5, validate_args: bool = False,
        name: str = "scale_tril",
    ):  # fmt: skip
        diagonal = Softplus(validate_args=validate_args) if diag_bijector is None else diag_bijector
        if diag_shift is not None:
            diagonal = Chain([AffineScalar(shift=diag_shift), diagonal])
        parts = [TransformDiagonal(diagonal), FillTriangular()]
        super().__init__(parts, validate_args=validate_args, name=name)


boundaries(globals())
