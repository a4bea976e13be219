"""Means of functions of labels and predictions: accuracies, and the losses as metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.keras import docstrings, losses
from tapeflow.keras.classes_of_functions import class_of
from tapeflow.keras.losses import squeeze_or_expand
from tapeflow.keras.metrics import functions, ragged
from tapeflow.keras.metrics.means import Mean, MeanMetricWrapper
from tapeflow.ops.math.arithmetic import squared_difference
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.elementwise import sqrt

# What all classes made of functions say of the arguments that the functions have not.
_SAID = docstrings.entries("""
  name: the name under which results are shown.
  dtype: of the sums and the result; None for `keras.config.floatx()`.
""")


def _made(
    name: str, function: Callable[..., Any], given_name: str, first: Sequence[str] = (), example: str = "",
    newer=None, **defaults,
):
    """A class whose arguments are `first` ones, name and dtype, then the other settings of the function."""
    order = {n: defaults[n] for n in first} | {"name": given_name, "dtype": None}
    order |= {n: v for n, v in defaults.items() if n not in first}
    about = f"The mean of `{function.__name__}` over all examples of all batches, weighted by `sample_weight`."
    doc = docstrings.of_class(function, about, order, _SAID, example)
    made = class_of(name, MeanMetricWrapper, function, order, doc, __name__, newer)
    made._direction = "up"  # but of losses, whose instances say so
    return made


Accuracy = _made(
    "Accuracy",
    functions.accuracy,
    "accuracy",
    example=""">>> metric = tf.keras.metrics.Accuracy()
>>> metric.update_state([1, 2, 3, 4], [0, 2, 3, 4])
>>> print(metric.result().numpy())
0.75""",
)
BinaryAccuracy = _made(
    "BinaryAccuracy", functions.binary_accuracy, "binary_accuracy", threshold=0.5,
    example=""">>> metric = tf.keras.metrics.BinaryAccuracy()
>>> metric.update_state([[1.0], [0.0]], [[0.8], [0.7]])
>>> print(metric.result().numpy())
0.5""",
)
CategoricalAccuracy = _made(
    "CategoricalAccuracy", functions.categorical_accuracy, "categorical_accuracy"
)
SparseCategoricalAccuracy = _made(
    "SparseCategoricalAccuracy",
    functions.sparse_categorical_accuracy,
    "sparse_categorical_accuracy",
    example=""">>> metric = tf.keras.metrics.SparseCategoricalAccuracy()
