"""What all layers that convolve have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from tapeflow.core.annotations import Tensor
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, constraints, initializers, regularizers, settings
from tapeflow.keras.engine import checks
from tapeflow.keras.engine.base_layer import Layer
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.convolution_arithmetic import (
    normalize_padding,
    normalize_tuple,
    output_length,
    to_nn_format,
)
from tapeflow.keras.layers.output_activation import activate
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.padding import pad
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.convolution.functions import conv2d
from tapeflow.ops.convolution.functions_any_rank import convolution
from tapeflow.ops.nn.bias import bias_add

PARTS = ("initializer", "regularizer", "constraint")
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


class Convolution(Layer):
    """A convolution over `rank` axes: settings, weights, and the way around both data formats."""

    _checkpoint_names: ClassVar[dict[str, str]] = {"kernel": "_kernel"}

    rank = 2
    _causal = False
    _kernel_names: tuple = ("kernel",)

    # Set once the weights are made.
    bias: Any = None

    def _configure(
        self, filters: int | None, kernel_size: Sequence[int] | int, strides: Sequence[int] | int,
        padding: str, data_format: str | None, dilation_rate: Sequence[int] | int, groups: int,
        activation: Callable[..., Any] | str | None, use_bias: bool, weight_settings: dict[str, Any],
    ):
        rank = self.rank
        if filters is not None:
            if isinstance(filters, float):
                filters = int(filters)
            checks.positive(filters, "filters")
            if filters < 0:
                raise ValueError(
                    "Received a negative value for `filters`. Was expecting a positive value. "
                    f"Received {filters}."
                )
        if groups <= 0:
            what = "`groups`" if keras_2() else "The number of groups"
            raise ValueError(f"{what} must be a positive integer. Received: groups={groups}.")
        if filters is not None and filters % groups:
            raise ValueError(
                "The number of filters must be evenly divisible by the number of groups. Received: "
                f"groups={groups}, filters={filters}."
            )
        self.filters, self.groups = filters, groups
        self.kernel_size = normalize_tuple(kernel_size, rank, "kernel_size")
        self.strides = normalize_tuple(strides, rank, "strides", allow_zero=keras_2())
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
        for name, value in weight_settings.items():
            setattr(self, name, _GETTERS[name.rpartition("_")[2]](value))
        self.input_spec = InputSpec(min_ndim=rank + 2)

    def _channels(self, input_shape: Sequence[Any]):
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

    def _weight(self, name: str, shape: Sequence[Any]):
        settings = {part: getattr(self, f"{name}_{part}") for part in PARTS}
        return self.add_weight(name, shape, **settings)

    def _check_output(self, input_shape: Sequence[Any]):
        sizes = self._output_sizes(input_shape)
        if any(size is not None and size <= 0 for size in sizes[1:]):
            raise ValueError(
                "One of the dimensions in the output is <= 0 due to downsampling in "
                f"{self.name}. Consider increasing the input size. Received input shape "
                f"{TensorShape(input_shape).as_list()} which would produce output shape with a zero "
                "or negative value in a dimension."
            )

    def call(self, inputs: Tensor):
        rank = self.rank
        first = self.data_format == "channels_first"
        outer = None
        if len(inputs.shape) > rank + 2:
            outer = inputs.shape[: -(rank + 1)]
            inputs = reshape(inputs, [-1, *inputs.shape[-(rank + 1) :]])
        if first:  # the CPU's kernels have channels last
            inputs = transpose(inputs, [0, *range(2, rank + 2), 1])
        outputs = self._convolve(inputs)
        if self.use_bias and self.bias is not None:
            outputs = bias_add(outputs, self.bias)
        if first:
            outputs = transpose(outputs, [0, rank + 1, *range(1, rank + 1)])
        if outer is not None:
            outputs = reshape(outputs, [*outer, *outputs.shape[1:]])
        return activate(self.activation, outputs)

    def _convolve(self, inputs):
        padding = self.padding.upper()
        if padding == "CAUSAL":
            left = self.dilation_rate[0] * (self.kernel_size[0] - 1)
            inputs, padding = pad(inputs, [[0, 0], [left, 0], [0, 0]]), "VALID"
        layout = to_nn_format("channels_last", self.rank)
        if self.rank == 2:
            return conv2d(inputs, self.kernel, self.strides, padding, layout, self.dilation_rate)
        return convolution(inputs, self.kernel, self.strides, padding, layout, self.dilation_rate)

    def build(self, input_shape: Sequence[Any]):
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

    def compute_output_shape(self, input_shape: Sequence[Any]):
        return TensorShape(self._output_sizes(input_shape))

    def _output_sizes(self, input_shape: Sequence[Any]):
        sizes = TensorShape(input_shape).as_list()
        outer, rest = sizes[: -self.rank - 1], sizes[-self.rank - 1 :]
        if self.data_format == "channels_first":
            return [*outer, self._output_channels(rest[0]), *self._spatial(rest[1:])]
        return [*outer, *self._spatial(rest[:-1]), self._output_channels(rest[-1])]

    def _output_channels(self, channels: int | None):
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
        for part in PARTS:
            for name in (*self._kernel_names, "bias"):
                config[f"{name}_{part}"] = _SERIALIZERS[part](getattr(self, f"{name}_{part}"))
        config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        return config
