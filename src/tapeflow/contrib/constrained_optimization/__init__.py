"""`tf.contrib.constrained_optimization`: minimization where some functions must not be positive."""

from tapeflow.contrib.constrained_optimization.candidates import (
    find_best_candidate_distribution,
    find_best_candidate_index,
)
from tapeflow.contrib.constrained_optimization.optimizers import (
    AdditiveExternalRegretOptimizer,
    AdditiveSwapRegretOptimizer,
    ConstrainedOptimizer,
    MultiplicativeSwapRegretOptimizer,
)
from tapeflow.contrib.constrained_optimization.problem import ConstrainedMinimizationProblem

__all__ = [
    "AdditiveExternalRegretOptimizer", "AdditiveSwapRegretOptimizer", "ConstrainedMinimizationProblem",
    "ConstrainedOptimizer", "MultiplicativeSwapRegretOptimizer", "find_best_candidate_distribution",
    "find_best_candidate_index",
]  # fmt: skip
