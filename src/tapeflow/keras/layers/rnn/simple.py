"""SimpleRNN: the output of a step is fed back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Configurable, Tensor, TensorLike
from tapeflow.core.structures import nest
from tapeflow.keras.layers.output_activation import activate
from tapeflow.keras.layers.rnn.base import SETTINGS, CellLayer, of_cell
from tapeflow.keras.layers.rnn.cells import GatedCell, first_state


class SimpleRNNCell(GatedCell):
    """One step of a SimpleRNN: activation(inputs @ kernel + state @ recurrent_kernel + bias).

    Args:
      units: the number of outputs, which are the state.
      activation: a function or its name, None for none.
      use_bias: whether a trained bias is added.
      kernel_initializer, recurrent_initializer, bias_initializer: first values of the weights; initializers or their
        names.
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

    def __init__(
        self, units, activation="tanh", use_bias: bool = True, kernel_initializer: str = "glorot_uniform",
        recurrent_initializer: str = "orthogonal", bias_initializer: str = "zeros",
        kernel_regularizer: Configurable | None = None, recurrent_regularizer: Configurable | None = None,
        bias_regularizer: Configurable | None = None, kernel_constraint: Configurable | None = None,
        recurrent_constraint: Configurable | None = None, bias_constraint: Configurable | None = None, dropout=0.0,
        recurrent_dropout=0.0, seed: int | None = None, **kwargs,
    ):
        self._configure(units, activation, use_bias, dropout, recurrent_dropout, locals(), noise_first=True)

    @property
    def state_size(self):
        """The size of the state."""
        return self.units

    def build(self, input_shape: Sequence[Any]):
        self._make_weights(input_shape)

    def project(self, inputs: TensorLike, training: bool | Tensor | None, time_axis: int | None = None):
        """The part of the step that needs no states, for one time or a sequence."""
        return self._project_by(inputs, self.kernel, self.bias, training, time_axis)

    def step(self, projected: TensorLike, states: Sequence[Tensor], training: bool | Tensor | None):
        """The rest of the step."""
        output = projected + self._recurrent(first_state(states), training)
        output = activate(self.activation, output)
        return output, [output] if nest.is_nested(states) else output

    def call(self, inputs: Tensor, states: Sequence[Tensor], training: bool | Tensor | None = None):
        return self.step(self.project(inputs, training), states, training)


@of_cell(SETTINGS)
class SimpleRNN(CellLayer):
    """A recurrent layer without gates, a `SimpleRNNCell` over the steps of sequences.

    Input shape: `(batch, steps, features)`. The initial state, if given at the call, is `(batch, units)`.
    Output shape: `(batch, units)`, with `return_sequences` `(batch, steps, units)`; with `return_state` then the
      state.

    Args:
      units: the number of outputs of each step.
      activation: a function or its name, None for none.
      use_bias: whether a trained bias is added.
      kernel_initializer, recurrent_initializer, bias_initializer: first values of the weights; initializers or their
        names.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights, added to the model's
        `losses`; regularizers, names or None.
      activity_regularizer: a penalty on the outputs, as a regularizer, its name, or None.
      kernel_constraint, recurrent_constraint, bias_constraint: functions applied to the weights after each update;
        constraints, names or None.
      dropout: the part of the inputs set to 0 while training, from 0 to 1; the same inputs at all steps.
      recurrent_dropout: the part of the state set to 0 while training, from 0 to 1.
      return_sequences: give the outputs of all steps, not only of the last.
      return_state: give the final states after the output.
      go_backwards: run from the last step to the first.
      stateful: begin with the states in which the last batch ended; the batch size must be fixed.
      unroll: run without a loop even in graphs, which is faster for short sequences and takes more memory.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `time_major`, `zero_output_for_mask` and `implementation` as in Keras 2, and the arguments of `Layer`.

    >>> layer = tf.keras.layers.SimpleRNN(1, activation=None, kernel_initializer="ones", recurrent_initializer="ones")
    >>> print(layer(tf.constant([[[1.0], [2.0], [3.0]]])).numpy())
    [[6.]]
    """

    _cell_class = SimpleRNNCell

    def __init__(
        self, units: int, activation: str | None = "tanh", use_bias: bool = True,
        kernel_initializer: str = "glorot_uniform", recurrent_initializer: str = "orthogonal",
        bias_initializer: str = "zeros", kernel_regularizer: Configurable | None = None,
        recurrent_regularizer: Configurable | None = None, bias_regularizer: Configurable | None = None,
        activity_regularizer: Configurable | None = None, kernel_constraint: Configurable | None = None,
        recurrent_constraint: Configurable | None = None, bias_constraint: Configurable | None = None,
        dropout: float = 0.0, recurrent_dropout: float = 0.0, return_sequences: bool = False,
        return_state: bool = False, go_backwards: bool = False, stateful: bool = False, unroll: bool = False,
        seed: int | None = None, **kwargs,
    ):
        self._make(locals())
