"""compile, fit, evaluate, predict: the training loop that comes with every model."""

from __future__ import annotations

import numpy as np

from tapeflow._native import Tensor
from tapeflow.autodiff.tape import GradientTape
from tapeflow.core import nest
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import public_methods
from tapeflow.data.dataset import Dataset
from tapeflow.keras import losses, optimizers, settings
from tapeflow.keras import metrics as metrics_of_keras
from tapeflow.keras.utils.progress import Progbar
from tapeflow.ops.accumulate import add_n
from tapeflow.ops.casting import cast
from tapeflow.ops.joining import concat


class History:
    """The means of loss and metrics after every epoch, by name."""

    def __init__(self):
        self.history: dict[str, list[float]] = {}
        self.epoch: list[int] = []
        self.model = None

    def record(self, epoch, logs):
        """Adds one epoch."""
        self.epoch.append(epoch)
        for name, value in logs.items():
            self.history.setdefault(name, []).append(value)


@public_methods
class Training:
    """The part of Model that trains."""

    def _start_training_state(self):
        state = self.__dict__
        state["optimizer"] = None
        state["_loss"] = None
        state["_compiled_metrics"] = []
        state["_loss_mean"] = None
        state["stop_training"] = False
        state["run_eagerly"] = False
        state["history"] = None

    def compile(
        self,
        optimizer="rmsprop",
        loss=None,
        metrics=None,
        loss_weights=None,
        weighted_metrics=None,
        run_eagerly=None,
        steps_per_execution=None,
        **kwargs,
    ):
        """Says how to train: an optimizer, a loss and metrics, as objects, functions or names."""
        state = self.__dict__
        state["optimizer"] = optimizers.get(optimizer)
        state["_loss"] = None if loss is None else nest.map_structure(_as_loss, loss)
        state["_loss_weights"] = loss_weights
        state["run_eagerly"] = bool(run_eagerly) or self.dynamic
        state["_metrics_given"] = list(nest.flatten(metrics)) if metrics is not None else []
        state["_compiled_metrics"] = None
        state["_loss_mean"] = metrics_of_keras.Mean(name="loss")

    def _require_compiled(self):
        if self.optimizer is None:
            raise RuntimeError(
                "You must compile your model before training/testing. Use `model.compile(optimizer, "
                "loss)`."
            )

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
        """The compiled loss plus the losses of layers."""
        parts = list(self.losses)
        if self._loss is not None and y is not None:
            targets, outputs = nest.flatten(y), nest.flatten(y_pred)
            functions = nest.flatten(self._loss)
            if len(functions) == 1:
                functions = functions * len(outputs)
            weights = (
                nest.flatten(self._loss_weights) if self._loss_weights else [1.0] * len(outputs)
            )
            for function, target, output, weight in zip(functions, targets, outputs, weights):
                value = function(target, output, sample_weight)
                parts.append(value if weight == 1.0 else value * weight)
        if not parts:
            raise ValueError("No loss to minimize: pass `loss` to compile, or call add_loss.")
        return parts[0] if len(parts) == 1 else add_n(parts)

    def train_step(self, data):
        """One update from one batch; returns the logs. To be overridden for other kinds of training."""
        x, y, sample_weight = unpack(data)
        with GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred, sample_weight)
        variables = self.trainable_variables
        gradients = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(gradients, variables))
        return self._update_metrics(loss, y, y_pred, sample_weight)

    def test_step(self, data):
        """Loss and metrics of one batch."""
        x, y, sample_weight = unpack(data)
        y_pred = self(x, training=False)
        loss = self.compute_loss(x, y, y_pred, sample_weight)
        return self._update_metrics(loss, y, y_pred, sample_weight)

    def predict_step(self, data):
        """The outputs for one batch."""
        return self(unpack(data)[0], training=False)

    def _update_metrics(self, loss, y, y_pred, sample_weight):
        batch = nest.flatten(y_pred)[0].shape[0]
        self._loss_mean.update_state(loss, batch)
        if self._compiled_metrics is None:
            made = [_as_metric(m, y, y_pred, self._loss) for m in self._metrics_given]
            self.__dict__["_compiled_metrics"] = made
        for metric in self._compiled_metrics:
            metric.update_state(nest.flatten(y)[0], nest.flatten(y_pred)[0], sample_weight)
        return self._logs()

    @property
    def metrics(self):
        """The mean loss, the compiled metrics, and those of layers."""
        own = [] if self._loss_mean is None else [self._loss_mean]
        return [*own, *(self._compiled_metrics or ()), *super().metrics]

    def _logs(self):
        return {metric.name: metric.result() for metric in self.metrics}

    def reset_metrics(self):
        """Starts all means anew."""
        for metric in self.metrics:
            metric.reset_state()

    def fit(
        self,
        x=None,
        y=None,
        batch_size=None,
        epochs=1,
        verbose="auto",
        callbacks=None,
        validation_split=0.0,
        validation_data=None,
        shuffle=True,
        class_weight=None,
        sample_weight=None,
        initial_epoch=0,
        steps_per_epoch=None,
        validation_steps=None,
        validation_batch_size=None,
        validation_freq=1,
        **kwargs,
    ):
        """Trains for `epochs` passes over arrays or a dataset; returns a History."""
        self._require_compiled()
        if validation_split:
            (x, y, sample_weight), validation_data = _split(x, y, sample_weight, validation_split)
        batches = as_batches(x, y, sample_weight, batch_size, shuffle, steps_per_epoch)
        callbacks = [_bound(callback, self) for callback in callbacks or ()]
        history = self.__dict__["history"] = History()
        history.model = self
        self.stop_training = False
        _notify(callbacks, "on_train_begin", {})
        source = iter(batches) if steps_per_epoch is not None else None
        for epoch in range(initial_epoch, epochs):
            _notify(callbacks, "on_epoch_begin", epoch, {})
            self.reset_metrics()
            bar = Progbar(
                _length(batches, steps_per_epoch),
                verbose=_verbosity(verbose),
                stateful_metrics=None,
                unit_name="step",
            )
            if bar.verbose:
                print(f"Epoch {epoch + 1}/{epochs}")
            logs = {}
            for step, data in _epoch(source or batches, steps_per_epoch):
                _notify(callbacks, "on_train_batch_begin", step, {})
                logs = self.train_step(data)
                if bar.verbose == 1 or callbacks:
                    numbers = _numbers(logs)
                    bar.update(step + 1, list(numbers.items()), finalize=False)
                    _notify(callbacks, "on_train_batch_end", step, numbers)
                if self.stop_training:
                    break
            numbers = _numbers(logs)
            if validation_data is not None and (epoch + 1) % validation_freq == 0:
                numbers |= self._validate(
                    validation_data, validation_batch_size or batch_size, validation_steps
                )
            bar.update(bar.target or step + 1, list(numbers.items()), finalize=True)
            history.record(epoch, numbers)
            _notify(callbacks, "on_epoch_end", epoch, numbers)
            if self.stop_training:
                break
        _notify(callbacks, "on_train_end", {})
        return history

    def _validate(self, data, batch_size, steps):
        if isinstance(data, Dataset):
            results = self.evaluate(data, verbose=0, steps=steps, return_dict=True)
        else:
            results = self.evaluate(
                *data[:2],
                batch_size=batch_size,
                verbose=0,
                sample_weight=data[2] if len(data) > 2 else None,
                steps=steps,
                return_dict=True,
            )
        return {f"val_{name}": value for name, value in results.items()}

    def evaluate(
        self,
        x=None,
        y=None,
        batch_size=None,
        verbose="auto",
        sample_weight=None,
        steps=None,
        callbacks=None,
        return_dict=False,
        **kwargs,
    ):
        """Loss and metrics over arrays or a dataset: a number, a list, or a dict."""
        self._require_compiled()
        self.reset_metrics()
        logs = {}
        for _, data in _epoch(as_batches(x, y, sample_weight, batch_size, False, steps), steps):
            logs = self.test_step(data)
        numbers = _numbers(logs)
        if return_dict:
            return numbers
        values = list(numbers.values())
        return values[0] if len(values) == 1 else values

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None, **kwargs):
        """The outputs for all batches, one after another, as NumPy arrays."""
        outputs = [
            self.predict_step(data)
            for _, data in _epoch(as_batches(x, None, None, batch_size, False, steps), steps)
        ]
        if not outputs:
            raise ValueError("Expected at least one batch of data to predict on.")
        return nest.map_structure(lambda *parts: concat(list(parts), 0).numpy(), *outputs)

    def train_on_batch(
        self, x, y=None, sample_weight=None, reset_metrics=True, return_dict=False, **kwargs
    ):
        """One update from one batch; returns loss and metrics."""
        self._require_compiled()
        return self._on_batch(self.train_step, x, y, sample_weight, reset_metrics, return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, reset_metrics=True, return_dict=False):
        """Loss and metrics of one batch."""
        self._require_compiled()
        return self._on_batch(self.test_step, x, y, sample_weight, reset_metrics, return_dict)

    def _on_batch(self, step, x, y, sample_weight, reset, return_dict):
        if reset:
            self.reset_metrics()
        data = nest.map_structure(_tensor, (x, y, sample_weight))
        numbers = _numbers(step(data))
        values = list(numbers.values())
        return numbers if return_dict else values[0] if len(values) == 1 else values

    def predict_on_batch(self, x):
        """The outputs for one batch as NumPy arrays."""
        outputs = self(nest.map_structure(_tensor, x), training=False)
        return nest.map_structure(lambda t: t.numpy(), outputs)

    @property
    def metrics_names(self):
        """The names of loss and metrics in the order of results."""
        return list(self._logs()) if self._loss_mean is not None else []


