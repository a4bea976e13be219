"""Layers whose outputs have the shape of their inputs: activations, masks, and penalties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, regularizers
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.ops.array.rows import identity
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import not_equal
from tapeflow.ops.math.reductions import reduce_any


class SameShape(Layer):
    """A layer whose outputs have the shape of its inputs."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _as_wide_floats(self, x: Tensor):
        """Numbers in a dtype of at least 32 bits, for sums that half precision cannot hold; as they are in Keras 2."""
        if keras_2():
            return self._as_floats(x)
        if x.dtype.is_floating and x.dtype.size > 2:
            return x
        return cast(x, "float64" if self.compute_dtype == "float64" else "float32")

    def _as_floats(self, x):
        """Numbers that are no floats in the dtype that the layer computes in."""
        return x if x.dtype.is_floating or x.dtype.is_complex else cast(x, self.compute_dtype)

    def compute_output_shape(self, input_shape: Sequence[Any]):
        return TensorShape(input_shape)


class Activation(SameShape):
    """An activation function as a layer; the outputs have the shape of the inputs.

    Args:
      activation: a function of a tensor, or the name of one in `keras.activations`.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> layer = tf.keras.layers.Activation("relu")
    >>> print(layer(tf.constant([-1.0, 0.0, 2.0])).numpy())
    [0. 0. 2.]
    """

    _built_at_init = True
    _plain_call = True

    def __init__(self, activation: str, **kwargs):
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs: Tensor):
        return self.activation(inputs)

    def get_config(self):
        return {**super().get_config(), "activation": activations.serialize(self.activation)}


class ActivityRegularization(SameShape):
    """The identity, which adds l1 * sum(|x|) + l2 * sum(x^2) of its inputs to the losses of the model.

    The penalty is divided by the batch size.

    Args:
      l1: the factor of the absolute values, a number of at least 0.
      l2: the factor of the squares, a number of at least 0.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _built_at_init = True

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs):
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.l1, self.l2 = l1, l2

    def call(self, inputs: TensorLike):
        return inputs

    def get_config(self):
        config = super().get_config()
        config.pop("activity_regularizer", None)  # made of the others
        return {**config, "l1": self.l1, "l2": self.l2}


class Identity(SameShape):
    """The inputs, unchanged; tensors and structures of tensors.

    Args:
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    _built_at_init = True

    def call(self, inputs: Tensor):
        return nest.map_structure(identity, inputs)


class Masking(SameShape):
    """Marks steps in which all features equal `mask_value` to be skipped by the layers after it, and sets them to 0.

    Input shape: `(batch, steps, ..., features)`, which is also the output shape. The mask has all axes but the last.

    Args:
      mask_value: the number that stands for "no data".
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> layer = tf.keras.layers.Masking(mask_value=-1.0)
    >>> x = tf.constant([[[1.0, 2.0], [-1.0, -1.0]]])
    >>> print(layer.compute_mask(x).numpy())
    [[ True False]]
    >>> print(layer(x).numpy())
    [[[ 1.  2.]
      [-0. -0.]]]
    """

    _built_at_init = True

    def __init__(self, mask_value: float = 0.0, **kwargs):
        super().__init__(**kwargs)
        self.mask_value = mask_value

    def compute_mask(self, inputs, mask: TensorLike | None = None):
        return reduce_any(not_equal(inputs, cast(self.mask_value, inputs.dtype)), axis=-1)

    def call(self, inputs: Tensor):
        value = cast(self.mask_value, inputs.dtype)
        kept = reduce_any(not_equal(inputs, value), axis=-1, keepdims=True)
        return inputs * cast(kept, inputs.dtype)

    def get_config(self):
        return {**super().get_config(), "mask_value": self.mask_value}
