"""Diagonals and bands of matrices: taken, set, made into matrices."""

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
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.math import arithmetic, reduction
from tapeflow.ops.old_spelling import old_spelling
from tapeflow.ops.signature import Preferring, one_of
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, one_value, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

ALIGN = one_of("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT", default="RIGHT_LEFT")
DEFAULT_ALIGN = "RIGHT_LEFT"


def _band(k: Any) -> tuple[int, int]:
    """The lowest and the highest diagonal that `k` names: one number, or two."""
    k = np.asarray(k)
    if k.ndim > 1 or k.size not in (1, 2):
        raise invalid(
            f"diag_index must be a scalar or vector with 1 or 2 elements, received shape: {shape_text(k.shape)}"
        )
    low, high = int(k.ravel()[0]), int(k.ravel()[-1])
    if low > high:
        raise invalid(f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}")
    return low, high


def _check_band(low: int, high: int, rows, columns: int):
    for what, at in (("lower", low), ("upper", high)):
        if not (-rows < at < columns or at == 0):
            raise invalid(
                f"{what}_diag_index is out of bound: {at}. It must be between {-rows} and {columns}"
            )


def _places(low: int, high: int, rows: int, columns: int, align: str):
    """For each diagonal from the highest down: its row in the packed form, where in that row, where in the matrix."""
    width = min(rows + min(high, 0), columns - max(low, 0))
    upper_left, lower_left = align.startswith("LEFT"), align.endswith("LEFT")
    for i, d in enumerate(range(high, low - 1, -1)):
        length = min(rows + min(d, 0), columns - max(d, 0))
        left = upper_left if d >= 0 else lower_left
        start = 0 if left else width - length
        along = np.arange(length)
        yield i, start + along, along - min(d, 0), along + max(d, 0)


def _width(low: int, high: int, rows, columns: int):
    return min(rows + min(high, 0), columns - max(low, 0))


def _written(xp: ModuleType, target: Any, at: Sequence[Any], values: Any):
    """`target` with `values` at `at`; JAX's arrays do not change in place."""
    if xp is np:
        target[at] = values
        return target
    return target.at[at].set(values)


def _packed(xp: ModuleType, matrix: Array, low: int, high: int, align: str, padding: TensorLike):
    rows, columns = matrix.shape[-2:]
    _check_band(low, high, rows, columns)
    count, width = high - low + 1, _width(low, high, rows, columns)
    out = xp.full((*matrix.shape[:-2], count, width), padding, dtype=matrix.dtype)
    for i, place, row, column in _places(low, high, rows, columns, align):
        out = _written(xp, out, (..., i, place), matrix[..., row, column])
    return out[..., 0, :] if count == 1 else out


def _with_band(xp: ModuleType, matrix: Array, diagonal: Array, low: int, high: int, align: str):
    """A fresh matrix with the packed `diagonal` written into it."""
    rows, columns = matrix.shape[-2:]
    _check_band(low, high, rows, columns)
    count, width = high - low + 1, _width(low, high, rows, columns)
    expected = (*matrix.shape[:-2], width) if count == 1 else (*matrix.shape[:-2], count, width)
    if diagonal.ndim == 0:
        raise invalid("diagonal must be at least 1-dim, received shape: []")
    if diagonal.shape != expected:
        raise invalid(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not "
            "equal to the longests diagonal in range [lower_diag_index:upper_diag_index].\n"
            f"Input shape: {shape_text(matrix.shape)}\nDiagonal shape: {shape_text(diagonal.shape)}\n"
            f"Expected diagonal shape: {shape_text(expected)}"
        )
    if count == 1:
        diagonal = diagonal[..., None, :]
    out = matrix.copy()
    for i, place, row, column in _places(low, high, rows, columns, align):
        out = _written(xp, out, (..., row, column), diagonal[..., i, place])
    return out


def _require_matrix(input: Any):
    if input.ndim < 2:
        raise invalid(f"input must be at least 2-dim, received shape: {shape_text(input.shape)}")


