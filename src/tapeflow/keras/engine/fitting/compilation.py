"""How a model is to be trained: `compile`, and its config."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from tapeflow.checkpoint.following import attached
from tapeflow.core.public import public_methods
from tapeflow.core.release import keras_2
from tapeflow.core.structures import nest
from tapeflow.keras import optimizers, settings
from tapeflow.keras.engine.fitting import compile_config
from tapeflow.keras.engine.fitting.compiled import CompiledLoss, CompiledMetrics
from tapeflow.keras.engine.fitting.steps import are_metrics


@public_methods
class Compilation:
    """The part of Model that says how it is trained."""

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
        if are_metrics(loss_weights):  # the order of arguments before Keras 3
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


# Arguments of `compile` in Keras 2 that have no effect, but for the steps.
_OLD_COMPILE_ARGUMENTS = {
    "cloning", "distribute", "experimental_run_tf_function", "experimental_steps_per_execution", "from_serialized",
    "pss_evaluation_shards", "sample_weight_mode", "target_tensors",
}  # fmt: skip
