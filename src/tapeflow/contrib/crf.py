"""`tf.contrib.crf`: linear-chain conditional random fields: scores, likelihoods and the best sequence of tags.

Inputs are unary potentials [batch, length, tags]; a sequence ends at its own length. Transition parameters [tags, tags]
score each pair of neighbours (Lafferty, McCallum and Pereira 2001).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.ops.array.construction import fill, zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, squeeze
from tapeflow.ops.array.one_hot import sequence_mask
from tapeflow.ops.array.ranges import range as range_
from tapeflow.ops.array.reorder import reverse_sequence
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing.gather_nd import gather_nd
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.reductions import reduce_logsumexp, reduce_max, reduce_sum
from tapeflow.v1.rnn.base import RNNCell
from tapeflow.v1.rnn.loops import dynamic_rnn
from tapeflow.v1.variable_getting import get_variable

if TYPE_CHECKING:
    from tapeflow.v1.variable_scoping import VariableScope

__all__ = [
    "CrfDecodeBackwardRnnCell", "CrfDecodeForwardRnnCell", "CrfForwardRnnCell", "crf_binary_score", "crf_decode",
    "crf_log_likelihood", "crf_log_norm", "crf_multitag_sequence_score", "crf_sequence_score", "crf_unary_score",
    "viterbi_decode",
]  # fmt: skip


def _of_sequences(values: Tensor, lengths: Tensor):
    """The values; 0 where a sequence is empty."""
    return where(lengths <= 0, zeros_like(values), values)


def crf_unary_score(tag_indices: TensorLike, sequence_lengths: TensorLike, inputs: TensorLike):
    """The sum of the potentials of the tags of each sequence."""
    tags = convert_to_tensor(tag_indices)
    batch, length = shape_of(tags, out_type=tags.dtype)[0], shape_of(tags, out_type=tags.dtype)[1]
    rows = expand_dims(range_(batch), 1) + zeros_like(tags)
    steps = expand_dims(range_(length), 0) + zeros_like(tags)
    scores = gather_nd(inputs, stack([rows, steps, tags], -1))
    return reduce_sum(scores * sequence_mask(sequence_lengths, shape_of(tags)[1], scores.dtype), 1)


def crf_binary_score(tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike):
    """The sum of the transition parameters of the neighbours of each sequence."""
    tags = convert_to_tensor(tag_indices)
    scores = gather_nd(transition_params, stack([tags[:, :-1], tags[:, 1:]], -1))
    mask = sequence_mask(sequence_lengths, shape_of(tags)[1], scores.dtype)
    return reduce_sum(scores * mask[:, 1:], 1)


def crf_sequence_score(
    inputs: TensorLike, tag_indices: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike
):
    """The score of each sequence of tags, not normalized."""
    unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
    return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)


def crf_multitag_sequence_score(
    inputs: TensorLike, tag_bitmap: np.ndarray, sequence_lengths: TensorLike, transition_params: TensorLike
):
    """The logarithm of the summed scores of the sequences that `tag_bitmap` [batch, length, tags] allows."""
    inputs = convert_to_tensor(inputs)
    allowed = where(tag_bitmap, inputs, fill(shape_of(inputs), cast(float("-inf"), inputs.dtype)))
    return crf_log_norm(allowed, sequence_lengths, transition_params)


def _unrolled(cell, inputs: TensorLike, lengths: TensorLike, state: Any, dtype: DType):
    return dynamic_rnn(cell, inputs, sequence_length=lengths, initial_state=state, dtype=dtype)


def _one_less(lengths: Tensor):
    lengths = convert_to_tensor(lengths)
    return maximum(zeros_like(lengths), lengths - 1)


def crf_log_norm(inputs: TensorLike, sequence_lengths: TensorLike, transition_params: TensorLike):
    """The logarithm of the summed scores of all sequences of tags."""
    inputs = convert_to_tensor(inputs)
    sequence_lengths = convert_to_tensor(sequence_lengths)
    first, rest = inputs[:, 0], inputs[:, 1:]
    cell = CrfForwardRnnCell(transition_params)
    _, alphas = _unrolled(cell, rest, _one_less(sequence_lengths), first, inputs.dtype)
    return _of_sequences(reduce_logsumexp(alphas, [1]), sequence_lengths)


def crf_log_likelihood(
    inputs: TensorLike, tag_indices: TensorLike, sequence_lengths: TensorLike,
    transition_params: TensorLike | None = None,
):
    """(the log-likelihood of each sequence of tags, the transition parameters: a variable if there are none)."""
    inputs = convert_to_tensor(inputs)
    if transition_params is None:
        tags = inputs.shape.as_list()[2]
        transition_params = get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


class _Transitions(RNNCell):
    """A cell whose state and output are numbers for each tag."""

    def __init__(self, transition_params: TensorLike):
        super().__init__()
        params = convert_to_tensor(transition_params)
        self._transition_params = expand_dims(params, 0)
        self._num_tags = params.shape.as_list()[0]

    @property
    def state_size(self):
        """The number of tags."""
        return self._num_tags

    @property
    def output_size(self):
        """The number of tags."""
        return self._num_tags


class CrfForwardRnnCell(_Transitions):
    """The alpha values of the forward algorithm."""

    def __call__(self, inputs: TensorLike, state: TensorLike, scope: str | VariableScope | None = None):
        scores = expand_dims(state, 2) + self._transition_params
        alphas = inputs + reduce_logsumexp(scores, [1])
        return alphas, alphas


class CrfDecodeForwardRnnCell(_Transitions):
    """The best scores, and the tag before from which each is reached."""

    def __call__(self, inputs: TensorLike, state: TensorLike, scope: str | VariableScope | None = None):
        scores = expand_dims(state, 2) + self._transition_params
        return argmax(scores, 1, output_type=dtypes.int32), inputs + reduce_max(scores, [1])


class CrfDecodeBackwardRnnCell(RNNCell):
    """The best tags, from the last one backwards."""

    def __init__(self, num_tags: int):
        super().__init__()
        self._num_tags = num_tags

    @property
    def state_size(self):
        """One tag."""
        return 1

    @property
    def output_size(self):
        """One tag."""
        return 1

    def __call__(self, inputs: TensorLike, state: TensorLike, scope: str | VariableScope | None = None):
        tags = squeeze(state, [1])
        found = gather_nd(inputs, stack([range_(shape_of(inputs)[0]), tags], 1))
        found = expand_dims(found, -1)
        return found, found


def crf_decode(potentials, transition_params: TensorLike, sequence_length: TensorLike):
    """(the best tags [batch, length] as int32, their scores [batch])."""
    potentials = convert_to_tensor(potentials)
    sequence_length = convert_to_tensor(sequence_length)
    shorter = _one_less(sequence_length)
    forward = CrfDecodeForwardRnnCell(transition_params)
    back, scores = _unrolled(forward, potentials[:, 1:], shorter, potentials[:, 0], dtypes.int32)
    last = expand_dims(argmax(scores, 1, output_type=dtypes.int32), -1)
    backward = CrfDecodeBackwardRnnCell(potentials.shape.as_list()[2])
    back = reverse_sequence(back, shorter, seq_axis=1, batch_axis=0)
    tags, _ = _unrolled(backward, back, shorter, last, dtypes.int32)
    tags = concat([last, squeeze(tags, [2])], 1)
    return reverse_sequence(tags, sequence_length, seq_axis=1, batch_axis=0), reduce_max(scores, 1)


def viterbi_decode(score: np.ndarray, transition_params: np.ndarray):
    """(the best tags, their score) of one sequence of potentials [length, tags], by NumPy."""
    best, back = score[0], []
    for potentials in score[1:]:
        scores = np.expand_dims(best, 1) + transition_params
        back.append(np.argmax(scores, 0))
        best = potentials + np.max(scores, 0)
    tags = [np.argmax(best)]
    for pointers in reversed(back):
        tags.append(pointers[tags[-1]])
    return tags[::-1], np.max(best)
