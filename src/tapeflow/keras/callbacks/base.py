"""What `fit` calls at every stage: the class to subclass, and the list that calls all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core.public import Bounded
from tapeflow.keras.utils.live import LiveOutput, in_notebook
from tapeflow.keras.utils.progress import Progbar, in_order_of_release

if TYPE_CHECKING:
    from tapeflow.keras.engine.functional.model import Functional
    from tapeflow.keras.engine.sequential import Sequential

_EPOCHS = ("on_epoch_begin", "on_epoch_end")
_STAGES = tuple(
    f"on_{kind}_{end}" for kind in ("train", "test", "predict") for end in ("begin", "end")
)
_BATCHES = tuple(
    f"on_{kind}_batch_{end}" for kind in ("train", "test", "predict") for end in ("begin", "end")
)


class Callback(Bounded):
    """What `fit`, `evaluate` and `predict` call at every stage; the base of callbacks.

    Subclasses define the methods of the events that they want: `on_epoch_end(self, epoch, logs=None)` and so on.
    Epochs and batches are counted from 0; `logs` has loss and metrics by name. `self.model` is the model,
    `self.params` has verbose, epochs and steps.

    >>> class Report(tf.keras.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print(epoch, sorted(logs))
    >>> model = tf.keras.Sequential([tf.keras.Input(shape=(1,)), tf.keras.layers.Dense(1)])
    >>> model.compile(optimizer="sgd", loss="mse")
    >>> _ = model.fit(np.zeros([4, 1]), np.zeros([4, 1]), epochs=2, verbose=0, callbacks=[Report()])
    0 ['loss']
    1 ['loss']
    """

    def __init__(self):
        self.validation_data = None
        self.model = None
        self.params = None
        self._supports_tf_logs = False

    model = None
    params = None

    def set_params(self, params: dict[str, Any]):
        """Called once with verbose, epochs and steps."""
        self.params = params

    def set_model(self, model):
        """Called once with the model."""
        self.model = model

    def on_train_begin(self, logs: dict[str, Any] | None = None):
        """Before the first epoch."""

    def on_train_end(self, logs: dict[str, Any] | None = None):
        """After the last epoch."""

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None):
        """Before every epoch."""

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        """After every epoch, with its loss and metrics."""

    def on_batch_begin(self, batch, logs: dict[str, Any] | None = None):
        """The old name of on_train_batch_begin."""

    def on_batch_end(self, batch, logs: dict[str, Any] | None = None):
        """The old name of on_train_batch_end."""

    def on_train_batch_begin(self, batch, logs: dict[str, Any] | None = None):
        """Before every update."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None):
        """After every update, with loss and metrics so far."""
        self.on_batch_end(batch, logs)

    def on_test_begin(self, logs: dict[str, Any] | None = None):
        """Before an evaluation."""

    def on_test_end(self, logs: dict[str, Any] | None = None):
        """After an evaluation, with loss and metrics."""

    def on_test_batch_begin(self, batch, logs: dict[str, Any] | None = None):
        """Before every batch of an evaluation."""

    def on_test_batch_end(self, batch, logs: dict[str, Any] | None = None):
        """After every batch of an evaluation."""

    def on_predict_begin(self, logs: dict[str, Any] | None = None):
        """Before a prediction."""

    def on_predict_end(self, logs: dict[str, Any] | None = None):
        """After a prediction."""

    def on_predict_batch_begin(self, batch, logs: dict[str, Any] | None = None):
        """Before every batch of a prediction."""

    def on_predict_batch_end(self, batch, logs: dict[str, Any] | None = None):
        """After every batch of a prediction, with its outputs."""


class History(Callback):
    """The means of loss and metrics after every epoch, by name; what `fit` returns."""

    def __init__(self):
        super().__init__()
        self.history: dict[str, list[float]] = {}
        self.epoch: list[int] = []

    def on_train_begin(self, logs: dict[str, Any] | None = None):
        self.epoch = []

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)
        self.model.__dict__["history"] = self


class ProgbarLogger(Callback):
    """Shows the progress of epochs, evaluations and predictions.

    In the terminal each has a line; in a notebook, all epochs of a training share one output.

    Args:
      count_mode: accepted as in Keras 2; steps are counted.
      stateful_metrics: accepted as in Keras 2.
    """

    def __init__(self, count_mode: str = "samples", stateful_metrics=None):
        super().__init__()
        self._stateful = set(stateful_metrics or ())
        self.progbar: Progbar | None = None
        self.target: int | None = None
        self.verbose = self.epochs = 1
        self._training = False
        self._output: LiveOutput | None = None  # that of a notebook's cell

    def set_params(self, params):
        super().set_params(params)
        self.verbose, self.target, self.epochs = (params.get(name) for name in ("verbose", "steps", "epochs"))

    def _begin(self, title=""):
        self.seen = 0
        verbose, steps = self.params["verbose"], self.params["steps"]
        if verbose == 1 and in_notebook():
            self._output = self._output or LiveOutput()
            self.progbar = self._output.progress(steps, title, self._names())
        elif verbose:
            if title:
                print(title)
            self.progbar = Progbar(steps, verbose=verbose, unit_name="step", stateful_metrics=self._names())

    def _names(self):
        return self._stateful | {metric.name for metric in self.model.metrics}

    def on_train_begin(self, logs: dict[str, Any] | None = None):
        self._training = True
        self._output = None

    def on_train_end(self, logs: dict[str, Any] | None = None):
        self._training = False

    def on_epoch_begin(self, epoch, logs=None):
        self._begin(f"Epoch {epoch + 1}/{self.params['epochs']}" if self.params["epochs"] > 1 else "")

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None):
        self._step(batch, logs)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        self._finish(logs)

    def on_test_begin(self, logs: dict[str, Any] | None = None):
        if not self._training:
            self._output = None
            self._begin()

    def on_test_batch_end(self, batch: int, logs: dict[str, Any] | None = None):
        if not self._training:
            self._step(batch, logs)

    def on_test_end(self, logs: dict[str, Any] | None = None):
        if not self._training:
            self._finish(logs)

    def on_predict_begin(self, logs: dict[str, Any] | None = None):
        self._output = None
        self._begin()

    def on_predict_batch_end(self, batch, logs: dict[str, Any] | None = None):
        self._step(batch, None)

    def on_predict_end(self, logs: dict[str, Any] | None = None):
        self._finish(None)

    def _step(self, batch: int, logs):
        if self.progbar is not None and self.progbar.verbose == 1 and self.progbar.is_due():
            self.progbar.show_as_they_are(logs or ())
            values = {name: as_number(value) for name, value in in_order_of_release(logs or {}).items()}
            self.progbar.update(batch + 1, list(values.items()), finalize=False)
        self.seen = batch + 1

    seen = 0

    def _finish(self, logs):
        if self.progbar is not None:
            self.progbar.show_as_they_are(logs or ())
            self.progbar.target = self.progbar.target or self.seen
            self.progbar.update(self.progbar.target, (logs or {}).items(), finalize=True)
            self.progbar = None


