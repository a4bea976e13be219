"""Batch normalization by given statistics, as the graphs of the first years have it."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import derived, shapes
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.math import arithmetic, elementwise, reductions
from tapeflow.ops.signature import boolean, number
from tapeflow.ops.table import FLOATING, Sample, op
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator, ShapeCall

_ATTRS = {"variance_epsilon": number, "scale_after_normalization": boolean}


def _check(t: Any, **vectors):
    if t.ndim != 4:
        raise invalid(f"input must be 4-dimensional{shape_text(t.shape)}")
    for name, x in vectors.items():
        if x.ndim != 1:
            raise invalid(f"{name} must be 1-dimensional{shape_text(x.shape)}")
        if x.size != t.shape[-1]:
            raise invalid(f"{name} must have {t.shape[-1]} elements, one for each channel, got {x.size}")


def _image(call: ShapeCall):
    """The shape of `t`, with its channels as far as a vector tells them."""
    t = shapes.with_rank(call.shape(0), 4)
    size = t[-1]
    for i in (1, 2, 3):
        size = shapes.same_dimension(size, shapes.vector_length(call, i))
    return (*t[:-1], size)


@op(
    "BatchNormWithGlobalNormalization",
    "t: T, m: T, v: T, beta: T, gamma: T -> result: T",
    types={"T": FLOATING},
    attrs=_ATTRS,
    shape=lambda call: [_image(call)],
)
def BatchNormWithGlobalNormalization(
    xp: ModuleType, t: Array, m: Array, v: Array, beta: Array, gamma: Array, variance_epsilon: float,
    scale_after_normalization: bool,
):
    _check(t, m=m, v=v, beta=beta, gamma=gamma)
    rate = 1 / xp.sqrt(v + v.dtype.type(variance_epsilon))
    if scale_after_normalization:
        rate = rate * gamma
    return ((t - m) * rate + beta).astype(t.dtype)


@BatchNormWithGlobalNormalization.gradient(needs="t, m, v, gamma")
def _(call: GradientCall, dy: Tensor):
    given = call.t, call.m, call.v, call.gamma, dy
    attrs = call.variance_epsilon, call.scale_after_normalization
    return tuple(BatchNormWithGlobalNormalizationGrad(*given, *attrs))


def _sample(rng: SampleGenerator):
    return rng.normal(2, 2, 1, 3), rng.normal(3), np.array([0.5, 1.0, 2.0])


@BatchNormWithGlobalNormalization.samples
def _(rng):
    t, m, v = _sample(rng)
    for scaled in (True, False):
        yield Sample(t, m, v, rng.normal(3), rng.normal(3), variance_epsilon=0.01, scale_after_normalization=scaled)
    attrs = {"variance_epsilon": 0.1, "scale_after_normalization": True}
    yield Sample(t[0], m, v, m, m, **attrs, raises=InvalidArgumentError)
    yield Sample(t, m, v[:2], m, m, **attrs, raises=InvalidArgumentError)


@BatchNormWithGlobalNormalization.reference
def _(
    t: np.ndarray, m: np.ndarray, v: np.ndarray, beta: np.ndarray, gamma: np.ndarray, variance_epsilon: float,
    scale_after_normalization: bool,
):
    out = np.empty_like(t)
    for at in np.ndindex(t.shape):
        c = at[-1]
        out[at] = (t[at] - m[c]) / np.sqrt(v[c] + variance_epsilon)
        out[at] = out[at] * (gamma[c] if scale_after_normalization else 1) + beta[c]
    return out


@op(
    "BatchNormWithGlobalNormalizationGrad",
    "t: T, m: T, v: T, gamma: T, backprop: T -> dx: T, dm: T, dv: T, db: T, dg: T",
    types={"T": FLOATING},
    attrs=_ATTRS,
    shape=lambda call: [
        shapes.merge(_image(call), shapes.with_rank(call.shape(4), 4)),
        *[(_image(call)[-1],)] * 4,
    ],
)
def BatchNormWithGlobalNormalizationGrad(
    xp: ModuleType, t: Array, m: Array, v: Array, gamma: Array, backprop: Array, variance_epsilon: float,
    scale_after_normalization: bool,
):
    _check(t, m=m, v=v, gamma=gamma)
    if backprop.shape != t.shape:
        raise invalid(f"backprop must have the shape of input, got {backprop.shape} and {t.shape}")
    rate = 1 / xp.sqrt(v + v.dtype.type(variance_epsilon))
    scale = rate * gamma if scale_after_normalization else rate
    total = backprop.sum((0, 1, 2))
    along = (backprop * (t - m)).sum((0, 1, 2))
    parts = (
        backprop * scale,
        -total * scale,
        -along * scale * rate * rate / 2,
        total,
        along * rate if scale_after_normalization else along * 0,
    )
    return tuple(part.astype(t.dtype) for part in parts)


@BatchNormWithGlobalNormalizationGrad.gradient(needs="t, m, v, gamma, backprop")
def _(call: GradientCall, *dys):
    def gradients(t, m, v, gamma, backprop):
        rate = elementwise.Rsqrt(v + call.variance_epsilon)
        scale = rate * gamma if call.scale_after_normalization else rate
        total = reductions.reduce_sum(backprop, [0, 1, 2])
        along = reductions.reduce_sum(arithmetic.Mul(backprop, t - m), [0, 1, 2])
        dg = along * rate if call.scale_after_normalization else zeros_like(along)
        return backprop * scale, -total * scale, along * scale * rate * rate / -2, total, dg

    return derived.vjp(gradients, [call.t, call.m, call.v, call.gamma, call.backprop], dys)


@BatchNormWithGlobalNormalizationGrad.samples
def _(rng: SampleGenerator):
    t, m, v = _sample(rng)
    for scaled in (True, False):
        yield Sample(t, m, v, rng.normal(3), rng.normal(2, 2, 1, 3), variance_epsilon=0.01,
                     scale_after_normalization=scaled)  # fmt: skip
    yield Sample(t, m, v, m, t[:1], variance_epsilon=0.1, scale_after_normalization=True, raises=InvalidArgumentError)


@BatchNormWithGlobalNormalizationGrad.reference
def _(
    t: np.ndarray, m: np.ndarray, v: np.ndarray, gamma: np.ndarray, backprop: np.ndarray, variance_epsilon: float,
    scale_after_normalization: bool,
):
    dx, (dm, dv, db, dg) = np.empty_like(t), np.zeros((4, *m.shape), t.dtype)
    for at in np.ndindex(t.shape):
        c, dy = at[-1], backprop[at]
        wide = v[c] + variance_epsilon
        g = gamma[c] if scale_after_normalization else 1
        dx[at] = dy * g / np.sqrt(wide)
        dm[c] -= dy * g / np.sqrt(wide)
        dv[c] -= dy * g * (t[at] - m[c]) * wide**-1.5 / 2
        db[c] += dy
        if scale_after_normalization:
            dg[c] += dy * (t[at] - m[c]) / np.sqrt(wide)
    return dx, dm, dv, db, dg