def _part_shape(call):
    shape = shapes.at_least(call.shape(0), 2)
    k = call.value(1) if call.count > 1 else np.zeros(1, np.int32)
    if shape is None or k is None:
        return [None]
    low, high = _band(k)
    width = None
    if None not in shape[-2:]:
        _check_band(low, high, *shape[-2:])
        width = _width(low, high, *shape[-2:])
    return [(*shape[:-2], width) if low == high else (*shape[:-2], high - low + 1, width)]


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
    low, high = _band(k)
    rank = 1 if low == high else 2  # of the packed diagonals of one matrix
    if diagonal is None:
        return [shape]
    shapes.at_least(diagonal, rank)
    batch = diagonal[: len(diagonal) - rank]
    if shape is None:
        return [(*batch, None, None)]
    if None not in shape[-2:]:
        _check_band(low, high, *shape[-2:])
        shapes.exactly(diagonal[-1], _width(low, high, *shape[-2:]))
    if low != high:
        shapes.exactly(diagonal[-2], high - low + 1)
    return [(*(shapes.merge(shape[:-2], batch) or ()), *shape[-2:])]


@op("MatrixDiagPart", "input: T -> diagonal: T", types={"T": ANY}, shape=_part_shape)
def MatrixDiagPart(xp: ModuleType, input: Array):
    _require_matrix(input)
    return _packed(xp, input, 0, 0, DEFAULT_ALIGN, _zero(input.dtype))


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


def _zero(kind: np.dtype):
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
        _require_matrix(input)
        padding = one_value_of(padding_value)
        return _packed(xp, input, *_band(k), align, padding)

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
    return MatrixDiagPartV3(input, k, _padding(padding_value, input.dtype), align)


def _padding(value, kind: DType):
    """0 becomes the zero of any dtype."""
    plain = isinstance(value, int) and not value and not isinstance(value, bool)
    if plain and kind.is_bool:
        value = False
    elif plain and kind == dtypes.string:
        value = ""
    return convert_to_tensor(value, dtype=kind)


@op("MatrixSetDiag", "input: T, diagonal: T -> output: T", types={"T": ANY}, shape=_set_diagonal_rule)
def MatrixSetDiag(xp: ModuleType, input: Array, diagonal: Array):
    _require_matrix(input)
    return _with_band(xp, input, diagonal, 0, 0, DEFAULT_ALIGN)


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
        _require_matrix(input)
        return _with_band(xp, input, diagonal, *_band(k), align)

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


def _diag_rule(call: ShapeCall):
    shape = shapes.at_least(call.shape(0), 1)
    return [None if shape is None else (*shape, shape[-1])]


@op(
    "MatrixDiag",
    "diagonal: T -> output: T",
    types={"T": ANY},
    shape=_diag_rule,
)
def MatrixDiag(xp: ModuleType, diagonal: Array):
    if diagonal.ndim < 1:
        raise invalid(
            f"diagonal must be at least 1-dim, received shape: {shape_text(diagonal.shape)}"
        )
    n = diagonal.shape[-1]
    empty = xp.full((*diagonal.shape, n), _zero(diagonal.dtype), dtype=diagonal.dtype)
    return _with_band(xp, empty, diagonal, 0, 0, DEFAULT_ALIGN)


MatrixDiag.batching(batching.leading(least=[1]))


@MatrixDiag.gradient(needs="")
def _(call: GradientCall, dy: Tensor):
    return MatrixDiagPart(dy)


@MatrixDiag.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3))
    yield Sample(rng.normal(2, 3))
    yield Sample(np.asarray(1.0), raises=InvalidArgumentError)


MatrixDiag.reference(lambda diagonal: diagonal[..., None] * np.eye(diagonal.shape[-1]))
old_spelling(MatrixDiag, "BatchMatrixDiag")


def _diag_size(diagonal: Any, low: int, high: int, num_rows: int, num_columns: int):
    """The size of the smallest matrix that the diagonals fit, where it is not given."""
    if low != high and (diagonal.ndim < 2 or diagonal.shape[-2] != high - low + 1):
        raise invalid("The number of diagonals provided in the input does not match the band")
    return _matrix_size(low, high, diagonal.shape[-1], num_rows, num_columns)


def _matrix_size(low: int, high: int, length: int, num_rows: int, num_columns: int):
    least_rows, least_columns = length - min(high, 0), length + max(low, 0)
    rows, columns = num_rows, num_columns
    if rows == -1 and columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows = least_rows if rows == -1 else rows
    columns = least_columns if columns == -1 else columns
    if rows < least_rows:
        raise invalid(f"The number of rows is too small: {rows} < {least_rows}")
    if columns < least_columns:
        raise invalid(f"The number of columns is too small: {columns} < {least_columns}")
    if rows != least_rows and columns != least_columns:
        raise invalid(
            "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal."
        )
    return rows, columns


