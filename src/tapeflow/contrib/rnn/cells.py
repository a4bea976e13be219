"""Recurrent cells besides those of `tf.nn.rnn_cell`."""

from __future__ import annotations

from tapeflow.compat.v1.nn import embedding_lookup
from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.clip import clip_by_value
from tapeflow.ops.math.reduction import reduce_sum
from tapeflow.ops.math.trigonometric import sigmoid, tanh
from tapeflow.ops.nn.activation import relu
from tapeflow.ops.nn.dropout import dropout_v1 as dropout
from tapeflow.ops.nn.normalization import batch_normalization, moments
from tapeflow.ops.nn.softmax import softmax
from tapeflow.v1 import initializers
from tapeflow.v1.rnn.base import RNNCell
from tapeflow.v1.rnn.cells import GRUCell, LSTMCell, LSTMStateTuple
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope

__all__ = [
    "AttentionCellWrapper", "CoupledInputForgetGateLSTMCell", "EmbeddingWrapper", "GRUBlockCell",
    "GRUBlockCellV2", "HighwayWrapper", "IndRNNCell", "InputProjectionWrapper", "LSTMBlockCell",
    "LayerNormBasicLSTMCell", "NASCell", "OutputProjectionWrapper", "UGRNNCell",
]  # fmt: skip


def _linear(
    inputs, size, bias: bool = True, bias_start: float = 0.0, kernel: str = "kernel", bias_name: str = "bias"
):
    """The inputs, side by side, times a matrix, plus a bias."""
    joined = inputs[0] if len(inputs) == 1 else concat(inputs, 1)
    depth = joined.shape.as_list()[-1]
    product = matmul(joined, get_variable(kernel, [depth, size], dtype=joined.dtype))
    if not bias:
        return product
    start = initializers.constant_initializer(bias_start, dtype=joined.dtype)
    return product + get_variable(bias_name, [size], dtype=joined.dtype, initializer=start)


class _Scoped(RNNCell):
    """A cell that makes its variables where it is called."""

    _default_scope = "cell"

    def __init__(self, _reuse=None, name: str | None = None, dtype: DTypeLike | None = None, **kwargs):
        super().__init__(name=name, dtype=dtype, _reuse=_reuse)
        self._again = _reuse

    def __call__(self, inputs, state, scope=None, **kwargs):
        with variable_scope(scope or self._default_scope, reuse=self._again) as found:
            self._again = self._again or None
            result = self.step(convert_to_tensor(inputs), state)
            if found.reuse is not True and not self._again:
                self._again = None
        return result


def _normed(x, scope, gain, shift):
    """Each row of `x` at mean 0 and variance 1, then scaled and moved by what is learned from `gain` and `shift` on."""
    with variable_scope(scope):
        gamma, beta = (
            get_variable(
                name, [x.shape.as_list()[-1]], dtype=x.dtype, initializer=initializers.constant_initializer(start)
            )
            for name, start in (("gamma", gain), ("beta", shift))
        )
    mean, variance = moments(x, [1], keepdims=True)
    return batch_normalization(x, mean, variance, beta, gamma, 1e-12)


class LayerNormBasicLSTMCell(_Scoped):
    """An LSTM whose gates are normalised for each example, with dropout on what it takes in (Ba et al. 2016)."""

    _default_scope = "layer_norm_basic_lstm_cell"

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
        return _normed(x, scope, self._norm_gain, self._norm_shift)

    def step(self, inputs, state):
        c, h = state
        gates = _linear([inputs, h], 4 * self._num_units, bias=not self._layer_norm)
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


class CoupledInputForgetGateLSTMCell(_Scoped):
    """An LSTM that takes in as much as it forgets (Greff et al. 2015).

    Args:
      use_peepholes: whether the gates see the cell's state too.
      num_proj, proj_clip: the size of a projection of the output, and the largest value of its elements.
      num_unit_shards, num_proj_shards: how many parts matrices are kept in, which changes no result.
      state_is_tuple: whether states are an LSTMStateTuple, else both of its parts side by side.
      layer_norm, norm_gain, norm_shift: whether the gates and the state are normalised, and what that starts from.
    """

    _default_scope = "coupled_input_forget_gate_lstm_cell"

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

    def step(self, inputs, state):
        c, h = state if self._tuple else split(state, [self._num_units, self.output_size], 1)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            gates = _linear([inputs, h], 3 * self._num_units, bias=not self._layer_norm)
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
                h = _linear([h], self._num_proj, bias=False)
            if self._proj_clip is not None:
                h = clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._tuple else concat([c, h], 1)

    def _norm(self, x, scope):
        return _normed(x, scope, self._norm_gain, self._norm_shift) if self._layer_norm else x


