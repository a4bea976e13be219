"""Variants of the LSTM with one state and one output for each unit."""

from __future__ import annotations

from tapeflow.contrib.rnn.gates import linear, lstm_step, normed, peephole
from tapeflow.core.annotations import ShapeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import float32
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.rows import stop_gradient
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.division import floormod
from tapeflow.ops.math.elementwise import exp, log
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.activation import relu
from tapeflow.ops.nn.bias import bias_add
from tapeflow.ops.nn.dropout import dropout_v1 as dropout
from tapeflow.ops.nn.normalization import l2_normalize
from tapeflow.ops.random.functions import uniform as random_uniform
from tapeflow.v1 import initializers
from tapeflow.v1.rnn.base import LayerRNNCell, RNNCell, input_depth
from tapeflow.v1.rnn.cells import LSTMStateTuple
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope

__all__ = [
    "CoupledInputForgetGateLSTMCell", "GLSTMCell",
    "LayerNormBasicLSTMCell", "LayerNormLSTMCell", "NASCell", "PhasedLSTMCell", "WeightNormLSTMCell",
]  # fmt: skip

_GATES = ("input", "transform", "forget", "output")


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM whose gates are normalised for each example, with dropout on what it takes in (Ba et al. 2016)."""

    def __init__(
        self, num_units, forget_bias: float = 1.0, input_size=None, activation=tanh, layer_norm: bool = True,
        norm_gain: float = 1.0, norm_shift: float = 0.0, dropout_keep_prob: float = 1.0,
        dropout_prob_seed=None, reuse=None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def _norm(self, x, scope):
        return normed(x, scope, self._norm_gain, self._norm_shift)

    def call(self, inputs, state):
        c, h = state
        gates = linear([inputs, h], 4 * self._num_units, bias=False)
        if not self._layer_norm:
            gates = bias_add(gates, get_variable("bias", [4 * self._num_units], dtype=gates.dtype))
        i, j, f, o = split(gates, 4, 1)
        if self._layer_norm:
            i, j = self._norm(i, "input"), self._norm(j, "transform")
            f, o = self._norm(f, "forget"), self._norm(o, "output")
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = dropout(g, self._keep_prob, seed=self._seed)
        c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * g
        if self._layer_norm:
            c = self._norm(c, "state")
        h = self._activation(c) * sigmoid(o)
        return h, LSTMStateTuple(c, h)


class CoupledInputForgetGateLSTMCell(RNNCell):
    """An LSTM that takes in as much as it forgets (Greff et al. 2015).

    Args:
      use_peepholes: whether the gates see the cell's state too.
      num_proj, proj_clip: the size of a projection of the output, and the largest value of its elements.
      num_unit_shards, num_proj_shards: how many parts matrices are kept in, which changes no result.
      state_is_tuple: whether states are an LSTMStateTuple, else both of its parts side by side.
      layer_norm, norm_gain, norm_shift: whether the gates and the state are normalised, and what that starts from.
    """

    def __init__(
        self, num_units, use_peepholes: bool = False, initializer=None, num_proj=None, proj_clip=None,
        num_unit_shards: int = 1, num_proj_shards: int = 1, forget_bias: float = 1.0,
        state_is_tuple: bool = True, activation=tanh, reuse=None, layer_norm: bool = False,
        norm_gain: float = 1.0, norm_shift: float = 0.0,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._initializer, self._peepholes, self._tuple = initializer, use_peepholes, state_is_tuple
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    output_size = property(lambda self: self._num_units if self._num_proj is None else self._num_proj)

    @property
    def state_size(self):
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._tuple else sum(sizes)

    def call(self, inputs, state):
        c, h = state if self._tuple else split(state, [self._num_units, self.output_size], 1)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            gates = linear([inputs, h], 3 * self._num_units, bias=not self._layer_norm)
            see_f, see_o = (
                get_variable(name, [self._num_units], dtype=gates.dtype) if self._peepholes else None
                for name in ("w_f_diag", "w_o_diag")
            )
        j, f, o = split(gates, 3, 1)
        j, f, o = self._norm(j, "transform"), self._norm(f, "forget"), self._norm(o, "output")
        forget = sigmoid(f + self._forget_bias if see_f is None else f + self._forget_bias + see_f * c)
        c = self._norm(forget * c + (1 - forget) * self._activation(j), "state")
        h = sigmoid(o if see_o is None else o + see_o * c) * self._activation(c)
        if self._num_proj is not None:
            with variable_scope("projection", initializer=self._initializer):
                h = linear([h], self._num_proj, bias=False)
            if self._proj_clip is not None:
                h = clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._tuple else concat([c, h], 1)

    def _norm(self, x, scope):
        return normed(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x


class _ProjectedLSTM(RNNCell):
    """What cells share whose output may be projected.

    Args:
      num_units: the width of the state.
      use_peepholes: whether the gates see the state too.
      cell_clip: the largest absolute value of the state.
      initializer: of the weights, by default that of the scope.
      num_proj, proj_clip: the width of a projection of the output, and the largest absolute value of its elements.
      forget_bias: what is added to the forget gate.
      activation: of the candidate and of the state, by default tanh.
      reuse: whether the variables of the scope are used again.
    """

    def __init__(
        self, num_units, use_peepholes: bool = False, cell_clip=None, initializer=None, num_proj=None,
        proj_clip=None, forget_bias: float = 1.0, activation=None, reuse=None, name: str | None = None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse, name=name)
        self._num_units, self._peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_proj, self._proj_clip = initializer, num_proj, proj_clip
        self._forget_bias, self._activation = forget_bias, activation or tanh

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_proj or self._num_units))
    output_size = property(lambda self: self._num_proj or self._num_units)

    def _step(self, gates, c, norm=None):
        """(c, output before the projection), with the peepholes where the cell has any."""
        seen = None
        if self._peepholes:
            f, i, o = (peephole(f"w_{gate}_diag", self._num_units, c) for gate in "fio")
            seen = i, f, o
        return lstm_step(gates, c, self._forget_bias, self._activation, seen, self._cell_clip, norm)

    def _clipped(self, h):
        return h if self._proj_clip is None else clip_by_value(h, -self._proj_clip, self._proj_clip)


class LayerNormLSTMCell(_ProjectedLSTM):
    """LSTMCell whose gates and state may be normalized for each example (Ba et al. 2016).

    Args are those of LSTMCell, and `layer_norm`, with `norm_gain` and `norm_shift`, what gamma and beta start from.
    """

    def __init__(
        self, num_units, use_peepholes: bool = False, cell_clip=None, initializer=None, num_proj=None,
        proj_clip=None, forget_bias: float = 1.0, activation=None, layer_norm: bool = False,
        norm_gain: float = 1.0, norm_shift: float = 0.0, reuse=None,
    ):  # fmt: skip
        super().__init__(
            num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias, activation, reuse
        )
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    def _norm(self, x, scope):
        return normed(x, scope, self._norm_gain, self._norm_shift)

    def call(self, inputs, state):
        c, h = state
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            gates = linear([inputs, h], 4 * self._num_units, bias=not self._layer_norm)
            if self._layer_norm:  # which takes the mean away, and so any bias; the variable is there all the same
                start = initializers.zeros_initializer()
                get_variable("bias", [4 * self._num_units], dtype=gates.dtype, initializer=start)
            parts = split(gates, 4, 1)
            if self._layer_norm:
                parts = [self._norm(x, scope) for x, scope in zip(parts, _GATES, strict=True)]
            c, h = self._step(parts, c, (lambda x: self._norm(x, "state")) if self._layer_norm else None)
            if self._num_proj is not None:
                with variable_scope("projection"):
                    h = self._clipped(linear([h], self._num_proj, bias=False))
        return h, LSTMStateTuple(c, h)


class WeightNormLSTMCell(_ProjectedLSTM):
    """LSTMCell whose matrices have columns of learned lengths (Salimans & Kingma 2016).

    Args are those of LSTMCell, and `norm`, whether the lengths are learned apart from the directions.
    """

    def __init__(
        self, num_units, norm: bool = True, use_peepholes: bool = False, cell_clip=None, initializer=None,
        num_proj=None, proj_clip=None, forget_bias: float = 1, activation=None, reuse=None,
    ):  # fmt: skip
        super().__init__(
            num_units, use_peepholes, cell_clip, initializer, num_proj, proj_clip, forget_bias, activation, reuse,
            "wn_lstm_cell",
        )  # fmt: skip
        self._norm = norm

    def _linear(self, parts, size, bias: bool):
        if not self._norm:
            return linear(parts, size, bias)
        depths = [input_depth(x.shape) for x in parts]
        kernel = get_variable("kernel", [sum(depths), size], dtype=parts[0].dtype)
        columns = [
            l2_normalize(rows, axis=0) * get_variable(f"norm_{i}", [size], dtype=kernel.dtype)
            for i, rows in enumerate(split(kernel, depths, 0))
        ]
        product = matmul(concat(parts, 1), concat(columns, 0))
        if not bias:
            return product
        return product + get_variable(
            "bias", [size], dtype=kernel.dtype, initializer=initializers.zeros_initializer()
        )

    def call(self, inputs, state):
        c, h = state
        with variable_scope("wn_lstm_cell", initializer=self._initializer):
            c, h = self._step(split(self._linear([inputs, h], 4 * self._num_units, bias=True), 4, 1), c)
            if self._num_proj is not None:
                with variable_scope("projection"):
                    h = self._clipped(self._linear([h], self._num_proj, bias=False))
        return h, LSTMStateTuple(c, h)


class GLSTMCell(_ProjectedLSTM):
    """An LSTM whose inputs and outputs are parted into groups that do not see one another (Kuchaiev & Ginsburg 2017).

    Raises ValueError where `number_of_groups` does not divide `num_units`, `num_proj` and the inputs' width.
    """

    def __init__(
        self, num_units, initializer=None, num_proj=None, number_of_groups: int = 1, forget_bias: float = 1.0,
        activation=tanh, reuse=None,
    ):  # fmt: skip
        super().__init__(
            num_units, initializer=initializer, num_proj=num_proj, forget_bias=forget_bias, activation=activation,
            reuse=reuse,
        )  # fmt: skip
        if num_units % number_of_groups:
            raise ValueError("num_units must be divisible by number_of_groups")
        if num_proj and num_proj % number_of_groups:
            raise ValueError("num_proj must be divisible by number_of_groups")
        self._groups = number_of_groups

    def call(self, inputs, state):
        c, h = state
        depth = inputs.shape.as_list()[1]
        if depth is None:
            raise ValueError("input size must be statically known")
        if depth % self._groups:
            raise ValueError(f"input size ({depth}) must be divisible by number_of_groups ({self._groups})")
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            found = []
            for i, parts in enumerate(zip(split(inputs, self._groups, 1), split(h, self._groups, 1), strict=True)):
                with variable_scope(f"group{i}"):
                    found.append(split(linear(parts, 4 * self._num_units // self._groups, bias=False), 4, 1))
            gates = [
                bias_add(concat(gate, 1), get_variable(
                    f"bias_{name}", [self._num_units], dtype=c.dtype, initializer=initializers.zeros_initializer()
                ))
                for name, gate in zip("ijfo", zip(*found, strict=True), strict=True)
            ]  # fmt: skip
            i, j, f, o = gates
            c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)
            h = sigmoid(o) * self._activation(c)
            if self._num_proj is not None:
                with variable_scope("projection"):
                    h = linear([h], self._num_proj, bias=False)
        return h, LSTMStateTuple(c, h)


class PhasedLSTMCell(RNNCell):
    """An LSTM that is open for a part of a learned period only (Neil et al. 2016); inputs are (time, features).

    Args:
      leak: what passes while it is closed; ratio_on: the open part of the period, learned if `trainable_ratio_on`.
      period_init_min, period_init_max: what the periods start from, evenly in their logarithms.
    """

    def __init__(
        self, num_units, use_peepholes: bool = False, leak: float = 0.001, ratio_on: float = 0.1,
        trainable_ratio_on: bool = True, period_init_min: float = 1.0, period_init_max: float = 1000.0, reuse=None,
    ):  # fmt: skip
        super().__init__(_reuse=reuse)
        self._num_units, self._peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._periods = period_init_min, period_init_max

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_units))
    output_size = property(lambda self: self._num_units)

    def _first_periods(self, shape: ShapeLike, dtype=float32, partition_info=None):
        low, high = (log(convert_to_tensor(x, dtype)) for x in self._periods)
        return exp(random_uniform(shape, low, high, dtype))

    def _openness(self, time):
        """How far each unit is open at `time`, [batch, 1]: [batch, units]."""
        size = [self._num_units]
        period = get_variable("period", size, initializer=self._first_periods)
        phase = get_variable(
            "phase", size, initializer=initializers.random_uniform_initializer(0.0, period.initial_value)
        )
        ratio_on = get_variable(
            "ratio_on", size, initializer=initializers.constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )  # fmt: skip
        length = cast(period, time.dtype)
        since = time - cast(phase, time.dtype)
        # The remainder, whose gradient is that of the time itself.
        since = stop_gradient(floormod(since, length) - since) + since
        cycle = cast(since / length, float32)
        rising = 2 * cycle / ratio_on
        k = where(cycle < ratio_on, 2 - rising, self._leak * cycle)
        return where(cycle < 0.5 * ratio_on, rising, k)

    def call(self, inputs, state):
        c_before, h_before = state
        time, x = inputs
        seen = [x, h_before, c_before] if self._peepholes else [x, h_before]
        with variable_scope("mask_gates"):
            take, keep = split(sigmoid(linear(seen, 2 * self._num_units)), 2, 1)
        with variable_scope("new_input"):
            new = tanh(linear([x, h_before], self._num_units))
        c = keep * c_before + take * new
        with variable_scope("output_gate"):
            out = sigmoid(linear([x, h_before, c] if self._peepholes else [x, h_before], self._num_units))
        k = self._openness(time)
        h = k * tanh(c) * out + (1 - k) * h_before
        c = k * c + (1 - k) * c_before
        return h, LSTMStateTuple(c, h)


class NASCell(LayerRNNCell):
    """The cell that a search found (Zoph & Le 2016); `num_proj` projects its output, `use_bias` adds biases."""

    def __init__(self, num_units, num_proj=None, use_bias: bool = False, reuse=None, **kwargs):
        super().__init__(_reuse=reuse, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_proj or self._num_units))
    output_size = property(lambda self: self._num_proj or self._num_units)

    def build(self, inputs_shape):
        depth, size = input_depth(inputs_shape), self._num_units
        self._recurrent = self.add_weight("recurrent_kernel", [self.output_size, 8 * size])
        self._kernel = self.add_weight("kernel", [depth, 8 * size])
        if self._use_bias:
            self._bias = self.add_weight("bias", [8 * size], initializer=initializers.zeros_initializer())
        if self._num_proj is not None:
            self._projection = self.add_weight("projection_weights", [size, self._num_proj])
        self.built = True

    def call(self, inputs, state):
        c, h = state
        im = matmul(inputs, self._kernel)
        if self._use_bias:
            im = bias_add(im, self._bias)
        x, y = split(im, 8, 1), split(matmul(h, self._recurrent), 8, 1)
        l1 = [
            sigmoid(x[0] + y[0]), relu(x[1] + y[1]), sigmoid(x[2] + y[2]), relu(x[3] * y[3]),
            tanh(x[4] + y[4]), sigmoid(x[5] + y[5]), tanh(x[6] + y[6]), sigmoid(x[7] + y[7]),
        ]  # fmt: skip
        l2 = [tanh(l1[0] * l1[1]), tanh(l1[2] + l1[3]), tanh(l1[4] * l1[5]), sigmoid(l1[6] + l1[7])]
        c = tanh(l2[0] + c) * l2[1]
        h = tanh(c * tanh(l2[2] + l2[3]))
        if self._num_proj is not None:
            h = matmul(h, self._projection)
        return h, LSTMStateTuple(c, h)
