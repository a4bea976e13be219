"""Distances between sets of activations, (examples, features), and the score of logits; computed in float64."""

from __future__ import annotations

from typing import Any

from tapeflow.compat import v1
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike

_TOO_SMALL = 1e-10


def classifier_score_from_logits(logits: Tensor):
    """The Inception score: the exponent of the mean divergence of the classes of examples from those of all."""
    logits.shape.assert_has_rank(2)
    dtype = logits.dtype
    logits = v1.cast(logits, v1.float64)
    likely = v1.nn.softmax(logits)
    of_all = v1.reduce_mean(likely, axis=0)
    divergences = v1.reduce_sum(likely * (v1.nn.log_softmax(logits) - v1.log(of_all)), axis=1)
    return v1.cast(v1.exp(v1.reduce_mean(divergences)), dtype)


def _doubles(real: Any, generated: Any):
    for activations in (real, generated):
        activations.shape.assert_has_rank(2)
    return v1.cast(real, v1.float64), v1.cast(generated, v1.float64), real.dtype


def _between_means(real: Tensor, generated: Tensor):
    return v1.reduce_sum(v1.squared_difference(v1.reduce_mean(real, 0), v1.reduce_mean(generated, 0)))


def mean_only_frechet_classifier_distance_from_activations(real_activations, generated_activations):
    """The squared distance of the means."""
    real, generated, dtype = _doubles(real_activations, generated_activations)
    return v1.cast(_between_means(real, generated), dtype)


def diagonal_only_frechet_classifier_distance_from_activations(real_activations, generated_activations):
    """The Frechet distance of normal distributions with independent features. Raises ValueError for other widths."""
    real, generated, dtype = _doubles(real_activations, generated_activations)
    if real.shape[1] != generated.shape[1]:
        raise ValueError(f"shape: {real.shape[1:]} must match expected shape: {generated.shape[1:]}")
    spread, other = (v1.nn.moments(x, axes=[0])[1] for x in (real, generated))
    trace = v1.reduce_sum(spread + other - 2.0 * v1.sqrt(spread * other))
    return v1.cast(trace + _between_means(real, generated), dtype)


def _root(matrix: Tensor):
    """The square root of a symmetric matrix; singular values that are nearly zero stay."""
    s, u, v = v1.svd(matrix)
    roots = v1.where(v1.less(s, _TOO_SMALL), s, v1.sqrt(s))
    return v1.matmul(u * roots, v, transpose_b=True)


def _covariance(x: Tensor):
    centered = x - v1.reduce_mean(x, 0)
    return v1.matmul(centered, centered, transpose_a=True) / (v1.cast(v1.shape(x)[0], v1.float64) - 1)


def frechet_classifier_distance_from_activations(real_activations: TensorLike, generated_activations: TensorLike):
    """The Frechet distance of normal distributions with the means and covariances of the activations."""
    real, generated, dtype = _doubles(real_activations, generated_activations)
    one, other = _covariance(real), _covariance(generated)
    root = _root(one)
    product = v1.trace(_root(v1.matmul(root, v1.matmul(other, root))))
    trace = v1.trace(one + other) - 2.0 * product
    return v1.cast(trace + _between_means(real, generated), dtype)


def kernel_classifier_distance_from_activations(
    real_activations, generated_activations, max_block_size: int = 1024, dtype: DTypeLike | None = None
):
    """The first result of `kernel_classifier_distance_and_std_from_activations`."""
    return kernel_classifier_distance_and_std_from_activations(
        real_activations, generated_activations, max_block_size, dtype
    )[0]


def _starts(count: Tensor, blocks: Tensor):
    """Where blocks begin and end, the last of which are longer by one."""
    longer = count - count // blocks * blocks
    sizes = [v1.fill([blocks - longer], count // blocks), v1.fill([longer], count // blocks + 1)]
    return v1.concat([[0], v1.cumsum(v1.concat(sizes, 0))], 0)


def kernel_classifier_distance_and_std_from_activations(
    real_activations, generated_activations, max_block_size: int = 1024, dtype: DTypeLike | None = None
):
    """The maximum mean discrepancy under the kernel `(x . y / features + 1) ** 3`, without bias, and its error.

    Args:
      max_block_size: of how many examples an estimate is made at most; the result is the mean of all blocks. The error
        of one block is NaN.
      dtype: to compute in; by default the activations'.
    """
    real, generated = real_activations, generated_activations
    real.shape.assert_has_rank(2)
    generated.shape.assert_has_rank(2)
    real.shape[1:].assert_is_compatible_with(generated.shape[1:])
    dtype = dtype or real.dtype
    real, generated = v1.cast(real, dtype), v1.cast(generated, dtype)
    counts = [v1.shape(x)[0] for x in (real, generated)]
    blocks = v1.cast(v1.ceil(v1.maximum(*counts) / max_block_size), v1.int32)
    starts = [_starts(count, blocks) for count in counts]
    width = v1.cast(v1.shape(real)[1], dtype)

    def kernel(x: Tensor, y: Tensor):
        return (v1.matmul(x, y, transpose_b=True) / width + 1) ** 3

    def within(x: Tensor):
        """The mean over pairs of different examples."""
        values, count = kernel(x, x), v1.cast(v1.shape(x)[0], dtype)
        return (v1.reduce_sum(values) - v1.trace(values)) / (count * (count - 1))

    def estimate(i: Tensor):
        x, y = (
            data[start[i] : start[i + 1]]
            for data, start in zip((real, generated), starts, strict=True)
        )
        return within(x) + within(y) - 2 * v1.reduce_mean(kernel(x, y))

    found = v1.map_fn(estimate, v1.range(blocks), dtype=dtype, back_prop=False)
    mean, number = v1.reduce_mean(found), v1.cast(blocks, dtype)
    # Of one block this is 0 / 0.
    variance = v1.reduce_sum(v1.square(found - mean)) / (number - 1)
    return mean, v1.sqrt(variance / number)
