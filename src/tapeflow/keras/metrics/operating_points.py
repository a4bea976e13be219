"""Metrics at the threshold at which another one has a given value."""

from __future__ import annotations

from tapeflow.core.annotations import DTypeLike
from tapeflow.keras.metrics.confusion import ThresholdCounts
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.comparison import greater_equal
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.reductions import reduce_max


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
