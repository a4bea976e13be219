"""Batch normalisation (Ioffe and Szegedy, 2015) as one op, with gradients of first and second order.

With xh = (x - mean) / sqrt(variance + epsilon), the output is scale * xh + offset; mean and variance are those
of the batch while training, the given ones otherwise.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.ops import shapes
from tapeflow.ops.table import op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import BatchedCall, GradientCall, ShapeCall
    from tapeflow.ops.signature import Kind

from tapeflow.ops.nn.batch_norm_formulas import (
    ANY_FORMAT,
    FLOAT32,
    IMAGE,
    NARROW,
    forward_gradient,
    forward_samples,
    grad_samples,
    gradient_gradient,
    normalize,
    normalize_grad,
    reference_forward,
    reference_grad,
)


def _attrs(data_format: Kind, averaging: bool) -> dict:
    attrs: dict = {"epsilon": 0.0001}
    if averaging:
        attrs["exponential_avg_factor"] = 1.0
    return {**attrs, "data_format": data_format, "is_training": True}


def _grad_rule(call):
    rank = len(call.attr("data_format"))
    channel = call.attr("data_format").index("C")
    x = shapes.merge(shapes.with_rank(call.shape(0), rank), shapes.with_rank(call.shape(1), rank))
    size = x[channel]
    for i in (2, 3, 4):
        size = shapes.same_dimension(size, shapes.vector_length(call, i))
    return [(*x[:channel], size, *x[channel + 1 :]), (size,), (size,), (), ()]


_FORWARD_NEEDS = "x, scale, mean, variance, reserve_space_1, reserve_space_2"


_NOTHING = np.zeros((), np.float32)


def _forward_rule(count: int):
    def rule(call: ShapeCall):
        rank = len(call.attr("data_format"))
        channel = call.attr("data_format").index("C")
        x = shapes.with_rank(call.shape(0), rank)
        size = x[channel]
        fresh = call.attr("is_training") and call.attr("exponential_avg_factor") == 1
        for i in (1, 2) if fresh else (1, 2, 3, 4):
            size = shapes.same_dimension(size, shapes.vector_length(call, i))
        return [(*x[:channel], size, *x[channel + 1 :]), *[(size,)] * 4, (0,)][:count]

    return rule


@op(
    "FusedBatchNormGrad",
    "y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T -> "
    "x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T",
    types={"T": FLOAT32},
    attrs=_attrs(IMAGE, averaging=False),
    shape=_grad_rule,
)
def FusedBatchNormGrad(
    xp: ModuleType, y_backprop: Array, x: Array, scale: Array, reserve_space_1: Array, reserve_space_2: Array,
    **attrs,
):
    grads = normalize_grad(xp, y_backprop, x, scale, reserve_space_1, reserve_space_2, **attrs)
    return (*grads, _NOTHING, _NOTHING)


_GRAD_NEEDS = "y_backprop, x, scale, reserve_space_1, reserve_space_2"


@FusedBatchNormGrad.gradient(needs=_GRAD_NEEDS)
def _(call: GradientCall, *dys):
    return (*gradient_gradient(call, *dys), None, None)


FusedBatchNormGrad.samples(lambda rng: grad_samples(rng, third=False))


@FusedBatchNormGrad.reference
def _(
    y_backprop: np.ndarray, x: np.ndarray, scale: np.ndarray, reserve_space_1: np.ndarray,
    reserve_space_2: np.ndarray, **attrs,
):
    grads = reference_grad(y_backprop, x, scale, reserve_space_1, reserve_space_2, **attrs)
    return (*grads, _NOTHING, _NOTHING)


@op(
    "FusedBatchNormGradV2",
    "y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U -> "
    "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U",
    types={"T": NARROW, "U": FLOAT32},
    attrs=_attrs(IMAGE, averaging=False),
    shape=_grad_rule,
)
def FusedBatchNormGradV2(
    xp: ModuleType, y_backprop: Array, x: Array, scale: Array, reserve_space_1: Array, reserve_space_2: Array,
    **attrs,
):
    grads = normalize_grad(xp, y_backprop, x, scale, reserve_space_1, reserve_space_2, **attrs)
    return (*grads, _NOTHING, _NOTHING)


@FusedBatchNormGradV2.gradient(needs=_GRAD_NEEDS)
def _(call: GradientCall, *dys):
    return (*gradient_gradient(call, *dys), None, None)


FusedBatchNormGradV2.samples(lambda rng: grad_samples(rng, third=False))


@FusedBatchNormGradV2.reference
def _(
    y_backprop: np.ndarray, x: np.ndarray, scale: np.ndarray, reserve_space_1: np.ndarray,
    reserve_space_2: np.ndarray, **attrs,
):
    grads = reference_grad(y_backprop, x, scale, reserve_space_1, reserve_space_2, **attrs)
    return (*grads, _NOTHING, _NOTHING)


@op(
    "FusedBatchNormGradV3",
    "y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U -> "
    "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U",
    types={"T": NARROW, "U": FLOAT32},
    attrs=_attrs(ANY_FORMAT, averaging=False),
    shape=_grad_rule,
)
def FusedBatchNormGradV3(
    xp: ModuleType, y_backprop: Array, x: Array, scale: Array, reserve_space_1: Array, reserve_space_2: Array,
    reserve_space_3: Array, **attrs,
):
    grads = normalize_grad(xp, y_backprop, x, scale, reserve_space_1, reserve_space_2, **attrs)
    return (*grads, _NOTHING, _NOTHING)


@FusedBatchNormGradV3.gradient(needs=_GRAD_NEEDS)
def _(call: GradientCall, *dys):
    return (*gradient_gradient(call, *dys), None, None, None)


FusedBatchNormGradV3.samples(lambda rng: grad_samples(rng, third=True))


@FusedBatchNormGradV3.reference
def _(
    y_backprop: np.ndarray, x: np.ndarray, scale: np.ndarray, reserve_space_1: np.ndarray,
    reserve_space_2: np.ndarray, reserve_space_3: np.ndarray, **attrs,
):
    grads = reference_grad(y_backprop, x, scale, reserve_space_1, reserve_space_2, **attrs)
    return (*grads, _NOTHING, _NOTHING)


@op(
    "FusedBatchNorm",
    "x: T, scale: T, offset: T, mean: T, variance: T -> "
    "y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T",
    types={"T": FLOAT32},
    attrs=_attrs(IMAGE, averaging=True),
    shape=_forward_rule(5),
)
def FusedBatchNorm(
    xp: ModuleType, x: Array, scale: Array, offset: Array, mean: Array, variance: Array, **attrs
):
    return normalize(xp, x, scale, offset, mean, variance, **attrs)


FusedBatchNorm.gradient(needs=_FORWARD_NEEDS, none=True)(
    forward_gradient(FusedBatchNormGrad, False)
)
FusedBatchNorm.samples(forward_samples)
FusedBatchNorm.reference(reference_forward)


@op(
    "FusedBatchNormV2",
    "x: T, scale: U, offset: U, mean: U, variance: U -> "
    "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U",
    types={"T": NARROW, "U": FLOAT32},
    attrs=_attrs(IMAGE, averaging=True),
    shape=_forward_rule(5),
)
def FusedBatchNormV2(
    xp: ModuleType, x: Array, scale: Array, offset: Array, mean: Array, variance: Array, **attrs
):
    return normalize(xp, x, scale, offset, mean, variance, **attrs)


FusedBatchNormV2.gradient(needs=_FORWARD_NEEDS, none=True)(
    forward_gradient(FusedBatchNormGradV2, False)
)
FusedBatchNormV2.samples(forward_samples)
FusedBatchNormV2.reference(reference_forward)


@op(
    "FusedBatchNormV3",
    "x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, batch_variance: U, "
    "reserve_space_1: U, reserve_space_2: U, reserve_space_3: U",
    types={"T": NARROW, "U": (dtypes.float32, dtypes.bfloat16)},
    attrs=_attrs(ANY_FORMAT, averaging=True),
    shape=_forward_rule(6),
)
def FusedBatchNormV3(
    xp: ModuleType, x: Array, scale: Array, offset: Array, mean: Array, variance: Array, **attrs
):
    out = normalize(xp, x, scale, offset, mean, variance, **attrs)
    return (*out, np.zeros(0, scale.dtype))


@FusedBatchNormV3.batching
def _(call: BatchedCall):
    if call.attrs["is_training"] or not call.only([0]):
        return None
    size = call.first_size(0)
    y, *rest = call.run([call.folded(0, size), *call.inputs[1:]])
    return [call.unfolded(y, size), *map(call.shared, rest)]


FusedBatchNormV3.gradient(needs=_FORWARD_NEEDS + ", reserve_space_3", none=True)(
    forward_gradient(FusedBatchNormGradV3, True)
)
FusedBatchNormV3.samples(forward_samples)


@FusedBatchNormV3.reference
def _(x: np.ndarray, scale: np.ndarray, offset: np.ndarray, mean: np.ndarray, variance: np.ndarray, **attrs):
    out = reference_forward(x, scale, offset, mean, variance, **attrs)
    return (*out, np.zeros(0, scale.dtype))
