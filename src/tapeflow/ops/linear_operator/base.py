"""Matrices known by their structure: the class of all linear operators, and what follows from `to_dense` alone.

A kind of operator says how to make it dense and, where its structure allows better, how to multiply, solve and take
determinants; everything else is the same for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import gradient_parts, nest
from tapeflow.core.tensor_shape import TensorShape, dimension_at_index
from tapeflow.core.tracking.module import Module
from tapeflow.ops.array import layout
from tapeflow.ops.array.diagonal import diag_part
from tapeflow.ops.array.sizes import Shape, Size
from tapeflow.ops.array.tensor_diagonal import eye
from tapeflow.ops.control import assertions
from tapeflow.ops.linalg.decomposition import cholesky, svd
from tapeflow.ops.linalg.eigen import eigvalsh
from tapeflow.ops.linalg.inverse import det, slogdet
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.matrix_function import adjoint as adjoint_of
from tapeflow.ops.linalg.solve import cholesky_solve, solve
from tapeflow.ops.linear_operator import dispatch
from tapeflow.ops.linear_operator.arguments import (
    algebra_of_operators,
    check_dimension,
    product_of,
    simple_quotient,
    with_common_batch,
)
from tapeflow.ops.linear_operator.slicing import sliced
from tapeflow.ops.linear_operator.spec import LinearOperatorSpec, flat_parts, with_flat_parts
from tapeflow.ops.math import arithmetic, division, elementwise, reductions
from tapeflow.ops.math.complex_numbers import real

if TYPE_CHECKING:
    from tapeflow.ops.linear_operator.identity import (
        LinearOperatorScaledIdentity,
    )
    from tapeflow.ops.linear_operator.matrix import (
        LinearOperatorDiag,
        LinearOperatorLowerTriangular,
    )


@api("linalg.LinearOperator")
class LinearOperator(Module):
    """A matrix, or a stack of them, of shape batch_shape + [range_dimension, domain_dimension].

    The hints `is_non_singular`, `is_self_adjoint`, `is_positive_definite` and `is_square` are promises that allow
    better algorithms; None promises nothing. A kind of operator defines `_shape` (what is known of the shape without
    running anything), `_shape_tensor`, `_to_dense` or `_matmul` and, as far as it knows better ways, `_solve`,
    `_determinant`, `_log_abs_determinant`, `_diag_part`, `_trace`, `_eigvals`, `_cond`, the assertions, and
    `_adjoint`, `_inverse`, `_cholesky`, `_product`, `_quotient` where these are of a simple kind too. Variables are
    read at each use, so that gradients reach them. Raises ValueError for hints that contradict each other.
    """

    def __init__(
        self, dtype: DTypeLike, graph_parents=None, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool | None = None,
        name: str | None = None, parameters: dict[str, Any] | None = None,
    ):
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular matrix is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint matrix is always square.")
            is_square = True
        self._dtype = dtypes.as_dtype(dtype)
        self._graph_parents = list(graph_parents or ())
        self._hints = (is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._name = name or type(self).__name__
        self._scope = f"{self._name}/"
        self._parameters = dict(parameters or {})

    # What a kind of operator defines.

    # How many dimensions of each parameter are those of one matrix, the others being batch dimensions.
    _matrix_dimensions: Mapping[str, Any] = MappingProxyType({})

    def _shape(self) -> TensorShape:
        raise TypeError(f"{type(self).__name__} does not say its shape")

    def _shape_tensor(self):
        return Shape(self.to_dense())

    def _to_dense(self):
        return self._matmul(self._identity(), False)

    def _matmul(self, x, adjoint: bool):
        return matmul(self.to_dense(), x, adjoint_a=adjoint)

    def _can_use_cholesky(self):
        return bool(self.is_self_adjoint and self.is_positive_definite)

    def _solve(self, rhs, adjoint: bool):
        dense, rhs = with_common_batch(self.to_dense(), rhs)
        if self._can_use_cholesky():
            return cholesky_solve(cholesky(dense), rhs)
        return solve(dense, rhs, adjoint=adjoint)

    def _determinant(self):
        if self._can_use_cholesky():
            return elementwise.Exp(self.log_abs_determinant())
        return det(self.to_dense())

    def _log_abs_determinant(self):
        if self._can_use_cholesky():
            diagonal = diag_part(cholesky(self.to_dense()))
            return arithmetic.Mul(reductions.reduce_sum(elementwise.Log(diagonal), -1), 2)
        return slogdet(self.to_dense())[1]

    def _diag_part(self):
        return diag_part(self.to_dense())

    def _trace(self):
        return reductions.reduce_sum(self.diag_part(), -1)

    def _eigvals(self):
        return eigvalsh(self.to_dense())

    def _cond(self):
        if self.is_self_adjoint:
            values = elementwise.abs(self._eigvals())
        else:
            values = svd(self.to_dense(), compute_uv=False)
        return division.RealDiv(
            reductions.reduce_max(values, -1), reductions.reduce_min(values, -1)
        )

    def _adjoint(self):
        return algebra_of_operators().LinearOperatorAdjoint(self)

    def _inverse(self):
        return algebra_of_operators().LinearOperatorInversion(self)

    def _cholesky(self):
        from tapeflow.ops.linear_operator.matrix import LinearOperatorLowerTriangular

        return LinearOperatorLowerTriangular(cholesky(self.to_dense()), is_non_singular=True)

    def _acts_as_identity(self):
        """Whether products with the operator are what they are taken of."""
        return False

    def _multiplier_of_identity(self):
        """The number of which the operator is the multiple of the identity, or None."""

    def _simple_product(self, other: LinearOperator):
        """The product with another operator as an operator of a simple kind, or None."""

    def _simple_quotient(self, other):
        """The inverse times another operator as an operator of a simple kind, or None."""

    def _assert_non_singular(self):
        if self._can_use_cholesky():
            return self.assert_positive_definite()
        known = [d for d in self.shape.as_list()[-2:] if d] if self.shape.rank else []
        eps = np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps * max([100, *known])
        return assertions.assert_less(
            self._cond(), 1 / eps, message="Singular matrix up to precision epsilon."
        )

    def _assert_positive_definite(self):
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        diagonal = real(diag_part(cholesky(self.to_dense())))
        return assertions.assert_positive(diagonal, message="Matrix was not positive definite.")

    def _assert_self_adjoint(self):
        dense = self.to_dense()
        return assertions.assert_equal(
            dense, adjoint_of(dense), message="Matrix was not equal to its adjoint."
        )

    # Properties.

    @property
    def tensor_parameters(self):
        """The names of the parameters that are tensors or operators."""
        return tuple(self._matrix_dimensions)

    @property
    def _type_spec(self):
        return LinearOperatorSpec.of(self)

    @property
    def dtype(self):
        return self._dtype

    @property
    def name(self):
        return self._name

    @property
    def parameters(self):
        return dict(self._parameters)

    def __getitem__(self, slices: Any) -> LinearOperator:
        """The operators that slices of the batch dimensions pick."""
        return sliced(self, slices)

    @property
    def graph_parents(self):
        return list(self._graph_parents)

    @property
    def is_non_singular(self):
        return self._hints[0]

    @property
    def is_self_adjoint(self):
        return self._hints[1]

    @property
    def is_positive_definite(self):
        return self._hints[2]

    @property
    def is_square(self):
        """Whether it is square, by its shape or by promise. Raises ValueError where these contradict."""
        rows, columns = self.shape.as_list()[-2:] if self.shape.rank else (None, None)
        if rows is None or columns is None:
            return self._hints[3]
        if self._hints[3] is False and rows == columns:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        if self._hints[3] and rows != columns:
            raise ValueError(
                f"User provided is_square hint {self._hints[3]} is contradicted by the shape {self.shape}"
            )
        return rows == columns

    @property
    def shape(self):
        return self._shape()

    @property
    def batch_shape(self):
        return self.shape[:-2]

    @property
    def tensor_rank(self):
        return self.shape.rank

    @property
    def range_dimension(self):
        return dimension_at_index(self.shape, -2)

    @property
    def domain_dimension(self):
        return dimension_at_index(self.shape, -1)

    @property
    def H(self):
        return self.adjoint()

    def shape_tensor(self, name: str = "shape_tensor"):
        """The shape as an int32 vector."""
        if self.shape.is_fully_defined():
            return convert_to_tensor(self.shape.as_list(), dtype=dtypes.int32)
        return self._shape_tensor()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor"):
        """The shape of the batch of matrices as a tensor, also where only the run knows it."""
        return self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor"):
        """The rank, batch dimensions included, as a tensor, also where only the run knows it."""
        if self.tensor_rank is None:
            return Size(self._shape_tensor())
        return convert_to_tensor(self.tensor_rank, dtype=dtypes.int32)

    def range_dimension_tensor(self, name: str = "range_dimension_tensor"):
        """The number of rows as a tensor, also where only the run knows it."""
        return self.shape_tensor()[-2]

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor"):
        """The number of columns as a tensor, also where only the run knows it."""
        return self.shape_tensor()[-1]

    # Operations.

    def _identity(self):
        return eye(self.domain_dimension_tensor(), dtype=self.dtype)

    def _operand(self, x: TensorLike, what: str):
        x = convert_to_tensor(x, dtype_hint=self.dtype)
        if x.dtype != self.dtype:
            raise TypeError(f"{what} is expected to have dtype {self.dtype} but got {x.dtype}.")
        return x

    def to_dense(self, name: str = "to_dense"):
        """The operator as a plain tensor."""
        return self._to_dense()

    def matmul(self, x: TensorLike, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"):
        """The product with `x`, a stack of matrices or another operator."""
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            check_dimension(left, -1, right, -2)
            return product_of(left, right)
        x = self._operand(x, "x")
        check_dimension(self, -2 if adjoint else -1, x, -1 if adjoint_arg else -2)
        return self._matmul(adjoint_of(x) if adjoint_arg else x, bool(adjoint))

    def __matmul__(self, other: LinearOperatorDiag | LinearOperatorLowerTriangular | LinearOperatorScaledIdentity):
        return self.matmul(other)

    def matvec(self, x: np.ndarray, adjoint: bool = False, name: str = "matvec"):
        """The product with `x`, a stack of vectors."""
        x = self._operand(x, "x")
        return layout.Squeeze(self.matmul(layout.ExpandDims(x, -1), adjoint), [-1])

    def _require_solvable(self, what: str):
        if self.is_non_singular is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to be singular."
            )
        if self.is_square is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to not be square."
            )

    def solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"):
        """The X of A @ X = rhs. Raises NotImplementedError where the operator is known to have no inverse."""
        self._require_solvable("Exact solve")
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = rhs.adjoint() if adjoint_arg else rhs
            check_dimension(left, -1, right, -2)
            quotient = simple_quotient(left, right)
            return product_of(left.inverse(), right) if quotient is None else quotient
        rhs = self._operand(rhs, "rhs")
        check_dimension(self, -1 if adjoint else -2, rhs, -1 if adjoint_arg else -2)
        return self._solve(adjoint_of(rhs) if adjoint_arg else rhs, bool(adjoint))

    def solvevec(self, rhs, adjoint: bool = False, name: str = "solve"):
        """The x of A @ x = rhs, for a stack of vectors."""
        rhs = self._operand(rhs, "rhs")
        return layout.Squeeze(self.solve(layout.ExpandDims(rhs, -1), adjoint), [-1])

    def adjoint(self, name: str = "adjoint"):
        """The conjugate transpose."""
        return self if self.is_self_adjoint else self._adjoint()

    def inverse(self, name: str = "inverse"):
        """The inverse operator. Raises ValueError where there is known to be none."""
        if self.is_square is False:
            raise ValueError(
                "Cannot take the Inverse: This operator represents a non square matrix."
            )
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        return self._inverse()

    def cholesky(self, name: str = "cholesky"):
        """The Cholesky factor as an operator. Raises ValueError unless known to be positive definite."""
        if not self._can_use_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix."
            )
        return self._cholesky()

    def _require_square(self, what: str):
        if self.is_square is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to not be square."
            )

    def determinant(self, name: str = "det"):
        """The determinants. Raises NotImplementedError where it is not square."""
        self._require_square("Determinant")
        return self._determinant()

    def log_abs_determinant(self, name: str = "log_abs_det"):
        """The logarithms of the magnitudes of the determinants."""
        self._require_square("Determinant")
        return self._log_abs_determinant()

    def diag_part(self, name: str = "diag_part"):
        """The main diagonals."""
        return self._diag_part()

    def trace(self, name: str = "trace"):
        """The sums of the main diagonals."""
        return self._trace()

    def eigvals(self, name: str = "eigvals"):
        """The eigenvalues of a self-adjoint operator. Raises NotImplementedError for others."""
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        return self._eigvals()

    def cond(self, name: str = "cond"):
        """The ratios of the largest to the smallest singular values."""
        return self._cond()

    def add_to_tensor(self, x: Tensor, name: str = "add_to_tensor"):
        """A plain tensor plus this operator."""
        return arithmetic.AddV2(self._operand(x, "x"), self.to_dense())

    # Assertions: they look at once in eager execution; in a graph they return the operation that does.

    def assert_non_singular(self, name: str = "assert_non_singular"):
        """Check that the condition number is finite in the operator's precision. Raises InvalidArgumentError."""
        return self._assert_non_singular()

    def assert_positive_definite(self, name: str = "assert_positive_definite"):
        """Check that it is positive definite. Raises InvalidArgumentError where it is not."""
        return self._assert_positive_definite()

    def assert_self_adjoint(self, name: str = "assert_self_adjoint"):
        """Check that it is equal to its adjoint. Raises InvalidArgumentError where it is not."""
        return self._assert_self_adjoint()

    def __repr__(self):
        return f"<tf.linalg.{type(self).__name__} {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


dispatch.register(LinearOperator)
nest.register_composite(LinearOperator, flat_parts, with_flat_parts)
gradient_parts.register_several(LinearOperator)
