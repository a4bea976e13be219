"""Decompositions as the first versions of TensorFlow had them, which old graphs still hold."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.linalg.eigen import SelfAdjointEigV2
from tapeflow.ops.linalg.solve import matrices
from tapeflow.ops.old_spelling import old_spelling
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator, ShapeCall

_REAL = {"T": (dtypes.float64, dtypes.float32)}


def _eigen_rule(call: ShapeCall):
    shape = shapes.square(call.shape(0))
    if shape is None:
        return [None]
    size = shape[-1]
    return [(*shape[:-2], None if size is None else size + 1, size)]


@op("SelfAdjointEig", "input: T -> output: T", types=_REAL, shape=_eigen_rule)
def SelfAdjointEig(xp: ModuleType, input: Array):
    e, v = SelfAdjointEigV2.kernel(xp, input, True)
    return xp.concatenate([e[..., None, :], v], -2)


SelfAdjointEig.gradient(None)


@SelfAdjointEig.samples
def _(rng: SampleGenerator):
    yield Sample(np.zeros((0, 0)))
    yield Sample(np.stack([np.diag([3.0]), np.diag([-2.0])]), expect=np.array([[[3.0], [1]], [[-2], [1]]]))
    yield Sample(rng.normal(2, 3), raises=InvalidArgumentError)
    yield Sample(rng.normal(3), raises=InvalidArgumentError)


SelfAdjointEig.reference(lambda input: np.zeros((len(input) + 1, len(input))))
old_spelling(SelfAdjointEig, "BatchSelfAdjointEig")


@op("CholeskyGrad", "l: T, grad: T -> output: T", types=_REAL, shape=lambda call: [shapes.square(call.shape(0))])
def CholeskyGrad(xp: ModuleType, l: Array, grad: Array):
    matrices(l, square=True)
    if l.shape != grad.shape:
        raise invalid(f"l and grad must be of one shape, got {shape_text(l.shape)} and {shape_text(grad.shape)}")
    lower = xp.tril(l)
    inverse = xp.linalg.inv(lower)
    middle = xp.tril(lower.swapaxes(-1, -2) @ xp.tril(grad))
    middle = middle * (1 - 0.5 * xp.eye(l.shape[-1], dtype=l.dtype))
    whole = inverse.swapaxes(-1, -2) @ middle @ inverse
    return (whole + whole.swapaxes(-1, -2)) / 2


CholeskyGrad.gradient(None)


@CholeskyGrad.samples
def _(rng: SampleGenerator):
    l = np.tril(rng.normal(3, 3)) + 3 * np.eye(3)
    yield Sample(l, rng.normal(3, 3))
    yield Sample(np.stack([l, l + np.eye(3)]), rng.normal(2, 3, 3))
    yield Sample(l, rng.normal(2, 2), raises=InvalidArgumentError)
    yield Sample(l[:2], l[:2], raises=InvalidArgumentError)


@CholeskyGrad.reference
def _(l: np.ndarray, grad: np.ndarray):
    """By central differences of the factors of symmetric matrices."""
    wide = np.tril(l).astype(np.float64)
    out, a = np.zeros(l.shape), wide @ wide.swapaxes(-1, -2)
    for i, j in np.ndindex(a.shape[-2:]):
        ends = []
        for step in (1e-6, -1e-6):
            moved = a.copy()
            moved[..., i, j] += step / 2
            moved[..., j, i] += step / 2
            ends.append((np.linalg.cholesky(moved) * grad).sum((-1, -2)))
        out[..., i, j] = (ends[0] - ends[1]) / 2e-6
    return out


old_spelling(CholeskyGrad, "BatchCholeskyGrad")
