"""`tfe.metrics`: objects that gather values; calling one adds values and returns them.

In a graph a call is one operation, which makes all the updates, and `init_variables()` is one that starts again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tapeflow.checkpoint.following import attached
from tapeflow.contrib.summary import scalar
from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, ShapeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.function.defun import defun
from tapeflow.ops.array.sizes import shape, size
from tapeflow.ops.control.assertions import assert_equal
from tapeflow.ops.control.flow import cond
from tapeflow.ops.control.grouping import group
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.math.argmax import argmax
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import equal
from tapeflow.ops.math.reductions import reduce_sum
from tapeflow.ops.static import get_static_value
from tapeflow.v1.initializers import zeros_initializer
from tapeflow.v1.variable_getting import get_variable
from tapeflow.v1.variable_scoping import variable_scope

__all__ = ["Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "Mean", "Metric", "SparseAccuracy"]

_UNEQUAL = "Shapes of labels and predictions are unequal"


class Metric:
    """Base: subclasses define `build(*args)`, `call(*args)` and `result()`.

    Args:
      name: the scope of its variables; by default the class's. Two of one name in a graph raise ValueError where
        the second makes its variables.
      use_global_variables: in a graph, whether its variables are among the global ones rather than the local ones.
    """

    def __init__(self, name=None, use_global_variables=False):
        self._built = False
        self._vars = []
        self._initial_values = []
        self._named_variables = {}
        self._use_global_variables = use_global_variables
        self._name = name or type(self).__name__
        with variable_scope(re.sub(r"[^A-Za-z0-9.]", "_", self._name), reuse=False) as scope:
            self._scope = scope
        self._graph = context.current_graph()
        self._build, self.build = self.build, self._build_once
        if self._graph is not None:
            self.call = defun(self.call)

    @property
    def name(self):
        """The metric's name."""
        return self._name

    @property
    def variables(self):
        """The variables made by add_variable."""
        return self._vars

    def __call__(self, *args, **kwargs):
        if not self._built:
            # Where the metric was made, whatever is being built now.
            home = context.eager_mode() if self._graph is None else self._graph.as_default()
            with home, variable_scope(self._scope):
                self.build(*args, **kwargs)
        return self.call(*args, **kwargs)

    def _build_once(self, *args, **kwargs):
        self._build(*args, **kwargs)
        self._built = True

    def build(self, *args, **kwargs):
        """Makes the variables; called before the first call, with its arguments."""
        raise NotImplementedError("Metrics must define a build() member function")

    def call(self, *args, **kwargs):
        """Takes values into account and returns them. In a graph it is a function of its own."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self):
        """The value so far."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self):
        """In a graph the value so far; eagerly `result`, which gives it when called."""
        return self.result if context.executing_eagerly() else self.result()

    def init_variables(self):
        """Starts again: at once, or by the operation that it returns in a graph."""
        if not context.executing_eagerly():
            return group(*[v.initializer for v in self._vars])
        for variable, start in zip(self._vars, self._initial_values):
            variable.assign(start)
        return None

    def aggregate(self, metrics: Sequence[Any]):
        """Adds what other metrics have gathered. Raises TypeError or ValueError if they are of another kind."""
        for metric in metrics:
            if type(self) is not type(metric):
                raise TypeError(
                    f"All metrics must be the same type, '{type(self)}' != '{type(metric)}'."
                )
            if [v.name for v in metric.variables] != [v.name for v in self._vars]:
                raise ValueError("All metrics must have variables in the same order.")
        for own, *others in zip(self._vars, *(metric.variables for metric in metrics)):
            if others:
                own.assign_add(add_n(others))

    def add_variable(
        self, name: str, shape: ShapeLike | None = None, dtype: DTypeLike | None = None,
        initializer: type | None = None,
    ):
        """Makes a variable of the metric. Raises RuntimeError outside `build`."""
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        collections = None
        if self._graph is not None:
            kind = "variables" if self._use_global_variables else "local_variables"
            collections = [kind, "metric_variables"]
        variable = get_variable(
            name, shape, dtype, initializer, trainable=False, collections=collections
        )
        self._vars.append(variable)
        self._named_variables[name] = variable
        attached(self, name, variable)
        if self._graph is None:
            self._initial_values.append(variable.read_value())
        return variable

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs):
        return dict(self._named_variables)


