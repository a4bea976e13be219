"""compile, fit, evaluate, predict: the training loop that comes with every model."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from tapeflow.api import providers
from tapeflow.core import replicas
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.data.dataset import Dataset
from tapeflow.distribute.inputs import InputContext
from tapeflow.keras import settings
from tapeflow.keras.callbacks.base import CallbackList
from tapeflow.keras.engine import calling
from tapeflow.keras.engine.fitting.arrays import (
    array_of,
    joined,
    numbers_of,
)
from tapeflow.keras.engine.fitting.batches import as_batches, split_validation
from tapeflow.keras.engine.fitting.compilation import Compilation
from tapeflow.keras.engine.fitting.epochs import epochs_of, length_of
from tapeflow.keras.engine.fitting.generators import GeneratorTraining
from tapeflow.keras.engine.fitting.packing import unpack_x_y_sample_weight
from tapeflow.keras.engine.fitting.single_batches import SingleBatches
from tapeflow.keras.engine.fitting.steps import Steps
from tapeflow.keras.engine.fitting.without_effects import StatelessTraining
from tapeflow.keras.utils.dataset_creator import DatasetCreator
from tapeflow.keras.utils.progress import in_order_of_release


@public_methods
class Training(Steps, GeneratorTraining, SingleBatches, StatelessTraining, Compilation):
    """The part of Model that trains."""

    loss = compiled_loss = compiled_metrics = None
    _tensors_of_graph = None
    distribute_strategy, distribute_reduction_method = None, "auto"

    def _start_training_state(self):
        state = self.__dict__
        state["optimizer"] = None
        if replicas.strategy() is not None:
            state["distribute_strategy"] = replicas.strategy()
        state["loss"] = None
        state["compiled_loss"] = state["compiled_metrics"] = None
        state["stop_training"] = False
        state["run_eagerly"] = False
        state["steps_per_execution"] = 1
        state["jit_compile"] = False
        state["history"] = None
        state["_compile_arguments"] = None
        state["_train_counter"] = state["_test_counter"] = state["_predict_counter"] = None
        self._forget_functions()

    # Functions of a step

    def __getstate__(self):
        # Copies and pickled models trace their functions anew.
        return {**self.__dict__, **dict.fromkeys(self._traced())}

    def __copy__(self):
        return copy.deepcopy(self)  # as in Keras 3: a copy shares no weights

    def _batches_of(self, x, *others, **options):
        """Batches as `as_batches` makes them, of which each of several processes that train together takes its part."""
        if isinstance(x, DatasetCreator):
            x = x(InputContext())
        strategy = self.distribute_strategy
        if strategy is None or strategy.extended.processes.size == 1:
            return as_batches(x, *others, **options)
        if isinstance(x, Dataset):
            return as_batches(strategy.experimental_distribute_dataset(x), *others, **options)
        batches = as_batches(x, *others, **options)
        if batches is not x:
            batches.part = strategy.extended.share_of_process
        return batches

    def _training_batches(self, x, y, sample_weight, batch_size, shuffle, steps, class_weight):
        """Batches for `fit`: those that workers take, where other processes run the steps."""
        if getattr(self.distribute_strategy, "cluster", None) is not None:
            return providers.load("coordinated_training").PerWorkerBatches(self, x, steps, class_weight)
        return self._batches_of(x, y, sample_weight, batch_size, shuffle, steps, class_weight)

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
        """Train for `epochs` passes over arrays, a dataset, a generator or a Sequence.

        Args:
          x: the inputs: an array or tensor, a structure of these for several inputs, a `Dataset` or iterable of
            `(inputs, labels)` or `(inputs, labels, weights)`.
          y: the labels; None where `x` gives them.
          batch_size: the number of examples in a batch of arrays; None for 32.
          epochs: after which epoch to stop, counted from 1.
          verbose: 0 for silence, 1 or "auto" for a progress bar, 2 for a line per epoch.
          callbacks: a list of `keras.callbacks.Callback`s.
          validation_split: the part of the arrays, their end, that is evaluated after each epoch instead of trained
            on.
          validation_data: data to evaluate after each epoch, `(inputs, labels)` or with weights, or a dataset.
          shuffle: whether arrays are shuffled before each epoch.
          class_weight: a dict of the weights of classes, by number.
          sample_weight: the weights of the examples of arrays.
          initial_epoch: with which epoch to begin, counted from 0.
          steps_per_epoch: after how many batches an epoch ends; None for at the end of the data.
          validation_steps: the number of batches of a validation; None for all.
          validation_batch_size: the number of examples in its batches; None for `batch_size`.
          validation_freq: every how many epochs, or after which epochs, a list, to evaluate.
          max_queue_size, workers, use_multiprocessing: accepted as in Keras 2.

        Returns:
          A `History`, whose `history` has loss and metrics of all epochs by name.

        Raises:
          ValueError: before `compile` (RuntimeError under Keras 2), and for data that do not fit.

        >>> model = tf.keras.Sequential([tf.keras.Input(shape=(1,)), tf.keras.layers.Dense(1)])
        >>> model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
        >>> x, y = np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]])
        >>> history = model.fit(x, y, epochs=200, verbose=0)
        >>> print(np.round(model.predict(x, verbose=0), 2))
        [[1.]
         [3.]]
        """
        self._require_compiled()
        calling.one_positional(self, "fit")
        verbose = 1 if verbose == "auto" else int(verbose)
        if validation_split and validation_data is None:
            (x, y, sample_weight), validation_data = split_validation(x, y, sample_weight, validation_split)
        batches = self._training_batches(x, y, sample_weight, batch_size, shuffle, steps_per_epoch, class_weight)
        validation = None
        if validation_data is not None:
            size = validation_batch_size or batch_size
            validation = self._batches_of(*unpack_x_y_sample_weight(validation_data), size, steps=validation_steps)
        length = settings.at_most(steps_per_epoch or length_of(batches), settings.max_steps_per_epoch())
        epochs = settings.at_most(epochs, settings.max_epochs())
        run = CallbackList(callbacks, True, verbose != 0, self, verbose=verbose, epochs=epochs, steps=length)

        def validate(epoch: int):
            if validation is None or not _is_due(epoch, validation_freq):
                return {}
            results = self.evaluate(validation, verbose=0, steps=validation_steps, return_dict=True, callbacks=run)
            return {f"val_{name}": value for name, value in results.items()}

        return self._run_epochs(batches, steps_per_epoch, initial_epoch, epochs, run, validate, x)

    def _run_epochs(self, batches, steps_per_epoch, initial_epoch, epochs, run, validate, x):
        """Train on `batches` of `x`; `validate(epoch)` gives what is added to the logs of an epoch."""
        # Tensors of a graph that a model was fitted to are its data also later.
        self.__dict__["_tensors_of_graph"] = batches.tensors
        self.stop_training = False
        function = self.make_train_function()
        self._step("train", batches)
        logs = None
        run.on_train_begin()
        source = epochs_of(batches, steps_per_epoch, self.steps_per_execution)
        first = self._initial_epoch(initial_epoch, run)
        for epoch in range(first, epochs):
            self.reset_metrics()
            run.on_epoch_begin(epoch)
            logs = None
            for step, iterator in source.epoch():
                run.on_train_batch_begin(step)
                data_logs = source.call(function, iterator)
                if data_logs is None:
                    continue
                logs = data_logs
                run.on_train_batch_end(source.last, logs)
                if self.stop_training:
                    break
            if logs is None:
                _accept_no_data(x, "train", f"there was no batch of data in epoch {epoch + 1}")
            run.set_steps(source.length)
            logs = None if logs is None else source.logs(logs)
            logs = {} if logs is None else in_order_of_release(numbers_of(logs))
            logs |= validate(epoch)
            source.ended()
            # In Keras 3 `on_train_end` is not given what callbacks add to the logs of an epoch.
            run.on_epoch_end(epoch, logs if keras_2() else in_order_of_release(logs))
            if self.stop_training or source.exhausted:
                break
        finish = getattr(self.optimizer, "finalize_variable_values", None)
        if finish is not None and epochs > first:
            finish(self.trainable_variables)
        run.on_train_end(logs)
        return self.history

    @staticmethod
    def _initial_epoch(epoch: int, run: CallbackList):
        """Where to begin: later than asked for, if a callback has restored an interrupted training."""
        restored = [getattr(c, "_initial_epoch", None) for c in run.callbacks]
        return max([epoch, *(r for r in restored if r is not None)])

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
        max_queue_size=10,
        workers=1,
        use_multiprocessing=False,
        **kwargs,
    ):
        """Compute loss and metrics over arrays or a dataset, without training.

        Args:
          x: the inputs, as those of `fit`.
          y: the labels; None where `x` gives them.
          batch_size: the number of examples in a batch of arrays; None for 32.
          verbose: 0 for silence, 1 or "auto" for a progress bar, 2 for a line.
          sample_weight: the weights of the examples of arrays.
          steps: the number of batches; None for all.
          callbacks: a list of `keras.callbacks.Callback`s.
          return_dict: whether a dict by name is returned.
          max_queue_size, workers, use_multiprocessing: accepted as in Keras 2.
          **kwargs: accepted as in Keras 3.

        Returns:
          The loss; with metrics the list of it and them, in the order of `metrics_names`; or a dict.

        Raises:
          ValueError: before `compile` (RuntimeError under Keras 2), and for data that do not fit.
        """
        self._require_compiled()
        calling.one_positional(self, "evaluate")
        verbose = 1 if verbose == "auto" else int(verbose)
        if x is None and self._tensors_of_graph is not None:
            x, y, sample_weight = self._tensors_of_graph
        batches = self._batches_of(x, y, sample_weight, batch_size, steps=steps)
        run = callbacks
        if not isinstance(run, CallbackList):
            run = CallbackList(
                callbacks, add_progbar=verbose != 0, model=self, verbose=verbose,
                epochs=1, steps=settings.at_most(steps or length_of(batches), settings.max_steps_per_epoch()),
            )  # fmt: skip
        self.reset_metrics()
        self.stop_evaluating = False
        function = self.make_test_function()
        self._step("test", batches)
        run.on_test_begin()
        logs = None
        source = epochs_of(batches, steps, self.steps_per_execution)
        for step, iterator in source.epoch():
            run.on_test_batch_begin(step)
            data_logs = source.call(function, iterator)
            if data_logs is None:
                continue
            logs = data_logs
            run.on_test_batch_end(source.last, logs)
            if self.stop_evaluating:
                break
        if logs is None:
            _accept_no_data(x, "test", "there was no data")
        numbers = {} if logs is None else numbers_of(logs)
        run.on_test_end(in_order_of_release(numbers))
        return in_order_of_release(numbers) if return_dict else self._one_or_all(numbers)

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
        """Compute the outputs for all batches, one after another.

        Args:
          x: the inputs, as those of `fit`; labels of a dataset do not count.
          batch_size: the number of examples in a batch of arrays; None for 32.
          verbose: 0 for silence, 1 or "auto" for a progress bar, 2 for a line.
          steps: the number of batches; None for all.
          callbacks: a list of `keras.callbacks.Callback`s.
          max_queue_size, workers, use_multiprocessing: accepted as in Keras 2.

        Returns:
          NumPy arrays in the structure of the outputs.

        Raises:
          ValueError: for data that do not fit, and where there are none.
        """
        calling.one_positional(self, "predict")
        verbose = 1 if verbose == "auto" else int(verbose)
        batches = as_batches(x, None, None, batch_size, steps=steps)
        run = callbacks
        if not isinstance(run, CallbackList):
            run = CallbackList(
                callbacks, add_progbar=verbose != 0, model=self, verbose=verbose,
                epochs=1, steps=settings.at_most(steps or length_of(batches), settings.max_steps_per_epoch()),
            )  # fmt: skip
        self.stop_predicting = False
        function = self.make_predict_function()
        self._step("predict", batches)
        run.on_predict_begin()
        outputs = []
        source = epochs_of(batches, steps, self.steps_per_execution, reset=False)
        for step, iterator in source.epoch():
            run.on_predict_batch_begin(step)
            result = source.call(function, iterator)
            if result is None:
                continue
            outputs.append(result)
            shown = result if keras_2() else nest.map_structure(array_of, result)
            run.on_predict_batch_end(source.last, {"outputs": shown})
            if self.stop_predicting:
                break
        if not outputs:
            raise ValueError("Expected at least one batch of data to predict on.")
        run.on_predict_end()
        return nest.map_structure(array_of, joined(outputs))


def _is_due(epoch: int, frequency: int):
    if isinstance(frequency, int):
        if frequency < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency


def _accept_no_data(x: TensorLike, step: str, what: str):
    """Keras 3 accepts that there is no data, unless it was to come from a generator."""
    if keras_2():
        raise ValueError(f"Unexpected result of `{step}_function` (Empty Logs): {what}.")
    if isinstance(x, Iterator):
        raise ValueError(
            "When passing a Python generator to a Keras model, the generator must yield at least one batch. "
            "Received an empty generator."
        )
