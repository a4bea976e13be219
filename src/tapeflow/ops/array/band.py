"""Bands of matrices, and the trace."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.bands import require_matrix
from tapeflow.ops.array.diagonal import MatrixDiagPartV3
from tapeflow.ops.math import reduction
from tapeflow.ops.old_spelling import old_spelling
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import ANY, Sample, op
from tapeflow.ops.validate import invalid, one_value

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


@op(
    "MatrixBandPart",
    "input: T, num_lower: Tindex, num_upper: Tindex -> band: T",
    types={"T": ANY, "Tindex": Preferring((dtypes.int64, dtypes.int32))},
    shape=shapes.same_as(0, least=2),
)
def MatrixBandPart(xp: ModuleType, input: Array, num_lower: Array, num_upper: Array):
    require_matrix(input)
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
