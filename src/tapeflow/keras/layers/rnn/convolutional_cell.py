"""The cell of ConvLSTM, an LSTM whose products are convolutions (Shi et al., 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Configurable, Tensor
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import activations, settings
from tapeflow.keras.layers.convolution_arithmetic import (
    normalize_padding,
    normalize_tuple,
    to_nn_format,
)
from tapeflow.keras.layers.rnn.cells import set_weight_settings, weight_config
from tapeflow.keras.layers.rnn.dropout import DropoutRNNCellMixin
from tapeflow.keras.noise import NoiseSource
from tapeflow.ops.array.construction import ones
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.convolution.functions_any_rank import convolution

# The recurrent activation where none is given: sigmoid, in Keras 2 hard_sigmoid.
DEFAULT = object()


class ConvLSTMCell(DropoutRNNCellMixin):
    """One step of an LSTM over images of `rank` axes."""

    # Set once the weights are made.
    bias: Any = None

    def __init__(
        self, rank, filters, kernel_size: int | Sequence[int], strides: int | Sequence[int] = 1,
        padding: str = "valid", data_format: str | None = None, dilation_rate: int | Sequence[int] = 1,
        activation: str = "tanh", recurrent_activation=DEFAULT, use_bias: bool = True,
        kernel_initializer: str = "glorot_uniform", recurrent_initializer: str = "orthogonal",
        bias_initializer: str = "zeros", unit_forget_bias: bool = True,
        kernel_regularizer: Configurable | None = None, recurrent_regularizer: Configurable | None = None,
        bias_regularizer: Configurable | None = None, kernel_constraint: Configurable | None = None,
        recurrent_constraint: Configurable | None = None, bias_constraint: Configurable | None = None,
        dropout: float = 0.0, recurrent_dropout: float = 0.0, seed: int | None = None, **kwargs,
    ):
        super().__init__(**kwargs)
        if filters is not None and filters <= 0:
            raise ValueError(
                "Invalid value for argument `filters`, expected a strictly positive value. "
                f"Received filters={filters}."
            )
        self.seed, self._made_noise = seed, NoiseSource(seed)
        self.rank = rank
        self.filters = filters
        self.kernel_size = normalize_tuple(kernel_size, rank, "kernel_size")
        self.strides = normalize_tuple(strides, rank, "strides", allow_zero=True)
        self.padding = normalize_padding(padding)
        self.data_format = settings.normalize_data_format(data_format)
        self.dilation_rate = normalize_tuple(dilation_rate, rank, "dilation_rate")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1 and not keras_2():
            raise ValueError(
                "Specifying `strides > 1` is not compatible with `dilation_rate > 1`. Received: "
                f"strides={self.strides}, dilation_rate={self.dilation_rate}"
            )
        self.activation = activations.get(activation)
        if recurrent_activation is DEFAULT:
            recurrent_activation = "hard_sigmoid" if keras_2() else "sigmoid"
        self.recurrent_activation = activations.get(recurrent_activation)
        self.use_bias, self.unit_forget_bias = use_bias, unit_forget_bias
        set_weight_settings(self, locals())
        self.dropout = min(1.0, max(0.0, dropout))
        self.recurrent_dropout = min(1.0, max(0.0, recurrent_dropout))
        self.state_size = (filters, filters)
        self.output_size = filters

    def build(self, input_shape):
        sizes = TensorShape(input_shape).as_list()
        channels = sizes[1 if self.data_format == "channels_first" else -1]
        if channels is None:
            raise ValueError(
                "The channel dimension of the inputs (last axis) should be defined. Found None. Full "
                f"input shape received: input_shape={tuple(sizes)}"
            )
        columns = self.filters * 4
        self.kernel = self._weight("kernel", (*self.kernel_size, channels, columns), "kernel")
        self.recurrent_kernel = self._weight(
            "recurrent_kernel", (*self.kernel_size, self.filters, columns), "recurrent"
        )
        if self.use_bias:
            initializer = None
            if self.unit_forget_bias:
                given, filters = self.bias_initializer, self.filters

                def initializer(shape: Sequence[Any], dtype=None, **kwargs):
                    first = given((filters,), dtype=dtype)
                    one, rest = ones((filters,), dtype), given((filters * 2,), dtype=dtype)
                    return concat([first, one, rest], 0)

            self.bias = self._weight("bias", (columns,), "bias", initializer)
        self.built = True

    def _weight(self, name: str, shape: Sequence[Any], kind: str, initializer=None):
        return self.add_weight(
            name,
            shape,
            initializer=initializer or getattr(self, f"{kind}_initializer"),
            regularizer=getattr(self, f"{kind}_regularizer"),
            constraint=getattr(self, f"{kind}_constraint"),
        )

    def _convolve(self, x: Tensor, kernel, strides, padding, dilations=None):
        first = self.data_format == "channels_first"
        if first:  # the CPU's kernels have channels last
            x = transpose(x, [0, *range(2, self.rank + 2), 1])
        layout = to_nn_format("channels_last", self.rank)
        outputs = convolution(x, kernel, strides, padding.upper(), layout, dilations)
        return (
            transpose(outputs, [0, self.rank + 1, *range(1, self.rank + 1)]) if first else outputs
        )

    def call(self, inputs: Tensor, states: Sequence[Tensor], training: bool | Tensor | None = None):
        return self.step(self.project(inputs, training), states, training)

    def project(self, inputs: Tensor, training: bool | Tensor | None):
        """The part of the step that needs no states."""
        masks = self.get_dropout_mask_for_cell(inputs, training, 4)
        x = self._gates(inputs, masks, self.kernel, self.strides, self.padding, self.dilation_rate)
        if self.bias is None:
            return x
        first = self.data_format == "channels_first"
        return x + (reshape(self.bias, [-1, *[1] * self.rank]) if first else self.bias)

    def step(self, projected, states: Sequence[Tensor], training: bool | Tensor | None):
        """The rest of the step."""
        h, c = states
        axis = 1 if self.data_format == "channels_first" else -1
        h_masks = self.get_recurrent_dropout_mask_for_cell(h, training, 4)
        z = projected + self._gates(h, h_masks, self.recurrent_kernel, 1, "same", None)
        i, f, candidate, o = split(z, 4, axis=axis)
        gate = self.recurrent_activation
        c = gate(f) * c + gate(i) * self.activation(candidate)
        h = gate(o) * self.activation(c)
        return h, [h, c]

    def _gates(self, x: Tensor, masks, kernel, strides, padding, dilations):
        """The convolutions of all gates at once, or, where each has its own dropout, one by one."""
        strides = normalize_tuple(strides, self.rank, "strides")
        if masks is None:
            return self._convolve(x, kernel, strides, padding, dilations)
        parts = split(kernel, 4, axis=-1)
        axis = 1 if self.data_format == "channels_first" else -1
        return concat(
            [self._convolve(x * m, k, strides, padding, dilations) for m, k in zip(masks, parts)],
            axis,
        )

    def get_config(self):
        config = {
            **super().get_config(),
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "dilation_rate": self.dilation_rate,
            "activation": activations.serialize(self.activation),
            "recurrent_activation": activations.serialize(self.recurrent_activation),
            "use_bias": self.use_bias,
            "unit_forget_bias": self.unit_forget_bias,
        }
        return {
            **config,
            **weight_config(self),
            "dropout": self.dropout,
            "recurrent_dropout": self.recurrent_dropout,
            **({} if self.seed is None else {"seed": self.seed}),
        }
