"""One step of training, evaluation or prediction, and the functions that run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeflow._native import Tensor
from tapeflow.autodiff.tape import GradientTape
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.keras.engine import calling
from tapeflow.keras.engine.fitting import compile_config
from tapeflow.keras.engine.fitting.arrays import joined, up_to
from tapeflow.keras.engine.fitting.epochs import Epochs
from tapeflow.keras.engine.fitting.packing import unpack_x_y_sample_weight
from tapeflow.keras.engine.fitting.stepping import Step

if TYPE_CHECKING:
    from tapeflow.keras.engine.fitting.batches import Batches


@public_methods
class Steps:
    """The part of Model that runs a step."""

    run_eagerly = jit_compile = False

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
        x, y, sample_weight = unpack_x_y_sample_weight(data)
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
        if type(self).compute_loss is Steps.compute_loss:
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
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        y_pred = self(x, training=False)
        mine = type(self).compute_loss is not Steps.compute_loss
        if mine or self.losses or (y is not None and self.loss is not None):
            self._loss_of(x, y, y_pred, sample_weight, False)
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def predict_step(self, data):
        """The outputs for one batch."""
        return self(unpack_x_y_sample_weight(data)[0], training=False)

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
            for data in up_to(iterator, many - 1):
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

    def _forget_functions(self):
        """Lets the next step be compiled anew."""
        for kind in ("train", "test", "predict"):
            self.__dict__[f"_{kind}_step"] = self.__dict__[f"{kind}_function"] = None

    def _traced(self):
        """The attributes that hold traced functions."""
        names = [name for kind in ("train", "test", "predict") for name in (f"_{kind}_step", f"{kind}_function")]
        return [name for name in names if name in self.__dict__]


def are_metrics(value: Tensor | None):
    """Whether what was given for loss_weights are metrics."""
    if isinstance(value, dict):
        return any(are_metrics(v) for v in value.values())
    if isinstance(value, (list, tuple)):
        return any(are_metrics(v) for v in value)
    return isinstance(value, str) or callable(value)
