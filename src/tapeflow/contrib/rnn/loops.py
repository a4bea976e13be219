"""Stacks of bidirectional layers, and cells that run over a whole sequence by themselves."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.structures import nest
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.reorder import reverse, reverse_sequence
from tapeflow.ops.array.stacking import stack, unstack
from tapeflow.ops.array.transposing import transpose
from tapeflow.v1.rnn.cells import LSTMCell
from tapeflow.v1.rnn.loops import bidirectional_dynamic_rnn, dynamic_rnn
from tapeflow.v1.rnn.static import static_bidirectional_rnn, static_rnn
from tapeflow.v1.variable_scoping import VariableScope, variable_scope

__all__ = [
    "FusedRNNCell", "FusedRNNCellAdaptor", "LSTMBlockFusedCell", "TimeReversedFusedRNN",
    "stack_bidirectional_dynamic_rnn", "stack_bidirectional_rnn", "transpose_batch_time",
]  # fmt: skip


def transpose_batch_time(x):
    """The first two axes exchanged."""
    rank = x.shape.rank
    if rank is None or rank < 2:
        raise ValueError(f"Expected input tensor {x!r} to have rank at least 2, but saw shape: {x.shape}")
    return transpose(x, [1, 0, *range(2, rank)])


def _checked(cells_fw, cells_bw):
    for name, cells in (("cells_fw", cells_fw), ("cells_bw", cells_bw)):
        if not cells:
            raise ValueError(f"Must specify at least one fw cell for BidirectionalRNN: {name} is empty.")
        if not isinstance(cells, list):
            raise ValueError(f"{name} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")


def stack_bidirectional_rnn(
    cells_fw, cells_bw, inputs: TensorLike, initial_states_fw=None, initial_states_bw=None,
    dtype: DTypeLike | None = None, sequence_length=None, scope: str | VariableScope | None = None,
):  # fmt: skip
    """Bidirectional layers, each seeing both directions of the one before: (outputs, states fw, states bw)."""
    _checked(cells_fw, cells_bw)
    states_fw, states_bw = [], []
    layer_input = inputs
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw)):
            with variable_scope(f"cell_{i}"):
                layer_input, state_fw, state_bw = static_bidirectional_rnn(
                    cell_fw, cell_bw, layer_input,
                    initial_state_fw=initial_states_fw[i] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[i] if initial_states_bw else None,
                    sequence_length=sequence_length, dtype=dtype,
                )  # fmt: skip
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return layer_input, tuple(states_fw), tuple(states_bw)


def stack_bidirectional_dynamic_rnn(
    cells_fw, cells_bw, inputs: TensorLike, initial_states_fw=None, initial_states_bw=None,
    dtype: DTypeLike | None = None, sequence_length=None, parallel_iterations=None, time_major: bool = False,
    scope: str | VariableScope | None = None, swap_memory: bool = False,
):  # fmt: skip
    """The same over a tensor [batch, time, depth]."""
    _checked(cells_fw, cells_bw)
    states_fw, states_bw = [], []
    layer_input = inputs
    with variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (cell_fw, cell_bw) in enumerate(zip(cells_fw, cells_bw)):
            with variable_scope(f"cell_{i}"):
                outputs, (state_fw, state_bw) = bidirectional_dynamic_rnn(
                    cell_fw, cell_bw, layer_input,
                    initial_state_fw=initial_states_fw[i] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[i] if initial_states_bw else None,
                    sequence_length=sequence_length, dtype=dtype, time_major=time_major,
                )  # fmt: skip
                layer_input = concat(outputs, 2)
            states_fw.append(state_fw)
            states_bw.append(state_bw)
    return layer_input, tuple(states_fw), tuple(states_bw)


class FusedRNNCell:
    """Base of what runs over a whole sequence [time, batch, depth] in one call."""

    def __call__(
        self, inputs: TensorLike, initial_state=None, dtype: DTypeLike | None = None, sequence_length=None,
        scope: str | VariableScope | None = None
    ):
        raise TypeError("subclasses say how the sequence is run over")


class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell as a FusedRNNCell."""

    def __init__(self, cell, use_dynamic_rnn: bool = False):
        self._cell, self._dynamic = cell, use_dynamic_rnn

    def __call__(
        self, inputs, initial_state=None, dtype: DTypeLike | None = None, sequence_length=None, scope=None
    ):
        if self._dynamic:
            return dynamic_rnn(
                self._cell, inputs, sequence_length, initial_state, dtype, time_major=True, scope=scope
            )

        is_list = isinstance(inputs, list)
        outputs, state = static_rnn(
            self._cell, inputs if is_list else unstack(inputs), initial_state, dtype, sequence_length, scope
        )
        return (outputs if is_list else stack(outputs)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A FusedRNNCell that runs from the end to the beginning."""

    def __init__(self, cell):
        self._cell = cell

    def _reversed(self, x, lengths):
        if lengths is None:
            return reverse(x, [0])
        return reverse_sequence(x, lengths, seq_axis=0, batch_axis=1)

    def __call__(
        self, inputs: TensorLike, initial_state=None, dtype: DTypeLike | None = None, sequence_length=None,
        scope: str | VariableScope | None = None
    ):
        inputs = self._reversed(inputs, sequence_length)
        outputs, state = self._cell(inputs, initial_state, dtype, sequence_length, scope)
        return nest.map_structure(lambda x: self._reversed(x, sequence_length), outputs), state


class LSTMBlockFusedCell(FusedRNNCell):
    """An LSTM over a whole sequence [time, batch, depth], or a list of [batch, depth]; variables are those of LSTMCell.

    Args:
      num_units: the width of the state.
      forget_bias: what is added to the forget gate.
      cell_clip: the largest absolute value of the state, where it is above zero.
      use_peephole: whether the gates see the state too.
      reuse, name: of the variable scope that the variables are in.
      dtype: the dtype of the variables, by default that of the inputs.
    """

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, cell_clip: float | None = None, use_peephole: bool = False,
        reuse: bool | None = None, dtype: DTypeLike | None = None, name: str = "lstm_fused_cell",
    ) -> None:  # fmt: skip
        self.num_units, self._name, self._reuse = num_units, name, reuse
        clip = cell_clip if cell_clip is not None and cell_clip > 0 else None
        self._options: dict[str, Any] = {
            "forget_bias": forget_bias, "cell_clip": clip, "use_peepholes": use_peephole, "dtype": dtype,
        }  # fmt: skip
        self._cell: LSTMCell | None = None

    def _scoped_cell(self, scope: Any) -> LSTMCell:
        """The cell whose variables are in the scope that the first call finds."""
        if self._cell is None:
            if self._reuse and scope is None:
                scope = self._name
            with variable_scope(scope, default_name=self._name) as found:
                self._cell = LSTMCell(self.num_units, reuse=self._reuse, _scope=found, **self._options)
        return self._cell

    def __call__(
        self, inputs: TensorLike, initial_state=None, dtype: DTypeLike | None = None, sequence_length=None,
        scope: str | VariableScope | None = None,
    ):
        """(outputs, last state). Raises ValueError where neither `initial_state` nor `dtype` is given."""
        is_list = isinstance(inputs, list)
        inputs = stack(inputs) if is_list else inputs
        outputs, state = dynamic_rnn(
            self._scoped_cell(scope), inputs, sequence_length, initial_state, dtype, time_major=True
        )
        return (unstack(outputs) if is_list else outputs), state
