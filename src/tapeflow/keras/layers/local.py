"""Convolutions with weights of their own at every position (1.x and 2.x up to 2.15)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Configurable, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, constraints, initializers, regularizers, settings
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.convolution_arithmetic import (
    normalize_padding,
    normalize_tuple,
    output_length,
)
from tapeflow.keras.layers.output_activation import activate
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.linalg.einsum import einsum
from tapeflow.ops.static import sizes_of


class _LocallyConnected(Layer):
    """Every output position has a kernel: (positions, window * channels, filters)."""

    rank = 1

    # Set once the weights are made.
    bias: Any = None

    def __init__(
        self, filters: int, kernel_size: int, strides: Sequence[int] | int = 1, padding: str = "valid",
        data_format: str | None = None, activation=None, use_bias: bool = True,
        kernel_initializer: str = "glorot_uniform", bias_initializer: str = "zeros", kernel_regularizer=None,
        bias_regularizer=None, activity_regularizer: Configurable | None = None, kernel_constraint=None,
        bias_constraint=None, implementation: int = 1, **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.filters = filters
        self.kernel_size = normalize_tuple(kernel_size, self.rank, "kernel_size")
        self.strides = normalize_tuple(strides, self.rank, "strides")
        self.padding = normalize_padding(padding)
        if self.padding != "valid" and implementation == 1:
            raise ValueError(
                f'Invalid border mode for {type(self).__name__} (only "valid" is supported if '
                f"implementation is 1): {padding}"
            )
        self.data_format = settings.normalize_data_format(data_format)
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        if implementation not in (1, 2, 3):
            raise ValueError(f"Unrecognized implementation mode: {implementation}.")
        self.implementation = implementation
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _split(self, input_shape: Sequence[Any]):
        """(lengths, channels) of an input shape."""
        sizes = TensorShape(input_shape).as_list()
        if self.data_format == "channels_first":
            return sizes[2:], sizes[1]
        return sizes[1:-1], sizes[-1]

    def _lengths(self, lengths: Sequence[int]):
        windows = zip(lengths, self.kernel_size, self.strides)
        return [output_length(n, k, self.padding, s) for n, k, s in windows]

    def build(self, input_shape: Sequence[Any]):
        lengths, channels = self._split(input_shape)
        if channels is None or None in lengths:
            raise ValueError(
                f"The {'axis 2 of the input to' if self.rank == 1 else 'spatial dimensions of the inputs to a'} "
                f"{type(self).__name__} layer should be fully defined, but layer received the inputs shape "
                f"{tuple(TensorShape(input_shape).as_list())}"
            )
        outputs = self._lengths(lengths)
        if any(n <= 0 for n in outputs):
            raise ValueError(
                "One of the dimensions in the output is <= 0 due to downsampling in "
                f"{self.name}. Consider increasing the input size. Received input shape "
                f"{TensorShape(input_shape).as_list()} which would produce output shape with a zero or "
                "negative value in a dimension."
            )
        positions, window = math.prod(outputs), math.prod(self.kernel_size)
        first = self.data_format == "channels_first"
        if self.implementation == 1:
            shape = (positions, window * channels, self.filters)
        elif first:
            shape = (channels, *lengths, self.filters, *outputs)
        else:
            shape = (*lengths, channels, *outputs, self.filters)
        self.kernel = self.add_weight(
            "kernel",
            shape,
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                (*outputs, self.filters),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        axis = 1 if first else -1
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        self.built = True

    def call(self, inputs: Tensor):
        first = self.data_format == "channels_first"
        if first:
            inputs = transpose(inputs, [0, *range(2, self.rank + 2), 1])
        lengths = sizes_of(inputs)[1:-1]
        outputs = self._lengths(lengths)
        if self.implementation == 1:
            result = einsum("bpk,pkf->bpf", self._windows(inputs, outputs), self.kernel)
        else:
            result = self._by_mask(inputs, lengths, outputs)
        result = reshape(result, [-1, *outputs, self.filters])
        if self.bias is not None:
            result = result + self.bias
        result = activate(self.activation, result)
        return transpose(result, [0, self.rank + 1, *range(1, self.rank + 1)]) if first else result

    def _windows(self, inputs, outputs: Sequence[int]):
        """The windows of all positions, (batch, positions, window * channels)."""
        channels = sizes_of(inputs)[-1]
        parts = []
        for place in _places(outputs):
            window = tuple(
                slice(i * s, i * s + k) for i, s, k in zip(place, self.strides, self.kernel_size)
            )
            part = inputs[(slice(None), *window)]
            if self.data_format == "channels_first" and self.rank == 2:
                part = transpose(part, [0, 3, 1, 2])
            parts.append(reshape(part, [-1, math.prod(self.kernel_size) * channels]))
        return stack(parts, 1)

    def _by_mask(self, inputs, lengths: Sequence[int], outputs: Sequence[int]):
        """The product with a matrix from all inputs to all outputs, in which windows alone count."""
        import numpy as np

        mask = np.zeros([*lengths, *outputs], "float32")
        for place in _places(outputs):
            spans = []
            for i, s, k, n in zip(place, self.strides, self.kernel_size, lengths):
                before = 0 if self.padding == "valid" else k // 2
                low = i * s - before
                spans.append(slice(max(low, 0), max(min(low + k, n), 0)))
            mask[(*spans, *place)] = 1.0
        channels = sizes_of(inputs)[-1]
        n, m = math.prod(lengths), math.prod(outputs)
        kernel = self.kernel + 0.0
        if self.data_format == "channels_first":
            kernel = transpose(reshape(kernel, [channels, n, self.filters, m]), [1, 0, 3, 2])
        kernel = reshape(kernel, [n, channels, m, self.filters])
        kernel = kernel * convert_to_tensor(mask.reshape(n, 1, m, 1))
        return einsum("bnc,ncmf->bmf", reshape(inputs, [-1, n, channels]), kernel)

    def compute_output_shape(self, input_shape: Sequence[Any]):
        lengths, _ = self._split(input_shape)
        batch = TensorShape(input_shape).as_list()[0]
        outputs = self._lengths(lengths)
        if self.data_format == "channels_first":
            return TensorShape([batch, self.filters, *outputs])
        return TensorShape([batch, *outputs, self.filters])

    def get_config(self):
        return {
            **super().get_config(),
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "kernel_constraint": constraints.serialize(self.kernel_constraint),
            "bias_constraint": constraints.serialize(self.bias_constraint),
            "implementation": self.implementation,
        }


def _places(outputs: Sequence[int]):
    """The coordinates of all positions."""
    places: list[tuple[int, ...]] = [()]
    for n in outputs:
        places = [(*place, i) for place in places for i in range(n)]
    return places


class LocallyConnected1D(_LocallyConnected):
    """A convolution of sequences with a kernel of its own at every position; a layer of Keras 2.

    Input shape: `(batch, steps, channels)`, or with the channels first; the number of steps must be known.
    Output shape: `(batch, new steps, filters)`, likewise.

    Args:
      filters: the number of outputs at each step.
      kernel_size: the length of the window, an integer.
      strides: how many steps the window moves between outputs.
      padding: "valid" takes whole windows alone; "same" pads with zeros, with implementation 2 or 3.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      kernel_initializer, bias_initializer: first values of the weights; initializers or their names.
      kernel_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, bias_constraint: functions that each training step applies to the weights after their update;
        constraints, names or None.
      implementation: 1 for a product per position, 2 or 3 for one product with a matrix from all inputs to all
        outputs.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for "same" with implementation 1.
    """


class LocallyConnected2D(_LocallyConnected):
    """A convolution of images with a kernel of its own at every position; a layer of Keras 2.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first; rows and columns must be known.
    Output shape: `(batch, new rows, new columns, filters)`, likewise.

    Args:
      filters: the number of outputs at each position.
      kernel_size: height and width of the window, or one integer for both.
      strides: how many rows and columns the window moves between outputs; two integers or one for both.
      padding: "valid" takes whole windows alone; "same" pads with zeros, with implementation 2 or 3.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      **kwargs: `activation`, `use_bias`, `implementation` and the settings of the weights as those of
        `LocallyConnected1D`, and the arguments of `Layer`.

    Raises:
      ValueError: for "same" with implementation 1.
    """

    rank = 2

    def __init__(
        self, filters: int, kernel_size: int, strides: Sequence[int] = (1, 1), padding: str = "valid",
        data_format: str | None = None, **kwargs,
    ):
        super().__init__(filters, kernel_size, strides, padding, data_format, **kwargs)
