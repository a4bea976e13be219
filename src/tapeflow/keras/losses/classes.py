"""Losses as objects, which weight and reduce the numbers of examples."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tapeflow.core import dtypes
from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import Bounded
from tapeflow.core.release import keras_2
from tapeflow.core.spelling import snake_case
from tapeflow.core.structures import nest
from tapeflow.keras import docstrings, settings
from tapeflow.keras.classes_of_functions import class_of, written
from tapeflow.keras.losses import functions, imbalanced
from tapeflow.keras.losses.reduction import Reduction, reduced, with_mask
from tapeflow.keras.losses.shapes import squeeze_or_expand
from tapeflow.keras.registry import deserialize_in, to_config
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.logic import logical_and

if TYPE_CHECKING:
    import numpy as np

_MEAN = Reduction.SUM_OVER_BATCH_SIZE


def _cast_all(y: TensorLike, dtype: DType):
    """A tensor, or all tensors of a structure, in a dtype; lists of numbers are tensors."""
    if isinstance(y, Mapping):
        return {key: _cast_all(each, dtype) for key, each in y.items()}
    if isinstance(y, (list, tuple)) and any(hasattr(each, "shape") for each in y):
        return nest.map_structure(lambda each: cast(each, dtype), y)
    return cast(y, dtype)


class Loss(Bounded):
    """A function of labels and predictions that gives a scalar, or one number per example.

    Subclasses define `call(y_true, y_pred)`, the numbers of the examples; calling the loss weights and reduces these:
    `loss(y_true, y_pred, sample_weight=None)`.

    Args:
      name: a name for messages and results; that of the class by default.
      reduction: "sum_over_batch_size" or "mean" for the sum by the number of examples, "sum", "none" or None for one
        number per example, "mean_with_sample_weight" for the sum by the sum of the weights.
      dtype: of the computation and the result; None for `keras.config.floatx()`. Keras 2: that of the predictions.

    Raises:
      ValueError: for an unknown reduction.

    >>> class Absolute(tf.keras.losses.Loss):
    ...     def call(self, y_true, y_pred):
    ...         return tf.abs(y_pred - y_true)
    >>> print(Absolute(reduction="sum")(tf.constant([1.0, 2.0]), tf.constant([3.0, 3.0])).numpy())
    3.0
    """

    _keras_module = "keras.losses"
    _keras_module_itself = "keras"

    def __init__(self, name=None, reduction=_MEAN, dtype=None):
        kinds = Reduction.all()
        if (name in kinds[:4] and reduction not in kinds[:4]) or name in kinds[:3]:
            name, reduction = (None if reduction == _MEAN else reduction), name
        Reduction.validate(reduction)
        self.reduction = reduction
        self.name = name or snake_case(type(self).__name__)
        dtype = getattr(dtype, "compute_dtype", dtype)  # of a policy
        self._dtype = None if dtype is None else dtypes.as_dtype(getattr(dtype, "name", dtype))

    _dtype = None

    @property
    def dtype(self):
        """The name of the dtype of the results."""
        return settings.floatx() if self._dtype is None else self._dtype.name

    def call(self, y_true: TensorLike, y_pred: TensorLike):
        """Compute the loss of every example. Subclasses define it.

        Args:
          y_true: labels.
          y_pred: predictions.

        Returns:
          One number per example.
        """
        raise TypeError(f"{type(self).__name__} must define call(y_true, y_pred)")

    def __call__(self, y_true: TensorLike, y_pred: TensorLike, sample_weight: np.ndarray | None = None):
        target = self._dtype
        if target is None and not keras_2():
            target = dtypes.as_dtype(settings.floatx())
        of_inputs = None if keras_2() else getattr(y_pred, "_keras_mask", None)
        if target is not None:
            y_true, y_pred = _cast_all(y_true, target), _cast_all(y_pred, target)
        values = convert_to_tensor(self.call(y_true, y_pred))
        of_values = getattr(values, "_keras_mask", None)
        if of_inputs is not None or of_values is not None:
            masks = [mask for mask in (of_inputs, of_values) if mask is not None]
            sample_weight = with_mask(
                sample_weight, functools.reduce(logical_and, masks), values.dtype, self.reduction
            )
        return reduced(values, sample_weight, self.reduction)

    def get_config(self):
        """The constructor's arguments."""
        config = {"reduction": self.reduction, "name": self.name}
        return config if self._dtype is None else {**config, "dtype": self._dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A loss from the constructor's arguments."""
        return cls(**config)


class LossFunctionWrapper(Loss):
    """A loss made of a function.

    Args:
      fn: a function of labels and predictions that gives one number per example.
      reduction: "sum_over_batch_size" for the mean, "sum", or None for one number per example; see `Loss`.
      name: a name for messages and results; that of the function by default.
      dtype: of the computation and the result; None for `keras.config.floatx()`.
      **kwargs: further arguments of the function.
    """

    def __init__(
        self, fn: Callable[..., Any], reduction: str = _MEAN, name: str | None = None,
        dtype: DTypeLike | None = None, **kwargs,
    ):
        super().__init__(name or getattr(fn, "__name__", None), reduction, dtype)
        self.fn = fn
        self._settings = kwargs

    _newer_settings: ClassVar[dict[str, Any]] = {}  # those that Keras 2 lacks, with their values there

    def call(self, y_true: TensorLike, y_pred: TensorLike):
        if type(y_pred) in (list, tuple, dict) or hasattr(y_pred, "_fields"):
            leaves = nest.flatten(y_pred)
            if not keras_2() and any(map(is_tensor, leaves)):  # a function of several outputs
                pairs = [squeeze_or_expand(*map(convert_to_tensor, pair)) for pair in zip(nest.flatten(y_true), leaves)]
                y_true = nest.pack_sequence_as(y_true, [pair[0] for pair in pairs])
                y_pred = nest.pack_sequence_as(y_pred, [pair[1] for pair in pairs])
                return self.fn(y_true, y_pred, **self._settings)
        tensors = is_tensor(y_true) and is_tensor(y_pred)
        y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
        if tensors or not keras_2():  # Keras 2 broadcasts arrays
            y_true, y_pred, _ = squeeze_or_expand(y_true, y_pred)
        return self.fn(y_true, y_pred, **self._settings)

    def get_config(self):
        config = {**super().get_config(), **written(self._settings, self._newer_settings)}
        if type(self) is LossFunctionWrapper:
            return {**config, "fn": to_config(self.fn)}
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        config = dict(config)
        function = config.pop("fn", None)  # Keras 2 writes it for every class
        if cls is LossFunctionWrapper and function is not None:
            config["fn"] = deserialize_in("keras.losses", function)
        return cls(**config)


# What all classes made of functions say of the arguments that the functions have not.
_SAID = docstrings.entries("""
  reduction: "sum_over_batch_size" for the mean, "sum", or None for one number per example; see `Loss`.
  name: a name for messages and results.
  dtype: of the computation and the result; None for `keras.config.floatx()`, in Keras 2 for that of the predictions.
""")


def _made(
    name: str, function: Callable[..., Any], given_name: str, arguments: Sequence[str] = (), last=(), example="",
    newer=None, **defaults,
):
    """A class of losses: its arguments are settings of the function, then reduction, name and dtype.

    `last` are settings that come after the reduction ("axis" before the name) or after the name.
    """
    order = {n: defaults[n] for n in arguments}
    order["reduction"] = _MEAN
    order |= {n: defaults[n] for n in last if n.startswith("<")}
    order = {n.lstrip("<"): v for n, v in order.items()}
    order["name"] = given_name
    order |= {n: defaults[n] for n in last if not n.startswith("<")}
    order["dtype"] = None
    about = (
        f"The class of `{function.__name__}`: called with labels, predictions and, if wanted, weights of the examples, "
        "it\nreduces what the function gives."
    )
    doc = docstrings.of_class(function, about, order, _SAID, example)
    return class_of(name, LossFunctionWrapper, function, order, doc, __name__, newer)


MeanSquaredError = _made(
    "MeanSquaredError", functions.mean_squared_error, "mean_squared_error",
    example=""">>> loss = tf.keras.losses.MeanSquaredError()
>>> print(loss([[0.0], [1.0]], [[1.0], [3.0]]).numpy())
2.5
>>> print(loss([[0.0], [1.0]], [[1.0], [3.0]], sample_weight=[1.0, 0.0]).numpy())
0.5""",
)  # fmt: skip
MeanAbsoluteError = _made(
    "MeanAbsoluteError", functions.mean_absolute_error, "mean_absolute_error",
    example=""">>> loss = tf.keras.losses.MeanAbsoluteError()
>>> print(loss([[0.0], [1.0]], [[1.0], [3.0]]).numpy())
1.5""",
)  # fmt: skip
MeanAbsolutePercentageError = _made(
    "MeanAbsolutePercentageError",
    functions.mean_absolute_percentage_error,
    "mean_absolute_percentage_error",
)
MeanSquaredLogarithmicError = _made(
    "MeanSquaredLogarithmicError",
    functions.mean_squared_logarithmic_error,
    "mean_squared_logarithmic_error",
)
Hinge = _made("Hinge", functions.hinge, "hinge")
SquaredHinge = _made("SquaredHinge", functions.squared_hinge, "squared_hinge")
CategoricalHinge = _made("CategoricalHinge", functions.categorical_hinge, "categorical_hinge")
Huber = _made(
    "Huber", functions.huber, "huber_loss", ("delta",), delta=1.0,
    example=""">>> loss = tf.keras.losses.Huber(delta=1.0)
>>> print(loss([[0.0, 0.0]], [[0.5, 3.0]]).numpy())
1.3125""",
)  # fmt: skip
LogCosh = _made("LogCosh", functions.log_cosh, "log_cosh")
KLDivergence = _made("KLDivergence", functions.kl_divergence, "kl_divergence")
Poisson = _made("Poisson", functions.poisson, "poisson")
CosineSimilarity = _made(
    "CosineSimilarity", functions.cosine_similarity, "cosine_similarity", ("axis",), axis=-1
)
_SMOOTHED = {"from_logits": False, "label_smoothing": 0.0, "axis": -1}
BinaryCrossentropy = _made(
    "BinaryCrossentropy", functions.binary_crossentropy, "binary_crossentropy",
    tuple(_SMOOTHED), **_SMOOTHED,
    example=""">>> loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
>>> print(f"{loss([[0.0], [1.0]], [[0.0], [0.0]]):.4f}")
0.6931""",
)  # fmt: skip
CategoricalCrossentropy = _made(
    "CategoricalCrossentropy", functions.categorical_crossentropy, "categorical_crossentropy",
    tuple(_SMOOTHED), **_SMOOTHED,
    example=""">>> loss = tf.keras.losses.CategoricalCrossentropy(reduction=None)
>>> print(loss([[0.0, 1.0], [1.0, 0.0]], [[0.5, 0.5], [0.5, 0.5]]).shape)
(2,)""",
)  # fmt: skip
SparseCategoricalCrossentropy = _made(
    "SparseCategoricalCrossentropy", functions.sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy", ("from_logits", "ignore_class"), ("<axis",),
    from_logits=False, ignore_class=None, newer={"axis": -1}, **{"<axis": -1},
    example=""">>> loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
>>> print(f"{loss([1, 0], [[0.0, 0.0], [0.0, 0.0]]):.4f}")
0.6931""",
)  # fmt: skip
_FOCAL = {"alpha": 0.25, "gamma": 2.0, **_SMOOTHED}
BinaryFocalCrossentropy = _made(
    "BinaryFocalCrossentropy", imbalanced.binary_focal_crossentropy, "binary_focal_crossentropy",
    ("apply_class_balancing", *_FOCAL), apply_class_balancing=False, **_FOCAL,
)  # fmt: skip
CategoricalFocalCrossentropy = _made(
    "CategoricalFocalCrossentropy", imbalanced.categorical_focal_crossentropy,
    "categorical_focal_crossentropy", tuple(_FOCAL), **_FOCAL,
)  # fmt: skip
CategoricalGeneralizedCrossEntropy = _made(
    "CategoricalGeneralizedCrossEntropy", imbalanced.categorical_generalized_cross_entropy,
    "categorical_generalized_cross_entropy", ("q",), q=0.5,
)  # fmt: skip
Dice = _made("Dice", imbalanced.dice, "dice", (), ("axis",), axis=None)
Tversky = _made(
    "Tversky", imbalanced.tversky, "tversky", ("alpha", "beta"), ("axis",),
    alpha=0.5, beta=0.5, axis=None,
)  # fmt: skip
Circle = _made(
    "Circle", imbalanced.circle, "circle", ("gamma", "margin", "remove_diagonal"),
    gamma=80.0, margin=0.4, remove_diagonal=True,
)  # fmt: skip
CTC = _made("CTC", imbalanced.ctc, "ctc")
