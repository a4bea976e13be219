"""Products and equations of matrices that are zero but near the diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError
from tapeflow.ops import batching, shapes
from tapeflow.ops.array import layout, padding, transposing
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import ConcatV2, concat
from tapeflow.ops.array.sizes import Rank
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.math import arithmetic, reduction
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.table import COMPLEX, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

TYPES = {"T": (dtypes.float32, dtypes.float64, *COMPLEX)}


def check(length: int, rhs: Any, diagonals: Any):
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
        check(part.shape[-1], rhs, part)
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
    column = [transposing.transpose(d, transposing.last_swapped(d)) for d in (above, main, below)]
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
    return padded(kept, [(1, 0) if by > 0 else (0, 1), (0, 0)])


def padded(x: Tensor, last: Sequence[Any]):
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
    if diagonals.ndim != rhs.ndim:
        raise invalid("All input tensors must have the same rank.")
    if diagonals.shape[:-2] != rhs.shape[:-2]:
        raise invalid("All input tensors must have the same outer dimensions.")
    check(diagonals.shape[-1], rhs, diagonals)
    if perturb_singular and not partial_pivoting:
        raise invalid("Setting perturb_singular requires also setting partial_pivoting.")
    if xp is np and partial_pivoting:
        return _with_exchanges(diagonals, rhs, perturb_singular)
    if perturb_singular:
        raise UnimplementedError(None, None, "TridiagonalSolve with perturb_singular cannot be compiled")
    above, main, below = (diagonals[..., i, :] for i in range(3))
    if not partial_pivoting:
        return _without_pivoting(xp, above, main, below, rhs)
    dense = (
        xp.eye(main.shape[-1]) * main[..., None]
        + xp.eye(main.shape[-1], k=1) * above[..., None]
        + xp.eye(main.shape[-1], k=-1) * below[..., None]
    )
    x = xp.linalg.solve(dense, rhs).astype(rhs.dtype)
    return xp.where(xp.isfinite(x).all((-2, -1), keepdims=True), x, xp.nan)


TridiagonalSolve.batching(batching.leading(least=[2, 1]))


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


def _with_exchanges(diagonals, rhs, perturb: bool):
    out = np.empty_like(rhs)
    with np.errstate(all="ignore"):
        for at in np.ndindex(rhs.shape[:-2]):
            bands, x = _eliminated(diagonals[at], rhs[at])
            if perturb or (bands[0] != 0).all():
                out[at] = _substituted(bands, x, perturb)
            else:
                out[at] = np.nan
    return out


def _eliminated(diagonals, rhs):
    """The main diagonal and the two above it after Gauss's elimination, and the right sides (LAPACK's lagtf)."""
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
    return (main, above, second), x


def _substituted(bands: Sequence[np.ndarray], x: np.ndarray, perturb: bool):
    """The solution; with `perturb`, pivots grow until no element of it overflows (LAPACK's lagts)."""
    main, above, second = bands
    limits, n = np.finfo(main.dtype), len(main)
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
        while perturb and (pivot == 0 or (np.abs(value) * limits.tiny > abs(pivot)).any()):
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

    above = padded(d[..., 2:3, 1:], [(0, 0), (0, 1)])
    below = padded(d[..., 0:1, :-1], [(0, 0), (1, 0)])
    return concat([above, d[..., 1:2, :], below], -2)


@TridiagonalSolve.samples
def _(rng):
    yield Sample(rng.normal(3, 4) + np.array([[0], [4], [0]]), rng.normal(4, 2))
    yield Sample(rng.normal(2, 3, 3) + np.array([[0], [4], [0]]), rng.normal(2, 3, 1))
    singular = np.zeros((3, 2))
    # Rows change places: some, all of them, and where a pivot is zero.
    yield Sample(rng.normal(2, 3, 7) + np.array([[1], [0], [0]]), rng.normal(2, 7, 3))
    yield Sample(np.array([[5.0, 4, 3, 0], [0, 1, 0, 2], [0, 3, 4, 5]]), rng.normal(4, 2))
    yield Sample(np.zeros((3, 0)), np.zeros((0, 2)), expect=np.zeros((0, 2)), differentiable=False)
    yield Sample(rng.normal(2, 3, 4), rng.normal(1, 4, 2), raises=InvalidArgumentError)
    yield Sample(rng.normal(3, 4), rng.normal(1, 4, 2), raises=InvalidArgumentError)
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
    """By dense matrices."""
    x = [np.linalg.solve(_dense(*d), b) for d, b in zip(*(v.reshape(-1, *v.shape[-2:]) for v in (diagonals, rhs)))]
    return np.stack(x).reshape(rhs.shape)
