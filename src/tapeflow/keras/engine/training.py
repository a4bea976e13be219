"""compile, fit, evaluate, predict: the training loop that comes with every model."""

from __future__ import annotations

from tapeflow.autodiff.tape import GradientTape
from tapeflow.core import nest
from tapeflow.core.public import public_methods
from tapeflow.keras import optimizers
from tapeflow.keras.callbacks.base import CallbackList
from tapeflow.keras.engine.batches import as_batches, as_tensor, pack, split_validation, unpack
from tapeflow.keras.engine.compiled import CompiledLoss, CompiledMetrics
from tapeflow.ops.joining import concat
from tapeflow.ops.variable import Variable


@public_methods
class Training:
    """The part of Model that trains."""

    def _start_training_state(self):
        state = self.__dict__
        state["optimizer"] = None
        state["loss"] = None
        state["compiled_loss"] = state["compiled_metrics"] = None
        state["stop_training"] = False
        state["run_eagerly"] = False
        state["history"] = None
        state["_compile_arguments"] = None
        state["_train_counter"] = state["_test_counter"] = state["_predict_counter"] = None

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
        """Says how to train: an optimizer, a loss and metrics, as objects, functions or names.

        For a model of several outputs, losses, metrics and weights are lists in the order of the outputs,
        or dicts by their names.
        """
        state = self.__dict__
        state["optimizer"] = optimizers.get(optimizer)
        state["loss"] = loss
        state["run_eagerly"] = bool(run_eagerly) or self.dynamic
        names = self._names_of_outputs()
        state["compiled_loss"] = CompiledLoss(loss, loss_weights, names)
        state["compiled_metrics"] = CompiledMetrics(metrics, weighted_metrics, names)
        state["_compile_arguments"] = {
            "optimizer": state["optimizer"],
            "loss": loss,
            "metrics": metrics,
            "loss_weights": loss_weights,
            "weighted_metrics": weighted_metrics,
        }
        for counter in ("_train_counter", "_test_counter", "_predict_counter"):
            state[counter] = 0

    def _names_of_outputs(self):
        return getattr(self, "output_names", None)

    def _require_compiled(self):
        if self.compiled_loss is None:
            raise RuntimeError(
                "You must compile your model before training/testing. Use `model.compile(optimizer, "
                "loss)`."
            )

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None):
        """The compiled loss plus the losses of layers."""
        if self.loss is None or y is None:
            return self.compiled_loss([None], [y_pred], None, self.losses)
        return self.compiled_loss(y, y_pred, sample_weight, self.losses)

    def compute_metrics(self, x, y, y_pred, sample_weight):
        """Takes a batch into the compiled metrics; returns the values of all metrics."""
        if y is not None:
            self.compiled_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self):
        """The values of all metrics, by name."""
        found = {}
        for metric in self.metrics:
            result = metric.result()
            if isinstance(result, dict):
                found |= result
            else:
                found[metric.name] = result
        return found

    def train_step(self, data):
        """One update from one batch; returns the logs. To be overridden for other kinds of training."""
        x, y, sample_weight = unpack(data)
        with GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred, sample_weight)
        variables = self.trainable_variables
        gradients = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(gradients, variables))
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def test_step(self, data):
        """Loss and metrics of one batch."""
        x, y, sample_weight = unpack(data)
        y_pred = self(x, training=False)
        self.compute_loss(x, y, y_pred, sample_weight)
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def predict_step(self, data):
        """The outputs for one batch."""
        return self(unpack(data)[0], training=False)

    @property
    def metrics(self):
        """The mean losses, the compiled metrics, and those of layers."""
        own = []
        if self.compiled_loss is not None:
            own += self.compiled_loss.metrics
            own += self.compiled_metrics.metrics
        seen = {id(metric) for metric in own}
        return [*own, *(metric for metric in super().metrics if id(metric) not in seen)]

    @property
    def metrics_names(self):
        """The names of loss and metrics in the order of results."""
        return [metric.name for metric in self.metrics]

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
        max_queue_size=10,
        workers=1,
        use_multiprocessing=False,
    ):
        """Trains for `epochs` passes over arrays, a dataset, a generator or a Sequence.

        Returns a History. Raises RuntimeError before compile, ValueError for data that does not fit.
        """
        self._require_compiled()
        verbose = 1 if verbose == "auto" else int(verbose)
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = split_validation(
                x, y, sample_weight, validation_split
            )
        batches = as_batches(
            x, y, sample_weight, batch_size, shuffle, steps_per_epoch, class_weight
        )
        validation = None
        if validation_data is not None:
            parts = unpack(validation_data)
            validation = as_batches(
                *parts, validation_batch_size or batch_size, steps=validation_steps
            )
        length = steps_per_epoch or _length(batches)
        run = CallbackList(
            callbacks, add_history=True, add_progbar=verbose != 0, model=self,
            verbose=verbose, epochs=epochs, steps=length,
        )  # fmt: skip
        self.stop_training = False
        logs = None
        run.on_train_begin()
        source = _Steps(batches, steps_per_epoch)
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            run.on_epoch_begin(epoch)
            logs = None
            for step, data in source.epoch():
                run.on_train_batch_begin(step)
                logs = self.train_step(data)
                self.__dict__["_train_counter"] += 1
                run.on_train_batch_end(step, logs)
                if self.stop_training:
                    break
            if logs is None:
                raise ValueError(
                    "Unexpected result of `train_function` (Empty Logs): there was no batch of data "
                    f"in epoch {epoch + 1}."
                )
            run.set_steps(source.length)
            logs = _numbers(logs)
            if validation is not None and _is_due(epoch, validation_freq):
                results = self.evaluate(
                    validation, verbose=0, steps=validation_steps, return_dict=True,
                    callbacks=run,
                )  # fmt: skip
                logs |= {f"val_{name}": value for name, value in results.items()}
            batches.on_epoch_end()
            run.on_epoch_end(epoch, logs)
            if self.stop_training or source.exhausted:
                break
        run.on_train_end(logs)
        return self.history

    def evaluate(
        self,
        x=None,
        y=None,
        batch_size=None,
        verbose="auto",
        sample_weight=None,
        steps=None,
        callbacks=None,
        max_queue_size=10,
        workers=1,
        use_multiprocessing=False,
        return_dict=False,
    ):
        """Loss and metrics over arrays or a dataset: a number, a list, or a dict."""
        self._require_compiled()
        verbose = 1 if verbose == "auto" else int(verbose)
        batches = as_batches(x, y, sample_weight, batch_size, steps=steps)
        run = callbacks
        if not isinstance(run, CallbackList):
            run = CallbackList(
                callbacks, add_progbar=verbose != 0, model=self, verbose=verbose,
                epochs=1, steps=steps or _length(batches),
            )  # fmt: skip
        self.reset_metrics()
        run.on_test_begin()
        logs = None
        for step, data in _Steps(batches, steps).epoch():
            run.on_test_batch_begin(step)
            logs = self.test_step(data)
            self.__dict__["_test_counter"] += 1
            run.on_test_batch_end(step, logs)
        if logs is None:
            raise ValueError(
                "Unexpected result of `test_function` (Empty Logs): there was no data."
            )
        numbers = _numbers(logs)
        run.on_test_end(numbers)
        return numbers if return_dict else _one_or_all(numbers)

    def predict(
        self,
        x,
        batch_size=None,
        verbose="auto",
        steps=None,
        callbacks=None,
        max_queue_size=10,
        workers=1,
        use_multiprocessing=False,
    ):
        """The outputs for all batches, one after another, as NumPy arrays."""
        verbose = 1 if verbose == "auto" else int(verbose)
        batches = as_batches(x, None, None, batch_size, steps=steps)
        run = callbacks
        if not isinstance(run, CallbackList):
            run = CallbackList(
                callbacks, add_progbar=verbose != 0, model=self, verbose=verbose,
                epochs=1, steps=steps or _length(batches),
            )  # fmt: skip
        run.on_predict_begin()
        outputs = []
        for step, data in _Steps(batches, steps).epoch():
            run.on_predict_batch_begin(step)
            outputs.append(self.predict_step(data))
            run.on_predict_batch_end(step, {"outputs": outputs[-1]})
        if not outputs:
            raise ValueError("Expected at least one batch of data to predict on.")
        run.on_predict_end()
        return nest.map_structure(lambda *parts: concat(list(parts), 0).numpy(), *outputs)

    def train_on_batch(
        self,
        x,
        y=None,
        sample_weight=None,
        class_weight=None,
        reset_metrics=True,
        return_dict=False,
    ):
        """One update from one batch; returns loss and metrics."""
        return self._on_batch(
            self.train_step, x, y, sample_weight, class_weight, reset_metrics, return_dict
        )

    def test_on_batch(self, x, y=None, sample_weight=None, reset_metrics=True, return_dict=False):
        """Loss and metrics of one batch."""
        return self._on_batch(self.test_step, x, y, sample_weight, None, reset_metrics, return_dict)

    def _on_batch(self, step, x, y, sample_weight, class_weight, reset, return_dict):
        self._require_compiled()
        if reset:
            self.reset_metrics()
        data = nest.map_structure(as_tensor, pack(_inputs(x), _inputs(y), sample_weight))
        if class_weight is not None:
            data = next(iter(as_batches(iter([data]), class_weight=class_weight)))
        numbers = _numbers(step(data))
        return numbers if return_dict else _one_or_all(numbers)

    def predict_on_batch(self, x):
        """The outputs for one batch as NumPy arrays."""
        outputs = self.predict_step((nest.map_structure(as_tensor, _inputs(x)),))
        return nest.map_structure(lambda t: t.numpy(), outputs)

    def fit_generator(self, generator, steps_per_epoch=None, epochs=1, **kwargs):
        """The old name of fit, for generators."""
        return self.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, **kwargs)

    def evaluate_generator(self, generator, steps=None, callbacks=None, verbose=0, **kwargs):
        """The old name of evaluate, for generators."""
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict_generator(self, generator, steps=None, callbacks=None, verbose=0, **kwargs):
        """The old name of predict, for generators."""
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)


