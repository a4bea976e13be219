"""The base of metrics: state in variables, brought up to date by batches."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.dtypes import DType
from tapeflow.core.spelling import snake_case
from tapeflow.core.tracking.module import SetByInit
from tapeflow.core.variables import graph_parts
from tapeflow.keras import initializers, settings
from tapeflow.keras.engine.static import shown_dtype
from tapeflow.keras.engine.tracking import Tracked
from tapeflow.keras.engine.weight import make_weight
from tapeflow.keras.session import set_values, values_of
from tapeflow.ops.array.construction import zeros
from tapeflow.ops.control.grouping import group
from tapeflow.ops.state.variable import VariableAggregation


def _building_graph():
    graph = context.current_graph()
    return graph if graph is not None and not graph.building_function else None


def _as_update(update_state: Callable[..., Any]):
    """`update_state` as graphs of 1.x know it: it returns the operation that does all updates."""

    @functools.wraps(update_state)
    def update(self, *args, **kwargs):
        graph = _building_graph()
        if graph is None:
            return update_state(self, *args, **kwargs)
        return group(*graph.effects_of(lambda: update_state(self, *args, **kwargs)))

    return update


class Metric(Tracked):
    """Values gathered over batches: `update_state(...)`, `result()`, `reset_state()`.

    Called as a function, it does the first two. Subclasses define them, with variables made by `add_weight`.

    Args:
      dtype: of the variables and the result; None for `keras.config.floatx()`.
      name: the name under which results are shown; that of the class by default.
    """

    _keras_module = "keras.metrics"
    _keras_module_itself = "keras"
    _is_metric = True
    _dtype = SetByInit(RuntimeError)
    # Where models get better: "up" or "down", for callbacks that watch the metric; None if it does not say.
    _direction: str | None = None

    def __init_subclass__(cls, **kwargs):
        if "update_state" in cls.__dict__:
            cls.update_state = _as_update(cls.__dict__["update_state"])
        super().__init_subclass__(**kwargs)

    def __init__(self, dtype: DTypeLike | None = None, name: str | None = None):
        if isinstance(name, DType) or (isinstance(dtype, str) and not _is_dtype(dtype)):
            name, dtype = dtype, name  # the order of arguments before Keras 3
        self._start_tracking()
        state = self.__dict__
        state["_name"] = name or settings.unique_name(snake_case(type(self).__name__))
        state["_dtype"] = settings.default_dtype(getattr(dtype, "name", dtype))
        state["stateful"] = True
        state["built"] = True

    @property
    def name(self):
        """The name under which results are shown."""
        return self._name

    @property
    def dtype(self):
        """The name of the dtype of the results."""
        return shown_dtype(self._dtype)

    def add_weight(self, *args, **kwargs):
        """Make a variable, zero at first, that `reset_state` sets to zero.

        Args:
          *args: `shape`, `initializer`, `dtype` and `name`; or as in Keras 2, where a name is the first: `name`,
            `shape`, `aggregation`, `synchronization`, `initializer` and `dtype`.
          **kwargs: the same by name. The shape is by default that of a scalar. The initializer is one, its name, or
            None for zeros. The dtype None is that of the metric. `aggregation` and `synchronization` are accepted:
            copies of replicas are added up.

        Returns:
          The variable.

        Raises:
          TypeError: for other arguments.
        """
        return (self._add_named if args and isinstance(args[0], str) else self._add_shaped)(*args, **kwargs)

    def _add_named(
        self, name: str, shape: Sequence[Any] = (), aggregation=None, synchronization=None, initializer=None,
        dtype: DType | None = None,
    ):
        return self._add_shaped(shape, initializer, dtype, name)

    def _add_shaped(
        self, shape: Sequence[Any] = (), initializer=None, dtype: DType | None = None,
        name: str | None = None, aggregation=None, synchronization=None,
    ):
        kind = dtypes.as_dtype(dtype or self._dtype)
        start = None if initializer is None else initializers.get(initializer)
        sizes = [] if shape is None else list(shape) if hasattr(shape, "__iter__") else [shape]

        def first():
            return zeros(sizes, kind) if start is None else start(sizes, dtype=kind)

        with context.init_scope():
            variable = make_weight(
                self, first, name, trainable=False, dtype=kind, aggregation=VariableAggregation.SUM
            )
        self._own_weights.append(variable)
        self.__dict__.setdefault("_named_weights", {})[name] = variable
        return variable

    def add_variable(
        self, shape: Sequence[Any], initializer, dtype: DTypeLike | None = None, aggregation: str = "sum",
        name: str | None = None,
    ):
        """Make a variable, as `add_weight` does.

        Args:
          shape: its shape.
          initializer: first values; an initializer or its name.
          dtype: its dtype; None for that of the metric.
          aggregation: accepted as in Keras 3.
          name: its name.

        Returns:
          The variable.
        """
        return self.add_weight(name, shape, initializer=initializer, dtype=dtype)

    def update_state(self, *args, **kwargs):
        """Take a batch into account. Subclasses define it, mostly for `y_true, y_pred, sample_weight=None`.

        Args:
          *args, **kwargs: what the metric is made of.
        """
        raise NotImplementedError(f"{type(self).__name__} must define update_state")

    def result(self):
        """The value so far."""
        raise NotImplementedError(f"{type(self).__name__} must define result")

    def reset_state(self):
        """Forgets all batches."""
        if type(self).reset_states is not Metric.reset_states and not self._resetting:
            self.__dict__["_resetting"] = True
            try:
                self.reset_states()
            finally:
                self.__dict__["_resetting"] = False
            return
        for variable in self.variables:
            nothing = zeros(variable.shape.as_list(), variable.dtype)
            if graph_parts(variable) is not None and _building_graph() is not None:
                set_values([(variable, variable.dtype.as_numpy_dtype(0) * _ones(variable))])
            else:
                variable.assign(nothing)

    _resetting = False

    def reset_states(self):
        """The old name of reset_state."""
        self.reset_state()

    def __call__(self, *args, **kwargs):
        graph = _building_graph()
        update = self.update_state(*args, **kwargs)
        with contextlib.nullcontext() if graph is None else graph.control_dependencies([update]):
            result = self.result()
        with contextlib.suppress(AttributeError):
            result._metric_obj = self  # by which `add_metric` knows where the value comes from
        return result

    def stateless_update_state(self, metric_variables: Sequence[Tensor], *args, **kwargs):
        """Compute the values that the variables have after an update; changes no variable.

        Args:
          metric_variables: their values before it.
          *args, **kwargs: the arguments of `update_state`.

        Returns:
          A list of values.
        """
        return self._with_values(
            metric_variables, lambda: [v.read_value() for v in self._updated(args, kwargs)]
        )

    def _updated(self, args: Sequence[Any], kwargs: dict[str, Any]):
        self.update_state(*args, **kwargs)
        return self.variables

    def stateless_result(self, metric_variables: Sequence[TensorLike]):
        """The result for these values of the variables."""
        return self._with_values(metric_variables, self.result)

    def stateless_reset_state(self):
        """The values of the variables after reset_state."""
        return [zeros(v.shape.as_list(), v.dtype) for v in self.variables]

    def _with_values(self, values: Sequence[TensorLike], function: Callable[..., Any]):
        variables = self.variables
        if len(values) != len(variables):
            raise ValueError(
                f"Argument `metric_variables` must be a list of tensors corresponding 1:1 to "
                f"{type(self).__name__}().variables. Received list with length {len(values)}, but "
                f"expected {len(variables)} variables."
            )
        before = [v.read_value() for v in variables]
        for variable, value in zip(variables, values):
            variable.assign(value)
        try:
            return function()
        finally:
            for variable, value in zip(variables, before):
                variable.assign(value)

    @property
    def variables(self):
        """The variables, also those of metrics that this one holds."""
        found = list(self._own_weights)
        for value in self._held():
            if getattr(value, "_is_metric", False):
                found += value.variables
        return found

    weights = non_trainable_weights = non_trainable_variables = variables

    @property
    def trainable_weights(self):
        """None: metrics are not trained."""
        return []

    trainable_variables = trainable_weights

    def get_weights(self):
        """The values of the variables as NumPy arrays, as in Keras 2, where metrics are layers."""
        return values_of(self.variables)

    def set_weights(self, weights: Sequence[ArrayLike]):
        """Set the variables from arrays.

        Args:
          weights: an array for each variable, in the order of `get_weights`.

        Raises:
          ValueError: for a wrong number of arrays, or a wrong shape.
        """
        variables = self.variables
        if len(variables) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a weight list of length '
                f"{len(weights)}, but the layer was expecting {len(variables)} weights."
            )
        for variable, value in zip(variables, weights):
            if tuple(variable.shape) != np.shape(value):
                raise ValueError(
                    f"Layer {self.name} weight shape {tuple(variable.shape)} is not compatible with provided weight "
                    f"shape {np.shape(value)}."
                )
        set_values(zip(variables, weights))

    def get_config(self):
        """The constructor's arguments."""
        return {"name": self.name, "dtype": self._dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A metric from the constructor's arguments."""
        return cls(**config)

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"


def rename(metric: Metric, name: str):
    """Give a metric another name: that of its results."""
    metric._name = name


def _is_dtype(name: str):
    try:
        dtypes.as_dtype(name)
    except TypeError:
        return False
    return True


def _ones(variable):
    return np.ones(variable.shape.as_list(), variable.dtype.as_numpy_dtype)


