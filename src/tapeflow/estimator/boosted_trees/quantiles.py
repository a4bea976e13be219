"""Buckets of numbers: a summary of the values of each feature, and boundaries that part them evenly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Summary(NamedTuple):
    """What was seen of each feature.

    Attributes:
      values: float32 (features, kept), sorted.
      weights: float32 (features, kept): how many values each stands for.
    """

    values: np.ndarray
    weights: np.ndarray


def new_summary(features: int) -> Summary:
    """Nothing seen."""
    return Summary(np.zeros((features, 0), np.float32), np.zeros((features, 0), np.float32))


def added(summary: Summary, values: np.ndarray, most: int) -> Summary:
    """The summary with a batch, (examples, features); where more than `most` are kept, evenly spaced ranks stay."""
    everything = np.concatenate([summary.values, values.T.astype(np.float32)], 1)
    weights = np.concatenate([summary.weights, np.ones(values.T.shape, np.float32)], 1)
    order = np.argsort(everything, 1, kind="stable")
    everything, weights = np.take_along_axis(everything, order, 1), np.take_along_axis(weights, order, 1)
    if everything.shape[1] <= most:
        return Summary(everything, weights)
    total = weights.sum(1, keepdims=True)
    ranks = np.cumsum(weights, 1)
    wanted = (np.arange(most) + 0.5) / most * total
    chosen = np.stack([np.searchsorted(rank, want) for rank, want in zip(ranks, wanted, strict=True)])
    chosen = np.minimum(chosen, everything.shape[1] - 1)
    return Summary(
        np.take_along_axis(everything, chosen, 1), np.repeat(total / most, most, 1).astype(np.float32)
    )  # fmt: skip


def boundaries(summary: Summary, buckets: int) -> np.ndarray:
    """float32 (features, buckets - 1): the greatest value of each bucket but the last; infinity where there is none."""
    found = np.full((len(summary.values), buckets - 1), np.inf, np.float32)
    for row, values, weights in zip(found, *summary, strict=True):
        distinct = np.unique(values)
        if len(distinct) > buckets:
            ranks = np.cumsum(weights)
            wanted = np.arange(1, buckets) / buckets * ranks[-1]
            distinct = np.unique(values[np.minimum(np.searchsorted(ranks, wanted), len(values) - 1)])
        else:
            distinct = distinct[:-1]
        row[: len(distinct)] = distinct
    return found
