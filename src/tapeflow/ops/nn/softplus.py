"""Softplus and softsign."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core.annotations import Array, TensorLike
from tapeflow.core.public import tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.math import elementwise, trigonometric
from tapeflow.ops.nn.activation_samples import line_samples, pair_samples, require_same_shape
from tapeflow.ops.table import FLOATING, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall


@op(
    "Softplus", "features: T -> activations: T", types={"T": FLOATING}, shape=shapes.elementwise,
    promotes="weakness",
)
def Softplus(xp: ModuleType, features: Array):
    return xp.maximum(features, features.dtype.type(0)) + xp.log1p(xp.exp(-xp.abs(features)))


@Softplus.gradient(needs="features")
def _(call: GradientCall, dy: Tensor):
    return SoftplusGrad(dy, call.features)


Softplus.samples(line_samples)
Softplus.reference(
    lambda features: np.logaddexp(0.0, features.astype(np.float64)).astype(features.dtype)
)


@op("SoftplusGrad", "gradients: T, features: T -> backprops: T", types={"T": FLOATING},
    shape=shapes.merged)  # fmt: skip
def SoftplusGrad(xp: ModuleType, gradients: Array, features: Array):
    require_same_shape("SoftplusGrad", gradients, features)
    small = xp.exp(-xp.abs(features))
    one = features.dtype.type(1)
    return gradients * (xp.where(features < 0, small, one) / (one + small))


SoftplusGrad.batching(batching.elementwise)


@SoftplusGrad.gradient(needs="gradients, features")
def _(call: GradientCall, dy: Tensor):
    s = trigonometric.sigmoid(call.features)
    return SoftplusGrad(dy, call.features), dy * call.gradients * s * (1 - s)


SoftplusGrad.samples(pair_samples)


@SoftplusGrad.reference
def _(gradients: np.ndarray, features: np.ndarray):
    return (gradients / (1 + np.exp(-features.astype(np.float64)))).astype(features.dtype)


@api("math.softplus", "nn.softplus")
@tensor_function
def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """log(1 + exp(features)), without overflow."""
    return Softplus(features)


@op(
    "Softsign", "features: T -> activations: T", types={"T": FLOATING}, shape=shapes.elementwise,
    promotes="weakness",
)
def Softsign(xp: ModuleType, features: Array):
    return features / (xp.abs(features) + features.dtype.type(1))


@Softsign.gradient(needs="features")
def _(call: GradientCall, dy: Tensor):
    return SoftsignGrad(dy, call.features)


Softsign.samples(line_samples)


@Softsign.reference
def _(features: np.ndarray):
    with np.errstate(invalid="ignore"):
        return np.where(features >= 0, features / (1 + features), features / (1 - features)).astype(
            features.dtype
        )


@op("SoftsignGrad", "gradients: T, features: T -> backprops: T", types={"T": FLOATING},
    shape=shapes.merged)  # fmt: skip
def SoftsignGrad(xp: ModuleType, gradients: Array, features: Array):
    require_same_shape("SoftsignGrad", gradients, features)
    return gradients / xp.square(xp.abs(features) + features.dtype.type(1))


SoftsignGrad.batching(batching.elementwise)


@SoftsignGrad.gradient(needs="gradients, features")
def _(call: GradientCall, dy: Tensor):
    x = call.features
    slope = -2 * elementwise.sign(x) / (1 + elementwise.abs(x)) ** 3
    return SoftsignGrad(dy, x), dy * call.gradients * slope


SoftsignGrad.samples(pair_samples)
SoftsignGrad.reference(
    lambda gradients, features: (gradients * (1 + np.abs(features)) ** -2.0).astype(features.dtype)
)


@api("math.softsign", "nn.softsign")
@tensor_function
def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """features / (1 + |features|)."""
    return Softsign(features)
