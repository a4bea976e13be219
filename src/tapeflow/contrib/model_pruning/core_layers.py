"""Layers whose kernels are masked, and the collections of what they are made of."""

from __future__ import annotations

from typing import Any

from tapeflow.compat import v1
from tapeflow.v1.layers import classes

__all__ = [
    "MASKED_WEIGHT_COLLECTION", "MASKED_WEIGHT_NAME", "MASK_COLLECTION", "THRESHOLD_COLLECTION", "WEIGHT_COLLECTION",
    "MaskedConv2D", "MaskedFullyConnected", "collect",
]  # fmt: skip

MASK_COLLECTION = "masks"
THRESHOLD_COLLECTION = "thresholds"
MASKED_WEIGHT_COLLECTION = "masked_weights"
WEIGHT_COLLECTION = "kernel"
# What the names of masked weights end with.
MASKED_WEIGHT_NAME = "weights/masked_weight"


def collect(mask: Any, threshold: Any, weight: Any) -> Any:
    """The masked weight; all four are in their collections afterwards."""
    masked = v1.multiply(mask, weight, MASKED_WEIGHT_NAME)
    if not any(mask is each for each in v1.get_collection_ref(MASK_COLLECTION)):
        v1.add_to_collection(MASK_COLLECTION, mask)
        v1.add_to_collection(MASKED_WEIGHT_COLLECTION, masked)
        v1.add_to_collection(THRESHOLD_COLLECTION, threshold)
        v1.add_to_collection(WEIGHT_COLLECTION, weight)
    return masked


def masked_kernel(layer: Any, kernel: Any) -> Any:
    """The masked kernel of a layer or cell, which gets a mask of ones and a threshold of 0."""
    layer.built = False  # the variables of a layer that is built are there already
    mask = layer.add_weight(
        name="mask", shape=kernel.shape, initializer=v1.ones_initializer(), trainable=False, dtype=kernel.dtype
    )
    threshold = layer.add_weight(
        name="threshold", shape=[], initializer=v1.zeros_initializer(), trainable=False, dtype=kernel.dtype
    )
    layer.built = True
    return collect(mask, threshold, kernel)


class MaskedConv2D(classes.Conv2D):
    """A convolution of pictures whose kernel is masked."""

    def build(self, input_shape):
        """Makes the variables."""
        super().build(input_shape)
        self.masked_kernel = masked_kernel(self, self.kernel)

    def call(self, inputs):
        """The outputs for a batch."""
        first = self.data_format == "channels_first"
        outputs = v1.nn.convolution(
            inputs, self.masked_kernel, self.padding.upper(), self.strides, dilation_rate=self.dilation_rate,
            data_format="NCHW" if first else "NHWC",
        )  # fmt: skip
        if self.use_bias:
            outputs = v1.nn.bias_add(outputs, self.bias, data_format="NCHW" if first else "NHWC")
        return outputs if self.activation is None else self.activation(outputs)


class MaskedFullyConnected(classes.Dense):
    """A dense layer whose kernel is masked."""

    def build(self, input_shape):
        """Makes the variables."""
        super().build(input_shape)
        self.masked_kernel = masked_kernel(self, self.kernel)

    def call(self, inputs):
        """The outputs for a batch."""
        outputs = v1.tensordot(inputs, self.masked_kernel, 1)
        if self.use_bias:
            outputs = v1.nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)