class UGRNNCell(_Scoped):
    """One gate between the state and what comes in (Collins et al. 2016)."""

    _default_scope = "ugrnn_cell"

    def __init__(self, num_units, initializer=None, forget_bias: float = 1.0, activation=tanh, reuse=None):
        super().__init__(_reuse=reuse)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._initializer = initializer

    state_size = output_size = property(lambda self: self._num_units)

    def step(self, inputs, state):
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            g, c = split(_linear([inputs, state], 2 * self._num_units), 2, 1)
        gate = sigmoid(g + self._forget_bias)
        new = gate * state + (1 - gate) * self._activation(c)
        return new, new


class IndRNNCell(_Scoped):
    """Each unit sees only itself of the state (Li et al. 2018)."""

    _default_scope = "ind_rnn_cell"

    def __init__(
        self, num_units, activation=None, reuse=None, name: str | None = None, dtype: DTypeLike | None = None
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._activation = num_units, activation or tanh

    state_size = output_size = property(lambda self: self._num_units)

    def step(self, inputs, state):
        size = self._num_units
        depth = inputs.shape.as_list()[-1]
        w = get_variable("kernel_w", [depth, size], dtype=inputs.dtype)
        u = get_variable(
            "kernel_u", [1, size], dtype=inputs.dtype,
            initializer=initializers.random_uniform_initializer(-1, 1, dtype=inputs.dtype),
        )  # fmt: skip
        b = get_variable(
            "bias", [size], dtype=inputs.dtype, initializer=initializers.zeros_initializer(inputs.dtype)
        )
        new = self._activation(matmul(inputs, w) + state * u + b)
        return new, new


class NASCell(_Scoped):
    """The cell that a search found (Zoph & Le 2016)."""

    _default_scope = "nas_cell"

    def __init__(self, num_units, num_proj=None, use_bias: bool = False, reuse=None, **kwargs):
        super().__init__(_reuse=reuse)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    state_size = property(lambda self: LSTMStateTuple(self._num_units, self._num_proj or self._num_units))
    output_size = property(lambda self: self._num_proj or self._num_units)

    def step(self, inputs, state):
        c, h = state
        size, depth = self._num_units, inputs.shape.as_list()[-1]
        width = self._num_proj or size
        hm = matmul(h, get_variable("recurrent_kernel", [width, 8 * size], dtype=inputs.dtype))
        im = matmul(inputs, get_variable("kernel", [depth, 8 * size], dtype=inputs.dtype))
        if self._use_bias:
            im = im + get_variable("bias", [8 * size], initializer=initializers.zeros_initializer())
        x, y = split(im, 8, 1), split(hm, 8, 1)
        l1 = [
            sigmoid(x[0] + y[0]), relu(x[1] + y[1]), sigmoid(x[2] + y[2]), relu(x[3] * y[3]),
            tanh(x[4] + y[4]), sigmoid(x[5] + y[5]), tanh(x[6] + y[6]), sigmoid(x[7] + y[7]),
        ]  # fmt: skip
        l2 = [tanh(l1[0] * l1[1]), tanh(l1[2] + l1[3]), tanh(l1[4] * l1[5]), sigmoid(l1[6] + l1[7])]
        l2[0] = tanh(l2[0] + c)
        c = l2[0] * l2[1]
        h = tanh(c * tanh(l2[2] + l2[3]))
        if self._num_proj is not None:
            h = matmul(h, get_variable("projection_weights", [size, self._num_proj], dtype=inputs.dtype))
        return h, LSTMStateTuple(c, h)


class _Around(_Scoped):
    """A cell around another."""

    def __init__(self, cell, reuse=None):
        super().__init__(_reuse=reuse)
        self._cell = cell

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)

    def zero_state(self, batch_size, dtype: DTypeLike):
        return self._cell.zero_state(batch_size, dtype)


class InputProjectionWrapper(_Around):
    """Projects the inputs before the cell sees them."""

    _default_scope = "input_projection_wrapper"

    def __init__(self, cell, num_proj, activation=None, input_size=None, reuse=None):
        super().__init__(cell, reuse)
        self._num_proj, self._activation = num_proj, activation

    def step(self, inputs, state):
        projected = _linear([inputs], self._num_proj)
        return self._cell(self._activation(projected) if self._activation else projected, state)


class OutputProjectionWrapper(_Around):
    """Projects the outputs of a cell."""

    _default_scope = "output_projection_wrapper"

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(cell, reuse)
        self._size, self._activation = output_size, activation

    output_size = property(lambda self: self._size)

    def step(self, inputs, state):
        output, state = self._cell(inputs, state)
        projected = _linear([output], self._size)
        return (self._activation(projected) if self._activation else projected), state


