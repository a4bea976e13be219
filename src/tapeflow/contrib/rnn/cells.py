"""Small cells: gated, independent and minimal recurrent units."""

from __future__ import annotations

from tapeflow.contrib.rnn.gates import linear, lstm_step
from tapeflow.core.annotations import DTypeLike
from tapeflow.keras import activations
from tapeflow.keras import initializers as keras_initializers
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.activation import relu
from tapeflow.ops.nn.bias import bias_add
from tapeflow.v1 import initializers
from tapeflow.v1.rnn.base import LayerRNNCell, RNNCell, input_depth
from tapeflow.v1.rnn.cells import LSTMStateTuple
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope

__all__ = [
    "CFNCell", "IndRNNCell", "IndyGRUCell", "IndyLSTMCell", "IntersectionRNNCell", "MinimalRNNCell", "SRUCell",
    "UGRNNCell",
]  # fmt: skip


class UGRNNCell(RNNCell):
    """One gate between the state and what comes in (Collins et al. 2016)."""

    def __init__(self, num_units, initializer=None, forget_bias: float = 1.0, activation=tanh, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._initializer = initializer

    state_size = output_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            g, c = split(linear([inputs, state], 2 * self._num_units), 2, 1)
        gate = sigmoid(g + self._forget_bias)
        new = gate * state + (1 - gate) * self._activation(c)
        return new, new


class IntersectionRNNCell(RNNCell):
    """A gate for the state and one for the output, which passes on the input (Collins et al. 2016).

    Raises ValueError, when called, for inputs of another width than `num_units` without `num_in_proj`, which
    projects them.
    """

    def __init__(
        self, num_units, num_in_proj=None, initializer=None, forget_bias: float = 1.0, y_activation=relu, reuse=None
    ):
        super().__init__(_reuse=reuse)
        self._num_units, self._num_in_proj, self._initializer = num_units, num_in_proj, initializer
        self._forget_bias, self._y_activation = forget_bias, y_activation

    state_size = output_size = property(lambda self: self._num_units)

    def call(self, inputs, state):
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            if input_depth(inputs.shape.with_rank(2)) != self._num_units:
                if not self._num_in_proj:
                    raise ValueError(
                        "Must have input size == output size for Intersection RNN. To fix, num_in_proj should be set "
                        "to num_units at cell init."
                    )
                with variable_scope("in_projection"):
                    inputs = linear([inputs], self._num_units)
            gate_h, h, gate_y, y = split(linear([inputs, state], 4 * self._num_units), 4, 1)
        gate_h, gate_y = sigmoid(gate_h + self._forget_bias), sigmoid(gate_y + self._forget_bias)
        return gate_y * inputs + (1 - gate_y) * self._y_activation(y), gate_h * state + (1 - gate_h) * tanh(h)


class _Unit(LayerRNNCell):
    """What cells share that make their weights in `build`, for inputs [batch, depth]."""

    def __init__(
        self, num_units, activation=None, reuse=None, name: str | None = None, dtype: DTypeLike | None = None, **kwargs
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._activation = num_units, activation or tanh

    state_size = output_size = property(lambda self: self._num_units)

    def build(self, inputs_shape):
        self._build(input_depth(inputs_shape))
        self.built = True

    def _own(self, name: str, size):
        """Weights by which each unit sees its own state, [1, size] in [-1, 1)."""
        start = initializers.random_uniform_initializer(-1, 1, dtype=self.variable_dtype)
        return self.add_weight(name, [1, size], initializer=start)

    def _biases(self, name: str, size, initializer=None):
        return self.add_weight(name, [size], initializer=initializer or initializers.zeros_initializer())


class IndRNNCell(_Unit):
    """Each unit sees only itself of the state (Li et al. 2018)."""

    def _build(self, depth):
        self._kernel = self.add_weight("kernel_w", [depth, self._num_units])
        self._recurrent = self._own("kernel_u", self._num_units)
        self._bias = self._biases("bias", self._num_units)

    def call(self, inputs, state):
        new = self._activation(bias_add(matmul(inputs, self._kernel) + state * self._recurrent, self._bias))
        return new, new


class _Indy(_Unit):
    """A unit that sees only itself of the state, with initializers of kernels and biases."""

    def __init__(
        self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None,
        name: str | None = None, dtype: DTypeLike | None = None,
    ):  # fmt: skip
        super().__init__(num_units, activation, reuse, name, dtype)
        self._kernel_start, self._bias_start = kernel_initializer, bias_initializer

    def _kernels(self, name: str, depth, size):
        return self.add_weight(name, [depth, size], initializer=self._kernel_start)


class IndyGRUCell(_Indy):
    """A GRU each of whose units sees only itself of the state (Gonnet & Deselaers 2019)."""

    def _build(self, depth):
        size = self._num_units
        self._gate_kernel = self._kernels("gates/kernel_w", depth, 2 * size)
        self._gate_recurrent = self._own("gates/kernel_u", 2 * size)
        start = self._bias_start or initializers.constant_initializer(1.0)
        self._gate_bias = self._biases("gates/bias", 2 * size, start)
        self._kernel = self._kernels("candidate/kernel", depth, size)
        self._recurrent = self._own("candidate/kernel_u", size)
        self._bias = self._biases("candidate/bias", size, self._bias_start)

    def call(self, inputs, state):
        gates = matmul(inputs, self._gate_kernel) + tile(state, [1, 2]) * self._gate_recurrent
        reset, update = split(sigmoid(bias_add(gates, self._gate_bias)), 2, 1)
        candidate = matmul(inputs, self._kernel) + reset * state * self._recurrent
        new = update * state + (1 - update) * self._activation(bias_add(candidate, self._bias))
        return new, new


class IndyLSTMCell(_Indy):
    """An LSTM each of whose units sees only itself of the output (Gonnet & Deselaers 2019)."""

    def __init__(
        self, num_units, forget_bias: float = 1.0, activation=None, reuse=None, kernel_initializer=None,
        bias_initializer=None, name: str | None = None, dtype: DTypeLike | None = None,
    ):  # fmt: skip
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype)
        self._forget_bias = forget_bias

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))

    def _build(self, depth):
        self._kernel = self._kernels("kernel_w", depth, 4 * self._num_units)
        self._recurrent = self._own("kernel_u", 4 * self._num_units)
        self._bias = self._biases("bias", 4 * self._num_units, self._bias_start)

    def call(self, inputs, state):
        c, h = state
        gates = bias_add(matmul(inputs, self._kernel) + tile(h, [1, 4]) * self._recurrent, self._bias)
        c, h = lstm_step(split(gates, 4, 1), c, self._forget_bias, self._activation)
        return h, LSTMStateTuple(c, h)


