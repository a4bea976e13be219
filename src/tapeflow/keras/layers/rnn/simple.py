"""SimpleRNN: the output of a step is fed back."""

from __future__ import annotations

from tapeflow.core import nest
from tapeflow.keras import activations
from tapeflow.keras.layers.rnn.base import SETTINGS, CellLayer, of_cell
from tapeflow.keras.layers.rnn.cells import GatedCell, first_state


class SimpleRNNCell(GatedCell):
    """activation(inputs @ kernel + state @ recurrent_kernel + bias)."""

    def __init__(
        self,
        units,
        activation="tanh",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        seed=None,
        **kwargs,
    ):
        self._configure(units, activation, use_bias, dropout, recurrent_dropout, locals(), noise_first=True)

    @property
    def state_size(self):
        """The size of the state."""
        return self.units

    def build(self, input_shape):
        self._make_weights(input_shape)

    def project(self, inputs, training, time_axis=None):
        """The part of the step that needs no states, for one time or a sequence."""
        return self._project_by(inputs, self.kernel, self.bias, training, time_axis)

    def step(self, projected, states, training):
        """The rest of the step."""
        output = projected + self._recurrent(first_state(states), training)
        if self.activation is not activations.linear:
            output = self.activation(output)
        return output, [output] if nest.is_nested(states) else output

    def call(self, inputs, states, training=None):
        return self.step(self.project(inputs, training), states, training)


@of_cell(SETTINGS)
class SimpleRNN(CellLayer):
    """A SimpleRNNCell over (batch, steps, features)."""

    _cell_class = SimpleRNNCell

    def __init__(
        self,
        units,
        activation="tanh",
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        seed=None,
        **kwargs,
    ):
        self._make(locals())
