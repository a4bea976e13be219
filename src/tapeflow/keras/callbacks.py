"""Functions that `Model.fit` calls at every stage."""

from __future__ import annotations

from tapeflow.keras.engine.training import History

__all__ = [
    "Callback",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "TerminateOnNaN",
]


class Callback:
    """What fit calls; `self.model` is the model. To be subclassed."""

    model = None
    params = None

    def set_model(self, model):
        """Called once with the model."""
        self.model = model

    def on_train_begin(self, logs=None):
        """Before the first epoch."""

    def on_train_end(self, logs=None):
        """After the last epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        """Before every epoch."""

    def on_epoch_end(self, epoch, logs=None):
        """After every epoch, with its loss and metrics."""

    def on_train_batch_begin(self, batch, logs=None):
        """Before every update."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        """After every update, with loss and metrics so far."""
        self.on_batch_end(batch, logs)

    def on_batch_begin(self, batch, logs=None):
        """The old name of on_train_batch_begin."""

    def on_batch_end(self, batch, logs=None):
        """The old name of on_train_batch_end."""


class LambdaCallback(Callback):
    """A callback made of functions."""

    def __init__(self, **functions):
        for name, function in functions.items():
            if not hasattr(Callback, name):
                raise TypeError(f"Unknown callback function: {name}")
            if function is not None:
                setattr(self, name, function)


class EarlyStopping(Callback):
    """Stops when `monitor` has not improved by min_delta for `patience` epochs."""

    def __init__(
        self,
        monitor="val_loss",
        min_delta=0,
        patience=0,
        verbose=0,
        mode="auto",
        baseline=None,
        restore_best_weights=False,
        start_from_epoch=0,
    ):
        self.monitor, self.min_delta, self.patience = monitor, abs(min_delta), patience
        self.verbose, self.baseline = verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch
        larger = mode == "max" or (
            mode == "auto" and ("acc" in monitor or "auc" in monitor.lower())
        )
        self._sign = 1 if larger else -1
        self.best = None
        self.wait = 0
        self.stopped_epoch = 0
        self.best_weights = None

    def on_train_begin(self, logs=None):
        self.wait, self.stopped_epoch, self.best = 0, 0, self.baseline
        self.best_weights = None

    def on_epoch_end(self, epoch, logs=None):
        current = (logs or {}).get(self.monitor)
        if current is None or epoch < self.start_from_epoch:
            return
        self.wait += 1
        if self.best is None or self._sign * (current - self.best) > self.min_delta:
            self.best, self.wait = current, 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.best_weights is not None:
                self.model.set_weights(self.best_weights)


class LearningRateScheduler(Callback):
    """Sets the learning rate to schedule(epoch, rate) before every epoch."""

    def __init__(self, schedule, verbose=0):
        self.schedule = schedule

    def on_epoch_begin(self, epoch, logs=None):
        rate = float(self.model.optimizer.learning_rate)
        try:
            rate = self.schedule(epoch, rate)
        except TypeError:
            rate = self.schedule(epoch)
        self.model.optimizer.learning_rate = float(rate)


class TerminateOnNaN(Callback):
    """Stops when the loss is no number."""

    def on_batch_end(self, batch, logs=None):
        loss = (logs or {}).get("loss")
        if loss is not None and not abs(loss) < float("inf"):
            self.model.stop_training = True
