"""Activations with settings or weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, constraints, initializers, regularizers
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.core.same_shape import SameShape
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import greater
from tapeflow.ops.math.elementwise import exp
from tapeflow.ops.math.reductions import reduce_logsumexp
from tapeflow.ops.nn.activation import elu as nn_elu
from tapeflow.ops.nn.activation import leaky_relu as nn_leaky_relu
from tapeflow.ops.nn.activation import relu


def masked_softmax(x: Tensor, mask: Tensor | None, axis: Any):
    """The softmax along one or several axes; in Keras 3 exactly 0 where `mask` does not hold."""
    if mask is not None and keras_2():
        low = -65504.0 if x.dtype.name == "float16" else -1e9
        x = x + (1.0 - cast(mask, x.dtype)) * low
    elif mask is not None:
        _check_mask(x, mask)
        mask = mask if mask.dtype.name == "bool" else greater(mask, cast(0.5, mask.dtype))
        x = where(mask, x, cast(-3e4 if x.dtype.name == "float16" else -1e9, x.dtype))
    axes = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    if len(axes) == 1:
        found = activations.softmax(x, axis=axes[0])
    else:
        found = exp(x - reduce_logsumexp(x, axis=axes, keepdims=True))
    return found if mask is None or keras_2() else where(mask, found, zeros_like(found))


def _check_mask(x: Tensor, mask: Tensor):
    sizes, of_mask = x.shape, mask.shape
    if sizes.rank is None or of_mask.rank is None:
        return
    shapes = f"Received: inputs.shape={tuple(sizes)}, mask.shape={tuple(of_mask)}"
    if of_mask.rank > sizes.rank:
        raise ValueError(f"The `mask` must be broadcastable to `inputs` and must not have more dimensions. {shapes}")
    for size, of_x in zip(reversed(of_mask.as_list()), reversed(sizes.as_list())):
        if size not in (None, 1, of_x) and of_x is not None:
            raise ValueError(
                "The `mask` must be broadcastable to `inputs`. Each mask dimension must be 1 or match the "
                f"corresponding input dimension. {shapes}"
            )


class ReLU(SameShape):
    """max(x, 0), with a slope below `threshold` and an upper limit.

    f(x) is `max_value` for x >= max_value, x for threshold <= x < max_value, and negative_slope * (x - threshold)
    below.

    Args:
      max_value: the upper limit, a number of at least 0; None for no limit.
      negative_slope: the slope below the threshold, at least 0.
      threshold: the number below which inputs are damped, at least 0.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for negative numbers.

    >>> layer = tf.keras.layers.ReLU(max_value=2.0)
    >>> print(layer(tf.constant([-1.0, 1.0, 5.0])).numpy())
    [0. 1. 2.]
    """

    _built_at_init = True
    _plain_call = True

    def __init__(
        self, max_value: float | None = None, negative_slope: float = 0.0, threshold: float = 0.0, **kwargs
    ):
        super().__init__(**kwargs)
        for name, value in (
            ("max_value", max_value),
            ("negative_slope", negative_slope),
            ("threshold", threshold),
        ):
            if (value is None and name != "max_value") or (value is not None and value < 0.0):
                wrong, label = "a negative value", ""
                if not keras_2():
                    wrong, label = wrong if name == "max_value" else f"None or {wrong}", f"{name}="
                raise ValueError(f"{name} of a ReLU layer cannot be {wrong}. Received: {label}{value}")
        self.max_value, self.negative_slope, self.threshold = max_value, negative_slope, threshold

    def call(self, inputs: TensorLike):
        return activations.relu(inputs, self.negative_slope, self.max_value, self.threshold)

    def get_config(self):
        return {
            **super().get_config(),
            "max_value": self.max_value,
            "negative_slope": self.negative_slope,
            "threshold": self.threshold,
        }


class LeakyReLU(SameShape):
    """x for positive x, negative_slope * x otherwise.

    Args:
      negative_slope: the slope of negative inputs; 0.3 by default.
      **kwargs: `alpha`, the name that Keras 2 has for the slope, and the arguments of `Layer`.

    >>> layer = tf.keras.layers.LeakyReLU(negative_slope=0.5)
    >>> print(layer(tf.constant([-2.0, 3.0])).numpy())
    [-1.  3.]
    """

    _built_at_init = True
    _plain_call = True

    def __init__(self, negative_slope: float = 0.3, **kwargs):
        negative_slope = kwargs.pop("alpha", negative_slope)
        super().__init__(**kwargs)
        if keras_2() and negative_slope is None:
            raise ValueError(
                "The alpha value of a Leaky ReLU layer cannot be None, Expecting a float. Received: None"
            )
        if not keras_2() and (negative_slope is None or negative_slope < 0):
            raise ValueError(
                "The negative_slope value of a Leaky ReLU layer cannot be None or negative value. Expected a float. "
                f"Received: negative_slope={negative_slope}"
            )
        self.negative_slope = self.alpha = float(negative_slope)

    def call(self, inputs):
        return nn_leaky_relu(inputs, self.negative_slope)

    def get_config(self):
        return {**super().get_config(), "alpha": self.negative_slope}


class ELU(SameShape):
    """x for positive x, alpha * (exp(x) - 1) otherwise.

    Args:
      alpha: the negative of what large negative inputs come near to.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _built_at_init = True
    _plain_call = True

    def __init__(self, alpha: float = 1.0, **kwargs):
        super().__init__(**kwargs)
        if alpha is None:
            raise ValueError("Alpha of an ELU layer cannot be None, expecting a float.")
        self.alpha = float(alpha)

    def call(self, inputs: Tensor):
        outputs = nn_elu(inputs)
        if self.alpha == 1.0:
            return outputs
        positive = cast(inputs > 0, inputs.dtype)
        return outputs * (positive + (1.0 - positive) * self.alpha)

    def get_config(self):
        return {**super().get_config(), "alpha": self.alpha}


