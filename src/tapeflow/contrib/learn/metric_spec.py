"""`MetricSpec`: a metric of an evaluation, with what it compares."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tapeflow.core.annotations import Tensor

# What functions call their arguments; the first is the usual name.
_LABELS = ("labels", "label", "targets", "target")
_PREDICTIONS = ("predictions", "prediction", "logits", "logit")
_WEIGHTS = ("weights", "weight")


def _arguments(function: Callable[..., Any]) -> list[str]:
    """The names of the arguments that a function has left."""
    if isinstance(function, functools.partial):
        return [name for name in _arguments(function.func) if name not in function.keywords]
    return list(inspect.signature(function).parameters)


def _name(function: Any) -> str:
    inner = getattr(function, "func", None)
    return str(getattr(function, "__name__", None) or getattr(inner, "__name__", function))


def _only(
    function: Callable[..., Any], arguments: list[str], names: tuple[str, ...], required: bool = False
) -> str | None:
    """The argument of a function that has one of the names."""
    found = [name for name in arguments if name in names]
    if len(found) > 1:
        raise ValueError(f"Ambiguous arguments {set(found)}, must provide only one of {set(names)}.")
    if required and not found:
        raise ValueError(f"{set(names)} missing from {_name(function)}({arguments}).")
    return found[0] if found else None


def _by_name(metric_fn: Callable[..., Any], needs_labels: bool, needs_weights: bool) -> Callable[..., Any]:
    """The function with its arguments by their usual names."""
    arguments = _arguments(metric_fn)
    label = _only(metric_fn, arguments, _LABELS, needs_labels)
    prediction = _only(metric_fn, arguments, _PREDICTIONS)
    weight = _only(metric_fn, arguments, _WEIGHTS, needs_weights)

    def call(_sentinel: Any = None, labels: Any = None, predictions: Any = None, weights: Any = None) -> Any:
        if _sentinel is not None:
            raise ValueError("`metric_fn` requires named args: `labels`, `predictions`, and optionally `weights`.")
        words = {} if weights is None else {str(weight): weights}
        if prediction:
            words[prediction] = predictions
            if label:
                words[label] = labels
            return metric_fn(**words)
        if label and label == arguments[0]:
            return metric_fn(labels, predictions, **words)
        if label:
            words[label] = labels
        return metric_fn(predictions, **words)

    return call


def _chosen(given: Any, key: str | None, what: str):
    if not isinstance(given, Mapping):
        if key:
            raise ValueError(
                f"MetricSpec with {what}_key specified requires {what}s dict, got {given}. You must not provide a "
                f"{what}_key if you only have a single Tensor as {what}s."
            )
        return given
    if key:
        if key not in given:
            raise KeyError(f"Key '{key}' missing from {list(given)}.")
        return given[key]
    if len(given) != 1:
        raise ValueError(
            f"MetricSpec without specified {what}_key requires {what}s tensor or single element dict, got {given}"
        )
    return next(iter(given.values()))


class MetricSpec:
    """A metric function and the keys of the prediction, the label and the weights that it takes.

    Args:
      metric_fn: a function of predictions, labels and weights, as `tf.metrics` and `tf.contrib.metrics` have them;
        what it does not name, it gets by its place.
      prediction_key, label_key: keys where predictions and labels are dicts of several.
      weight_key: the name of a feature.

    Raises:
      ValueError: for a function with two arguments for the same, or without one for the labels or weights of a key.
    """

    def __init__(
        self, metric_fn: Callable[..., Any], prediction_key: str | None = None, label_key=None, weight_key=None
    ):
        self._called = _name(metric_fn)
        self._metric_fn = _by_name(metric_fn, label_key is not None, weight_key is not None)
        self._prediction_key, self._label_key, self._weight_key = prediction_key, label_key, weight_key

    @property
    def metric_fn(self):
        """The function, with arguments labels, predictions and weights."""
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

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> tuple[Tensor, Any]:
        """Return (value, update) for a batch.

        Args:
          inputs: the features.
          labels, predictions: tensors, or dicts of them.

        Raises:
          ValueError: where a key is missing for a dict of several, or given for a tensor.
          KeyError: for a key that a dict does not have.
        """
        return self._metric_fn(
            predictions=_chosen(predictions, self._prediction_key, "prediction"),
            labels=_chosen(labels, self._label_key, "label"),
            weights=inputs[self._weight_key] if self._weight_key else None,
        )

    def __str__(self):
        return (
            f"MetricSpec(metric_fn={self._called}, prediction_key={self._prediction_key}, "
            f"label_key={self._label_key}, weight_key={self._weight_key})"
        )
