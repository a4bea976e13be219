"""Eigenvalues and eigenvectors."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array import layout
from tapeflow.ops.array.diagonal import MatrixDiagPart
from tapeflow.ops.array.diagonal_matrix import MatrixDiag
from tapeflow.ops.linalg.decomposition import (
    COMPLEX,
    DENSE,
    REAL,
    adjoint_of,
    inverse_or_zero,
    lower_with_half_diagonal,
)
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.linalg.solve import MatrixSolve, matrices, wide
from tapeflow.ops.math import arithmetic
from tapeflow.ops.math.casting import Cast
from tapeflow.ops.math.conjugate import conj
from tapeflow.ops.old_spelling import old_spelling
from tapeflow.ops.signature import dtype
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall


def _eigen_shape(call: ShapeCall):
    shape = shapes.square(call.shape(0))
    vectors = shape if call.attr("compute_v") else (0,)
    return [None if shape is None else shape[:-1], vectors]


@op(
    "SelfAdjointEigV2",
    "input: T -> e: T, v: T",
    types=DENSE,
    attrs={"compute_v": True},
    shape=_eigen_shape,
)
def SelfAdjointEigV2(xp: ModuleType, input: np.ndarray, compute_v: bool):
    matrices(input, square=True)
    kind = input.dtype
    if xp is np and not np.isfinite(input).all():
        raise invalid(
            "Self-adjoint eigen decomposition was not successful. The input might not be valid."
        )
    if not compute_v:
        return xp.linalg.eigvalsh(wide(input)).astype(kind), xp.zeros((0,), kind)
    e, v = xp.linalg.eigh(wide(input))
    return e.astype(kind), v.astype(kind)


SelfAdjointEigV2.batching(batching.decomposed)


@SelfAdjointEigV2.gradient(needs="input, e, v")
def _(call: GradientCall, de: Tensor, dv: Tensor):
    e, v = (call.e, call.v) if call.compute_v else SelfAdjointEigV2(call.input)
    middle = MatrixDiag(de)
    if call.compute_v:
        gaps = arithmetic.Sub(layout.ExpandDims(e, -2), layout.ExpandDims(e, -1))
        turn = arithmetic.Mul(inverse_or_zero(gaps), matmul(v, dv, adjoint_a=True))
        middle = arithmetic.AddV2(middle, turn)
    whole = matmul(v, matmul(middle, v, adjoint_b=True))
    # Only the lower triangle is read.
    return lower_with_half_diagonal(arithmetic.AddV2(whole, adjoint_of(whole)))


@SelfAdjointEigV2.samples
def _(rng: SampleGenerator):
    a = rng.normal(3, 3)
    yield Sample(a + a.T, compute_v=False)
    yield Sample(np.stack([np.diag([1.0, 3.0]), np.diag([2.0, -1.0])]), compute_v=False)
    yield Sample(rng.normal(2, 3), raises=InvalidArgumentError)


SelfAdjointEigV2.reference(
    lambda input, compute_v: (np.sort(np.linalg.eigvals(input).real, -1), np.zeros(0))
)

old_spelling(SelfAdjointEigV2, "BatchSelfAdjointEigV2", REAL)


@api("linalg.eigh", v1="self_adjoint_eig")
@tensor_function
def eigh(tensor: TensorLike, name: str | None = None):
    """Eigenvalues, smallest first, and eigenvectors (columns) of self-adjoint matrices, of which the lower triangles
    are read; returns (e, v)."""
    e, v = SelfAdjointEigV2(tensor, True)
    return e, v


@api("linalg.eigvalsh", v1="self_adjoint_eigvals")
@tensor_function
def eigvalsh(tensor: TensorLike, name: str | None = None):
    """The eigenvalues of self-adjoint matrices, smallest first."""
    return SelfAdjointEigV2(tensor, False)[0]


@op(
    "Eig",
    "input: T -> e: Tout, v: Tout",
    types={"T": (dtypes.float32, dtypes.float64, *COMPLEX)},
    attrs={"compute_v": True, "Tout": dtype},
    shape=_eigen_shape,
)
def Eig(xp: ModuleType, input: Array, compute_v: bool, Tout: DType):
    matrices(input, square=True)
    kind = Tout.as_numpy_dtype
    if kind != np.result_type(input.dtype, np.complex64):
        expected = dtypes.as_dtype(np.result_type(input.dtype, np.complex64))
        raise invalid(f"Invalid output dtype {Tout.as_datatype_enum} vs {expected.as_datatype_enum}")
    if xp is np and not np.isfinite(input).all():
        raise invalid("Eigen decomposition was not successful. The input might not be valid.")
    if not compute_v:
        return xp.linalg.eigvals(input).astype(kind), xp.zeros((0,), kind)
    e, v = xp.linalg.eig(input)
    return e.astype(kind), v.astype(kind)


Eig.batching(batching.decomposed)


@Eig.gradient(needs="input, e, v")
def _(call: GradientCall, de: Tensor, dv: Tensor):
    e, v = (call.e, call.v) if call.compute_v else Eig(call.input, True, de.dtype)
    middle = MatrixDiag(de)
    if call.compute_v:
        gaps = conj(arithmetic.Sub(layout.ExpandDims(e, -2), layout.ExpandDims(e, -1)))
        turn = matmul(v, dv, adjoint_a=True)
        along = MatrixDiagPart(turn)
        along = arithmetic.Mul(arithmetic.AddV2(along, conj(along)), 0.5)
        turn = arithmetic.Sub(turn, matmul(matmul(v, v, adjoint_a=True), MatrixDiag(along)))
        middle = arithmetic.AddV2(middle, arithmetic.Mul(inverse_or_zero(gaps), turn))

    whole = MatrixSolve(v, matmul(middle, v, adjoint_b=True), True)
    source = call.dtype("input")
    return whole if source == whole.dtype else Cast(whole, source)


@Eig.samples
def _(rng: SampleGenerator):
    yield Sample(
        np.array([[2.0, 1.0], [0.0, 5.0]]),
        compute_v=False,
        Tout=dtypes.complex128,
        differentiable=False,
    )
    yield Sample(rng.normal(2, 3), Tout=dtypes.complex128, raises=InvalidArgumentError)


Eig.reference(lambda input, compute_v, Tout: (np.diagonal(input).astype(complex), np.zeros(0)))


def _complex_of(x):
    return dtypes.complex64 if x.dtype in (dtypes.float32, dtypes.complex64) else dtypes.complex128


@api(v2=("linalg.eig", "eig"))
@tensor_function
def eig(tensor: TensorLike, name: str | None = None):
    """Eigenvalues and eigenvectors (columns) of square matrices, complex, in no order; returns (e, v)."""
    tensor = convert_to_tensor(tensor)
    e, v = Eig(tensor, True, _complex_of(tensor))
    return e, v


@api(v2=("linalg.eigvals", "eigvals"))
@tensor_function
def eigvals(tensor: TensorLike, name: str | None = None):
    """The eigenvalues of square matrices, complex, in no order."""
    tensor = convert_to_tensor(tensor)
    return Eig(tensor, False, _complex_of(tensor))[0]
