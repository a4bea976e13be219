"""Distances between embeddings, and a loss of how well they cluster (Song et al. 2017)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.ops.array.construction import ones, ones_like
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.sizes import shape, size
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.array.tensor_diagonal import tensor_diag as diag
from tapeflow.ops.array.transposing import transpose
from tapeflow.ops.control.printing import Print
from tapeflow.ops.control.py_functions import py_func
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.indexing.unique import unique
from tapeflow.ops.linalg.matmul import matmul
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.elementwise import sqrt, square
from tapeflow.ops.math.reductions import reduce_min, reduce_sum
from tapeflow.ops.math.segment_functions import unsorted_segment_min
from tapeflow.v1 import summary

__all__ = ["cluster_loss", "pairwise_distance"]

_ROUNDS = 5


def pairwise_distance(feature: TensorLike, squared: bool = False) -> Tensor:
    """The distances of all rows of [batch, size], or their squares: [batch, batch], with zeros in the diagonal.

    A distance of zero has the gradient zero.
    """
    feature = convert_to_tensor(feature)
    norms = reduce_sum(square(feature), axis=1)
    squares = expand_dims(norms, 1) + expand_dims(norms, 0) - 2.0 * matmul(feature, transpose(feature))
    squares = maximum(squares, 0.0)
    zero = cast(squares <= 0.0, squares.dtype)
    distances = squares if squared else sqrt(squares + zero * 1e-16)
    off_diagonal = ones_like(distances) - diag(ones(stack([shape(feature)[0]]), distances.dtype))
    return distances * (1.0 - zero) * off_diagonal


def _score(margin_type: str) -> Callable[[np.ndarray, np.ndarray], float]:
    """How well clusters fit labels, in [0, 1]. Raises ValueError for an unknown name."""
    if margin_type == "const":
        return lambda labels, found: float(np.array_equal(labels, found))
    from sklearn import metrics  # type: ignore[import-not-found, import-untyped, unused-ignore]

    functions = {
        "nmi": metrics.normalized_mutual_info_score, "ami": metrics.adjusted_mutual_info_score,
        "ari": metrics.adjusted_rand_score, "vmeasure": metrics.v_measure_score,
    }  # fmt: skip
    if margin_type not in functions:
        raise ValueError(f"Unrecognized margin_type: {margin_type}")
    return lambda labels, found: max(0.0, float(functions[margin_type](labels, found)))


def _assigned(distances: np.ndarray, medoids: list[int]) -> np.ndarray:
    """For each row the number of the nearest medoid; a medoid is its own."""
    found = distances[medoids].argmin(0)
    found[medoids] = np.arange(len(medoids))
    return found


def _medoids(
    distances: np.ndarray, labels: np.ndarray, multiplier: float, score: Callable[..., float], rounds: int
) -> tuple[np.ndarray, np.float32]:
    """(as many medoids as labels, the score of their clusters): those whose loss is the largest, found greedily."""

    def margin(medoids: list[int]) -> float:
        return multiplier * (1.0 - score(labels, _assigned(distances, medoids)))

    medoids: list[int] = []
    count = len(np.unique(labels))
    for _ in range(count):
        candidates = [i for i in range(len(labels)) if i not in medoids]
        energies = [-distances[[*medoids, i]].min(0).sum() + margin([*medoids, i]) for i in candidates]
        medoids.append(candidates[int(np.argmax(energies))])
    for _ in range(rounds):
        clusters = _assigned(distances, medoids)
        for number in range(count):
            members = np.flatnonzero(clusters == number)
            energies = [
                -distances[members, i].sum() + margin([*medoids[:number], int(i), *medoids[number + 1 :]])
                for i in members
            ]
            medoids[number] = int(members[int(np.argmax(energies))])
    return np.array(medoids, np.int64), np.float32(score(labels, _assigned(distances, medoids)))


def cluster_loss(
    labels: TensorLike, embeddings: TensorLike, margin_multiplier: float, enable_pam_finetuning: bool = True,
    margin_type: str = "nmi", print_losses: bool = False,
) -> Tensor:  # fmt: skip
    """max(energy of the worst clusters + margin - energy of the true ones, 0); energies are minus sums of distances.

    Args:
      labels: integers, [batch].
      embeddings: [batch, size].
      margin_multiplier: the weight of 1 minus the score of the clustering.
      enable_pam_finetuning: whether medoids are moved within their clusters after the greedy search.
      margin_type: the score: "nmi", "ami", "ari", "vmeasure", which scikit-learn computes, or "const".
      print_losses: whether the loss is printed.
    Raises ImportError without scikit-learn, ValueError for an unknown score.
    """
    score, rounds = _score(margin_type), _ROUNDS if enable_pam_finetuning else 0
    labels = reshape(convert_to_tensor(labels), [-1])
    distances = pairwise_distance(embeddings)

    def search(given: Any, classes: Any) -> Any:
        return _medoids(np.asarray(given), np.asarray(classes), float(margin_multiplier), score, rounds)

    medoids, found_score = py_func(search, [distances, labels], [dtypes.int64, dtypes.float32])
    found_score.set_shape([])
    score_pred = -reduce_sum(reduce_min(gather(distances, medoids), axis=0))
    classes, numbers = unique(labels)
    alike = cast(equal(expand_dims(numbers, 0), expand_dims(numbers, 1)), distances.dtype)
    score_gt = -reduce_sum(unsorted_segment_min(reduce_sum(distances * alike, 0), numbers, size(classes)))
    loss = maximum(score_pred + margin_multiplier * (1.0 - found_score) - score_gt, 0.0, name="clustering_loss")
    if print_losses:
        loss = Print(loss, ["clustering_loss: ", loss, shape(loss)])
    summary.scalar("losses/score_pred", score_pred)
    summary.scalar(f"losses/{margin_type}", found_score)
    summary.scalar("losses/score_gt", score_gt)
    return loss