class EmbeddingWrapper(_Around):
    """Looks up vectors for the ids that come in."""

    _default_scope = "embedding_wrapper"

    def __init__(self, cell, embedding_classes, embedding_size, initializer=None, reuse=None):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}."
            )
        self._classes, self._size, self._initializer = embedding_classes, embedding_size, initializer

    def step(self, inputs, state):
        start = self._initializer or initializers.random_uniform_initializer(-(3**0.5), 3**0.5)
        dtype = nest.flatten(state)[0].dtype
        table = get_variable("embedding", [self._classes, self._size], initializer=start, dtype=dtype)
        return self._cell(embedding_lookup(table, reshape(inputs, [-1])), state)


class HighwayWrapper(_Around):
    """Lets a learned share of the inputs pass beside a cell (Srivastava et al. 2015)."""

    _default_scope = "highway_wrapper"

    def __init__(self, cell, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0):
        super().__init__(cell)
        self._couple, self._bias = couple_carry_transform_gates, carry_bias_init

    def step(self, inputs, state):
        output, state = self._cell(inputs, state)
        depth = inputs.shape.as_list()[-1]
        if output.shape.as_list()[-1] != depth:
            raise ValueError("Expected input and output to have the same size")
        with variable_scope("carry"):
            carry = sigmoid(_linear([inputs], depth, bias_start=self._bias))
        if self._couple:
            transform = 1 - carry
        else:
            with variable_scope("transform"):
                transform = sigmoid(_linear([inputs], depth, bias_start=-self._bias))
        return inputs * carry + output * transform, state


class AttentionCellWrapper(_Around):
    """A cell that attends to its own last states (Cheng et al. 2016)."""

    _default_scope = "attention_cell_wrapper"

    def __init__(
        self, cell, attn_length, attn_size=None, attn_vec_size=None, input_size=None,
        state_is_tuple: bool = True, reuse=None,
    ):  # fmt: skip
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            raise ValueError("state_is_tuple must be True")
        super().__init__(cell, reuse)
        self._length = attn_length
        self._attn_size = attn_size or cell.output_size
        self._vec_size = attn_vec_size or self._attn_size
        self._input_size = input_size

    state_size = property(
        lambda self: (self._cell.state_size, self._attn_size, self._attn_size * self._length)
    )
    output_size = property(lambda self: self._attn_size)

    def zero_state(self, batch_size, dtype: DTypeLike):
        return RNNCell.zero_state(self, batch_size, dtype)

    def step(self, inputs, state):
        inner, attention, past = state
        depth = self._input_size or inputs.shape.as_list()[1]
        with variable_scope("input"):
            mixed = _linear([inputs, attention], depth)
        output, inner = self._cell(mixed, inner)
        flat = nest.flatten(inner)
        query = flat[0] if len(flat) == 1 else concat(flat, 1)
        past = reshape(past, [-1, self._length, self._attn_size])
        with variable_scope("attention"):
            k = get_variable("attn_w", [1, 1, self._attn_size, self._vec_size])
            v = get_variable("attn_v", [self._vec_size])
            keys = reshape(
                matmul(reshape(past, [-1, self._attn_size]), reshape(k, [self._attn_size, self._vec_size])),
                [-1, self._length, self._vec_size],
            )
            y = expand_dims(_linear([query], self._vec_size), 1)
            weights = softmax(reduce_sum(v * tanh(keys + y), 2))
            attention = reduce_sum(expand_dims(weights, -1) * past, 1)
        with variable_scope("output_projection"):
            output = _linear([output, attention], self._attn_size)
        past = concat([past[:, 1:], expand_dims(output, 1)], 1)
        return output, (inner, attention, reshape(past, [-1, self._attn_size * self._length]))


class LSTMBlockCell(LSTMCell):
    """LSTMCell under the name of its fused kernel."""

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, cell_clip=None, use_peephole: bool = False,
        dtype: DTypeLike | None = None, reuse=None, name: str = "lstm_cell",
    ):  # fmt: skip
        super().__init__(
            num_units, use_peepholes=use_peephole, cell_clip=cell_clip, forget_bias=forget_bias,
            reuse=reuse, name=name, dtype=dtype,
        )  # fmt: skip


class GRUBlockCellV2(GRUCell):
    """GRUCell under the name of its fused kernel."""

    def __init__(self, num_units=None, cell_size=None, reuse=None, name: str = "gru_cell"):
        super().__init__(num_units if cell_size is None else cell_size, reuse=reuse, name=name)


GRUBlockCell = GRUBlockCellV2
