"""`tf.contrib.nn`: functions of networks that did not stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.annotations import FloatLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import StopGradient
from tapeflow.ops.array.sizes import shape
from tapeflow.ops.convolution.functions_1d import conv1d_transpose
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.top_k import top_k
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.arithmetic import minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_logsumexp
from tapeflow.ops.math.rounding import floor
from tapeflow.ops.math.sorting import sort
from tapeflow.ops.nn import loss
from tapeflow.ops.nn.candidate_functions import learned_unigram_candidate_sampler
from tapeflow.ops.nn.embedding import embedding_lookup_v1
from tapeflow.ops.nn.sampled_loss import sampled_softmax_loss_v1
from tapeflow.ops.nn.sigmoid_loss import sigmoid_cross_entropy_with_logits
from tapeflow.ops.nn.softplus import softplus
from tapeflow.ops.random.functions import uniform

__all__ = [
    "alpha_dropout", "conv1d_transpose", "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits", "nth_element", "rank_sampled_softmax_loss",
    "sampled_sparse_softmax_loss", "scaled_softplus",
]  # fmt: skip


def alpha_dropout(
    x: TensorLike, keep_prob: float, noise_shape: ShapeLike | None = None, seed: int | None = None,
    name: str | None = None
):
    """Dropout that keeps mean and variance of self-normalising networks (Klambauer et al. 2017).

    Raises ValueError for a probability outside (0, 1].
    """
    x = convert_to_tensor(x)
    if not 0 < keep_prob <= 1:
        raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob}")
    if keep_prob == 1:
        return x
    alpha = -1.7580993408473766
    kept = floor(keep_prob + uniform(shape(x) if noise_shape is None else noise_shape, seed=seed, dtype=x.dtype))
    a = (keep_prob + keep_prob * (1 - keep_prob) * alpha**2) ** -0.5
    b = -a * alpha * (1 - keep_prob)
    return a * (x * kept + alpha * (1 - kept)) + b


def scaled_softplus(x: TensorLike, alpha: float, clip=None, name: str | None = None):
    """alpha * softplus(x / alpha), clipped where a bound is given."""
    x = convert_to_tensor(x)
    y = alpha * softplus(x / alpha)
    return y if clip is None else minimum(y, clip)


def nth_element(input: TensorLike, n: int, reverse: bool = False, name: str | None = None):
    """The nth smallest (or largest) of the last axis."""
    return gather(sort(input, direction="DESCENDING" if reverse else "ASCENDING"), n, axis=-1)


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, dim: int = -1, name: str | None = None
):
    """`tf.nn.softmax_cross_entropy_with_logits` of 1.x, with the logits first, as before 1.0."""
    return loss.softmax_cross_entropy_with_logits_v1(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: TensorLike, labels: TensorLike, name: str | None = None
):
    """`tf.nn.sparse_softmax_cross_entropy_with_logits`, with the logits first, as before 1.0."""
    return loss.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: TensorLike, targets: TensorLike, name: str | None = None
):
    """`tf.nn.sigmoid_cross_entropy_with_logits`, with the logits first, as before 1.0."""
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def sampled_sparse_softmax_loss(
    weights: TensorLike, biases: TensorLike, labels: TensorLike, inputs: TensorLike, num_sampled: int,
    num_classes: int, sampled_values: Sequence[Tensor] | None = None, remove_accidental_hits: bool = True,
    partition_strategy: str = "mod", name: str | None = "sampled_sparse_softmax_loss",
):  # fmt: skip
    """Compute `tf.nn.sampled_softmax_loss` of examples with one true class each, int64 `[batch, 1]`."""
    return sampled_softmax_loss_v1(
        weights, biases, labels, inputs, num_sampled, num_classes, 1, sampled_values, remove_accidental_hits,
        partition_strategy, name,
    )  # fmt: skip


def rank_sampled_softmax_loss(
    weights: TensorLike, biases: TensorLike, labels: Any, inputs: TensorLike, num_sampled: int,
    num_resampled: int, num_classes: int, num_true: int, sampled_values: Sequence[Tensor] | None,
    resampling_temperature: FloatLike, remove_accidental_hits: bool, partition_strategy: str,
    name: str | None = None,
):  # fmt: skip
    """Compute sampled softmax losses over those samples that are the likeliest for the batch (arXiv:1707.03073).

    Args:
      weights, biases, labels, inputs, num_classes, num_true: see `tf.nn.sampled_softmax_loss`.
      num_sampled: how many classes are sampled.
      num_resampled: how many of these are kept: less than `num_sampled`.
      sampled_values: what a candidate sampler returns; None: `tf.nn.learned_unigram_candidate_sampler`.
      resampling_temperature: a scalar; lower ones prefer classes that are likely for a single example.
      remove_accidental_hits: whether samples that are true classes are left out.
      partition_strategy: "mod" or "div"; see `tf.nn.embedding_lookup`.
      name: a name for the operation (optional).

    Returns:
      Losses `[batch]`.

    Raises:
      ValueError: for numbers of classes in another order, or an unknown strategy.
    """
    if num_sampled > num_classes:
        raise ValueError(f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})")
    if num_sampled <= num_resampled:
        raise ValueError(f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})")
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    if not sampled_values:
        sampled_values = learned_unigram_candidate_sampler(labels, num_true, num_sampled, True, num_classes)
    kept = _likeliest(
        weights, biases, inputs, sampled_values, num_resampled, resampling_temperature, partition_strategy
    )
    return sampled_softmax_loss_v1(
        weights, biases, labels, inputs, num_resampled, num_classes, num_true, kept, remove_accidental_hits,
        partition_strategy, name,
    )  # fmt: skip


def _likeliest(
    weights: TensorLike, biases: TensorLike, inputs: TensorLike, values: Sequence[Tensor], count: int,
    temperature: FloatLike, strategy: str,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The sampled values of `count` of the samples: those of the largest sums over the batch of exp(logit)."""
    sampled, true_counts, counts = (StopGradient(each) for each in values)
    sampled = cast(sampled, dtypes.int64)
    dots = matmul(
        embedding_lookup_v1(weights, sampled, strategy), convert_to_tensor(inputs) / temperature, transpose_b=True
    )
    bias = reshape(embedding_lookup_v1(biases, sampled, strategy), [-1])
    chosen = top_k(reduce_logsumexp(dots, 1) + bias / temperature, count, sorted=False)[1]
    return gather(sampled, chosen), true_counts, gather(counts, chosen)
