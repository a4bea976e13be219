"""Matrices from vectors and back: triangular and tridiagonal ones, and their diagonals."""

from __future__ import annotations

import math
from collections.abc import Callable

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, tensor_function
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.band import band_part
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.diagonal import diag_part, set_diag
from tapeflow.ops.array.diagonal_matrix import diag as diag_matrix
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import sqrt

__all__ = [
    "fill_triangular", "fill_triangular_inverse", "matrix_diag_transform", "triangle_side", "tridiag",
]  # fmt: skip


def triangle_side(count: int) -> int | None:
    """The side of the triangle of so many elements, or None where there is no such triangle."""
    side = (math.isqrt(1 + 8 * count) - 1) // 2
    return side if side * (side + 1) // 2 == count else None


def _last_reversed(x: Tensor) -> Tensor:
    return reverse(x, [-1])


def _band(matrix: Tensor, upper: bool) -> Tensor:
    return band_part(matrix, 0, -1) if upper else band_part(matrix, -1, 0)


@tensor_function
def fill_triangular(x: TensorLike, upper: bool = False, name: str | None = None):
    """Triangular matrices [..., n, n] of vectors [..., n (n + 1) / 2].

    The elements spiral: they fill the last row of a lower triangle from its end, or the first row of an upper one,
    then what is left from the other side.

    Raises:
      ValueError: where no triangle has so many elements.

    >>> fill_triangular([1, 2, 3, 4, 5, 6]).numpy().tolist()
    [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
    """
    x = convert_to_tensor(x)
    count = static_size(x.shape.with_rank_at_least(1), -1)
    if count is None:
        n = cast(sqrt(0.25 + cast(2 * shape_of(x)[-1], dtypes.float32)), dtypes.int32)
    else:
        n = triangle_side(count)
        if n is None:
            raise ValueError(f"Input right-most shape ({count}) does not correspond to a triangular matrix.")
    parts = [x, _last_reversed(x[..., n:])] if upper else [x[..., n:], _last_reversed(x)]
    flat = concat(parts, -1)
    square = reshape(flat, concat([shape_of(x)[:-1], [n, n]], 0))
    found = _band(square, upper)
    side = n if isinstance(n, int) else None
    found.set_shape(x.shape.with_rank_at_least(1)[:-1].concatenate([side, side]))
    return found


@tensor_function
def fill_triangular_inverse(x: TensorLike, upper: bool = False, name: str | None = None):
    """The vectors that `fill_triangular` makes these matrices of."""
    x = convert_to_tensor(x)
    side = static_size(x.shape.with_rank_at_least(2), -1)
    n = shape_of(x)[-1] if side is None else side
    count = n * (n + 1) // 2
    leading = shape_of(x)[:-2]
    flat = reshape(_band(x, upper), concat([leading, [n * n]], 0))
    ways = [flat, _last_reversed(flat)]
    # All elements but the first n may be at either of two places, and the other one is outside of the triangle.
    first, second = ways if upper else ways[::-1]
    nothing = zeros(concat([leading, [n]], 0), x.dtype)
    found = first[..., :count] + concat([nothing, second[..., : count - n]], -1)
    known = None if side is None else int(count)
    found.set_shape(x.shape.with_rank_at_least(2)[:-2].concatenate([known]))
    return found


@tensor_function
def tridiag(
    below: TensorLike | None = None, diag: TensorLike | None = None, above: TensorLike | None = None,
    name: str | None = None,
):  # fmt: skip
    """Matrices [..., n, n] with these elements on and beside their diagonals.

    Args:
      below, above: [..., n - 1], beside the diagonal.
      diag: [..., n], on the diagonal.

    Raises:
      ValueError: where none is given.
    """
    parts = [] if diag is None else [diag_matrix(diag)]
    if below is not None:
        parts.append(diag_matrix(convert_to_tensor(below), k=-1))
    if above is not None:
        parts.append(diag_matrix(convert_to_tensor(above), k=1))
    if not parts:
        raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
    return sum(parts[1:], parts[0])


@tensor_function
def matrix_diag_transform(
    matrix: TensorLike, transform: Callable[..., TensorLike] | None = None, name: str | None = None
):
    """Matrices whose diagonals a function was applied to; None: the same."""
    matrix = convert_to_tensor(matrix)
    return matrix if transform is None else set_diag(matrix, transform(diag_part(matrix)))


def square_sides(shape: TensorShape) -> int | None:
    """The side of square matrices. Raises ValueError where they are not square."""
    rows, columns = static_size(shape, -2), static_size(shape, -1)
    if rows is None or columns is None:
        return None
    if rows != columns:
        raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
    return rows


boundaries(globals())
