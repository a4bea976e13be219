"""Models that read one sequence and write another, both lists of tensors, one for each step."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.compat.v1.nn import embedding_lookup
from tapeflow.contrib.legacy_seq2seq.decoders import (
    embedded_best,
    embedding_attention_decoder,
    embedding_rnn_decoder,
    rnn_decoder,
)
from tapeflow.contrib.legacy_seq2seq.loss import sequence_loss, sequence_loss_by_example
from tapeflow.contrib.rnn.wrappers import EmbeddingWrapper, OutputProjectionWrapper
from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.context import name_scope_v1 as name_scope
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.structures import nest
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.control.flow import cond
from tapeflow.v1.rnn.base import RNNCell
from tapeflow.v1.rnn.static import static_rnn
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import VariableScope, get_variable_scope, variable_scope

__all__ = [
    "basic_rnn_seq2seq", "embedding_attention_seq2seq", "embedding_rnn_seq2seq", "embedding_tied_rnn_seq2seq",
    "model_with_buckets", "one2many_rnn_seq2seq", "tied_rnn_seq2seq",
]  # fmt: skip


def basic_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell, dtype: DTypeLike = dtypes.float32,
    scope: str | VariableScope | None = None,
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


def _decoded(decode: Callable[[bool, bool], Any], feed_previous: bool | Tensor, count: int) -> tuple[list[Tensor], Any]:
    """`decode(feeds the previous symbol, updates its embedding)`; a tensor `feed_previous` decides at run time.

    The second choice shares the variables of the first, so that neither updates embeddings of fed symbols.
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)
    structure: list[Any] = []

    def branch(feeds: bool) -> list[Tensor]:
        with variable_scope(get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decode(feeds, False)
            structure[:] = [state]
            return [*outputs, *nest.flatten(state)]

    both = cond(feed_previous, lambda: branch(True), lambda: branch(False))
    return both[:count], nest.pack_sequence_as(structure[0], both[count:])


def embedding_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell: Any, num_encoder_symbols: int,
    num_decoder_symbols: int, embedding_size: int, output_projection: Any = None,
    feed_previous: bool | Tensor = False, dtype: DTypeLike | None = None, scope: Any = None,
) -> tuple[list[Tensor], Any]:  # fmt: skip
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

        def decode(feeds: bool, updates: bool) -> Any:
            return embedding_rnn_decoder(
                decoder_inputs, state, cell, num_decoder_symbols, embedding_size,
                output_projection=output_projection, feed_previous=feeds, update_embedding_for_previous=updates,
            )  # fmt: skip

        return _decoded(decode, feed_previous, len(decoder_inputs))


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell: Any, num_symbols: int,
    embedding_size: int, num_decoder_symbols: int | None = None, output_projection: Any = None,
    feed_previous: bool | Tensor = False, dtype: DTypeLike | None = None, scope: Any = None,
) -> tuple[list[Tensor], Any]:  # fmt: skip
    """embedding_rnn_seq2seq with one cell and one embedding for both sequences.

    `num_decoder_symbols`, by default `num_symbols`, is how many symbols can be written.
    Raises ValueError for a projection whose shapes do not fit.
    """
    with variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as scope:
        dtype = scope.dtype
        if output_projection is None:
            written = num_symbols if num_decoder_symbols is None else num_decoder_symbols
            cell = OutputProjectionWrapper(cell, written)
        else:
            weights, biases = (convert_to_tensor(x, dtype=dtype) for x in output_projection)
            weights.shape.assert_is_compatible_with([None, num_symbols])
            biases.shape.assert_is_compatible_with([num_symbols])
        embedding = get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        reads, writes = ([embedding_lookup(embedding, i) for i in each] for each in (encoder_inputs, decoder_inputs))

        def decode(feeds: bool, updates: bool) -> Any:
            loop = embedded_best(embedding, output_projection, updates) if feeds else None
            return tied_rnn_seq2seq(reads, writes, cell, loop_function=loop, dtype=dtype)

        return _decoded(decode, feed_previous, len(decoder_inputs))


def embedding_attention_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs: Sequence[Tensor], cell: Any, num_encoder_symbols: int,
    num_decoder_symbols: int, embedding_size: int, num_heads: int = 1, output_projection: Any = None,
    feed_previous: bool | Tensor = False, dtype: DTypeLike | None = None, scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Tensor], Any]:  # fmt: skip
    """embedding_rnn_seq2seq whose decoder reads the outputs of the encoder by attention."""
    with variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as scope:
        reader = EmbeddingWrapper(
            copy.deepcopy(cell), embedding_classes=num_encoder_symbols, embedding_size=embedding_size
        )
        read, state = static_rnn(reader, encoder_inputs, dtype=scope.dtype)
        memory = concat([reshape(each, [-1, 1, cell.output_size]) for each in read], 1)
        size = None
        if output_projection is None:
            cell, size = OutputProjectionWrapper(cell, num_decoder_symbols), num_decoder_symbols

        def decode(feeds: bool, updates: bool) -> Any:
            return embedding_attention_decoder(
                decoder_inputs, state, memory, cell, num_decoder_symbols, embedding_size, num_heads=num_heads,
                output_size=size, output_projection=output_projection, feed_previous=feeds,
                update_embedding_for_previous=updates, initial_state_attention=initial_state_attention,
            )  # fmt: skip

        return _decoded(decode, feed_previous, len(decoder_inputs))


def one2many_rnn_seq2seq(
    encoder_inputs: Sequence[Tensor], decoder_inputs_dict: Mapping[Any, Sequence[Tensor]], enc_cell: Any,
    dec_cells_dict: Mapping[Any, Any], num_encoder_symbols: int, num_decoder_symbols_dict: Mapping[Any, int],
    embedding_size: int, feed_previous: bool | Tensor = False, dtype: DTypeLike | None = None, scope: Any = None,
) -> tuple[dict[Any, list[Tensor]], dict[Any, Any]]:  # fmt: skip
    """One encoder and several decoders, by name (Luong et al. 2015, multi-task).

    Returns (outputs by name, last states by name).
    Raises TypeError for cells that are not an RNNCell, ValueError where the names of cells and inputs differ.
    """
    if not isinstance(enc_cell, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError(
            f"dec_cells_dict has the keys {sorted(dec_cells_dict, key=str)}, decoder_inputs_dict "
            f"{sorted(decoder_inputs_dict, key=str)}"
        )
    for each in dec_cells_dict.values():
        if not isinstance(each, RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(each)}")
    outputs, states = {}, {}
    with variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as scope:
        reader = EmbeddingWrapper(enc_cell, embedding_classes=num_encoder_symbols, embedding_size=embedding_size)
        _, state = static_rnn(reader, encoder_inputs, dtype=scope.dtype)
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                def decode(feeds: bool, updates: bool, inputs=inputs, cell=cell, symbols=symbols) -> Any:
                    return embedding_rnn_decoder(inputs, state, cell, symbols, embedding_size, feed_previous=feeds)

                outputs[name], states[name] = _decoded(decode, feed_previous, len(inputs))
    return outputs, states


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
