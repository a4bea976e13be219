"""`LinearModel`, the ready-made model of Keras 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.public import public_methods
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, initializers, regularizers
from tapeflow.keras.engine.model import Model
from tapeflow.keras.layers.core.dense import Dense


@public_methods
class LinearModel(Model):
    """The sum of a linear function of each input and a bias.

    Args:
      units: the size of the output.
      activation: of the sum.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer: where training begins.
      kernel_regularizer, bias_regularizer: penalties.
      **kwargs: arguments of a `Model`.
    """

    _keras_module = None  # Keras 3 has no such model
    # Set once the weights are made.
    bias: Any = None

    def __init__(
        self,
        units=1,
        activation=None,
        use_bias=True,
        kernel_initializer="zeros",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.dense_layers = []

    def build(self, input_shape: Sequence[Any]):
        """Creates a kernel for each input, and the bias."""
        for shape in _each_shape(input_shape):
            layer = Dense(
                self.units, use_bias=False, kernel_initializer=self.kernel_initializer,
                kernel_regularizer=self.kernel_regularizer,
            )  # fmt: skip
            layer.build(shape)
            self.dense_layers.append(layer)
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias", shape=(self.units,), initializer=self.bias_initializer, regularizer=self.bias_regularizer
            )
        self.built = True

    def call(self, inputs: Tensor):
        """The output for a tensor, or for a list or dict of tensors."""
        parts = nest.flatten(inputs)
        if len(parts) != len(self.dense_layers):
            raise ValueError(
                f"The model was built for {len(self.dense_layers)} inputs, but is called with {len(parts)}."
            )
        result = None
        for layer, part in zip(self.dense_layers, parts, strict=True):
            found = layer(part)
            result = found if result is None else result + found
        if self.bias is not None:
            result = result + self.bias
        return self.activation(result)

    def get_config(self):
        """The arguments that make an equal model."""
        return {
            "name": self.name, "trainable": self.trainable, "dtype": self.dtype,
            "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
        }  # fmt: skip


def _each_shape(shapes):
    """The shapes in a shape, or in a list or dict of shapes."""
    if isinstance(shapes, dict):
        shapes = [shapes[key] for key in sorted(shapes)]
    if isinstance(shapes, (list, tuple)) and any(isinstance(s, (list, tuple, TensorShape)) for s in shapes):
        return list(shapes)
    return [shapes]
