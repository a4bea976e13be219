"""`tf.contrib.legacy_seq2seq`: sequences as Python lists of tensors, one for each step; each step is in the graph."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.compat.v1.nn import embedding_lookup
from tapeflow.contrib.rnn.cells import EmbeddingWrapper, OutputProjectionWrapper
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import shape, stop_gradient
from tapeflow.ops.control.flow import cond
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reduction import reduce_sum
from tapeflow.ops.nn.loss import sparse_softmax_cross_entropy_with_logits
from tapeflow.v1.rnn.loops import static_rnn
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope

__all__ = [
    "basic_rnn_seq2seq", "embedding_rnn_decoder", "embedding_rnn_seq2seq", "model_with_buckets", "rnn_decoder",
    "sequence_loss", "sequence_loss_by_example", "tied_rnn_seq2seq",
]  # fmt: skip


def rnn_decoder(
    decoder_inputs: Sequence[Tensor], initial_state: TensorLike, cell: Any,
    loop_function: Callable[..., Any] | None = None, scope: str | None = None,
):
    """The outputs of `cell`, a list, and its last state.

    `loop_function(previous output, step)` gives the inputs after the first, in place of those of `decoder_inputs`.
    """
    with variable_scope(scope or "rnn_decoder"):
        state = initial_state
        outputs: list[Any] = []
        for step, given in enumerate(decoder_inputs):
            if loop_function is not None and outputs:
                with variable_scope("loop_function", reuse=True):
                    given = loop_function(outputs[-1], step)
            if step > 0:
                get_variable_scope().reuse_variables()
            output, state = cell(given, state)
            outputs.append(output)
    return outputs, state


def basic_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell, dtype: DTypeLike = dtypes.float32,
    scope=None,
):
    """Reads one sequence, and decodes another one from the state that this leaves; two cells, alike."""
    with variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell,
    loop_function: Callable[..., Any] | None = None, dtype: DTypeLike = dtypes.float32, scope=None,
):
    """As basic_rnn_seq2seq, with one cell for both."""
    with variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def _embedded_best(embedding: Any, projection: Any, update: bool) -> Callable[[Any, int], Any]:
    """The loop function that feeds a decoder what it found most likely."""

    def loop_function(previous: Any, _: int) -> Any:
        if projection is not None:
            previous = matmul(previous, projection[0]) + projection[1]
        found = embedding_lookup(embedding, argmax(previous, 1))
        return found if update else stop_gradient(found)

    return loop_function


def embedding_rnn_decoder(
    decoder_inputs: Sequence[Tensor], initial_state: TensorLike, cell: OutputProjectionWrapper, num_symbols: int,
    embedding_size: int, output_projection=None, feed_previous: bool = False,
    update_embedding_for_previous: bool = True, scope=None,
):  # fmt: skip
    """rnn_decoder on numbers of symbols; with `feed_previous` each step reads what the last one found most likely.

    `output_projection`, weights and biases, turns outputs into symbols where the cell's outputs are none.
    Raises ValueError for a projection whose shapes do not fit.
    """
    with variable_scope(scope or "embedding_rnn_decoder") as scope:
        if output_projection is not None:
            weights, biases = (convert_to_tensor(x, dtype=scope.dtype) for x in output_projection)
            weights.shape.assert_is_compatible_with([None, num_symbols])
            biases.shape.assert_is_compatible_with([num_symbols])
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop = None
        if feed_previous:
            loop = _embedded_best(embedding, output_projection, update_embedding_for_previous)
        embedded = [embedding_lookup(embedding, i) for i in decoder_inputs]
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop)


def embedding_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell, num_encoder_symbols: int,
    num_decoder_symbols: int, embedding_size: int, output_projection=None, feed_previous: bool | Tensor = False,
    dtype: DTypeLike | None = None, scope=None,
):  # fmt: skip
    """basic_rnn_seq2seq on numbers of symbols. `feed_previous` is a bool, or a bool tensor that decides at run time."""
    with variable_scope(scope or "embedding_rnn_seq2seq") as scope:
        if dtype is not None:
            scope.set_dtype(dtype)
        else:
            dtype = scope.dtype
        reader = EmbeddingWrapper(
            copy.deepcopy(cell), embedding_classes=num_encoder_symbols, embedding_size=embedding_size
        )
        _, state = static_rnn(reader, encoder_inputs, dtype=dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feeds: bool) -> Any:
            return embedding_rnn_decoder(
                decoder_inputs, state, cell, num_decoder_symbols, embedding_size,
                output_projection=output_projection, feed_previous=feeds,
            )  # fmt: skip

        if isinstance(feed_previous, bool):
            return decode(feed_previous)

        def branch(feeds: bool, reuse: bool) -> list[Any]:
            with variable_scope(get_variable_scope(), reuse=reuse or None):
                outputs, last = decode(feeds)
                return [*outputs, *nest.flatten(last)]

        both = cond(feed_previous, lambda: branch(True, False), lambda: branch(False, True))
        count = len(decoder_inputs)
        return both[:count], nest.pack_sequence_as(state, both[count:])


def sequence_loss_by_example(
    logits: Any, targets: Any, weights, average_across_timesteps: bool = True, softmax_loss_function=None,
    name: str | None = None,
):
    """The weighted cross-entropy of each sequence, [batch]; lists of one tensor a step.

    Raises ValueError for lists of different lengths.
    """
    if not len(targets) == len(logits) == len(weights):
        raise ValueError(
            f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, "
            f"{len(targets)}."
        )
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        losses = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                loss = sparse_softmax_cross_entropy_with_logits(
                    labels=reshape(target, [-1]), logits=logit
                )
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        result = add_n(losses)
        if average_across_timesteps:
            result /= add_n(list(weights)) + 1e-12  # sequences without a step that counts
        return result


def sequence_loss(
    logits: Any, targets: Any, weights, average_across_timesteps: bool = True, average_across_batch: bool = True,
    softmax_loss_function=None, name: str | None = None,
):  # fmt: skip
    """sequence_loss_by_example, summed over the batch or averaged: a scalar."""
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = reduce_sum(
            sequence_loss_by_example(
                logits, targets, weights, average_across_timesteps, softmax_loss_function
            )
        )
        if average_across_batch:
            cost /= cast(shape(targets[0])[0], cost.dtype)
        return cost


def model_with_buckets(
    encoder_inputs, decoder_inputs, targets, weights, buckets, seq2seq, softmax_loss_function=None,
    per_example_loss: bool = False, name: str | None = None,
):  # fmt: skip
    """Outputs and losses of `seq2seq(encoder inputs, decoder inputs)` for each bucket, a pair of lengths.

    Raises ValueError for lists that are shorter than the last bucket.
    """
    for what, given, length in (
        ("encoder_inputs", encoder_inputs, buckets[-1][0]),
        ("targets", targets, buckets[-1][1]),
        ("weights", weights, buckets[-1][1]),
    ):
        if len(given) < length:
            raise ValueError(
                f"Length of {what} ({len(given)}) must be at least that of last bucket ({length})."
            )
    measure = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = [], []
    with name_scope(name, "model_with_buckets", [*encoder_inputs, *decoder_inputs, *targets, *weights]):
        for i, (source, target) in enumerate(buckets):
            with variable_scope(get_variable_scope(), reuse=True if i > 0 else None):
                found, _ = seq2seq(encoder_inputs[:source], decoder_inputs[:target])
            outputs.append(found)
            losses.append(
                measure(
                    found, targets[:target], weights[:target], softmax_loss_function=softmax_loss_function
                )
            )
    return outputs, losses
