"""What operators make of their arguments, and of their hints together."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.broadcasting import BroadcastTo, broadcast_dynamic_shape
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import Shape
from tapeflow.ops.control import assertions
from tapeflow.ops.control.grouping import control_dependencies, no_op
from tapeflow.ops.control.shape_assertions import assert_rank
from tapeflow.ops.math import elementwise
from tapeflow.ops.math.complex_numbers import imag
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.static import static_value

if TYPE_CHECKING:
    from tapeflow.ops.linear_operator.base import LinearOperator


def parameters_of(scope: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a constructor, from its `locals()`."""
    return {k: v for k, v in scope.items() if k not in ("self", "__class__")}


def both(left: Any, right, hint: str, false_wins: bool = False):
    """What the hints of two operators say of a commuting product: True if both are, False if one is singular."""
    hints = getattr(left, hint), getattr(right, hint)
    if false_wins and False in hints:
        return False
    return True if all(hints) else None


def acts_as_identity(operator: LinearOperator) -> bool:
    """Whether products with the operator are what they are taken of."""
    return operator._acts_as_identity()


def multiplier_of(operator: LinearOperator):
    """The number of which an operator is known to be the multiple of the identity, or None."""
    return operator._multiplier_of_identity()


def simple_quotient(left: LinearOperator, right: LinearOperator):
    """The inverse of an operator times another as an operator of a simple kind, or None."""
    return left._simple_quotient(right)


def product_of(left, right):
    """The product of two operators: of a simple kind where one of the two knows, else a composition."""
    simple = left._simple_product(right)
    if simple is not None:
        return simple
    if acts_as_identity(right):
        return left
    LinearOperatorComposition = algebra_of_operators().LinearOperatorComposition
    ends = static_size(left.shape, -2), static_size(right.shape, -1)
    square = True if left.is_square and right.is_square else None
    if square is None and None not in ends:
        square = ends[0] == ends[1]
    non_singular = both(left, right, "is_non_singular", True) if square is not False else False
    return LinearOperatorComposition([left, right], is_non_singular=non_singular, is_square=square)


def static_size(shape, axis):
    """A size of a shape of which the rank may be unknown: an int or None."""
    return shape.as_list()[axis] if shape.rank is not None and shape.rank >= -axis else None


def as_matrix_tensor(x: Any, name: str, rank=2):
    """`x` as a tensor, or the variable itself, of at least `rank` dimensions.

    Raises ValueError for less, TypeError for integers.
    """
    x = x if hasattr(x, "assign_add") else convert_to_tensor(x)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise TypeError(
            f"Argument `{name}` must have a floating or complex dtype. Found: {x.dtype}"
        )
    if x.shape.rank is not None and x.shape.rank < rank:
        raise ValueError(
            f"Argument `{name}` must have at least {rank} dimensions. Found: {x.shape}"
        )
    return x


def with_common_batch(*tensors):
    """Stacks of matrices, broadcast to one batch shape."""
    batches = [x.shape[:-2] for x in tensors]
    if all(b.is_fully_defined() and b == batches[0] for b in batches):
        return tensors
    batch = Shape(tensors[0])[:-2]
    for x in tensors[1:]:
        batch = broadcast_dynamic_shape(batch, Shape(x)[:-2])
    return [BroadcastTo(x, concat([batch, Shape(x)[-2:]], 0)) for x in tensors]


def conjugated(x: Tensor, condition: bool):
    return conj(x) if condition else x


def squared(shape):
    """The shape of matrices of which `shape` is that of the diagonals: a `TensorShape` or a vector."""
    if isinstance(shape, TensorShape):
        return shape.concatenate(shape[-1:])
    return concat([shape, shape[-1:]], 0)


def assert_no_zeros(x: Tensor, message: str):
    """Check that no element of `x` is zero."""
    size = elementwise.abs(x)
    return assertions.assert_less(convert_to_tensor(0, dtype=size.dtype), size, message=message)


def assert_is_real(x, message: str):
    """Check that no element of `x` has an imaginary part."""
    x = convert_to_tensor(x)
    if not x.dtype.is_complex:
        return no_op("assert_self_adjoint")
    part = imag(x)
    return assertions.assert_equal(part, convert_to_tensor(0, dtype=part.dtype), message=message)


def commuting_hints(left: LinearOperator, right: LinearOperator):
    """Whether the product of two operators that commute is non-singular, self-adjoint, positive definite."""
    adjoint = both(left, right, "is_self_adjoint")
    positive = both(left, right, "is_positive_definite") if adjoint else None
    return both(left, right, "is_non_singular", True), adjoint, positive


def algebra_of_operators() -> ModuleType:
    from tapeflow.ops.linear_operator import algebra  # a circle: it is made of this module

    return algebra


def check_dimension(operator: LinearOperator, axis: int, x, at: int):
    """Raise ValueError if a dimension of the operator and one of `x` are known and differ."""
    ours, theirs = static_size(operator.shape, axis), static_size(x.shape, at)
    if ours is not None and theirs is not None and ours != theirs:
        raise ValueError(
            f"Dimensions are not compatible: operator of shape {operator.shape} and argument of {x.shape}"
        )


def checked_sizes(sizes: Any, what: str, rank: int, when_run: bool) -> Any:
    """A number of rows (`rank` 0) or a batch shape (1), as given unless it has to be checked as the graph runs.

    Raises TypeError for what are no integers, and ValueError for another rank and for negative numbers.
    """
    given = convert_to_tensor(sizes, dtypes.int32 if isinstance(sizes, (list, tuple)) and not len(sizes) else None)
    if when_run:
        checks = [
            assert_rank(given, rank, message=f"Argument {what} must be a {rank}-D Tensor."),
            assertions.assert_non_negative(given, message=f"Argument {what} must be non-negative."),
        ]
        with control_dependencies([check for check in checks if check is not None]):
            sizes = given = identity(given)
    if not given.dtype.is_integer:
        raise TypeError(f"Argument {what} must be integer type.  Found: {given!s}")
    if given.shape.rank not in (None, rank):
        raise ValueError(f"Argument {what} must be a {rank}-D Tensor.  Found: {sizes}")
    known = static_value(given)
    if known is not None and (known < 0).any():
        raise ValueError(f"Argument {what} must be non-negative.  Found: {sizes}")
    return sizes
