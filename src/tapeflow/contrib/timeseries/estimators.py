"""`ARRegressor`: an estimator of time series."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib.timeseries.ar_model import ARModel
from tapeflow.contrib.timeseries.feature_keys import (
    FilteringResults,
    PredictionFeatures,
    TrainEvalFeatures,
)
from tapeflow.core.annotations import PathLike, Tensor, TensorLike
from tapeflow.core.public import public_methods
from tapeflow.estimator.estimator import Estimator
from tapeflow.estimator.spec import EstimatorSpec, ModeKeys

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_STATE = PredictionFeatures.STATE_TUPLE


class _Statistics:
    """The mean and the variance of all values seen, by which values are made of about one size."""

    def __init__(self, features):
        def number(name: str, value: TensorLike):
            return v1.get_variable(
                f"statistics/{name}", features, initializer=value, trainable=False, use_resource=True
            )

        zeros = v1.zeros_initializer()
        self._count, self._mean, self._squares = number("count", zeros), number("mean", zeros), number("squares", zeros)
        self.mean, self.deviation = self._mean.read_value(), self._deviation()

    def _deviation(self):
        count = v1.maximum(self._count.read_value(), 1.0)
        spread = v1.sqrt(self._squares.read_value() / count)
        return v1.where(spread > 1e-6, spread, v1.ones_like(spread))

    def see(self, values: Tensor):
        """Takes a batch in; what follows is to be made under control of the result."""
        flat = v1.reshape(values, [-1, values.shape[-1]])
        seen = v1.cast(v1.shape(flat)[0], v1.float32)
        before, mean = self._count.read_value(), self._mean.read_value()
        added, squares = v1.nn.moments(flat, [0])
        total = before + seen
        apart = added - mean
        moved = mean + apart * seen / total
        spread = self._squares.read_value() + squares * seen + v1.square(apart) * before * seen / total
        with v1.control_dependencies([moved, spread, total]):
            return v1.group(self._mean.assign(moved), self._squares.assign(spread), self._count.assign(total))

    def refreshed(self):
        """Reads the statistics anew."""
        self.mean, self.deviation = self._mean.read_value(), self._deviation()


def _kept(value: Tensor, name: str):
    """A metric that is the last value."""
    variable = v1.get_variable(
        f"kept/{name}", initializer=lambda: v1.zeros([0], value.dtype), validate_shape=False, trainable=False,
        collections=[v1.GraphKeys.LOCAL_VARIABLES], use_resource=True,
    )  # fmt: skip
    update = v1.assign(variable, value, validate_shape=False)
    return variable.read_value(), update


@public_methods
class ARRegressor(Estimator):
    """Values of a series by those before them; see `ARModel`.

    Args:
      periodicities, input_window_size, output_window_size, num_features, num_time_buckets, loss,
        hidden_layer_sizes: see `ARModel`. Windows of training are as long as both windows together.
      exogenous_feature_columns, anomaly_prior_probability, anomaly_distribution: not supported.
      optimizer: by default Adagrad with a rate of 0.1.
      model_dir, config: the folder and a RunConfig.

    Raises:
      NotImplementedError: for exogenous features and anomalies.
    """

    def __init__(
        self, periodicities, input_window_size, output_window_size, num_features: int, exogenous_feature_columns=None,
        num_time_buckets: int = 10, loss: TensorLike = ARModel.NORMAL_LIKELIHOOD_LOSS, hidden_layer_sizes=None,
        anomaly_prior_probability=None, anomaly_distribution=None, optimizer=None, model_dir=None, config=None,
    ):  # fmt: skip
        if exogenous_feature_columns or anomaly_prior_probability is not None or anomaly_distribution is not None:
            raise NotImplementedError("Exogenous features and anomalies are not supported.")
        model = ARModel(
            periodicities, input_window_size, output_window_size, num_features, num_time_buckets, loss,
            hidden_layer_sizes,
        )  # fmt: skip

        def model_fn(features: Tensor | Mapping[str, Tensor], mode: str):
            statistics = _Statistics([num_features])
            times = v1.cast(features[_TIMES], v1.int64)
            if mode == ModeKeys.PREDICT:
                found = _continued(model, statistics, features[_STATE], times)
                return EstimatorSpec(mode, {_TIMES: times, **found})
            values = v1.cast(features[_VALUES], v1.float32)
            if mode == ModeKeys.TRAIN:
                return _training(model, statistics, times, values, optimizer)
            return _evaluation(model, statistics, times, values)

        super().__init__(model_fn, model_dir, config)

    def evaluate(
        self, input_fn: Callable[..., Any], steps: int | None = None, hooks: Sequence[Any] | None = None,
        checkpoint_path: PathLike | None = None, name: str | None = None,
    ):
        """The loss, and what the model says of a whole series.

        Returns:
          A dict: "loss" and "global_step"; "times", "mean" and "covariance" of what is said; "observed", the values;
          "start_tuple", the last window, from which predictions go on.
        """
        found = super().evaluate(input_fn, steps, hooks, checkpoint_path, name)
        found[_STATE] = (found.pop(f"{_STATE}_times"), found.pop(f"{_STATE}_values"))
        return found


def _training(model, statistics, times, values: Tensor, optimizer):
    inputs, outputs = model.input_window_size, model.output_window_size
    if times.shape[1] != inputs + outputs:
        raise ValueError(
            f"Windows must be of {inputs + outputs} times, input_window_size and output_window_size; "
            f"got {times.shape[1]}"
        )
    with v1.control_dependencies([statistics.see(values)]):
        statistics.refreshed()
        scaled = (values - statistics.mean) / statistics.deviation
    means, variances = model.predict(times[:, :inputs], scaled[:, :inputs], times[:, inputs:])
    loss = model.loss_of(scaled[:, inputs:], means, variances)
    optimizer = optimizer or v1.train.AdagradOptimizer(0.1)
    train = optimizer.minimize(loss, global_step=v1.train.get_global_step())
    return EstimatorSpec(ModeKeys.TRAIN, loss=loss, train_op=train)


def _evaluation(model, statistics, times, values: Tensor):
    """Each window of outputs by the observed values before it; the last one ends where the series ends."""
    inputs, outputs = model.input_window_size, model.output_window_size
    length = times.shape[1]
    if length is None or length < inputs + outputs:
        raise ValueError(f"A series for evaluation must be of at least {inputs + outputs} times; got {length}")
    scaled = (values - statistics.mean) / statistics.deviation
    starts = [*range(0, length - inputs - outputs, outputs), length - inputs - outputs]
    found, said = [], 0
    for start in starts:
        middle, end = start + inputs, start + inputs + outputs
        means, variances = model.predict(times[:, start:middle], scaled[:, start:middle], times[:, middle:end])
        new = start + outputs - said  # without what the window before said
        found.append((means[:, outputs - new :], variances[:, outputs - new :]))
        said += new
    means, variances = (v1.concat(parts, 1) for parts in zip(*found, strict=True))
    loss = model.loss_of(scaled[:, inputs:], means, variances)
    results = {
        _TIMES: times[:, inputs:], FilteringResults.OBSERVED: values,
        "mean": means * statistics.deviation + statistics.mean, "covariance": variances * statistics.deviation**2,
        f"{_STATE}_times": times[:, length - inputs :], f"{_STATE}_values": values[:, length - inputs :],
    }  # fmt: skip
    kept = {name: _kept(value, name) for name, value in results.items()}
    return EstimatorSpec(ModeKeys.EVAL, {"mean": results["mean"]}, loss, eval_metric_ops=kept)


def _continued(model, statistics, state, times):
    """What follows a window, where each output becomes an input."""
    outputs, count = model.output_window_size, times.shape[1]
    before, values = v1.cast(state[0], v1.int64), v1.cast(state[1], v1.float32)
    scaled = (values - statistics.mean) / statistics.deviation
    rounds = -(-count // outputs)
    # The last round says more than is asked for, of the times that follow.
    more = times[:, -1:] + v1.range(1, rounds * outputs - count + 1, dtype=v1.int64)
    every = v1.concat([times, more], 1)
    found = []
    for i in range(rounds):
        now = every[:, i * outputs : (i + 1) * outputs]
        means, variances = model.predict(before, scaled, now)
        found.append((means, variances))
        before = v1.concat([before, now], 1)[:, outputs:]
        scaled = v1.concat([scaled, means], 1)[:, outputs:]
    means, variances = (v1.concat(parts, 1)[:, :count] for parts in zip(*found, strict=True))
    return {
        "mean": means * statistics.deviation + statistics.mean, "covariance": variances * statistics.deviation**2
    }  # fmt: skip
