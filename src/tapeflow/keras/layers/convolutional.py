"""Convolutions."""

from __future__ import annotations

from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, constraints, initializers, regularizers, settings
from tapeflow.keras.engine.base_layer import Layer, Unbuilt
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.convolution_arithmetic import (
    normalize_padding,
    normalize_tuple,
    output_length,
    to_nn_format,
    transposed_length,
)
from tapeflow.ops.bias import bias_add
from tapeflow.ops.convolve import conv2d, conv2d_transpose, conv3d_transpose, convolution
from tapeflow.ops.convolve_depthwise import depthwise_conv2d
from tapeflow.ops.layout import expand_dims, reshape, squeeze, transpose
from tapeflow.ops.padding import pad
from tapeflow.ops.static import as_shape, sizes_of

_PARTS = ("initializer", "regularizer", "constraint")
_GETTERS = {
    "initializer": initializers.get,
    "regularizer": regularizers.get,
    "constraint": constraints.get,
}
_SERIALIZERS = {
    "initializer": initializers.serialize,
    "regularizer": regularizers.serialize,
    "constraint": constraints.serialize,
}


class _Convolution(Layer):
    """A convolution over `rank` axes: settings, weights, and the way around both data formats."""

    rank = 2
    _causal = False
    _kernel_names: tuple = ("kernel",)

    def _configure(
        self,
        filters,
        kernel_size,
        strides,
        padding,
        data_format,
        dilation_rate,
        groups,
        activation,
        use_bias,
        weight_settings,
    ):
        rank = self.rank
        if filters is not None:
            if isinstance(filters, float):
                filters = int(filters)
            if filters < 0:
                raise ValueError(
                    "Received a negative value for `filters`. Was expecting a positive value. "
                    f"Received {filters}."
                )
        if groups <= 0:
            raise ValueError(f"`groups` must be a positive integer. Received: groups={groups}")
        if filters is not None and filters % groups:
            raise ValueError(
                "The number of filters must be evenly divisible by the number of groups. Received: "
                f"groups={groups}, filters={filters}"
            )
        self.filters, self.groups = filters, groups
        self.kernel_size = normalize_tuple(kernel_size, rank, "kernel_size")
        self.strides = normalize_tuple(strides, rank, "strides", allow_zero=True)
        if 0 in self.strides:
            raise ValueError(
                f"The argument `strides` cannot contains 0(s). Received: {self.strides}"
            )
        self.padding = normalize_padding(padding, causal=True)
        if self.padding == "causal" and not self._causal:
            raise ValueError("Causal padding is only supported for `Conv1D` and `SeparableConv1D`.")
        self.data_format = settings.normalize_data_format(data_format)
        self.dilation_rate = normalize_tuple(dilation_rate, rank, "dilation_rate")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError(
                "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                f"strides={self.strides} and dilation_rate={self.dilation_rate}"
            )
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.bias = None
        for name, value in weight_settings.items():
            setattr(self, name, _GETTERS[name.rpartition("_")[2]](value))
        self.input_spec = InputSpec(min_ndim=rank + 2)

    def _channels(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        axis = 1 if self.data_format == "channels_first" else len(sizes) - 1
        if sizes[axis] is None:
            raise ValueError(
                "The channel dimension of the inputs should be defined. The input_shape received is "
                f"{tuple(sizes)}, where axis {axis} (0-based) is the channel dimension, which found "
                "to be `None`."
            )
        spec_axis = axis if axis == 1 else -1
        self.input_spec = InputSpec(min_ndim=self.rank + 2, axes={spec_axis: sizes[axis]})
        return sizes[axis]

    def _weight(self, name, shape):
        settings = {part: getattr(self, f"{name}_{part}") for part in _PARTS}
        return self.add_weight(name, shape, **settings)

    def _check_output(self, input_shape):
        sizes = self._output_sizes(input_shape)
        if any(size is not None and size <= 0 for size in sizes[1:]):
            raise ValueError(
                "One of the dimensions in the output is <= 0 due to downsampling in "
                f"{self.name}. Consider increasing the input size. Received input shape "
                f"{TensorShape(input_shape).as_list()} which would produce output shape with a zero "
                "or negative value in a dimension."
            )

    def call(self, inputs):
        rank = self.rank
        first = self.data_format == "channels_first"
        outer = None
        if len(inputs.shape) > rank + 2:
            outer = inputs.shape[: -(rank + 1)]
            inputs = reshape(inputs, [-1, *inputs.shape[-(rank + 1) :]])
        if first:  # the CPU's kernels have channels last
            inputs = transpose(inputs, [0, *range(2, rank + 2), 1])
        outputs = self._convolve(inputs)
        if self.bias is not None:
            outputs = bias_add(outputs, self.bias)
        if first:
            outputs = transpose(outputs, [0, rank + 1, *range(1, rank + 1)])
        if outer is not None:
            outputs = reshape(outputs, [*outer, *outputs.shape[1:]])
        return outputs if self.activation is activations.linear else self.activation(outputs)

    def _convolve(self, inputs):
        padding = self.padding.upper()
        if padding == "CAUSAL":
            left = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            inputs, padding = pad(inputs, [[0, 0], [left, 0], [0, 0]]), "VALID"
        layout = to_nn_format("channels_last", self.rank)
        if self.rank == 2:
            return conv2d(inputs, self.kernel, self.strides, padding, layout, self.dilation_rate)
        return convolution(inputs, self.kernel, self.strides, padding, layout, self.dilation_rate)

    def build(self, input_shape):
        channels = self._channels(input_shape)
        if channels % self.groups:
            raise ValueError(
                "The number of input channels must be evenly divisible by the number of groups. "
                f"Received groups={self.groups}, but the input has {channels} channels (full input "
                f"shape is {TensorShape(input_shape).as_list()})."
            )
        shape = (*self.kernel_size, channels // self.groups, self.filters)
        self._check_output(input_shape)
        self.kernel = self._weight("kernel", shape)
        if self.use_bias:
            self.bias = self._weight("bias", (self.filters,))
        self.built = True

    def _spatial(self, lengths):
        windows = zip(lengths, self.kernel_size, self.strides, self.dilation_rate)
        return [output_length(n, k, self.padding, s, d) for n, k, s, d in windows]

    def compute_output_shape(self, input_shape):
        return TensorShape(self._output_sizes(input_shape))

    def _output_sizes(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        outer, rest = sizes[: -self.rank - 1], sizes[-self.rank - 1 :]
        if self.data_format == "channels_first":
            return [*outer, self._output_channels(rest[0]), *self._spatial(rest[1:])]
        return [*outer, *self._spatial(rest[:-1]), self._output_channels(rest[-1])]

    def _output_channels(self, channels):
        return self.filters

    def get_config(self):
        config = {
            **super().get_config(),
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "dilation_rate": self.dilation_rate,
            "groups": self.groups,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
        }
        for part in _PARTS:
            for name in (*self._kernel_names, "bias"):
                config[f"{name}_{part}"] = _SERIALIZERS[part](getattr(self, f"{name}_{part}"))
        config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        return config


class _Plain(_Convolution):
    kernel = Unbuilt()

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        groups=1,
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
            groups,
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

    def convolution_op(self, inputs, kernel):
        """The convolution of inputs, with channels last, by a kernel."""
        own, self.__dict__["kernel"] = self.__dict__.get("kernel"), kernel
        try:
            return self._convolve(inputs)
        finally:
            self.__dict__["kernel"] = own


class Conv1D(_Plain):
    """Convolution of (batch, steps, channels)."""

    rank = 1
    _causal = True


class Conv2D(_Plain):
    """Convolution of images."""


class Conv3D(_Plain):
    """Convolution of volumes."""

    rank = 3


class Conv2DTranspose(_Convolution):
    """The gradient of a convolution of images, as a layer that makes larger images."""

    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1),
        padding="valid",
        output_padding=None,
        data_format=None,
        dilation_rate=(1, 1),
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
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            output_padding,
            data_format,
            dilation_rate,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            **kwargs,
        )


class Conv3DTranspose(Conv2DTranspose):
    """The gradient of a convolution of volumes, as a layer that makes larger volumes."""

    rank = 3

    def __init__(
        self,
        filters,
        kernel_size,
        strides=(1, 1, 1),
        padding="valid",
        data_format=None,
        output_padding=None,
        dilation_rate=(1, 1, 1),
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
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            output_padding,
            data_format,
            dilation_rate,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            **kwargs,
        )


class DepthwiseConv2D(_Convolution):
    """Convolution of each channel of images by kernels of its own."""

    _kernel_names = ("depthwise",)

    def __init__(
        self,
        kernel_size,
        strides=(1, 1),
        padding="valid",
        depth_multiplier=1,
        data_format=None,
        dilation_rate=(1, 1),
        activation=None,
        use_bias=True,
        depthwise_initializer="glorot_uniform",
        bias_initializer="zeros",
        depthwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        bias_constraint=None,
        **kwargs,
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
        self.depth_multiplier = depth_multiplier

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self._check_output(input_shape)
        settings = {part: getattr(self, f"depthwise_{part}") for part in _PARTS}
        shape = (*self.kernel_size, channels, self.depth_multiplier)
        self.depthwise_kernel = self.add_weight("depthwise_kernel", shape, **settings)
        if self.use_bias:
            self.bias = self._weight("bias", (channels * self.depth_multiplier,))
        self.built = True

    def _output_channels(self, channels):
        return None if channels is None else channels * self.depth_multiplier

    def _convolve(self, inputs):
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
    """Convolution of each channel of (batch, steps, channels) by kernels of its own."""

    rank = 1

    def __init__(
        self,
        kernel_size,
        strides=1,
        padding="valid",
        depth_multiplier=1,
        data_format=None,
        dilation_rate=1,
        activation=None,
        use_bias=True,
        depthwise_initializer="glorot_uniform",
        bias_initializer="zeros",
        depthwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(
            kernel_size,
            strides,
            padding,
            depth_multiplier,
            data_format,
            dilation_rate,
            activation=activation,
            use_bias=use_bias,
            depthwise_initializer=depthwise_initializer,
            bias_initializer=bias_initializer,
            depthwise_regularizer=depthwise_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            depthwise_constraint=depthwise_constraint,
            bias_constraint=bias_constraint,
            **kwargs,
        )


class SeparableConv2D(_Convolution):
    """Convolution of each channel by itself, then of all channels at each position."""

    _kernel_names = ("depthwise", "pointwise")

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        depth_multiplier=1,
        activation=None,
        use_bias=True,
        depthwise_initializer="glorot_uniform",
        pointwise_initializer="glorot_uniform",
        bias_initializer="zeros",
        depthwise_regularizer=None,
        pointwise_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        depthwise_constraint=None,
        pointwise_constraint=None,
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
        self.depth_multiplier = depth_multiplier

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self._check_output(input_shape)
        wide = channels * self.depth_multiplier
        shapes = {
            "depthwise": (*self.kernel_size, channels, self.depth_multiplier),
            "pointwise": (*[1] * self.rank, wide, self.filters),
        }
        for name, shape in shapes.items():
            settings = {part: getattr(self, f"{name}_{part}") for part in _PARTS}
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
        outputs = depthwise_conv2d(inputs, depthwise, (1, *strides, 1), padding, "NHWC", dilations)
        outputs = conv2d(outputs, pointwise, (1, 1), "VALID", "NHWC", (1, 1))
        return squeeze(outputs, [1]) if self.rank == 1 else outputs

    def get_config(self):
        config = super().get_config()
        config.pop("groups")
        return {**config, "depth_multiplier": self.depth_multiplier}


class SeparableConv1D(SeparableConv2D):
    """Convolution of each channel of steps by itself, then of all channels at each step."""

    rank = 1
    _causal = True