>>> metric.update_state([1, 0], [[0.1, 0.9], [0.3, 0.7]])
>>> print(metric.result().numpy())
0.5""",
)
TopKCategoricalAccuracy = _made(
    "TopKCategoricalAccuracy",
    functions.top_k_categorical_accuracy,
    "top_k_categorical_accuracy",
    ("k",),
    k=5,
)
SparseTopKCategoricalAccuracy = _made(
    "SparseTopKCategoricalAccuracy",
    functions.sparse_top_k_categorical_accuracy,
    "sparse_top_k_categorical_accuracy",
    ("k",),
    k=5,
    newer={"from_sorted_ids": False},
    from_sorted_ids=False,
)
MeanSquaredError = _made("MeanSquaredError", losses.mean_squared_error, "mean_squared_error")
MeanAbsoluteError = _made("MeanAbsoluteError", losses.mean_absolute_error, "mean_absolute_error")
MeanAbsolutePercentageError = _made(
    "MeanAbsolutePercentageError",
    losses.mean_absolute_percentage_error,
    "mean_absolute_percentage_error",
)
MeanSquaredLogarithmicError = _made(
    "MeanSquaredLogarithmicError",
    losses.mean_squared_logarithmic_error,
    "mean_squared_logarithmic_error",
)
Hinge = _made("Hinge", losses.hinge, "hinge")
SquaredHinge = _made("SquaredHinge", losses.squared_hinge, "squared_hinge")
CategoricalHinge = _made("CategoricalHinge", losses.categorical_hinge, "categorical_hinge")
KLDivergence = _made("KLDivergence", losses.kl_divergence, "kl_divergence")
Poisson = _made("Poisson", losses.poisson, "poisson")
LogCoshError = _made("LogCoshError", losses.log_cosh, "logcosh")
CosineSimilarity = _made(
    "CosineSimilarity", functions.cosine_proximity, "cosine_similarity", axis=-1
)
BinaryCrossentropy = _made(
    "BinaryCrossentropy",
    losses.binary_crossentropy,
    "binary_crossentropy",
    from_logits=False,
    label_smoothing=0,
)
CategoricalCrossentropy = _made(
    "CategoricalCrossentropy",
    losses.categorical_crossentropy,
    "categorical_crossentropy",
    from_logits=False,
    label_smoothing=0,
    axis=-1,
)
SparseCategoricalCrossentropy = _made(
    "SparseCategoricalCrossentropy",
    losses.sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy",
    from_logits=False,
    ignore_class=None,
    axis=-1,
)
PearsonCorrelation = _made(
    "PearsonCorrelation", functions.pearson_correlation, "pearson_correlation", axis=-1
)
ConcordanceCorrelation = _made(
    "ConcordanceCorrelation", functions.concordance_correlation, "concordance_correlation", axis=-1
)


class RootMeanSquaredError(Mean):
    """The root of the mean squared error of all batches.

    Args:
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    >>> metric = tf.keras.metrics.RootMeanSquaredError()
    >>> metric.update_state([0.0, 0.0], [3.0, 3.0])
    >>> print(metric.result().numpy())
    3.0
    """

    _direction = "down"

    def __init__(self, name: str = "root_mean_squared_error", dtype: DTypeLike | None = None):
        super().__init__(name, dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = cast(y_pred, self._dtype)
        y_true, y_pred, _ = squeeze_or_expand(cast(y_true, self._dtype), y_pred)
        super().update_state(squared_difference(y_pred, y_true), sample_weight)

    def result(self):
        return sqrt(super().result())


class MeanRelativeError(Mean):
    """The mean of |y_true - y_pred| / normalizer.

    Args:
      normalizer: what errors are divided by, of the labels' shape; where it is 0 the error counts 0.
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
    """

    def __init__(self, normalizer, name: str | None = None, dtype: DTypeLike | None = None):
        super().__init__(name or "mean_relative_error", dtype)
        self.__dict__["normalizer"] = cast(normalizer, self._dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = cast(y_pred, self._dtype)
        y_true, y_pred, _ = squeeze_or_expand(cast(y_true, self._dtype), y_pred)
        error = functions.relative_error(y_true, y_pred, self.normalizer)
        super().update_state(error, sample_weight)

    def get_config(self):
        return {**super().get_config(), "normalizer": self.normalizer.numpy().tolist()}


class MetricByShape(Mean):
    """The accuracy, or the cross-entropy, that fits the shapes of labels and predictions.

    Args:
      name: "accuracy" or "acc" for an accuracy, "crossentropy" or "ce" for a cross-entropy.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
    """

    def __init__(self, name: str, dtype: DTypeLike | None = None):
        super().__init__(name, dtype)
        self.__dict__["_fn"] = None
        self.__dict__["_direction"] = "up" if name.startswith("acc") else "down"

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred, sample_weight = ragged.flat(y_true, y_pred, sample_weight)
        y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
        choose = accuracy_for if self.name.endswith(("accuracy", "acc")) else crossentropy_for
        function = choose(y_true, y_pred)
        y_true, y_pred, _ = squeeze_or_expand(y_true, y_pred)
        super().update_state(function(y_true, y_pred), sample_weight)


def _kind(
    y_true, y_pred, binary: Callable[..., Any], categorical: Callable[..., Any], sparse: Callable[..., Any]
):
    classes = y_pred.shape[-1] if len(y_pred.shape) > 1 else 1
    if classes == 1:
        return binary
    if len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] != 1:
        return categorical
    return sparse


def accuracy_for(y_true: TensorLike, y_pred: TensorLike):
    """The accuracy that fits the shapes of labels and predictions."""
    return _kind(
        y_true,
        y_pred,
        functions.binary_accuracy,
        functions.categorical_accuracy,
        functions.sparse_categorical_accuracy,
    )


def crossentropy_for(y_true: TensorLike, y_pred: TensorLike):
    """The cross-entropy that fits the shapes of labels and predictions."""
    return _kind(
        y_true,
        y_pred,
        losses.binary_crossentropy,
        losses.categorical_crossentropy,
        losses.sparse_categorical_crossentropy,
    )
