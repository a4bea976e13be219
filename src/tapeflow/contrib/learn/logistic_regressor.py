"""`LogisticRegressor`: an estimator of a model function, with the metrics of probabilities."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.learn.estimator import Estimator
from tapeflow.contrib.learn.metric_key import MetricKey
from tapeflow.contrib.learn.spec import ModeKeys, ModelFnOps, ProblemType
from tapeflow.core.annotations import Tensor

if TYPE_CHECKING:
    from tapeflow.contrib.learn.spec import RunConfig


def LogisticRegressor(
    model_fn: Callable[..., Any], thresholds: Sequence[float] | None = None, model_dir: str | None = None,
    config: RunConfig | None = None, feature_engineering_fn: Callable[..., Any] | None = None,
) -> Estimator:  # fmt: skip
    """Make an estimator whose predictions are probabilities.

    Args:
      model_fn: a function of features, labels and a mode that returns (predictions, loss, train_op).
      thresholds: of the metrics; None: 0.5.
      model_dir: the folder.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns others.
    """
    takes = inspect.signature(model_fn).parameters

    def with_metrics(features: Any, labels: Any, mode: str, params: dict[str, Any]):
        predictions, loss, train_op = model_fn(features, labels, **({"mode": mode} if "mode" in takes else {}))
        metrics = _metrics(labels, predictions, params["thresholds"]) if mode == ModeKeys.EVAL else None
        said = {"head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})}
        return ModelFnOps(mode, predictions, loss, train_op, metrics, said)

    params = {"thresholds": thresholds or [0.5]}
    return Estimator(with_metrics, model_dir, config, params, feature_engineering_fn)


def _metrics(labels: Any, predictions: Tensor, thresholds: Sequence[float]) -> dict[str, Any]:
    if isinstance(labels, dict) and len(labels) == 1:
        (labels,) = labels.values()
    truth = v1.cast(labels, v1.float32)
    made = {
        MetricKey.PREDICTION_MEAN: v1.metrics.mean(predictions),
        MetricKey.LABEL_MEAN: v1.metrics.mean(truth),
        MetricKey.ACCURACY_BASELINE: v1.metrics.mean(truth),
        MetricKey.AUC: v1.metrics.auc(labels, predictions),
    }
    for threshold in thresholds:
        above = v1.cast(v1.greater_equal(predictions, threshold), v1.float32)
        made[MetricKey.ACCURACY_MEAN % threshold] = v1.metrics.accuracy(truth, above)
        made[MetricKey.PRECISION_MEAN % threshold] = v1.metrics.precision(labels, above)
        made[MetricKey.RECALL_MEAN % threshold] = v1.metrics.recall(labels, above)
    return made
