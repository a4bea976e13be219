"""LSTMs whose gates are convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.contrib.rnn.gates import lstm_step
from tapeflow.core.annotations import Tensor
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.convolution.functions_any_rank import convolution
from tapeflow.v1 import initializers
from tapeflow.v1.rnn.base import RNNCell
from tapeflow.v1.rnn.cells import LSTMStateTuple
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope

__all__ = ["Conv1DLSTMCell", "Conv2DLSTMCell", "Conv3DLSTMCell", "ConvLSTMCell"]


class ConvLSTMCell(RNNCell):
    """An LSTM over images, volumes or sequences: inputs [batch, *input_shape] (Shi et al. 2015).

    Args:
      conv_ndims: the number of spatial axes: 1, 2 or 3.
      input_shape: the shape of the inputs without the batch, channels last.
      output_channels: how many channels the state has, whose spatial shape is that of the inputs.
      kernel_shape: the spatial shape of the filters.
      use_bias: whether the gates have biases.
      skip_connection: whether the inputs are appended to the output.
      forget_bias: what is added to the forget gate.
      initializers: the initializer of the weights, by default that of the scope.
    Raises ValueError where `input_shape` does not have `conv_ndims` + 1 axes.
    """

    def __init__(
        self, conv_ndims: int, input_shape: Sequence[int], output_channels: int, kernel_shape: Sequence[int],
        use_bias: bool = True, skip_connection: bool = False, forget_bias: float = 1.0, initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:  # fmt: skip
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        *space, depth = input_shape
        self._kernel_shape, self._channels = list(kernel_shape), output_channels
        self._use_bias, self._skip, self._forget_bias = use_bias, skip_connection, forget_bias
        self._initializer = initializers
        state = TensorShape([*space, output_channels])
        self._state_size = LSTMStateTuple(state, state)
        self._output_size = TensorShape([*space, output_channels + (depth if skip_connection else 0)])

    state_size = property(lambda self: self._state_size)
    output_size = property(lambda self: self._output_size)

    def call(self, inputs: Tensor, state: Any, scope: Any = None) -> Any:
        """(output, LSTMStateTuple(c, h)). The state keeps the output without the inputs of a skip connection."""
        c, h = state
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            gates = self._convolved(concat([inputs, h], -1))
        c, h = lstm_step(split(gates, 4, -1), c, self._forget_bias)
        return (concat([h, inputs], -1) if self._skip else h), LSTMStateTuple(c, h)

    def _convolved(self, x: Tensor) -> Tensor:
        features = 4 * self._channels
        kernel = get_variable("kernel", [*self._kernel_shape, x.shape.as_list()[-1], features], dtype=x.dtype)
        gates = convolution(x, kernel, padding="SAME")
        if not self._use_bias:
            return gates
        start = initializers.zeros_initializer()
        return gates + get_variable("biases", [features], dtype=x.dtype, initializer=start)


class Conv1DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over one spatial axis."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over images."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over volumes."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