class ThresholdedReLU(SameShape):
    """x where x > theta, 0 elsewhere; a layer of Keras 2.

    Args:
      theta: the threshold, at least 0.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _plain_call = True

    _keras_module = "keras._legacy.layers"

    def __init__(self, theta: float = 1.0, **kwargs):
        super().__init__(**kwargs)
        if theta is None or theta < 0:
            raise ValueError(f"Theta must be >= 0, got {theta}.")
        self.theta = float(theta)

    def call(self, inputs: Tensor):
        return inputs * cast(greater(inputs, self.theta), inputs.dtype)

    def get_config(self):
        return {**super().get_config(), "theta": self.theta}


class Softmax(SameShape):
    """exp(x) / sum(exp(x)) along `axis`.

    A mask given to the call, of the inputs' shape, takes out the numbers where it is False.

    Args:
      axis: the axis along which the outputs add up to 1, or several.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> layer = tf.keras.layers.Softmax()
    >>> print(layer(tf.constant([[0.0, 0.0]])).numpy())
    [[0.5 0.5]]
    """

    _built_at_init = True

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Tensor, mask=None):
        return masked_softmax(inputs, mask, self.axis)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


class PReLU(SameShape):
    """x for positive x, alpha * x otherwise, where alpha is learned.

    Args:
      alpha_initializer: first values of alpha; an initializer or its name.
      alpha_regularizer: a penalty on alpha, added to the model's `losses`; a regularizer, its name or None.
      alpha_constraint: a function applied to alpha after each update; a constraint, its name or None.
      shared_axes: axes, counted from 1, along which alpha is the same: `[1, 2]` for one number per channel of images.
        None for one number per feature of an example.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    def __init__(
        self, alpha_initializer: str = "Zeros", alpha_regularizer=None, alpha_constraint=None,
        shared_axes=None, **kwargs,
    ):
        super().__init__(**kwargs)
        self.alpha_initializer = initializers.get(alpha_initializer)
        self.alpha_regularizer = regularizers.get(alpha_regularizer)
        self.alpha_constraint = constraints.get(alpha_constraint)
        axes = [shared_axes] if isinstance(shared_axes, int) else shared_axes
        self.shared_axes = None if axes is None else list(axes)

    def build(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()[1:]
        for axis in self.shared_axes or ():
            sizes[axis - 1] = 1
        self.alpha = self.add_weight(
            "alpha",
            sizes,
            initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )
        own = {i: size for i, size in enumerate(sizes, 1) if i not in (self.shared_axes or ())}
        self.input_spec = InputSpec(ndim=len(sizes) + 1, axes=own)
        self.built = True

    def call(self, inputs: Tensor):
        return relu(inputs) - self.alpha * relu(-inputs)

    def get_config(self):
        return {
            **super().get_config(),
            "alpha_initializer": initializers.serialize(self.alpha_initializer),
            "alpha_regularizer": regularizers.serialize(self.alpha_regularizer),
            "alpha_constraint": constraints.serialize(self.alpha_constraint),
            "shared_axes": self.shared_axes,
        }
