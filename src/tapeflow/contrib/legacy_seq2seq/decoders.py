"""Decoders of sequences that are lists of tensors: plain, with attention, and on numbers of symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.compat.v1.nn import embedding_lookup
from tapeflow.contrib.rnn.gates import linear
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.rows import stop_gradient
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.math.trigonometric import tanh
from tapeflow.ops.nn.softmax import softmax
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import get_variable_scope, variable_scope

__all__ = ["attention_decoder", "embedding_attention_decoder", "embedding_rnn_decoder", "rnn_decoder"]


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


def embedded_best(embedding: Any, projection: Any, update: bool) -> Callable[[Any, int], Any]:
    """The loop function that feeds a decoder what it found most likely."""

    def loop_function(previous: Any, _: int) -> Any:
        if projection is not None:
            previous = matmul(previous, projection[0]) + projection[1]
        found = embedding_lookup(embedding, argmax(previous, 1))
        return found if update else stop_gradient(found)

    return loop_function


def embedding_rnn_decoder(
    decoder_inputs: Sequence[Tensor], initial_state: TensorLike, cell: Any, num_symbols: int,
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
            loop = embedded_best(embedding, output_projection, update_embedding_for_previous)
        embedded = [embedding_lookup(embedding, i) for i in decoder_inputs]
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop)


class _Attention:
    """Reads of `memory`, [batch, length, size], by a number of heads (Vinyals et al. 2014)."""

    def __init__(self, memory: Tensor, heads: int, dtype: DTypeLike) -> None:
        self.size = memory.shape.as_list()[2]
        self.memory = cast(memory, dtype)
        self.dtype = dtype
        length = memory.shape.as_list()[1]
        rows = reshape(self.memory, [-1, self.size])
        self.keys, self.vectors = [], []
        for head in range(heads):
            kernel = get_variable(f"AttnW_{head}", [1, 1, self.size, self.size], dtype=dtype)
            keys = matmul(rows, reshape(kernel, [self.size, self.size]))
            length = shape(memory)[1] if length is None else length
            self.keys.append(reshape(keys, stack([-1, length, self.size])))
            self.vectors.append(get_variable(f"AttnV_{head}", [self.size], dtype=dtype))

    def zeros(self, batch: Tensor) -> list[Tensor]:
        """What is read before the first step: a tensor [batch, size] for each head."""
        found = [zeros(stack([batch, self.size]), dtype=self.dtype) for _ in self.keys]
        for read in found:
            read.set_shape([None, self.size])
        return found

    def __call__(self, query: Any) -> list[Tensor]:
        """The memory averaged by a softmax of its likeness to the query, a state: [batch, size] for each head."""
        parts = nest.flatten(query)
        query = parts[0] if len(parts) == 1 else concat(parts, 1)
        reads = []
        for head, (keys, vector) in enumerate(zip(self.keys, self.vectors, strict=True)):
            with variable_scope(f"Attention_{head}"):
                asked = cast(linear([query], self.size), self.dtype)
            scores = reduce_sum(vector * tanh(keys + expand_dims(asked, 1)), 2)
            weights = cast(softmax(cast(scores, dtypes.float32)), self.dtype)
            reads.append(reduce_sum(expand_dims(weights, -1) * self.memory, 1))
        return reads


def attention_decoder(
    decoder_inputs: Sequence[Tensor], initial_state: Any, attention_states: Tensor, cell: Any,
    output_size: int | None = None, num_heads: int = 1, loop_function: Callable[..., Any] | None = None,
    dtype: DTypeLike | None = None, scope: Any = None, initial_state_attention: bool = False,
) -> tuple[list[Tensor], Any]:  # fmt: skip
    """rnn_decoder whose cell also reads `attention_states`, [batch, length, size], at each step.

    The cell takes a projection of the input and of what was read last; an output is a projection of the cell's
    output and of what its new state reads. `initial_state_attention` reads by the initial state before the first
    step, else what was read last is zero there.
    Returns (outputs, a list of [batch, output_size]; the last state).
    Raises ValueError without inputs, for fewer heads than one, and for inputs or memories of unknown depth.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if attention_states.shape.as_list()[2] is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    output_size = cell.output_size if output_size is None else output_size
    with variable_scope(scope or "attention_decoder", dtype=dtype) as scope:
        dtype = scope.dtype
        attention = _Attention(attention_states, num_heads, dtype)
        reads = attention.zeros(shape(decoder_inputs[0])[0])
        if initial_state_attention:
            reads = attention(initial_state)
        state, outputs = initial_state, list[Any]()
        for step, given in enumerate(decoder_inputs):
            if step > 0:
                get_variable_scope().reuse_variables()
            if loop_function is not None and outputs:
                with variable_scope("loop_function", reuse=True):
                    given = loop_function(outputs[-1], step)
            depth = given.shape.with_rank(2).as_list()[1]
            if depth is None:
                raise ValueError(f"Could not infer input size from input: {given.name}")
            output, state = cell(linear([cast(x, dtype) for x in (given, *reads)], depth), state)
            with variable_scope(get_variable_scope(), reuse=True if step == 0 and initial_state_attention else None):
                reads = attention(state)
            with variable_scope("AttnOutputProjection"):
                outputs.append(linear([cast(output, dtype), *reads], output_size))
    return outputs, state


def embedding_attention_decoder(
    decoder_inputs: Sequence[Tensor], initial_state: Any, attention_states: Tensor, cell: Any, num_symbols: int,
    embedding_size: int, num_heads: int = 1, output_size: int | None = None, output_projection: Any = None,
    feed_previous: bool = False, update_embedding_for_previous: bool = True, dtype: DTypeLike | None = None,
    scope: Any = None, initial_state_attention: bool = False,
) -> tuple[list[Tensor], Any]:  # fmt: skip
    """attention_decoder on numbers of symbols, with the arguments of embedding_rnn_decoder.

    Raises ValueError for biases of a projection whose shape does not fit.
    """
    if output_projection is not None:
        biases = convert_to_tensor(output_projection[1], dtype=dtype)
        biases.shape.assert_is_compatible_with([num_symbols])
    with variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = get_variable("embedding", [num_symbols, embedding_size])
        loop = None
        if feed_previous:
            loop = embedded_best(embedding, output_projection, update_embedding_for_previous)
        return attention_decoder(
            [embedding_lookup(embedding, i) for i in decoder_inputs], initial_state, attention_states, cell,
            output_size=cell.output_size if output_size is None else output_size, num_heads=num_heads,
            loop_function=loop, initial_state_attention=initial_state_attention,
        )  # fmt: skip
