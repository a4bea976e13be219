"""The linear operators that scale vectors, from what programs give of them."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.linalg import (
    LinearOperator,
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorScaledIdentity,
)
from tapeflow.ops.array.band import band_part
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.diagonal import diag_part, set_diag
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assertions import assert_none_equal_v1 as assert_none_equal
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.linalg.matrix_function import matrix_transpose
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.v1.distributions.base import checked

__all__ = ["diag_scale", "is_diagonal", "scale_vectors", "solve_vectors", "tril_scale"]


def _tensor(x: TensorLike) -> Any:
    return None if x is None else convert_to_tensor(x)


def _checked_diagonal(x: TensorLike, diagonal: Any, validate_args: bool, positive: bool) -> Any:
    def check() -> Any:
        if positive:
            return assert_positive(diagonal(x), message="diagonal part must be positive")
        found = diagonal(x)
        return assert_none_equal(found, zeros_like(found), message="diagonal part must be non-zero")

    return checked(x, validate_args, check)


def tril_scale(
    loc: Any = None, scale_tril: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None,
    size: Any = None, validate_args: bool = False, positive: bool = False,
) -> LinearOperator:  # fmt: skip
    """The sum of a lower triangular matrix, a diagonal and a multiple of the identity, as far as they are given.

    Args:
      loc: [..., n], of which the size is taken where nothing else says it.
      scale_tril: [..., n, n].
      scale_diag: [..., n].
      scale_identity_multiplier: [...].
      size: n.
      validate_args: whether it is checked that the diagonal is not zero.
      positive: whether the diagonal is to be positive.
    """
    if scale_tril is None:
        return diag_scale(loc, scale_diag, scale_identity_multiplier, size, validate_args, positive)
    tril = band_part(_tensor(scale_tril), -1, 0)
    diagonal = diag_part(tril)
    if scale_diag is not None:
        diagonal = diagonal + _tensor(scale_diag)
    if scale_identity_multiplier is not None:
        diagonal = diagonal + _tensor(scale_identity_multiplier)[..., None]
    tril = set_diag(tril + zeros_like(diagonal)[..., None], diagonal)
    return LinearOperatorLowerTriangular(
        _checked_diagonal(tril, diag_part, validate_args, positive), is_non_singular=True, is_self_adjoint=False,
        is_positive_definite=positive or None,
    )  # fmt: skip


def diag_scale(
    loc: Any = None, scale_diag: Any = None, scale_identity_multiplier: Any = None, size: Any = None,
    validate_args: bool = False, positive: bool = False,
) -> LinearOperator:  # fmt: skip
    """The same without a triangular matrix. Raises ValueError where nothing says the size of vectors."""
    loc, scale_diag, multiplier = _tensor(loc), _tensor(scale_diag), _tensor(scale_identity_multiplier)
    if scale_diag is not None:
        if multiplier is not None:
            scale_diag = scale_diag + multiplier[..., None]
        return LinearOperatorDiag(
            _checked_diagonal(scale_diag, lambda x: x, validate_args, positive), is_non_singular=True,
            is_self_adjoint=True, is_positive_definite=positive or None,
        )  # fmt: skip
    if loc is None and size is None:
        raise ValueError("Cannot infer `event_shape` unless `loc` or `shape_hint` is specified.")
    if size is None:
        known = static_size(loc.shape, -1)
        size = shape_of(loc)[-1] if known is None else known
    if multiplier is None:
        return LinearOperatorIdentity(
            size, dtype=loc.dtype.base_dtype, is_self_adjoint=True, is_positive_definite=True,
            assert_proper_shapes=validate_args,
        )  # fmt: skip
    return LinearOperatorScaledIdentity(
        size, _checked_diagonal(multiplier, lambda x: x, validate_args, positive), is_non_singular=True,
        is_self_adjoint=True, is_positive_definite=positive or None, assert_proper_shapes=validate_args,
    )  # fmt: skip


def is_diagonal(scale: Any) -> bool:
    """Whether an operator is of a class of diagonal ones. Raises TypeError for what is no operator."""
    if not isinstance(scale, LinearOperator):
        raise TypeError(f"Expected argument 'scale' to be instance of LinearOperator. Found: {scale}")
    return isinstance(scale, (LinearOperatorIdentity, LinearOperatorScaledIdentity, LinearOperatorDiag))


def _one_matrix(scale: LinearOperator, x: Any) -> bool:
    """Whether all vectors of `x` meet the same dense matrix, so that they are columns of one product."""
    return scale.tensor_rank == 2 and x.shape.rank is not None and x.shape.rank > 1 and not is_diagonal(scale)


def _as_columns(x: Any) -> Any:
    return matrix_transpose(reshape(x, [-1, shape_of(x)[-1]]))


def scale_vectors(scale: LinearOperator, x: Any) -> Any:
    """The products of an operator and vectors [..., n]."""
    if not _one_matrix(scale, x):
        return scale.matvec(x)
    found = reshape(matrix_transpose(scale.matmul(_as_columns(x))), shape_of(x))
    found.set_shape(x.shape)
    return found


def solve_vectors(scale: LinearOperator, y: Any) -> Any:
    """The vectors whose products with an operator are `y`, [..., n]."""
    if not _one_matrix(scale, y):
        return scale.solvevec(y)
    found = reshape(matrix_transpose(scale.solve(_as_columns(y))), shape_of(y))
    found.set_shape(y.shape)
    return found


boundaries(globals())
