"""GRU: gated recurrent units (Cho et al., 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Configurable, Tensor, TensorLike
from tapeflow.core.structures import nest
from tapeflow.keras import activations
from tapeflow.keras.layers.rnn.base import SETTINGS, CellLayer, of_cell
from tapeflow.keras.layers.rnn.cells import GatedCell, first_state
from tapeflow.ops.array.joining import split
from tapeflow.ops.array.stacking import unstack
from tapeflow.ops.linalg.matmul import MatMul
from tapeflow.ops.nn.bias import bias_add


class GRUCell(GatedCell):
    """One step of a GRU, with one state; gates in the order update, reset, candidate.

    Args:
      units: the number of outputs, which are the state.
      activation: of the candidate, a function or its name.
      recurrent_activation: of the gates, a function or its name.
      use_bias: whether a trained bias is added.
      kernel_initializer, recurrent_initializer, bias_initializer: first values of the weights; initializers or their
        names.
      kernel_regularizer, recurrent_regularizer, bias_regularizer: penalties on the weights, added to the model's
        `losses`; regularizers, names or None.
      kernel_constraint, recurrent_constraint, bias_constraint: functions applied to the weights after each update;
        constraints, names or None.
      dropout: the part of the inputs set to 0 while training, from 0 to 1; the same inputs at all steps.
      recurrent_dropout: the part of the state set to 0 while training, from 0 to 1.
      reset_after: apply the reset gate after the product with the recurrent kernel instead of before.
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      **kwargs: `name`, `dtype`, `trainable` and the other arguments that all layers take; see `Layer`.
    """

    gates = 3

    def __init__(
        self, units: int, activation: str = "tanh", recurrent_activation: str = "sigmoid", use_bias: bool = True,
        kernel_initializer: dict[str, Any] | str = "glorot_uniform",
        recurrent_initializer: dict[str, Any] | str = "orthogonal", bias_initializer: dict[str, Any] | str = "zeros",
        kernel_regularizer: Configurable | None = None, recurrent_regularizer: Configurable | None = None,
        bias_regularizer: Configurable | None = None, kernel_constraint: Configurable | None = None,
        recurrent_constraint: Configurable | None = None, bias_constraint: Configurable | None = None,
        dropout: float = 0.0, recurrent_dropout: float = 0.0, reset_after: bool = True, seed: int | None = None,
        **kwargs,
    ):
        self._configure(units, activation, use_bias, dropout, recurrent_dropout, locals())
        self.recurrent_activation = activations.get(recurrent_activation)
        self.reset_after = reset_after

    @property
    def state_size(self):
        """The size of the state."""
        return self.units

    def build(self, input_shape: Sequence[Any]):
        self._make_weights(input_shape, (2, 3 * self.units) if self.reset_after else None)

    def _biases(self):
        if not self.use_bias:
            return None, None
        return unstack(self.bias) if self.reset_after else (self.bias, None)

    def project(self, inputs: TensorLike, training: bool | Tensor | None, time_axis: int | None = None):
        """The part of the step that needs no states, for one time or a sequence."""
        return self._project_by(inputs, self.kernel, self._biases()[0], training, time_axis)

    def step(self, projected: TensorLike, states: Sequence[Tensor], training: bool | Tensor | None):
        """The rest of the step."""
        h = first_state(states)
        gate = self.recurrent_activation
        x_update, x_reset, x_candidate = split(projected, 3, axis=-1)
        if self.reset_after:
            inner = self._recurrent(h, training)
            if self.use_bias:
                inner = bias_add(inner, self._biases()[1])
            r_update, r_reset, r_candidate = split(inner, 3, axis=-1)
            update, reset = gate(x_update + r_update), gate(x_reset + r_reset)
            candidate = x_candidate + reset * r_candidate
        else:
            masks = self.get_recurrent_dropout_mask_for_cell(h, training, 3) or (None,) * 3
            u_update, u_reset, u_candidate = split(self.recurrent_kernel, 3, axis=1)
            update = gate(x_update + MatMul(_masked(h, masks[0]), u_update))
            reset = gate(x_reset + MatMul(_masked(h, masks[1]), u_reset))
            candidate = x_candidate + MatMul(reset * _masked(h, masks[2]), u_candidate)
        h = update * h + (1 - update) * self.activation(candidate)
        return h, [h] if nest.is_nested(states) else h

    def call(self, inputs: Tensor, states: Sequence[Tensor], training: bool | Tensor | None = None):
        return self.step(self.project(inputs, training), states, training)

    def get_config(self):
        return {
            **super().get_config(),
            "recurrent_activation": activations.serialize(self.recurrent_activation),
            "implementation": self.implementation,
            "reset_after": self.reset_after,
        }


def _masked(x: Tensor, mask):
    return x if mask is None else x * mask


@of_cell(f"{SETTINGS} recurrent_activation reset_after")
class GRU(CellLayer):
    """Gated recurrent units: a recurrent layer with two gates and one state, a `GRUCell` over the steps of sequences.

    h' = z * h + (1 - z) * candidate, with the update gate z and a reset gate that limits what the candidate sees of
    h. Steps that a mask leaves out keep the state.

    Input shape: `(batch, steps, features)`. The initial state, if given at the call, is `(batch, units)`.
    Output shape: `(batch, units)`, with `return_sequences` `(batch, steps, units)`; with `return_state` then the
      state.

    Args:
      units: the number of outputs of each step.
      activation: of the candidate, a function or its name.
      recurrent_activation: of the gates, a function or its name.
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
      seed: an integer or a `keras.random.SeedGenerator` that makes the random numbers repeatable; None for different
        ones in every run.
      return_sequences: give the outputs of all steps, not only of the last.
      return_state: give the final states after the output.
      go_backwards: run from the last step to the first.
      stateful: begin with the states in which the last batch ended; the batch size must be fixed.
      unroll: run without a loop even in graphs, which is faster for short sequences and takes more memory.
      reset_after: apply the reset gate after the product with the recurrent kernel, with a second bias, instead of
        before.
      use_cudnn: accepted as in Keras 3; the implementation is chosen by what the layer computes.
      **kwargs: `time_major`, `zero_output_for_mask` and `implementation` as in Keras 2, and the arguments of `Layer`.

    >>> print(tf.keras.layers.GRU(4)(tf.zeros([2, 3, 5])).shape)
    (2, 4)
    """

    _cell_class = GRUCell

    def __init__(
        self, units: int, activation: str = "tanh", recurrent_activation: str = "sigmoid", use_bias: bool = True,
        kernel_initializer: dict[str, Any] | str = "glorot_uniform",
        recurrent_initializer: dict[str, Any] | str = "orthogonal", bias_initializer: dict[str, Any] | str = "zeros",
        kernel_regularizer: Configurable | None = None, recurrent_regularizer: Configurable | None = None,
        bias_regularizer: Configurable | None = None, activity_regularizer: Configurable | None = None,
        kernel_constraint: Configurable | None = None, recurrent_constraint: Configurable | None = None,
        bias_constraint: Configurable | None = None, dropout: float = 0.0, recurrent_dropout: float = 0.0,
        seed: int | None = None, return_sequences: bool = False, return_state: bool = False,
        go_backwards: bool = False, stateful: bool = False, unroll: bool = False, reset_after: bool = True,
        use_cudnn: str = "auto", **kwargs,
    ):
        self._make(locals())


@of_cell(SETTINGS)
class CuDNNGRU(CellLayer):
    """GRU with the arguments of the layer of 1.x that ran on CuDNN."""

    _cell_class = GRUCell
    _has_unroll = False

    def __init__(
        self, units: int, kernel_initializer: str = "glorot_uniform", recurrent_initializer: str = "orthogonal",
        bias_initializer: str = "zeros", kernel_regularizer: Configurable | None = None,
        recurrent_regularizer: Configurable | None = None, bias_regularizer: Configurable | None = None,
        activity_regularizer: Configurable | None = None, kernel_constraint: Configurable | None = None,
        recurrent_constraint: Configurable | None = None, bias_constraint: Configurable | None = None,
        return_sequences: bool = False, return_state: bool = False, go_backwards: bool = False,
        stateful: bool = False, **kwargs,
    ):
        self._make(locals(), cell=_CuDNNGRUCell)


class _CuDNNGRUCell(GRUCell):
    """A GRUCell whose bias of two rows is kept as one vector, as CuDNN does."""

    def build(self, input_shape: Sequence[Any]):
        self._make_weights(input_shape, (6 * self.units,))

    def _biases(self):
        return split(self.bias, 2)
