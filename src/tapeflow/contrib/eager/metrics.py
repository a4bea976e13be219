"""`tfe.metrics`: objects that gather values; calling one adds values and returns them."""

from __future__ import annotations

import re

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.keras import settings
from tapeflow.keras.engine.tracking import Tracked
from tapeflow.keras.registry import snake_case
from tapeflow.ops.argmax import argmax
from tapeflow.ops.array import size
from tapeflow.ops.casting import cast
from tapeflow.ops.comparison import equal, not_equal
from tapeflow.ops.construction import zeros
from tapeflow.ops.division_no_nan import divide_no_nan as div_no_nan
from tapeflow.ops.layout import squeeze
from tapeflow.ops.reduction import reduce_sum
from tapeflow.ops.variable import Variable

__all__ = ["Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "Mean", "Metric", "SparseAccuracy"]


class Metric(Tracked):
    """Base: subclasses define `build(*args)`, `call(*args)` and `result()`.

    Variables made by add_variable in `build` are kept under their names as attributes.
    """

    def __init__(self, name=None):
        self._start_tracking()
        state = self.__dict__
        state["_built"] = False
        state["_start_values"] = []
        state["_name"] = name or settings.unique_name(f"{snake_case(type(self).__name__)}_metric")

    @property
    def name(self):
        """The metric's name."""
        return self._name

    @property
    def variables(self):
        """The variables made by add_variable."""
        return list(self._own_weights)

    def __call__(self, *args, **kwargs):
        if not self._built:
            self.build(*args, **kwargs)
            self.__dict__["_built"] = True
        return self.call(*args, **kwargs)

    def build(self, *args, **kwargs):
        """Makes the variables; called before the first call with its arguments."""

    def call(self, *args, **kwargs):
        """Takes values into account and returns them."""
        raise TypeError("Metrics must define a call() member function")

    def result(self):
        """The value so far."""
        raise TypeError("Metrics must define a result() member function")

    def value(self):
        """The value so far."""
        return self.result()

    def init_variables(self):
        """Starts again."""
        for variable, start in zip(self._own_weights, self._start_values):
            variable.assign(start)

    reset = init_variables

    def add_variable(self, name, shape=None, dtype=None, initializer=None):
        """Makes a variable of the metric. Raises RuntimeError outside `build`."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        sizes = [] if shape is None else list(shape)
        start = (
            zeros(sizes, dtype or dtypes.float32)
            if initializer is None
            else initializer(sizes, dtype=dtype)
        )
        scope = re.sub("[^A-Za-z0-9]", "_", self._name)
        variable = Variable(start, trainable=False, name=f"{scope}/{name}")
        self._own_weights.append(variable)
        self._start_values.append(start)
        return variable


class Mean(Metric):
    """The mean of all values, weighted; in float64 unless another dtype is given."""

    def __init__(self, name=None, dtype=dtypes.float64, use_global_variables=False):
        super().__init__(name)
        self.dtype = dtype

    def build(self, *args, **kwargs):
        self.numer = self.add_variable("numer", dtype=self.dtype)
        self.denom = self.add_variable("denom", dtype=self.dtype)

    def call(self, values, weights=None):
        values = convert_to_tensor(values)
        if weights is None:
            self.denom.assign_add(cast(size(values), self.dtype))
            self.numer.assign_add(cast(reduce_sum(cast(values, self.dtype)), self.dtype))
            return values
        weights = cast(weights, self.dtype)
        weighted = cast(values, self.dtype) * weights
        self.denom.assign_add(reduce_sum(weights + weighted * 0))
        self.numer.assign_add(reduce_sum(weighted))
        return values, weights

    def result(self, write_summary=True):
        return div_no_nan(self.numer, self.denom)


class Accuracy(Mean):
    """How often predictions equal labels."""

    def __init__(self, name=None, dtype=dtypes.float64):
        super().__init__(name, dtype)

    def call(self, labels, predictions, weights=None):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        _same_shape(labels, predictions)
        matches = equal(labels, cast(predictions, labels.dtype))
        super().call(cast(matches, self.dtype), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class CategoricalAccuracy(Mean):
    """How often the largest prediction is at the largest label."""

    def call(self, labels, predictions, weights=None):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        _same_shape(labels, predictions)
        matches = equal(argmax(labels, axis=-1), argmax(predictions, axis=-1))
        super().call(cast(matches, self.dtype), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class BinaryAccuracy(Mean):
    """How often labels are on the same side of the threshold as predictions."""

    def __init__(self, threshold, name=None, dtype=dtypes.float64):
        super().__init__(name, dtype)
        self.threshold = threshold

    def call(self, labels, predictions, weights=None):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        _same_shape(labels, predictions)
        decided = predictions > cast(self.threshold, predictions.dtype)
        matches = equal(not_equal(labels, cast(0, labels.dtype)), decided)
        super().call(cast(matches, self.dtype), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


class SparseAccuracy(Mean):
    """How often the largest prediction is at the class number that is the label."""

    def call(self, labels, predictions, weights=None):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        numbers = labels
        if len(labels.shape) == len(predictions.shape) and labels.shape[-1] == 1:
            numbers = squeeze(labels, [-1])
        matches = equal(cast(numbers, dtypes.int64), argmax(predictions, axis=-1))
        super().call(cast(matches, self.dtype), weights)
        return (labels, predictions) if weights is None else (labels, predictions, weights)


def _same_shape(labels, predictions):
    if not labels.shape.is_compatible_with(predictions.shape):
        raise ValueError(f"Shapes {labels.shape} and {predictions.shape} are incompatible")
