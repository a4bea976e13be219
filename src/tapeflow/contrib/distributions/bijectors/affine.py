"""Bijectors that scale and shift."""

from __future__ import annotations

from typing import Any

from tapeflow.contrib.distributions.bijectors.base import Bijector
from tapeflow.contrib.distributions.bijectors.elementwise import Elementwise
from tapeflow.contrib.distributions.scales import (
    low_rank_scale,
    scale_vectors,
    solve_vectors,
    tril_scale,
)
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.linalg import LinearOperator
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assertions import assert_none_equal_v1 as assert_none_equal
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import log
from tapeflow.v1.distributions.base import checked

__all__ = ["Affine", "AffineLinearOperator", "AffineScalar"]


def _tensor(x: TensorLike) -> Any:
    return None if x is None else convert_to_tensor(x)


def _nonzero(x: TensorLike, validate_args: bool, message: str | None = None) -> Any:
    return checked(x, validate_args, lambda: assert_none_equal(x, zeros_like(x), message=message))


class AffineScalar(Elementwise):
    """y = scale x + shift, element by element."""

    def __init__(
        self, shift: Any = None, scale: Any = None, validate_args: bool = False, name: str = "affine_scalar"
    ):
        super().__init__(validate_args, name, is_constant_jacobian=True)
        self._shift = _tensor(shift)
        self._scale = None if scale is None else _nonzero(convert_to_tensor(scale), validate_args)

    shift = property(lambda self: self._shift)
    scale = property(lambda self: self._scale)

    def _forward(self, x: Any) -> Any:
        y = identity(x)
        y = y if self.scale is None else y * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = identity(y)
        x = x if self.shift is None else x - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return convert_to_tensor(0.0, x.dtype) if self.scale is None else log(abs_(self.scale))


class _AffineOfVectors(Bijector):
    """y = scale @ x + shift, of vectors; `_scale` is a linear operator, or None."""

    _shift: Any = None
    _scale: Any = None

    shift = property(lambda self: self._shift)
    scale = property(lambda self: self._scale)

    def _describe(self, dtype: DTypeLike, validate_args: bool, name: str) -> None:
        parents = [*getattr(self._scale, "graph_parents", ()), *(() if self._shift is None else (self._shift,))]
        super().__init__(
            graph_parents=parents, is_constant_jacobian=True, dtype=dtype, validate_args=validate_args,
            forward_min_event_ndims=1, name=name,
        )  # fmt: skip

    def _require_one_dtype(self) -> Any:
        """The dtype of both. Raises TypeError where they differ."""
        shift, scale = self._shift, self._scale
        if None not in (shift, scale) and shift.dtype.base_dtype != scale.dtype.base_dtype:
            raise TypeError(f"shift.dtype({shift.dtype}) is incompatible with scale.dtype({scale.dtype}).")
        known = [part.dtype.base_dtype for part in (scale, shift) if part is not None]
        return known[0] if known else dtypes.float32

    def _scale_checks(self) -> list[Any]:
        if not self.validate_args:
            return []
        try:
            return [self._scale.assert_non_singular()]
        except NotImplementedError:
            return []

    def _forward(self, x: Any) -> Any:
        if self._scale is not None:
            with control_dependencies(self._scale_checks()):
                x = scale_vectors(self._scale, x)
        return x if self._shift is None else x + self._shift

    def _inverse(self, y: Any) -> Any:
        x = y if self._shift is None else y - self._shift
        return x if self._scale is None else solve_vectors(self._scale, x)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if self._scale is None:
            return convert_to_tensor(0.0, x.dtype)
        with control_dependencies(self._scale_checks()):
            return self._scale.log_abs_determinant()


class AffineLinearOperator(_AffineOfVectors):
    """y = scale @ x + shift, of vectors.

    Args:
      shift: [..., n]; None: zeros.
      scale: a `LinearOperator` of square matrices; None: the identity.

    Raises:
      TypeError: where `scale` is something else, or of another dtype than `shift`.
      ValueError: with `validate_args`, where `scale` was not declared to be non-singular.
    """

    def __init__(
        self, shift: Any = None, scale: Any = None, validate_args: bool = False,
        name: str = "affine_linear_operator",
    ):  # fmt: skip
        self._shift, self._scale = _tensor(shift), scale
        dtype = self._require_one_dtype()
        if scale is not None:
            if not isinstance(scale, LinearOperator):
                raise TypeError("scale is not an instance of tf.LinearOperator")
            if validate_args and not scale.is_non_singular:
                raise ValueError("Scale matrix must be non-singular.")
        self._describe(dtype, validate_args, name)


class Affine(_AffineOfVectors):
    """y = A x + shift, of vectors; A is the sum of what is given, or the identity.

    Args:
      shift: [..., n]; None: zeros.
      scale_identity_multiplier: [...], a multiple of the identity.
      scale_diag: [..., n], a diagonal.
      scale_tril: [..., n, n], a lower triangular matrix.
      scale_perturb_factor: [..., n, k], a matrix V; A has V D V^T added to it.
      scale_perturb_diag: [..., k], the diagonal D; None: ones.

    Raises:
      ValueError: where `scale_perturb_diag` is given without a factor.
    """

    def __init__(
        self, shift: Any = None, scale_identity_multiplier: Any = None, scale_diag: Any = None,
        scale_tril: Any = None, scale_perturb_factor: Any = None, scale_perturb_diag: Any = None,
        validate_args: bool = False, name: str = "affine",
    ):  # fmt: skip
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
        self._shift = _tensor(shift)
        self._is_multiple = scale_tril is None and scale_diag is None and scale_perturb_factor is None
        if self._is_multiple:
            if scale_identity_multiplier is None:
                scale_identity_multiplier = convert_to_tensor(1.0, self._require_one_dtype())
            multiplier = convert_to_tensor(scale_identity_multiplier)
            self._scale = _nonzero(multiplier, validate_args, "identity_multiplier should be non-zero.")
        else:
            factor = _tensor(scale_perturb_factor)
            size = None if factor is None else static_size(factor.shape, -2) or shape_of(factor)[-2]
            self._scale = tril_scale(
                self._shift, scale_tril, scale_diag, scale_identity_multiplier, size, validate_args
            )
            if factor is not None:
                self._scale = low_rank_scale(self._scale, factor, scale_perturb_diag)
        self._describe(self._require_one_dtype(), validate_args, name)

    def _forward(self, x: Any) -> Any:
        if not self._is_multiple:
            return super()._forward(x)
        y = x * self._scale
        return y if self._shift is None else y + self._shift

    def _inverse(self, y: Any) -> Any:
        if not self._is_multiple:
            return super()._inverse(y)
        return (y if self._shift is None else y - self._shift) / self._scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        if not self._is_multiple:
            return super()._forward_log_det_jacobian(x)
        return log(abs_(self._scale)) * cast(shape_of(x)[-1], self._scale.dtype)


boundaries(globals())
