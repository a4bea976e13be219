"""`MetricSpec`: a metric of an evaluation, with what it compares."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tapeflow.core.annotations import Tensor


def _chosen(given: Any, key, what: str):
    if not isinstance(given, dict):
        if key is not None:
            raise ValueError(f"{what} key specified as \"{key}\" but {what}s is a single tensor.")
        return given
    if key is not None:
        if key not in given:
            raise KeyError(f"{what.capitalize()} key '{key}' not in {list(given)}.")
        return given[key]
    if len(given) == 1:
        return next(iter(given.values()))
    return given


class MetricSpec:
    """A metric function and the keys of the prediction, the label and the weights that it takes.

    Args:
      metric_fn: a function of predictions, labels and weights, as `tf.metrics` and `tf.contrib.metrics` have them.
      prediction_key, label_key: keys where predictions and labels are dicts.
      weight_key: the name of a feature.

    Raises ValueError or KeyError for keys that are not there.
    """

    def __init__(
        self, metric_fn: Callable[..., Any], prediction_key: str | None = None, label_key=None, weight_key=None
    ):
        self._metric_fn = metric_fn
        self._prediction_key, self._label_key, self._weight_key = prediction_key, label_key, weight_key

    @property
    def metric_fn(self):
        """The function."""
        return self._metric_fn

    @property
    def prediction_key(self):
        """The key of the prediction, or None."""
        return self._prediction_key

    @property
    def label_key(self):
        """The key of the label, or None."""
        return self._label_key

    @property
    def weight_key(self):
        """The name of the feature with weights, or None."""
        return self._weight_key

    def create_metric_ops(self, inputs: Tensor, labels: Tensor | None, predictions: Any):
        """(value, update) for a batch: features, labels and predictions."""
        prediction = _chosen(predictions, self._prediction_key, "prediction")
        label = _chosen(labels, self._label_key, "label")
        names = set(inspect.signature(self._metric_fn).parameters)
        words = {"predictions": prediction}
        for name in ("labels", "targets", "label", "target"):
            if name in names:
                words[name] = label
                break
        if self._weight_key is not None:
            words["weights"] = inputs[self._weight_key]
        if "predictions" not in names:
            words.pop("predictions")
            return self._metric_fn(prediction, *([] if len(words) else [label]), **words)
        return self._metric_fn(**words)

    def __str__(self):
        return (
            f"MetricSpec(metric_fn={self._metric_fn}, prediction_key={self._prediction_key}, "
            f"label_key={self._label_key}, weight_key={self._weight_key})"
        )
