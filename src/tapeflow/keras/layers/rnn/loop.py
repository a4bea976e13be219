"""`keras.backend.rnn`: a step function run over the time axis of tensors.

Eagerly, and where `unroll` asks for it, a Python loop over slices; else a `while_loop` with TensorArrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._native import Tensor
from tapeflow.core.context import executing_eagerly
from tapeflow.core.public import public
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.reorder import reverse
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack, unstack
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.flow import while_loop
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.static import get_static_value


@public
def rnn(
    step_function,
    inputs,
    initial_states,
    go_backwards=False,
    mask=None,
    constants=None,
    unroll=False,
    input_length=None,
    time_major=False,
    zero_output_for_mask=False,
    return_all_outputs=True,
):
    """Run `step_function(input_t, states) -> (output_t, new_states)` over time.

    Args:
      step_function: a function of the inputs of one step and the list of states.
      inputs: tensors (batch, time, ...), or (time, batch, ...) when `time_major`; any structure.
      initial_states: list of states of the first step.
      go_backwards: run from the last step to the first.
      mask: bool (batch, time, or with a last axis of 1); masked steps leave the states as they are, and give the
        output of the step before (zeros when `zero_output_for_mask`).
      constants: tensors appended to the states of every step.
      unroll: run without a loop in the graph; the number of steps must be known.
      input_length: the number of steps, when it is not that of the inputs.
      time_major: whether time is the first axis of inputs and outputs.
      zero_output_for_mask: give zeros at masked steps.
      return_all_outputs: whether the outputs of all steps are kept; if not, "all outputs" has the last one alone.

    Returns:
      (last output, all outputs, final states).

    Raises:
      ValueError: for what it cannot unroll.
    """
    if not time_major:
        inputs = nest.map_structure(_swap, inputs)
    first = nest.flatten(inputs)[0]
    steps = first.shape.as_list()[0] if first.shape.rank is not None else None
    if mask is not None:
        mask = cast(mask, "bool")
        if mask.shape.rank == 2:
            mask = expand_dims(mask, -1)
        if not time_major:
            mask = _swap(mask)
    if constants is None:
        constants = []
    if go_backwards:
        inputs = nest.map_structure(lambda x: reverse(x, [0]), inputs)
        mask = None if mask is None else reverse(mask, [0])
    length = steps if input_length is None else get_static_value(input_length)
    if unroll and steps is None:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    if unroll or (executing_eagerly() and length is not None):
        run = _python_loop
        length = steps if unroll else min(int(length), steps)
    else:
        run, length = _while_loop, shape_of(first)[0] if input_length is None else input_length
    last, outputs, states = run(
        step_function, inputs, list(initial_states), list(constants), mask, length,
        zero_output_for_mask, return_all_outputs,
    )  # fmt: skip
    if not time_major:
        outputs = nest.map_structure(_swap, outputs)
    return last, outputs, states


def _swap(x):
    """The first two axes of x exchanged."""
    return transpose(x, [1, 0, *range(2, x.shape.rank)])


def _python_loop(step, inputs, states, constants, mask, length, zero_masked, return_all):
    flat = [unstack(x, num=x.shape.as_list()[0])[:length] for x in nest.flatten(inputs)]
    masks = None if mask is None else unstack(mask, num=mask.shape.as_list()[0])
    outputs = []
    for t in range(length):
        part = flat[0][t] if len(flat) == 1 and not nest.is_nested(inputs) else None
        if part is None:
            part = nest.pack_sequence_as(inputs, [x[t] for x in flat])
        output, new_states = step(part, tuple(states) + tuple(constants))
        if masks is not None:
            before = outputs[-1] if outputs and not zero_masked else None
            output = _chosen(masks[t], output, before)
            new_states = nest.pack_sequence_as(
                new_states,
                [
                    _where(masks[t], new, old)
                    for new, old in zip(nest.flatten(new_states), nest.flatten(states))
                ],
            )
        if return_all or masks is not None or not outputs:
            outputs.append(output)
        else:
            outputs[0] = output
        states = new_states
    if not outputs:
        return _no_steps(step, inputs, states, constants)
    last = outputs[-1]
    if not return_all:
        outputs = outputs[-1:]
    return last, nest.map_structure(lambda *parts: stack(list(parts)), *outputs), states


def _no_steps(step: Callable[..., Any], inputs: Tensor, states: Sequence[Tensor], constants: Sequence[Any]):
    """What comes of no steps: outputs of no rows, and zeros for the last one."""
    zero = nest.map_structure(lambda x: zeros([*x.shape.as_list()[1:]], x.dtype), inputs)
    output, _ = step(zero, tuple(states) + tuple(constants))
    last = nest.map_structure(zeros_like, output)
    empty = nest.map_structure(lambda x: stack([x])[:0], last)
    return last, empty, states


def _chosen(mask: Tensor, output: Tensor, before):
    """The output where the step counts, elsewhere the one before, or zeros."""
    olds = nest.flatten(before) if before is not None else [None] * len(nest.flatten(output))
    chosen = [
        _where(mask, new, zeros_like(new) if old is None else old)
        for new, old in zip(nest.flatten(output), olds)
    ]
    return nest.pack_sequence_as(output, chosen)


def _where(mask: Any, new: Any, old: Tensor):
    """new where the mask of the step (batch, 1) holds, else old; for any rank but scalars, which are always new."""
    if not isinstance(new, Tensor) or new.shape.rank == 0:
        return new
    for _ in range(new.shape.rank - mask.shape.rank):
        mask = expand_dims(mask, -1)
    return where(mask, new, old)


def _first(x: Tensor):
    """What a step is given, for its dtype and shape: there may be no first one."""
    if x.shape.as_list()[0]:
        return x[0]
    made = zeros(shape_of(x)[1:], x.dtype)
    made.set_shape(x.shape[1:])
    return made


def _while_loop(
    step: Callable[..., Any], inputs: Tensor, states: Sequence[Tensor], constants: Sequence[Any],
    mask: Tensor | None, length: Tensor, zero_masked: bool, return_all: bool,
):
    flat = nest.flatten(inputs)
    arrays = [TensorArray(x.dtype, size=shape_of(x)[0]).unstack(x) for x in flat]
    mask_array = (
        None if mask is None else TensorArray(mask.dtype, size=shape_of(mask)[0]).unstack(mask)
    )
    # A step that is only looked at: its outputs say dtypes and shapes; what it computes is pruned.
    sample, _ = step(
        nest.pack_sequence_as(inputs, [_first(x) for x in flat]), tuple(states) + tuple(constants)
    )
    flat_sample = nest.flatten(sample)
    kept = length if return_all else 1
    output_arrays = tuple(
        TensorArray(x.dtype, size=kept, element_shape=x.shape, clear_after_read=False)
        for x in flat_sample
    )
    last = [zeros_like(x) for x in flat_sample]
    flat_states = nest.flatten(states)

    def body(time: Tensor, written: Sequence[Any], before: Sequence[Tensor], *current):
        part = nest.pack_sequence_as(inputs, [array.read(time) for array in arrays])
        packed = nest.pack_sequence_as(states, list(current))
        output, new_states = step(part, tuple(packed) + tuple(constants))
        new = nest.flatten(output)
        after = nest.flatten(new_states)
        if mask_array is not None:
            now = mask_array.read(time)
            old = [zeros_like(x) for x in new] if zero_masked else before
            new = [_where(now, x, y) for x, y in zip(new, old)]
            after = [_where(now, x, y) for x, y in zip(after, current)]
        for x, old in zip(after, current):
            if hasattr(x, "set_shape"):
                x.set_shape(old.shape)
        place = time if return_all else 0
        written = tuple(array.write(place, x) for array, x in zip(written, new))
        return (time + 1, written, list(new), *after)

    _, output_arrays, last, *final = while_loop(
        lambda time, *_: time < length,
        body,
        (shape_of(flat[0])[0] * 0, output_arrays, last, *flat_states),
        maximum_iterations=length,
    )
    outputs = [array.stack() for array in output_arrays]
    steps = flat[0].shape.as_list()[0] if return_all else 1
    for x, one in zip(outputs, flat_sample):
        if hasattr(x, "set_shape") and one.shape.rank is not None:
            x.set_shape(TensorShape([steps, *one.shape.as_list()]))
    states = nest.pack_sequence_as(states, list(final))
    return nest.pack_sequence_as(sample, last), nest.pack_sequence_as(sample, outputs), states
