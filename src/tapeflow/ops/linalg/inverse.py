"""Inverses and determinants."""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array import layout
from tapeflow.ops.array.diagonal import MatrixDiagPart
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.solve import (
    DENSE,
    REAL,
    adjoint_of,
    eliminated,
    matrices,
    square_shape,
    well_conditioned,
    wide,
)
from tapeflow.ops.math import arithmetic, complex_numbers, elementwise, reductions
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.old_spelling import old_spelling
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _batch(call: ShapeCall):
    shape = shapes.square(call.shape(0))
    return None if shape is None else shape[:-2]


@op(
    "MatrixInverse",
    "input: T -> output: T",
    types=DENSE,
    attrs={"adjoint": False},
    shape=square_shape,
)
def MatrixInverse(xp: ModuleType, input: Array, adjoint: bool):
    matrices(input, square=True)
    x = wide(input)
    try:
        return xp.linalg.inv(adjoint_of(xp, x) if adjoint else x).astype(input.dtype)
    except np.linalg.LinAlgError:
        raise invalid("Input is not invertible.") from None


MatrixInverse.batching(batching.leading(least=[2]))


@MatrixInverse.gradient(needs="output")
def _(call: GradientCall, dy: Tensor):
    y = call.output
    if call.adjoint:
        product = matmul(y, matmul(dy, y, adjoint_a=True))
    else:
        product = matmul(y, matmul(dy, y, adjoint_b=True), adjoint_a=True)
    return elementwise.Neg(product)


@MatrixInverse.samples
def _(rng: SampleGenerator):
    yield Sample(well_conditioned(rng.normal(3, 3)))
    yield Sample(well_conditioned(rng.normal(2, 2, 2)), adjoint=True)
    yield Sample(rng.normal(0, 2, 2))
    yield Sample(well_conditioned(rng.normal(45, 45) / 5), adjoint=True, differentiable=False)  # of several blocks
    yield Sample(np.zeros((2, 2)), raises=InvalidArgumentError)
    yield Sample(rng.normal(2, 3), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), raises=InvalidArgumentError)


@MatrixInverse.reference
def _(input: np.ndarray, adjoint: bool):
    out = eliminated(input, np.broadcast_to(np.eye(input.shape[-1]), input.shape))
    return out.swapaxes(-1, -2).conj() if adjoint else out


old_spelling(MatrixInverse, "BatchMatrixInverse", REAL)


@api("linalg.inv", v1="matrix_inverse")
@tensor_function
def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Invert square matrices, or their adjoints.

    Args:
      input: matrices `[..., M, M]` of a floating (not bfloat16) or complex dtype.
      adjoint: whether they are transposed and conjugated first.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `input`.

    Raises:
      InvalidArgumentError: for matrices that are singular or not square.

    >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]])
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)>
    """
    return MatrixInverse(input, bool(adjoint))


@op(
    "MatrixDeterminant",
    "input: T -> output: T",
    types=DENSE,
    shape=lambda call: [_batch(call)],
)
def MatrixDeterminant(xp: ModuleType, input: Array):
    matrices(input, square=True)
    out = xp.asarray(xp.linalg.det(wide(input)))
    # A factorization may stop at a zero before it comes to a NaN.
    return xp.where(xp.isnan(input).any((-2, -1)), math.nan, out).astype(input.dtype)


MatrixDeterminant.batching(batching.leading(least=[2]))


@MatrixDeterminant.gradient(needs="input, output")
def _(call: GradientCall, dy: Tensor):
    scale = arithmetic.Mul(dy, conj(call.output))
    return arithmetic.Mul(_as_scalars(scale), MatrixInverse(call.input, True))


def _as_scalars(x: Tensor):
    """A number for each matrix, to be multiplied with it."""
    return layout.ExpandDims(layout.ExpandDims(x, -1), -1)


@MatrixDeterminant.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 3))
    yield Sample(rng.normal(2, 2, 2))
    yield Sample(np.zeros((0, 0)), expect=np.asarray(1.0))
    yield Sample(rng.normal(2, 3), raises=InvalidArgumentError)


@MatrixDeterminant.reference
def _(input: np.ndarray):
    def det(a):
        if len(a) == 0:
            return 1.0
        minors = (np.delete(np.delete(a, 0, 0), j, 1) for j in range(len(a)))
        return sum((-1) ** j * a[0, j] * det(m) for j, m in enumerate(minors))

    return np.array([det(input[at]) for at in np.ndindex(input.shape[:-2])]).reshape(
        input.shape[:-2]
    )


_WITHOUT_HALF = {"T": tuple(each for each in DENSE["T"] if each != dtypes.float16)}
old_spelling(MatrixDeterminant, "BatchMatrixDeterminant", _WITHOUT_HALF)


@api("linalg.det", v1="matrix_determinant")
@tensor_function
def det(input: TensorLike, name: str | None = None) -> Tensor:
    """The determinants of square matrices."""
    return MatrixDeterminant(input)


@op(
    "LogMatrixDeterminant",
    "input: T -> sign: T, log_abs_determinant: T",
    types=DENSE,
    shape=lambda call: [_batch(call)] * 2,
)
def LogMatrixDeterminant(xp: ModuleType, input: Array):
    matrices(input, square=True)
    sign, log = xp.linalg.slogdet(wide(input))
    # Any NaN comes out, also where the matrix is singular without it.
    nan = xp.isnan(input).any((-2, -1))
    sign, log = (xp.where(nan, np.nan, part) for part in (sign, log))
    return xp.asarray(sign).astype(input.dtype), xp.asarray(log).astype(input.dtype)


LogMatrixDeterminant.batching(batching.leading(least=[2]))


@LogMatrixDeterminant.gradient(needs="input")
def _(call: GradientCall, _: Tensor, dlog: Tensor):
    return arithmetic.Mul(_as_scalars(dlog), MatrixInverse(call.input, True))


@LogMatrixDeterminant.samples
def _(rng: SampleGenerator):
    yield Sample(rng.normal(3, 3))
    yield Sample(rng.normal(2, 2, 2))
    yield Sample(rng.normal(2, 3), raises=InvalidArgumentError)


@LogMatrixDeterminant.reference
def _(input: np.ndarray):
    det = np.array(
        [np.linalg.eigvals(input[at]).prod().real for at in np.ndindex(input.shape[:-2])]
    ).reshape(input.shape[:-2])
    return np.sign(det), np.log(np.abs(det))


@api("linalg.slogdet")
@tensor_function
def slogdet(input: TensorLike, name: str | None = None):
    """The signs and the logarithms of the magnitudes of determinants: (sign, log_abs_determinant)."""
    return LogMatrixDeterminant(input)


@api("linalg.logdet")
@tensor_function
def logdet(matrix: TensorLike, name: str | None = None):
    """The logarithms of the determinants of positive definite matrices."""
    from tapeflow.ops.linalg.decomposition import Cholesky

    root = Cholesky(matrix)
    diagonal = complex_numbers.real(MatrixDiagPart(root))
    return arithmetic.Mul(reductions.reduce_sum(elementwise.Log(diagonal), [-1]), 2.0)
