"""Batch normalisation and its gradients of first and second order, as formulas of arrays."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, Tensor
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.math import arithmetic, casting, elementwise, reductions
from tapeflow.ops.signature import one_of
from tapeflow.ops.static import product, size_of
from tapeflow.ops.table import Sample
from tapeflow.ops.validate import invalid, shape_text

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator


NARROW = (dtypes.float32, dtypes.float16, dtypes.bfloat16)
FLOAT32 = (dtypes.float32,)
IMAGE = one_of("NHWC", "NCHW")("NHWC")
ANY_FORMAT = one_of("NHWC", "NCHW", "NDHWC", "NCDHW")("NHWC")


def _channel(x: Any, data_format: str) -> int:
    if x.ndim != len(data_format):
        raise invalid(f"input must be {len(data_format)}-dimensional{shape_text(x.shape)}")
    return data_format.index("C")


def _require_channels(x: Any, axis: int, **vectors) -> None:
    for name, vector in vectors.items():
        if vector.ndim != 1:
            raise invalid(f"{name} must be 1-dimensional{shape_text(vector.shape)}")
        if vector.size != x.shape[axis]:
            raise invalid(
                f"{name} must have the same number of elements as the channels of x, got {vector.size} "
                f"and {x.shape[axis]}"
            )


def normalize(
    xp: ModuleType, x: Any, scale, offset, mean: Array, variance: Array, epsilon, exponential_avg_factor: float,
    data_format: str, is_training: bool,
):
    axis = _channel(x, data_format)
    _require_channels(x, axis, scale=scale, offset=offset)
    needs_old = not is_training or exponential_avg_factor != 1
    if needs_old:
        _require_channels(x, axis, mean=mean, variance=variance)
    others = tuple(i for i in range(x.ndim) if i != axis)
    line = [1] * x.ndim
    line[axis] = -1
    wide = x.astype(scale.dtype)
    if is_training:
        count = x.size // max(x.shape[axis], 1)
        if count == 0:
            blank = xp.full(scale.shape, np.nan, scale.dtype)
            return x, blank, blank, blank, blank
        batch_mean = wide.mean(others, dtype=scale.dtype)
        centred = wide - batch_mean.reshape(line)
        batch_variance = xp.square(centred).mean(others, dtype=scale.dtype)
        # The running variance is the unbiased estimate, the normalisation uses the biased one.
        unbiased = (batch_variance * scale.dtype.type(count / max(count - 1, 1))).astype(
            scale.dtype
        )
        saved = (batch_mean, batch_variance)
        outs = (batch_mean, unbiased)
        if exponential_avg_factor != 1:
            f = scale.dtype.type(exponential_avg_factor)
            outs = tuple(
                ((1 - f) * old + f * new).astype(scale.dtype)
                for old, new in zip((mean, variance), outs, strict=True)
            )
    else:
        centred = wide - mean.reshape(line)
        saved = outs = (mean, variance)
    rate = scale / xp.sqrt(saved[1] + scale.dtype.type(epsilon))
    y = (centred * rate.reshape(line) + offset.reshape(line)).astype(x.dtype)
    return (y, *outs, *saved)


def normalize_grad(
    xp: ModuleType, dy: Array, x: Array, scale, mean, variance, epsilon: float, data_format: str, is_training: bool
):
    axis = _channel(x, data_format)
    if dy.shape != x.shape:
        raise invalid(
            f"x and y_backprop must have same shape, but x has shape {shape_text(x.shape)} and y_backprop "
            f"has shape {shape_text(dy.shape)}"
        )
    _require_channels(x, axis, scale=scale, reserve_space_1=mean, reserve_space_2=variance)
    others = tuple(i for i in range(x.ndim) if i != axis)
    line = [1] * x.ndim
    line[axis] = -1
    kind = scale.dtype
    wide = dy.astype(kind)
    rate = 1 / xp.sqrt(variance + kind.type(epsilon))
    xh = (x.astype(kind) - mean.reshape(line)) * rate.reshape(line)
    dscale = (wide * xh).sum(others, dtype=kind)
    doffset = wide.sum(others, dtype=kind)
    inner = wide
    if is_training:
        count = kind.type(max(x.size // max(x.shape[axis], 1), 1))
        inner = wide - (doffset / count).reshape(line) - xh * (dscale / count).reshape(line)
    dx = (inner * (scale * rate).reshape(line)).astype(x.dtype)
    return dx, dscale.astype(kind), doffset.astype(kind)


def forward_gradient(grad_row: Callable[..., Any], has_third: bool):
    """The gradient of a forward row: its gradient row, on the statistics that were used.

    Gradients of the statistics, which hardly any program asks for, are added where they come.
    """

    def gradient(
        call: GradientCall, dy: Tensor | None, dmean: Tensor | None, dvariance: Tensor | None, dsaved_mean=None,
        dsaved_variance=None, *_,
    ):
        training = call.is_training
        saved = (
            (call.reserve_space_1, call.reserve_space_2) if training else (call.mean, call.variance)
        )
        third = (call.reserve_space_3,) if has_third else ()
        dx = dscale = doffset = None
        if dy is not None:
            dx, dscale, doffset = grad_row(
                dy, call.x, call.scale, *saved, *third,
                epsilon=call.epsilon, data_format=call.data_format, is_training=training,
            )[:3]  # fmt: skip
        if not training:
            return dx, dscale, doffset, None, None
        f = call.exponential_avg_factor
        axis = call.data_format.index("C")
        rank = len(call.data_format)
        count = product([size_of(call.x, i) for i in range(rank) if i != axis])
        if not isinstance(count, int):
            count = casting.cast(count, dtypes.float32)
        line = [1] * rank
        line[axis] = -1
        by_mean = _total(dmean, f, dsaved_mean)
        bessel = count / (max(count - 1, 1) if isinstance(count, int) else arithmetic.Maximum(count - 1, 1))
        by_variance = _total(dvariance, f * bessel, dsaved_variance)
        if by_mean is not None:
            extra = _as(Reshape(by_mean / count, line), call.x.dtype) + ZerosLike(call.x)
            dx = extra if dx is None else dx + extra
        if by_variance is not None:
            centred = _as(call.x, by_variance.dtype) - Reshape(call.reserve_space_1, line)
            extra = _as(Reshape(by_variance * (2 / count), line) * centred, call.x.dtype)
            dx = extra if dx is None else dx + extra
        keep = 1 - f
        old = [None if d is None or not keep else d * keep for d in (dmean, dvariance)]
        return dx, dscale, doffset, *old

    return gradient


def _total(output: Tensor | None, factor: float, saved):
    """What two outputs, one of them scaled, pass on together."""
    output = None if output is None else output * factor
    if output is None or saved is None:
        return saved if output is None else output
    return output + saved


def gradient_gradient(call: GradientCall, gx, gscale, goffset, *_):
    """The gradients of `_normalize_grad` by dy, x and scale.

    With M the mean over a channel and G = <gx, dx> + <gscale, dscale> + <goffset, doffset>, the terms below are
    the derivatives of G; the saved statistics count as functions of x while training.
    """
    dy, x, scale = call.y_backprop, call.x, call.scale
    kind = scale.dtype
    x_kind = x.dtype
    rank = len(call.data_format)
    axis = call.data_format.index("C")
    others = [i for i in range(rank) if i != axis]
    line = [1] * rank
    line[axis] = -1

    def spread(v):
        return Reshape(v, line)

    def mean(v):
        return reductions.reduce_mean(v, others, True)

    def total(v):
        return reductions.reduce_sum(v, others)

    dy, x, gx = (v if v.dtype == kind else casting.cast(v, kind) for v in (dy, x, gx))
    r = elementwise.rsqrt(spread(call.reserve_space_2) + call.epsilon)
    xh = (x - spread(call.reserve_space_1)) * r
    s, h, k = spread(scale), spread(gscale), spread(goffset)
    if not call.is_training:
        ddy = s * r * gx + h * xh + k
        return _as(ddy, x_kind), _as(h * dy * r, x_kind), total(gx * r * dy)
    m_gx, m_dy, m_gxh, m_dyh = mean(gx), mean(dy), mean(gx * xh), mean(dy * xh)
    ddy = s * r * (gx - m_gx - xh * m_gxh) + h * xh + k
    inner = gx * (dy - m_dy - xh * m_dyh)
    dscale = total(inner * r)
    # By xh, then by r where it stands alone; both depend on x.
    e = -s * r * (gx * m_dyh + dy * m_gxh) + h * dy
    by_rate = s * mean(inner)
    dx = r * (e - mean(e) - xh * mean(e * xh)) - by_rate * r * r * xh
    return _as(ddy, x_kind), _as(dx, x_kind), dscale


def _as(x: Tensor, kind):
    return x if x.dtype == kind else casting.cast(x, kind)


def reference_forward(
    x, scale, offset, mean, variance, epsilon: float, exponential_avg_factor, data_format: str, is_training: bool
):
    axis = data_format.index("C")
    rows = np.moveaxis(x, axis, -1).astype(np.float64)
    flat = rows.reshape(-1, rows.shape[-1])
    if is_training:
        m, v = flat.mean(0), flat.var(0)
        new_v = flat.var(0, ddof=1) if len(flat) > 1 else v
        f = exponential_avg_factor
        outs = (m, new_v) if f == 1 else (mean * (1 - f) + m * f, variance * (1 - f) + new_v * f)
    else:
        m, v = mean.astype(np.float64), variance.astype(np.float64)
        outs = (m, v)
    y = np.moveaxis((rows - m) / np.sqrt(v + epsilon) * scale + offset, -1, axis)
    return (y.astype(x.dtype), *(o.astype(scale.dtype) for o in (*outs, m, v)))


def _single(rng: SampleGenerator, *shape):
    return np.asarray(rng.normal(*shape), np.float32)


def forward_samples(rng: SampleGenerator):
    def vectors(n: int = 3):
        return [
            _single(rng, n),
            _single(rng, n),
            _single(rng, n),
            _single(rng, n) ** 2 + np.float32(0.5),
        ]

    x = _single(rng, 2, 3, 2, 3)
    yield Sample(x, *vectors(), epsilon=0.001)
    yield Sample(x, *vectors(), epsilon=0.001, exponential_avg_factor=0.25)
    yield Sample(x, *vectors(), epsilon=0.001, is_training=False)
    yield Sample(_single(rng, 2, 3, 2, 2), *vectors(), epsilon=0.01, data_format="NCHW")
    none = np.zeros(0, np.float32)
    yield Sample(x, *vectors()[:2], none, none)
    a, b, c, d = vectors()
    yield Sample(x, a[:2], b, c, d, raises=InvalidArgumentError)
    yield Sample(x, a, b[:2], c, d, raises=InvalidArgumentError)
    yield Sample(x[0], a, b, c, d, raises=InvalidArgumentError)
    yield Sample(x, a[None], b, c, d, raises=InvalidArgumentError)
    yield Sample(x, a, b, none, none, is_training=False, raises=InvalidArgumentError)


def grad_samples(rng: Any, third: bool):
    extra = [np.zeros(0, np.float32)] if third else []
    for training in (True, False):
        x = _single(rng, 2, 2, 2, 3)
        m, v = np.asarray(x).mean((0, 1, 2)), np.asarray(x).var((0, 1, 2))
        yield Sample(
            _single(rng, 2, 2, 2, 3),
            x,
            _single(rng, 3),
            m,
            v,
            *extra,
            epsilon=0.01,
            is_training=training,
            differentiable=not training,
        )
    x, s = _single(rng, 2, 2, 2, 3), _single(rng, 3)
    v = s * s + np.float32(1)
    yield Sample(_single(rng, 2, 2, 3, 3), x, s, s, v, *extra, raises=InvalidArgumentError)
    yield Sample(x, x, s[:2], s, v, *extra, raises=InvalidArgumentError)
    yield Sample(x[0], x[0], s, s, v, *extra, raises=InvalidArgumentError)


def reference_grad(dy, x, scale, mean, variance, epsilon: float, data_format: str, is_training: bool):
    """Row by row, by the chain rule through mean and variance."""
    axis = data_format.index("C")
    rows, grads = (np.moveaxis(a, axis, -1).astype(np.float64) for a in (x, dy))
    shape = rows.shape
    rows, grads = rows.reshape(-1, shape[-1]), grads.reshape(-1, shape[-1])
    n = len(rows)
    std = np.sqrt(variance.astype(np.float64) + epsilon)
    xh = (rows - mean) / std
    dxh = grads * scale
    dx = dxh / std
    if is_training:
        dvar = (dxh * (rows - mean)).sum(0) * -0.5 * std**-3.0
        dmean = -(dxh / std).sum(0)
        dx = dx + dvar * 2 * (rows - mean) / n + dmean / n
    dx = np.moveaxis(dx.reshape(shape), -1, axis)
    return (
        dx.astype(x.dtype),
        (grads * xh).sum(0).astype(scale.dtype),
        grads.sum(0).astype(scale.dtype),
    )
