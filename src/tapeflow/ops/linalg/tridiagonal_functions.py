"""Products with tridiagonal matrices, and their equations, in any form of the diagonals."""

from __future__ import annotations

from collections.abc import Sequence

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array import layout, transposing
from tapeflow.ops.array.diagonal import MatrixDiagPartV3
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.linalg.tridiagonal import TridiagonalMatMul, TridiagonalSolve, padded
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.static import size_of


def compact(diagonals, form: str):
    """Diagonals in any of three forms as a stack of [3, n]: above, main, below."""
    if form == "matrix":
        dense = convert_to_tensor(diagonals)
        rows, columns = _known_size(dense, -2), _known_size(dense, -1)
        if None not in (rows, columns) and rows != columns:
            raise ValueError(
                f"Expected last two dimensions of diagonals to be same, got {rows} and {columns}"
            )
        return MatrixDiagPartV3(dense, [-1, 1], 0, "LEFT_RIGHT")
    if form == "sequence":
        if len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, main, below = (convert_to_tensor(d) for d in diagonals)
        n = size_of(main, -1)
        for name, beside in (("superdiagonal", above), ("subdiagonal", below)):
            length = _known_size(beside, -1)
            if isinstance(n, int) and length not in (None, n, n - 1):
                raise ValueError(f"Expected {name} to have length {n} or {n - 1}, got {length}.")
        above = _as_long(above, n, (0, 1))
        below = _as_long(below, n, (1, 0))
        return stack([above, main, below], -2)
    if form != "compact":
        raise ValueError(f"Unrecognized diagonals_format: {form}")
    return convert_to_tensor(diagonals)


def _known_size(x, axis: int):
    """The size of a dimension where it is known, else None."""
    rank = x.shape.rank
    return x.shape.as_list()[axis] if rank is not None and rank >= -axis else None


def _require_fit(diagonals: Tensor, rhs: Tensor):
    """Raise ValueError where `diagonals`, compact, and `rhs` are known not to fit."""
    rank, other = diagonals.shape.rank, rhs.shape.rank
    if rank is not None and rank < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {rank}")
    if _known_size(diagonals, -2) not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {_known_size(diagonals, -2)}")
    if rank is None or other is None:
        return
    if other not in (rank - 1, rank):
        raise ValueError(f"Expected the rank of rhs to be {rank - 1} or {rank}, got {other}")
    batch, own = rhs.shape[: rank - 2], diagonals.shape[:-2]
    if not own.is_compatible_with(batch):
        raise ValueError(f"Batch shapes {own} and {batch} are incompatible")


def _as_long(diagonal: Tensor, n: TensorLike, place: Sequence[int]):
    """A diagonal of n - 1 or n elements as one of n; `place` says where a zero is to come."""
    missing = n - size_of(diagonal, -1)
    if isinstance(missing, int):
        return padded(diagonal, [place]) if missing == 1 else diagonal
    return padded(diagonal, [[d * missing for d in place]])


@api("linalg.tridiagonal_matmul")
@tensor_function
def tridiagonal_matmul(
    diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact", name: str | None = None
):
    """Multiply tridiagonal matrices by matrices.

    Args:
      diagonals: what `diagonals_format` says, of a floating or complex dtype.
      rhs: `[..., M, K]` of that dtype.
      diagonals_format: "compact": the diagonals above, on and below the main one in a tensor `[..., 3, M]`, of
        which the last element of the first and the first of the third row are not read; "sequence": a list of the
        three; "matrix": dense matrices `[..., M, M]`.
      name: a name for the operation (optional).

    Returns:
      The products, `[..., M, K]`.

    Raises:
      ValueError: for another format.
    """
    d = compact(diagonals, diagonals_format)
    return TridiagonalMatMul(d[..., 0:1, :], d[..., 1:2, :], d[..., 2:3, :], rhs)


@api("linalg.tridiagonal_solve")
@tensor_function
def tridiagonal_solve(
    diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact", transpose_rhs: bool = False,
    conjugate_rhs: bool = False, name: str | None = None, partial_pivoting: bool = True,
    perturb_singular: bool = False,
):
    """Solve systems of linear equations with tridiagonal matrices.

    Args:
      diagonals: the matrices, in one of the formats of `tf.linalg.tridiagonal_matmul`.
      rhs: right sides `[..., M, K]`, or `[..., M]` for one vector each.
      diagonals_format: "compact", "sequence" or "matrix".
      transpose_rhs: whether `rhs` is transposed first.
      conjugate_rhs: whether `rhs` is conjugated first.
      name: a name for the operation (optional).
      partial_pivoting: whether rows are exchanged where that makes the result more precise.
      perturb_singular: whether small numbers are added to singular matrices, so that the result is finite.

    Returns:
      X of the shape of `rhs` (of its transpose where that is taken); NaN for singular matrices.

    Raises:
      ValueError: for another format, sizes that do not fit, and `perturb_singular` without `partial_pivoting`.
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is.")
    d = compact(diagonals, diagonals_format)
    rhs = convert_to_tensor(rhs, dtype=d.dtype)
    _require_fit(d, rhs)
    vector = None not in (rhs.shape.rank, d.shape.rank) and rhs.shape.rank == d.shape.rank - 1
    if vector:
        rhs = layout.ExpandDims(conj(rhs) if conjugate_rhs else rhs, -1)
    elif transpose_rhs:
        rhs = transposing.transpose(rhs, transposing.last_swapped(rhs), conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = conj(rhs)
    rows, sides = _known_size(d, -1), _known_size(rhs, -2)
    if None not in (rows, sides) and rows != sides:
        raise ValueError(f"Expected number of left-hand sides and right-hand sides to be equal, got {rows} and {sides}")
    x = TridiagonalSolve(d, rhs, bool(partial_pivoting), bool(perturb_singular))
    return layout.Squeeze(x, [-1]) if vector else x
