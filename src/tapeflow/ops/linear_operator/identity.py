"""Operators of one number: multiples of the identity, and zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array import layout
from tapeflow.ops.array.construction import ones, zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.control import assertions
from tapeflow.ops.control.grouping import no_op
from tapeflow.ops.linear_operator.arguments import (
    as_matrix_tensor,
    assert_is_real,
    checked_sizes,
    commuting_hints,
    conjugated,
    parameters_of,
)
from tapeflow.ops.linear_operator.base import LinearOperator
from tapeflow.ops.linear_operator.matrix import LinearOperatorDiag, _diagonal
from tapeflow.ops.math import arithmetic, casting, division, elementwise
from tapeflow.ops.math.complex_numbers import real
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.static import static_value


def _dimensions(num_rows, num_columns, batch_shape):
    batch = [] if batch_shape is None else static_value(batch_shape)
    sizes = [None if n is None else int(n) for n in map(static_value, (num_rows, num_columns))]
    if batch is None:
        length = batch_shape.shape.as_list()[0] if batch_shape.shape.rank else None
        return TensorShape(None if length is None else [*[None] * length, *sizes])
    return TensorShape([*map(int, batch), *sizes])


@api("linalg.LinearOperatorScaledIdentity")
class LinearOperatorScaledIdentity(LinearOperator):
    """The operator c * I, given the number of rows and c, which may be a batch of numbers."""

    _matrix_dimensions = MappingProxyType({"multiplier": 0})

    def __init__(
        self, num_rows: int, multiplier: TensorLike, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool = True,
        assert_proper_shapes: bool = False, name: str = "LinearOperatorScaledIdentity",
    ):
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        parameters = parameters_of(locals())
        self._multiplier = as_matrix_tensor(multiplier, "multiplier", 0)
        self._num_rows = checked_sizes(num_rows, "num_rows", 0, assert_proper_shapes)
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

    def _shape_tensor(self):
        return concat([Shape(self._multiplier), stack([self._num_rows] * 2)], 0)

    def _scale(self, adjoint: bool = False):
        return layout.ExpandDims(layout.ExpandDims(conjugated(self._multiplier, adjoint), -1), -1)

    def _to_dense(self):
        return arithmetic.Mul(self._scale(), eye(self._num_rows, dtype=self.dtype))

    def _matmul(self, x: Tensor, adjoint: bool):
        return arithmetic.Mul(x, self._scale(adjoint))

    def _solve(self, rhs: Tensor, adjoint: bool):
        return division.RealDiv(rhs, self._scale(adjoint))

    def _diag_part(self):
        one = ones(stack([self._num_rows]), self.dtype)
        return arithmetic.Mul(layout.ExpandDims(self._multiplier, -1), one)

    def _cond(self):
        one = convert_to_tensor(self._multiplier) / self._multiplier  # NaN where it is zero
        return elementwise.abs(one)

    def _with(self, multiplier, *hints):
        return LinearOperatorScaledIdentity(self._num_rows, multiplier, *hints, is_square=True)

    def _adjoint(self):
        return self._with(conj(self._multiplier), *self._hints[:3])

    def _inverse(self):
        return self._with(division.RealDiv(1.0, self._multiplier), *self._hints[:3])

    def _cholesky(self):
        return self._with(elementwise.Sqrt(self._multiplier), True, None, True)

    def _combined(self, other: LinearOperatorDiag | LinearOperatorScaledIdentity, combine: Callable[..., Any]):
        if isinstance(other, LinearOperatorScaledIdentity):
            hints = commuting_hints(self, other)
            return self._with(combine(other.multiplier, self._multiplier), *hints)
        if isinstance(other, LinearOperatorDiag):
            scale = layout.ExpandDims(self._multiplier, -1)
            return _diagonal(self, other, combine(other.diag, scale))
        return None

    def _multiplier_of_identity(self):
        return self._multiplier

    def _simple_product(self, other):
        return self._combined(other, arithmetic.Mul)

    def _simple_quotient(self, other):
        return self._combined(other, division.RealDiv)

    def _assert_non_singular(self):
        size = elementwise.abs(self._multiplier)
        return assertions.assert_positive(size, message="LinearOperator was singular")

    def _assert_positive_definite(self):
        return assertions.assert_positive(
            real(self._multiplier), message="LinearOperator was not positive definite."
        )

    def _assert_self_adjoint(self):
        return assert_is_real(self._multiplier, "LinearOperator was not self-adjoint")

    def _determinant(self):
        return arithmetic.Pow(self._multiplier, casting.cast(self._num_rows, self.dtype))

    def _log_abs_determinant(self):
        rows = casting.cast(self._num_rows, self.dtype)
        logs = casting.cast(elementwise.Log(elementwise.abs(self._multiplier)), self.dtype)
        return arithmetic.Mul(logs, rows)

    def _eigvals(self):
        return self._diag_part()


@api("linalg.LinearOperatorIdentity")
class LinearOperatorIdentity(LinearOperatorScaledIdentity):
    """The identity operator of `num_rows` rows; with `batch_shape` a stack of them."""

    _matrix_dimensions = MappingProxyType({})

    def __init__(
        self, num_rows: int, batch_shape: Sequence[int] | None = None, dtype: DTypeLike | None = None,
        is_non_singular: bool = True, is_self_adjoint: bool = True, is_positive_definite: bool = True,
        is_square: bool = True, assert_proper_shapes: bool = False, name: str = "LinearOperatorIdentity",
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
        batch = [] if batch_shape is None else checked_sizes(batch_shape, "batch_shape", 1, assert_proper_shapes)
        super().__init__(
            num_rows, ones(batch, kind), True, True, True, True, assert_proper_shapes, name
        )
        self._parameters = parameters

    def add_to_tensor(self, mat, name: str = "add_to_tensor"):
        return super().add_to_tensor(mat)

    def _acts_as_identity(self):
        return True

    def _inverse(self):
        return self

    def _cholesky(self):
        return self

    def _simple_product(self, other):
        return other

    def _simple_quotient(self, other):
        return other

    def _cond(self):
        return ones(self.batch_shape_tensor(), self.dtype)

    def _assert_non_singular(self):
        return no_op("assert_non_singular")

    def _assert_positive_definite(self):
        return no_op("assert_positive_definite")

    def _assert_self_adjoint(self):
        return no_op("assert_self_adjoint")


@api("linalg.LinearOperatorZeros")
class LinearOperatorZeros(LinearOperator):
    """The operator that makes everything zero."""

    def __init__(
        self, num_rows: int, num_columns: int | None = None, batch_shape=None, dtype: DTypeLike | None = None,
        is_non_singular: bool = False, is_self_adjoint: bool = True, is_positive_definite: bool = False,
        is_square: bool = True, assert_proper_shapes: bool = False, name: str = "LinearOperatorZeros",
    ):
        if is_non_singular:
            raise ValueError("A zero operator is never non-singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is never positive-definite.")
        parameters = parameters_of(locals())
        num_rows = checked_sizes(num_rows, "num_rows", 0, assert_proper_shapes)
        columns = num_rows
        if num_columns is not None:
            columns = checked_sizes(num_columns, "num_columns", 0, assert_proper_shapes)
        if batch_shape is not None:
            batch_shape = checked_sizes(batch_shape, "batch_shape", 1, assert_proper_shapes)
        self._sizes = _dimensions(num_rows, columns, batch_shape)
        self._rows_and_columns = num_rows, columns
        self._batch = [] if batch_shape is None else batch_shape
        kind = dtypes.as_dtype(dtype or dtypes.float32)
        super().__init__(kind, None, False, is_self_adjoint, False, is_square, name, parameters)

    def _shape(self):
        return self._sizes

    def _shape_tensor(self):
        batch = convert_to_tensor(self._batch, dtype=dtypes.int32)
        return concat([batch, stack(list(self._rows_and_columns))], 0)

    def _to_dense(self):
        return zeros(self.shape_tensor(), self.dtype)

    def _adjoint(self):
        rows, columns = self._rows_and_columns
        square = self.is_square
        return LinearOperatorZeros(
            columns, rows, self._batch, self.dtype, False, square, False, square
        )

    def _determinant(self):
        return zeros(self.batch_shape_tensor(), self.dtype)

    def add_to_tensor(self, mat, name: str = "add_to_tensor"):
        return super().add_to_tensor(mat)

    def _simple_product(self, other):
        if not self.is_square or not other.is_square:
            raise ValueError(
                "Matmul with non-square `LinearOperator`s or non-square `LinearOperatorZeros` is not supported."
            )
        return self

    def _assert_non_singular(self):
        raise InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self):
        raise InvalidArgumentError(None, None, "Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return no_op("assert_self_adjoint")
