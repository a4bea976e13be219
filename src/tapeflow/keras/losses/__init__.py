"""`tf.keras.losses`: numbers per example, and objects that weight and reduce them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries
from tapeflow.keras.losses.classes import (
    CTC,
    BinaryCrossentropy,
    BinaryFocalCrossentropy,
    CategoricalCrossentropy,
    CategoricalFocalCrossentropy,
    CategoricalGeneralizedCrossEntropy,
    CategoricalHinge,
    Circle,
    CosineSimilarity,
    Dice,
    Hinge,
    Huber,
    KLDivergence,
    LogCosh,
    Loss,
    LossFunctionWrapper,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    SparseCategoricalCrossentropy,
    SquaredHinge,
    Tversky,
)
from tapeflow.keras.losses.functions import (
    KLD,
    MAE,
    MAPE,
    MSE,
    MSLE,
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    cosine_similarity,
    hinge,
    huber,
    kl_divergence,
    kld,
    kullback_leibler_divergence,
    log_cosh,
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
from tapeflow.keras.losses.imbalanced import (
    binary_focal_crossentropy,
    categorical_focal_crossentropy,
    categorical_generalized_cross_entropy,
    circle,
    ctc,
    dice,
    tversky,
)
from tapeflow.keras.losses.reduction import Reduction, compute_weighted_loss
from tapeflow.keras.losses.shapes import squeeze_or_expand, without_last
from tapeflow.keras.old_names import leaves_out
from tapeflow.keras.registry import resolve, to_config

__all__ = [
    "CTC",
    "KLD",
    "MAE",
    "MAPE",
    "MSE",
    "MSLE",
    "BinaryCrossentropy",
    "BinaryFocalCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalFocalCrossentropy",
    "CategoricalGeneralizedCrossEntropy",
    "CategoricalHinge",
    "Circle",
    "CosineSimilarity",
    "Dice",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "LossFunctionWrapper",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "MeanSquaredLogarithmicError",
    "Poisson",
    "Reduction",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
    "Tversky",
    "binary_crossentropy",
    "binary_focal_crossentropy",
    "categorical_crossentropy",
    "categorical_focal_crossentropy",
    "categorical_generalized_cross_entropy",
    "categorical_hinge",
    "circle",
    "compute_weighted_loss",
    "cosine_similarity",
    "ctc",
    "deserialize",
    "dice",
    "get",
    "hinge",
    "huber",
    "kl_divergence",
    "kld",
    "kullback_leibler_divergence",
    "log_cosh",
    "logcosh",
    "mae",
    "mape",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_squared_error",
    "mean_squared_logarithmic_error",
    "mse",
    "msle",
    "poisson",
    "serialize",
    "sparse_categorical_crossentropy",
    "squared_hinge",
    "squeeze_or_expand",
    "tversky",
    "without_last",
]

_NOT_LOSSES = {
    "Reduction",
    "compute_weighted_loss",
    "deserialize",
    "get",
    "serialize",
    "squeeze_or_expand",
    "without_last",
}
_NAMES = {name: globals()[name] for name in __all__ if name in globals()}
_NAMES = {name: value for name, value in _NAMES.items() if name not in _NOT_LOSSES}
_NAMES |= dict.fromkeys(("bce", "BCE"), _NAMES["binary_crossentropy"])
_FUNCTIONS = {name: value for name, value in _NAMES.items() if not isinstance(value, type)}
_CLASSES = {name: value for name, value in _NAMES.items() if isinstance(value, type)}


def get(identifier):
    """Find a loss.

    Args:
      identifier: the name of a loss class or function, the config of a loss, a function, a loss, or None.

    Returns:
      The loss, or None.

    Raises:
      ValueError: for an unknown name.
    """
    return resolve(identifier, _NAMES, "loss function")


@leaves_out("use_legacy_format")
def serialize(loss: TensorLike):
    """The name or config of a loss."""
    return to_config(loss)


@leaves_out("use_legacy_format")
def deserialize(name: Any, custom_objects: Mapping[str, Any] | None = None):
    """Make a loss of its name or config.

    Args:
      name: what `serialize` gave.
      custom_objects: a dict of the program's own classes and functions by name.

    Returns:
      The loss.

    Raises:
      ValueError: for an unknown name.
    """
    return resolve(name, _NAMES, "loss function", custom_objects)


boundaries(globals())