class _Steps:
    """Epochs of batches: of all there are, or of `steps` each, which go on where the last one ended."""

    def __init__(self, batches, steps):
        self._batches, self._steps = batches, steps
        self._source = None
        self.exhausted = False
        self.length = steps

    def epoch(self):
        """(step, batch) pairs."""
        if self._steps is None:
            count = 0
            for step, data in enumerate(self._batches):
                count = step + 1
                yield step, data
            self.length = count
            return
        if self._source is None:
            self._source = iter(self._batches)
        for step in range(self._steps):
            try:
                data = next(self._source)
            except StopIteration:
                self._source = iter(self._batches)
                try:
                    data = next(self._source)
                except StopIteration:
                    self.exhausted = True
                    return
            yield step, data


def _is_due(epoch, frequency):
    if isinstance(frequency, int):
        if frequency < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency


def _length(batches):
    try:
        return len(batches)
    except TypeError:
        return None


def _inputs(x):
    """A list of arrays as several inputs, a list of numbers as one."""
    if isinstance(x, list) and x and (hasattr(x[0], "shape") or isinstance(x[0], Variable)):
        return tuple(x)
    return x


def _numbers(logs):
    """The logs as floats; what is no scalar, as arrays."""
    return {name: _number(value) for name, value in logs.items()}


def _number(value):
    if hasattr(value, "numpy"):
        value = value.numpy()
    return float(value) if getattr(value, "ndim", 0) == 0 else value


def _one_or_all(numbers):
    values = list(numbers.values())
    return values[0] if len(values) == 1 else values
