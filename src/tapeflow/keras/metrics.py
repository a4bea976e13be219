"""Metrics: sums over batches, kept in variables."""

from __future__ import annotations

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.keras import losses, settings
from tapeflow.keras.engine.tracking import Tracked
from tapeflow.keras.losses import squeeze_or_expand
from tapeflow.keras.registry import resolve, snake_case, to_config
from tapeflow.ops.argmax import argmax
from tapeflow.ops.arithmetic import squared_difference
from tapeflow.ops.array import shape as shape_of
from tapeflow.ops.array import size
from tapeflow.ops.casting import cast
from tapeflow.ops.comparison import equal, logical_and, logical_not
from tapeflow.ops.construction import zeros
from tapeflow.ops.division_no_nan import divide_no_nan as div_no_nan
from tapeflow.ops.elementwise import sqrt
from tapeflow.ops.layout import reshape, squeeze
from tapeflow.ops.normalization import l2_normalize
from tapeflow.ops.reduction import reduce_mean, reduce_sum
from tapeflow.ops.selection import in_top_k
from tapeflow.ops.static import rank_of, size_of
from tapeflow.ops.variable import Variable


class Metric(Tracked):
    """Values gathered over batches: `update_state(...)`, `result()`, `reset_state()`.

    Called as a function, it does the first two.
    """

    _is_metric = True

    def __init__(self, name=None, dtype=None, **kwargs):
        self._start_tracking()
        self.__dict__["_name"] = name or settings.unique_name(snake_case(type(self).__name__))
        self.__dict__["_dtype"] = settings.default_dtype(dtype)
        self.__dict__["stateful"] = True

    @property
    def name(self):
        """The name under which results are shown."""
        return self._name

    @property
    def dtype(self):
        """The dtype of the results."""
        return self._dtype

    def add_weight(
        self,
        name=None,
        shape=(),
        aggregation=None,
        synchronization=None,
        initializer=None,
        dtype=None,
    ):
        """Makes a variable, zero at first, that reset_state sets to zero."""
        variable = Variable(
            zeros(list(shape), dtype or self._dtype),
            trainable=False,
            name=name,
            dtype=dtype or self._dtype,
        )
        self._own_weights.append(variable)
        self.__dict__.setdefault("_named_weights", {})[name] = variable
        return variable

    def update_state(self, *args, **kwargs):
        """Takes a batch into account."""
        raise TypeError(f"{type(self).__name__} must define update_state")

    def result(self):
        """The value so far."""
        raise TypeError(f"{type(self).__name__} must define result")

    def reset_state(self):
        """Forgets all batches."""
        for variable in self._own_weights:
            variable.assign(zeros(variable.shape.as_list(), variable.dtype))

    def reset_states(self):
        """The old name of reset_state."""
        self.reset_state()

    def __call__(self, *args, **kwargs):
        self.update_state(*args, **kwargs)
        return self.result()

    @property
    def variables(self):
        """The variables."""
        return list(self._own_weights)

    weights = non_trainable_weights = variables

    @property
    def trainable_weights(self):
        """None: metrics are not trained."""
        return []

    def get_config(self):
        """The constructor's arguments."""
        return {"name": self.name, "dtype": self._dtype.name}

    @classmethod
    def from_config(cls, config):
        """A metric from the constructor's arguments."""
        return cls(**config)


class Sum(Metric):
    """The sum of all values, weighted."""

    def __init__(self, name="sum", dtype=None):
        super().__init__(name, dtype)
        self.total = self.add_weight("total")

    def update_state(self, values, sample_weight=None):
        values = cast(values, self._dtype)
        if sample_weight is not None:
            _, values, weight = squeeze_or_expand(None, values, cast(sample_weight, self._dtype))
            values = values * weight
        self.total.assign_add(reduce_sum(values))

    def result(self):
        return self.total.read_value()


