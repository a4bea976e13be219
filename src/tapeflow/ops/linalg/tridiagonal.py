"""Products and equations of matrices that are zero but near the diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array import layout, padding
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.diagonal import MatrixDiagPartV3
from tapeflow.ops.array.joining import ConcatV2, concat, stack
from tapeflow.ops.array.rows import Rank
from tapeflow.ops.linalg.solve import DENSE, solve_triangular
from tapeflow.ops.math import arithmetic, reduction
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.static import size_of
from tapeflow.ops.table import COMPLEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

TYPES = {"T": (dtypes.float32, dtypes.float64, *COMPLEX)}


def _check(length: int, rhs: Any, diagonals: Any):
    if rhs.ndim < 2 or rhs.shape[-2] != length:
        raise invalid(
            f"The length of diagonals and of rhs differ: {shape_text(diagonals.shape)} vs. {shape_text(rhs.shape)}"
        )


def _product_rule(call: ShapeCall):
    rhs = shapes.at_least(call.shape(3), 2)
    diagonals: shapes.Shape = None
    for i in range(3):
        diagonals = shapes.merge(diagonals, shapes.at_least(call.shape(i), 2))
    if diagonals is None:
        return [rhs]
    shapes.exactly(diagonals[-2], 1)
    return [shapes.merge((*diagonals[:-2], diagonals[-1], None), rhs)]


@op(
    "TridiagonalMatMul",
    "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T",
    types=TYPES,
    shape=_product_rule,
)
def TridiagonalMatMul(xp: ModuleType, superdiag: Array, maindiag: Array, subdiag: Array, rhs: Array):
    for part in (superdiag, maindiag, subdiag):
        if part.ndim < 2 or part.shape[-2] != 1:
            raise invalid(f"Diagonals must be stacks of rows, got shape {shape_text(part.shape)}")
        _check(part.shape[-1], rhs, part)
    above, main, below = (xp.swapaxes(d, -1, -2) for d in (superdiag, maindiag, subdiag))
    zero = xp.zeros_like(rhs[..., :1, :])
    after = xp.concatenate([rhs[..., 1:, :], zero], -2)
    before = xp.concatenate([zero, rhs[..., :-1, :]], -2)
    return above * after + main * rhs + below * before


@TridiagonalMatMul.gradient(needs="superdiag, maindiag, subdiag, rhs")
def _(call: GradientCall, dy: Tensor):
    above, main, below = (conj(d) for d in (call.superdiag, call.maindiag, call.subdiag))
    rhs = conj(call.rhs)
    of_above = arithmetic.Mul(_moved(rhs, -1), dy)
    of_below = arithmetic.Mul(_moved(rhs, 1), dy)
    column = [layout.transpose(d, layout.last_swapped(d)) for d in (above, main, below)]
    of_rhs = arithmetic.AddV2(
        arithmetic.Mul(column[1], dy),
        arithmetic.AddV2(
            _moved(arithmetic.Mul(column[0], dy), 1),
            _moved(arithmetic.Mul(column[2], dy), -1),
        ),
    )
    rows = (
        layout.ExpandDims(reduction.Sum(d, [-1]), -2)
        for d in (of_above, arithmetic.Mul(rhs, dy), of_below)
    )
    return (*rows, of_rhs)


def _moved(x: Tensor, by: int):
    """The rows of `x` one further down (1) or up (-1), zeros where none come from."""
    kept = x[..., :-1, :] if by > 0 else x[..., 1:, :]
    return _padded(kept, [(1, 0) if by > 0 else (0, 1), (0, 0)])


def _padded(x: Tensor, last: Sequence[Any]):
    """`x` with zeros around its last dimensions."""
    rank = x.shape.rank
    if rank is not None:
        return padding.Pad(x, [*[(0, 0)] * (rank - len(last)), *last])

    return padding.Pad(x, ConcatV2([zeros([Rank(x) - len(last), 2], dtypes.int32), last], 0))


@TridiagonalMatMul.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(1, 3), rng.normal(1, 3), rng.normal(1, 3), rng.normal(3, 2))
    yield Sample(rng.normal(2, 1, 3), rng.normal(2, 1, 3), rng.normal(2, 1, 3), rng.normal(2, 3, 1))
    yield Sample(
        rng.normal(1, 3),
        rng.normal(1, 3),
        rng.normal(1, 3),
        rng.normal(4, 2),
        raises=InvalidArgumentError,
    )


@TridiagonalMatMul.reference
def _(superdiag: np.ndarray, maindiag: np.ndarray, subdiag: np.ndarray, rhs: np.ndarray):
    return np.stack(
        [
            _dense(a[0], b[0], c[0]) @ r
            for a, b, c, r in zip(
                *(x.reshape(-1, *x.shape[-2:]) for x in (superdiag, maindiag, subdiag, rhs))
            )
        ]
    ).reshape(rhs.shape)


def _dense(above, main, below):
    return np.diag(above[:-1], 1) + np.diag(main) + np.diag(below[1:], -1)


def _solve_rule(call: ShapeCall):
    diagonals, rhs = shapes.at_least(call.shape(0), 2), shapes.at_least(call.shape(1), 2)
    if diagonals is not None:
        shapes.exactly(diagonals[-2], 3)
    if diagonals is None or rhs is None:
        return [rhs]
    batch = shapes.merge(diagonals[:-2], rhs[:-2]) or ()
    return [(*batch, shapes.same_dimension(diagonals[-1], rhs[-2]), rhs[-1])]


@op(
    "TridiagonalSolve",
    "diagonals: T, rhs: T -> output: T",
    types=TYPES,
    attrs={"partial_pivoting": True, "perturb_singular": False},
    shape=_solve_rule,
)
def TridiagonalSolve(
    xp: ModuleType, diagonals: Array, rhs: Array, partial_pivoting: bool, perturb_singular: bool
):
    if diagonals.ndim < 2 or diagonals.shape[-2] != 3:
        raise invalid(f"Expected 3 diagonals got {shape_text(diagonals.shape)}")
    _check(diagonals.shape[-1], rhs, diagonals)
    if perturb_singular:
        if not partial_pivoting:
            raise invalid("Setting perturb_singular requires also setting partial_pivoting.")
        if xp is not np:
            raise UnimplementedError(None, None, "TridiagonalSolve with perturb_singular cannot be compiled")
        return _perturbed(diagonals, rhs)
    above, main, below = (diagonals[..., i, :] for i in range(3))
    n = main.shape[-1]
    if not partial_pivoting:
        return _without_pivoting(xp, above, main, below, rhs)
    dense = (
        xp.eye(n) * main[..., None]
        + xp.eye(n, k=1) * above[..., None]
        + xp.eye(n, k=-1) * below[..., None]
    )
    try:
        x = xp.linalg.solve(dense, rhs).astype(rhs.dtype)
        # NumPy raises where JAX answers with infinities.
        return x if xp is np else xp.where(xp.isfinite(x).all((-2, -1), keepdims=True), x, xp.nan)
    except np.linalg.LinAlgError:
        return np.stack([_solved(a, b) for a, b in zip(_rows(dense), _rows(rhs))]).reshape(rhs.shape)


TridiagonalSolve.batching(batching.leading(least=[2, 1]))


def _rows(x):
    return x.reshape(-1, *x.shape[-2:])


def _solved(dense, rhs):
    """The solution of one equation of a batch in which not all have one."""
    try:
        return np.linalg.solve(dense, rhs).astype(rhs.dtype)
    except np.linalg.LinAlgError:
        return np.full_like(rhs, np.nan)


def _without_pivoting(xp, above, main, below, rhs):
    """Thomas's algorithm; all of a solution is NaN where a pivot is zero."""
    n, ratios, values = main.shape[-1], [], []
    regular = xp.ones(main.shape[:-1], bool)
    with np.errstate(all="ignore"):
        for i in range(n):
            pivot, value = main[..., i, None], rhs[..., i, :]
            if i:
                pivot = pivot - below[..., i, None] * ratios[-1]
                value = value - below[..., i, None] * values[-1]
            regular &= pivot[..., 0] != 0
            ratios.append(above[..., i, None] / pivot)
            values.append(value / pivot)
        for i in reversed(range(n - 1)):
            values[i] = values[i] - ratios[i] * values[i + 1]
    x = xp.stack(values, -2) if n else rhs
    return xp.where(regular[..., None, None], x, xp.nan).astype(rhs.dtype)


