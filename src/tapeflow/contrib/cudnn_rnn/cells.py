"""Cells that compute what a layer of `CudnnLSTM` or `CudnnGRU` does."""

from __future__ import annotations

from typing import Any

from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.trigonometric import sigmoid
from tapeflow.ops.nn.bias import bias_add
from tapeflow.v1 import initializers
from tapeflow.v1.rnn.base import input_depth
from tapeflow.v1.rnn.cells import GRUCell, LSTMCell

__all__ = ["CudnnCompatibleGRUCell", "CudnnCompatibleLSTMCell"]


class CudnnCompatibleLSTMCell(LSTMCell):
    """LSTMCell without a forget bias."""

    def __init__(self, num_units: int, reuse: bool | None = None) -> None:
        super().__init__(num_units, forget_bias=0.0, reuse=reuse, name="cudnn_compatible_lstm_cell")


class CudnnCompatibleGRUCell(GRUCell):
    """GRUCell whose reset gate acts on the state after its projection, which has a bias of its own."""

    def __init__(self, num_units: int, reuse: bool | None = None, kernel_initializer: Any = None) -> None:
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, inputs_shape: Any) -> None:
        depth, size = input_depth(inputs_shape), self._num_units
        start = self._kernel_initializer

        def biases(name: str, width: int, value: float) -> Any:
            initializer = self._bias_initializer or initializers.constant_initializer(value)
            return self.add_weight(name, [width], initializer=initializer)

        self._gate_kernel = self.add_weight("gates/kernel", [depth + size, 2 * size], initializer=start)
        self._gate_bias = biases("gates/bias", 2 * size, 1.0)
        self._input_kernel = self.add_weight("candidate/input_projection/kernel", [depth, size], initializer=start)
        self._hidden_kernel = self.add_weight("candidate/hidden_projection/kernel", [size, size], initializer=start)
        self._input_bias = biases("candidate/input_projection/bias", size, 0.0)
        self._hidden_bias = biases("candidate/hidden_projection/bias", size, 0.0)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        gates = sigmoid(bias_add(matmul(concat([inputs, state], 1), self._gate_kernel), self._gate_bias))
        reset, update = split(gates, 2, 1)
        candidate = bias_add(matmul(inputs, self._input_kernel), self._input_bias)
        candidate += reset * bias_add(matmul(state, self._hidden_kernel), self._hidden_bias)
        new = (1 - update) * self._activation(candidate) + update * state
        return new, new
