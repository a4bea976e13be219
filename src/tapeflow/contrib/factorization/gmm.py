"""`GMM`: an estimator of a mixture of Gaussians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.compat import v1
from tapeflow.contrib import learn
from tapeflow.contrib.factorization.gmm_ops import GmmAlgorithm, gmm
from tapeflow.contrib.factorization.kmeans import _ChoosesCenters, _points
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public_methods


@public_methods
class GMM(learn.Estimator):
    """A mixture of Gaussians; see `GmmAlgorithm`. Input functions return points, or a dict of features.

    Args:
      num_clusters: how many Gaussians.
      model_dir, config: the folder and a RunConfig.
      random_seed: of the first means.
      params: what steps change: "w" for weights, "m" for means, "c" for covariances.
      initial_clusters: the first means, or "random".
      covariance_type: "full" or "diag".
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self, num_clusters: int, model_dir: str | None = None, random_seed: int = 0, params: str = "wmc",
        initial_clusters: Any = "random", covariance_type: str = "full", config=None,
    ):  # fmt: skip
        def model_fn(features, labels: TensorLike, mode: str, config):
            loss, scores, found, train_op, init_op, initialized = gmm(
                _points(features, None), initial_clusters, num_clusters, random_seed, covariance_type, params
            )
            with v1.control_dependencies([train_op]):
                train_op = v1.group(v1.assign_add(v1.train.get_global_step(), 1))
            total = v1.metrics.mean(v1.reduce_sum(scores))
            return learn.ModelFnOps(
                mode, {self.ASSIGNMENTS: found[0][0]}, loss, train_op, {self.SCORES: total},
                training_hooks=[_ChoosesCenters(init_op, initialized, config.is_chief)],
            )  # fmt: skip

        super().__init__(model_fn, model_dir, config)

    def predict_assignments(
        self, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None, outputs=None
    ):
        """Yields the likeliest class of each point."""
        for found in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs):
            yield found[self.ASSIGNMENTS]

    def score(
        self, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None, steps: int | None = None
    ):
        """The logarithm of how likely the points of a batch are together, on average over batches."""
        return self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)[self.SCORES]

    def weights(self):
        """The weights of the classes. Raises ValueError if there is no checkpoint; so do the next two."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self):
        """The means, (classes, dimensions)."""
        return np.squeeze(self.get_variable_value(GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self):
        """The covariances."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_COVS_VARIABLE)
