"""Mixtures of Gaussians as a graph: `GmmAlgorithm` and `gmm`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.compat import v1
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries, public_methods

FULL_COVARIANCE, DIAG_COVARIANCE = "full", "diag"
_LEAST_VARIANCE = 1e-3
_TINY = np.finfo(np.float64).eps


@public_methods
class GmmAlgorithm:
    """Expectation and maximization: how likely points are of each class, and the classes that make them most likely.

    Args:
      data: a list of matrices of points.
      num_classes: how many Gaussians.
      initial_means: their first means, (classes, dimensions); by default points that are drawn.
      params: what steps change: "w" for weights, "m" for means, "c" for covariances.
      covariance_type: "full" or "diag".
      random_seed: of the draw.

    Raises:
      ValueError: for another type.
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self, data: Any, num_classes: int, initial_means: TensorLike | None = None, params: str = "wmc",
        covariance_type: str = FULL_COVARIANCE, random_seed: int = 0,
    ):  # fmt: skip
        if covariance_type not in (FULL_COVARIANCE, DIAG_COVARIANCE):
            raise ValueError(f"programmer error: Invalid covariance type: {covariance_type}")
        self._full, self._count, self._params = covariance_type == FULL_COVARIANCE, num_classes, params
        self._sizes = [v1.shape(part)[0] for part in data]
        self._points = v1.concat(data, 0)
        self._width = v1.shape(self._points)[1]
        none = v1.constant([], v1.float32)
        self._means = v1.Variable(none, name=self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covs = v1.Variable(none, name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False)
        self._alpha = v1.Variable(v1.fill([num_classes], 1.0 / num_classes), name=self.CLUSTERS_WEIGHT)
        self._initialized = v1.Variable(False, name="initialized")
        self._start = self._initialization(initial_means, random_seed)
        self._logits = self._log_probabilities() + v1.log(self._alpha)
        self._likely = v1.reduce_logsumexp(self._logits, 1, keepdims=True)
        self._parts = v1.exp(self._logits - self._likely)
        self._train = self._maximization()

    def _least(self):
        return v1.eye(self._width) * _LEAST_VARIANCE if self._full else _LEAST_VARIANCE

    def _initialization(self, means: Any, seed: int):
        size = v1.shape(self._points)[0]
        if means is None:
            with v1.control_dependencies([v1.assert_less_equal(self._count, size)]):
                drawn = v1.random_uniform([self._count], 0, v1.cast(size, v1.int64), v1.int64, seed=seed)
            means = v1.gather(self._points, drawn)
        apart = self._points - v1.reduce_mean(self._points, 0, keepdims=True)
        rest = v1.cast(size, v1.float32) - 1
        if self._full:
            spread = v1.matmul(apart, apart, transpose_a=True) / rest + self._least()
        else:
            spread = v1.reduce_sum(v1.square(apart), 0) / rest + self._least()
        covs = v1.tile(spread[None], [self._count, *([1, 1] if self._full else [1])])

        def start():
            sets = [
                v1.assign(self._means, v1.expand_dims(means, 1), validate_shape=False),
                v1.assign(self._covs, covs, validate_shape=False),
            ]
            with v1.control_dependencies(sets):
                return v1.identity(v1.assign(self._initialized, True))

        return v1.group(v1.cond(self._initialized, lambda: v1.identity(self._initialized), start))

    def _log_probabilities(self):
        """Of each point under each Gaussian: (points, classes)."""
        apart = self._points - v1.reshape(self._means, [self._count, 1, self._width])
        if self._full:
            root = v1.cholesky(v1.reshape(self._covs, [self._count, self._width, self._width]) + self._least())
            scaled = v1.linalg.triangular_solve(root, v1.transpose(apart, [0, 2, 1]), lower=True)
            far = v1.reduce_sum(v1.square(scaled), 1)
            size = 2.0 * v1.reduce_sum(v1.log(v1.matrix_diag_part(root)), 1)
        else:
            covs = v1.reshape(self._covs, [self._count, 1, self._width]) + self._least()
            far = v1.reduce_sum(v1.square(apart) / covs, 2)
            size = v1.reduce_sum(v1.log(covs), [1, 2])
        constant = v1.cast(self._width, v1.float32) * math.log(2 * math.pi)
        return -0.5 * (v1.transpose(far) + constant + size)

    def _maximization(self):
        """What changes weights, means and covariances to those of the points that belong to classes by parts."""
        counts = v1.reduce_sum(self._parts, 0)
        safe = v1.reshape(counts, [-1, 1]) + _TINY
        found = v1.matmul(self._parts, self._points, transpose_a=True) / safe
        old = v1.reshape(self._means, [self._count, self._width])
        means = found if "m" in self._params else old
        # The mean square less the square of the mean, which may be an old one.
        if self._full:
            squares = v1.einsum("nk,ni,nj->kij", self._parts, self._points, self._points) / safe[:, :, None]
            covs = squares - means[:, :, None] * means[:, None, :] + self._least()
        else:
            squares = v1.matmul(self._parts, v1.square(self._points), transpose_a=True) / safe
            covs = squares - v1.square(means) + self._least()
        weights = counts / (v1.reduce_sum(counts) + _TINY)
        changes = {
            "w": (self._alpha, weights), "m": (self._means, v1.expand_dims(means, 1)), "c": (self._covs, covs)
        }  # fmt: skip
        with v1.control_dependencies([weights, means, covs]):
            return v1.group(*[
                v1.assign(variable, v1.identity(value), validate_shape=False)
                for key, (variable, value) in changes.items()
                if key in self._params
            ])  # fmt: skip

    def init_ops(self):
        """What sets the first means and covariances."""
        return self._start

    def training_ops(self):
        """What makes a step."""
        return self._train

    def is_initialized(self):
        """Whether there are means."""
        return self._initialized

    def alphas(self):
        """The weights of the classes."""
        return self._alpha

    def clusters(self):
        """The means, (classes, 1, dimensions)."""
        return self._means

    def covariances(self):
        """The covariances, (classes, dimensions, dimensions), or (classes, dimensions) of the diagonal type."""
        return self._covs

    def assignments(self):
        """The likeliest class of each point: a list, as the data are."""
        return v1.split(v1.argmax(self._parts, 1), self._sizes) if len(self._sizes) > 1 else [v1.argmax(self._parts, 1)]

    def scores(self):
        """The logarithm of how likely each point is, (points, 1)."""
        return self._likely

    def log_likelihood_op(self):
        """The logarithm of the sum over points of how likely they are."""
        return v1.reduce_logsumexp(self._likely)


def gmm(
    inp: TensorLike, initial_clusters: Sequence[Any], num_clusters: int, random_seed: int,
    covariance_type: str = FULL_COVARIANCE, params: str = "wmc",
):
    """The graph of a mixture of Gaussians; see `GmmAlgorithm`.

    Args:
      inp: points, or a list of matrices of these.
      initial_clusters: means, or "random".

    Returns:
      (loss, scores, assignments, train_op, init_op, initialized); assignments are a list in a list.
    """
    means = None
    if not (isinstance(initial_clusters, str) and initial_clusters == "random"):
        means = v1.convert_to_tensor(initial_clusters, v1.float32)
    made = GmmAlgorithm(
        inp if isinstance(inp, list) else [inp], num_clusters, means, params, covariance_type, random_seed
    )
    return (
        made.log_likelihood_op(), made.scores(), [made.assignments()], made.training_ops(), made.init_ops(),
        made.is_initialized(),
    )  # fmt: skip


boundaries(globals())
