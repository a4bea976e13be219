"""`static_rnn` and similar functions: a graph of one cell for each step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public
from tapeflow.core.structures import nest
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.reorder import reverse_sequence
from tapeflow.ops.array.stacking import stack, unstack
from tapeflow.ops.math.choice import where
from tapeflow.v1.rnn.base import assert_like_rnncell, batch_of
from tapeflow.v1.rnn.loops import checked_lengths, first_state
from tapeflow.v1.variable_scoping import VariableScope, variable_scope


@api(v1="nn.static_rnn")
@public
def static_rnn(
    cell: Any, inputs, initial_state=None, dtype: DTypeLike | None = None,
    sequence_length: Sequence[int] | None = None, scope: str | None = None,
):
    """Run a cell over a list of inputs; returns (list of outputs, final state).

    Args:
      cell: an RNN cell: called with an input and a state, it returns an output and the next state.
      inputs: the inputs of all steps.
      initial_state: the state before the first step; None: zeros of `dtype`.
      dtype: the dtype of the first state and of the outputs, where that does not follow from `initial_state`.
      sequence_length: an integer vector, the number of steps of each sequence; None: all have all steps.
      scope: the variable scope of the cell's variables.
    """
    assert_like_rnncell("cell", cell)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "rnn") as found:
        inputs = [nest.map_structure(convert_to_tensor, part) for part in inputs]
        first = nest.flatten(inputs[0])[0]
        if first.shape.rank != 1 and first.shape.rank is not None:
            for i, size in enumerate(first.shape.as_list()[1:]):
                if size is None:
                    raise ValueError(
                        f"Input size (dimension {i} of inputs) must be accessible via shape "
                        "inference, but saw value None."
                    )
        batch = batch_of(first)
        lengths = checked_lengths(sequence_length, batch)
        state = first_state(cell, inputs, batch, initial_state, dtype)
        outputs = []
        for time, part in enumerate(inputs):
            with variable_scope(found, reuse=True if time else None, auxiliary_name_scope=False):
                output, new = cell(part, state)
            if lengths is not None:
                going = expand_dims(time < lengths, -1)
                output = nest.map_structure(lambda x: where(going, x, zeros_like(x)), output)  # noqa: B023
                kept = [where(going, a, b) for a, b in zip(nest.flatten(new), nest.flatten(state))]
                new = nest.pack_sequence_as(new, kept)
            state = new
            outputs.append(output)
        return outputs, state


@api(v1="nn.static_bidirectional_rnn")
@public
def static_bidirectional_rnn(
    cell_fw, cell_bw, inputs: TensorLike, initial_state_fw=None, initial_state_bw=None,
    dtype: DTypeLike | None = None, sequence_length: Any = None, scope: str | VariableScope | None = None,
):
    """One cell forwards and one backwards over a list; returns (outputs joined, state, state).

    Args:
      cell_fw: the cell that runs forwards.
      cell_bw: the cell that runs backwards.
      inputs: the inputs of all steps.
      initial_state_fw: the first state of `cell_fw`; None: zeros.
      initial_state_bw: the first state of `cell_bw`; None: zeros.
      dtype: the dtype of the first state and of the outputs, where that does not follow from `initial_state`.
      sequence_length: an integer vector, the number of steps of each sequence; None: all have all steps.
      scope: the variable scope of the cell's variables.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            output_fw, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, inner
            )
        with variable_scope("bw") as inner:
            output_bw, state_bw = static_rnn(
                cell_bw, _reverse_list(inputs, sequence_length), initial_state_bw, dtype,
                sequence_length, inner,
            )  # fmt: skip
    output_bw = _reverse_list(output_bw, sequence_length)
    outputs = [
        nest.map_structure(lambda a, b: concat([a, b], 1), a, b)
        for a, b in zip(output_fw, output_bw)
    ]
    return outputs, state_fw, state_bw


def _reverse_list(parts, lengths: TensorLike):
    if lengths is None:
        return list(reversed(parts))
    flats = [nest.flatten(part) for part in parts]
    columns = [
        unstack(reverse_sequence(stack(list(column)), lengths, seq_axis=0, batch_axis=1))
        for column in zip(*flats)
    ]
    return [
        nest.pack_sequence_as(part, [column[i] for column in columns])
        for i, part in enumerate(parts)
    ]


@api(v1="nn.static_state_saving_rnn")
@public
def static_state_saving_rnn(
    cell, inputs: TensorLike, state_saver, state_name, sequence_length: Any = None, scope=None
):
    """`static_rnn` that begins with the states of `state_saver`, and saves the final ones there.

    Args:
      cell: an RNN cell: called with an input and a state, it returns an output and the next state.
      inputs: the inputs of all steps.
      state_saver: an object with `state(name)` and `save_state(name, value)`.
      state_name: the name of the state, or a tuple of names.
      sequence_length: an integer vector, the number of steps of each sequence; None: all have all steps.
      scope: the variable scope of the cell's variables.
    """
    names = nest.flatten(state_name) if nest.is_nested(state_name) else [state_name]
    if nest.is_nested(cell.state_size) != nest.is_nested(state_name) or (
        len(nest.flatten(cell.state_size)) != len(names)
    ):
        raise ValueError("Number of elements in state_name and state_size do not match")
    states = [state_saver.state(name) for name in names]
    initial = nest.pack_sequence_as(cell.state_size, states) if len(states) > 1 else states[0]
    outputs, state = static_rnn(cell, inputs, initial, None, sequence_length, scope)
    for name, value in zip(names, nest.flatten(state)):
        state_saver.save_state(name, value)
    return outputs, state
