"""`tf.contrib.learn.Estimator`: an estimator that also takes arrays, and metrics at each evaluation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.compat import v1
from tapeflow.contrib import layers
from tapeflow.contrib.learn.input_functions import input_fn_of
from tapeflow.contrib.learn.interfaces import Evaluable, Trainable
from tapeflow.contrib.learn.metric_spec import MetricSpec
from tapeflow.contrib.learn.monitors import replace_monitors_with_hooks
from tapeflow.contrib.learn.spec import ModeKeys, ModelFnOps
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import public_methods
from tapeflow.estimator import Estimator as _Estimator
from tapeflow.estimator import EstimatorSpec
from tapeflow.train import SessionRunHook

if TYPE_CHECKING:
    from tapeflow.estimator.run_config import RunConfig
    from tapeflow.train.session_run_hook import SessionRunContext, SessionRunValues

def infer_real_valued_columns_from_input_fn(input_fn: Callable[..., Any]):
    """A column for each feature of an input function, of its width."""
    with v1.Graph().as_default():
        result = input_fn()
        if isinstance(result, v1.data.Dataset):
            result = v1.data.make_initializable_iterator(result).get_next()
        features = result[0] if isinstance(result, tuple) else result
        return layers.infer_real_valued_columns(features)


def infer_real_valued_columns_from_input(x: TensorLike):
    """A column for each feature of an array or of a dict of arrays."""
    return infer_real_valued_columns_from_input_fn(input_fn_of(x, None, None, None))


class _OnceIfConstant(SessionRunHook):
    """Ends predictions of constants after a batch: only queues, datasets and feeds have an end of their own."""

    def begin(self):
        graph = v1.get_default_graph()
        self._constant = not graph.get_collection(v1.GraphKeys.QUEUE_RUNNERS) and not any(
            "Iterator" in op.type or op.type == "PyFunc" for op in graph.get_operations()
        )

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        if self._constant:
            run_context.request_stop()


@public_methods
class Estimator(_Estimator, Evaluable, Trainable):
    """A model function and its folder.

    Args:
      model_fn: takes features and labels, and as it wishes `mode`, `params`, `config` and `model_dir`; returns
        ModelFnOps, an EstimatorSpec, or (predictions, loss, train_op).
      feature_engineering_fn: a function of features and labels that returns others.

    See `tf.estimator.Estimator`.
    """

    def __init__(
        self, model_fn: Callable[..., Any] | None = None, model_dir: str | None = None, config=None, params=None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        wanted = set(inspect.signature(model_fn).parameters)
        if params is not None and "params" not in wanted:
            raise ValueError(
                f"Estimator's model_fn ({model_fn}) does not have a params argument, but params ({params}) were "
                "passed to the Estimator's constructor."
            )
        self._more_metrics: dict = {}

        def call(
            features: Any, labels: Tensor | None, mode: str, config: RunConfig, params: dict[str, Any] | None = None
        ):
            if feature_engineering_fn is not None:
                features, labels = feature_engineering_fn(features, labels)
            offered = {"mode": mode, "params": params, "config": config, "model_dir": self.model_dir}
            made = model_fn(
                features, labels, **{name: offered[name] for name in offered if name in wanted}
            )
            return self._completed(_spec(made, mode), features, labels, mode)

        super().__init__(call, model_dir, config, params)

    def _completed(self, spec, features: Any, labels: Tensor | None, mode: str):
        """The spec with the metrics that this evaluation asks for."""
        if mode != ModeKeys.EVAL or not self._more_metrics:
            return spec
        found = dict(spec.eval_metric_ops)
        for key, metric in self._more_metrics.items():
            name, which = key if isinstance(key, tuple) else (key, None)
            if not isinstance(metric, MetricSpec):
                metric = MetricSpec(metric, prediction_key=which)
            made = metric.create_metric_ops(features, labels, spec.predictions)
            # A tensor of each batch counts by its mean.
            found[name] = made if isinstance(made, tuple) else v1.metrics.mean(made)
        return spec._replace(eval_metric_ops=found)

    def fit(
        self, x: TensorLike | None = None, y: TensorLike | None = None, input_fn: Callable[..., Any] | None = None,
        steps: int | None = None, batch_size=None, monitors=None, max_steps: int | None = None,
    ):  # fmt: skip
        """Train; see `tf.estimator.Estimator.train`.

        Args:
          x, y: arrays, or dicts of them, of which batches are drawn until the steps are made.
          input_fn: instead of arrays: returns features and labels.
          steps: how many steps; 0: one, for the first values of variables.
          batch_size: of the batches of arrays.
          monitors: hooks and monitors.
          max_steps: up to which step, instead of `steps`.
        """
        function = input_fn_of(x, y, input_fn, batch_size, shuffle=True, epochs=None)
        hooks = replace_monitors_with_hooks(monitors, self)
        return self.train(function, hooks, steps or (None if steps is None else 1), max_steps)

    def partial_fit(
        self, x: TensorLike | None = None, y: TensorLike | None = None, input_fn: Callable[..., Any] | None = None,
        steps: int = 1, batch_size: int | None = None, monitors=None,
    ):
        """`fit` for a step, or some."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(
        self, x=None, y=None, input_fn=None, feed_fn=None, batch_size=None, steps=None, metrics=None, name=None,
        checkpoint_path=None, hooks=None, log_progress=True,
    ):  # fmt: skip
        """The metrics of the model over arrays or an input function: a dict.

        Args:
          metrics: a dict of MetricSpecs or metric functions, by names or (name, key of a prediction).

        Raises ValueError for a `feed_fn`: data come from tensors.
        """
        if feed_fn is not None:
            raise ValueError("Feeding by feed_fn is not supported; use input_fn.")
        if callable(x) and input_fn is None:
            x, input_fn = None, x
        function = input_fn_of(x, y, input_fn, batch_size)
        self._more_metrics = dict(metrics or {})
        try:
            return super().evaluate(function, steps, hooks, checkpoint_path, name)
        finally:
            self._more_metrics = {}

    def predict(
        self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True, iterate_batches=False
    ):  # fmt: skip
        """What the model says of arrays or of an input function.

        Args:
          outputs: keys of predictions.
          as_iterable: whether predictions come one by one, else as arrays of all.
          iterate_batches: whether they come in batches.
        """
        function = input_fn_of(x, None, input_fn, batch_size)
        found = super().predict(
            function, outputs, [_OnceIfConstant()], yield_single_examples=as_iterable and not iterate_batches
        )
        if as_iterable:
            return found
        batches = list(found)
        if batches and isinstance(batches[0], dict):
            return {key: np.concatenate([batch[key] for batch in batches]) for key in batches[0]}
        return np.concatenate(batches)


