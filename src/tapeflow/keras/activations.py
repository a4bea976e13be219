"""Activation functions by name."""

from __future__ import annotations

from tapeflow.core.convert import convert_to_tensor
from tapeflow.keras.registry import find, to_config
from tapeflow.ops.activation import elu as nn_elu
from tapeflow.ops.activation import (
    gelu,
    leaky_relu,
    relu6,
    selu,
    softplus,
    softsign,
)
from tapeflow.ops.activation import relu as nn_relu
from tapeflow.ops.activation import silu as swish
from tapeflow.ops.arithmetic import minimum
from tapeflow.ops.casting import cast
from tapeflow.ops.clip import clip_by_value
from tapeflow.ops.comparison import where
from tapeflow.ops.elementwise import exp
from tapeflow.ops.softmax import softmax as nn_softmax
from tapeflow.ops.trigonometric import sigmoid, tanh


def linear(x):
    """x."""
    return x


def elu(x, alpha=1.0):
    """x for positive x, alpha * (exp(x) - 1) otherwise."""
    outputs = nn_elu(x)
    return outputs if alpha == 1.0 else where(x > 0, outputs, alpha * outputs)


def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    """max(x, 0); more generally max_value above it, alpha * (x - threshold) below the threshold."""
    if alpha == 0.0 and threshold == 0.0:
        if max_value is None:
            return nn_relu(x)
        if max_value == 6:
            return relu6(x)
    x = convert_to_tensor(x)
    if threshold:
        positive = x * cast(x > threshold, x.dtype)
        negative = nn_relu(threshold - x)
    else:
        positive, negative = nn_relu(x), nn_relu(-x)
    if max_value is not None:
        positive = minimum(positive, max_value)
    return positive - alpha * negative if alpha else positive


def softmax(x, axis=-1):
    """exp(x) / sum(exp(x)) along `axis`. Raises ValueError for vectors."""
    if convert_to_tensor(x).shape.rank is not None and convert_to_tensor(x).shape.rank < 2:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    return nn_softmax(x, axis=axis)


def hard_sigmoid(x):
    """0.2 x + 0.5 cut off at 0 and 1."""
    return clip_by_value(0.2 * x + 0.5, 0.0, 1.0)


def exponential(x):
    """exp(x)."""
    return exp(x)


def mish(x):
    """x * tanh(softplus(x))."""
    return x * tanh(softplus(x))


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
    "swish": swish,
    "silu": swish,
    "tanh": tanh,
}


def get(identifier):
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


def serialize(activation):
    """The name or config of an activation."""
    for name, function in _NAMES.items():
        if function is activation:
            return name
    return to_config(activation)


def deserialize(name, custom_objects=None):
    """An activation from its name or config."""
    if isinstance(name, dict):
        from tapeflow.keras.layers import deserialize as deserialize_layer

        return deserialize_layer(name, custom_objects)
    return find(name, _NAMES, "activation function", custom_objects)
