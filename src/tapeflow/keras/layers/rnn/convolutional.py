"""ConvLSTM: an LSTM whose products are convolutions (Shi et al., 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import ShapeLike, Tensor
from tapeflow.core.release import keras_2
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras import regularizers
from tapeflow.keras.engine.input_spec import InputSpec
from tapeflow.keras.layers.convolution_arithmetic import (
    output_length,
)
from tapeflow.keras.layers.rnn.base import RNN, SETTINGS, of_cell
from tapeflow.keras.layers.rnn.cells import is_number
from tapeflow.keras.layers.rnn.convolutional_cell import DEFAULT, ConvLSTMCell
from tapeflow.keras.old_names import takes_old_names
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.static import as_shape, sizes_of


@of_cell(
    f"{SETTINGS} filters kernel_size strides padding data_format dilation_rate recurrent_activation "
    "unit_forget_bias"
)
class _ConvLSTM(RNN):
    """A ConvLSTMCell over (batch, steps, ..., channels)."""

    rank = 2

    def __init__(
        self,
        filters,
        kernel_size,
        strides=1,
        padding="valid",
        data_format=None,
        dilation_rate=1,
        activation="tanh",
        recurrent_activation=DEFAULT,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        recurrent_initializer="orthogonal",
        bias_initializer="zeros",
        unit_forget_bias=True,
        kernel_regularizer=None,
        recurrent_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        recurrent_constraint=None,
        bias_constraint=None,
        dropout=0.0,
        recurrent_dropout=0.0,
        seed=None,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        **kwargs,
    ):
        arguments = dict(locals())
        of_cell = {
            name: arguments[name]
            for name in ConvLSTMCell.__init__.__code__.co_varnames
            if name in arguments and name not in ("self", "kwargs", "__class__", "rank", "weights")
        }
        cell = ConvLSTMCell(
            self.rank,
            **of_cell,
            name=("conv_lstm_cell_2d" if self.rank == 2 else f"conv_lstm_{self.rank}d_cell") if keras_2() else None,
            dtype=kwargs.get("dtype"),
        )
        self.__dict__["_settings"] = tuple(
            name for name in cell.get_config() if name not in ("name", "trainable", "dtype")
        )
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, **kwargs)
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.input_spec = [InputSpec(ndim=self.rank + 3)]

    def _step_function(self, inputs, training: bool | Tensor, n_constants):
        cell = self.cell
        dropout = cell.dropout and training is not None and training is not False
        if n_constants or dropout or type(cell) is not ConvLSTMCell:
            return super()._step_function(inputs, training, n_constants)
        # Images of all steps go through one convolution.
        sizes = sizes_of(inputs)
        projected = cell.project(reshape(inputs, [-1, *sizes[2:]]), training)
        sequence = reshape(projected, [*sizes[:2], *sizes_of(projected)[1:]])
        return lambda x, states: cell.step(x, states, training), sequence

    def _image(self, sizes):
        """The sizes (batch, ..., filters) of outputs and states for inputs without their steps."""
        first = self.data_format == "channels_first"
        lengths = sizes[2:] if first else sizes[1:-1]
        cell = self.cell
        windows = zip(lengths, cell.kernel_size, cell.strides, cell.dilation_rate)
        rest = [output_length(n, k, cell.padding, s, d) for n, k, s, d in windows]
        return [sizes[0], cell.filters, *rest] if first else [sizes[0], *rest, cell.filters]

    def compute_output_shape(self, input_shape: ShapeLike):
        if isinstance(input_shape, list) and isinstance(input_shape[0], (list, tuple, TensorShape)):
            input_shape = input_shape[0]
        sizes = TensorShape(input_shape).as_list()
        image = self._image([sizes[0], *sizes[2:]])
        output = [image[0], sizes[1], *image[1:]] if self.return_sequences else image
        if not self.return_state:
            return TensorShape(output)
        return [TensorShape(output), TensorShape(image), TensorShape(image)]

    @takes_old_names(inputs="batch_size")
    def get_initial_state(self, batch_size):
        """Images of zeros.

        Args:
          batch_size: the number of sequences, for a layer that is built; or, as in Keras 2, the sequences.

        Returns:
          A list of two tensors.
        """
        if is_number(batch_size):
            image = [batch_size, *TensorShape(self.cell.state_size[0]).as_list()]
            return [zeros(as_shape(image), self._compute_dtype_object) for _ in range(2)]
        sizes = sizes_of(batch_size)
        image = as_shape(self._image([sizes[0], *sizes[2:]]))
        return [zeros(image, batch_size.dtype), zeros(image, batch_size.dtype)]

    def build(self, input_shape: Sequence[Any]):
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        sizes = TensorShape(shape).as_list()
        # States are images, whose sizes follow from those of the inputs.
        image = self._image([sizes[0], *sizes[2:]])
        size = TensorShape(image[1:])
        self.cell.state_size = (size, size)
        if not self.cell.built:
            self.cell.build([sizes[0], *sizes[2:]])
        super().build(shape)

    def get_config(self):
        config = super().get_config()
        config.pop("cell", None)
        of_cell = self.cell.get_config()
        config |= {name: of_cell[name] for name in self._settings}
        config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        return config

    @classmethod
    def from_config(cls, config):
        """A layer from the constructor's arguments."""
        return cls(**config)


