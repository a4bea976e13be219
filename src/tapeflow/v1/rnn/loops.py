"""`dynamic_rnn`, `static_rnn` and similar functions: cells run over the time axis of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.context import executing_eagerly
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.public import public
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.keras.layers.rnn.cells import map_sizes
from tapeflow.keras.layers.rnn.loop import rnn
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.one_hot import sequence_mask
from tapeflow.ops.array.reorder import reverse, reverse_sequence
from tapeflow.ops.array.rows import ensure_shape
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.flow import while_loop
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.reductions import reduce_all
from tapeflow.v1.rnn import fused
from tapeflow.v1.rnn.base import assert_like_rnncell, batch_of
from tapeflow.v1.variable_scoping import VariableScope, variable_scope


def _swap(x):
    return transpose(x, [1, 0, *range(2, x.shape.rank)])


def first_state(cell: Any, inputs: TensorLike, batch: int, initial_state, dtype: DTypeLike | None):
    if initial_state is not None:
        return initial_state
    if not dtype:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    make = getattr(cell, "get_initial_state", None)
    if make is not None:
        return make(inputs=None, batch_size=batch, dtype=dtype)
    return cell.zero_state(batch, dtype)


def checked_lengths(sequence_length: Any, batch: int):
    if sequence_length is None:
        return None
    lengths = convert_to_tensor(sequence_length)
    if lengths.shape.rank not in (None, 1):
        raise ValueError(
            f"sequence_length must be a vector of length batch_size, but saw shape: {lengths.shape}"
        )
    if lengths.shape.rank is None:
        lengths = ensure_shape(lengths, [batch if isinstance(batch, int) else None])
    elif isinstance(batch, int) and lengths.shape.as_list()[0] not in (None, batch):
        raise ValueError(
            f"Expected shape for Tensor {lengths} is [{batch}] but saw shape: {lengths.shape}"
        )
    return cast(lengths, "int32")


@api(v1="nn.dynamic_rnn")
@public
def dynamic_rnn(
    cell: Any, inputs: TensorLike, sequence_length: Any = None, initial_state: TensorLike | None = None,
    dtype: DTypeLike | None = None, parallel_iterations=None, swap_memory: bool = False, time_major: bool = False,
    scope: str | VariableScope | None = None,
):
    """Run a cell over `inputs`, (batch, time, ...) or, if `time_major`, (time, batch, ...).

    Past the length of a sequence outputs are zeros and the state stays. Returns (outputs, final state).
    Raises ValueError when neither `initial_state` nor `dtype` is given, or shapes are not known.

    Args:
      cell: an RNN cell: called with an input and a state, it returns an output and the next state.
      inputs: the inputs of all steps.
      sequence_length: an integer vector, the number of steps of each sequence; None: all have all steps.
      initial_state: the state before the first step; None: zeros of `dtype`.
      dtype: the dtype of the first state and of the outputs, where that does not follow from `initial_state`.
      parallel_iterations, swap_memory: have no effect on the result.
      time_major: whether time is the first dimension, not the second.
      scope: the variable scope of the cell's variables.
    """
    assert_like_rnncell("cell", cell)
    with variable_scope(scope or "rnn") as found:
        inputs = nest.map_structure(convert_to_tensor, inputs)
        flat = nest.flatten(inputs)
        if not time_major:
            flat = [_swap(x) for x in flat]
        for x in flat:
            if x.shape.rank is not None and None in x.shape.as_list()[2:]:
                raise ValueError(
                    "Input size (depth of inputs) must be accessible via shape inference, but saw "
                    f"value None. Input shape: {x.shape}"
                )
        batch = batch_of(flat[0], 1)
        lengths = checked_lengths(sequence_length, batch)
        state = first_state(cell, inputs, batch, initial_state, dtype)
        mask = None
        if lengths is not None:
            mask = expand_dims(transpose(sequence_mask(lengths, batch_of(flat[0])), [1, 0]), -1)
        structure = state

        traced = False

        def step(part: Tensor, states: Sequence[Tensor]):
            nonlocal traced
            # A cell that asks for its variables by their names makes them at the first call only.
            with variable_scope(found, reuse=True if traced else None, auxiliary_name_scope=False):
                output, new = cell(part, nest.pack_sequence_as(structure, list(states)))
            traced = True
            if not executing_eagerly() or nest.is_nested(structure):
                nest.assert_same_structure(structure, new)
            return output, nest.flatten(new)

        if fused.fits(cell, flat[0] if len(flat) == 1 else None, state):
            if not cell.built:
                step(flat[0][0], nest.flatten(state))  # makes the weights, under their names
            outputs, packed = fused.run(cell, flat[0], state, mask)
        else:
            _, outputs, final = rnn(
                step,
                nest.pack_sequence_as(inputs, flat),
                nest.flatten(state),
                mask=mask,
                time_major=True,
                zero_output_for_mask=True,
            )
            packed = nest.pack_sequence_as(structure, list(final))
        if not time_major:
            outputs = nest.map_structure(_swap, outputs)
        return outputs, packed


@api(v1="nn.bidirectional_dynamic_rnn")
@public
def bidirectional_dynamic_rnn(
    cell_fw, cell_bw, inputs: TensorLike, sequence_length: Any = None, initial_state_fw=None, initial_state_bw=None,
    dtype: DTypeLike | None = None, parallel_iterations=None, swap_memory: bool = False, time_major: bool = False,
    scope: str | VariableScope | None = None,
):
    """Run one cell forwards and one backwards; returns ((outputs, outputs), (state, state)).

    Args:
      cell_fw: the cell that runs forwards.
      cell_bw: the cell that runs backwards.
      inputs: the inputs of all steps.
      sequence_length: an integer vector, the number of steps of each sequence; None: all have all steps.
      initial_state_fw: the first state of `cell_fw`; None: zeros.
      initial_state_bw: the first state of `cell_bw`; None: zeros.
      dtype: the dtype of the first state and of the outputs, where that does not follow from `initial_state`.
      parallel_iterations, swap_memory: have no effect on the result.
      time_major: whether time is the first dimension, not the second.
      scope: the variable scope of the cell's variables.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def backwards(x: Tensor):
        if sequence_length is None:
            return reverse(x, [time_axis])
        return reverse_sequence(x, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)

    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            output_fw, state_fw = dynamic_rnn(
                cell_fw, inputs, sequence_length, initial_state_fw, dtype,
                parallel_iterations, swap_memory, time_major, inner,
            )  # fmt: skip
        with variable_scope("bw") as inner:
            reversed_inputs = nest.map_structure(lambda x: backwards(convert_to_tensor(x)), inputs)
            output_bw, state_bw = dynamic_rnn(
                cell_bw, reversed_inputs, sequence_length, initial_state_bw, dtype,
                parallel_iterations, swap_memory, time_major, inner,
            )  # fmt: skip
    return (output_fw, nest.map_structure(backwards, output_bw)), (state_fw, state_bw)


