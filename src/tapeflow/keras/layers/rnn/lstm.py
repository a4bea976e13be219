"""LSTM: long short-term memory (Hochreiter and Schmidhuber, 1997)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Configurable, Tensor, TensorLike
from tapeflow.keras import activations
from tapeflow.keras.layers.rnn.base import SETTINGS, CellLayer, of_cell
from tapeflow.keras.layers.rnn.cells import GatedCell
from tapeflow.ops.array.construction import ones, zeros
from tapeflow.ops.array.joining import concat, split
from tapeflow.ops.linalg.matmul import matmul


class LSTMCell(GatedCell):
    """One step of an LSTM; states [h, c]; gates in the order input, forget, candidate, output.

    Call it with inputs `(batch, features)` and the list of states; it gives h and the new list.

    Args:
      units: the number of outputs, and of the numbers in each state.
      activation: of the candidate and of the cell's state, a function or its name.
      recurrent_activation: of the gates, a function or its name.
      use_bias: whether a trained bias is added.
      kernel_initializer, recurrent_initializer, bias_initializer: first values of the weights; initializers or their
        names.
      unit_forget_bias: add 1 to the first bias of the forget gate.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights, added to the model's
        `losses`; regularizers, names or None.
      kernel_constraint, recurrent_constraint, bias_constraint: functions applied to the weights after each update;
        constraints, names or None.
      dropout: the part of the inputs set to 0 while training, from 0 to 1; the same inputs at all steps.
      recurrent_dropout: the part of the state set to 0 while training, from 0 to 1.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    gates = 4

    def __init__(
        self, units: int, activation: str = "tanh", recurrent_activation: str = "sigmoid", use_bias: bool = True,
        kernel_initializer: Configurable = "glorot_uniform", recurrent_initializer: Configurable = "orthogonal",
        bias_initializer: Configurable = "zeros", unit_forget_bias: bool = True,
        kernel_regularizer: Configurable | None = None, recurrent_regularizer: Configurable | None = None,
        bias_regularizer: Configurable | None = None, kernel_constraint: Configurable | None = None,
        recurrent_constraint: Configurable | None = None, bias_constraint: Configurable | None = None,
        dropout: float = 0.0, recurrent_dropout: float = 0.0, seed: int | None = None, **kwargs,
    ):
        self._configure(units, activation, use_bias, dropout, recurrent_dropout, locals())
        self.recurrent_activation = activations.get(recurrent_activation)
        self.unit_forget_bias = unit_forget_bias

    @property
    def state_size(self):
        """The sizes of h and c."""
        return [self.units, self.units]

    def build(self, input_shape):
        initializer = None
        if self.unit_forget_bias:
            given, units = self.bias_initializer, self.units

            def initializer(shape: Sequence[Any], dtype=None, **kwargs):
                first = given((units,), dtype=dtype)
                return concat([first, ones((units,), dtype), given((units * 2,), dtype=dtype)], 0)

        self._make_weights(input_shape, bias_initializer=initializer)

    def project(self, inputs: TensorLike, training: bool | Tensor | None, time_axis: int | None = None):
        """The part of the step that needs no states, for one time or a sequence."""
        return self._project_by(inputs, self.kernel, self.bias, training, time_axis)

    def step(self, projected: TensorLike, states: Sequence[Tensor], training: bool | Tensor | None):
        """The rest of the step."""
        h, c = states
        z = projected + self._recurrent(h, training)
        c, o = self._compute_carry_and_output_fused(split(z, 4, axis=1), c)
        h = o * self.activation(c)
        return h, [h, c]

    # Cells that extend this one override these, or call them.

    def _compute_carry_and_output_fused(self, z: Sequence[Tensor], c_tm1: Tensor):
        """The next state and the output gate, of the sums for the four gates."""
        i, f, candidate, o = z
        gate = self.recurrent_activation
        return gate(f) * c_tm1 + gate(i) * self.activation(candidate), gate(o)

    def _compute_carry_and_output(self, x: Sequence[Tensor], h_tm1: Sequence[Tensor], c_tm1: Tensor):
        """The next state and the output gate, of what inputs and output give to each of the four gates."""
        kernels = split(self.recurrent_kernel, 4, axis=1)
        sums = [given + matmul(h, kernel) for given, h, kernel in zip(x, h_tm1, kernels)]
        return self._compute_carry_and_output_fused(sums, c_tm1)

    def call(self, inputs: Tensor, states: Sequence[Tensor], training: bool | Tensor | None = None):
        return self.step(self.project(inputs, training), states, training)

    def get_config(self):
        return {
            **super().get_config(),
            "recurrent_activation": activations.serialize(self.recurrent_activation),
            "unit_forget_bias": self.unit_forget_bias,
            "implementation": self.implementation,
        }


