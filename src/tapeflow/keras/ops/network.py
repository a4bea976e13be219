"""Functions of networks: activations that take integers, attention, normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.annotations import AxisLike, Tensor, TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras import activations, settings
from tapeflow.keras.ops.conversion import (
    axes_of,
    floating,
    operation,
    promoted,
    static_rank,
    tensor,
)
from tapeflow.ops.array.joining import concat as tf_concat
from tapeflow.ops.array.layout import reshape as tf_reshape
from tapeflow.ops.array.layout import squeeze as tf_squeeze
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.indexing.top_k import in_top_k as tf_in_top_k
from tapeflow.ops.math.arithmetic import maximum as tf_maximum
from tapeflow.ops.math.arithmetic import pow as tf_pow
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.clip import clip_by_value as tf_clip_by_value
from tapeflow.ops.math.complex_numbers import complex as tf_complex
from tapeflow.ops.math.elementwise import abs as tf_abs
from tapeflow.ops.math.elementwise import log as tf_log
from tapeflow.ops.math.elementwise import rsqrt as tf_rsqrt
from tapeflow.ops.math.elementwise import square as tf_square
from tapeflow.ops.math.reductions import reduce_mean as tf_reduce_mean
from tapeflow.ops.math.reductions import reduce_sum as tf_reduce_sum
from tapeflow.ops.math.trigonometric import cos as tf_cos
from tapeflow.ops.math.trigonometric import sin as tf_sin
from tapeflow.ops.nn.loss import (
    softmax_cross_entropy_with_logits as tf_softmax_cross_entropy_with_logits,
)
from tapeflow.ops.nn.loss import (
    sparse_softmax_cross_entropy_with_logits as tf_sparse_softmax_cross_entropy_with_logits,
)
from tapeflow.ops.nn.normalization import batch_normalization as tf_batch_normalization
from tapeflow.ops.nn.normalization import moments as tf_moments
from tapeflow.ops.nn.sigmoid_loss import (
    sigmoid_cross_entropy_with_logits as tf_sigmoid_cross_entropy_with_logits,
)
from tapeflow.ops.nn.softmax import log_softmax as tf_log_softmax
from tapeflow.ops.nn.softmax import softmax as tf_softmax


def _activation(name: str, function: Callable[..., Any], text: str):
    def call(x: Tensor):
        return function(floating(x))

    call.__name__ = call.__qualname__ = name
    call.__doc__ = text
    return operation(call)


selu = _activation("selu", activations.selu, "Return the scaled exponential linear unit.")
sigmoid = _activation("sigmoid", activations.sigmoid, "Return 1 / (1 + exp(-x)).")
log_sigmoid = _activation("log_sigmoid", activations.log_sigmoid, "Return log(sigmoid(x)).")
silu = swish = _activation("silu", activations.silu, "Return x * sigmoid(x).")
softplus = _activation("softplus", activations.softplus, "Return log(1 + exp(x)).")
softsign = _activation("softsign", activations.softsign, "Return x / (1 + |x|).")
hard_silu = hard_swish = _activation("hard_silu", activations.hard_silu, "Return x * relu6(x + 3) / 6.")
hard_tanh = _activation("hard_tanh", activations.hard_tanh, "Return x cut off at -1 and 1.")
tanh_shrink = _activation("tanh_shrink", activations.tanh_shrink, "Return x - tanh(x).")
sparse_plus = _activation("sparse_plus", activations.sparse_plus, "Return 0 up to -1, x from 1, (x + 1)^2 / 4 between.")
sparse_sigmoid = _activation("sparse_sigmoid", activations.sparse_sigmoid, "Return (x + 1) / 2 cut off at 0 and 1.")


@operation
def relu(x: TensorLike):
    """Return max(x, 0)."""
    return activations.nn_relu(tensor(x))


@operation
def relu6(x: TensorLike):
    """Return min(max(x, 0), 6)."""
    return activations.relu6(tensor(x))


@operation
def hard_sigmoid(x: TensorLike):
    """Return relu6(x + 3) / 6."""
    return activations.relu6(floating(x) + 3.0) / 6.0


@operation
def elu(x: TensorLike, alpha: float = 1.0):
    """Return x where positive, alpha * (exp(x) - 1) elsewhere."""
    return activations.elu(floating(x), alpha)


@operation
def celu(x: TensorLike, alpha: float = 1.0):
    """Return max(x, 0) + min(0, alpha * (exp(x / alpha) - 1))."""
    return activations.celu(floating(x), alpha)


@operation
def gelu(x: TensorLike, approximate: bool = True):
    """Return x times the normal distribution function of x."""
    return activations.gelu(floating(x), approximate)


@operation
def glu(x: TensorLike, axis: AxisLike = -1):
    """Return the first half of x along an axis times the sigmoid of the second."""
    return activations.glu(floating(x), axis)


@operation
def leaky_relu(x: TensorLike, negative_slope: float = 0.2):
    """Return x where positive, negative_slope * x elsewhere."""
    return activations.leaky_relu(floating(x), negative_slope)


@operation
def soft_shrink(x: TensorLike, threshold: float = 0.5):
    """Return x moved by `threshold` towards 0, and 0 within it."""
    return activations.soft_shrink(floating(x), threshold)


@operation
def hard_shrink(x: TensorLike, threshold: float = 0.5):
    """Return x, and 0 where |x| is `threshold` or less."""
    return activations.hard_shrink(floating(x), threshold)


@operation
def squareplus(x: TensorLike, b: TensorLike = 4):
    """Return (x + sqrt(x^2 + b)) / 2."""
    return activations.squareplus(floating(x), b)


@operation
def sparsemax(x: TensorLike, axis: AxisLike = -1):
    """Return the point of the probability simplex that is nearest to x."""
    return activations.sparsemax(floating(x), axis)


@operation
def threshold(x: TensorLike, threshold: float, default_value: TensorLike):
    """Return x where it is greater than `threshold`, `default_value` elsewhere."""
    return activations.threshold(floating(x), threshold, default_value)


def _normalized(x, axis, function: Callable[..., Any]):
    x = floating(x)
    if not isinstance(axis, (list, tuple)):
        return function(x, axis=axis)
    # Several axes are one at the end for a moment.
    rank = static_rank(x)
    axes = axes_of(axis, rank)
    order = [*(i for i in range(rank) if i not in axes), *axes]
    moved = tf_transpose(x, order)
    flat = tf_reshape(moved, tf_concat([tf_shape(moved)[: rank - len(axes)], [-1]], 0))
    back = [order.index(i) for i in range(rank)]
    return tf_transpose(tf_reshape(function(flat, axis=-1), tf_shape(moved)), back)


@operation
def softmax(x: TensorLike, axis: AxisLike = -1):
    """Return exp(x) / sum(exp(x)) along an axis, or several."""
    return _normalized(x, axis, tf_softmax)


@operation
def log_softmax(x: TensorLike, axis: AxisLike = -1):
    """Return log(softmax(x)) along an axis, or several."""
    return _normalized(x, axis, tf_log_softmax)


@operation
def normalize(x: TensorLike, axis: AxisLike = -1, order: int = 2, epsilon: float | None = None):
    """Return x divided by its norm of an order along an axis, or by `epsilon` where that is greater."""
    if not isinstance(order, int) or order < 1:
        raise ValueError(f"Argument `order` must be an int >= 1. Received: order={order}")
    x = floating(x)
    epsilon = settings.epsilon() if epsilon is None else epsilon
    if order == 2:
        squares = tf_reduce_sum(tf_square(x), axis, True)
        return x * tf_rsqrt(tf_maximum(squares, epsilon**2))
    norm = tf_pow(tf_reduce_sum(tf_pow(tf_abs(x), order), axis, True), 1.0 / order)
    return x / tf_maximum(norm, epsilon)


@operation
def moments(x: Any, axes: AxisLike, keepdims: bool = False, synchronized: bool = False):
    """Return the mean and the variance along axes; `synchronized` must be False."""
    if synchronized:
        raise NotImplementedError("Moments over replicas are not supported: synchronized must be False.")
    x = floating(x)
    wide = tf_cast(x, "float32") if x.dtype.size < 4 else x
    mean, variance = tf_moments(wide, axes, keepdims=keepdims)
    return tf_cast(mean, x.dtype), tf_cast(variance, x.dtype)


@operation
def batch_normalization(
    x: Any, mean: Any, variance: Any, axis, offset: Any = None, scale=None, epsilon: float = 1e-3
):
    """Return (x - mean) / sqrt(variance + epsilon) * scale + offset, of vectors along an axis."""
    x = tensor(x)
    shape = [1] * static_rank(x)
    shape[axis] = -1
    mean, variance, offset, scale = (
        None if each is None else tf_reshape(tf_cast(each, x.dtype), shape) for each in (mean, variance, offset, scale)
    )
    return tf_batch_normalization(x, mean, variance, offset, scale, epsilon)


@operation
def layer_normalization(
    x: Any, gamma: Any = None, beta: Any = None, axis: AxisLike = -1, epsilon: float | None = None
):
    """Return x with mean 0 and variance 1 along axes, times gamma plus beta."""
    x = floating(x)
    wide = tf_cast(x, "float32") if x.dtype.size < 4 else x
    axes = axes_of(axis, static_rank(x))
    mean, variance = tf_moments(wide, axes, keepdims=True)
    result = (wide - mean) * tf_rsqrt(variance + (settings.epsilon() if epsilon is None else epsilon))
    shape = [x.shape[i] if i in axes else 1 for i in range(x.shape.rank)]
    if gamma is not None:
        result = result * tf_reshape(tf_cast(gamma, wide.dtype), shape)
    if beta is not None:
        result = result + tf_reshape(tf_cast(beta, wide.dtype), shape)
    return tf_cast(result, x.dtype)


@operation
def rms_normalization(x: Any, scale=None, axis: AxisLike = -1, epsilon: float | None = None):
    """Return x divided by the root of its mean square along an axis, times `scale`."""
    x = floating(x)
    wide = tf_cast(x, "float32") if x.dtype.size < 4 else x
    mean = tf_reduce_mean(tf_square(wide), axis, True)
    result = wide * tf_rsqrt(mean + (settings.epsilon() if epsilon is None else epsilon))
    return tf_cast(result if scale is None else result * tf_cast(scale, wide.dtype), x.dtype)


@operation
def in_top_k(targets: TensorLike, predictions: TensorLike, k: int):
    """Return whether the class that is the target is among the k with the highest predictions."""
    return tf_in_top_k(tensor(targets), tensor(predictions), k)


@operation
def polar(abs_, angle):
    """Return complex numbers of absolute values and angles."""
    abs_, angle = promoted(abs_, angle)
    return tf_complex(abs_ * tf_cos(angle), abs_ * tf_sin(angle))


@operation
def psnr(x1: Any, x2: Any, max_val):
    """Return the peak signal-to-noise ratio of all elements, in decibels."""
    x1, x2 = promoted(x1, x2)
    error = tf_reduce_mean(tf_square(x1 - x2))
    return 10 * tf_log(tf_cast(max_val, x1.dtype) ** 2 / error) / tf_log(tf_cast(10, x1.dtype))


@operation
def binary_crossentropy(target: Any, output: Any, from_logits: bool = False):
    """Return the binary cross-entropy of each element."""
    output = floating(output)
    target = tf_cast(target, output.dtype)
    if target.shape.rank != output.shape.rank:
        raise ValueError(f"Arguments `target` and `output` must have the same rank (ndim). Received: "
                         f"target.shape={target.shape}, output.shape={output.shape}")  # fmt: skip
    if from_logits:
        return tf_sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    output = tf_clip_by_value(output, settings.epsilon(), 1.0 - settings.epsilon())
    return -(target * tf_log(output) + (1 - target) * tf_log(1 - output))


@operation
def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: AxisLike = -1):
    """Return the cross-entropy of probabilities along an axis, or of logits."""
    target, output = tensor(target), tensor(output)
    if not static_rank(target) or not target.shape.is_compatible_with(output.shape):
        raise ValueError(f"Arguments `target` and `output` must have the same shape, of at least rank 1. Received: "
                         f"target.shape={target.shape}, output.shape={output.shape}")  # fmt: skip
    if from_logits:
        return tf_softmax_cross_entropy_with_logits(labels=target, logits=output, axis=axis)
    output = output / tf_reduce_sum(output, axis, True)
    output = tf_clip_by_value(output, settings.epsilon(), 1.0 - settings.epsilon())
    return -tf_reduce_sum(target * tf_log(output), axis)


@operation
def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: AxisLike = -1):
    """Return the cross-entropy of probabilities along the last axis, or of logits, where targets are classes."""
    target, output = tf_cast(tensor(target), "int64"), tensor(output)
    if axis not in (-1, static_rank(output) - 1):
        raise ValueError(f"Only axis=-1 is currently supported. Received: axis={axis}")
    if static_rank(target) == static_rank(output) and target.shape[-1] == 1:
        target = tf_squeeze(target, [-1])
    if not output.shape.rank or not target.shape.is_compatible_with(output.shape[:-1]):
        raise ValueError(
            "Arguments `target` and `output` must have the same shape up until the last dimension: "
            f"target.shape={target.shape}, output.shape={output.shape}"
        )
    if not from_logits:
        output = tf_log(tf_clip_by_value(output, settings.epsilon(), 1 - settings.epsilon()))
    return tf_sparse_softmax_cross_entropy_with_logits(labels=target, logits=output)


__all__ = public_names(globals())