def unpack(data):
    """(x, y, sample_weight) of a batch of one to three parts."""
    if not isinstance(data, tuple):
        return data, None, None
    return (*data, None, None)[:3]


def as_batches(x, y, sample_weight, batch_size, shuffle, steps):
    """A dataset, or any iterable, of batches."""
    if isinstance(x, Dataset):
        if y is not None:
            raise ValueError("`y` argument is not supported when using dataset as input.")
        return x
    if (
        x is not None
        and not isinstance(x, (np.ndarray, Tensor, list, tuple, dict))
        and hasattr(x, "__next__" if steps else "__iter__")
    ):
        return x
    parts = tuple(
        nest.map_structure(_tensor, _listed(part))
        for part in (x, y, sample_weight)
        if part is not None
    )
    sizes = {leaf.shape[0] for leaf in nest.flatten(parts)}
    if len(sizes) > 1:
        raise ValueError(
            f"Data cardinality is ambiguous. Make sure all arrays contain the same "
            f"number of samples; got {sorted(sizes)}."
        )
    dataset = Dataset.from_tensor_slices(parts)
    if shuffle:
        dataset = dataset.shuffle(max(sizes.pop(), 1))
    return dataset.batch(batch_size or 32)


def _listed(part):
    """A list of arrays is several inputs, a list of numbers is one."""
    several = isinstance(part, list) and part and isinstance(part[0], (np.ndarray, Tensor))
    return tuple(part) if several else part


