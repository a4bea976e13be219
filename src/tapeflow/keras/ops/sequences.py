"""Attention, and sequences of labels whose places are not known."""

from __future__ import annotations

from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public_names
from tapeflow.keras.dtype_names import result_type
from tapeflow.keras.ops.conversion import operation, promoted, static_rank, tensor
from tapeflow.ops.array.band import band_part as tf_band_part
from tapeflow.ops.array.construction import ones as tf_ones
from tapeflow.ops.array.joining import concat as tf_concat
from tapeflow.ops.array.sizes import shape as tf_shape
from tapeflow.ops.array.stacking import stack as tf_stack
from tapeflow.ops.array.tiling import repeat as tf_repeat
from tapeflow.ops.array.transposing import transpose as tf_transpose
from tapeflow.ops.linalg.einsum import einsum as tf_einsum
from tapeflow.ops.math.casting import cast as tf_cast
from tapeflow.ops.math.choice import where as tf_where
from tapeflow.ops.math.elementwise import rsqrt as tf_rsqrt
from tapeflow.ops.nn.softmax import softmax as tf_softmax
from tapeflow.ops.recurrent.ctc_decoding import (
    ctc_beam_search_decoder as tf_ctc_beam_search_decoder,
)
from tapeflow.ops.recurrent.ctc_decoding import ctc_greedy_decoder as tf_ctc_greedy_decoder
from tapeflow.ops.recurrent.ctc_functions import ctc_loss as tf_ctc_loss
from tapeflow.ops.sparse.functions import SparseTensor
from tapeflow.ops.sparse.functions import to_dense as tf_to_dense


@operation
def dot_product_attention(
    query: Any, key: Any, value: Any, bias=None, mask: TensorLike | None = None, scale=None, is_causal: bool = False,
    flash_attention=None, attn_logits_soft_cap=None,
):  # fmt: skip
    """Return values averaged by the similarity of their keys to queries.

    Args:
      query: (batch, queries, heads, size).
      key: (batch, keys, heads, size); fewer heads than the queries have serve a group of these each.
      value: as `key`.
      bias: what is added to the scores (batch, heads, queries, keys).
      mask: where the scores count.
      scale: what the scores are multiplied by, 1 / sqrt(size) by default.
      is_causal: whether a query sees only the keys up to its own place.
      flash_attention: must not be True: there is no such kernel.
      attn_logits_soft_cap: accepted, and without effect, as in Keras on TensorFlow.
    """
    if flash_attention:
        raise ValueError("Flash attention is not supported in tensorflow backend.")
    query, key, value = promoted(tensor(query), tensor(key), tensor(value))
    if static_rank(query) != 4:
        raise ValueError(
            "`dot_product_attention` only supports 4D inputs. Received: "
            f"query.shape={query.shape}, key.shape={key.shape}, value.shape={value.shape}."
        )
    heads, of_keys = query.shape[2], key.shape[2]
    if heads is not None and of_keys is not None and heads > of_keys > 1:
        key, value = (tf_repeat(x, heads // of_keys, axis=2) for x in (key, value))
    wide = result_type(query.dtype, "float32")
    scores = tf_cast(tf_einsum("BTNH,BSNH->BNTS", query, key), wide)
    if scale is None:
        scale = tf_rsqrt(tf_cast(tf_shape(key)[-1], wide))
    scores = scores * tf_cast(scale, wide)
    if bias is not None:
        scores = scores + tensor(bias, wide)
    least = tf_cast(-3e4 if scores.dtype == "float16" else scores.dtype.max * -0.7, wide)
    if mask is not None:
        scores = tf_where(tensor(mask, "bool"), scores, least)
    if is_causal:
        seen = tf_band_part(tf_ones(tf_shape(scores)[2:], "bool"), -1, 0)
        scores = tf_where(seen, scores, least)
    shares = tf_cast(tf_softmax(scores), key.dtype)
    return tf_einsum("BNTS,BSNH->BTNH", shares, value)


@operation
def ctc_loss(target: Any, output: Any, target_length, output_length, mask_index: int = 0):
    """Return the negative logarithms of the likelihoods of label sequences, summed over all alignments.

    Args:
      target: labels (batch, greatest length).
      output: logits (batch, steps, classes).
      target_length: how many labels count, of each.
      output_length: how many steps count, of each.
      mask_index: the class that stands for no label.
    """
    target, output = tensor(target), tensor(output)
    if static_rank(target) != 2 or static_rank(output) != 3:
        raise ValueError(f"`target` must have rank 2 and `output` rank 3, got shapes {target.shape}, {output.shape}.")
    dtype = result_type(output.dtype, "float32")
    loss = tf_ctc_loss(
        tf_cast(target, "int32"), tf_cast(output, "float32"), tensor(target_length), tensor(output_length),
        logits_time_major=False, blank_index=mask_index,
    )  # fmt: skip
    return tf_cast(loss, dtype)


@operation
def ctc_decode(
    inputs: Any, sequence_lengths: TensorLike, strategy: str = "greedy", beam_width: int = 100, top_paths: int = 1,
    merge_repeated: bool = True, mask_index=0,
):  # fmt: skip
    """Return the most likely label sequences (paths, batch, steps), filled up with -1, and their scores.

    Args:
      inputs: logits (batch, steps, classes).
      sequence_lengths: how many steps count, of each.
      strategy: "greedy" or "beam_search".
      mask_index: the class that stands for no label.
    """
    inputs = tensor(inputs)
    inputs = tf_cast(inputs, result_type(inputs.dtype, "float32"))
    shape = tf_cast(tf_shape(inputs)[:2], "int64")
    lengths = tensor(sequence_lengths, "int32")
    steps = tf_transpose(inputs, [1, 0, 2])
    if strategy == "greedy":
        decoded, scores = tf_ctc_greedy_decoder(steps, lengths, merge_repeated, mask_index)
    elif strategy == "beam_search":
        if mask_index is not None:
            # The decoder takes the last class for the blank one.
            mask_index %= inputs.shape[-1]
            steps = tf_concat(
                [steps[..., :mask_index], steps[..., mask_index + 1 :], steps[..., mask_index : mask_index + 1]], -1
            )
        decoded, scores = tf_ctc_beam_search_decoder(steps, lengths, beam_width, top_paths)
    else:
        raise ValueError(f"Invalid strategy {strategy}. Supported values are 'greedy' and 'beam_search'.")
    dense = [tf_to_dense(SparseTensor(x.indices, x.values, shape), default_value=-1) for x in decoded]
    labels = tf_cast(tf_stack(dense), "int32")
    if strategy == "beam_search" and mask_index is not None:
        labels = tf_where(labels >= mask_index, labels + 1, labels)
    return labels, scores


__all__ = public_names(globals())
