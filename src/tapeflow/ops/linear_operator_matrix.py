"""The linear operators that are one matrix: full, diagonal, triangular, identity and other structures."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops import (
    arithmetic,
    casting,
    comparison,
    diagonal,
    elementwise,
    gather,
    layout,
    reduction,
    tridiagonal,
)
from tapeflow.ops.array import Shape
from tapeflow.ops.construction import fill, ones, zeros
from tapeflow.ops.construction import range as range_
from tapeflow.ops.joining import concat
from tapeflow.ops.linear_operator import (
    LinearOperator,
    as_matrix_tensor,
    conjugated,
    parameters_of,
    with_common_batch,
)
from tapeflow.ops.matmul import matmul
from tapeflow.ops.solve import triangular_solve
from tapeflow.ops.static import static_value
from tapeflow.ops.tensor_diagonal import eye


class LinearOperatorFullMatrix(LinearOperator):
    """The operator of a plain matrix."""

    def __init__(
        self,
        matrix,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorFullMatrix",
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

    def _to_dense(self):
        return self._matrix


class LinearOperatorDiag(LinearOperator):
    """The operator of a diagonal matrix, given its diagonal."""

    def __init__(
        self,
        diag,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorDiag",
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
        shape = self._diag.shape
        return shape.concatenate(shape[-1:])

    def _to_dense(self):
        return diagonal.MatrixDiag(self._diag)

    def _matmul(self, x, adjoint):
        return arithmetic.Mul(layout.ExpandDims(conjugated(self._diag, adjoint), -1), x)

    def _solve(self, rhs, adjoint):
        return arithmetic.RealDiv(rhs, layout.ExpandDims(conjugated(self._diag, adjoint), -1))

    def _determinant(self):
        return reduction.reduce_prod(self._diag, -1)

    def _log_abs_determinant(self):
        logs = elementwise.Log(elementwise.abs(self._diag))
        return casting.cast(reduction.reduce_sum(logs, -1), self.dtype)

    def _diag_part(self):
        return self._diag

    def _eigvals(self):
        return self._diag


class LinearOperatorLowerTriangular(LinearOperator):
    """The operator of the lower triangle of a matrix."""

    def __init__(
        self,
        tril,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorLowerTriangular",
    ):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        parameters = parameters_of(locals())
        self._given = as_matrix_tensor(tril, "tril")
        self._tril = diagonal.MatrixBandPart(self._given, -1, 0)
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

    def _to_dense(self):
        return self._tril

    def _solve(self, rhs, adjoint):
        return triangular_solve(self._tril, rhs, lower=True, adjoint=adjoint)

    def _determinant(self):
        return reduction.reduce_prod(self._diag_part(), -1)

    def _log_abs_determinant(self):
        logs = elementwise.Log(elementwise.abs(self._diag_part()))
        return casting.cast(reduction.reduce_sum(logs, -1), self.dtype)

    def _diag_part(self):
        return diagonal.MatrixDiagPart(self._given)


def _dimensions(num_rows, num_columns, batch_shape):
    batch = [] if batch_shape is None else static_value(batch_shape)
    sizes = [None if n is None else int(n) for n in map(static_value, (num_rows, num_columns))]
    if batch is None:
        length = batch_shape.shape.as_list()[0] if batch_shape.shape.rank else None
        return TensorShape(None if length is None else [*[None] * length, *sizes])
    batch = [int(n) for n in batch]
    if any(n is not None and n < 0 for n in (*sizes, *batch)):
        raise ValueError(
            f"num_rows and batch_shape must be non-negative. Found: {num_rows}, {batch_shape}"
        )
    return TensorShape([*batch, *sizes])


class LinearOperatorScaledIdentity(LinearOperator):
    """The operator c * I, given the number of rows and c, which may be a batch of numbers."""

    def __init__(
        self,
        num_rows,
        multiplier,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorScaledIdentity",
    ):
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        parameters = parameters_of(locals())
        self._multiplier = as_matrix_tensor(multiplier, "multiplier", 0)
        self._num_rows = num_rows
        if not self._multiplier.dtype.is_complex:
            is_self_adjoint = True
        super().__init__(
            self._multiplier.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def multiplier(self):
        return self._multiplier

    def _shape(self):
        return self._multiplier.shape.concatenate(_dimensions(self._num_rows, self._num_rows, None))

    def _scale(self, adjoint=False):
        return layout.ExpandDims(layout.ExpandDims(conjugated(self._multiplier, adjoint), -1), -1)

    def _to_dense(self):
        return arithmetic.Mul(self._scale(), eye(self._num_rows, dtype=self.dtype))

    def _matmul(self, x, adjoint):
        return arithmetic.Mul(x, self._scale(adjoint))

    def _solve(self, rhs, adjoint):
        return arithmetic.RealDiv(rhs, self._scale(adjoint))

    def _diag_part(self):
        one = ones([self._num_rows], self.dtype)
        return arithmetic.Mul(layout.ExpandDims(self._multiplier, -1), one)

    def _determinant(self):
        return elementwise_power(self._multiplier, self._num_rows)

    def _log_abs_determinant(self):
        rows = casting.cast(self._num_rows, self.dtype)
        logs = casting.cast(elementwise.Log(elementwise.abs(self._multiplier)), self.dtype)
        return arithmetic.Mul(logs, rows)

    def _eigvals(self):
        return self._diag_part()


def elementwise_power(x, count):
    return arithmetic.Pow(x, casting.cast(count, x.dtype))


class LinearOperatorIdentity(LinearOperatorScaledIdentity):
    """The identity operator of `num_rows` rows; with `batch_shape` a stack of them."""

    def __init__(
        self,
        num_rows,
        batch_shape=None,
        dtype=None,
        is_non_singular=True,
        is_self_adjoint=True,
        is_positive_definite=True,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorIdentity",
    ):
        if not is_self_adjoint:
            raise ValueError("An identity operator is always self adjoint.")
        if not is_non_singular:
            raise ValueError("An identity operator is always non-singular.")
        if not is_positive_definite:
            raise ValueError("An identity operator is always positive-definite.")
        if not is_square:
            raise ValueError("An identity operator is always square.")
        parameters = parameters_of(locals())
        kind = dtypes.as_dtype(dtype or dtypes.float32)
        batch = [] if batch_shape is None else batch_shape
        super().__init__(
            num_rows, ones(batch, kind), True, True, True, True, assert_proper_shapes, name
        )
        self._parameters = parameters

    def add_to_tensor(self, mat, name="add_to_tensor"):
        return super().add_to_tensor(mat)


class LinearOperatorZeros(LinearOperator):
    """The operator that makes everything zero."""

    def __init__(
        self,
        num_rows,
        num_columns=None,
        batch_shape=None,
        dtype=None,
        is_non_singular=False,
        is_self_adjoint=True,
        is_positive_definite=False,
        is_square=True,
        assert_proper_shapes=False,
        name="LinearOperatorZeros",
    ):
        if is_non_singular:
            raise ValueError("A zero operator is never non-singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is never positive-definite.")
        parameters = parameters_of(locals())
        columns = num_rows if num_columns is None else num_columns
        self._sizes = _dimensions(num_rows, columns, batch_shape)
        kind = dtypes.as_dtype(dtype or dtypes.float32)
        super().__init__(kind, None, False, is_self_adjoint, False, is_square, name, parameters)

    def _shape(self):
        return self._sizes

    def _to_dense(self):
        return zeros(self._sizes, self.dtype)

    def _determinant(self):
        return zeros(self.batch_shape, self.dtype)

    def add_to_tensor(self, mat, name="add_to_tensor"):
        return super().add_to_tensor(mat)


class LinearOperatorPermutation(LinearOperator):
    """The operator that brings rows into the order `perm`."""

    def __init__(
        self,
        perm,
        dtype=dtypes.float32,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorPermutation",
    ):
        if is_non_singular is False:
            raise ValueError(
                f"A Permutation operator is always non-singular. Received: {is_non_singular}"
            )
        if is_square is False:
            raise ValueError(f"A Permutation operator is always square. Received: {is_square}")
        parameters = parameters_of(locals())
        self._perm = convert_to_tensor(perm)
        if not self._perm.dtype.is_integer:
            raise TypeError(f"perm must be integral dtype. Found: {self._perm.dtype}")
        super().__init__(
            dtype, None, True, is_self_adjoint, is_positive_definite, True, name, parameters
        )

    @property
    def perm(self):
        return self._perm

    def _shape(self):
        return self._perm.shape.concatenate(self._perm.shape[-1:])

    def _to_dense(self):
        columns = casting.cast(range_(Shape(self._perm)[-1]), self._perm.dtype)
        hits = comparison.Equal(layout.ExpandDims(self._perm, -1), columns)
        return casting.cast(hits, self.dtype)

    def _solve(self, rhs, adjoint):
        return self._matmul(rhs, not adjoint)

    def _log_abs_determinant(self):
        return zeros(self.batch_shape, self.dtype)


class LinearOperatorHouseholder(LinearOperator):
    """The reflection at the hyperplane orthogonal to `reflection_axis`."""

    def __init__(
        self,
        reflection_axis,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorHouseholder",
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
        return self._axis.shape.concatenate(self._axis.shape[-1:])

    def _matmul(self, x, adjoint):
        from tapeflow.ops.matrix_function import normalize

        v = layout.ExpandDims(normalize(self._axis, axis=-1)[0], -1)
        along = matmul(v, x, adjoint_a=True)
        return arithmetic.Sub(x, arithmetic.Mul(matmul(v, along), 2))

    def _solve(self, rhs, adjoint):
        return self._matmul(rhs, adjoint)

    def _determinant(self):
        return fill(Shape(self._axis)[:-1], convert_to_tensor(-1, dtype=self.dtype))

    def _log_abs_determinant(self):
        return zeros(self.batch_shape, self.dtype)


class LinearOperatorTridiag(LinearOperator):
    """The operator of three diagonals; see `tridiagonal_matmul` for their forms."""

    def __init__(
        self,
        diagonals,
        diagonals_format="compact",
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorTridiag",
    ):
        if is_square is False:
            raise ValueError("`LinearOperatorTridiag` must be square")
        parameters = parameters_of(locals())
        self._given, self._format = diagonals, diagonals_format
        self._diagonals = tridiagonal.compact(diagonals, diagonals_format)
        super().__init__(
            self._diagonals.dtype,
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
        shape = self._diagonals.shape
        return shape[:-2].concatenate(shape[-1:]).concatenate(shape[-1:])

    def _to_dense(self):
        return diagonal.MatrixDiagV3(self._diagonals, [-1, 1], -1, -1, 0, "LEFT_RIGHT")

    def _solve(self, rhs, adjoint):
        diagonals = tridiagonal.adjoint_diagonals(self._diagonals) if adjoint else self._diagonals
        return tridiagonal.TridiagonalSolve(*with_common_batch(diagonals, rhs))

    def _diag_part(self):
        return self._diagonals[..., 1, :]


class LinearOperatorToeplitz(LinearOperator):
    """The operator of a matrix with constant diagonals, given its first column and row."""

    def __init__(
        self,
        col,
        row,
        is_non_singular=None,
        is_self_adjoint=None,
        is_positive_definite=None,
        is_square=None,
        name="LinearOperatorToeplitz",
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
        both = arithmetic.AddV2(self._col, self._row).shape
        return both.concatenate(both[-1:])

    def _to_dense(self):
        n = Shape(self._row)[-1]
        col = arithmetic.AddV2(self._col, arithmetic.Mul(self._row, 0))
        row = arithmetic.AddV2(self._row, arithmetic.Mul(self._col, 0))
        # The diagonals from the lowest to the highest; element [i, j] is the one j - i above the main one.
        from tapeflow.ops.reorder import reverse

        diagonals = concat([reverse(col, [-1]), row[..., 1:]], -1)
        places = arithmetic.Sub(range_(n), layout.ExpandDims(range_(n), -1))
        return gather.gather(diagonals, arithmetic.AddV2(places, arithmetic.Sub(n, 1)), axis=-1)

    def _diag_part(self):
        return arithmetic.Mul(self._col[..., :1], ones(Shape(self._row), self.dtype))
