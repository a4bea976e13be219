"""Beam search: the best sequences of several that are continued side by side."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from tapeflow.compat.v1.nn import embedding_lookup
from tapeflow.contrib.seq2seq.attention import AttentionWrapperState
from tapeflow.contrib.seq2seq.decoding import Decoder
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.array.construction import fill, zeros, zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.sizes import shape, size
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.control.flow import cond
from tapeflow.ops.control.py_functions import numpy_function
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.top_k import top_k
from tapeflow.ops.lists.tensor_array import TensorArray
from tapeflow.ops.math.arithmetic import minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.elementwise import log
from tapeflow.ops.math.logic import logical_or
from tapeflow.ops.math.reductions import reduce_all, reduce_max, reduce_sum
from tapeflow.ops.nn.softmax import log_softmax
from tapeflow.ops.validate import invalid

__all__ = [
    "BeamSearchDecoder", "BeamSearchDecoderOutput", "BeamSearchDecoderState", "FinalBeamSearchDecoderOutput",
    "gather_tree", "gather_tree_from_array", "tile_batch",
]  # fmt: skip

BeamSearchDecoderState = namedtuple(
    "BeamSearchDecoderState",
    ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"),
)
BeamSearchDecoderOutput = namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))
FinalBeamSearchDecoderOutput = namedtuple(
    "FinalBeamSearchDecoderOutput", ["predicted_ids", "beam_search_decoder_output"]
)


def tile_batch(t: TensorLike, multiplier, name: str | None = None):
    """Each row of tensors as many times in a row: [batch * multiplier, ...]."""

    def tiled(x: Tensor):
        x = convert_to_tensor(x)
        if x.shape.rank is None:
            raise ValueError("t must have statically known rank")
        sizes = shape(x)
        wide = tile(expand_dims(x, 1), [1, multiplier] + [1] * (x.shape.rank - 1))
        made = reshape(wide, concat([[sizes[0] * multiplier], sizes[1:]], 0))
        batch = x.shape.as_list()[0]
        made.set_shape(TensorShape([None if batch is None else batch * multiplier]).concatenate(x.shape[1:]))
        return made

    return nest.map_structure(lambda x: x if isinstance(x, TensorArray) else tiled(x), t)


def _walk(step_ids, parent_ids, lengths: Tensor, end_token):
    out = np.full_like(step_ids, end_token)
    _, batch, beams = step_ids.shape
    for b in range(batch):
        longest = int(lengths[b])
        for beam in range(beams):
            if longest <= 0:
                continue
            parent = beam
            for t in range(min(longest, len(step_ids)) - 1, -1, -1):
                if not 0 <= parent < beams:
                    raise invalid(f"Saw invalid parent id {parent} at (batch, time, beam) == ({b}, {t}, {beam})")
                out[t, b, beam] = step_ids[t, b, parent]
                parent = parent_ids[t, b, parent]
            ended = np.flatnonzero(out[:longest, b, beam] == end_token)
            if len(ended):
                out[ended[0] :, b, beam] = end_token
    return out


def gather_tree(step_ids, parent_ids, max_sequence_lengths, end_token, name: str | None = None):
    """Whole sequences [time, batch, beam], of the ids of every step and which beams they continue."""
    step_ids = convert_to_tensor(step_ids)
    made = numpy_function(
        _walk, [step_ids, parent_ids, max_sequence_lengths, end_token], step_ids.dtype, name=name
    )
    made.set_shape(step_ids.shape)
    return made


def gather_tree_from_array(t: Tensor, parent_ids, sequence_length: TensorLike):
    """A tensor [time, batch, beam, ...], or [time, batch * beam, ...], with what belongs to the whole sequences."""
    beams = parent_ids.shape.as_list()[2]
    if t.shape.rank is not None and t.shape.rank > 1 and None not in (beams, t.shape[1]):
        apart = t.shape.rank > 2 and t.shape.as_list()[1:3] == parent_ids.shape.as_list()[1:]
        if not apart and t.shape[1] % beams == 0:
            sizes = concat([shape(t)[:1], shape(parent_ids)[1:], shape(t)[2:]], 0)
            made = gather_tree_from_array(reshape(t, sizes), parent_ids, sequence_length)
            return reshape(made, shape(t))
    sizes = shape(parent_ids)
    beams = parent_ids.shape.as_list()[2] or sizes[2]
    own = reshape(tile([[list(range(beams))]], [sizes[0], sizes[1], 1]), sizes)
    longest = cast(reduce_max(sequence_length, 1), dtypes.int32)
    places = gather_tree(own, parent_ids, longest, beams + 1)
    places = where(equal(places, beams + 1), own, places)
    return gather(t, places, batch_dims=2, axis=2)


class BeamSearchDecoder(Decoder):
    """Continues the `beam_width` best sequences of each example; see `dynamic_decode`.

    `initial_state` has beam_width copies of each row: see `tile_batch`. The outputs are whole sequences,
    the best first: predicted_ids [batch, time, beam].

    Args:
      length_penalty_weight: how much longer sequences are preferred.
      coverage_penalty_weight: how much sequences that have ended are to have attended to all of the memory; the cell
        is an `AttentionWrapper` then.
      reorder_tensor_arrays: whether TensorArrays of the final cell state, such as the history of an
        `AttentionWrapper`, are tensors [time, batch, ...] of whole sequences; else they are as they were written.

    Raises ValueError for a coverage penalty without attention.
    """

    def __init__(
        self, cell, embedding: TensorLike, start_tokens, end_token, initial_state, beam_width, output_layer=None,
        length_penalty_weight: float = 0.0, coverage_penalty_weight: float = 0.0, reorder_tensor_arrays: bool = True,
    ):  # fmt: skip
        if output_layer is not None and not hasattr(output_layer, "compute_output_shape"):
            raise TypeError(f"output_layer must be a Layer, received: {type(output_layer)}")
        self._cell, self._output_layer, self._beam_width = cell, output_layer, beam_width
        self._length_penalty, self._coverage_penalty = length_penalty_weight, coverage_penalty_weight
        self._reorder = reorder_tensor_arrays
        self._embed = embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)
        self._start_tokens = convert_to_tensor(start_tokens, dtypes.int32)
        if self._start_tokens.shape.rank != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = convert_to_tensor(end_token, dtypes.int32)
        if self._end_token.shape.rank != 0:
            raise ValueError("end_token must be a scalar")
        self._batch = self._start_tokens.shape.as_list()[0]
        self._batch_size = size(self._start_tokens) if self._batch is None else self._batch
        self._start_inputs = self._embed(self._wide(self._start_tokens))
        self._initial_cell_state = nest.map_structure(self._split, initial_state)
        self._finished = one_hot(
            zeros([self._batch_size], dtypes.int32), beam_width, on_value=False, off_value=True, dtype=dtypes.bool
        )

    def _wide(self, x: Tensor):
        return tile(expand_dims(x, 1), [1, self._beam_width])

    def _split(self, x: Tensor):
        """[batch * beam, ...] as [batch, beam, ...]; scalars and TensorArrays as they are."""
        if isinstance(x, TensorArray) or x.shape.rank == 0:
            return x
        made = reshape(x, concat([[self._batch_size, self._beam_width], shape(x)[1:]], 0))
        made.set_shape(TensorShape([self._batch, self._beam_width]).concatenate(x.shape[1:]))
        return made

    def _merged(self, x: Tensor):
        if isinstance(x, TensorArray) or x.shape.rank == 0:
            return x
        made = reshape(x, concat([[self._batch_size * self._beam_width], shape(x)[2:]], 0))
        rows = None if self._batch is None else self._batch * self._beam_width
        made.set_shape(TensorShape([rows]).concatenate(x.shape[2:]))
        return made

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def tracks_own_finished(self):
        return True

    @property
    def output_size(self):
        beams = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(beams, beams, beams)

    @property
    def output_dtype(self):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        return BeamSearchDecoderOutput(dtype, dtypes.int32, dtypes.int32)

    def initialize(self, name: str | None = None):
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        first = one_hot(
            zeros([self._batch_size], dtypes.int32), self._beam_width,
            on_value=cast(0.0, dtype), off_value=cast(-np.inf, dtype), dtype=dtype,
        )  # fmt: skip
        lengths = zeros([self._batch_size, self._beam_width], dtypes.int64)
        attended = self._attended(self._initial_cell_state)
        none = () if attended is None else zeros_like(attended)
        state = BeamSearchDecoderState(self._initial_cell_state, first, self._finished, lengths, none)
        return self._finished, self._start_inputs, state

    def step(self, time, inputs: TensorLike, state, name: str | None = None):
        inputs = nest.map_structure(self._merged, inputs)
        output, cell_state = self._cell(inputs, nest.map_structure(self._merged, state.cell_state))
        if self._output_layer is not None:
            output = self._output_layer(output)
        logits = self._split(output)
        cell_state = nest.map_structure(self._split, cell_state)
        output, next_state = self._best(logits, cell_state, state)
        ended = reshape(next_state.finished, [-1])

        following = cond(
            reduce_all(ended), lambda: self._start_inputs, lambda: self._embed(output.predicted_ids)
        )
        return output, next_state, following, next_state.finished

    def _best(self, logits, cell_state, state):
        beams, words = self._beam_width, logits.shape.as_list()[-1]
        done = state.finished
        steps = log_softmax(logits)
        # A sequence that has ended goes on with its end only, which costs nothing.
        end_only = one_hot(
            fill([self._batch_size, beams], self._end_token), words, on_value=cast(0.0, steps.dtype),
            off_value=steps.dtype.min, dtype=steps.dtype,
        )  # fmt: skip
        steps = where(expand_dims(done, 2), end_only, steps)
        total = expand_dims(state.log_probs, 2) + steps
        longer = cast(expand_dims(~done, 2), dtypes.int64) * cast(
            ~equal(reshape(one_hot(self._end_token, words), [1, 1, words]), 1.0), dtypes.int64
        )
        lengths = expand_dims(state.lengths, 2) + longer
        attended = self._attended(cell_state)
        if attended is not None:
            attended = state.accumulated_attention_probs + attended * cast(expand_dims(~done, 2), attended.dtype)
        scores = self._scored(total, lengths, done, attended)
        flat = reshape(scores, [self._batch_size, -1])
        best, places = top_k(flat, beams)
        picked_total = gather(reshape(total, [self._batch_size, -1]), places, batch_dims=1, axis=1)
        words_picked = cast(places % words, dtypes.int32)
        parents = cast(places // words, dtypes.int32)
        was_done = gather(done, parents, batch_dims=1, axis=1)
        now_done = logical_or(was_done, equal(words_picked, self._end_token))
        next_lengths = gather(state.lengths, parents, batch_dims=1, axis=1) + cast(~was_done, dtypes.int64)

        def follow(x: Tensor):
            if isinstance(x, TensorArray) or x.shape.rank == 0:
                return x
            return gather(x, parents, batch_dims=1, axis=1)

        def shaped(x: Tensor):
            x.set_shape([self._batch, beams])
            return x

        next_state = BeamSearchDecoderState(
            nest.map_structure(follow, cell_state), shaped(picked_total), shaped(now_done),
            shaped(next_lengths), () if attended is None else follow(attended),
        )  # fmt: skip
        return BeamSearchDecoderOutput(shaped(best), shaped(words_picked), shaped(parents)), next_state

    def _attended(self, cell_state):
        """[batch, beam, place]: where the cell has looked in this step; None where that does not count."""
        if not self._coverage_penalty:
            return None
        if isinstance(cell_state, AttentionWrapperState):
            parts = nest.flatten(cell_state.alignments)
        else:
            states = cell_state if isinstance(cell_state, tuple) else ()
            found = [part for part in states if isinstance(part, AttentionWrapperState)]
            parts = [each for part in found for each in nest.flatten(part.alignments)]
        if not parts:
            raise ValueError("coverage_penalty_weight needs the state of an AttentionWrapper: there is none")
        return parts[0] if len(parts) == 1 else concat(parts, -1)

    def _scored(self, total, lengths: Tensor, done, attended):
        if self._length_penalty:
            total = total / ((5.0 + cast(lengths, total.dtype)) / 6.0) ** self._length_penalty
        if attended is None:
            return total
        # Only of sequences that have ended it is known what they have never looked at.
        missing = reduce_sum(log(minimum(attended, 1.0)), 2)
        missing = where(done, missing, zeros_like(missing)) * self._coverage_penalty
        return total + cast(expand_dims(missing, 2), total.dtype)

    def finalize(self, outputs, final_state, sequence_lengths: TensorLike):
        longest = cast(reduce_max(final_state.lengths, 1), dtypes.int32)
        ids = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder:

            def whole(x: Tensor):
                if not isinstance(x, TensorArray) or x.element_shape.rank is None:
                    return x
                return gather_tree_from_array(x.stack(), outputs.parent_ids, final_state.lengths)

            final_state = final_state._replace(
                cell_state=nest.map_structure(whole, final_state.cell_state)
            )
        return FinalBeamSearchDecoderOutput(ids, outputs), final_state


