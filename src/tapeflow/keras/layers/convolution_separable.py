"""Convolutions of each channel by itself, alone and with a mix of the channels after them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Configurable, Tensor
from tapeflow.core.release import keras_2
from tapeflow.keras.engine import checks
from tapeflow.keras.layers.convolution_base import PARTS, Convolution
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.padding import pad
from tapeflow.ops.convolution.depthwise_functions import depthwise_conv2d, separable_conv2d


class DepthwiseConv2D(Convolution):
    """Convolution of each channel of images by kernels of its own.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, new rows, new columns, channels * depth_multiplier)`, likewise.

    Args:
      kernel_size: height and width of the window, or one integer for both.
      strides: how many rows and columns the window moves between outputs; two integers or one for both.
      padding: "valid" takes whole windows alone, "same" pads with zeros to `ceil(size / stride)` outputs.
      depth_multiplier: the number of kernels, and outputs, of each channel.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      depthwise_initializer, bias_initializer: first values of the weights; initializers or their names.
      depthwise_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      depthwise_constraint, bias_constraint: functions applied to the weights after each update; constraints, names or
        None.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> layer = tf.keras.layers.DepthwiseConv2D(2, depthwise_initializer="ones")
    >>> print(layer(tf.ones([1, 3, 3, 4])).shape)
    (1, 2, 2, 4)
    """

    _kernel_names = ("depthwise",)

    _only_in_configs = ("groups",)

    def __init__(
        self, kernel_size: Sequence[int] | int, strides: Sequence[int] | int = 1, padding: str = "valid",
        depth_multiplier: int = 1, data_format: str | None = None, dilation_rate: Sequence[int] | int = 1,
        activation: str | None = None, use_bias: bool = True,
        depthwise_initializer: dict[str, Any] | str = "glorot_uniform",
        bias_initializer: dict[str, Any] | str = "zeros", depthwise_regularizer: Configurable | None = None,
        bias_regularizer: Configurable | None = None, activity_regularizer: Configurable | None = None,
        depthwise_constraint: Configurable | None = None, bias_constraint: Configurable | None = None, **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._configure(
            None,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            1,
            activation,
            use_bias,
            {
                "depthwise_initializer": depthwise_initializer,
                "bias_initializer": bias_initializer,
                "depthwise_regularizer": depthwise_regularizer,
                "bias_regularizer": bias_regularizer,
                "depthwise_constraint": depthwise_constraint,
                "bias_constraint": bias_constraint,
            },
        )
        checks.positive(depth_multiplier, "depth_multiplier")
        self.depth_multiplier = depth_multiplier

    def build(self, input_shape: Sequence[Any]):
        channels = self._channels(input_shape)
        self._check_output(input_shape)
        settings = {part: getattr(self, f"depthwise_{part}") for part in PARTS}
        shape = (*self.kernel_size, channels, self.depth_multiplier)
        self.depthwise_kernel = self.add_weight("depthwise_kernel" if keras_2() else "kernel", shape, **settings)
        if self.use_bias:
            self.bias = self._weight("bias", (channels * self.depth_multiplier,))
        self.built = True

    @property
    def kernel(self):
        """The kernel, by its name of Keras 3."""
        return self.depthwise_kernel

    @kernel.setter
    def kernel(self, value: Tensor):
        self.depthwise_kernel = value

    def _output_channels(self, channels):
        return None if channels is None else channels * self.depth_multiplier

    def _convolve(self, inputs: Tensor):
        kernel, strides, dilations = self.depthwise_kernel, self.strides, self.dilation_rate
        if self.rank == 1:
            inputs, kernel = expand_dims(inputs, 1), expand_dims(kernel, 0)
            strides, dilations = strides * 2, (1, *dilations)
        outputs = depthwise_conv2d(
            inputs, kernel, (1, *strides, 1), self.padding.upper(), "NHWC", dilations
        )
        return squeeze(outputs, [1]) if self.rank == 1 else outputs

    def get_config(self):
        config = super().get_config()
        for name in ("filters", "groups"):
            config.pop(name)
        return {**config, "depth_multiplier": self.depth_multiplier}


class DepthwiseConv1D(DepthwiseConv2D):
    """Convolution of each channel of sequences by kernels of its own.

    Input shape: `(batch, steps, channels)`, or with the channels first.
    Output shape: `(batch, new steps, channels * depth_multiplier)`, likewise.

    Args:
      kernel_size: the length of the window, an integer.
      strides: how many steps the window moves between outputs.
      padding: "valid" takes whole windows alone, "same" pads with zeros to `ceil(size / stride)` outputs.
      depth_multiplier: the number of kernels, and outputs, of each channel.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      depthwise_initializer, bias_initializer: first values of the weights; initializers or their names.
      depthwise_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      depthwise_constraint, bias_constraint: functions applied to the weights after each update; constraints, names or
        None.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 1


class SeparableConv2D(Convolution):
    """Convolution of each channel of images by itself, then of all channels at each position.

    It has fewer weights than a full convolution: `depthwise_kernel` and `pointwise_kernel`.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, new rows, new columns, filters)`, likewise.

    Args:
      filters: the number of outputs at each position.
      kernel_size: height and width of the window, or one integer for both.
      strides: how many rows and columns the window moves between outputs; two integers or one for both.
      padding: "valid" takes whole windows alone, "same" pads with zeros to `ceil(size / stride)` outputs.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      depth_multiplier: the number of kernels of each channel in the first step.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      depthwise_initializer, pointwise_initializer, bias_initializer: first values of the weights; initializers or
        their names.
      depthwise_regularizer, pointwise_regularizer, bias_regularizer: penalties on the weights, added to the model's
        `losses`; regularizers, names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      depthwise_constraint, pointwise_constraint, bias_constraint: functions applied to the weights after each update;
        constraints, names or None.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    >>> layer = tf.keras.layers.SeparableConv2D(8, 3, padding="same")
    >>> print(layer(tf.ones([1, 5, 5, 4])).shape)
    (1, 5, 5, 8)
    >>> print([w.shape for w in layer.weights])
    [TensorShape([3, 3, 4, 1]), TensorShape([1, 1, 4, 8]), TensorShape([8])]
    """

    _kernel_names = ("depthwise", "pointwise")

    _only_in_configs = ("groups", "kernel_initializer", "kernel_regularizer", "kernel_constraint")

    def __init__(
        self, filters: int, kernel_size: Sequence[int] | int, strides: Sequence[int] | int = 1,
        padding: str = "valid", data_format: str | None = None, dilation_rate: Sequence[int] | int = 1,
        depth_multiplier: int = 1, activation: str | None = None, use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform", pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros", depthwise_regularizer: Configurable | None = None,
        pointwise_regularizer: Configurable | None = None, bias_regularizer: Configurable | None = None,
        activity_regularizer: Configurable | None = None, depthwise_constraint: Configurable | None = None,
        pointwise_constraint: Configurable | None = None, bias_constraint: Configurable | None = None, **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._configure(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            1,
            activation,
            use_bias,
            {
                "depthwise_initializer": depthwise_initializer,
                "pointwise_initializer": pointwise_initializer,
                "bias_initializer": bias_initializer,
                "depthwise_regularizer": depthwise_regularizer,
                "pointwise_regularizer": pointwise_regularizer,
                "bias_regularizer": bias_regularizer,
                "depthwise_constraint": depthwise_constraint,
                "pointwise_constraint": pointwise_constraint,
                "bias_constraint": bias_constraint,
            },
        )
        checks.positive(depth_multiplier, "depth_multiplier")
        self.depth_multiplier = depth_multiplier

    def build(self, input_shape: Sequence[Any]):
        channels = self._channels(input_shape)
        self._check_output(input_shape)
        wide = channels * self.depth_multiplier
        shapes = {
            "depthwise": (*self.kernel_size, channels, self.depth_multiplier),
            "pointwise": (*[1] * self.rank, wide, self.filters),
        }
        for name, shape in shapes.items():
            settings = {part: getattr(self, f"{name}_{part}") for part in PARTS}
            setattr(self, f"{name}_kernel", self.add_weight(f"{name}_kernel", shape, **settings))
        if self.use_bias:
            self.bias = self._weight("bias", (self.filters,))
        self.built = True

    def _convolve(self, inputs):
        depthwise, pointwise = self.depthwise_kernel, self.pointwise_kernel
        strides, dilations, padding = self.strides, self.dilation_rate, self.padding.upper()
        if self.rank == 1:
            if padding == "CAUSAL":
                left = dilations[0] * (self.kernel_size[0] - 1)
                inputs, padding = pad(inputs, [[0, 0], [left, 0], [0, 0]]), "VALID"
            inputs = expand_dims(inputs, 1)
            depthwise, pointwise = expand_dims(depthwise, 0), expand_dims(pointwise, 0)
            strides, dilations = strides * 2, (1, *dilations)
        outputs = separable_conv2d(inputs, depthwise, pointwise, (1, *strides, 1), padding, "NHWC", dilations)
        return squeeze(outputs, [1]) if self.rank == 1 else outputs

    def get_config(self):
        config = super().get_config()
        config.pop("groups")
        return {**config, "depth_multiplier": self.depth_multiplier}


class SeparableConv1D(SeparableConv2D):
    """Convolution of each channel of sequences by itself, then of all channels at each step.

    Input shape: `(batch, steps, channels)`, or with the channels first.
    Output shape: `(batch, new steps, filters)`, likewise.

    Args:
      filters: the number of outputs at each step.
      kernel_size: the length of the window, an integer.
      strides: how many steps the window moves between outputs.
      padding: "valid", "same", or "causal" for outputs that depend on no later steps; see `Conv1D`.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      depth_multiplier: the number of kernels of each channel in the first step.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      depthwise_initializer, pointwise_initializer, bias_initializer: first values of the weights; initializers or
        their names.
      depthwise_regularizer, pointwise_regularizer, bias_regularizer: penalties on the weights, added to the model's
        `losses`; regularizers, names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      depthwise_constraint, pointwise_constraint, bias_constraint: functions applied to the weights after each update;
        constraints, names or None.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 1
    _causal = True
