"""Circulant matrices, and block circulant ones of depth 2 and 3: what a Fourier transform makes diagonal."""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import ones, zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.control import assertions
from tapeflow.ops.linalg.matrix_function import matrix_transpose
from tapeflow.ops.linear_operator.arguments import (
    assert_is_real,
    assert_no_zeros,
    commuting_hints,
    parameters_of,
)
from tapeflow.ops.linear_operator.base import LinearOperator
from tapeflow.ops.math import division, elementwise, reductions
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.complex_numbers import complex as complex_
from tapeflow.ops.math.complex_numbers import imag, real
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.signal.spectral import BACKWARD, FORWARD


def _as_complex(x: Tensor):
    if x.dtype.is_complex:
        return x
    kind = dtypes.complex128 if x.dtype == dtypes.float64 else dtypes.complex64
    return cast(x, kind)


class _BlockCirculant(LinearOperator):
    """The operator whose eigenvalues, in the order of the transform, are `spectrum` [..., *block]."""

    _depth = 1

    def __init__(
        self, spectrum, input_output_dtype, is_non_singular: bool | None, is_self_adjoint: bool | None,
        is_positive_definite: bool | None, is_square: bool, name: str, parameters,
    ):  # fmt: skip
        self._spectrum = spectrum if hasattr(spectrum, "assign") else convert_to_tensor(spectrum)
        rank = self._spectrum.shape.rank
        if rank is not None and rank < self._depth:
            raise ValueError(
                f"Argument `spectrum` must have at least {self._depth} dimensions. Received: {self._spectrum}."
            )
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError(
                    "A real spectrum always corresponds to a self-adjoint operator. Expected argument "
                    f"`is_self_adjoint` to be True. Received: {is_self_adjoint}."
                )
            is_self_adjoint = True
        if is_square is False:
            raise ValueError(
                "A [[nested] block] circulant operator is always square. Expected argument `is_square` to be "
                f"True. Received: {is_square}."
            )
        super().__init__(
            dtypes.as_dtype(input_output_dtype),
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def spectrum(self):
        return self._spectrum

    @property
    def block_depth(self):
        return self._depth

    @property
    def block_shape(self):
        return self._spectrum.shape[-self._depth :]

    def block_shape_tensor(self):
        """The block's shape as an int32 vector."""
        if self.block_shape.is_fully_defined():
            return convert_to_tensor(self.block_shape.as_list(), dtype=dtypes.int32)
        return shape_of(self._spectrum)[-self._depth :]

    def convolution_kernel(self, name: str = "convolution_kernel"):
        """The kernel with which the operator convolves: the inverse transform of the spectrum."""
        return cast(BACKWARD[self._depth](_as_complex(self._values())), self.dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum"):
        """Check that the kernel is real. Raises InvalidArgumentError."""
        size = elementwise.abs(imag(self.convolution_kernel()))
        eps = float(np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps)
        limit = eps * cast(self.domain_dimension_tensor(), size.dtype)
        return assertions.assert_less(size, limit, message="Spectrum was not Hermitian")

    def _assert_non_singular(self):
        return assert_no_zeros(
            self._values(), "Singular operator:  Spectrum contained zero values."
        )

    def _assert_positive_definite(self):
        return assertions.assert_positive(
            real(self._values()),
            message="Not positive definite:  Real part of spectrum was not all positive.",
        )

    def _assert_self_adjoint(self):
        return assert_is_real(
            self._values(),
            "Not self-adjoint:  The spectrum contained non-zero imaginary part.",
        )

    def _values(self):
        return convert_to_tensor(self._spectrum)

    def _axes(self) -> list[int]:
        return list(range(-self._depth, 0))

    def _shape(self):
        shape = self._spectrum.shape
        sizes = shape[-self._depth :]
        n = math.prod(sizes.as_list()) if sizes.is_fully_defined() else None
        return shape[: -self._depth].concatenate(TensorShape([n, n]))

    def _shape_tensor(self):
        shape = shape_of(self._spectrum)
        n = reductions.reduce_prod(shape[-self._depth :])
        return concat([shape[: -self._depth], stack([n, n])], 0)

    def _flat(self, x: Tensor):
        """`x` [..., *block] with its block in one dimension."""
        return reshape(x, concat([shape_of(x)[: -self._depth], [-1]], 0))

    def _filtered(self, x: Tensor, values: Tensor):
        """The columns of `x` [..., n, k], with their transforms multiplied with `values` [..., *block]."""
        x = cast(x, values.dtype)
        rows = matrix_transpose(x)
        blocks = reshape(rows, concat([shape_of(rows)[:-1], self.block_shape_tensor()], 0))
        values = expand_dims(values, -1 - self._depth)
        y = BACKWARD[self._depth](FORWARD[self._depth](blocks) * values)
        return cast(matrix_transpose(self._flat(y)), self.dtype)

    def _complex_values(self, adjoint: bool):
        values = _as_complex(self._values())
        return conj(values) if adjoint else values

    def _matmul(self, x: Tensor, adjoint: bool):
        return self._filtered(x, self._complex_values(adjoint))

    def _solve(self, rhs: Tensor, adjoint: bool):
        return self._filtered(rhs, 1 / self._complex_values(adjoint))

    def _determinant(self):
        return cast(reductions.reduce_prod(self._values(), self._axes()), self.dtype)

    def _log_abs_determinant(self):
        logs = elementwise.Log(elementwise.abs(self._values()))
        return cast(reductions.reduce_sum(logs, self._axes()), self.dtype)

    def _trace(self):
        values = self._values()
        real_part = reductions.reduce_sum(real(values), self._axes())
        if not self.dtype.is_complex:
            return cast(real_part, self.dtype)
        if self.is_self_adjoint:
            return cast(complex_(real_part, zeros_like(real_part)), self.dtype)
        return cast(reductions.reduce_sum(values, self._axes()), self.dtype)

    def _diag_part(self):
        n = cast(self.domain_dimension_tensor(), self.dtype)
        return expand_dims(self.trace() / n, -1) * ones(self.shape_tensor()[:-1], self.dtype)

    def _eigvals(self):
        return self._flat(self._values())

    def _cond(self):
        sizes = elementwise.abs(self._flat(self._values()))
        return division.RealDiv(reductions.reduce_max(sizes, -1), reductions.reduce_min(sizes, -1))

    def _like(self, spectrum, hints=None):
        non_singular, self_adjoint, positive = hints or self._hints[:3]
        return type(self)(
            spectrum,
            self.dtype,
            is_non_singular=non_singular,
            is_self_adjoint=self_adjoint,
            is_positive_definite=positive,
            is_square=True,
        )

    def _adjoint(self):
        values = self._values()
        return self._like(conj(values) if values.dtype.is_complex else values)

    def _inverse(self):
        return self._like(1.0 / self._values())

    def _simple_product(self, other):
        if type(other) is not type(self):
            return None
        return self._like(self._values() * other._values(), commuting_hints(self, other))

    def _simple_quotient(self, other):
        if type(other) is not type(self):
            return None
        return self._like(other._values() / self._values(), commuting_hints(self, other))


@api("linalg.LinearOperatorCirculant")
class LinearOperatorCirculant(_BlockCirculant):
    """A circulant matrix [..., n, n]: every column is the one before, rotated by one.

    `spectrum` [..., n] are its eigenvalues, the transform of its first column; `input_output_dtype` is the dtype of
    what it is multiplied with. Raises ValueError for hints that contradict the spectrum.
    """

    _matrix_dimensions = MappingProxyType({"spectrum": 1})

    _depth = 1

    def __init__(
        self, spectrum: TensorLike, input_output_dtype: DType = dtypes.complex64, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool = True,
        name: str = "LinearOperatorCirculant",
    ):
        parameters = parameters_of(locals())
        super().__init__(
            spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
            is_square, name, parameters,
        )  # fmt: skip


@api("linalg.LinearOperatorCirculant2D")
class LinearOperatorCirculant2D(_BlockCirculant):
    """A block circulant matrix of circulant blocks, of `spectrum` [..., n0, n1]; see `LinearOperatorCirculant`."""

    _matrix_dimensions = MappingProxyType({"spectrum": 2})

    _depth = 2

    def __init__(
        self, spectrum, input_output_dtype: DTypeLike = dtypes.complex64, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool = True,
        name: str = "LinearOperatorCirculant2D",
    ):
        parameters = parameters_of(locals())
        super().__init__(
            spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
            is_square, name, parameters,
        )  # fmt: skip


@api("linalg.LinearOperatorCirculant3D")
class LinearOperatorCirculant3D(_BlockCirculant):
    """A nested block circulant matrix, of `spectrum` [..., n0, n1, n2]; see `LinearOperatorCirculant`."""

    _matrix_dimensions = MappingProxyType({"spectrum": 3})

    _depth = 3

    def __init__(
        self, spectrum, input_output_dtype: DTypeLike = dtypes.complex64, is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None, is_positive_definite: bool | None = None, is_square: bool = True,
        name: str = "LinearOperatorCirculant3D",
    ):
        parameters = parameters_of(locals())
        super().__init__(
            spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
            is_square, name, parameters,
        )  # fmt: skip
