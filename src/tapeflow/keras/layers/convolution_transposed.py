"""Gradients of convolutions, as layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Configurable, Tensor
from tapeflow.core.release import keras_2
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.convolution_arithmetic import (
    normalize_tuple,
    transposed_length,
)
from tapeflow.keras.layers.convolution_base import Convolution
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.convolution.functions import conv2d_transpose
from tapeflow.ops.convolution.functions_3d import conv3d_transpose
from tapeflow.ops.static import as_shape, sizes_of


class Conv2DTranspose(Convolution):
    """The gradient of a convolution of images, as a layer that makes larger images.

    Input shape: `(batch, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, new rows, new columns, filters)`, likewise. With "valid" padding a new size is `rows *
      stride + max(kernel - stride, 0)`, with "same" `rows * stride`.

    Args:
      filters: the number of outputs at each position.
      kernel_size: height and width of the window, or one integer for both.
      strides: how many rows and columns the window moves between outputs; two integers or one for both.
      padding: "valid" or "same".
      output_padding: by how much the outputs are larger at the end, an integer or one per axis, below the stride;
        None for the sizes above.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      kernel_initializer, bias_initializer: first values of the weights; initializers or their names.
      kernel_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, bias_constraint: functions that each training step applies to the weights after their update;
        constraints, names or None.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.

    Raises:
      ValueError: for an output padding that is not below the stride.

    >>> layer = tf.keras.layers.Conv2DTranspose(2, 3, strides=2, padding="same")
    >>> print(layer(tf.ones([1, 4, 4, 3])).shape)
    (1, 8, 8, 2)
    """

    _only_in_configs = ("groups",)

    def __init__(
        self, filters: int, kernel_size: Sequence[int] | int, strides: Sequence[int] | int = 1,
        padding: str = "valid", output_padding=None, data_format: str | None = None,
        dilation_rate: Sequence[int] | int = 1, activation: str | None = None, use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform", bias_initializer: Any = "zeros",
        kernel_regularizer: Configurable | None = None, bias_regularizer: Configurable | None = None,
        activity_regularizer: Configurable | None = None, kernel_constraint: Configurable | None = None,
        bias_constraint: Configurable | None = None, **kwargs,
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
                "kernel_initializer": kernel_initializer,
                "bias_initializer": bias_initializer,
                "kernel_regularizer": kernel_regularizer,
                "bias_regularizer": bias_regularizer,
                "kernel_constraint": kernel_constraint,
                "bias_constraint": bias_constraint,
            },
        )
        self.output_padding = output_padding
        if output_padding is not None:
            self.output_padding = normalize_tuple(output_padding, self.rank, "output_padding", True)
            for stride, extra in zip(self.strides, self.output_padding):
                if extra >= stride:
                    if not keras_2():
                        raise ValueError(
                            "`output_padding` must be strictly less than `strides`. Received: output_padding="
                            f"{self.output_padding}, strides={self.strides}"
                        )
                    raise ValueError(
                        f"Strides must be greater than output padding. Received strides={self.strides}, "
                        f"output_padding={self.output_padding}."
                    )
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def build(self, input_shape: Sequence[Any]):
        channels = self._channels(input_shape)
        self.kernel = self._weight("kernel", (*self.kernel_size, self.filters, channels))
        if self.use_bias:
            self.bias = self._weight("bias", (self.filters,))
        self.built = True

    def _spatial(self, lengths: Sequence[int]):
        paddings = self.output_padding or (None,) * self.rank
        windows = zip(lengths, self.kernel_size, paddings, self.strides, self.dilation_rate)
        return [transposed_length(n, k, self.padding, p, s, d) for n, k, p, s, d in windows]

    def _convolve(self, inputs: Tensor):
        sizes = sizes_of(inputs)
        shape = [sizes[0], *self._spatial(sizes[1:-1]), self.filters]
        kernel, strides, dilations = self.kernel, self.strides, self.dilation_rate
        if self.rank == 1:
            inputs, kernel = expand_dims(inputs, 1), expand_dims(kernel, 0)
            shape, strides, dilations = [shape[0], 1, *shape[1:]], (1, *strides), (1, *dilations)
        if self.rank == 3:
            strides = (1, *strides, 1)
            return conv3d_transpose(
                inputs,
                kernel,
                as_shape(shape),
                strides,
                self.padding.upper(),
                "NDHWC",
                (1, *dilations, 1),
            )
        outputs = conv2d_transpose(
            inputs, kernel, as_shape(shape), strides, self.padding.upper(), "NHWC", dilations
        )
        return squeeze(outputs, [1]) if self.rank == 1 else outputs

    def get_config(self):
        config = super().get_config()
        config.pop("groups")
        return {**config, "output_padding": self.output_padding}


class Conv1DTranspose(Conv2DTranspose):
    """The gradient of a convolution of sequences, as a layer that makes longer sequences.

    Input shape: `(batch, steps, channels)`, or with the channels first.
    Output shape: `(batch, new steps, filters)`, likewise; see `Conv2DTranspose` for the new size.

    Args:
      filters: the number of outputs at each step.
      kernel_size: the length of the window, an integer.
      strides: how many steps the window moves between outputs.
      padding: "valid" or "same".
      output_padding: by how much the outputs are larger at the end, an integer or one per axis, below the stride;
        None for the sizes above.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      kernel_initializer, bias_initializer: first values of the weights; initializers or their names.
      kernel_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, bias_constraint: functions that each training step applies to the weights after their update;
        constraints, names or None.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 1


class Conv3DTranspose(Conv2DTranspose):
    """The gradient of a convolution of volumes, as a layer that makes larger volumes.

    Input shape: `(batch, depth, rows, columns, channels)`, or with the channels first.
    Output shape: `(batch, new depth, new rows, new columns, filters)`, likewise; see `Conv2DTranspose` for the new
      sizes.

    Args:
      filters: the number of outputs at each position.
      kernel_size: the sizes of the window, three integers or one for all.
      strides: how far the window moves between outputs along each axis; three integers or one for all.
      padding: "valid" or "same".
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      output_padding: by how much the outputs are larger at the end, an integer or one per axis, below the stride;
        None for the sizes above. Under Keras 2 it comes before `data_format`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      activation: a function of the outputs, its name, or None for none.
      use_bias: whether a trained bias is added.
      kernel_initializer, bias_initializer: first values of the weights; initializers or their names.
      kernel_regularizer, bias_regularizer: penalties on the weights, added to the model's `losses`; regularizers,
        names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, bias_constraint: functions that each training step applies to the weights after their update;
        constraints, names or None.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    rank = 3

    def __init__(
        self, filters, kernel_size: int | Sequence[int], strides: int | Sequence[int] = 1, padding="valid",
        data_format: Any = None, output_padding: Any = None, dilation_rate: int | Sequence[int] = 1, activation=None,
        use_bias: bool = True, kernel_initializer: str | None = "glorot_uniform", bias_initializer="zeros",
        kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
        bias_constraint=None, **kwargs,
    ):  # fmt: skip
        if isinstance(output_padding, str) or (data_format is not None and not isinstance(data_format, str)):
            data_format, output_padding = output_padding, data_format  # the order of Keras 2
        super().__init__(
            filters, kernel_size, strides, padding, output_padding, data_format, dilation_rate, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip
