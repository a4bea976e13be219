"""Diagonals and bands of matrices: taken, set, made into matrices."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.bands import (
    ALIGN,
    DEFAULT_ALIGN,
    band_of,
    check_band,
    packed_diagonals,
    require_matrix,
    width_of_band,
    with_band,
)
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.math import arithmetic
from tapeflow.ops.old_spelling import old_spelling
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


def _part_shape(call):
    shape = shapes.at_least(call.shape(0), 2)
    k = call.value(1) if call.count > 1 else np.zeros(1, np.int32)
    if shape is None or k is None:
        return [None]
    low, high = band_of(k)
    width = None
    if None not in shape[-2:]:
        check_band(low, high, *shape[-2:])
        width = width_of_band(low, high, *shape[-2:])
    return [(*shape[:-2], width) if low == high else (*shape[:-2], high - low + 1, width)]


@op("MatrixDiagPart", "input: T -> diagonal: T", types={"T": ANY}, shape=_part_shape)
def MatrixDiagPart(xp: ModuleType, input: Array):
    require_matrix(input)
    return packed_diagonals(xp, input, 0, 0, DEFAULT_ALIGN, zero(input.dtype))


MatrixDiagPart.batching(batching.leading(least=[2]))


@MatrixDiagPart.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return _scattered(call, dy, 0, DEFAULT_ALIGN)


@MatrixDiagPart.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 3))
    yield Sample(rng.normal(2, 2, 4))
    yield Sample(rng.normal(3), raises=InvalidArgumentError)


MatrixDiagPart.reference(lambda input: np.diagonal(input, 0, -2, -1))
old_spelling(MatrixDiagPart, "BatchMatrixDiagPart")


def zero(kind: np.dtype):
    return b"" if kind.kind == "O" else 0


def _scattered(call: GradientCall, dy: Tensor, k: TensorLike, align: str):
    """The matrices of the input's shape that have `dy` on their diagonals, zeros elsewhere."""
    empty = zeros(call.shape("input"), dy.dtype)
    return MatrixSetDiagV3(empty, dy, k, align)


def _part_samples(rng: SampleGenerator):
    yield Sample(rng.normal(3, 4), 0, 0.0)
    yield Sample(rng.normal(2, 4, 3), -1, 0.0)
    yield Sample(rng.normal(3, 4), np.array([-1, 2], np.int32), 7.0, differentiable=(0,))
    yield Sample(rng.normal(3, 3), np.array([1, 0], np.int32), 0.0, raises=InvalidArgumentError)
    yield Sample(rng.normal(3, 3), 5, 0.0, raises=InvalidArgumentError)
    yield Sample(rng.normal(3), 0, 0.0, raises=InvalidArgumentError)


def _part_row(name: str, **attrs):
    @op(name, "input: T, k: int32, padding_value: T -> diagonal: T", types={"T": ANY}, attrs=attrs,
        ranks="input: 2+, k: 0-1, padding_value: 0", shape=_part_shape)  # fmt: skip
    def row(xp: ModuleType, input: Array, k: Array, padding_value: Array, align="LEFT_LEFT"):
        require_matrix(input)
        padding = one_value_of(padding_value)
        return packed_diagonals(xp, input, *band_of(k), align, padding)

    @row.gradient(needs="k")
    def _(call: GradientCall, dy: Tensor):
        align = call.align if "align" in attrs else "LEFT_LEFT"
        return _scattered(call, dy, call.k, align), None, None

    row.samples(_part_samples)
    row.batching(batching.leading(0))

    @row.reference
    def _(input: np.ndarray, k: np.ndarray, padding_value: np.ndarray, align: str = "LEFT_LEFT"):
        low, high = (int(np.ravel(k)[0]), int(np.ravel(k)[-1]))
        parts = [np.diagonal(input, d, -2, -1) for d in range(high, low - 1, -1)]
        width = max(p.shape[-1] for p in parts)
        out = []
        for d, part in zip(range(high, low - 1, -1), parts, strict=True):
            missing = width - part.shape[-1]
            left = align.startswith("LEFT") if d >= 0 else align.endswith("LEFT")
            pad = (0, missing) if left else (missing, 0)
            out.append(
                np.pad(
                    part,
                    [(0, 0)] * (part.ndim - 1) + [pad],
                    constant_values=np.asarray(padding_value).item(),
                )
            )
        return out[0] if low == high else np.stack(out, -2)

    return row


