"""The area under a curve of decisions over many thresholds."""

from __future__ import annotations

import numpy as np

from tapeflow.core.annotations import DTypeLike, Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.keras.metrics import ragged
from tapeflow.keras.metrics.base import Metric
from tapeflow.keras.metrics.confusion import EPSILON, ThresholdCounts
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.math.arithmetic import maximum, minimum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.elementwise import log
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_mean, reduce_sum
from tapeflow.ops.math.trigonometric import sigmoid

_CURVES = {"ROC": "ROC", "PR": "PR", "roc": "ROC", "pr": "PR"}
_SUMS = ("interpolation", "majoring", "minoring")


class AUC(ThresholdCounts):
    """The area under the ROC or the precision-recall curve, by Riemann sums over thresholds.

    Labels are 0 and 1, predictions are probabilities from 0 to 1.

    Args:
      num_thresholds: how many thresholds, evenly spaced, unless `thresholds` are given; at least 2.
      curve: "ROC" or "PR".
      summation_method: "interpolation" for trapezoids (for "PR" as by Davis & Goadrich 2006), "minoring" or
        "majoring" for the lower or the upper sum.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
      thresholds: the thresholds between 0 and 1; both ends are added.
      multi_label: takes the mean of the areas of the labels, weighted by `label_weights`.
      num_labels: with `multi_label`, the number of labels; None to take it from the first batch.
      label_weights: with `multi_label`, the weight of each label.
      from_logits: whether predictions are logits, of which the sigmoid is taken.

    Raises:
      ValueError: for unknown curves and methods, and numbers out of range.

    >>> metric = tf.keras.metrics.AUC(num_thresholds=3)
    >>> metric.update_state([0, 0, 1, 1], [0.0, 0.5, 0.3, 0.9])
    >>> print(metric.result().numpy())
    0.75
    """

    _direction = "up"

    def __init__(
        self, num_thresholds: int = 200, curve: str = "ROC", summation_method: str = "interpolation",
        name: str | None = None, dtype: DTypeLike | None = None, thresholds=None, multi_label: bool = False,
        num_labels: int | None = None, label_weights=None, from_logits: bool = False,
    ):
        curve = getattr(curve, "value", curve)
        summation_method = getattr(summation_method, "value", summation_method)
        if curve not in _CURVES:
            raise ValueError(
                f'Invalid AUC curve value: "{curve}". Expected values are ["PR", "ROC"]'
            )
        if str(summation_method).lower() not in _SUMS:
            raise ValueError(
                f'Invalid AUC summation method value: "{summation_method}". Expected values are '
                '["interpolation", "majoring", "minoring"]'
            )
        super().__init__(dtype, name)
        state = self.__dict__
        state["_given_thresholds"] = thresholds is not None
        if thresholds is not None:
            inner = sorted(float(t) for t in thresholds)
            if any(t < 0 or t > 1 for t in inner):
                raise ValueError(f"Threshold values must be in [0, 1]. Received: {thresholds}")
            num_thresholds = len(inner) + 2
        else:
            if num_thresholds <= 1:
                raise ValueError(
                    "Argument `num_thresholds` must be an integer > 1. Received: "
                    f"num_thresholds={num_thresholds}"
                )
            inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        state["num_thresholds"] = num_thresholds
        state["_thresholds"] = np.array([-EPSILON, *inner, 1.0 + EPSILON])
        state["curve"], state["summation_method"] = _CURVES[curve], str(summation_method).lower()
        state["multi_label"], state["num_labels"] = multi_label, num_labels
        state["label_weights"] = (
            None if label_weights is None else convert_to_tensor(label_weights, self._dtype)
        )
        state["_from_logits"] = from_logits
        state["_built"] = False
        if not multi_label:
            if num_labels:
                raise ValueError("`num_labels` is needed only when `multi_label` is True.")
            self._make(None)
        elif num_labels:
            self._make(num_labels)

    @property
    def thresholds(self):
        """The thresholds, from below 0 to above 1."""
        return list(self._thresholds)

    def interpolate_pr_auc(self):
        """The area under the precision-recall curve, interpolated between thresholds."""
        parts = (self.true_positives, self.false_positives, self.false_negatives)
        return self._joined(_interpolated(*(v.read_value() for v in parts)))

    def _make(self, labels):
        self.__dict__["_built"] = True
        shape = (self.num_thresholds,) if labels is None else (self.num_thresholds, int(labels))
        self._start(shape)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred, sample_weight = ragged.flat(y_true, y_pred, sample_weight)
        y_pred = cast(y_pred, self._dtype)
        if self._from_logits:
            y_pred = sigmoid(y_pred)
        if not self._built:
            if y_pred.shape.rank != 2:
                raise ValueError(
                    "`y_pred` must have rank 2 when `multi_label=True`. Found rank "
                    f"{y_pred.shape.rank}. Full shape received for `y_pred`: {y_pred.shape}"
                )
            self._make(y_pred.shape[1])
        several = self.multi_label
        weights = None if several and self.label_weights is not None else sample_weight
        self._count(y_true, y_pred, self._thresholds, weights, multi_label=several)

    def result(self):
        tp, fp, fn, tn = (
            v.read_value()
            for v in (self.true_positives, self.false_positives, self.false_negatives,
                      self.true_negatives)
        )  # fmt: skip
        if self.curve == "PR" and self.summation_method == "interpolation":
            return self._joined(_interpolated(tp, fp, fn))
        recall = divide_no_nan(tp, tp + fn)
        if self.curve == "ROC":
            x, y = divide_no_nan(fp, fp + tn), recall
        else:
            x, y = recall, divide_no_nan(tp, tp + fp)
        if self.summation_method == "interpolation":
            heights = (y[:-1] + y[1:]) / 2.0
        else:
            pick = minimum if self.summation_method == "minoring" else maximum
            heights = pick(y[:-1], y[1:])
        return self._joined((x[:-1] - x[1:]) * heights)

    def _joined(self, parts):
        if not self.multi_label:
            return reduce_sum(parts)
        areas = reduce_sum(parts, axis=0)
        if self.label_weights is None:
            return reduce_mean(areas)
        return divide_no_nan(reduce_sum(areas * self.label_weights), reduce_sum(self.label_weights))

    def reset_state(self):
        if self._built:
            Metric.reset_state(self)

    def get_config(self):
        weights = self.label_weights
        config = {
            "num_thresholds": self.num_thresholds,
            "curve": self.curve,
            "summation_method": self.summation_method,
            "multi_label": self.multi_label,
            "num_labels": self.num_labels,
            "label_weights": None if weights is None else weights.numpy().tolist(),
            "from_logits": self._from_logits,
        }
        if self._given_thresholds:
            config["thresholds"] = self._thresholds[1:-1].tolist()
        return {**super().get_config(), **config}


def _interpolated(tp: Tensor, fp: Tensor, fn: Tensor):
    """Areas between thresholds under the precision-recall curve (Davis & Goadrich 2006)."""
    taken = tp + fp
    gained = tp[:-1] - tp[1:]
    more = taken[:-1] - taken[1:]
    slope = divide_no_nan(gained, maximum(more, 0.0))
    start = tp[1:] - slope * taken[1:]
    both = logical_and(taken[:-1] > 0, taken[1:] > 0)
    ratio = where(both, divide_no_nan(taken[:-1], maximum(taken[1:], 0.0)), ones_like(gained))
    area = slope * (gained + start * log(ratio))
    return divide_no_nan(area, maximum(tp[1:] + fn[1:], 0.0))
