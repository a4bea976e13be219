"""`KMeansClustering`: an estimator of clusters."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.factorization import clustering_ops
from tapeflow.core.annotations import Tensor, TensorLike, Variable
from tapeflow.core.public import public_methods
from tapeflow.estimator.estimator import Estimator
from tapeflow.estimator.export import DEFAULT, PredictOutput
from tapeflow.estimator.spec import EstimatorSpec
from tapeflow.train import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    import numpy as np

    from tapeflow.graph.run.session import Session
    from tapeflow.train.coordinator import Coordinator
    from tapeflow.train.session_run_hook import SessionRunContext, SessionRunValues


class _StopsWhenStill(SessionRunHook):
    """Ends training when the loss changes less than by a part of itself."""

    def __init__(self, loss: TensorLike, tolerance: float):
        self._loss, self._tolerance, self._before = loss, tolerance, None

    def before_run(self, run_context: SessionRunContext):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        loss, before = run_values.results, self._before
        if before and abs(loss - before) / (1 + abs(before)) < self._tolerance:
            run_context.request_stop()
        self._before = loss


class _ChoosesCenters(SessionRunHook):
    """Runs what adds first centers until there are all; who is not the chief waits for that."""

    def __init__(self, init_op: TensorLike, initialized: Variable, is_chief: bool):
        self._init_op, self._initialized, self._is_chief = init_op, initialized, is_chief

    def after_create_session(self, session: Session, coord: Coordinator):
        while not session.run(self._initialized):
            if self._is_chief:
                session.run(self._init_op)
            else:
                time.sleep(1)


def _points(features: Tensor | Mapping[str, Tensor], columns: Sequence[Any] | None):
    """The features as one matrix: those of the columns, or all in the order of their names."""
    if not isinstance(features, dict):
        return v1.convert_to_tensor(features)
    if columns:
        return v1.feature_column.input_layer(features, columns)
    return v1.concat([features[key] for key in sorted(features)], 1)


@public_methods
class KMeansClustering(Estimator):
    """Clusters of points; see `KMeans`. Input functions return points, (n, d), or a dict of features.

    Args:
      num_clusters: how many.
      model_dir: the folder of the estimator.
      initial_clusters: the centers; a function of a list of points and of how many are missing, which returns some;
        "random" or "kmeans_plus_plus".
      distance_metric: "squared_euclidean" or "cosine".
      random_seed: of the first centers.
      use_mini_batch: whether a batch is a part of the data; else each is all.
      mini_batch_steps_per_iteration: after how many steps inputs are compared with the moved centers.
      kmeans_plus_plus_num_retries: how many more are drawn for each center, of which the best is taken.
      relative_tolerance: training ends when the score changes by a smaller part.
      config: a RunConfig.
      feature_columns: columns of the features that are meant.

    Raises:
      ValueError: for an unknown way or distance.
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering_ops.COSINE_DISTANCE
    RANDOM_INIT = clustering_ops.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering_ops.KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = clustering_ops.CLUSTERS_VAR_NAME

    def __init__(
        self, num_clusters: int, model_dir: str | None = None,
        initial_clusters: Callable[..., Any] | np.ndarray | str = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE, random_seed: int = 0, use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1, kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None, config=None, feature_columns: Sequence[Any] | None = None,
    ):  # fmt: skip
        if isinstance(initial_clusters, str) and initial_clusters not in (
            self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT
        ):  # fmt: skip
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (self.SQUARED_EUCLIDEAN_DISTANCE, self.COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")

        def model_fn(features: Tensor, mode: str, config):
            distances, indices, scores, initialized, init_op, train_op = clustering_ops.KMeans(
                _points(features, feature_columns), num_clusters, initial_clusters, distance_metric, use_mini_batch,
                mini_batch_steps_per_iteration, random_seed, kmeans_plus_plus_num_retries,
            ).training_graph()  # fmt: skip
            loss = v1.reduce_sum(scores[0])
            v1.summary.scalar("loss/raw", loss)
            with v1.control_dependencies([train_op]):
                train_op = v1.group(v1.assign_add(v1.train.get_global_step(), 1))
            hooks = [_ChoosesCenters(init_op, initialized, config.is_chief)]
            if relative_tolerance is not None:
                hooks.append(_StopsWhenStill(loss, relative_tolerance))
            return EstimatorSpec(
                mode, {self.ALL_DISTANCES: distances[0], self.CLUSTER_INDEX: indices[0]}, loss, train_op,
                {self.SCORE: v1.metrics.mean(loss)},
                {
                    self.ALL_DISTANCES: PredictOutput(distances[0]),
                    self.CLUSTER_INDEX: PredictOutput(indices[0]),
                    DEFAULT: PredictOutput(indices[0]),
                },
                training_hooks=hooks,
            )  # fmt: skip

        super().__init__(model_fn, model_dir, config)

    def _predicted(self, input_fn: Callable[..., Any], key: str):
        for found in self.predict(input_fn, [key]):
            yield found[key]

    def predict_cluster_index(self, input_fn: Callable[..., Any]):
        """Yields the number of the nearest center of each point."""
        yield from self._predicted(input_fn, self.CLUSTER_INDEX)

    def transform(self, input_fn: Callable[..., Any]):
        """Yields the distances of each point from all centers: squared ones, or cosine distances."""
        yield from self._predicted(input_fn, self.ALL_DISTANCES)

    def score(self, input_fn: Callable[..., Any]):
        """The sum of the distances of the points of the first batch from their nearest centers."""
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def cluster_centers(self):
        """The centers in the last checkpoint. Raises ValueError if there is none."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)
