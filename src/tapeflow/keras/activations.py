"""Activation functions by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.annotations import AxisLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, tensor_function
from tapeflow.core.release import keras_2
from tapeflow.keras.old_names import leaves_out, takes_old_names
from tapeflow.keras.registry import deserialize_in, find, to_config
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.array.joining import split
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.cumulative import cumsum
from tapeflow.ops.math.elementwise import abs as absolute
from tapeflow.ops.math.elementwise import exp, expm1, sign, sqrt, square
from tapeflow.ops.math.reductions import reduce_logsumexp, reduce_sum
from tapeflow.ops.math.sorting import sort
from tapeflow.ops.math.trigonometric import log_sigmoid as nn_log_sigmoid
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.activation import elu as nn_elu
from tapeflow.ops.nn.activation import leaky_relu as nn_leaky_relu
from tapeflow.ops.nn.activation import relu as nn_relu
from tapeflow.ops.nn.activation import relu6 as nn_relu6
from tapeflow.ops.nn.activation import selu as nn_selu
from tapeflow.ops.nn.activation import silu as nn_silu
from tapeflow.ops.nn.gelu import gelu as nn_gelu
from tapeflow.ops.nn.softmax import log_softmax as nn_log_softmax
from tapeflow.ops.nn.softmax import softmax as nn_softmax
from tapeflow.ops.nn.softplus import softplus as nn_softplus
from tapeflow.ops.nn.softplus import softsign as nn_softsign


@tensor_function
def linear(x: TensorLike):
    """x."""
    return x


@tensor_function
def elu(x: Any, alpha: TensorLike = 1.0):
    """x for positive x, alpha * (exp(x) - 1) otherwise.

    Args:
      x: a tensor, or what can be converted to one.
      alpha: the negative of what large negative numbers come near to.

    Returns:
      A tensor of the shape of x.
    """
    outputs = nn_elu(x)
    return outputs if alpha == 1.0 else where(x > 0, outputs, alpha * outputs)


@tensor_function
@takes_old_names(alpha="negative_slope")
def relu(x: TensorLike, negative_slope: float = 0.0, max_value: float | None = None, threshold: float = 0.0):
    """max(x, 0), with a slope below `threshold` and an upper limit.

    The result is `max_value` above it, and negative_slope * (x - threshold) below the threshold.

    Args:
      x: a tensor, or what can be converted to one.
      negative_slope: the slope below the threshold.
      max_value: the upper limit; None for none.
      threshold: the number below which x is damped.

    Returns:
      A tensor of the shape of x.

    >>> print(tf.keras.activations.relu(tf.constant([-1.0, 0.0, 2.0])).numpy())
    [0. 0. 2.]
    """
    if negative_slope == 0.0 and threshold == 0.0:
        if max_value is None:
            return nn_relu(x)
        if max_value == 6:
            return nn_relu6(x)
    elif threshold == 0.0 and max_value is None:
        return nn_leaky_relu(x, negative_slope)
    x = convert_to_tensor(x)
    if threshold:
        positive = where(x > threshold, x, 0)
        negative = nn_relu(threshold - x)
    else:
        positive, negative = nn_relu(x), nn_relu(-x)
    if max_value is not None:
        positive = minimum(positive, max_value)
    return positive - negative_slope * negative if negative_slope else positive


@tensor_function
def relu6(x: TensorLike):
    """min(max(x, 0), 6)."""
    return nn_relu6(x)


@tensor_function
def gelu(x: TensorLike, approximate: bool = False):
    """x times the probability that a standard normal number is below x (Hendrycks and Gimpel 2016, arXiv:1606.08415).

    Args:
      x: a tensor, or what can be converted to one, of floats.
      approximate: whether the probability is computed by `tanh`.

    Returns:
      A tensor of the shape of x.
    """
    return nn_gelu(x, approximate)


@tensor_function
def selu(x: TensorLike):
    """The exponential linear unit with the factors that keep mean 0 and variance 1 (arXiv:1706.02515)."""
    return nn_selu(x)


@tensor_function
def softplus(x: TensorLike):
    """log(1 + exp(x))."""
    return nn_softplus(x)


@tensor_function
def softsign(x: TensorLike):
    """x / (1 + |x|)."""
    return nn_softsign(x)


@tensor_function
def softmax(x, axis: Any = -1):
    """exp(x) / sum(exp(x)) along `axis`.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis along which the results add up to 1, or several.

    Returns:
      A tensor of the shape of x.

    Raises:
      ValueError: for vectors, in Keras 2.

    >>> print(tf.keras.activations.softmax(tf.constant([[1.0, 1.0]])).numpy())
    [[0.5 0.5]]
    """
    if keras_2() and (convert_to_tensor(x).shape.rank or 2) < 2:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    if isinstance(axis, (tuple, list)):
        return exp(_log_softmax_over(x, axis))
    return nn_softmax(x, axis=axis)


def _log_softmax_over(x: TensorLike, axes: Sequence[int]):
    """log(softmax(x)) along several axes together."""
    x = convert_to_tensor(x)
    return x - reduce_logsumexp(x, axis=list(axes), keepdims=True)


@tensor_function
def hard_sigmoid(x: Any):
    """relu6(x + 3) / 6; in Keras 2 0.2 x + 0.5 cut off at 0 and 1."""
    if keras_2():
        return clip_by_value(0.2 * x + 0.5, 0.0, 1.0)
    return nn_relu6(convert_to_tensor(x) + 3.0) / 6.0


@tensor_function
def exponential(x: TensorLike):
    """exp(x)."""
    return exp(x)


@tensor_function
def mish(x: TensorLike):
    """x * tanh(softplus(x))."""
    return x * tanh(softplus(x))


@tensor_function
def leaky_relu(x: TensorLike, negative_slope: float = 0.2):
    """x where positive, negative_slope * x otherwise.

    Args:
      x: a tensor, or what can be converted to one.
      negative_slope: the slope of negative numbers.

    Returns:
      A tensor of the shape of x.
    """
    return nn_leaky_relu(x, negative_slope)


@tensor_function
def silu(x: TensorLike):
    """x * sigmoid(x)."""
    return nn_silu(x)


swish = silu


@tensor_function
def hard_silu(x: TensorLike):
    """x * relu6(x + 3) / 6."""
    x = convert_to_tensor(x)
    return x * (nn_relu6(x + 3) / 6)


hard_swish = hard_silu


@tensor_function
def hard_tanh(x: TensorLike):
    """x cut off at -1 and 1."""
    return clip_by_value(x, -1.0, 1.0)


@tensor_function
def tanh_shrink(x: TensorLike):
    """x - tanh(x)."""
    return convert_to_tensor(x) - tanh(x)


@tensor_function
def soft_shrink(x: TensorLike, threshold: float = 0.5):
    """x moved by `threshold` towards 0, and 0 within it.

    Args:
      x: a tensor, or what can be converted to one.
      threshold: how far.

    Returns:
      A tensor of the shape of x.
    """
    x = convert_to_tensor(x)
    return sign(x) * nn_relu(absolute(x) - threshold)


@tensor_function
def hard_shrink(x: TensorLike, threshold: float = 0.5):
    """x, but 0 where |x| is `threshold` or less.

    Args:
      x: a tensor, or what can be converted to one.
      threshold: the limit.

    Returns:
      A tensor of the shape of x.
    """
    return where(absolute(x) > threshold, x, 0.0)


@tensor_function
def threshold(x: TensorLike, threshold: float, default_value: TensorLike):
    """x where it is greater than `threshold`, `default_value` elsewhere.

    Args:
      x: a tensor, or what can be converted to one.
      threshold: the limit.
      default_value: the number for what is not above it.

    Returns:
      A tensor of the shape of x.
    """
    return where(convert_to_tensor(x) > threshold, x, default_value)


@tensor_function
def celu(x: TensorLike, alpha: float = 1.0):
    """max(x, 0) + min(0, alpha * (exp(x / alpha) - 1)).

    Args:
      x: a tensor, or what can be converted to one.
      alpha: the negative of what large negative numbers come near to.

    Returns:
      A tensor of the shape of x.
    """
    x = convert_to_tensor(x)
    return nn_relu(x) + alpha * expm1(minimum(x, 0.0) / alpha)


@tensor_function
def glu(x: TensorLike, axis: AxisLike = -1):
    """The first half of x along `axis` times the sigmoid of the second (Dauphin et al. 2017, arXiv:1612.08083).

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, of an even size.

    Returns:
      A tensor with half the size along the axis.

    Raises:
      ValueError: for an odd size.
    """
    x = convert_to_tensor(x)
    size = x.shape[axis]
    if size is not None and size % 2:
        raise ValueError(
            f"axis size must be divisible by 2. Received: x.shape={tuple(x.shape)} with axis={axis}"
        )
    value, gate = split(x, 2, axis)
    return value * sigmoid(gate)


@tensor_function
def squareplus(x: TensorLike, b: TensorLike = 4):
    """(x + sqrt(x**2 + b)) / 2.

    Args:
      x: a tensor, or what can be converted to one.
      b: how smooth the bend at 0 is.

    Returns:
      A tensor of the shape of x.
    """
    x = convert_to_tensor(x)
    return (x + sqrt(square(x) + b)) / 2


@tensor_function
def sparse_plus(x: TensorLike):
    """0 up to -1, x from 1 on, (x + 1)**2 / 4 between."""
    x = convert_to_tensor(x)
    return where(x >= 1, x, square(maximum(x, -1.0) + 1) / 4)


@tensor_function
def sparse_sigmoid(x: TensorLike):
    """(x + 1) / 2 cut off at 0 and 1."""
    return clip_by_value((convert_to_tensor(x) + 1) / 2, 0.0, 1.0)


@tensor_function
def log_sigmoid(x: TensorLike):
    """log(sigmoid(x))."""
    return nn_log_sigmoid(x)


@tensor_function
def log_softmax(x: TensorLike, axis: AxisLike = -1):
    """log(softmax(x)) along `axis`.

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis, an integer, or several.

    Returns:
      A tensor of the shape of x.
    """
    if isinstance(axis, (tuple, list)):
        return _log_softmax_over(x, axis)
    return nn_log_softmax(x, axis=axis)


@tensor_function
def sparsemax(x: TensorLike, axis: AxisLike = -1):
    """The point of the probability simplex that is nearest to x (Martins and Astudillo 2016, arXiv:1602.02068).

    Args:
      x: a tensor, or what can be converted to one.
      axis: the axis along which the results add up to 1.

    Returns:
      A tensor of the shape of x.
    """
    x = convert_to_tensor(x)
    falling = sort(x, axis, "DESCENDING")
    count = cumsum(ones_like(x), axis)
    inside = cast(1 + count * falling > cumsum(falling, axis), x.dtype)
    support = reduce_sum(inside, axis, keepdims=True)
    excess = (reduce_sum(inside * falling, axis, keepdims=True) - 1) / support
    return nn_relu(x - excess)


_NAMES = {
    "linear": linear,
    "relu": relu,
    "relu6": relu6,
    "softmax": softmax,
    "hard_sigmoid": hard_sigmoid,
    "exponential": exponential,
    "mish": mish,
    "elu": elu,
    "gelu": gelu,
    "leaky_relu": leaky_relu,
    "selu": selu,
    "sigmoid": sigmoid,
    "softplus": softplus,
    "softsign": softsign,
    "silu": silu,
    "swish": silu,
    "tanh": tanh,
    "hard_silu": hard_silu,
    "hard_swish": hard_silu,
    "hard_tanh": hard_tanh,
    "tanh_shrink": tanh_shrink,
    "soft_shrink": soft_shrink,
    "hard_shrink": hard_shrink,
    "threshold": threshold,
    "celu": celu,
    "glu": glu,
    "squareplus": squareplus,
    "sparse_plus": sparse_plus,
    "sparse_sigmoid": sparse_sigmoid,
    "sparsemax": sparsemax,
    "log_sigmoid": log_sigmoid,
    "log_softmax": log_softmax,
}


def get(identifier: Callable[..., Any] | str | None):
    """A function from a name or a function; linear for None."""
    if identifier is None:
        return linear
    if isinstance(identifier, str):
        return find(identifier, _NAMES, "activation function")
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise TypeError(f"Could not interpret activation function identifier: {identifier}")


@leaves_out("use_legacy_format")
def serialize(activation: Callable[..., Any]):
    """The name or config of an activation."""
    for name, function in _NAMES.items():
        if function is activation:
            return name
    return to_config(activation)


@leaves_out("use_legacy_format")
@takes_old_names(name="config")
def deserialize(config: dict[str, Any], custom_objects=None):
    """An activation from its name or config."""
    if isinstance(config, dict):
        return deserialize_in("keras.layers", config, custom_objects)
    return find(config, _NAMES, "activation function", custom_objects)


__all__ = ["deserialize", "get", "serialize", *_NAMES]

boundaries(globals())
