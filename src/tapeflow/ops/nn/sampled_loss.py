"""Losses over many classes of which only some are looked at: the true ones, and a sample of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import tensor_function
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.rows import StopGradient
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing.scatter import scatter_nd
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math import arithmetic
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import Log
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.nn import loss, sigmoid_loss
from tapeflow.ops.nn.candidate_functions import (
    compute_accidental_hits,
    log_uniform_candidate_sampler,
)
from tapeflow.ops.nn.embedding import embedding_lookup_v1
from tapeflow.ops.static import size_of


def _sampled_logits(
    weights: TensorLike, biases: TensorLike, labels: Any, inputs, num_sampled, num_classes, num_true: int,
    sampled_values: Sequence[Tensor] | None, remove_accidental_hits: bool, partition_strategy: str,
    seed: int | None = None,
):
    """(logits, labels), both [batch, num_true + num_sampled]: the true classes come first."""
    inputs = convert_to_tensor(inputs)
    labels = cast(convert_to_tensor(labels), dtypes.int64)
    flat = reshape(labels, [-1])
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            labels, num_true, num_sampled, True, num_classes, seed
        )
    sampled, true_count, sampled_count = (StopGradient(value) for value in sampled_values)
    sampled = cast(sampled, dtypes.int64)
    ids = concat([flat, sampled], 0)
    rows = size_of(flat, 0)
    w = cast(embedding_lookup_v1(weights, ids, partition_strategy), inputs.dtype)
    b = cast(embedding_lookup_v1(biases, ids, partition_strategy), inputs.dtype)
    sampled_logits = matmul(inputs, w[rows:], transpose_b=True) + b[rows:]
    true_w = reshape(w[:rows], [-1, num_true, size_of(w, 1)])
    dots = reduce_sum(expand_dims(inputs, 1) * true_w, -1)
    true_logits = dots + reshape(b[:rows], [-1, num_true])
    if remove_accidental_hits:
        where, ids, lowest = compute_accidental_hits(labels, sampled, num_true)
        places = stack([cast(where, dtypes.int64), ids], 1)
        shape = stack([size_of(labels, 0), size_of(sampled, 0)])
        lowest = cast(lowest, sampled_logits.dtype)
        # Two true classes of a row may be the same: a sum of two of the lowest numbers would be infinite.
        hits = scatter_nd(places, ones_like(lowest), cast(shape, dtypes.int64))
        sampled_logits += arithmetic.minimum(hits, 1) * lowest.dtype.min
    true_logits -= cast(Log(true_count), inputs.dtype)
    sampled_logits -= cast(Log(sampled_count), inputs.dtype)
    shares = ones_like(true_logits) / num_true
    return (
        concat([true_logits, sampled_logits], 1),
        concat([shares, zeros_like(sampled_logits)], 1),
    )


@api(v1="nn.nce_loss")
@tensor_function
def nce_loss_v1(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: TensorLike,
    num_classes: TensorLike, num_true: int = 1, sampled_values: Sequence[Tensor] | None = None,
    remove_accidental_hits: bool = False, partition_strategy: str = "mod", name: str | None = "nce_loss",
):
    """`nce_loss` of 1.x, where row i of several parts of `weights` is by default in part i mod their number."""
    logits, shares = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, partition_strategy,
    )  # fmt: skip
    return reduce_sum(sigmoid_loss.sigmoid_cross_entropy_with_logits(labels=shares, logits=logits), 1)


@api(v2="nn.nce_loss")
@tensor_function
def nce_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: TensorLike,
    num_classes: TensorLike, num_true: int = 1, sampled_values: Sequence[Tensor] | None = None,
    remove_accidental_hits: bool = False, name: str | None = "nce_loss",
):
    """Compute losses of noise-contrastive estimation (Gutmann and Hyvärinen, 2010), for training only.

    Args:
      weights: `[num_classes, dim]`, or a list of parts of it.
      biases: `[num_classes]`.
      labels: the true classes, int64 `[batch, num_true]`.
      inputs: `[batch, dim]`.
      num_sampled: how many classes to draw for the batch.
      num_classes: how many classes there are.
      num_true: how many true classes an example has.
      sampled_values: what a candidate sampler returns; None: `tf.random.log_uniform_candidate_sampler`.
      remove_accidental_hits: whether samples that are true classes are left out.
      name: a name for the operation (optional).

    Returns:
      Losses `[batch]`.
    """
    return nce_loss_v1(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, "div",
    )  # fmt: skip


@api(v1="nn.sampled_softmax_loss")
@tensor_function
def sampled_softmax_loss_v1(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: TensorLike,
    num_classes: TensorLike, num_true: int = 1, sampled_values: Sequence[Tensor] | None = None,
    remove_accidental_hits: bool = True, partition_strategy: str = "mod",
    name: str | None = "sampled_softmax_loss", seed: int | None = None,
):
    """`sampled_softmax_loss` of 1.x, where row i of several parts is by default in part i mod their number."""
    logits, shares = _sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, partition_strategy, seed,
    )  # fmt: skip
    return loss.softmax_cross_entropy_with_logits(StopGradient(shares), logits)


@api(v2="nn.sampled_softmax_loss")
@tensor_function
def sampled_softmax_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: TensorLike,
    num_classes: TensorLike, num_true: int = 1, sampled_values: Sequence[Tensor] | None = None,
    remove_accidental_hits: bool = True, seed: int | None = None, name: str | None = "sampled_softmax_loss",
):
    """Compute softmax cross-entropies over the true classes and a sample (Jean et al., 2014), for training only.

    Args:
      weights: `[num_classes, dim]`, or a list of parts of it.
      biases: `[num_classes]`.
      labels: the true classes, int64 `[batch, num_true]`.
      inputs: `[batch, dim]`.
      num_sampled: how many classes to draw for the batch.
      num_classes: how many classes there are.
      num_true: how many true classes an example has.
      sampled_values: what a candidate sampler returns; None: `tf.random.log_uniform_candidate_sampler`.
      remove_accidental_hits: whether samples that are true classes are left out.
      seed: an integer that makes the sample repeatable (optional).
      name: a name for the operation (optional).

    Returns:
      Losses `[batch]`.
    """
    return sampled_softmax_loss_v1(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values,
        remove_accidental_hits, "div", seed=seed,
    )  # fmt: skip