def _perturbed(diagonals, rhs):
    out = np.empty_like(rhs)
    with np.errstate(all="ignore"):
        for at in np.ndindex(rhs.shape[:-2]):
            out[at] = _one_perturbed(diagonals[at], rhs[at])
    return out


def _one_perturbed(diagonals, rhs):
    """The solution of one equation, whose pivots grow until no element of it overflows (LAPACK's lagtf and lagts)."""
    above, main, below = (np.array(d) for d in diagonals)
    x, n = np.array(rhs), len(main)
    above[-1:] = 0
    second = np.zeros_like(main)  # what an exchange of rows leaves two places above the diagonal
    for k in range(n - 1):
        low = below[k + 1]
        if abs(main[k]) >= abs(low):
            factor = low / main[k] if low else low
            main[k + 1] -= factor * above[k]
            x[k + 1] -= factor * x[k]
            continue
        factor = main[k] / low
        main[k], main[k + 1], above[k] = low, above[k] - factor * main[k + 1], main[k + 1]
        if k < n - 2:
            second[k], above[k + 1] = above[k + 1], -factor * above[k + 1]
        x[[k, k + 1]] = x[k + 1], x[k] - factor * x[k + 1]
    limits = np.finfo(main.dtype)
    largest = max((np.abs(d).max() for d in (main, above, second) if n), default=0)
    for k in reversed(range(n)):
        value, pivot = x[k], main[k]
        if k + 1 < n:
            value = value - above[k] * x[k + 1]
        if k + 2 < n:
            value = value - second[k] * x[k + 2]
        step = max(limits.eps * largest, limits.tiny)
        if np.iscomplexobj(pivot):
            step = step * pivot / abs(pivot) if pivot else step
        else:
            step = np.copysign(step, pivot)
        # A quotient overflows where the pivot is smaller than the number by more than the range of such numbers.
        while pivot == 0 or (np.abs(value) * limits.tiny > abs(pivot)).any():
            pivot, step = pivot + step, step * 2
        x[k] = value / pivot
    return x


