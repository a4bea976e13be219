"""Decoders, and the loop that runs one until all of its sequences have ended."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.flow import while_loop_v1 as while_loop
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.logic import logical_not, logical_or
from tapeflow.ops.math.reductions import reduce_all
from tapeflow.ops.static import get_static_value
from tapeflow.v1.variable_scoping import VariableScope, variable_scope

__all__ = ["BasicDecoder", "BasicDecoderOutput", "Decoder", "dynamic_decode"]


class Decoder:
    """What `dynamic_decode` runs: a state, and one step of all sequences of a batch.

    Subclasses define batch_size, output_size, output_dtype, `initialize() -> (finished, inputs, state)` and
    `step(time, inputs, state) -> (outputs, state, next inputs, finished)`.
    """

    @property
    def batch_size(self):
        """How many sequences there are."""
        raise NotImplementedError

    @property
    def output_size(self):
        """The sizes of the outputs."""
        raise NotImplementedError

    @property
    def output_dtype(self):
        """The dtypes of the outputs."""
        raise NotImplementedError

    def initialize(self, name: str | None = None):
        """(finished, the first inputs, the first state)."""
        raise NotImplementedError

    def step(self, time, inputs: TensorLike, state, name: str | None = None):
        """(outputs, state, next inputs, finished)."""
        raise NotImplementedError

    def finalize(self, outputs, final_state, sequence_lengths: TensorLike):
        """What becomes of the outputs after the last step."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self):
        """Whether `step` says for itself which sequences are finished, also those that were."""
        return False


def _empty(size: Tensor, dtype: DType, batch):
    return zeros([batch, *TensorShape(size).as_list()], dtype)




def dynamic_decode(
    decoder, output_time_major: bool = False, impute_finished: bool = False, maximum_iterations=None,
    parallel_iterations: int = 32, swap_memory: bool = False, scope: str | VariableScope | None = None, **kwargs,
):  # fmt: skip
    """(outputs, final state, lengths of the sequences).

    Args:
      impute_finished: states stay, and outputs are zero, where a sequence has ended.
      maximum_iterations: when it ends at the latest.

    Raises TypeError for something that is no decoder, ValueError for maximum_iterations that is no scalar.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with variable_scope(scope, "decoder") as found:
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(maximum_iterations, dtypes.int32)
            if maximum_iterations.shape.rank not in (0, None):
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        like = decoder.output_dtype
        sizes = nest.flatten_up_to(like, decoder.output_size)
        kinds = nest.flatten(like)
        empty = nest.pack_sequence_as(
            like, [_empty(size, kind, decoder.batch_size) for size, kind in zip(sizes, kinds)]
        )
        time = convert_to_tensor(0, dtypes.int32)
        if maximum_iterations is not None:
            finished = logical_or(finished, maximum_iterations <= 0)
        lengths = zeros_like(finished, dtype=dtypes.int32)
        batch = get_static_value(decoder.batch_size) if not isinstance(decoder.batch_size, int) else decoder.batch_size
        arrays = [
            TensorArray(
                kind, size=0, dynamic_size=True,
                element_shape=TensorShape([None if batch is None else int(batch)]).concatenate(TensorShape(size)),
            )
            for size, kind in zip(sizes, kinds)
        ]  # fmt: skip
        traced = False

        def body(time, arrays: Sequence[Any], state, inputs: Tensor, finished, lengths: Tensor):
            nonlocal traced
            with variable_scope(found, reuse=True if traced else None, auxiliary_name_scope=False):
                outputs, next_state, next_inputs, now = decoder.step(time, inputs, state)
            traced = True
            next_finished = now if decoder.tracks_own_finished else logical_or(now, finished)
            if maximum_iterations is not None:
                next_finished = logical_or(next_finished, time + 1 >= maximum_iterations)
            nest.assert_same_structure(state, next_state)
            next_lengths = where(logical_not(finished), lengths * 0 + time + 1, lengths)
            if impute_finished:

                def kept(old, new):
                    if isinstance(new, TensorArray) or new.shape.rank == 0:
                        return new
                    mask = finished
                    for _ in range(new.shape.rank - 1):
                        mask = expand_dims(mask, -1)
                    return where(mask, old, new)

                outputs = nest.map_structure(kept, empty, outputs)
                next_state = nest.map_structure(kept, state, next_state)
            written = [a.write(time, value) for a, value in zip(arrays, nest.flatten(outputs))]
            return time + 1, written, next_state, next_inputs, next_finished, next_lengths

        result = while_loop(
            lambda time, arrays, state, inputs, finished, lengths: logical_not(reduce_all(finished)),
            body,
            [time, arrays, state, inputs, finished, lengths],
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
        )
        _, arrays, state, _, _, lengths = result
        outputs = nest.pack_sequence_as(like, [array.stack() for array in arrays])
        if type(decoder).finalize is not Decoder.finalize:
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = nest.map_structure(_batch_first, outputs)
        return outputs, state, lengths


def _batch_first(x):
    rank = x.shape.rank
    return transpose(x, [1, 0, *range(2, rank)])


class BasicDecoderOutput(namedtuple("BasicDecoderOutput", ("rnn_output", "sample_id"))):
    """The outputs of a cell, and what was sampled from them."""

    __slots__ = ()


class BasicDecoder(Decoder):
    """Runs a cell on the inputs that a helper chooses from what the cell gave before."""

    def __init__(self, cell, helper, initial_state, output_layer=None):
        if output_layer is not None and not hasattr(output_layer, "compute_output_shape"):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._helper, self._initial_state = cell, helper, initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self):
        return self._helper.batch_size

    def _rnn_output_size(self):
        size = self._cell.output_size
        if self._output_layer is None:
            return size
        return self._output_layer.compute_output_shape(TensorShape([None, size]))[1:]

    @property
    def output_size(self):
        return BasicDecoderOutput(self._rnn_output_size(), self._helper.sample_ids_shape)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_state)[0].dtype
        return BasicDecoderOutput(
            nest.map_structure(lambda _: dtype, self._rnn_output_size())
            if isinstance(self._rnn_output_size(), tuple)
            else dtype,
            self._helper.sample_ids_dtype,
        )

    def initialize(self, name: str | None = None):
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time, inputs: TensorLike, state, name: str | None = None):
        with context.name_scope_v1(name, "BasicDecoderStep", [time, inputs, state]):
            output, new_state = self._cell(inputs, state)
            if self._output_layer is not None:
                output = self._output_layer(output)
            ids = self._helper.sample(time=time, outputs=output, state=new_state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=output, state=new_state, sample_ids=ids
            )
        return BasicDecoderOutput(output, ids), next_state, next_inputs, finished