@api(v1="nn.raw_rnn")
@public
def raw_rnn(
    cell, loop_fn, parallel_iterations=None, swap_memory: bool = False, scope: str | VariableScope | None = None,
):
    """Run a cell as `loop_fn(time, cell_output, cell_state, loop_state)` says.

    `loop_fn` returns (finished, next input, next state, emitted output, next loop state); at time 0 it is
    called with no output, and what it emits says the shapes of outputs. Returns (TensorArrays of the outputs,
    final state, final loop state).

    Args:
      cell: an RNN cell: called with an input and a state, it returns an output and the next state.
      loop_fn: the function.
      parallel_iterations, swap_memory: have no effect on the result.
      scope: the variable scope of the cell's variables.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as found:
        time = convert_to_tensor(0, "int32")
        finished, part, state, emit, loop_state = loop_fn(time, None, None, None)
        part = nest.map_structure(convert_to_tensor, part)
        batch = batch_of(nest.flatten(part)[0])
        nest.assert_same_structure(state, map_sizes(lambda _: 0, cell.state_size))
        dtype = nest.flatten(part)[0].dtype
        if emit is None:
            sizes = cell.output_size
            emit = map_sizes(lambda size: zeros(TensorShape(size).as_list(), dtype), sizes)
        zero_emit = nest.map_structure(lambda e: zeros([batch, *e.shape.as_list()], e.dtype), emit)
        arrays = [
            TensorArray(as_dtype(e.dtype), size=0, dynamic_size=True, element_shape=z.shape)
            for e, z in zip(nest.flatten(emit), nest.flatten(zero_emit))
        ]
        has_loop_state = loop_state is not None
        loop_state = convert_to_tensor(0) if loop_state is None else loop_state

        traced = False

        def body(time, finished, part, state, arrays, loop_state):
            nonlocal traced
            with variable_scope(found, reuse=True if traced else None, auxiliary_name_scope=False):
                output, cell_state = cell(part, state)
            traced = True
            nest.assert_same_structure(state, cell_state)
            next_time = time + 1
            given = loop_state if has_loop_state else None
            next_finished, next_part, next_state, emit, next_loop = loop_fn(
                next_time, output, cell_state, given
            )
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(part, next_part)
            done = finished

            def keep(old, new):
                if isinstance(new, TensorArray) or new.shape.rank == 0:
                    return new
                shaped = done
                for _ in range(new.shape.rank - 1):
                    shaped = expand_dims(shaped, -1)
                return where(shaped, old, new)

            emit = nest.map_structure(keep, zero_emit, emit)
            next_state = nest.map_structure(keep, state, next_state)
            arrays = [array.write(time, value) for array, value in zip(arrays, nest.flatten(emit))]
            return (
                next_time,
                next_finished | finished,
                next_part,
                next_state,
                arrays,
                loop_state if next_loop is None else next_loop,
            )

        _, _, _, state, arrays, loop_state = while_loop(
            lambda time, finished, *_: ~reduce_all(finished),
            body,
            (time, finished, part, state, arrays, loop_state),
        )
        packed = nest.pack_sequence_as(emit, list(arrays))
        return packed, state, loop_state if has_loop_state else None