@TridiagonalSolve.gradient(needs="diagonals, output")
def _(call: GradientCall, dy: Tensor):
    adjoint = adjoint_diagonals(call.diagonals)
    of_rhs = TridiagonalSolve(adjoint, dy, call.partial_pivoting, call.perturb_singular)
    x = conj(call.output)
    parts = [
        arithmetic.Mul(reduction.Sum(arithmetic.Mul(of_rhs, moved), [-1]), -1)
        for moved in (_moved(x, -1), x, _moved(x, 1))
    ]

    return stack(parts, -2), of_rhs


def adjoint_diagonals(diagonals: Tensor):
    """The diagonals of the adjoint: the upper and the lower one change places."""
    d = conj(diagonals)

    above = _padded(d[..., 2:3, 1:], [(0, 0), (0, 1)])
    below = _padded(d[..., 0:1, :-1], [(0, 0), (1, 0)])
    return concat([above, d[..., 1:2, :], below], -2)


@TridiagonalSolve.samples
def _(rng):
    yield Sample(rng.normal(3, 4) + np.array([[0], [4], [0]]), rng.normal(4, 2))
    yield Sample(rng.normal(2, 3, 3) + np.array([[0], [4], [0]]), rng.normal(2, 3, 1))
    singular = np.zeros((3, 2))
    yield Sample(
        singular, np.ones((2, 1)), expect=np.full((2, 1), np.nan), differentiable=False
    )
    yield Sample(rng.normal(3, 4), rng.normal(3, 2), raises=InvalidArgumentError)
    regular = np.array([[0.0, 0], [2, 4], [0, 0]])
    yield Sample(np.stack([singular, regular]), np.ones((2, 2, 1)), differentiable=False,
                 expect=np.array([[[np.nan], [np.nan]], [[0.5], [0.25]]]))  # fmt: skip
    for way in ({"partial_pivoting": False}, {"perturb_singular": True}):
        yield Sample(rng.normal(2, 3, 4) + np.array([[0], [4], [0]]), rng.normal(2, 4, 2), **way)
    exchanged = np.array([[1.0, 2, 0], [0, 1, 1], [0, 1, 1]])
    yield Sample(exchanged, np.array([[1.0], [2], [3]]), partial_pivoting=False,
                 expect=np.full((3, 1), np.nan), differentiable=False)  # fmt: skip
    yield Sample(np.array([[0.0, 0, 0], [5, 0, 7], [0, 0, 0]]), np.ones((3, 1)), perturb_singular=True,
                 expect=np.array([[0.2], [2.0**52 / 7], [1 / 7]]), differentiable=False)  # fmt: skip
    yield Sample(exchanged, np.ones((3, 1)), partial_pivoting=False, perturb_singular=True,
                 raises=InvalidArgumentError)  # fmt: skip


