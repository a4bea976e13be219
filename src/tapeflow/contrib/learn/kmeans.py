"""`KMeansClustering`: an estimator of clusters, of before `tf.contrib.factorization.KMeansClustering`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.compat import v1
from tapeflow.contrib.factorization import clustering_ops
from tapeflow.contrib.factorization.kmeans import _ChoosesCenters, _points, _StopsWhenStill
from tapeflow.contrib.learn.estimator import Estimator
from tapeflow.contrib.learn.spec import ModelFnOps
from tapeflow.core.public import public_methods

if TYPE_CHECKING:
    from tapeflow.contrib.learn.spec import RunConfig


@public_methods
class KMeansClustering(Estimator):
    """Clusters of points; see `tf.contrib.factorization.KMeansClustering`.

    Args:
      num_clusters: how many.
      model_dir: the folder of the estimator.
      initial_clusters: the centers, a function that returns some, "random" or "kmeans_plus_plus".
      distance_metric: "squared_euclidean" or "cosine".
      random_seed: of the first centers.
      use_mini_batch: whether a batch is a part of the data; else each is all.
      mini_batch_steps_per_iteration: after how many steps inputs are compared with the moved centers.
      kmeans_plus_plus_num_retries: how many more are drawn for each center, of which the best is taken.
      relative_tolerance: training ends when the score changes by a smaller part.
      config: a RunConfig.
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering_ops.COSINE_DISTANCE
    RANDOM_INIT = clustering_ops.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering_ops.KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = clustering_ops.CLUSTERS_VAR_NAME
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self, num_clusters: int, model_dir: str | None = None,
        initial_clusters: Callable[..., Any] | np.ndarray | str = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE, random_seed: int = 0, use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1, kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None, config: RunConfig | None = None,
    ):  # fmt: skip
        def model_fn(features: Any, labels: Any, mode: str, config):
            distances, indices, scores, initialized, init_op, train_op = clustering_ops.KMeans(
                _points(features, None), num_clusters, initial_clusters, distance_metric, use_mini_batch,
                mini_batch_steps_per_iteration, random_seed, kmeans_plus_plus_num_retries,
            ).training_graph()  # fmt: skip
            with v1.control_dependencies([train_op]):
                train_op = v1.group(v1.assign_add(v1.train.get_global_step(), 1))
            loss = v1.reduce_sum(scores[0], name=self.LOSS_OP_NAME)
            v1.summary.scalar("loss/raw", loss)
            hooks: list[Any] = [_ChoosesCenters(init_op, initialized, config.is_chief)]
            if relative_tolerance is not None:
                hooks.append(_StopsWhenStill(loss, relative_tolerance))
            return ModelFnOps(
                mode, {self.ALL_SCORES: distances[0], self.CLUSTER_IDX: indices[0]}, loss, train_op,
                {self.SCORES: v1.metrics.mean(loss)}, training_hooks=hooks,
            )  # fmt: skip

        super().__init__(model_fn, model_dir, config)

    def predict_cluster_idx(self, input_fn: Callable[..., Any] | None = None):
        """Yield the number of the nearest center of each point."""
        for found in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield found[self.CLUSTER_IDX]

    def score(self, input_fn: Callable[..., Any] | None = None, steps: int | None = None):
        """Return the sum of the distances of the points of a batch from their centers, on average over batches."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn: Callable[..., Any] | None = None, as_iterable: bool = False):
        """Return the distances of each point from all centers: an array, or an iterator of dicts."""
        found = self.predict(input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable)
        return found if as_iterable else found[self.ALL_SCORES]

    def clusters(self):
        """Return the centers in the last checkpoint. Raises ValueError if there is none."""
        return self.get_variable_value(self.CLUSTERS)