class Mean(Metric):
    """The mean of all values, weighted; in float64 unless another dtype is given."""

    def __init__(
        self, name: str | None = None, dtype: DTypeLike = dtypes.float64, use_global_variables: bool = False
    ):
        super().__init__(name, use_global_variables)
        self.dtype = dtypes.as_dtype(dtype)

    def build(self, *args, **kwargs):
        """Makes the sum and the count."""
        self.numer = self.add_variable("numer", [], self.dtype, zeros_initializer)
        self.denom = self.add_variable("denom", [], self.dtype, zeros_initializer)

    def call(self, values, weights=None):
        """Adds values; returns what was added, with the weights if there are any."""
        if weights is None:
            self.denom.assign_add(cast(size(values), self.dtype))
            total = reduce_sum(values)
            self.numer.assign_add(cast(total, self.dtype))
            return total
        weights = cast(weights, self.dtype)
        self.denom.assign_add(reduce_sum(weights))
        weighted = cast(values, self.dtype) * weights
        self.numer.assign_add(reduce_sum(weighted))
        return weighted, weights

    def result(self, write_summary: bool | Tensor = True):
        """The mean; it is a summary too, where those are recorded, unless `write_summary` is False."""
        mean = self.numer / self.denom
        wanted = get_static_value(convert_to_tensor(write_summary))

        def written():
            scalar(self.name, mean)
            return mean + 0

        if wanted is None:
            return cond(write_summary, written, lambda: mean + 0)
        if wanted:
            scalar(self.name, mean)
        return mean


def _given(labels: TensorLike, predictions: TensorLike, weights: TensorLike | None):
    return (labels, predictions) if weights is None else (labels, predictions, weights)


class Accuracy(Mean):
    """How often predictions equal labels."""

    def __init__(self, name: str | None = None, dtype: DTypeLike = dtypes.float64):
        super().__init__(name, dtype)

    def call(self, labels, predictions, weights=None):
        """Adds predictions. Raises InvalidArgumentError if the shapes of both differ."""
        assert_equal(shape(labels), shape(predictions), message=_UNEQUAL)
        super().call(cast(equal(labels, predictions), self.dtype), weights)
        return _given(labels, predictions, weights)


class CategoricalAccuracy(Mean):
    """How often the largest prediction is at the largest label."""

    def __init__(self, name: str | None = None, dtype: DTypeLike = dtypes.float64):
        super().__init__(name, dtype)

    def call(self, labels, predictions, weights=None):
        """Adds predictions. Raises InvalidArgumentError if the shapes of both differ."""
        assert_equal(shape(labels), shape(predictions), message=_UNEQUAL)
        labels, predictions = argmax(labels, axis=-1), argmax(predictions, axis=-1)
        super().call(cast(equal(labels, predictions), self.dtype), weights)
        return _given(labels, predictions, weights)


class BinaryAccuracy(Mean):
    """How often labels are on the same side of the threshold as predictions."""

    def __init__(self, threshold: float, name: str | None = None, dtype: DTypeLike = dtypes.float64):
        super().__init__(name, dtype)
        self.threshold = threshold

    def call(self, labels, predictions, weights=None):
        """Adds predictions. Raises InvalidArgumentError if the shapes of both differ."""
        assert_equal(shape(labels), shape(predictions), message=_UNEQUAL)
        labels = cast(labels, dtypes.bool)
        predictions = convert_to_tensor(predictions) > self.threshold
        super().call(cast(equal(labels, predictions), self.dtype), weights)
        return _given(labels, predictions, weights)


class SparseAccuracy(Mean):
    """How often the largest prediction is at the class number that is the label."""

    def __init__(self, name: str | None = None, dtype: DTypeLike = dtypes.float64):
        super().__init__(name, dtype)

    def call(self, labels, predictions, weights=None):
        """Adds predictions. Raises InvalidArgumentError unless there is one label for each."""
        first = shape(predictions)[0]
        assert_equal(
            shape(labels), first, message="First axis of labels and predictions is unequal"
        )
        labels, predictions = cast(labels, dtypes.int64), argmax(predictions, axis=-1)
        super().call(cast(equal(labels, predictions), self.dtype), weights)
        return _given(labels, predictions, weights)