def one_value_of(x: Any):
    if x.size != 1:
        raise invalid(f"padding_value must be a scalar, received shape: {shape_text(x.shape)}")
    return x.reshape(())[()]


MatrixDiagPartV2 = _part_row("MatrixDiagPartV2")
MatrixDiagPartV3 = _part_row("MatrixDiagPartV3", align=ALIGN)


@api("linalg.diag_part", v1="matrix_diag_part")
@tensor_function
@graph_scope("diag_part")
def diag_part(
    input: TensorLike, name: str | None = "diag_part", k: int = 0, padding_value: TensorLike = 0,
    align: str = DEFAULT_ALIGN,
):
    """Take diagonals out of matrices.

    Args:
      input: matrices `[..., M, N]` of any dtype.
      name: a name for the operation (optional).
      k: which diagonal, or the lowest and the highest: 0 is the main one, positive numbers are above it.
      padding_value: fills up the shorter ones of several diagonals, a scalar of the dtype of `input`.
      align: to which side shorter diagonals are moved, first those above the main one and then those below it:
        "RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT" or "RIGHT_RIGHT".

    Returns:
      A tensor of the dtype of `input`: `[..., length]`, or `[..., number of diagonals, longest]` with the highest
      first.

    Raises:
      InvalidArgumentError: for diagonals that are not there.

    >>> x = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    >>> tf.linalg.diag_part(x)
    <tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 5, 9], dtype=int32)>
    >>> tf.linalg.diag_part(x, k=(-1, 1))
    <tf.Tensor: shape=(3, 3), dtype=int32, numpy=
    array([[0, 2, 6],
           [1, 5, 9],
           [4, 8, 0]], dtype=int32)>
    """
    input = convert_to_tensor(input)
    return MatrixDiagPartV3(input, k, padding_of(padding_value, input.dtype), align)


def padding_of(value, kind: DType):
    """0 becomes the zero of any dtype."""
    plain = isinstance(value, int) and not value and not isinstance(value, bool)
    if plain and kind.is_bool:
        value = False
    elif plain and kind == dtypes.string:
        value = ""
    return convert_to_tensor(value, dtype=kind)


def _set_diagonal_rule(call):
    shape, diagonal = shapes.at_least(call.shape(0), 2), shapes.at_least(call.shape(1), 1)
    k = call.value(2) if call.count > 2 else np.zeros(1, np.int32)
    if k is None:
        if shape is not None and diagonal is not None:
            one = 1 if call.shape(2) in ((), (1,)) else 0  # whether it is a single diagonal
            rank = len(shapes.at_least(diagonal, len(shape) - 1) or ())
            if rank > len(shape) - one:
                shapes.with_rank(diagonal, len(shape) - one)
            shapes.merge(shape[:-2], diagonal[: len(shape) - 2])
        return [shape]
    low, high = band_of(k)
    rank = 1 if low == high else 2  # of the packed diagonals of one matrix
    if diagonal is None:
        return [shape]
    shapes.at_least(diagonal, rank)
    batch = diagonal[: len(diagonal) - rank]
    if shape is None:
        return [(*batch, None, None)]
    if None not in shape[-2:]:
        check_band(low, high, *shape[-2:])
        shapes.exactly(diagonal[-1], width_of_band(low, high, *shape[-2:]))
    if low != high:
        shapes.exactly(diagonal[-2], high - low + 1)
    return [(*(shapes.merge(shape[:-2], batch) or ()), *shape[-2:])]


@op("MatrixSetDiag", "input: T, diagonal: T -> output: T", types={"T": ANY}, shape=_set_diagonal_rule)
def MatrixSetDiag(xp: ModuleType, input: Array, diagonal: Array):
    require_matrix(input)
    return with_band(xp, input, diagonal, 0, 0, DEFAULT_ALIGN)