def _spec(made: Any, mode: str):
    if isinstance(made, ModelFnOps):
        return made.estimator_spec()
    if isinstance(made, EstimatorSpec):
        return made
    if not isinstance(made, tuple) or len(made) != 3:
        raise ValueError(f"Unrecognized value returned by model_fn, please return ModelFnOps. Got {made!r}")
    predictions, loss, train_op = made
    return EstimatorSpec(mode, predictions, loss, train_op)


class SKCompat:
    """An estimator with the methods of scikit-learn."""

    def __init__(self, estimator: Estimator):
        self._estimator = estimator

    def fit(
        self, x: TensorLike, y: TensorLike, batch_size: int = 128, steps: int | None = None,
        max_steps: int | None = None, monitors=None,
    ):
        """Trains; returns this object."""
        function = input_fn_of(x, y, None, batch_size, shuffle=True, epochs=None)
        self._estimator.train(function, replace_monitors_with_hooks(monitors, self._estimator), steps, max_steps)
        return self

    def score(
        self, x: TensorLike, y: TensorLike, batch_size: int = 128, steps: int | None = None,
        metrics: Mapping[Any, Any] | None = None, name: str | None = None,
    ):
        """The metrics; see `Estimator.evaluate`."""
        function = input_fn_of(x, y, None, batch_size)
        if metrics is None:
            return self._estimator.evaluate(input_fn=function, steps=steps, name=name)
        return self._estimator.evaluate(input_fn=function, steps=steps, metrics=metrics, name=name)

    def predict(self, x: TensorLike, batch_size: int = 128, outputs=None):
        """The predictions of all examples: a dict of arrays, or an array."""
        function = input_fn_of(x, None, None, batch_size)
        found = list(_Estimator.predict(self._estimator, function, outputs, yield_single_examples=False))
        if found and isinstance(found[0], dict):
            return {key: np.concatenate([batch[key] for batch in found]) for key in found[0]}
        return np.concatenate(found)
