"""Metrics: sums over batches, kept in variables."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import DTypeLike, Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.release import keras_2
from tapeflow.core.spelling import snake_case
from tapeflow.core.tracking.module import SetByInit
from tapeflow.core.variables import graph_parts
from tapeflow.keras import initializers, settings
from tapeflow.keras.classes_of_functions import written
from tapeflow.keras.engine.static import shown_dtype
from tapeflow.keras.engine.tracking import Tracked
from tapeflow.keras.engine.weight import make_weight
from tapeflow.keras.losses import _FUNCTIONS as LOSSES_BY_NAME
from tapeflow.keras.losses import squeeze_or_expand
from tapeflow.keras.metrics import ragged
from tapeflow.keras.registry import deserialize_in, to_config
from tapeflow.keras.session import set_values
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.construction import ones_like, zeros
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.sizes import size
from tapeflow.ops.control.flow import group
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.reductions import reduce_mean, reduce_sum
from tapeflow.ops.state.variable import VariableAggregation

if TYPE_CHECKING:
    pass


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

    def get_config(self):
        """The constructor's arguments."""
        return {"name": self.name, "dtype": self._dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]):
        """A metric from the constructor's arguments."""
        return cls(**config)

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"


def _is_dtype(name: str):
    try:
        dtypes.as_dtype(name)
    except TypeError:
        return False
    return True


def _ones(variable):
    import numpy as np

    return np.ones(variable.shape.as_list(), variable.dtype.as_numpy_dtype)


def _weighted(values, sample_weight: TensorLike):
    """Values and weights of the same rank, the values multiplied by the weights."""
    weight = cast(sample_weight, values.dtype)
    _, values, weight = squeeze_or_expand(None, values, weight)
    return values * weight, weight


def _of_samples(values: Any, sample_weight: TensorLike | None, reduce):
    """Weighted values and their weights, or None, with one number for each sample: the first axis, as Keras 3 has it.

    Args:
      reduce: what makes one number of those of a sample: `reduce_mean` or `reduce_sum`.
    """
    weight = None
    if sample_weight is not None:
        weight = cast(sample_weight, values.dtype)
        if weight.shape.rank == (values.shape.rank or 0) + 1:
            _, values, weight = squeeze_or_expand(None, values, weight)
        rank = weight.shape.rank
        if values.shape.rank > rank:
            values = reduce(values, axis=list(range(rank, values.shape.rank)))
        weight = broadcast_to(weight, shape_of(values))
        values = values * weight
        if rank > 1:
            weight = reduce(weight, axis=list(range(1, rank)))
    if values.shape.rank > 1:
        values = reduce(values, axis=list(range(1, values.shape.rank)))
    return values, weight


def _by_samples(values: Any, sample_weight: TensorLike | None):
    """Whether values are reduced to one for each sample before they are summed: in Keras 3, where ranks are known."""
    if keras_2() or values.shape.rank is None:
        return False
    if sample_weight is None:
        return values.shape.rank > 1
    rank = getattr(sample_weight, "shape", None)
    return rank is None or getattr(rank, "rank", 0) is not None


class Sum(Metric):
    """The sum of all values, weighted.

    Args:
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    >>> metric = tf.keras.metrics.Sum()
    >>> metric.update_state([1.0, 3.0])
    >>> metric.update_state(5.0, sample_weight=2.0)
    >>> print(metric.result().numpy())
    14.0
    """

    def __init__(self, name: str = "sum", dtype: DTypeLike | None = None):
        super().__init__(dtype, name)
        self.total = self.add_weight("total")

    def update_state(self, values: Any, sample_weight: TensorLike | None = None):
        values = cast(values, self._dtype)
        if _by_samples(values, sample_weight):
            values, _ = _of_samples(values, sample_weight, reduce_sum)
        elif sample_weight is not None:
            values, _ = _weighted(values, sample_weight)
        self.total.assign_add(reduce_sum(values))

    def result(self):
        return self.total.read_value()


