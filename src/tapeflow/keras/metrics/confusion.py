"""Metrics of decisions at thresholds: counts, precision, recall, and curves over many thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.keras.losses import squeeze_or_expand
from tapeflow.keras.metrics import ragged
from tapeflow.keras.metrics.base import Metric
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.layout import expand_dims, reshape
from tapeflow.ops.array.one_hot import one_hot
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.indexing.top_k import top_k as top_k_of
from tapeflow.ops.math.casting import cast
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


__all__ = [
    "FalseNegatives",
    "FalsePositives",
    "Precision",
    "Recall",
    "TrueNegatives",
    "TruePositives",
]