def _tensor(value):
    """A tensor; NumPy's default doubles become floatx, as Keras has it."""
    if value is None or isinstance(value, Tensor):
        return value
    tensor = convert_to_tensor(value)
    if tensor.dtype.name == "float64":
        return cast(tensor, settings.floatx())
    return tensor


def _epoch(batches, steps):
    """(step, batch) pairs of one epoch, `steps` of them where that is given."""
    if steps is None:
        yield from enumerate(batches)
        return
    source = iter(batches)
    for step in range(steps):
        try:
            yield step, next(source)
        except StopIteration:
            return


def _length(batches, steps):
    if steps is not None:
        return steps
    try:
        return len(batches)
    except TypeError:
        return None


def _numbers(logs):
    return {name: float(value) for name, value in logs.items()}


def _as_loss(loss):
    found = losses.get(loss)
    return found if isinstance(found, losses.Loss) else losses.LossFunctionWrapper(found)


def _as_metric(metric, y, y_pred, loss):
    if metric in ("accuracy", "acc"):
        return metrics_of_keras.accuracy_for(nest.flatten(y)[0], nest.flatten(y_pred)[0], metric)
    return metrics_of_keras.get_metric(metric)


def _verbosity(verbose):
    return 1 if verbose == "auto" else int(verbose)


def _split(x, y, sample_weight, fraction):
    if not 0 < fraction < 1:
        raise ValueError(f"`validation_split` must be between 0 and 1, received: {fraction}")
    count = len(nest.flatten(x)[0])
    at = int(count * (1.0 - fraction))
    if at in (0, count):
        raise ValueError(
            f"Training data contains {count} samples, which is not sufficient to split it into a "
            f"validation and training set as specified by `validation_split={fraction}`."
        )
    first, second = (
        tuple(
            None if part is None else nest.map_structure(lambda a: a[window], part)  # noqa: B023
            for part in (x, y, sample_weight)
        )
        for window in (slice(at), slice(at, None))
    )
    return first, second


def _bound(callback, model):
    callback.set_model(model)
    return callback


def _notify(callbacks, event, *args):
    for callback in callbacks:
        getattr(callback, event)(*args)
