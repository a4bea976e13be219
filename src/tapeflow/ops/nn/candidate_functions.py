"""The candidate samplers that programs call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public, tensor_function
from tapeflow.ops.math.casting import cast
from tapeflow.ops.nn.candidate_sampling import (
    AllCandidateSampler,
    ComputeAccidentalHits,
    FixedUnigramCandidateSampler,
    LearnedUnigramCandidateSampler,
    LogUniformCandidateSampler,
    UniformCandidateSampler,
)
from tapeflow.ops.random.seed import seeds


def _int64(classes):
    return cast(convert_to_tensor(classes), dtypes.int64)


@api("random.uniform_candidate_sampler", v1="nn.uniform_candidate_sampler")
@tensor_function
def uniform_candidate_sampler(
    true_classes: Sequence[Any], num_true: int, num_sampled: TensorLike, unique: bool, range_max: TensorLike,
    seed: int | None = None, name: str | None = None,
):
    """Draw classes, all equally likely.

    Args:
      true_classes: int64 `[batch, num_true]`.
      num_true: how many true classes an example has.
      num_sampled: how many classes to draw.
      unique: whether no class is drawn twice.
      range_max: how many classes there are.
      seed: an integer that makes the sample repeatable (optional).
      name: a name for the operation (optional).

    Returns:
      (the sample, int64 `[num_sampled]`; expected counts of the true classes `[batch, num_true]`; those of the
      sample).

    Raises:
      InvalidArgumentError: for fewer classes than are to be drawn without repetition.
    """
    return UniformCandidateSampler(
        _int64(true_classes), num_true, num_sampled, unique, range_max, *seeds(seed)
    )


@api("random.log_uniform_candidate_sampler", v1="nn.log_uniform_candidate_sampler")
@tensor_function
def log_uniform_candidate_sampler(
    true_classes: Sequence[Any], num_true: int, num_sampled: TensorLike, unique: bool, range_max: TensorLike,
    seed: int | None = None, name: str | None = None,
):
    """Draw classes by Zipf's law: P(class) = log((class + 2) / (class + 1)) / log(range_max + 1).

    Args:
      true_classes: int64 `[batch, num_true]`.
      num_true: how many true classes an example has.
      num_sampled: how many classes to draw.
      unique: whether no class is drawn twice.
      range_max: how many classes there are, the most frequent first.
      seed: an integer that makes the sample repeatable (optional).
      name: a name for the operation (optional).

    Returns:
      (the sample, int64 `[num_sampled]`; expected counts of the true classes `[batch, num_true]`; those of the
      sample).

    Raises:
      InvalidArgumentError: for fewer classes than are to be drawn without repetition.
    """
    return LogUniformCandidateSampler(
        _int64(true_classes), num_true, num_sampled, unique, range_max, *seeds(seed)
    )


@api("nn.learned_unigram_candidate_sampler", "random.learned_unigram_candidate_sampler")
@tensor_function
def learned_unigram_candidate_sampler(
    true_classes: Sequence[Any], num_true: int, num_sampled: TensorLike, unique: bool, range_max: TensorLike,
    seed: int | None = None, name: str | None = None,
):
    """Draw classes by how often each has been a true class in the calls so far.

    Args:
      true_classes: int64 `[batch, num_true]`.
      num_true: how many true classes an example has.
      num_sampled: how many classes to draw.
      unique: whether no class is drawn twice.
      range_max: how many classes there are.
      seed: an integer that makes the sample repeatable (optional).
      name: a name for the operation (optional).

    Returns:
      (the sample, int64 `[num_sampled]`; expected counts of the true classes `[batch, num_true]`; those of the
      sample).
    """
    return LearnedUnigramCandidateSampler(
        _int64(true_classes), num_true, num_sampled, unique, range_max, *seeds(seed)
    )


@api("nn.fixed_unigram_candidate_sampler", "random.fixed_unigram_candidate_sampler")
@public
def fixed_unigram_candidate_sampler(
    true_classes: Sequence[Any], num_true: int, num_sampled: int | Tensor, unique: bool, range_max: int | Tensor,
    vocab_file: str = "", distortion: float = 1.0, num_reserved_ids: int | Tensor = 0, num_shards: int | Tensor = 1,
    shard: int | Tensor = 0, unigrams: Sequence[float] = (), seed: int | None = None, name: str | None = None,
):
    """Draw classes by given weights.

    Args:
      true_classes: int64 `[batch, num_true]`.
      num_true: how many true classes an example has.
      num_sampled: how many classes to draw.
      unique: whether no class is drawn twice.
      range_max: how many classes there are.
      vocab_file: a CSV file, the last column of which has the weights, one class a line.
      distortion: the power to which weights are raised.
      num_reserved_ids: how many first classes have no weight and are never drawn.
      num_shards, shard: the classes are divided in so many parts, of which this one alone is drawn from.
      unigrams: the weights, where there is no file.
      seed: an integer that makes the sample repeatable (optional).
      name: a name for the operation (optional).

    Returns:
      (the sample, int64 `[num_sampled]`; expected counts of the true classes `[batch, num_true]`; those of the
      sample).

    Raises:
      InvalidArgumentError: unless there are `range_max` weights.
    """
    return FixedUnigramCandidateSampler(
        _int64(true_classes),
        num_true,
        num_sampled,
        unique,
        range_max,
        vocab_file,
        float(distortion),
        num_reserved_ids,
        num_shards,
        shard,
        [float(w) for w in unigrams],
        *seeds(seed),
    )


@api("nn.all_candidate_sampler", "random.all_candidate_sampler")
@tensor_function
def all_candidate_sampler(
    true_classes: TensorLike, num_true, num_sampled, unique: bool, seed: int | None = None, name: str | None = None
):
    """Draw all classes, each with an expected count of one.

    Args:
      true_classes: int64 `[batch, num_true]`.
      num_true: how many true classes an example has.
      num_sampled: how many classes there are.
      unique: not used.
      seed: not used.
      name: a name for the operation (optional).

    Returns:
      (the classes 0 to num_sampled - 1, int64; expected counts of the true classes `[batch, num_true]`; those of
      the samples).
    """
    return AllCandidateSampler(_int64(true_classes), num_true, num_sampled, unique, *seeds(seed))


@api("nn.compute_accidental_hits")
@tensor_function
def compute_accidental_hits(
    true_classes: TensorLike, sampled_candidates: TensorLike, num_true: int, seed: int | None = None,
    name: str | None = None,
):
    """Find sampled classes that are true ones.

    Args:
      true_classes: int64 `[batch, num_true]`.
      sampled_candidates: what a candidate sampler drew, int64 `[num_sampled]`.
      num_true: how many true classes an example has.
      seed: not used.
      name: a name for the operation (optional).

    Returns:
      (rows of `true_classes`, int32; places in `sampled_candidates`, int64; weights, the lowest float32 each, which
      takes a logit out of the game when added to it).
    """
    return ComputeAccidentalHits(
        _int64(true_classes), _int64(sampled_candidates), num_true, *seeds(seed)
    )