class Mean(Metric):
    """The mean of all values, weighted."""

    def __init__(self, name="mean", dtype=None):
        super().__init__(name, dtype)
        self.total = self.add_weight("total")
        self.count = self.add_weight("count")

    def update_state(self, values, sample_weight=None):
        values = cast(values, self._dtype)
        if sample_weight is None:
            known = values.shape.num_elements()
            count = cast(size(values), self._dtype) if known is None else float(known)
        else:
            weight = cast(sample_weight, self._dtype)
            _, values, weight = squeeze_or_expand(None, values, weight)
            values = values * weight
            count = reduce_sum(weight if weight.shape.rank == 0 else weight + values * 0.0)
        self.total.assign_add(reduce_sum(values))
        self.count.assign_add(count)

    def result(self):
        return div_no_nan(self.total, self.count)


class MeanMetricWrapper(Mean):
    """The mean of a function of labels and predictions."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(
            name or (fn if isinstance(fn, str) else getattr(fn, "__name__", "metric")), dtype
        )
        self._fn = get(fn) if isinstance(fn, str) else fn
        self._settings = kwargs

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
        y_true, y_pred, _ = squeeze_or_expand(y_true, y_pred)
        super().update_state(self._fn(y_true, y_pred, **self._settings), sample_weight)

    def get_config(self):
        config = {**super().get_config(), **self._settings}
        return {**config, "fn": to_config(self._fn)} if type(self) is MeanMetricWrapper else config


def _matches(a, b):
    return cast(equal(a, b), settings.floatx())


def binary_accuracy(y_true, y_pred, threshold=0.5):
    """Mean over the last axis of whether y_pred > threshold equals y_true."""
    y_pred = convert_to_tensor(y_pred)
    decided = cast(y_pred > cast(threshold, y_pred.dtype), y_pred.dtype)
    return reduce_mean(_matches(cast(y_true, y_pred.dtype), decided), axis=-1)


def categorical_accuracy(y_true, y_pred):
    """Whether the largest prediction is at the largest label."""
    return _matches(argmax(y_true, axis=-1), argmax(y_pred, axis=-1))


def sparse_categorical_accuracy(y_true, y_pred):
    """Whether the largest prediction is at y_true."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    y_true = _class_numbers(y_true, y_pred)
    return _matches(cast(y_true, dtypes.int64), argmax(y_pred, axis=-1))


def _class_numbers(y_true, y_pred):
    """The labels, without a last axis of size 1 where predictions have one for the classes."""
    if y_true.shape.rank is None or y_pred.shape.rank is None:
        return losses.without_last(y_true, rank_of(y_true) - rank_of(y_pred) + 1)
    alike = y_true.shape.rank == y_pred.shape.rank
    return squeeze(y_true, [-1]) if alike and y_true.shape[-1] == 1 else y_true


def _in_top(targets, y_pred, k):
    rows = reshape(y_pred, [-1, size_of(y_pred, -1)])
    hits = in_top_k(reshape(targets, [-1]), cast(rows, "float32"), k)
    known = targets.shape.is_fully_defined()
    return cast(reshape(hits, targets.shape if known else shape_of(targets)), settings.floatx())


def top_k_categorical_accuracy(y_true, y_pred, k=5):
    """Whether the largest label is among the k largest predictions."""
    return _in_top(argmax(y_true, axis=-1), convert_to_tensor(y_pred), k)


