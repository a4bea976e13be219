"""`ARModel`: values as a function of those before them and of the time of the period."""

from __future__ import annotations

import math

from tapeflow.compat import v1
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public_methods


@public_methods
class ARModel:
    """A network that says `output_window_size` values by the `input_window_size` values before them.

    Args:
      periodicities: the lengths of periods, a number or several.
      input_window_size, output_window_size: how many values it takes and says.
      num_features: how many numbers are observed at a time.
      num_time_buckets: into how many parts a period is divided.
      loss: "normal_likelihood_loss" or "squared_loss".
      hidden_layer_sizes: the units of hidden layers; without any the model is linear.

    Raises:
      ValueError: for another loss.
    """

    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"
    SQUARED_LOSS = "squared_loss"

    def __init__(
        self, periodicities, input_window_size, output_window_size, num_features: int, num_time_buckets: int = 10,
        loss: TensorLike = NORMAL_LIKELIHOOD_LOSS, hidden_layer_sizes=None,
    ):  # fmt: skip
        if loss not in (self.NORMAL_LIKELIHOOD_LOSS, self.SQUARED_LOSS):
            raise ValueError(f"Unsupported loss {loss!r}")
        several = hasattr(periodicities, "__iter__")
        self.periodicities = list(periodicities) if several else [periodicities] if periodicities else []
        self.input_window_size, self.output_window_size = input_window_size, output_window_size
        self.num_features, self.loss = num_features, loss
        self._buckets, self._layers = num_time_buckets, list(hidden_layer_sizes or ())

    def _phases(self, times):
        """In which part of each period times are: one-hot, (batch, times * periods * parts)."""
        found = []
        for period in self.periodicities:
            part = v1.cast(v1.floormod(times, period), v1.float32) * (self._buckets / period)
            found.append(v1.one_hot(v1.minimum(v1.cast(part, v1.int32), self._buckets - 1), self._buckets))
        return [v1.layers.flatten(v1.concat(found, -1))] if found else []

    def predict(self, times, values: TensorLike, times_out):
        """(means, variances) of the values that follow a window: both (batch, outputs, features).

        Args:
          times, values: of the window: (batch, inputs), (batch, inputs, features).
          times_out: of what follows, (batch, outputs).
        """
        outputs, features = self.output_window_size, self.num_features
        with v1.variable_scope("ar_model", reuse=v1.AUTO_REUSE):
            net = v1.concat([*self._phases(v1.concat([times, times_out], 1)), *self._flat(values)], 1)
            for i, units in enumerate(self._layers):
                net = v1.layers.dense(net, units, v1.nn.relu, name=f"layer_{i}")
            means = v1.layers.dense(net, outputs * features, name="predicted_mean")
            if self.loss == self.SQUARED_LOSS:
                variances = v1.ones_like(means)
            else:
                variances = v1.nn.softplus(v1.layers.dense(net, outputs * features, name="variance")) + 1e-4
        shape = [-1, outputs, features]
        return v1.reshape(means, shape), v1.reshape(variances, shape)

    def _flat(self, values: TensorLike):
        if not self.input_window_size:
            return []
        return [v1.reshape(values, [-1, self.input_window_size * self.num_features])]

    def loss_of(self, values: TensorLike, means, variances):
        """The mean loss of observed values: the squared error, or less the logarithm of their likelihood."""
        errors = v1.squared_difference(values, means)
        if self.loss == self.SQUARED_LOSS:
            return v1.reduce_mean(errors)
        return v1.reduce_mean(0.5 * (errors / variances + v1.log(variances) + math.log(2 * math.pi)))
