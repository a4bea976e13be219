"""The linear operators that scale vectors, from what programs give of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.linalg import (
    LinearOperator,
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorLowerTriangular,
    LinearOperatorLowRankUpdate,
    LinearOperatorScaledIdentity,
)
from tapeflow.ops.array.band import band_part
from tapeflow.ops.array.broadcasting import broadcast_dynamic_shape
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.diagonal import diag_part, set_diag
from tapeflow.ops.array.diagonal_matrix import diag
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.control.assertions import assert_none_equal_v1 as assert_none_equal
from tapeflow.ops.control.assertions import assert_positive_v1 as assert_positive
from tapeflow.ops.linalg.matrix_function import matrix_transpose
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.elementwise import square
from tapeflow.v1.distributions.base import checked, sizes_tensor

__all__ = [
    "diag_scale", "is_diagonal", "low_rank_scale", "scale_vectors", "shapes_of", "solve_vectors", "squared",
    "tril_scale", "weighted_sum",
]  # fmt: skip


_MULTIPLES = (LinearOperatorIdentity, LinearOperatorScaledIdentity)


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


def low_rank_scale(scale: Any, factor: Any, update: Any = None) -> LinearOperator:
    """`scale` + V D V^T, which is to be positive definite.

    Args:
      scale: the operator.
      factor: [..., n, k], V.
      update: [..., k], the diagonal of D; None: ones.
    """
    return LinearOperatorLowRankUpdate(
        scale, u=_tensor(factor), diag_update=_tensor(update), is_diag_update_positive=update is None,
        is_non_singular=True, is_self_adjoint=True, is_positive_definite=True, is_square=True,
    )  # fmt: skip


def shapes_of(loc: Any, scale: LinearOperator) -> tuple[Any, Any]:
    """The shapes of a batch and of an event of vectors `loc` + `scale` @ x, as tensors.

    Args:
      loc: [..., n], or None.
      scale: an operator over [..., n, n].

    Raises:
      ValueError: where their sizes are known and differ.
    """
    size = static_size(scale.shape, -2)
    event_shape = reshape(scale.range_dimension_tensor() if size is None else size, [1])
    batch_shape = sizes_tensor(scale.batch_shape, scale.batch_shape_tensor)
    if loc is None:
        return batch_shape, event_shape
    loc_size = static_size(loc.shape, -1)
    if loc_size not in (None, 1, size) and size is not None:
        raise ValueError(f"Event size of 'scale' ({size}) could not be broadcast up to that of 'loc' ({loc_size}).")
    loc_batch = TensorShape(None) if loc.shape.rank is None else loc.shape[:-1]
    loc_batch_shape = sizes_tensor(loc_batch, lambda: shape_of(loc)[:-1])
    return broadcast_dynamic_shape(batch_shape, loc_batch_shape), event_shape


def weighted_sum(weights: Sequence[Any], operators: Sequence[LinearOperator]) -> LinearOperator:
    """The sum of operators that are each multiplied by a number.

    Args:
      weights: a tensor [...] for each operator.
      operators: identities, scaled ones, diagonal and lower triangular operators over [..., n, n].

    Raises:
      NotImplementedError: for another operator.
    """
    for each in operators:
        if not (is_diagonal(each) or isinstance(each, LinearOperatorLowerTriangular)):
            raise NotImplementedError(f"Unsupported Linop type ({type(each).__name__})")
    hints: dict[str, Any] = {
        name: all(getattr(each, name) for each in operators) or None
        for name in ("is_self_adjoint", "is_positive_definite")
    }
    pairs = list(zip(weights, operators))
    if all(isinstance(each, _MULTIPLES) for each in operators):
        multiplier = sum(w * (each.multiplier if isinstance(each, LinearOperatorScaledIdentity) else 1.0)
                         for w, each in pairs)  # fmt: skip
        return LinearOperatorScaledIdentity(operators[0].range_dimension_tensor(), multiplier, **hints)
    if all(is_diagonal(each) for each in operators):
        return LinearOperatorDiag(sum(w[..., None] * each.diag_part() for w, each in pairs), **hints)
    tril = sum(w[..., None, None] * each.to_dense() for w, each in pairs)
    return LinearOperatorLowerTriangular(tril, **hints)


def squared(scale: LinearOperator, diagonal_only: bool = False) -> Any:
    """An operator times its transpose, [..., n, n], or its diagonal, [..., n]."""
    if is_diagonal(scale):
        found = square(scale.diag_part())
        return found if diagonal_only else diag(found)
    found = scale.matmul(scale.to_dense(), adjoint_arg=True)
    return diag_part(found) if diagonal_only else found


def is_diagonal(scale: Any) -> bool:
    """Whether an operator is of a class of diagonal ones. Raises TypeError for what is no operator."""
    if not isinstance(scale, LinearOperator):
        raise TypeError(f"Expected argument 'scale' to be instance of LinearOperator. Found: {scale}")
    return isinstance(scale, (*_MULTIPLES, LinearOperatorDiag))


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