@of_cell(f"{SETTINGS} recurrent_activation unit_forget_bias")
class LSTM(CellLayer):
    """Long short-term memory: a recurrent layer with gates, an `LSTMCell` over the steps of sequences.

    c' = f * c + i * activation(z), h' = o * activation(c'), with the gates i, f and o computed from input and state
    h. Steps that a mask leaves out keep the state.

    Input shape: `(batch, steps, features)`. The initial state, if given at the call, is [h, c], each `(batch,
      units)`.
    Output shape: `(batch, units)`, with `return_sequences` `(batch, steps, units)`; with `return_state` then h and c.

    Args:
      units: the number of outputs of each step.
      activation: of the candidate and of the cell's state, a function or its name.
      recurrent_activation: of the gates, a function or its name.
      use_bias: whether a trained bias is added.
      kernel_initializer, recurrent_initializer, bias_initializer: first values of the weights; initializers or their
        names.
      unit_forget_bias: add 1 to the first bias of the forget gate, so that the cell starts by remembering.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights, added to the model's
        `losses`; regularizers, names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, recurrent_constraint, bias_constraint: functions applied to the weights after each update;
        constraints, names or None.
      dropout: the part of the inputs set to 0 while training, from 0 to 1; the same inputs at all steps.
      recurrent_dropout: the part of the state set to 0 while training, from 0 to 1.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      return_sequences: give the outputs of all steps, not only of the last.
      return_state: give the final states after the output.
      go_backwards: run from the last step to the first.
      stateful: begin with the states in which the last batch ended; the batch size must be fixed.
      unroll: run without a loop even in graphs, which is faster for short sequences and takes more memory.
      use_cudnn: accepted as in Keras 3; the implementation is chosen by what the layer computes.
      **kwargs: `time_major`, `zero_output_for_mask` and `implementation` as in Keras 2, and the arguments of `Layer`.

    >>> layer = tf.keras.layers.LSTM(4, return_sequences=True, return_state=True)
    >>> y, h, c = layer(tf.zeros([2, 3, 5]))
    >>> print(y.shape, h.shape, c.shape)
    (2, 3, 4) (2, 4) (2, 4)
    """

    _cell_class = LSTMCell

    def __init__(
        self, units: int, activation: str = "tanh", recurrent_activation: str = "sigmoid", use_bias: bool = True,
        kernel_initializer: Configurable = "glorot_uniform", recurrent_initializer: Configurable = "orthogonal",
        bias_initializer: Configurable = "zeros", unit_forget_bias: bool = True,
        kernel_regularizer: Configurable | None = None, recurrent_regularizer: Configurable | None = None,
        bias_regularizer: Configurable | None = None, activity_regularizer: Configurable | None = None,
        kernel_constraint: Configurable | None = None, recurrent_constraint: Configurable | None = None,
        bias_constraint: Configurable | None = None, dropout: float = 0.0, recurrent_dropout: float = 0.0,
        seed: int | None = None, return_sequences: bool = False, return_state: bool = False,
        go_backwards: bool = False, stateful: bool = False, unroll: bool = False, use_cudnn: str = "auto", **kwargs,
    ):
        self._make(locals())


@of_cell(f"{SETTINGS} unit_forget_bias")
class CuDNNLSTM(CellLayer):
    """LSTM with the arguments of the layer of 1.x that ran on CuDNN; two biases are kept as CuDNN does."""

    _cell_class = LSTMCell
    _has_unroll = False

    def __init__(
        self, units: int, kernel_initializer: str = "glorot_uniform", recurrent_initializer: str = "orthogonal",
        bias_initializer: str = "zeros", unit_forget_bias: bool = True,
        kernel_regularizer: Configurable | None = None, recurrent_regularizer: Configurable | None = None,
        bias_regularizer: Configurable | None = None, activity_regularizer: Configurable | None = None,
        kernel_constraint: Configurable | None = None, recurrent_constraint: Configurable | None = None,
        bias_constraint: Configurable | None = None, return_sequences: bool = False, return_state: bool = False,
        go_backwards: bool = False, stateful: bool = False, **kwargs,
    ):
        self._make(locals(), cell=_CuDNNLSTMCell)


class _CuDNNLSTMCell(LSTMCell):
    """An LSTMCell whose bias has the 8 parts of CuDNN's: of inputs and of states."""

    def build(self, input_shape):
        units, given = self.units, self.bias_initializer

        def initializer(shape: Sequence[Any], dtype=None, **kwargs):
            if not self.unit_forget_bias:
                return given(shape, dtype=dtype)
            rest = given((units * 5,), dtype=dtype)
            first = given((units,), dtype=dtype)
            one = ones((units,), dtype)
            return concat([first, one, rest, zeros((units,), dtype)], 0)

        self._make_weights(input_shape, (units * 8,), initializer)

    def project(self, inputs, training, time_axis=None):
        of_inputs, of_states = split(self.bias, 2)
        return self._project_by(inputs, self.kernel, of_inputs + of_states, training, time_axis)