class SRUCell(_Unit):
    """A unit whose gates see the inputs alone (Lei et al. 2017)."""

    def _build(self, depth):
        self._kernel = self.add_weight("kernel", [depth, 4 * self._num_units])
        self._bias = self._biases("bias", 2 * self._num_units)

    def call(self, inputs, state):
        candidate, forget, reset, skipped = split(matmul(inputs, self._kernel), 4, 1)
        forget, reset = split(sigmoid(bias_add(concat([forget, reset], 1), self._bias)), 2, 1)
        c = forget * state + (1 - forget) * candidate
        return reset * self._activation(c) + (1 - reset) * skipped, c


class _KerasUnit(_Unit):
    """A unit with the arguments of a Keras layer: activations and initializers by name."""

    def __init__(
        self, units, activation="tanh", kernel_initializer="glorot_uniform", bias_initializer="ones",
        name: str | None = None, dtype: DTypeLike | None = None, **kwargs,
    ):  # fmt: skip
        super().__init__(units, activations.get(activation), kwargs.pop("_reuse", None), name, dtype, **kwargs)
        self._kernel_start = keras_initializers.get(kernel_initializer)
        self._bias_start = keras_initializers.get(bias_initializer)


class MinimalRNNCell(_KerasUnit):
    """One gate between the state and the activated inputs (Chen 2017)."""

    def _build(self, depth):
        size = self._num_units
        self._kernel = self.add_weight("kernel", [depth + 2 * size, size], initializer=self._kernel_start)
        self._bias = self._biases("bias", size, self._bias_start)

    def call(self, inputs, state):
        forward, gate = split(self._kernel, [input_depth(inputs.shape), 2 * self._num_units], 0)
        seen = self._activation(matmul(inputs, forward))
        update = sigmoid(bias_add(matmul(concat([seen, state], 1), gate), self._bias))
        new = update * state + (1 - update) * seen
        return new, new


class CFNCell(_KerasUnit):
    """A unit without chaos of its own: two gates, and no mixing of the state (Laurent & von Brecht 2017)."""

    def _build(self, depth):
        size = self._num_units
        self._kernel = self.add_weight("kernel", [depth, 3 * size], initializer=self._kernel_start)
        self._recurrent = self.add_weight("recurrent_kernel", [size, 2 * size], initializer=self._kernel_start)
        self._bias = self._biases("bias", 2 * size, self._bias_start)

    def call(self, inputs, state):
        seen, projection = split(self._kernel, [2 * self._num_units, self._num_units], 1)
        gates = bias_add(matmul(state, self._recurrent) + matmul(inputs, seen), self._bias)
        horizontal, vertical = split(sigmoid(gates), 2, 1)
        new = horizontal * self._activation(state) + (1 - vertical) * self._activation(matmul(inputs, projection))
        return new, new
