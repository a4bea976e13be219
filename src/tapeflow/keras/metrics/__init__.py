"""`tf.keras.metrics`: sums over batches, kept in variables, and functions of one batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core.public import boundaries
from tapeflow.core.release import keras_2
from tapeflow.core.spelling import snake_case
from tapeflow.keras.losses import _FUNCTIONS as _LOSSES
from tapeflow.keras.losses import (
    KLD,
    MAE,
    MAPE,
    MSE,
    MSLE,
    binary_crossentropy,
    binary_focal_crossentropy,
    categorical_crossentropy,
    categorical_focal_crossentropy,
    categorical_hinge,
    hinge,
    huber,
    kl_divergence,
    kld,
    kullback_leibler_divergence,
    logcosh,
    mae,
    mape,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    mse,
    msle,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from tapeflow.keras.metrics.auc import AUC
from tapeflow.keras.metrics.averages import (
    Accuracy,
    BinaryAccuracy,
    BinaryCrossentropy,
    CategoricalAccuracy,
    CategoricalCrossentropy,
    CategoricalHinge,
    ConcordanceCorrelation,
    CosineSimilarity,
    Hinge,
    KLDivergence,
    LogCoshError,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanRelativeError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    MetricByShape,
    PearsonCorrelation,
    Poisson,
    RootMeanSquaredError,
    SparseCategoricalAccuracy,
    SparseCategoricalCrossentropy,
    SparseTopKCategoricalAccuracy,
    SquaredHinge,
    TopKCategoricalAccuracy,
)
from tapeflow.keras.metrics.base import Metric, rename
from tapeflow.keras.metrics.confusion import (
    FalseNegatives,
    FalsePositives,
    Precision,
    Recall,
    TrueNegatives,
    TruePositives,
)
from tapeflow.keras.metrics.functions import (
    accuracy,
    binary_accuracy,
    categorical_accuracy,
    concordance_correlation,
    cosine_proximity,
    pearson_correlation,
    sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy,
)
from tapeflow.keras.metrics.means import Mean, MeanMetricWrapper, MeanTensor, Sum
from tapeflow.keras.metrics.operating_points import (
    PrecisionAtRecall,
    RecallAtPrecision,
    SensitivityAtSpecificity,
    SpecificityAtSensitivity,
)
from tapeflow.keras.metrics.overlap import BinaryIoU, IoU, MeanIoU, OneHotIoU, OneHotMeanIoU
from tapeflow.keras.metrics.scores import F1Score, FBetaScore, R2Score
from tapeflow.keras.old_names import leaves_out
from tapeflow.keras.registry import resolve, to_config

__all__ = [
    "AUC",
    "KLD",
    "MAE",
    "MAPE",
    "MSE",
    "MSLE",
    "Accuracy",
    "BinaryAccuracy",
    "BinaryCrossentropy",
    "BinaryIoU",
    "CategoricalAccuracy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "ConcordanceCorrelation",
    "CosineSimilarity",
    "F1Score",
    "FBetaScore",
    "FalseNegatives",
    "FalsePositives",
    "Hinge",
    "IoU",
    "KLDivergence",
    "LogCoshError",
    "Mean",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanIoU",
    "MeanMetricWrapper",
    "MeanRelativeError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "MeanTensor",
    "Metric",
    "MetricByShape",
    "OneHotIoU",
    "OneHotMeanIoU",
    "PearsonCorrelation",
    "Poisson",
    "Precision",
    "PrecisionAtRecall",
    "R2Score",
    "Recall",
    "RecallAtPrecision",
    "RootMeanSquaredError",
    "SensitivityAtSpecificity",
    "SparseCategoricalAccuracy",
    "SparseCategoricalCrossentropy",
    "SparseTopKCategoricalAccuracy",
    "SpecificityAtSensitivity",
    "SquaredHinge",
    "Sum",
    "TopKCategoricalAccuracy",
    "TrueNegatives",
    "TruePositives",
    "accuracy",
    "binary_accuracy",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_accuracy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_hinge",
    "concordance_correlation",
    "cosine_proximity",
    "deserialize",
    "get",
    "get_metric",
    "hinge",
    "huber",
    "kl_divergence",
    "kld",
    "kullback_leibler_divergence",
    "logcosh",
    "mae",
    "mape",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "mse",
    "msle",
    "pearson_correlation",
    "poisson",
    "serialize",
    "sparse_categorical_accuracy",
    "sparse_categorical_crossentropy",
    "sparse_top_k_categorical_accuracy",
    "squared_hinge",
    "top_k_categorical_accuracy",
]

_NAMED = {name: globals()[name] for name in __all__ if name in globals()}
_NAMES = {**_LOSSES, **_NAMED, "cosine_similarity": cosine_proximity}
_NAMES |= dict.fromkeys(("bce", "BCE"), _LOSSES["binary_crossentropy"])
# The classes that Keras 3 means by the names of functions.
_CLASSES = {
    snake_case(name): cls for name, cls in _NAMED.items() if isinstance(cls, type) and issubclass(cls, Metric)
}
_CLASSES |= {
    short: _CLASSES[name]
    for name, shorts in (
        ("binary_crossentropy", ("bce", "BCE")),
        ("mean_squared_error", ("mse", "MSE")),
        ("mean_absolute_error", ("mae", "MAE")),
        ("mean_absolute_percentage_error", ("mape", "MAPE")),
        ("mean_squared_logarithmic_error", ("msle", "MSLE")),
    )
    for short in shorts
}


def get(identifier: str):
    """Find a metric.

    Args:
      identifier: the name of a metric class or function, which in Keras 3 mean the class, the config of a metric, a
        function, a metric, or None.

    Returns:
      The metric, or None.

    Raises:
      ValueError: for an unknown name.
    """
    if isinstance(identifier, str) and identifier in _CLASSES and not keras_2():
        return _CLASSES[identifier]()
    return resolve(identifier, _NAMES, "metric function")


def get_metric(identifier: str):
    """Like get, but a function becomes the mean of its values."""
    found = resolve(identifier, _NAMES, "metric function")
    if isinstance(found, Metric):
        if isinstance(identifier, str) and not keras_2():
            rename(found, identifier)  # results have the name that was given
        return found
    return MeanMetricWrapper(found, name=identifier if isinstance(identifier, str) else None)


@leaves_out("use_legacy_format")
def serialize(metric):
    """The name or config of a metric."""
    return to_config(metric)


@leaves_out("use_legacy_format")
def deserialize(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None):
    """Make a metric of its name or config.

    Args:
      config: what `serialize` gave.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The metric.

    Raises:
      ValueError: for an unknown name.
    """
    return resolve(config, _NAMES, "metric function", custom_objects)


boundaries(globals())