def _matrix_rule(call: ShapeCall):
    diagonal, k = shapes.at_least(call.shape(0), 1), call.value(1)
    rows, columns = (shapes.scalar_value(call, i) for i in (2, 3))
    if diagonal is None or k is None:
        return [None]
    low, high = _band(k)
    packed = 1 if low == high else 2
    shapes.at_least(diagonal, packed)
    if packed == 2:
        shapes.exactly(diagonal[-2], high - low + 1)
    batch, width = diagonal[:-packed], diagonal[-1]
    if width is None or rows is None or columns is None:
        sizes = tuple(None if n is None or n < 0 else n for n in (rows, columns))
        return [(*batch, *sizes)]
    return [(*batch, *_matrix_size(low, high, width, rows, columns))]


def _diag_row(name: str, **attrs):
    @op(
        name,
        "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T",
        types={"T": ANY},
        attrs=attrs,
        ranks="k: 0-1, padding_value: 0",
        shape=_matrix_rule,
    )
    def row(
        xp: ModuleType, diagonal: Array, k: Array, num_rows: Array, num_cols: Array, padding_value: Array,
        align="LEFT_LEFT",
    ):
        if diagonal.ndim < 1:
            raise invalid(
                f"diagonal must be at least 1-dim, received shape: {shape_text(diagonal.shape)}"
            )
        low, high = _band(k)
        rows, columns = _diag_size(
            diagonal,
            low,
            high,
            one_value(num_rows, "num_rows must be a scalar"),
            one_value(num_cols, "num_cols must be a scalar"),
        )
        batch = diagonal.shape[:-1] if low == high else diagonal.shape[:-2]
        empty = xp.full((*batch, rows, columns), one_value_of(padding_value), dtype=diagonal.dtype)
        return _with_band(xp, empty, diagonal, low, high, align)

    @row.gradient(needs="k")
    def _(call: GradientCall, dy: Tensor):
        align = call.align if "align" in attrs else "LEFT_LEFT"
        return MatrixDiagPartV3(dy, call.k, 0, align), None, None, None, None

    @row.samples
    def _(rng: SampleGenerator):
        band = np.array([0, 1], np.int32)
        yield Sample(rng.normal(3), 0, -1, -1, 0.0, differentiable=(0,))
        yield Sample(rng.normal(2, 3), 1, -1, -1, 0.0, differentiable=(0,))
        yield Sample(rng.normal(2, 3), band, 3, 4, 5.0, differentiable=(0,))
        yield Sample(rng.normal(3), 0, 2, 2, 0.0, raises=InvalidArgumentError)
        yield Sample(rng.normal(3), 0, 7, 9, 0.0, raises=InvalidArgumentError)
        yield Sample(np.asarray(1.0), 0, -1, -1, 0.0, raises=InvalidArgumentError)

    @row.reference
    def _(
        diagonal: np.ndarray, k: np.ndarray, num_rows: np.ndarray, num_cols: np.ndarray, padding_value: np.ndarray,
        align: str = "LEFT_LEFT",
    ):
        low, high = int(np.ravel(k)[0]), int(np.ravel(k)[-1])
        if low == high:
            one = [np.diag(d, low) for d in diagonal.reshape(-1, diagonal.shape[-1])]
            return np.array(one).reshape(*diagonal.shape[:-1], *one[0].shape)
        out = np.full((int(num_rows), int(num_cols)), padding_value)
        for r in range(out.shape[0]):
            for c in range(out.shape[1]):
                if low <= c - r <= high:
                    out[r, c] = diagonal[high - (c - r), min(r, c)]
        return out

    return row


MatrixDiagV2 = _diag_row("MatrixDiagV2")
MatrixDiagV3 = _diag_row("MatrixDiagV3", align=ALIGN)