class ConvLSTM1D(_ConvLSTM):
    """An LSTM over sequences of rows, whose products are convolutions.

    Input shape: `(batch, steps, length, channels)`, or with the channels after the steps.
    Output shape: `(batch, new length, filters)`, with `return_sequences` one for each step; with `return_state` then
      h, c.

    Args:
      filters: the number of outputs at each position, and of channels of the states.
      kernel_size: the sizes of the window, an integer or one per axis.
      strides: how far the window moves between outputs, an integer or one per axis.
      padding: "valid" or "same", for the inputs; states are always padded.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      activation: of the candidate and of the cell's state, a function or its name.
      recurrent_activation: of the gates; when not given "sigmoid", under Keras 2 "hard_sigmoid".
      use_bias: whether a trained bias is added.
      kernel_initializer, recurrent_initializer, bias_initializer: first values of the weights; initializers or their
        names.
      unit_forget_bias: add 1 to the first bias of the forget gate.
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
      **kwargs: `name`, `dtype` and the other arguments of `RNN` and `Layer`.
    """

    rank = 1


class ConvLSTM2D(_ConvLSTM):
    """An LSTM over sequences of images, whose products are convolutions (Shi et al., 2015).

    Input shape: `(batch, steps, rows, columns, channels)`, or with the channels after the steps.
    Output shape: `(batch, new rows, new columns, filters)`, with `return_sequences` one for each step; with
      `return_state` then h and c.

    Args:
      filters: the number of outputs at each position, and of channels of the states.
      kernel_size: the sizes of the window, an integer or one per axis.
      strides: how far the window moves between outputs, an integer or one per axis.
      padding: "valid" or "same", for the inputs; states are always padded.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      activation: of the candidate and of the cell's state, a function or its name.
      recurrent_activation: of the gates; when not given "sigmoid", under Keras 2 "hard_sigmoid".
      use_bias: whether a trained bias is added.
      kernel_initializer, recurrent_initializer, bias_initializer: first values of the weights; initializers or their
        names.
      unit_forget_bias: add 1 to the first bias of the forget gate.
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
      **kwargs: `name`, `dtype` and the other arguments of `RNN` and `Layer`.

    >>> layer = tf.keras.layers.ConvLSTM2D(4, 3, padding="same")
    >>> print(layer(tf.zeros([1, 2, 8, 8, 3])).shape)
    (1, 8, 8, 4)
    """


class ConvLSTM3D(_ConvLSTM):
    """An LSTM over sequences of volumes, whose products are convolutions.

    Input shape: `(batch, steps, depth, rows, columns, channels)`, or with the channels after the steps.
    Output shape: `(batch, new depth, new rows, new columns, filters)`, with `return_sequences` one for each step;
      with `return_state` then h and c.

    Args:
      filters: the number of outputs at each position, and of channels of the states.
      kernel_size: the sizes of the window, an integer or one per axis.
      strides: how far the window moves between outputs, an integer or one per axis.
      padding: "valid" or "same", for the inputs; states are always padded.
      data_format: "channels_last", "channels_first", or None for `keras.config.image_data_format()`.
      dilation_rate: the distance of the inputs of a window, an integer or one per axis; above 1 only with strides of
        1.
      activation: of the candidate and of the cell's state, a function or its name.
      recurrent_activation: of the gates; when not given "sigmoid", under Keras 2 "hard_sigmoid".
      use_bias: whether a trained bias is added.
      kernel_initializer, recurrent_initializer, bias_initializer: first values of the weights; initializers or their
        names.
      unit_forget_bias: add 1 to the first bias of the forget gate.
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
      **kwargs: `name`, `dtype` and the other arguments of `RNN` and `Layer`.
    """

    rank = 3
