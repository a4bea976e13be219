"""The Gaussian error linear unit and its gradient."""

from __future__ import annotations

import math
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.api import api
from tapeflow.core.annotations import Array, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.derived import vjp
from tapeflow.ops.math import elementwise, trigonometric
from tapeflow.ops.nn.activation_samples import line_samples, pair_samples, require_same_shape
from tapeflow.ops.special import functions as special
from tapeflow.ops.table import FLOATING, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

_SLOPE, _CUBIC = math.sqrt(2 / math.pi), 0.044715
_PEAK = 1 / math.sqrt(2 * math.pi)  # of the normal distribution's density


def _composed(features: Tensor, approximate: bool):
    """What `Gelu` computes, made of ops that TensorFlow knows."""
    if approximate:
        cubic = _CUBIC * features**3
        return 0.5 * features * (1.0 + trigonometric.tanh(_SLOPE * (features + cubic)))
    return 0.5 * features * (1.0 + special.erf(features / math.sqrt(2)))


def _composed_gradient(gradients: Tensor, features: Tensor, approximate: bool):
    """What `GeluGrad` computes, made of ops that TensorFlow knows."""
    squares = elementwise.square(features)
    if approximate:
        t = trigonometric.tanh(_SLOPE * (features + _CUBIC * squares * features))
        slope = _SLOPE * (1.0 + 3 * _CUBIC * squares)
        return gradients * (0.5 * (1.0 + t) + 0.5 * features * ((1.0 - t * t) * slope))
    below = 0.5 * (1.0 + special.erf(features / math.sqrt(2)))
    return gradients * (below + features * (_PEAK * elementwise.exp(-0.5 * squares)))


@op(
    "Gelu", "features: T -> activations: T", types={"T": FLOATING}, attrs={"approximate": False},
    shape=shapes.elementwise, promotes="weakness",
)  # fmt: skip
def Gelu(xp: ModuleType, features: Array, approximate: bool):
    number = features.dtype.type
    if approximate:
        cubic = number(_CUBIC) * (features * features * features)
        inner = xp.tanh(number(_SLOPE) * (features + cubic))
    else:
        inner = special.Erf.kernel(xp, features / number(math.sqrt(2)))
    return number(0.5) * features * (number(1) + inner)


@Gelu.gradient(needs="features")
def _(call: GradientCall, dy: Tensor):
    return GeluGrad(dy, call.features, call.approximate)


Gelu.composite = _composed


def _both_forms(samples):
    for each in samples:
        for approximate in (False, True):
            yield Sample(
                *each.inputs, raises=each.raises, differentiable=each.differentiable, approximate=approximate
            )


@Gelu.samples
def _(rng: SampleGenerator):
    yield from _both_forms(line_samples(rng))


@Gelu.reference
def _(features: np.ndarray, approximate: bool):
    x = features.astype(np.float64)
    with np.errstate(all="ignore"):
        if approximate:
            inner = np.tanh(_SLOPE * (x + _CUBIC * x**3))
        else:
            inner = np.vectorize(math.erf, [float])(x / math.sqrt(2))
        return (0.5 * x * (1 + inner)).astype(features.dtype)


@op(
    "GeluGrad", "gradients: T, features: T -> backprops: T", types={"T": FLOATING}, attrs={"approximate": False},
    shape=shapes.merged,
)  # fmt: skip
def GeluGrad(xp: ModuleType, gradients: Array, features: Array, approximate: bool):
    require_same_shape("GeluGrad", gradients, features)
    number = features.dtype.type
    one, half, squares = number(1), number(0.5), features * features
    if approximate:
        t = xp.tanh(number(_SLOPE) * (features + number(_CUBIC) * (squares * features)))
        slope = number(_SLOPE) * (one + number(3 * _CUBIC) * squares)
        return gradients * (half * (one + t) + half * features * ((one - t * t) * slope))
    below = half * (one + special.Erf.kernel(xp, features / number(math.sqrt(2))))
    return gradients * (below + features * (number(_PEAK) * xp.exp(-half * squares)))


GeluGrad.batching(batching.elementwise)


@GeluGrad.gradient(needs="gradients, features")
def _(call, dy):
    return vjp(lambda *own: [_composed_gradient(*own, call.approximate)], [call.gradients, call.features], [dy])


GeluGrad.composite = _composed_gradient


@GeluGrad.samples
def _(rng: SampleGenerator):
    yield from _both_forms(pair_samples(rng))


@GeluGrad.reference
def _(gradients: np.ndarray, features: np.ndarray, approximate: bool):
    x = features.astype(np.float64)
    if approximate:  # the derivative by a step into the complex plane, which loses no digits
        z = x + 1e-30j
        slope = (0.5 * z * (1 + np.tanh(_SLOPE * (z + _CUBIC * z**3)))).imag * 1e30
    else:
        slope = np.vectorize(math.erfc, [float])(-x / math.sqrt(2)) / 2 + x * np.exp(-x * x / 2) * _PEAK
    return (gradients * slope).astype(features.dtype)


@api(v2="nn.gelu")
@tensor_function
@graph_scope("Gelu")
def gelu(features: TensorLike, approximate: bool = False, name: str | None = None):
    """Compute the Gaussian error linear unit, `x * P(X <= x)` of a normally distributed X.

    Args:
      features: a floating tensor.
      approximate: whether to use the approximation by tanh, `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 *
        x**3)))`.
      name: a name for the operation (optional).

    Returns:
      A tensor of the dtype and shape of `features`.

    Raises:
      ValueError: for other dtypes.

    >>> tf.nn.gelu([-1.0, 0.0, 1.0]).numpy().round(4)
    array([-0.1587,  0.    ,  0.8413], dtype=float32)
    """
    features = convert_to_tensor(features)
    if not features.dtype.is_floating:
        raise ValueError(
            f"`features.dtype` must be a floating point tensor.Received:features.dtype={features.dtype}"
        )
    return Gelu(features, bool(approximate))
