"""Gradients of convolutions, as layers."""

from __future__ import annotations

from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.convolution_arithmetic import (
    normalize_tuple,
    transposed_length,
)
from tapeflow.keras.layers.convolution_base import Convolution
from tapeflow.ops.convolve import conv2d_transpose, conv3d_transpose
from tapeflow.ops.layout import expand_dims, squeeze
from tapeflow.ops.static import as_shape, sizes_of


class Conv2DTranspose(Convolution):
    """The gradient of a convolution of images, as a layer that makes larger images."""

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        output_padding=None,
        data_format=None,
        dilation_rate=1,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
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
                    raise ValueError(
                        f"Strides must be greater than output padding. Received strides={self.strides}, "
                        f"output_padding={self.output_padding}."
                    )
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self.kernel = self._weight("kernel", (*self.kernel_size, self.filters, channels))
        if self.use_bias:
            self.bias = self._weight("bias", (self.filters,))
        self.built = True

    def _spatial(self, lengths):
        paddings = self.output_padding or (None,) * self.rank
        windows = zip(lengths, self.kernel_size, paddings, self.strides, self.dilation_rate)
        return [transposed_length(n, k, self.padding, p, s, d) for n, k, p, s, d in windows]

    def _convolve(self, inputs):
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
    """The gradient of a convolution of steps, as a layer that makes more steps."""

    rank = 1


class Conv3DTranspose(Conv2DTranspose):
    """The gradient of a convolution of volumes, as a layer that makes larger volumes."""

    rank = 3