MatrixSetDiag.batching(batching.leading(least=[2, 1]))


@MatrixSetDiag.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return MatrixSetDiag(dy, arithmetic.Mul(MatrixDiagPart(dy), 0)), MatrixDiagPart(dy)


@MatrixSetDiag.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(2, 3, 4), rng.normal(2, 3))
    yield Sample(rng.normal(3, 3), rng.normal(2), raises=InvalidArgumentError)


@MatrixSetDiag.reference
def _(input, diagonal):
    eye = np.eye(*input.shape[-2:], dtype=bool)
    out = input.copy()
    out[..., eye] = diagonal
    return out


old_spelling(MatrixSetDiag, "BatchMatrixSetDiag")


def _set_row(name: str, **attrs):
    @op(
        name,
        "input: T, diagonal: T, k: int32 -> output: T",
        types={"T": ANY},
        attrs=attrs,
        ranks="k: 0-1",
        shape=_set_diagonal_rule,
    )
    def row(xp: ModuleType, input: Array, diagonal: Array, k: Array, align="LEFT_LEFT"):
        require_matrix(input)
        return with_band(xp, input, diagonal, *band_of(k), align)

    @row.gradient(needs="k")
    def _(call: GradientCall, dy: Tensor):
        align = call.align if "align" in attrs else "LEFT_LEFT"
        part = MatrixDiagPartV3(dy, call.k, 0, align)
        return MatrixSetDiagV3(dy, arithmetic.Mul(part, 0), call.k, align), part, None

    @row.samples
    def _(rng: SampleGenerator):
        yield Sample(rng.normal(3, 4), rng.normal(3), 0)
        yield Sample(rng.normal(2, 3, 4), rng.normal(2, 2), np.array([-1], np.int32))
        yield Sample(rng.normal(3, 3), rng.normal(3, 3), np.array([-1, 1], np.int32))
        yield Sample(rng.normal(3, 3), rng.normal(2), 0, raises=InvalidArgumentError)
        yield Sample(rng.normal(3, 3), rng.normal(2), 9, raises=InvalidArgumentError)

    @row.reference
    def _(input: np.ndarray, diagonal: np.ndarray, k: np.ndarray, align: str = "LEFT_LEFT"):
        out, low, high = input.copy(), int(np.ravel(k)[0]), int(np.ravel(k)[-1])
        packed = diagonal[..., None, :] if low == high else diagonal
        rows, columns = input.shape[-2:]
        for r in range(rows):
            for c in range(columns):
                d = c - r
                if low <= d <= high:
                    length = len(np.diagonal(np.empty((rows, columns)), d))
                    left = align.startswith("LEFT") if d >= 0 else align.endswith("LEFT")
                    start = 0 if left else packed.shape[-1] - length
                    out[..., r, c] = packed[..., high - d, start + min(r, c)]
        return out

    return row


MatrixSetDiagV2 = _set_row("MatrixSetDiagV2")


MatrixSetDiagV3 = _set_row("MatrixSetDiagV3", align=ALIGN)


@api("linalg.set_diag", v1="matrix_set_diag")
@tensor_function
@graph_scope("set_diag")
def set_diag(
    input: TensorLike, diagonal: TensorLike, name: str = "set_diag", k: TensorLike = 0,
    align: str = DEFAULT_ALIGN,
) -> Tensor:
    """Replace diagonals of matrices.

    Args:
      input: matrices `[..., M, N]` of any dtype.
      diagonal: the new diagonals, of that dtype, packed as by `tf.linalg.diag_part`.
      name: a name for the operation (optional).
      k: which diagonal, or the lowest and the highest: 0 is the main one, positive numbers are above it.
      align: how diagonals shorter than the longest are packed, see `tf.linalg.diag_part`.

    Returns:
      A tensor of the dtype and shape of `input`.

    Raises:
      InvalidArgumentError: where the diagonals do not fit.

    >>> tf.linalg.set_diag([[1, 2], [3, 4]], [8, 9])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[8, 2],
           [3, 9]], dtype=int32)>
    """
    return MatrixSetDiagV3(input, diagonal, k, align)
