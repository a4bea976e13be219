"""Sums and means over batches, and metrics that are the mean of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from tapeflow.core.annotations import DTypeLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.release import keras_2
from tapeflow.keras.classes_of_functions import written
from tapeflow.keras.losses import _FUNCTIONS as LOSSES_BY_NAME
from tapeflow.keras.losses import squeeze_or_expand
from tapeflow.keras.metrics import ragged
from tapeflow.keras.metrics.base import Metric
from tapeflow.keras.registry import deserialize_in, to_config
from tapeflow.ops.array.broadcasting import broadcast_to
from tapeflow.ops.array.construction import ones_like
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.sizes import size
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.division_no_nan import divide_no_nan
from tapeflow.ops.math.reductions import reduce_mean, reduce_sum


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