def writes_files(model):
    """Whether this process writes files of a training: of several that train a model together the first does."""
    strategy = getattr(model, "distribute_strategy", None)
    return strategy is None or strategy.extended.should_checkpoint


def as_number(value: Any):
    """A float of a scalar; what is no scalar, as an array."""
    if hasattr(value, "numpy"):
        value = value.numpy()
    return float(value) if getattr(value, "ndim", 0) == 0 else value


class CallbackList:
    """Calls all callbacks in turn. Logs become numbers only where somebody looks at them.

    Args:
      callbacks: the callbacks, a list, one alone, or None.
      add_history: whether a `History` is added.
      add_progbar: whether a `ProgbarLogger` is added.
      model: the model that they are called for.
      **params: what callbacks find in `params`: verbose, epochs, steps.
    """

    def __init__(
        self, callbacks: Sequence[Any] | None = None, add_history: bool = False, add_progbar: bool = False,
        model: Functional | Sequential | None = None, **params,
    ):
        given = callbacks if isinstance(callbacks, (list, tuple)) else [callbacks]
        self.callbacks = [callback for callback in given if callback is not None]
        if add_progbar and not any(isinstance(c, ProgbarLogger) for c in self.callbacks):
            self.callbacks.append(ProgbarLogger())
        if add_history:
            found = [c for c in self.callbacks if isinstance(c, History)]
            if not found:
                self.callbacks.append(History())
        self.set_params(params)
        self.model = None
        if model is not None:
            self.set_model(model)
        # Most callbacks do not look at batches: only those that do are called at every step.
        self._watching = {
            event: [c for c in self.callbacks if _looks(c, event)] for event in _BATCHES
        }

    def set_params(self, params: dict[str, Any]):
        """Tells the callbacks what `fit`, `evaluate` or `predict` was given."""
        self.params = params
        for callback in self.callbacks:
            if hasattr(callback, "set_params"):
                callback.set_params(params)

    def set_model(self, model):
        """Tells the callbacks which model they are called for; its `history` is that of the list."""
        self.model = model
        for callback in self.callbacks:
            if isinstance(callback, History):
                model.__dict__["history"] = callback
            callback.set_model(model)

    def set_steps(self, steps: int):
        """Says how many steps an epoch has, once that is known."""
        if steps is not None and self.params.get("steps") is None:
            self.params["steps"] = steps

    def append(self, callback: Callable[..., Any]):
        """Adds a callback."""
        self.callbacks.append(callback)
        for event in _BATCHES:
            if _looks(callback, event):
                self._watching[event].append(callback)


def _looks(callback: Any, event: str):
    """Whether a callback has something of its own to do at an event of batches."""
    for name in (event, event.replace("train_", "")) if "train" in event else (event,):
        mine = getattr(callback, name, None)
        if mine is None:
            continue
        if getattr(mine, "__func__", mine) is not getattr(Callback, name, None):
            return True
    return False


def _caller(event: str):
    def call(self, logs: dict[str, Any] | None = None):
        for callback in self.callbacks:
            getattr(callback, event)({} if logs is None else logs)

    return call


def _epoch_caller(event: str):
    def call(self, epoch: int, logs: dict[str, Any] | None = None):
        for callback in self.callbacks:
            getattr(callback, event)(epoch, {} if logs is None else logs)

    return call


def _batch_caller(event: str):
    def call(self, batch: int, logs: dict[str, Any] | None = None):
        numbers = None
        for callback in self._watching[event]:
            if isinstance(callback, ProgbarLogger) or logs is None:
                getattr(callback, event)(batch, {} if logs is None else logs)
                continue
            if numbers is None:
                numbers = logs if "predict" in event else {n: as_number(v) for n, v in logs.items()}
            getattr(callback, event)(batch, numbers)

    return call


for _event in _STAGES:
    setattr(CallbackList, _event, _caller(_event))
for _event in _EPOCHS:
    setattr(CallbackList, _event, _epoch_caller(_event))
for _event in _BATCHES:
    setattr(CallbackList, _event, _batch_caller(_event))
for _event in ("on_batch_begin", "on_batch_end"):  # their old names
    setattr(CallbackList, _event, _batch_caller(_event.replace("batch", "train_batch")))
