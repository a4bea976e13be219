"""F scores and the coefficient of determination."""

from __future__ import annotations

from tapeflow.core.annotations import DTypeLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.keras.losses import squeeze_or_expand
from tapeflow.keras.metrics.base import Metric
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.layout import expand_dims
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.sizes import size
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.choice import where
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.elementwise import abs as abs_
from tapeflow.ops.math.elementwise import square
from tapeflow.ops.math.float_kinds import is_inf
from tapeflow.ops.math.logic import logical_and
from tapeflow.ops.math.reductions import reduce_max, reduce_mean, reduce_sum


class FBetaScore(Metric):
    """(1 + beta^2) precision recall / (beta^2 precision + recall), by class.

    Labels are one-hot or of several classes, `(batch, classes)`.

    Args:
      average: None for one number per class; "micro" for the score of all counts together, "macro" for the mean of
        the classes, "weighted" for their mean weighted by how often labels have them.
      beta: how much recall counts, above 0.
      threshold: of predictions; None lets the largest of a row be positive.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    Raises:
      ValueError: for an unknown average, and for numbers out of range.
    """

    _direction = "up"

    def __init__(
        self, average: str | None = None, beta: float = 1.0, threshold: float | None = None,
        name: str = "fbeta_score", dtype: DTypeLike | None = None,
    ):
        super().__init__(dtype, name)
        if average not in (None, "micro", "macro", "weighted"):
            raise ValueError(
                "Invalid `average` argument value. Expected one of: {None, 'micro', 'macro', "
                f"'weighted'}}. Received: average={average}"
            )
        if not isinstance(beta, float):
            raise ValueError(
                "Invalid `beta` argument value. It should be a Python float. Received: "
                f"beta={beta} of type '{type(beta)}'"
            )
        if beta <= 0.0:
            raise ValueError(
                f"Invalid `beta` argument value. It should be > 0. Received: beta={beta}"
            )
        if threshold is not None and not (isinstance(threshold, float) and 0 < threshold <= 1):
            raise ValueError(
                "Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: "
                f"threshold={threshold}"
            )
        state = self.__dict__
        state["average"], state["beta"], state["threshold"] = average, beta, threshold
        state["axis"] = None if average == "micro" else 0
        state["_built"] = False

    def _make(self, classes):
        self.__dict__["_built"] = True
        shape = () if self.average == "micro" else (classes,)
        for name in ("true_positives", "false_positives", "false_negatives",
                     "intermediate_weights"):  # fmt: skip
            setattr(self, name, self.add_weight(name, shape))

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = cast(y_true, self._dtype), cast(y_pred, self._dtype)
        if not self._built:
            if y_true.shape.rank != 2 or y_pred.shape.rank != 2:
                raise ValueError(
                    "FBetaScore expects 2D inputs with shape (batch_size, output_dim). Received "
                    f"input shapes: y_pred.shape={y_pred.shape} and y_true.shape={y_true.shape}."
                )
            self._make(y_pred.shape[-1])
        if self.threshold is None:
            largest = reduce_max(y_pred, axis=-1, keepdims=True)
            decided = logical_and(y_pred >= largest, abs_(y_pred) > 1e-9)
        else:
            decided = y_pred > self.threshold
        decided = cast(decided, self._dtype)
        weight = 1.0
        if sample_weight is not None:
            weight = cast(sample_weight, self._dtype)
            weight = expand_dims(weight, 1) if weight.shape.rank == 1 else weight

        def total(values):
            return reduce_sum(values * weight, axis=self.axis)

        self.true_positives.assign_add(total(decided * y_true))
        self.false_positives.assign_add(total(decided * (1 - y_true)))
        self.false_negatives.assign_add(total((1 - decided) * y_true))
        self.intermediate_weights.assign_add(total(y_true))

    def result(self):
        right = self.true_positives.read_value()
        precision = divide_no_nan(right, right + self.false_positives)
        recall = divide_no_nan(right, right + self.false_negatives)
        square_of_beta = self.beta**2
        score = divide_no_nan(precision * recall, precision * square_of_beta + recall)
        score = score * (1 + square_of_beta)
        if self.average == "weighted":
            weights = self.intermediate_weights.read_value()
            return reduce_sum(score * divide_no_nan(weights, reduce_sum(weights)))
        return score if self.average is None else reduce_mean(score)

    def get_config(self):
        return {
            **super().get_config(),
            "average": self.average,
            "beta": self.beta,
            "threshold": self.threshold,
        }