def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5):
    """Whether y_true is among the k largest predictions."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    return _in_top(cast(_class_numbers(y_true, y_pred), dtypes.int64), y_pred, k)


def accuracy(y_true, y_pred):
    """Whether y_true equals y_pred."""
    y_pred = convert_to_tensor(y_pred)
    return _matches(cast(y_true, y_pred.dtype), y_pred)


def cosine_proximity(y_true, y_pred, axis=-1):
    """The cosine of the angle between the vectors along `axis`."""
    y_true = cast(y_true, convert_to_tensor(y_pred).dtype)
    return reduce_sum(l2_normalize(y_true, axis=axis) * l2_normalize(y_pred, axis=axis), axis=axis)


def _wrapped(name, function, default_name, doc, **defaults):
    """A metric class that is the mean of a function with fixed names of settings."""

    def __init__(self, name=default_name, dtype=None, **settings):
        unknown = set(settings) - set(defaults)
        if unknown:
            raise TypeError(f"Keyword argument not understood: {unknown.pop()}")
        MeanMetricWrapper.__init__(self, function, name, dtype, **{**defaults, **settings})

    return type(
        name, (MeanMetricWrapper,), {"__init__": __init__, "__doc__": doc, "__module__": __name__}
    )


Accuracy = _wrapped("Accuracy", accuracy, "accuracy", "How often predictions equal labels.")
BinaryAccuracy = _wrapped(
    "BinaryAccuracy",
    binary_accuracy,
    "binary_accuracy",
    "How often thresholded predictions equal labels.",
    threshold=0.5,
)
CategoricalAccuracy = _wrapped(
    "CategoricalAccuracy",
    categorical_accuracy,
    "categorical_accuracy",
    "How often predictions match one-hot labels.",
)
SparseCategoricalAccuracy = _wrapped(
    "SparseCategoricalAccuracy",
    sparse_categorical_accuracy,
    "sparse_categorical_accuracy",
    "How often predictions match integer labels.",
)
TopKCategoricalAccuracy = _wrapped(
    "TopKCategoricalAccuracy",
    top_k_categorical_accuracy,
    "top_k_categorical_accuracy",
    "How often one-hot labels are among the k largest predictions.",
    k=5,
)
SparseTopKCategoricalAccuracy = _wrapped(
    "SparseTopKCategoricalAccuracy",
    sparse_top_k_categorical_accuracy,
    "sparse_top_k_categorical_accuracy",
    "How often integer labels are among the k largest predictions.",
    k=5,
)
MeanSquaredError = _wrapped(
    "MeanSquaredError", losses.mean_squared_error, "mean_squared_error", "The mean squared error."
)
MeanAbsoluteError = _wrapped(
    "MeanAbsoluteError",
    losses.mean_absolute_error,
    "mean_absolute_error",
    "The mean absolute error.",
)
MeanAbsolutePercentageError = _wrapped(
    "MeanAbsolutePercentageError",
    losses.mean_absolute_percentage_error,
    "mean_absolute_percentage_error",
    "The mean absolute error in percent.",
)
MeanSquaredLogarithmicError = _wrapped(
    "MeanSquaredLogarithmicError",
    losses.mean_squared_logarithmic_error,
    "mean_squared_logarithmic_error",
    "The mean squared logarithmic error.",
)
Hinge = _wrapped("Hinge", losses.hinge, "hinge", "The hinge loss.")
SquaredHinge = _wrapped(
    "SquaredHinge", losses.squared_hinge, "squared_hinge", "The squared hinge loss."
)
CategoricalHinge = _wrapped(
    "CategoricalHinge", losses.categorical_hinge, "categorical_hinge", "The categorical hinge loss."
)
KLDivergence = _wrapped(
    "KLDivergence", losses.kl_divergence, "kullback_leibler_divergence", "The divergence."
)
Poisson = _wrapped("Poisson", losses.poisson, "poisson", "The Poisson loss.")
LogCoshError = _wrapped("LogCoshError", losses.log_cosh, "logcosh", "The log-cosh error.")
CosineSimilarity = _wrapped(
    "CosineSimilarity", cosine_proximity, "cosine_similarity", "The cosine similarity.", axis=-1
)
BinaryCrossentropy = _wrapped(
    "BinaryCrossentropy",
    losses.binary_crossentropy,
    "binary_crossentropy",
    "The cross-entropy.",
    from_logits=False,
    label_smoothing=0,
)
CategoricalCrossentropy = _wrapped(
    "CategoricalCrossentropy",
    losses.categorical_crossentropy,
    "categorical_crossentropy",
    "The cross-entropy.",
    from_logits=False,
    label_smoothing=0,
)
SparseCategoricalCrossentropy = _wrapped(
    "SparseCategoricalCrossentropy",
    losses.sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy",
    "The cross-entropy.",
    from_logits=False,
    axis=-1,
)


class RootMeanSquaredError(Mean):
    """The root of the mean squared error."""

    def __init__(self, name="root_mean_squared_error", dtype=None):
        super().__init__(name, dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = cast(y_pred, self._dtype)
        y_true, y_pred, _ = squeeze_or_expand(cast(y_true, self._dtype), y_pred)
        super().update_state(squared_difference(y_pred, y_true), sample_weight)

    def result(self):
        return sqrt(super().result())


class _Confusion(Metric):
    """Counts of decisions y_pred > threshold, by threshold."""

    _counts: tuple = ()

    def __init__(self, thresholds=None, name=None, dtype=None):
        super().__init__(name, dtype)
        values = np.atleast_1d(0.5 if thresholds is None else np.asarray(thresholds, np.float32))
        if not ((values >= 0) & (values <= 1)).all():
            raise ValueError(f"Threshold values must be in [0, 1]. Received: {thresholds}")
        self.__dict__["thresholds"] = values.tolist()
        self.__dict__["_one"] = np.ndim(thresholds) == 0
        for count in self._counts:
            setattr(self, count, self.add_weight(count, (len(values),)))

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_pred = reshape(cast(y_pred, self._dtype), [1, -1])
        positive = reshape(cast(y_true, self._dtype), [1, -1]) > 0.5
        limits = convert_to_tensor(np.array(self.thresholds, np.float32)[:, None], self._dtype)
        decided = y_pred > limits
        weight = 1.0
        if sample_weight is not None:
            weight = cast(sample_weight, self._dtype)
            weight = reshape(weight + reshape(y_pred, y_true_shape(y_true)) * 0.0, [1, -1])
        cells = {
            "true_positives": logical_and(decided, positive),
            "false_positives": logical_and(decided, logical_not(positive)),
            "false_negatives": logical_and(logical_not(decided), positive),
            "true_negatives": logical_and(logical_not(decided), logical_not(positive)),
        }
        for count in self._counts:
            getattr(self, count).assign_add(
                reduce_sum(cast(cells[count], self._dtype) * weight, axis=1)
            )

    def _value(self):
        return getattr(self, self._counts[0]).read_value()

    def result(self):
        value = self._value()
        return value[0] if self._one else value

    def get_config(self):
        return {**super().get_config(), "thresholds": self.thresholds}


def y_true_shape(y_true):
    """The sizes of the labels."""
    y_true = convert_to_tensor(y_true)
    return y_true.shape if y_true.shape.is_fully_defined() else shape_of(y_true)


class TruePositives(_Confusion):
    """How many positive labels were predicted positive."""

    _counts = ("true_positives",)


class FalsePositives(_Confusion):
    """How many negative labels were predicted positive."""

    _counts = ("false_positives",)


class FalseNegatives(_Confusion):
    """How many positive labels were predicted negative."""

    _counts = ("false_negatives",)


class TrueNegatives(_Confusion):
    """How many negative labels were predicted negative."""

    _counts = ("true_negatives",)


class Precision(_Confusion):
    """Which part of those predicted positive are positive."""

    _counts = ("true_positives", "false_positives")

    def _value(self):
        return div_no_nan(self.true_positives, self.true_positives + self.false_positives)


class Recall(_Confusion):
    """Which part of the positive were predicted positive."""

    _counts = ("true_positives", "false_negatives")

    def _value(self):
        return div_no_nan(self.true_positives, self.true_positives + self.false_negatives)


_NAMED = {name: value for name, value in list(globals().items()) if not name.startswith("_")}


def get(identifier):
    """A metric from a name, a config, a function or a metric."""
    return resolve(identifier, {**losses._FUNCTIONS, **_NAMED}, "metric function")


def get_metric(identifier):
    """Like get, but a function becomes the mean of its values."""
    found = get(identifier)
    return (
        found
        if isinstance(found, Metric)
        else MeanMetricWrapper(found, name=identifier if isinstance(identifier, str) else None)
    )


def accuracy_for(y_true, y_pred, name):
    """The accuracy that fits the shapes of labels and predictions."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    classes = y_pred.shape[-1] if len(y_pred.shape) > 1 else 1
    if classes == 1:
        function = binary_accuracy
    elif len(y_true.shape) == len(y_pred.shape) and y_true.shape[-1] == classes:
        function = categorical_accuracy
    else:
        function = sparse_categorical_accuracy
    return MeanMetricWrapper(function, name=name)


def serialize(metric):
    """The name or config of a metric."""
    return to_config(metric)


def deserialize(config, custom_objects=None):
    """A metric from its name or config."""
    return resolve(config, {**losses._FUNCTIONS, **_NAMED}, "metric function", custom_objects)
