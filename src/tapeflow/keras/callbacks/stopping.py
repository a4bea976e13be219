"""Callbacks that end a training, or change its learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core.release import keras_2
from tapeflow.keras.callbacks.base import Callback
from tapeflow.keras.callbacks.monitoring import MonitorCallback
from tapeflow.keras.session import values_of
from tapeflow.ops.state.variable import Variable


def rate_of(optimizer):
    """The learning rate of the moment as a float; None where an optimizer has none."""
    rate = getattr(optimizer, "learning_rate", None)
    if isinstance(rate, Variable):
        return float(values_of([rate])[0])
    if callable(rate):
        rate = rate(optimizer.iterations)
    if hasattr(rate, "numpy"):
        rate = rate.numpy()
    return float(rate) if isinstance(rate, (int, float, np.generic, np.ndarray)) else None


class EarlyStopping(MonitorCallback):
    """Stops when `monitor` has not improved by `min_delta` for `patience` epochs.

    Args:
      monitor: the name of what is watched, among the logs of epochs.
      min_delta: what counts as an improvement, at least.
      patience: after how many epochs without improvement to stop.
      verbose: whether a line is printed.
      mode: "min" or "max" for what is better; "auto" for "max" of accuracies and AUC, and "min" otherwise.
      baseline: a value that has to be reached for epochs to count as an improvement; None for none.
      restore_best_weights: whether the weights of the best epoch are put back.
      start_from_epoch: before which epoch nothing counts.

    >>> model = tf.keras.Sequential([tf.keras.Input(shape=(1,)), tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    >>> model.compile(optimizer=tf.keras.optimizers.SGD(0.0), loss="mse")
    >>> stop = tf.keras.callbacks.EarlyStopping(monitor="loss", patience=2)
    >>> history = model.fit(np.ones([4, 1]), np.ones([4, 1]), epochs=10, verbose=0, callbacks=[stop])
    >>> len(history.history["loss"])
    3
    """

    def __init__(
        self, monitor: str = "val_loss", min_delta: int = 0, patience: int = 0, verbose: int = 0,
        mode: str = "auto", baseline=None, restore_best_weights: bool = False, start_from_epoch: int = 0,
    ):
        super().__init__(monitor, mode, min_delta=min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        self.on_train_begin()

    def on_train_begin(self, logs: dict[str, Any] | None = None):
        self.wait, self.stopped_epoch = 0, 0
        self.best, self.best_weights, self.best_epoch = self._nothing(), None, 0

    def on_epoch_end(self, epoch, logs=None):
        current = self.get_monitor_value(logs)
        if current is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self._is_improvement(current, self.best):
            self.best, self.best_epoch = current, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._is_improvement(current, self.baseline):
                self.wait = 0
            return
        if self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if keras_2():
                self._restore()

    def on_train_end(self, logs: dict[str, Any] | None = None):
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if not keras_2():  # the best weights come back also where all epochs were run
            self._restore()

    def _restore(self):
        if self.best_weights is None:
            return
        if self.verbose > 0:
            print(f"Restoring model weights from the end of the best epoch: {self.best_epoch + 1}.")
        self.model.set_weights(self.best_weights)

    def get_monitor_value(self, logs: dict[str, Any] | None):
        """The monitored number of an epoch; None, after a warning, where it is not known."""
        return self._monitored(logs, "Early stopping")


class TerminateOnNaN(Callback):
    """Stops the training after a batch whose loss is NaN or infinite.

    Args:
      raise_error: whether to stop by a RuntimeError.
    """

    def __init__(self, raise_error: bool = False):
        super().__init__()
        self.raise_error = raise_error

    def on_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            if self.raise_error:
                raise RuntimeError(
                    f"NaN or Inf loss encountered at batch {batch}. Loss value: {loss}"
                )
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class LearningRateScheduler(Callback):
    """Sets the learning rate to `schedule(epoch, rate)` before every epoch.

    Args:
      schedule: a function of the epoch, counted from 0, and the current rate, or of the epoch alone; it gives a
        float.
      verbose: whether a line is printed.

    Raises:
      ValueError: in `fit`, for a rate that is not a float.

    >>> model = tf.keras.Sequential([tf.keras.Input(shape=(1,)), tf.keras.layers.Dense(1)])
    >>> model.compile(optimizer=tf.keras.optimizers.SGD(1.0), loss="mse")
    >>> halve = tf.keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    >>> history = model.fit(np.zeros([4, 1]), np.zeros([4, 1]), epochs=3, verbose=0, callbacks=[halve])
    >>> history.history["learning_rate"]
    [0.5, 0.25, 0.125]
    """

    def __init__(self, schedule: Callable[..., Any], verbose: int = 0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, logs=None):
        optimizer = self.model.optimizer
        if not hasattr(optimizer, "learning_rate"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        rate = rate_of(optimizer)
        try:
            rate = self.schedule(epoch, rate)
        except TypeError:
            rate = self.schedule(epoch)
        if not isinstance(rate, (float, np.floating)) and not hasattr(rate, "dtype"):
            function = '"schedule" function should be' if keras_2() else "`schedule` function should be a"
            raise ValueError(f"The output of the {function} float. Got: {rate}")
        optimizer.learning_rate = float(rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}.")

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs[_rate_in_logs()] = rate_of(self.model.optimizer)


class ReduceLROnPlateau(MonitorCallback):
    """Multiplies the learning rate by `factor` when `monitor` has not improved for `patience` epochs.

    Args:
      monitor: the name of what is watched, among the logs of epochs.
      factor: the factor, below 1.
      patience: after how many epochs without improvement.
      verbose: whether a line is printed.
      mode: "min" or "max" for what is better; "auto" for "max" of accuracies and AUC, and "min" otherwise.
      min_delta: what counts as an improvement, at least.
      cooldown: for how many epochs after a change nothing counts.
      min_lr: the smallest rate.
      **kwargs: `epsilon`, the old name of `min_delta`.

    Raises:
      ValueError: for a factor of 1 or more.
    """

    def __init__(
        self, monitor: str = "val_loss", factor: float = 0.1, patience: int = 10, verbose: int = 0,
        mode: str = "auto", min_delta: float = 1e-4, cooldown: int = 0, min_lr: float = 0.0, **kwargs,
    ):
        super().__init__(monitor, mode, min_delta=kwargs.pop("epsilon", min_delta))
        if factor >= 1.0:
            raise ValueError(f"ReduceLROnPlateau does not support a factor >= 1.0. Got {factor}")
        self.factor, self.patience = factor, patience
        self.verbose, self.cooldown, self.min_lr = verbose, cooldown, min_lr
        self.on_train_begin()

    def on_train_begin(self, logs: dict[str, Any] | None = None):
        self.best, self.wait, self.cooldown_counter = self._nothing(), 0, 0

    def in_cooldown(self):
        """Return whether epochs do not count, because the rate changed shortly before."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch, logs=None):
        optimizer = self.model.optimizer
        rate = rate_of(optimizer)
        if logs is not None:
            logs[_rate_in_logs()] = rate
        current = self._monitored(logs, "Learning rate reduction is")
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_improvement(current, self.best):
            self.best, self.wait = current, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience and rate > np.float32(self.min_lr):
                rate = max(rate * self.factor, self.min_lr)
                optimizer.learning_rate = rate
                if self.verbose > 0:
                    print(
                        f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to {rate}."
                    )
                self.cooldown_counter, self.wait = self.cooldown, 0


def _rate_in_logs():
    """The name of the learning rate in logs."""
    return "lr" if keras_2() else "learning_rate"