@api("linalg.diag", v1="matrix_diag")
@tensor_function
def diag(
    diagonal: TensorLike, name: str | None = "diag", k: int = 0, num_rows: TensorLike = -1, num_cols: TensorLike = -1,
    padding_value: TensorLike = 0, align: str = DEFAULT_ALIGN,
):
    """Make matrices with given diagonals.

    Args:
      diagonal: the diagonals, `[..., n]` of one diagonal or `[..., number of diagonals, n]` packed as by
        `tf.linalg.diag_part`.
      name: a name for the operation (optional).
      k: which diagonal, or the lowest and the highest: 0 is the main one, positive numbers are above it.
      num_rows, num_cols: the size of the matrices; -1: as small as can be.
      padding_value: what stands elsewhere, a scalar of the dtype of `diagonal`.
      align: how diagonals shorter than the longest are packed, see `tf.linalg.diag_part`.

    Returns:
      A tensor `[..., num_rows, num_cols]` of the dtype of `diagonal`.

    Raises:
      InvalidArgumentError: where the diagonals do not fit in the matrices.

    >>> tf.linalg.diag([1, 2])
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 0],
           [0, 2]], dtype=int32)>
    >>> tf.linalg.diag([1, 2], k=1, padding_value=9)
    <tf.Tensor: shape=(3, 3), dtype=int32, numpy=
    array([[9, 1, 9],
           [9, 9, 2],
           [9, 9, 9]], dtype=int32)>
    """
    diagonal = convert_to_tensor(diagonal)
    return MatrixDiagV3(
        diagonal, k, num_rows, num_cols, _padding(padding_value, diagonal.dtype), align
    )


@op(
    "MatrixBandPart",
    "input: T, num_lower: Tindex, num_upper: Tindex -> band: T",
    types={"T": ANY, "Tindex": Preferring((dtypes.int64, dtypes.int32))},
    shape=shapes.same_as(0, least=2),
)
def MatrixBandPart(xp: ModuleType, input: Array, num_lower: Array, num_upper: Array):
    _require_matrix(input)
    rows, columns = input.shape[-2:]
    lower = one_value(num_lower, "num_lower must be scalar")
    upper = one_value(num_upper, "num_upper must be scalar")
    if lower > rows:
        raise invalid(
            f"num_lower must be negative or less or equal to number of rows ({rows}) got: {lower}"
        )
    if upper > columns:
        raise invalid(
            f"num_upper must be negative or less or equal to number of columns ({columns}) got: {upper}"
        )
    distance = xp.arange(rows)[:, None] - xp.arange(columns)
    inside = ((lower < 0) | (distance <= lower)) & ((upper < 0) | (-distance <= upper))
    return xp.where(inside, input, xp.zeros_like(input))


MatrixBandPart.batching(batching.leading(0, least=[2]))


@MatrixBandPart.gradient(needs="num_lower, num_upper")
def _(call: GradientCall, dy: Tensor):
    return MatrixBandPart(dy, call.num_lower, call.num_upper), None, None


MatrixBandPart.compiled(static="num_lower, num_upper")


@MatrixBandPart.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 4), 1, 0)
    yield Sample(rng.normal(2, 4, 3), -1, 1)
    yield Sample(rng.normal(3, 3), 0, -1)
    yield Sample(rng.normal(0, 3), 0, 0)
    yield Sample(rng.normal(3), 0, 0, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 2), 3, 0, raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 2), 0, 3, raises=InvalidArgumentError)


@MatrixBandPart.reference
def _(input: np.ndarray, num_lower: np.ndarray, num_upper: np.ndarray):
    rows, columns = input.shape[-2:]
    below = rows if num_lower < 0 else int(num_lower)
    above = columns if num_upper < 0 else int(num_upper)
    return np.triu(np.tril(input, above), -below)


old_spelling(MatrixBandPart, "BatchMatrixBandPart", {"Tindex": (dtypes.int64,)})


@api("linalg.band_part", v1="matrix_band_part")
@tensor_function
def band_part(
    input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: str | None = None
) -> Tensor:
    """Set what is outside of a band around the main diagonal to zero.

    Args:
      input: matrices `[..., M, N]` of any dtype.
      num_lower: how many diagonals below the main one to keep, a scalar integer; negative: all.
      num_upper: how many above it to keep; negative: all.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `input`.

    Raises:
      InvalidArgumentError: for numbers larger than the matrix.

    >>> tf.linalg.band_part([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 0, -1)
    <tf.Tensor: shape=(3, 3), dtype=int32, numpy=
    array([[1, 2, 3],
           [0, 5, 6],
           [0, 0, 9]], dtype=int32)>
    """
    return MatrixBandPart(input, num_lower, num_upper)


@api("linalg.trace", v1="trace")
@tensor_function
@graph_scope("Trace")
def trace(x: TensorLike, name: str | None = None):
    """The sums along the main diagonals of the innermost matrices."""
    return reduction.Sum(MatrixDiagPartV3(convert_to_tensor(x), 0, 0), [-1])
