"""The linear operators of a special structure: permutations, reflections, tridiagonal and Toeplitz matrices."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.array import diagonal_matrix, layout
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape, broadcast_static_shape
from tapeflow.ops.array.construction import fill, ones, zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control import assertions
from tapeflow.ops.control.grouping import group, no_op
from tapeflow.ops.indexing import gather
from tapeflow.ops.linalg import tridiagonal, tridiagonal_functions
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.norms import normalize
from tapeflow.ops.linear_operator.arguments import (
    as_matrix_tensor,
    assert_is_real,
    parameters_of,
    squared,
    with_common_batch,
)
from tapeflow.ops.linear_operator.base import LinearOperator
from tapeflow.ops.math import arithmetic, casting, comparison, elementwise
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.static import static_value


@api("linalg.LinearOperatorPermutation")
class LinearOperatorPermutation(LinearOperator):
    """The operator that brings rows into the order `perm`."""

    _matrix_dimensions = MappingProxyType({"perm": 1})

    def __init__(
        self, perm: Sequence[int], dtype: DTypeLike = dtypes.float32, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool | None = None,
        name: str = "LinearOperatorPermutation",
    ):
        if is_non_singular is False:
            raise ValueError(
                f"A Permutation operator is always non-singular. Received: {is_non_singular}"
            )
        if is_square is False:
            raise ValueError(f"A Permutation operator is always square. Received: {is_square}")
        parameters = parameters_of(locals())
        self._perm = convert_to_tensor(perm)
        if self._perm.shape.rank == 0:
            raise ValueError(f"Argument `perm` must have at least 1 dimension. Received: {perm}.")
        if not self._perm.dtype.is_integer:
            raise TypeError(f"Argument `perm` must be integer dtype. Received: {perm}.")
        known = static_value(self._perm)
        if known is not None and np.any(np.sort(known, -1) != np.arange(known.shape[-1])):
            raise ValueError(
                f"Argument `perm` must be a vector of unique integers from 0 to {known.shape[-1] - 1}."
            )
        super().__init__(
            dtype, None, True, is_self_adjoint, is_positive_definite, True, name, parameters
        )

    @property
    def perm(self):
        return self._perm

    def _shape(self):
        return squared(self._perm.shape)

    def _shape_tensor(self):
        return squared(Shape(self._perm))

    def _to_dense(self):
        columns = casting.cast(range_(Shape(self._perm)[-1]), self._perm.dtype)
        hits = comparison.Equal(layout.ExpandDims(self._perm, -1), columns)
        return casting.cast(hits, self.dtype)

    def _solve(self, rhs: Tensor, adjoint: bool):
        return self._matmul(rhs, not adjoint)

    def _log_abs_determinant(self):
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _cond(self):
        return ones(self.batch_shape_tensor(), self.dtype)

    def _assert_non_singular(self):
        return no_op("assert_non_singular")


@api("linalg.LinearOperatorHouseholder")
class LinearOperatorHouseholder(LinearOperator):
    """The reflection at the hyperplane orthogonal to `reflection_axis`."""

    _matrix_dimensions = MappingProxyType({"reflection_axis": 1})

    def __init__(
        self, reflection_axis: TensorLike, is_non_singular: bool | None = None, is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None, is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ):
        if is_non_singular is False:
            raise ValueError("A Householder operator is always non-singular.")
        if is_self_adjoint is False:
            raise ValueError("A Householder operator is always self adjoint.")
        if is_positive_definite:
            raise ValueError("A Householder operator is always non-positive definite.")
        parameters = parameters_of(locals())
        self._axis = as_matrix_tensor(reflection_axis, "reflection_axis", 1)
        super().__init__(self._axis.dtype, None, True, True, False, True, name, parameters)

    @property
    def reflection_axis(self):
        return self._axis

    def _shape(self):
        return squared(self._axis.shape)

    def _shape_tensor(self):
        return squared(Shape(self._axis))

    def _matmul(self, x: Tensor, adjoint: bool):
        v = layout.ExpandDims(normalize(self._axis, axis=-1)[0], -1)
        along = matmul(v, x, adjoint_a=True)
        return arithmetic.Sub(x, arithmetic.Mul(matmul(v, along), 2))

    def _solve(self, rhs: Tensor, adjoint: bool):
        return self._matmul(rhs, adjoint)

    def _determinant(self):
        return fill(Shape(self._axis)[:-1], convert_to_tensor(-1, dtype=self.dtype))

    def _log_abs_determinant(self):
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _eigvals(self):
        one = ones(Shape(self._axis), self.dtype)
        return concat([elementwise.Neg(one[..., :1]), one[..., 1:]], -1)

    def _cond(self):
        return ones(self.batch_shape_tensor(), self.dtype)

    def _inverse(self):
        return self

    def _assert_non_singular(self):
        return no_op("assert_non_singular")

    def _assert_positive_definite(self):
        raise InvalidArgumentError(
            None, None, "Householder operators are always non-positive definite."
        )

    def _assert_self_adjoint(self):
        return no_op("assert_self_adjoint")


def _held(x: TensorLike) -> Any:
    """`x` as a tensor; a variable is read at each use."""
    return x if hasattr(x, "assign_add") else convert_to_tensor(x)


@api("linalg.LinearOperatorTridiag")
class LinearOperatorTridiag(LinearOperator):
    """The operator of three diagonals; see `tridiagonal_matmul` for their forms."""

    def __init__(
        self, diagonals: TensorLike, diagonals_format: str = "compact", is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool | None = None,
        name: str = "LinearOperatorTridiag",
    ):
        if is_square is False:
            raise ValueError("`LinearOperatorTridiag` must be square")
        parameters = parameters_of(locals())
        if diagonals_format == "sequence":
            parts = diagonals if isinstance(diagonals, (list, tuple)) else [_held(diagonals)[i] for i in range(3)]
            self._given = [_held(part) for part in parts]
        else:
            self._given = _held(diagonals)
        self._format = diagonals_format
        self._matrix_dimensions = {"diagonals": [1, 1, 1] if diagonals_format == "sequence" else 2}
        compact = self._diagonals
        self._sizes = compact.shape[:-2].concatenate(compact.shape[-1:])
        super().__init__(
            compact.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def diagonals(self):
        return self._given

    @property
    def diagonals_format(self):
        return self._format

    def _shape(self):
        return squared(self._sizes)

    def _shape_tensor(self):
        return squared(Shape(self._diagonals[..., 1, :]))

    @property
    def _diagonals(self):
        return tridiagonal_functions.compact(self._given, self._format)

    def _to_dense(self):
        return diagonal_matrix.MatrixDiagV3(self._diagonals, [-1, 1], -1, -1, 0, "LEFT_RIGHT")

    def _solve(self, rhs: Tensor, adjoint: bool):
        diagonals = tridiagonal.adjoint_diagonals(self._diagonals) if adjoint else self._diagonals
        return tridiagonal.TridiagonalSolve(*with_common_batch(diagonals, rhs))

    def _diag_part(self):
        return self._diagonals[..., 1, :]

    def _assert_self_adjoint(self):
        diagonals = self._diagonals
        main = assert_is_real(
            diagonals[..., 1, :],
            "This tridiagonal operator contained non-zero imaginary values on the diagonal.",
        )
        beside = assertions.assert_equal(
            conj(diagonals[..., 2, 1:]),
            diagonals[..., 0, :-1],
            message="This tridiagonal operator has non-conjugate subdiagonal and superdiagonal.",
        )
        return group(main, beside)


@api("linalg.LinearOperatorToeplitz")
class LinearOperatorToeplitz(LinearOperator):
    """The operator of a matrix with constant diagonals, given its first column and row."""

    _matrix_dimensions = MappingProxyType({"col": 1, "row": 1})

    def __init__(
        self, col: TensorLike, row: TensorLike, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ):
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        parameters = parameters_of(locals())
        self._col = as_matrix_tensor(col, "col", 1)
        self._row = as_matrix_tensor(row, "row", 1)
        super().__init__(
            self._row.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def col(self):
        return self._col

    @property
    def row(self):
        return self._row

    def _shape(self):
        return squared(broadcast_static_shape(self._col.shape, self._row.shape))

    def _shape_tensor(self):
        return squared(broadcast_dynamic_shape(Shape(self._col), Shape(self._row)))

    def _to_dense(self):
        n = Shape(self._row)[-1]
        col = arithmetic.AddV2(self._col, arithmetic.Mul(self._row, 0))
        row = arithmetic.AddV2(self._row, arithmetic.Mul(self._col, 0))
        # The diagonals from the lowest to the highest; element [i, j] is the one j - i above the main one.

        diagonals = concat([reverse(col, [-1]), row[..., 1:]], -1)
        places = arithmetic.Sub(range_(n), layout.ExpandDims(range_(n), -1))
        return gather.gather(diagonals, arithmetic.AddV2(places, arithmetic.Sub(n, 1)), axis=-1)

    def _diag_part(self):
        return arithmetic.Mul(self._col[..., :1], ones(Shape(self._row), self.dtype))

    def _assert_self_adjoint(self):
        return assertions.assert_equal(
            self._row,
            self._col,
            message="row and col are not the same, and so this operator is not self-adjoint.",
        )