class Mean(Metric):
    """The mean of all values, weighted; 0 before the first.

    Args:
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.

    >>> metric = tf.keras.metrics.Mean()
    >>> metric.update_state([1.0, 3.0])
    >>> metric.update_state(8.0)
    >>> print(metric.result().numpy())
    4.0
    """

    def __init__(self, name="mean", dtype: DTypeLike | None = None):
        super().__init__(dtype, name)
        self.total = self.add_weight("total")
        self.count = self.add_weight("count")

    def update_state(self, values: Any, sample_weight: TensorLike | None = None):
        values = cast(values, self._dtype)
        if _by_samples(values, sample_weight):
            values, weight = _of_samples(values, sample_weight, reduce_mean)
            count = cast(size(values), self._dtype) if weight is None else reduce_sum(weight)
        elif sample_weight is None:
            known = values.shape.num_elements()
            count = cast(size(values), self._dtype) if known is None else float(known)
        else:
            values, weight = _weighted(values, sample_weight)
            alone = weight.shape.rank == 0 and values.shape.rank == 0
            count = weight if alone else reduce_sum(ones_like(values) * weight)
        self.total.assign_add(reduce_sum(values))
        self.count.assign_add(count)

    def result(self):
        return divide_no_nan(self.total, self.count)


_LOSSES = frozenset(LOSSES_BY_NAME.values())


class MeanMetricWrapper(Mean):
    """The mean of a function of labels and predictions.

    Args:
      fn: a function of labels and predictions that gives one number per example, or its name.
      name: the name under which results are shown; that of the function by default.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
      **kwargs: further arguments of the function.

    >>> metric = tf.keras.metrics.MeanMetricWrapper(lambda y_true, y_pred: tf.abs(y_true - y_pred), name="distance")
    >>> print(metric([1.0, 2.0], [2.0, 4.0]).numpy())
    1.5
    """

    _newer_settings: ClassVar[dict[str, Any]] = {}  # those that Keras 2 lacks, with their values there

    def __init__(
        self, fn: Callable[..., Any], name: str | None = None, dtype: DTypeLike | None = None, **kwargs
    ):
        super().__init__(
            name or (fn if isinstance(fn, str) else getattr(fn, "__name__", "metric")), dtype
        )
        if isinstance(fn, (str, dict)):
            fn = deserialize_in("keras.metrics", fn)
        self.__dict__["_fn"] = fn
        self.__dict__["_settings"] = kwargs
        if fn in _LOSSES:
            self.__dict__["_direction"] = "down"

    def update_state(self, y_true, y_pred, sample_weight=None):
        y_true, y_pred, sample_weight = ragged.flat(y_true, y_pred, sample_weight)
        if keras_2():
            y_true, y_pred, _ = squeeze_or_expand(cast(y_true, self._dtype), cast(y_pred, self._dtype))
        else:
            y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
        super().update_state(self._fn(y_true, y_pred, **self._settings), sample_weight)

    def get_config(self):
        config = {**super().get_config(), **written(self._settings, self._newer_settings)}
        return {**config, "fn": to_config(self._fn)} if type(self) is MeanMetricWrapper else config


class MeanTensor(Metric):
    """The elementwise mean of all values, weighted; the shape is that of the first ones.

    Args:
      name: the name under which results are shown.
      dtype: of the sums and the result; None for `keras.config.floatx()`.
      shape: the shape of the values; None to take that of the first.
    """

    def __init__(
        self, name: str = "mean_tensor", dtype: DTypeLike | None = None, shape: Sequence[Any] | None = None
    ):
        super().__init__(dtype, name)
        self.__dict__["_shape"] = None
        self.__dict__["total"] = self.__dict__["count"] = None
        if shape is not None:
            self._make(shape)

    def _make(self, shape: Sequence[Any]):
        self.__dict__["_shape"] = tuple(shape)
        self.__dict__["total"] = self.add_weight("total", shape)
        self.__dict__["count"] = self.add_weight("count", shape)

    def update_state(self, values, sample_weight=None):
        values = cast(values, self._dtype)
        if self.total is None:
            self._make(values.shape.as_list())
        elif tuple(values.shape.as_list()) != self._shape:
            raise ValueError(
                "MeanTensor input values must always have the same shape. Expected shape (set during "
                f"the first call): {self._shape}. Got: {tuple(values.shape.as_list())}"
            )
        count = ones_like(values)
        if sample_weight is not None:
            values, weight = _weighted(values, sample_weight)
            count = count * weight
        self.total.assign_add(values)
        self.count.assign_add(count)

    def result(self):
        if self.total is None:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or use "
                "`.update_state(value)` before retrieving the result."
            )
        return divide_no_nan(self.total, self.count)