@TridiagonalSolve.reference
def _(diagonals: np.ndarray, rhs: np.ndarray, partial_pivoting: bool, perturb_singular: bool):
    """Thomas's algorithm."""
    x = rhs.copy()
    a, b, c = (diagonals[..., i, :].copy() for i in range(3))
    n = b.shape[-1]
    for i in range(1, n):
        w = c[..., i] / b[..., i - 1]
        b[..., i] -= w * a[..., i - 1]
        x[..., i, :] -= w[..., None] * x[..., i - 1, :]
    x[..., n - 1, :] /= b[..., n - 1, None]
    for i in range(n - 2, -1, -1):
        x[..., i, :] = (x[..., i, :] - a[..., i, None] * x[..., i + 1, :]) / b[..., i, None]
    return x


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
        return _padded(diagonal, [place]) if missing == 1 else diagonal
    return _padded(diagonal, [[d * missing for d in place]])


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
        rhs = layout.transpose(rhs, layout.last_swapped(rhs), conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = conj(rhs)
    rows, sides = _known_size(d, -1), _known_size(rhs, -2)
    if None not in (rows, sides) and rows != sides:
        raise ValueError(f"Expected number of left-hand sides and right-hand sides to be equal, got {rows} and {sides}")
    x = TridiagonalSolve(d, rhs, bool(partial_pivoting), bool(perturb_singular))
    return layout.Squeeze(x, [-1]) if vector else x


def _banded_rule(call):
    a, b = shapes.at_least(call.shape(0), 2), shapes.at_least(call.shape(1), 2)
    if a is not None and None not in a[-2:] and a[-2] > a[-1]:
        raise invalid(f"Number of bands {a[-2]} cannot exceed the size of the matrix {a[-1]}")
    if a is None or b is None:
        return [None]
    batch = shapes.broadcast(a[:-2], b[:-2])
    assert batch is not None
    return [(*batch, shapes.same_dimension(a[-1], b[-2]), b[-1])]


@op(
    "BandedTriangularSolve",
    "matrix: T, rhs: T -> output: T",
    types=DENSE,
    attrs={"lower": True, "adjoint": False},
    shape=_banded_rule,
)
def BandedTriangularSolve(xp: ModuleType, matrix: Array, rhs: Array, lower: bool, adjoint: bool):
    if matrix.ndim < 2:
        raise invalid(f"In[0] ndims must be >= 2: {matrix.ndim}")
    _check(matrix.shape[-1], rhs, matrix)
    bands, n = matrix.shape[-2:]
    if bands > n:
        raise invalid(f"Matrix of {n} columns has {bands} bands")
    dense = xp.zeros((*matrix.shape[:-2], n, n), matrix.dtype)
    for i in range(bands):
        if lower:
            dense = dense + xp.eye(n, k=-i, dtype=matrix.dtype) * matrix[..., i, :, None]
        else:
            dense = dense + xp.eye(n, k=bands - 1 - i, dtype=matrix.dtype) * matrix[..., i, :, None]
    return solve_triangular(xp, dense, rhs, lower, adjoint)


@BandedTriangularSolve.samples
def _(rng: SampleGenerator):
    yield Sample(
        rng.normal(2, 3) + np.array([[3.0], [0.0]]), rng.normal(3, 2), differentiable=False
    )
    yield Sample(
        rng.normal(2, 3) + np.array([[0.0], [3.0]]),
        rng.normal(3, 1),
        lower=False,
        differentiable=False,
    )
    yield Sample(rng.normal(2, 3), rng.normal(4, 2), raises=InvalidArgumentError)


@BandedTriangularSolve.reference
def _(matrix: np.ndarray, rhs: np.ndarray, lower: bool, adjoint: bool):
    first, second = matrix
    if lower:
        return np.linalg.solve(np.diag(first) + np.diag(second[1:], -1), rhs)
    return np.linalg.solve(np.diag(second) + np.diag(first[:-1], 1), rhs)


@api(v2="linalg.banded_triangular_solve")
@tensor_function
def banded_triangular_solve(
    bands, rhs: TensorLike, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solve systems of linear equations with triangular matrices of few diagonals.

    Args:
      bands: `[..., number of diagonals, M]` of a floating or complex dtype, the main diagonal first for lower
        triangles and last for upper ones; lower diagonals end, and upper ones begin, with elements that are not
        read.
      rhs: right sides `[..., M, K]` of that dtype.
      lower: whether the matrices are lower triangles, not upper ones.
      adjoint: whether they are transposed and conjugated first.
      name: a name for the operation (optional).

    Returns:
      X, `[..., M, K]`.
    """
    return BandedTriangularSolve(bands, rhs, bool(lower), bool(adjoint))
