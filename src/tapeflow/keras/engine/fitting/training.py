"""compile, fit, evaluate, predict: the training loop that comes with every model."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._native import Tensor
from tapeflow.autodiff.tape import GradientTape
from tapeflow.checkpoint.following import attached
from tapeflow.core import replicas
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.core.structures import nest
from tapeflow.data.dataset import Dataset
from tapeflow.keras import optimizers, settings
from tapeflow.keras.callbacks.base import CallbackList
from tapeflow.keras.engine import calling
from tapeflow.keras.engine.fitting import compile_config
from tapeflow.keras.engine.fitting.batches import as_batches, as_tensor, split_validation
from tapeflow.keras.engine.fitting.class_weights import pack, unpack
from tapeflow.keras.engine.fitting.compiled import CompiledLoss, CompiledMetrics
from tapeflow.keras.engine.fitting.epochs import Epochs, epochs_of, length_of
from tapeflow.keras.engine.fitting.stepping import Step
from tapeflow.keras.utils.progress import in_order_of_release
from tapeflow.ops.array.joining import concat
from tapeflow.ops.sparse.shaping import concat as sparse_concat
from tapeflow.ops.state.variable import Variable

if TYPE_CHECKING:
    from tapeflow.keras.engine.fitting.batches import Batches

# Arguments of `compile` in Keras 2 that have no effect, but for the steps.
_OLD_COMPILE_ARGUMENTS = {
    "cloning", "distribute", "experimental_run_tf_function", "experimental_steps_per_execution", "from_serialized",
    "pss_evaluation_shards", "sample_weight_mode", "target_tensors",
}  # fmt: skip


@public_methods
class Training:
    """The part of Model that trains."""

    loss = compiled_loss = compiled_metrics = None
    run_eagerly = jit_compile = False
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

    def _forget_functions(self):
        """Lets the next step be compiled anew."""
        for kind in ("train", "test", "predict"):
            self.__dict__[f"_{kind}_step"] = self.__dict__[f"{kind}_function"] = None

    def compile(
        self,
        optimizer="rmsprop",
        loss=None,
        loss_weights=None,
        metrics=None,
        weighted_metrics=None,
        run_eagerly=None,
        steps_per_execution=1,
        jit_compile="auto",
        auto_scale_loss=True,
        **kwargs,
    ):
        """Say how to train: an optimizer, a loss and metrics, as objects, functions or names.

        For a model of several outputs losses, metrics and weights are lists in the order of the outputs, or dicts by
        their names.

        Args:
          optimizer: an optimizer, its name, or its config.
          loss: a loss, a function of labels and predictions, its name, or None.
          loss_weights: the factors of the outputs' losses in the total.
          metrics: metrics, functions or names, a list; "accuracy" chooses by the shapes.
          weighted_metrics: metrics that sample and class weights count for, too.
          run_eagerly: whether steps run as plain Python; None for False.
          steps_per_execution: how many batches run between calls of callbacks.
          jit_compile: True compiles steps by XLA where it is installed; "auto" is False.
          auto_scale_loss: whether the loss is scaled under the policy "mixed_float16".
          **kwargs: names of Keras 2 that are accepted, as `experimental_steps_per_execution`.

        Raises:
          TypeError: for other arguments.

        >>> model = tf.keras.Sequential([tf.keras.Input(shape=(1,)), tf.keras.layers.Dense(1)])
        >>> model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
        >>> model.compiled
        True
        """
        for name in kwargs:
            if name not in _OLD_COMPILE_ARGUMENTS:
                raise TypeError(f"Invalid keyword argument(s) in `compile()`: {{{name!r}}}.")
        if _are_metrics(loss_weights):  # the order of arguments before Keras 3
            loss_weights, metrics = metrics, loss_weights
        if isinstance(loss_weights, (list, tuple, dict)) and not loss_weights:
            loss_weights = None  # an empty list of metrics in the order before Keras 3, or no weights
        state = self.__dict__
        if self.dynamic and settings.in_plain_graph():
            raise ValueError(
                "Your model contains layers that can only be successfully run in eager execution (layers "
                "constructed with `dynamic=True`). You must enable eager execution with "
                "`tf.enable_eager_execution()`."
            )
        found = optimizers.get(optimizer)
        if auto_scale_loss and self._dtype_policy_name() == "mixed_float16":
            found = optimizers.with_loss_scale(found)
        state["optimizer"] = found
        if "_pending_restores" in state:
            attached(self, "optimizer", found)
        state["loss"] = loss
        state["run_eagerly"] = bool(run_eagerly) or self.dynamic
        steps = kwargs.get("experimental_steps_per_execution") or steps_per_execution
        state["steps_per_execution"] = int(steps or 1)
        state["jit_compile"] = jit_compile is True and self._layers_support_jit()
        names = self._names_of_outputs()
        state["compiled_loss"] = CompiledLoss(loss, loss_weights, names)
        state["compiled_metrics"] = CompiledMetrics(metrics, weighted_metrics, names, loss)
        state["_compile_arguments"] = {
            "optimizer": found,
            "loss": loss,
            "loss_weights": loss_weights,
            "metrics": metrics,
            "weighted_metrics": weighted_metrics,
            "run_eagerly": bool(run_eagerly),
            "steps_per_execution": state["steps_per_execution"],
            "jit_compile": jit_compile is True,
        }
        for counter in ("_train_counter", "_test_counter", "_predict_counter"):
            state[counter] = 0
        self._forget_functions()

    def _layers_support_jit(self):
        """Whether XLA may compile all layers; warns if not."""
        supported = all(layer.supports_jit for layer in self._all_layers())
        if not supported:
            warnings.warn(
                "Model doesn't support `jit_compile=True`. Proceeding with `jit_compile=False`.", stacklevel=4
            )
        return supported

    def _dtype_policy_name(self):
        policy = getattr(self, "dtype_policy", None)
        return getattr(policy, "name", policy)

    def _names_of_outputs(self):
        outputs = self.__dict__.get("_outputs")
        if isinstance(outputs, Mapping) and not keras_2() and not any(map(nest.is_nested, outputs.values())):
            return sorted(outputs)
        return getattr(self, "output_names", None)

    @property
    def compiled(self):
        """Whether compile was called."""
        return self._compile_arguments is not None

    _is_compiled = compiled  # of Keras 2

    def get_compile_config(self):
        """What compile was called with, as a config; None where it was not."""
        return compile_config.describe(self)

    def compile_from_config(self, config):
        """Compiles the model as `get_compile_config` says."""
        compile_config.apply(self, config)

    def _require_compiled(self):
        if not self.compiled:
            if keras_2():
                raise RuntimeError(
                    "You must compile your model before training/testing. Use `model.compile(optimizer, loss)`."
                )
            raise ValueError("You must call `compile()` before using the model.")

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """Compute the compiled loss plus the losses of layers. To be overridden for other losses.

        Args:
          x: the inputs of the batch.
          y: the labels, or None.
          y_pred: the outputs.
          sample_weight: weights of the examples, or None.
          training: whether the batch is one of training.

        Returns:
          A scalar tensor.
        """
        # In Keras 3 the steps take the sum into its mean.
        compute = self.compiled_loss if keras_2() else self.compiled_loss.sum
        if self.loss is None or y is None:
            return compute([None], [y_pred], None, self.losses)
        return compute(y, y_pred, sample_weight, self.losses)

    def stateless_compute_loss(
        self,
        trainable_variables,
        non_trainable_variables,
        metrics_variables,
        x=None,
        y=None,
        y_pred=None,
        sample_weight=None,
        training=True,
    ):
        """Compute the loss for given values of the variables; changes none.

        Args:
          trainable_variables: values of the variables to train.
          non_trainable_variables: values of the others.
          metrics_variables: values of the metrics' variables.
          x: the inputs of the batch.
          y: the labels.
          y_pred: the outputs.
          sample_weight: weights of the examples, or None.
          training: whether the batch is one of training.

        Returns:
          The loss, and the values after it: (trainable, others, metrics').
        """
        groups = (self.trainable_variables, self.non_trainable_variables, self.metrics_variables)
        values = (trainable_variables, non_trainable_variables, metrics_variables)
        variables = [v for group in groups for v in group]
        before = [v.read_value() for v in variables]
        for variable, value in zip(variables, [v for group in values for v in group]):
            variable.assign(value)
        try:
            loss = self.compute_loss(x, y, y_pred, sample_weight)
            return loss, tuple([v.read_value() for v in group] for group in groups)
        finally:
            for variable, value in zip(variables, before):
                variable.assign(value)

    def get_state_tree(self, value_format: str = "backend_tensor"):
        """The values of all variables, by their paths, in dicts by kind."""
        as_array = value_format == "numpy_array"

        def tree(variables: Sequence[Any]):
            found = {}
            for name, v in variables:
                found[name] = v.numpy() if as_array else v.read_value()
            return found

        return {kind: tree(variables) for kind, variables in self._state_by_kind().items()}

    def _state_by_kind(self):
        """(name, variable) pairs of all variables, by kind."""

        def named(variables):
            return [(v.name.partition(":")[0], v) for v in variables]

        return {
            "trainable_variables": named(self.trainable_variables),
            "non_trainable_variables": named(self.non_trainable_variables),
            "optimizer_variables": named(
                [] if self.optimizer is None else self.optimizer.variables
            ),
            "metrics_variables": [
                (f"{metric.name}/{name}", v)
                for metric in self._each_metric()
                for name, v in named(metric.variables)
            ],
        }

    def set_state_tree(self, state_tree: dict[str, Any]):
        """Sets variables from what `get_state_tree` has returned. Raises ValueError for an unknown kind."""
        kinds = self._state_by_kind()
        for kind, values in state_tree.items():
            if kind not in kinds:
                raise ValueError(f"Unknown variable name: {kind}")
            for name, variable in kinds[kind]:
                if name in values:
                    variable.assign(values[name])

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        """Take a batch into the compiled metrics. To be overridden for other metrics.

        Args:
          x: the inputs of the batch.
          y: the labels, or None.
          y_pred: the outputs.
          sample_weight: weights of the examples, or None.

        Returns:
          The values of all metrics so far, by name.
        """
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
            loss = self._loss_of(x, y, y_pred, sample_weight, True)
            scale = getattr(self.optimizer, "scale_loss", None)
            scaled = loss if scale is None else scale(loss)
        variables = self.trainable_variables
        gradients = tape.gradient(scaled, variables)
        self.optimizer.apply_gradients(zip(gradients, variables))
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def _loss_of(self, x, y, y_pred, sample_weight, training):
        """compute_loss, which a program may have overridden with fewer arguments."""
        if type(self).compute_loss is Training.compute_loss:
            loss = self.compute_loss(x, y, y_pred, sample_weight)
            self.compiled_loss.seen(loss, y_pred)
            return loss
        compute = self.compute_loss
        names = compile_config.arguments_of(compute)
        given = {"x": x, "y": y, "y_pred": y_pred, "sample_weight": sample_weight}
        if names is None or "training" in names:
            given["training"] = training
        loss = compute(**given)
        self.compiled_loss.seen(loss, y_pred)
        return loss

    def test_step(self, data):
        """Loss and metrics of one batch."""
        calling.one_positional(self, "test_on_batch")
        x, y, sample_weight = unpack(data)
        y_pred = self(x, training=False)
        mine = type(self).compute_loss is not Training.compute_loss
        if mine or self.losses or (y is not None and self.loss is not None):
            self._loss_of(x, y, y_pred, sample_weight, False)
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def predict_step(self, data):
        """The outputs for one batch."""
        return self(unpack(data)[0], training=False)

    @property
    def metrics(self):
        """The mean losses, the compiled metrics (in Keras 3 as one, `compile_metrics`), and those of layers."""
        own, seen = [], set()
        if self.compiled_loss is not None:
            total, *others = self.compiled_loss.metrics
            compiled = self.compiled_metrics
            if keras_2():
                own = [total, *others, *compiled.metrics]
            else:
                own = [total, *([compiled] if compiled.given else []), *others]
            seen = {id(metric) for metric in (*own, *compiled.metrics)}
        return [*own, *(metric for metric in super().metrics if id(metric) not in seen)]

    def _each_metric(self):
        """The metrics, those that were compiled one by one."""
        compiled = self.compiled_metrics
        return [part for m in self.metrics for part in (compiled.metrics if m is compiled else [m])]

    @property
    def metrics_names(self):
        """The names of loss and metrics in the order of results."""
        return [metric.name for metric in self.metrics]

    def reset_metrics(self):
        """Starts all means anew."""
        for metric in self.metrics:
            metric.reset_state()

    # Functions of a step

    def __getstate__(self):
        # Copies and pickled models trace their functions anew.
        return {**self.__dict__, **dict.fromkeys(self._traced())}

    def _traced(self):
        """The attributes that hold traced functions."""
        names = [name for kind in ("train", "test", "predict") for name in (f"_{kind}_step", f"{kind}_function")]
        return [name for name in names if name in self.__dict__]

    def __copy__(self):
        return copy.deepcopy(self)  # as in Keras 3: a copy shares no weights

    def _step(self, kind: str, batches: Batches | None = None):
        name, varies = f"_{kind}_step", self.__dict__.setdefault("_batches_vary", {})
        step = self.__dict__[name]
        if step is None:
            step = Step(
                getattr(self, f"{kind}_step"), self.run_eagerly, self.jit_compile,
                in_replicas=kind != "predict",  # each process computes all outputs
            )  # fmt: skip
            self.__dict__[name] = step
        if batches is not None:
            varies[kind] = batches.varies
        step.batch_varies = varies.get(kind, False)
        return step

    def _make_function(self, kind, force):
        found = self.__dict__[f"{kind}_function"]
        if found is not None and not force:
            return found
        if force:
            self.__dict__[f"_{kind}_step"] = None
        many, counter, own = self.steps_per_execution, f"_{kind}_counter", f"_{kind}_step"
        state = self.__dict__

        def function(iterator: Epochs):
            step = state[own] or self._step(kind)  # a callback may have compiled the model anew
            if many == 1:
                logs = step(next(iterator))
                state[counter] = (state[counter] or 0) + 1
                return logs
            logs = step(next(iterator))
            done = 1
            results = [logs]
            for data in _up_to(iterator, many - 1):
                results.append(step(data))
                done += 1
            state[counter] = (state[counter] or 0) + done
            return joined(results) if kind == "predict" else results[-1]

        self.__dict__[f"{kind}_function"] = function
        return function

    def make_train_function(self, force: bool = False):
        """The function that takes an iterator of batches, trains by the next ones and returns the logs."""
        return self._make_function("train", force)

    def make_test_function(self, force: bool = False):
        """The function that takes an iterator of batches, evaluates the next ones and returns the logs."""
        return self._make_function("test", force)

    def make_predict_function(self, force: bool = False):
        """The function that takes an iterator of batches and returns the outputs for the next ones."""
        return self._make_function("predict", force)

    def _batches_of(self, x, *others, **options):
        """Batches as `as_batches` makes them, of which each of several processes that train together takes its part."""
        strategy = self.distribute_strategy
        if strategy is None or strategy.extended.processes.size == 1:
            return as_batches(x, *others, **options)
        if isinstance(x, Dataset):
            return as_batches(strategy.experimental_distribute_dataset(x), *others, **options)
        batches = as_batches(x, *others, **options)
        if batches is not x:
            batches.part = strategy.extended.share_of_process
        return batches

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
        batches = self._batches_of(x, y, sample_weight, batch_size, shuffle, steps_per_epoch, class_weight)
        validation = None
        if validation_data is not None:
            size = validation_batch_size or batch_size
            validation = self._batches_of(*unpack(validation_data), size, steps=validation_steps)
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
            logs = {} if logs is None else in_order_of_release(_numbers(logs))
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
        numbers = {} if logs is None else _numbers(logs)
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
            shown = result if keras_2() else nest.map_structure(_array, result)
            run.on_predict_batch_end(source.last, {"outputs": shown})
            if self.stop_predicting:
                break
        if not outputs:
            raise ValueError("Expected at least one batch of data to predict on.")
        run.on_predict_end()
        return nest.map_structure(_array, joined(outputs))

    def train_on_batch(
        self, x: TensorLike, y: np.ndarray | None = None, sample_weight: TensorLike | None = None,
        class_weight: Mapping[Any, Any] | None = None, return_dict: bool = False, reset_metrics: bool = True,
    ):
        """Make one update from one batch.

        Args:
          x: the inputs: arrays or tensors.
          y: the labels.
          sample_weight: the weights of the examples.
          class_weight: a dict of the weights of classes, by number.
          return_dict: whether a dict by name is returned.
          reset_metrics: whether metrics begin anew with this batch.

        Returns:
          The loss; with metrics the list of it and them; or a dict.
        """
        calling.one_positional(self, "train_on_batch")
        return self._on_batch(
            "train", x, y, sample_weight, class_weight, reset_metrics, return_dict
        )

    def test_on_batch(
        self, x: np.ndarray, y: np.ndarray | None = None, sample_weight: TensorLike | None = None,
        return_dict: bool = False, reset_metrics: bool = True,
    ):
        """Compute loss and metrics of one batch.

        Args:
          x: the inputs: arrays or tensors.
          y: the labels.
          sample_weight: the weights of the examples.
          return_dict: whether a dict by name is returned.
          reset_metrics: whether metrics begin anew with this batch.

        Returns:
          The loss; with metrics the list of it and them; or a dict.
        """
        return self._on_batch("test", x, y, sample_weight, None, reset_metrics, return_dict)

    def _on_batch(
        self, kind: str, x: TensorLike, y: np.ndarray | None, sample_weight, class_weight: Mapping[Any, Any] | None,
        reset: bool, return_dict: bool,
    ):
        self._require_compiled()
        if reset:
            self.reset_metrics()
        data = nest.map_structure(as_tensor, pack(_inputs(x), _inputs(y), sample_weight))
        if class_weight is not None:
            data = next(iter(as_batches(iter([data]), class_weight=class_weight)))
        numbers = _numbers(self._step(kind)(data))
        return in_order_of_release(numbers) if return_dict else self._one_or_all(numbers)

    def _one_or_all(self, numbers: dict[str, Any]):
        """Results without their names: in the order of the metrics, and those of no metric by name."""
        names = list(numbers)
        if not keras_2() and self.compiled_metrics is not None:
            # Keras 3 knows the metrics of an output by their names alone, which results do not have.
            known = [m.name for m in self._each_metric() if m.name not in self.compiled_metrics.prefixed]
            names = [n for n in known if n in numbers] + sorted(n for n in numbers if n not in known)
        values = [numbers[name] for name in names]
        return values[0] if len(values) == 1 else values

    def predict_on_batch(self, x: Tensor):
        """The outputs for one batch as NumPy arrays."""
        calling.one_positional(self, "predict_on_batch")
        outputs = self._step("predict")((nest.map_structure(as_tensor, _inputs(x)),))
        return nest.map_structure(_array, outputs)

    def fit_generator(self, generator, steps_per_epoch=None, epochs: int = 1, **kwargs):
        """Train on a generator; the old name of `fit`.

        Args:
          generator: what gives the batches.
          steps_per_epoch: after how many batches an epoch ends.
          epochs: the number of epochs.
          **kwargs: further arguments of `fit`.

        Returns:
          A `History`.
        """
        return self.fit(generator, steps_per_epoch=steps_per_epoch, epochs=epochs, **kwargs)

    def evaluate_generator(
        self, generator, steps: int | None = None, callbacks: Sequence[Any] | None = None, verbose: int = 0, **kwargs
    ):
        """Evaluate on a generator; the old name of `evaluate`.

        Args:
          generator: what gives the batches.
          steps: the number of batches.
          callbacks: a list of `keras.callbacks.Callback`s.
          verbose: as that of `evaluate`.
          **kwargs: accepted as in Keras 2.

        Returns:
          What `evaluate` returns.
        """
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict_generator(
        self, generator, steps: int | None = None, callbacks: Sequence[Any] | None = None, verbose: int = 0, **kwargs
    ):
        """Predict on a generator; the old name of `predict`.

        Args:
          generator: what gives the batches.
          steps: the number of batches.
          callbacks: a list of `keras.callbacks.Callback`s.
          verbose: as that of `predict`.
          **kwargs: accepted as in Keras 2.

        Returns:
          What `predict` returns.
        """
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)


def _are_metrics(value: Tensor | None):
    """Whether what was given for loss_weights are metrics."""
    if isinstance(value, dict):
        return any(_are_metrics(v) for v in value.values())
    if isinstance(value, (list, tuple)):
        return any(_are_metrics(v) for v in value)
    return isinstance(value, str) or callable(value)


def _up_to(iterator: Epochs, count: int):
    for _ in range(count):
        try:
            yield next(iterator)
        except StopIteration:
            return


def joined(outputs: Any):
    """The outputs of several batches, one after another."""
    if len(outputs) == 1:
        return outputs[0]

    def join(*parts):
        if isinstance(parts[0], np.ndarray):
            return np.concatenate(parts)
        if isinstance(parts[0], SparseTensor):
            return sparse_concat(0, list(parts))
        return concat(list(parts), 0)

    return nest.map_structure(join, *outputs)


def _array(value: TensorLike):
    return value.numpy() if isinstance(value, Tensor) else value


def _is_due(epoch: int, frequency: int):
    if isinstance(frequency, int):
        if frequency < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency


def _inputs(x):
    """A list of arrays as several inputs, a list of numbers as one."""
    if isinstance(x, list) and x and (hasattr(x[0], "shape") or isinstance(x[0], Variable)):
        return tuple(x)
    return np.asarray(x) if hasattr(x, "__array__") and not isinstance(x, (Tensor, Variable)) else x


def _numbers(logs):
    """The logs as floats; what is no scalar, as arrays."""
    found = {}
    for name, value in logs.items():
        if isinstance(value, dict):
            found |= _numbers(value)
        else:
            found[name] = _number(value)
    return found


def _number(value):
    if hasattr(value, "numpy"):
        value = value.numpy()
    return float(value) if getattr(value, "ndim", 0) == 0 else value


def _accept_no_data(x: TensorLike, step: str, what: str):
    """Keras 3 accepts that there is no data, unless it was to come from a generator."""
    if keras_2():
        raise ValueError(f"Unexpected result of `{step}_function` (Empty Logs): {what}.")
    if isinstance(x, Iterator):
        raise ValueError(
            "When passing a Python generator to a Keras model, the generator must yield at least one batch. "
            "Received an empty generator."
        )