class F1Score(FBetaScore):
    """The harmonic mean of precision and recall, by class.

    Args:
      average: None for one number per class; "micro" for the score of all counts together, "macro" for the mean of
        the classes, "weighted" for their mean weighted by how often labels have them.
      threshold: of predictions; None lets the largest of a row be positive.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    Raises:
      ValueError: for an unknown average, and for a threshold outside of 0 to 1.

    >>> metric = tf.keras.metrics.F1Score(threshold=0.5)
    >>> metric.update_state([[1.0, 0.0], [1.0, 1.0]], [[0.9, 0.2], [0.8, 0.8]])
    >>> print(metric.result().numpy())
    [1. 1.]
    """

    def __init__(
        self, average=None, threshold: float | None = None, name: str = "f1_score", dtype: DTypeLike | None = None
    ):
        super().__init__(average, 1.0, threshold, name, dtype)

    def get_config(self):
        config = super().get_config()
        del config["beta"]
        return config


class R2Score(Metric):
    """1 - the squared error by the variance of the labels, for every output.

    Args:
      class_aggregation: "uniform_average" for the mean of the outputs, "variance_weighted_average" for that weighted
        by the labels' variance, or None for one number per output.
      num_regressors: the number of inputs of the model, for an adjusted score; 0 for the plain one.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    Raises:
      ValueError: for an unknown aggregation and a negative number.
    """

    _direction = "up"

    def __init__(
        self, class_aggregation: str = "uniform_average", num_regressors: int = 0, name: str = "r2_score",
        dtype: DTypeLike | None = None,
    ):  # fmt: skip
        super().__init__(dtype, name)
        kinds = (None, "uniform_average", "variance_weighted_average")
        if class_aggregation not in kinds:
            raise ValueError(
                "Invalid value for argument `class_aggregation`. Expected one of "
                f"{kinds}. Received: class_aggregation={class_aggregation}"
            )
        if num_regressors < 0:
            raise ValueError(
                "Invalid value for argument `num_regressors`. Expected a value >= 0. Received: "
                f"num_regressors={num_regressors}"
            )
        state = self.__dict__
        state["class_aggregation"], state["num_regressors"] = class_aggregation, num_regressors
        self.num_samples = self.add_weight("num_samples", dtype="int32")
        state["_built"] = False

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = cast(y_true, self._dtype), cast(y_pred, self._dtype)
        y_true, y_pred, _ = squeeze_or_expand(y_true, y_pred)
        if not self._built:
            self.__dict__["_built"] = True
            if y_pred.shape.rank != 2:
                raise ValueError(
                    "R2Score expects 2D inputs with shape (batch_size, output_dim). Received input "
                    f"shapes: y_pred.shape={y_pred.shape} and y_true.shape={y_true.shape}."
                )
            for name in ("squared_sum", "sum", "total_mse", "count"):
                setattr(self, name, self.add_weight(name, (y_pred.shape[-1],)))
        weight = convert_to_tensor(1.0 if sample_weight is None else sample_weight, self._dtype)
        weight = expand_dims(weight, 1) if weight.shape.rank == 1 else weight
        weight = broadcast_to(weight, shape_of(y_true))
        self.sum.assign_add(reduce_sum(y_true * weight, axis=0))
        self.squared_sum.assign_add(reduce_sum(square(y_true) * weight, axis=0))
        self.total_mse.assign_add(reduce_sum(square(y_true - y_pred) * weight, axis=0))
        self.count.assign_add(reduce_sum(weight, axis=0))
        self.num_samples.assign_add(size(y_true))

    def result(self):
        mean = self.sum / self.count
        total = self.squared_sum - self.sum * mean
        scores = 1 - self.total_mse / total
        scores = where(is_inf(scores), zeros_like(scores), scores)
        if self.class_aggregation == "uniform_average":
            score = reduce_mean(scores)
        elif self.class_aggregation == "variance_weighted_average":
            score = reduce_sum(total * scores) / reduce_sum(total)
        else:
            score = scores
        if not self.num_regressors:
            return score
        spare = cast(self.num_samples, score.dtype) - 1.0
        left = spare - float(self.num_regressors)
        adjusted = 1.0 - (1.0 - score) * spare / where(left > 0, left, 1.0)
        return where(left > 0, adjusted, score)

    def get_config(self):
        return {
            **super().get_config(),
            "class_aggregation": self.class_aggregation,
            "num_regressors": self.num_regressors,
        }
