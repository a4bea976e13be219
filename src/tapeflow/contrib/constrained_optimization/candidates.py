"""Which of several solutions is best, or which mix of them."""

from __future__ import annotations

import numpy as np

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries


def _checked(objectives: np.ndarray, constraints: np.ndarray):
    constraints = np.asarray(constraints)
    if (constraints.shape[-1],) != np.shape(objectives) or constraints.ndim != 2:
        raise ValueError(
            "objective_vector must have shape (n,), and constraints_matrix (m, n), where n is the number of "
            "candidates, and m is the number of constraints"
        )
    return np.asarray(objectives, np.float64), constraints.astype(np.float64)


def _mix(objectives: np.ndarray, constraints: np.ndarray, most: TensorLike):
    """The mix of the least objective whose constraints are at most `most`; None if there is none."""
    import scipy.optimize  # which only those who ask for mixes need

    found = scipy.optimize.linprog(
        objectives, constraints, np.full(len(constraints), most), np.ones((1, len(objectives))), [1.0], (0, None)
    )
    return found.x if found.success else None


def find_best_candidate_distribution(
    objective_vector: np.ndarray, constraints_matrix: np.ndarray, epsilon: float = 0.0
):
    """The mix of candidates that violates no constraint and has the least objective.

    Args:
      objective_vector: (candidates,).
      constraints_matrix: (constraints, candidates).
      epsilon: where each mix violates some, how exactly the least violation is found.

    Returns:
      The parts of the candidates, (candidates,).

    Raises:
      ValueError: for other shapes and a negative `epsilon`.
      ImportError: without SciPy.
    """
    if epsilon < 0.0:
        raise ValueError("epsilon must be nonnegative")
    objectives, constraints = _checked(objective_vector, constraints_matrix)
    found = _mix(objectives, constraints, 0.0)
    if found is not None:
        return found
    low, high = 0.0, constraints.max(0).min()
    best = _mix(objectives, constraints, high)
    while True:
        middle = 0.5 * (low + high)
        if min(middle - low, high - middle) <= epsilon:
            return best
        found = _mix(objectives, constraints, middle)
        if found is None:
            low = middle
        else:
            best, high = found, middle


def find_best_candidate_index(
    objective_vector: np.ndarray, constraints_matrix: np.ndarray, rank_objectives: bool = False
):
    """The candidate whose worst rank, among all by each constraint's violation, is the best.

    Args:
      objective_vector: (candidates,): of equal candidates, that with the least objective is taken.
      constraints_matrix: (constraints, candidates).
      rank_objectives: whether the ranks of objectives count, too.

    Returns:
      Its number.

    Raises:
      ValueError: for other shapes.
    """
    objectives, constraints = _checked(objective_vector, constraints_matrix)
    ranked = [*np.maximum(constraints, 0.0), *([objectives] if rank_objectives else [])]
    ranks = np.max([(row[:, None] > row).sum(1) for row in ranked], 0, initial=0)
    best = np.flatnonzero(ranks == ranks.min())
    least = best[objectives[best] == objectives[best].min()]
    return int(least[-1])


boundaries(globals())
