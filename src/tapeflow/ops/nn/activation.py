"""Activations of neural networks: the relu family, softplus and similar functions."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow._native import Tensor
from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Array, AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import graph_scope, tensor_function
from tapeflow.ops import batching, shapes
from tapeflow.ops.array.joining import ConcatV2
from tapeflow.ops.array.like import ZerosLike
from tapeflow.ops.array.rows import StopGradient
from tapeflow.ops.linalg import matmul
from tapeflow.ops.math import casting, choice, comparison, trigonometric
from tapeflow.ops.nn import bias
from tapeflow.ops.signature import Preferring
from tapeflow.ops.static import static_value
from tapeflow.ops.table import FLOATING, REAL, Sample, op

if TYPE_CHECKING:
    from tapeflow.ops.row_types import GradientCall, SampleGenerator

from tapeflow.ops.nn.activation_samples import (
    LINE_TYPES,
    line_samples,
    pair_samples,
    require_same_shape,
    zero_gradient,
)


@op("Relu", "features: T -> activations: T", types={"T": REAL}, shape=shapes.elementwise, promotes="weakness")
def Relu(xp: ModuleType, features: Array):
    return xp.maximum(features, features.dtype.type(0))


@Relu.gradient(needs="activations")
def _(call: GradientCall, dy: Tensor):
    return ReluGrad(dy, call.activations)


Relu.samples(line_samples)
Relu.reference(
    lambda features: np.where(np.less_equal(features, 0), np.zeros_like(features), features)
)


@op("ReluGrad", "gradients: T, features: T -> backprops: T", types={"T": REAL}, shape=shapes.merged)
def ReluGrad(xp: ModuleType, gradients: Array, features: Array):
    require_same_shape("ReluGrad", gradients, features)
    return xp.where(features > 0, gradients, gradients.dtype.type(0))


ReluGrad.batching(batching.elementwise)


@ReluGrad.gradient(needs="features")
def _(call: GradientCall, dy: Tensor):
    return ReluGrad(dy, call.features), zero_gradient(dy)


ReluGrad.samples(pair_samples)
ReluGrad.reference(
    lambda gradients, features: gradients * np.heaviside(features, 0).astype(features.dtype)
)


@api("nn.relu")
@tensor_function
def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """max(features, 0), elementwise."""
    return Relu(features)


@op("Relu6", "features: T -> activations: T", types={"T": REAL}, shape=shapes.elementwise, promotes="weakness")
def Relu6(xp: ModuleType, features: Array):
    return xp.minimum(xp.maximum(features, features.dtype.type(0)), features.dtype.type(6))


@Relu6.gradient(needs="activations")
def _(call: GradientCall, dy: Tensor):
    return Relu6Grad(dy, call.activations)


Relu6.samples(line_samples)


@Relu6.reference
def _(features: np.ndarray):
    return np.where(features < 0, 0, np.where(features > 6, 6, features)).astype(features.dtype)


@op(
    "Relu6Grad", "gradients: T, features: T -> backprops: T", types={"T": REAL}, shape=shapes.merged
)
def Relu6Grad(xp: ModuleType, gradients: Array, features: Array):
    require_same_shape("Relu6Grad", gradients, features)
    return xp.where((features > 0) & (features < 6), gradients, gradients.dtype.type(0))


Relu6Grad.batching(batching.elementwise)


@Relu6Grad.gradient(needs="features")
def _(call: GradientCall, dy: Tensor):
    return Relu6Grad(dy, call.features), zero_gradient(dy)


Relu6Grad.samples(pair_samples)
Relu6Grad.reference(
    lambda gradients, features: gradients * ((features > 0) * (features < 6)).astype(features.dtype)
)


@api("nn.relu6")
@tensor_function
def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """min(max(features, 0), 6), elementwise."""
    return Relu6(features)


@op("LeakyRelu", "features: T -> activations: T", types={"T": Preferring(FLOATING)}, attrs={"alpha": 0.2},
    shape=shapes.elementwise, promotes="weakness")  # fmt: skip
def LeakyRelu(xp: ModuleType, features: Array, alpha: float):
    return xp.where(features > 0, features, features * features.dtype.type(alpha))


@LeakyRelu.gradient(needs="features")
def _(call: GradientCall, dy: Tensor):
    return LeakyReluGrad(dy, call.features, call.alpha)


@LeakyRelu.samples
def _(rng: SampleGenerator):
    yield from line_samples(rng)
    yield Sample(LINE_TYPES, alpha=-0.5)
    yield Sample(LINE_TYPES, alpha=1.5)


@LeakyRelu.reference
def _(features: np.ndarray, alpha: float):
    return features * np.where(features > 0, 1, alpha).astype(features.dtype)


@op("LeakyReluGrad", "gradients: T, features: T -> backprops: T", types={"T": Preferring(FLOATING)},
    attrs={"alpha": 0.2}, shape=shapes.merged)  # fmt: skip
def LeakyReluGrad(xp: ModuleType, gradients: Array, features: Array, alpha: float):
    require_same_shape("LeakyReluGrad", gradients, features)
    return xp.where(features > 0, gradients, gradients * gradients.dtype.type(alpha))


LeakyReluGrad.batching(batching.elementwise)


@LeakyReluGrad.gradient(needs="features")
def _(call: GradientCall, dy: Tensor):
    return LeakyReluGrad(dy, call.features, call.alpha), zero_gradient(dy)


LeakyReluGrad.samples(pair_samples)


@LeakyReluGrad.reference
def _(gradients: np.ndarray, features: np.ndarray, alpha: float):
    return gradients * np.where(features > 0, 1, alpha).astype(features.dtype)


@api("nn.leaky_relu")
@tensor_function
@graph_scope("LeakyRelu")
def leaky_relu(features, alpha: TensorLike = 0.2, name: str | None = None):
    """Return `x` where it is positive, and `alpha * x` elsewhere.

    Args:
      features: a floating tensor; integers become float32.
      alpha: the slope for negative numbers, a scalar.
      name: a name for the operation (optional).

    Returns:
      A tensor of the shape of `features`.

    >>> tf.nn.leaky_relu([-1.0, 0.0, 2.0])
    <tf.Tensor: shape=(3,), dtype=float32, numpy=array([-0.2,  0. ,  2. ], dtype=float32)>
    """
    features = convert_to_tensor(features)
    if features.dtype.is_integer:
        features = casting.cast(features, dtypes.float32)
    if hasattr(alpha, "shape"):
        known = static_value(alpha)
        if known is None:
            slope = StopGradient(convert_to_tensor(alpha, features.dtype))
            return choice.SelectV2(features > 0, features, features * slope)
        alpha = float(known)
    return LeakyRelu(features, alpha)


@op("Elu", "features: T -> activations: T", types={"T": FLOATING}, shape=shapes.elementwise, promotes="weakness")
def Elu(xp: ModuleType, features: Array):
    # The branch that is not taken must not overflow either.
    return xp.where(features < 0, xp.expm1(xp.minimum(features, features.dtype.type(0))), features)


@Elu.gradient(needs="activations")
def _(call: GradientCall, dy: Tensor):
    return EluGrad(dy, call.activations)


Elu.samples(line_samples)


@Elu.reference
def _(features: np.ndarray):
    with np.errstate(over="ignore"):
        return np.where(features < 0, np.exp(features.astype(np.float64)) - 1, features).astype(
            features.dtype
        )


@op(
    "EluGrad",
    "gradients: T, outputs: T -> backprops: T",
    types={"T": FLOATING},
    shape=shapes.merged,
)
def EluGrad(xp: ModuleType, gradients: Array, outputs: Array):
    require_same_shape("EluGrad", gradients, outputs)
    return xp.where(outputs < 0, gradients * (outputs + outputs.dtype.type(1)), gradients)


EluGrad.batching(batching.elementwise)


@EluGrad.gradient(needs="gradients, outputs")
def _(call: GradientCall, dy: Tensor):
    below = _step_below(call.outputs)
    return EluGrad(dy, call.outputs), dy * call.gradients * below


def _step_below(x):
    """1 where x < 0, else 0, in the dtype of `x`."""
    return casting.cast(comparison.less(x, ZerosLike(x)), x.dtype)


EluGrad.samples(pair_samples)
EluGrad.reference(
    lambda gradients, outputs: gradients * (1 + np.minimum(outputs, np.zeros_like(outputs)))
)


@api("nn.elu")
@tensor_function
def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """`features` where not negative, else exp(features) - 1."""
    return Elu(features)


# Klambauer et al., "Self-Normalizing Neural Networks" (2017).
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_PRODUCT = _SELU_SCALE * _SELU_ALPHA


@op("Selu", "features: T -> activations: T", types={"T": FLOATING}, shape=shapes.elementwise, promotes="weakness")
def Selu(xp: ModuleType, features: Array):
    kind = features.dtype.type
    below = xp.expm1(xp.minimum(features, kind(0))) * kind(_SELU_PRODUCT)
    return xp.where(features < 0, below, features * kind(_SELU_SCALE))


@Selu.gradient(needs="activations")
def _(call: GradientCall, dy: Tensor):
    return SeluGrad(dy, call.activations)


Selu.samples(line_samples)


@Selu.reference
def _(features: np.ndarray):
    x = features.astype(np.float64)
    with np.errstate(over="ignore"):
        y = np.where(x < 0, 1.6732632423543772 * (np.exp(x) - 1), x) * 1.0507009873554805
    return y.astype(features.dtype)


@op(
    "SeluGrad",
    "gradients: T, outputs: T -> backprops: T",
    types={"T": FLOATING},
    shape=shapes.merged,
)
def SeluGrad(xp: ModuleType, gradients: Array, outputs: Array):
    require_same_shape("SeluGrad", gradients, outputs)
    kind = outputs.dtype.type
    return gradients * xp.where(outputs < 0, outputs + kind(_SELU_PRODUCT), kind(_SELU_SCALE))


SeluGrad.batching(batching.elementwise)


@SeluGrad.gradient(needs="gradients, outputs")
def _(call: GradientCall, dy: Tensor):
    return SeluGrad(dy, call.outputs), dy * call.gradients * _step_below(call.outputs)


SeluGrad.samples(pair_samples)


@SeluGrad.reference
def _(gradients: np.ndarray, outputs: np.ndarray):
    slope = np.where(
        outputs < 0,
        outputs.astype(np.float64) + 1.0507009873554805 * 1.6732632423543772,
        1.0507009873554805,
    )
    return (gradients * slope).astype(outputs.dtype)


@api("nn.selu")
@tensor_function
def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """The self-normalising exponential linear unit of Klambauer et al. (2017)."""
    return Selu(features)


@api(v2="nn.crelu")
@tensor_function
def crelu(features: TensorLike, axis: AxisLike = -1, name: str | None = None):
    """Join the positive and the negative part of a tensor, both as positive numbers.

    Args:
      features: a real tensor.
      axis: the axis along which the two are joined.
      name: a name for the operation (optional).

    Returns:
      A tensor of that dtype, twice as large along `axis`.

    >>> tf.nn.crelu([1.0, -2.0])
    <tf.Tensor: shape=(4,), dtype=float32, numpy=array([1., 0., 0., 2.], dtype=float32)>
    """
    features = convert_to_tensor(features)
    return Relu(ConcatV2([features, -features], axis))


@api(v1="nn.crelu")
@tensor_function
@graph_scope("CRelu")
def crelu_v1(features: TensorLike, name: str | None = None, axis: AxisLike = -1):
    """`crelu` with the 1.x order of arguments."""
    return crelu(features, axis)


@api("nn.silu", "nn.swish")
@tensor_function
def silu(features: TensorLike, beta: TensorLike = 1.0):
    """Compute `x * sigmoid(beta * x)`, also known as swish.

    Args:
      features: a floating tensor.
      beta: the steepness, a number or a tensor that broadcasts with `features`.

    Returns:
      A tensor of the dtype of `features`.

    >>> tf.nn.silu([-1.0, 0.0, 1.0]).numpy().round(4)
    array([-0.2689,  0.    ,  0.7311], dtype=float32)
    """
    features = convert_to_tensor(features)
    return features * trigonometric.sigmoid(beta * features)


@api(v1="nn.relu_layer")
@tensor_function
@graph_scope("relu_layer")
def relu_layer(x: TensorLike, weights, biases, name: str | None = None):
    """relu(x @ weights + biases)."""
    return Relu(bias.bias_add(matmul.matmul(x, weights), biases))
