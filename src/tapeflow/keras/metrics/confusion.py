"""Metrics of decisions at thresholds: counts, precision, recall, and curves over many thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.keras.losses import squeeze_or_expand
from tapeflow.keras.metrics import ragged
from tapeflow.keras.metrics.base import Metric
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.indexing.top_k import top_k as top_k_of
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import greater_equal
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.logic import logical_and, logical_not
from tapeflow.ops.math.reductions import reduce_max, reduce_sum

EPSILON = 1e-7


def valid_thresholds(thresholds, default: float = 0.5):
    """The thresholds as a list. Raises ValueError for those that are not in [0, 1]."""
    given = [default if thresholds is None else thresholds]
    flat = list(given[0]) if isinstance(given[0], (list, tuple, np.ndarray)) else given
    bad = [t for t in flat if t is None or t > 1 or t < 0]
    if thresholds is not None and bad:
        raise ValueError(f"Threshold values must be in [0, 1]. Received: {bad}")
    return [float(t) for t in flat]


def decisions(y_true, y_pred, thresholds, dtype, sample_weight=None, top_k=None, class_id=None,
              multi_label=False):  # fmt: skip
    """(positive, decided, weights): labels, decisions at each threshold, both [thresholds, n], and weights.

    With `multi_label` they are [thresholds, n, labels].
    """
    y_pred = cast(y_pred, dtype)
    y_true, y_pred, _ = squeeze_or_expand(cast(y_true, dtype), y_pred)
    if top_k is not None:
        y_pred = keep_top(y_pred, top_k)
    if class_id is not None:
        y_true, y_pred = y_true[..., class_id], y_pred[..., class_id]
    weights = None
    if sample_weight is not None:
        _, _, weights = squeeze_or_expand(None, y_pred, cast(sample_weight, dtype))
        weights = broadcast_to(weights, shape_of(y_pred))
    if multi_label:
        limits = np.asarray(thresholds, np.float64).reshape(-1, 1, 1)
        y_true, y_pred = expand_dims(y_true, 0), expand_dims(y_pred, 0)
        weights = None if weights is None else expand_dims(weights, 0)
    else:
        limits = np.asarray(thresholds, np.float64).reshape(-1, 1)
        y_true, y_pred = reshape(y_true, [1, -1]), reshape(y_pred, [1, -1])
        weights = None if weights is None else reshape(weights, [1, -1])
    return y_true > 0.5, y_pred > convert_to_tensor(limits, dtype), weights


def keep_top(y_pred: Tensor, k: int):
    """Predictions but for the k largest of each row, which are set to a number below all thresholds."""
    _, places = top_k_of(y_pred, k, sorted=False)
    kept = reduce_max(one_hot(places, y_pred.shape[-1], dtype=y_pred.dtype), axis=-2)
    return y_pred * kept - 1e10 * (1 - kept)


class ThresholdCounts(Metric):
    """Sums of weights of right and wrong decisions y_pred > threshold, by threshold."""

    @property
    def _counts(self):
        """The names of the sums, in the order of the variables."""
        positives, negatives = ("true_positives", "false_positives"), ("true_negatives", "false_negatives")
        return tuple(chain(*zip(positives, negatives))) if keras_2() else positives + negatives

    def _start(self, shape: Sequence[Any]):
        for count in self._counts:
            name = self._name_of(count)
            setattr(self, name, self.add_weight(name, shape))

    def _name_of(self, count: str):
        """The variable of a sum."""
        return count if len(self._counts) > 1 else "accumulator"

    def _count(
        self, y_true: Any, y_pred: Any, thresholds: Sequence[float], sample_weight: TensorLike | None = None,
        axis: int = 1, **how,
    ):
        y_true, y_pred, sample_weight = ragged.flat(y_true, y_pred, sample_weight)
        positive, decided, weights = decisions(
            y_true, y_pred, thresholds, self._dtype, sample_weight, **how
        )
        cells = {
            "true_positives": (decided, positive),
            "false_positives": (decided, logical_not(positive)),
            "false_negatives": (logical_not(decided), positive),
            "true_negatives": (logical_not(decided), logical_not(positive)),
        }
        for count in self._counts:
            cell = cast(logical_and(*cells[count]), self._dtype)
            if weights is not None:
                cell = cell * weights
            getattr(self, self._name_of(count)).assign_add(reduce_sum(cell, axis=axis))


class _Confusion(ThresholdCounts):
    """Counts at given thresholds: a number for one threshold, else one for each."""

    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(dtype, name)
        self.__dict__["init_thresholds"] = thresholds
        self.__dict__["thresholds"] = valid_thresholds(thresholds)
        self._start((len(self.thresholds),))

    def update_state(self, y_true, y_pred, sample_weight=None):
        self._count(y_true, y_pred, self.thresholds, sample_weight)

    def _value(self):
        return self.accumulator.read_value()

    def result(self):
        value = self._value()
        return value[0] if len(self.thresholds) == 1 else value

    def get_config(self):
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_Confusion):
    """How many positive labels were predicted positive, y_pred > threshold; the sum of their weights.

    Args:
      thresholds: a threshold from 0 to 1 or a list, which gives one number for each; None for 0.5.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
    """

    _counts = ("true_positives",)


class FalsePositives(_Confusion):
    """How many negative labels were predicted positive, y_pred > threshold; the sum of their weights.

    Args:
      thresholds: a threshold from 0 to 1 or a list, which gives one number for each; None for 0.5.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
    """

    _counts = ("false_positives",)


class FalseNegatives(_Confusion):
    """How many positive labels were predicted negative, y_pred <= threshold; the sum of their weights.

    Args:
      thresholds: a threshold from 0 to 1 or a list, which gives one number for each; None for 0.5.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
    """

    _counts = ("false_negatives",)


class TrueNegatives(_Confusion):
    """How many negative labels were predicted negative, y_pred <= threshold; the sum of their weights.

    Args:
      thresholds: a threshold from 0 to 1 or a list, which gives one number for each; None for 0.5.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
    """

    _counts = ("true_negatives",)


class _PerClass(_Confusion):
    """Counts that may look at the k largest predictions, or at one class, only."""

    _direction = "up"

    def __init__(self, thresholds=None, top_k=None, class_id=None, name=None, dtype=None):
        Metric.__init__(self, dtype, name)
        state = self.__dict__
        state["init_thresholds"], state["top_k"], state["class_id"] = thresholds, top_k, class_id
        state["thresholds"] = valid_thresholds(thresholds, -1e9 if top_k is not None else 0.5)
        self._start((len(self.thresholds),))

    def update_state(self, y_true, y_pred, sample_weight=None):
        self._count(
            y_true, y_pred, self.thresholds, sample_weight,
            top_k=self.top_k, class_id=self.class_id,
        )  # fmt: skip

    def get_config(self):
        return {**super().get_config(), "top_k": self.top_k, "class_id": self.class_id}


class Precision(_PerClass):
    """Which part of those predicted positive are positive; 0 where there are none.

    Args:
      thresholds: a threshold from 0 to 1 or a list, which gives one number for each; None for 0.5.
      top_k: let only the k largest predictions of an example be positive, None for all; the threshold is then none.
      class_id: count this class alone, the index along the last axis; None for all.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    Raises:
      ValueError: for thresholds outside of 0 to 1.

    >>> metric = tf.keras.metrics.Precision()
    >>> metric.update_state([0, 1, 1, 1], [1, 0, 1, 1])
    >>> print(f"{metric.result():.4f}")
    0.6667
    """

    _counts = ("true_positives", "false_positives")

    def _value(self):
        return divide_no_nan(self.true_positives, self.true_positives + self.false_positives)


class Recall(_PerClass):
    """Which part of the positive were predicted positive; 0 where there are none.

    Args:
      thresholds: a threshold from 0 to 1 or a list, which gives one number for each; None for 0.5.
      top_k: let only the k largest predictions of an example be positive, None for all; the threshold is then none.
      class_id: count this class alone, the index along the last axis; None for all.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    Raises:
      ValueError: for thresholds outside of 0 to 1.

    >>> metric = tf.keras.metrics.Recall(thresholds=0.3)
    >>> metric.update_state([0, 1, 1, 1], [0.9, 0.2, 0.4, 0.8])
    >>> print(f"{metric.result():.4f}")
    0.6667
    """

    _counts = ("true_positives", "false_negatives")

    def _value(self):
        return divide_no_nan(self.true_positives, self.true_positives + self.false_negatives)


class _BestUnder(ThresholdCounts):
    """The best value of one ratio, where another is at least `value`, over many thresholds."""

    _direction = "up"

    _argument = "value"

    def __init__(self, value, num_thresholds, class_id, name, dtype):
        super().__init__(dtype, name)
        if not 0 <= value <= 1:
            raise ValueError(
                f"Argument `{self._argument}` must be in the range [0, 1]. Received: "
                f"{self._argument}={value}"
            )
        if num_thresholds <= 0:
            raise ValueError(
                "Argument `num_thresholds` must be an integer > 0. Received: "
                f"num_thresholds={num_thresholds}"
            )
        state = self.__dict__
        state["value"], state["num_thresholds"], state["class_id"] = value, num_thresholds, class_id
        inner = [(i + 1) / (num_thresholds - 1) for i in range(num_thresholds - 2)]
        state["thresholds"] = [0.5] if num_thresholds == 1 else [0.0, *inner, 1.0]
        self._start((len(self.thresholds),))

    def update_state(self, y_true, y_pred, sample_weight=None):
        self._count(y_true, y_pred, self.thresholds, sample_weight, class_id=self.class_id)

    def _ratio(self, kind):
        first, second = {
            "sensitivity": (self.true_positives, self.false_negatives),
            "specificity": (self.true_negatives, self.false_positives),
            "precision": (self.true_positives, self.false_positives),
            "recall": (self.true_positives, self.false_negatives),
        }[kind]
        return divide_no_nan(first, first + second)

    _wanted = ""

    def result(self):
        feasible = greater_equal(self._ratio(self._argument), self.value)
        wanted = self._ratio(self._wanted)
        return reduce_max(where(feasible, wanted, zeros_like(wanted)))

    def get_config(self):
        return {
            **super().get_config(),
            "num_thresholds": self.num_thresholds,
            self._argument: self.value,
            "class_id": self.class_id,
        }


class SpecificityAtSensitivity(_BestUnder):
    """The best specificity (part of the negative predicted negative) where the sensitivity is at least `sensitivity`.

    Args:
      sensitivity: the least sensitivity, from 0 to 1.
      num_thresholds: how many thresholds are tried.
      class_id: count this class alone, the index along the last axis; None for all.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    Raises:
      ValueError: for numbers out of range.
    """

    _argument, _wanted = "sensitivity", "specificity"

    def __init__(
        self, sensitivity: float, num_thresholds: int = 200, class_id: int | None = None, name: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(sensitivity, num_thresholds, class_id, name, dtype)
        self.__dict__["sensitivity"] = sensitivity


class SensitivityAtSpecificity(_BestUnder):
    """The best sensitivity (part of the positive predicted positive) where the specificity is at least `specificity`.

    Args:
      specificity: the least specificity, from 0 to 1.
      num_thresholds: how many thresholds are tried.
      class_id: count this class alone, the index along the last axis; None for all.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    Raises:
      ValueError: for numbers out of range.
    """

    _argument, _wanted = "specificity", "sensitivity"

    def __init__(
        self, specificity, num_thresholds: int = 200, class_id: int | None = None, name: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(specificity, num_thresholds, class_id, name, dtype)
        self.__dict__["specificity"] = specificity


class PrecisionAtRecall(_BestUnder):
    """The best precision where the recall is at least `recall`.

    Args:
      recall: the least recall, from 0 to 1.
      num_thresholds: how many thresholds are tried.
      class_id: count this class alone, the index along the last axis; None for all.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    Raises:
      ValueError: for numbers out of range.
    """

    _argument, _wanted = "recall", "precision"

    def __init__(
        self, recall: float, num_thresholds: int = 200, class_id: int | None = None, name: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(recall, num_thresholds, class_id, name, dtype)
        self.__dict__["recall"] = recall


class RecallAtPrecision(_BestUnder):
    """The best recall where the precision is at least `precision`.

    Args:
      precision: the least precision, from 0 to 1.
      num_thresholds: how many thresholds are tried.
      class_id: count this class alone, the index along the last axis; None for all.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    Raises:
      ValueError: for numbers out of range.
    """

    _argument, _wanted = "precision", "recall"

    def __init__(
        self, precision, num_thresholds: int = 200, class_id: int | None = None, name: str | None = None,
        dtype: DTypeLike | None = None,
    ):
        super().__init__(precision, num_thresholds, class_id, name, dtype)
        self.__dict__["precision"] = precision


__all__ = [
    "FalseNegatives",
    "FalsePositives",
    "Precision",
    "PrecisionAtRecall",
    "Recall",
    "RecallAtPrecision",
    "SensitivityAtSpecificity",
    "SpecificityAtSensitivity",
    "TrueNegatives",
    "TruePositives",
]
