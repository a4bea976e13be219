"""`Experiment`: an estimator with its data, and `learn_runner.run`, which carries it out."""

from __future__ import annotations

import collections
import inspect
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.contrib.learn.estimator import Estimator
from tapeflow.core.annotations import PathLike
from tapeflow.estimator import Estimator as _CoreEstimator
from tapeflow.estimator import RunConfig as _CoreRunConfig
from tapeflow.train import CheckpointSaverListener, latest_checkpoint

if TYPE_CHECKING:
    from tapeflow.contrib.learn.canned import LinearRegressor
    from tapeflow.contrib.learn.spec import RunConfig
    from tapeflow.contrib.training.hparams import HParams
    from tapeflow.graph.run.session import Session


class ExportStrategy(
    collections.namedtuple("ExportStrategy", "name export_fn strip_default_attrs", defaults=(None,))
):
    """How a model is exported: a name, and a function of an estimator, a folder, a checkpoint and its metrics."""

    def export(
        self, estimator: Estimator, export_path: str, checkpoint_path: str | None = None,
        eval_result: dict[str, Any] | None = None,
    ):
        """Export; return the path.

        Args:
          estimator: what to export.
          export_path: the folder of exports.
          checkpoint_path, eval_result: what `export_fn` gets where it has arguments of these names.

        Raises:
          ValueError: for a function that takes metrics without a checkpoint.
        """
        takes = inspect.signature(self.export_fn).parameters
        if "eval_result" in takes and "checkpoint_path" not in takes:
            raise ValueError("An export_fn accepting eval_result must also accept checkpoint_path.")
        offered = {
            "checkpoint_path": checkpoint_path, "eval_result": eval_result,
            "strip_default_attrs": self.strip_default_attrs,
        }  # fmt: skip
        return self.export_fn(estimator, export_path, **{k: value for k, value in offered.items() if k in takes})


class _Evaluates(CheckpointSaverListener):
    """Evaluates each checkpoint but the one before the first step."""

    def __init__(self, evaluate: Callable[..., Any]):
        self._evaluate, self._first = evaluate, None

    def after_save(self, session: Session, global_step_value: Any):
        if self._first is None:
            self._first = global_step_value
        elif global_step_value != self._first:
            self._evaluate(global_step_value)


class Experiment:
    """An estimator, what it is trained on, and what it is evaluated on.

    Args:
      train_input_fn, eval_input_fn: input functions.
      eval_metrics: a dict of MetricSpecs, for estimators of `tf.contrib.learn`.
      train_steps: up to which step it is trained; None: to the end of the data.
      eval_steps: batches of an evaluation; None: all.
      train_monitors, eval_hooks, saving_listeners: hooks and listeners.
      min_eval_frequency: 0: training is not interrupted for evaluations; else each checkpoint is evaluated.
      export_strategies: an ExportStrategy or a list of them, for the end of a training.
      train_steps_per_iteration: steps between evaluations of `continuous_train_and_eval`.
      eval_delay_secs, continuous_eval_throttle_secs, delay_workers_by_global_step, local_eval_frequency: for several
        machines; nobody waits on one.

    Raises ValueError for an object that is no estimator, and for metrics that it cannot take; NotImplementedError where
    `checkpoint_and_export` is set.
    """

    def __init__(
        self, estimator: LinearRegressor | Estimator, train_input_fn: Callable[..., Any] | None,
        eval_input_fn: Callable[..., Any] | None, eval_metrics: dict[str, Any] | None = None,
        train_steps: int | None = None, eval_steps: int = 100, train_monitors=None,
        eval_hooks: Sequence[Any] | None = None, local_eval_frequency=None, eval_delay_secs: int = 120,
        continuous_eval_throttle_secs: int = 60, min_eval_frequency=None, delay_workers_by_global_step: bool = False,
        export_strategies: ExportStrategy | None = None, train_steps_per_iteration=None,
        checkpoint_and_export: bool = False, saving_listeners: Sequence[Any] | None = None,
    ):  # fmt: skip
        if not hasattr(estimator, "evaluate") or not (hasattr(estimator, "train") or hasattr(estimator, "fit")):
            raise ValueError("`estimator` must implement `tf.contrib.learn.Evaluable`.")
        if eval_metrics is not None and not isinstance(estimator, Estimator):
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use `eval_metric_ops` in "
                "`tf.estimator.EstimatorSpec` instead."
            )
        if checkpoint_and_export:
            raise NotImplementedError("`checkpoint_and_export` is not supported: use `export_strategies`.")
        self._estimator, self._eval_metrics = estimator, eval_metrics
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._train_steps, self._eval_steps = train_steps, eval_steps
        self._monitors, self._eval_hooks = list(train_monitors or []), list(eval_hooks or [])
        self._frequency, self._listeners = min_eval_frequency, list(saving_listeners or [])
        self._per_iteration = train_steps_per_iteration
        self.reset_export_strategies(export_strategies)

    @property
    def estimator(self):
        """The estimator."""
        return self._estimator

    @property
    def eval_metrics(self):
        """The metrics."""
        return self._eval_metrics

    @property
    def train_steps(self):
        """Up to which step it is trained."""
        return self._train_steps

    @property
    def eval_steps(self):
        """Batches of an evaluation."""
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks):
        """Adds hooks to trainings."""
        self._monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: ExportStrategy | None = None):
        """Sets other export strategies; returns the last ones."""
        new = new_export_strategies
        last = getattr(self, "_strategies", [])
        self._strategies = [new] if isinstance(new, ExportStrategy) else list(new or [])
        return last

    def train(self, delay_secs=None):
        """Trains up to the last step, after as many seconds as are given; returns the estimator."""
        time.sleep(delay_secs or 0)
        return self._train(self._train_steps)

    def _train(self, max_steps, listeners=()):
        if hasattr(self._estimator, "fit") and not isinstance(self._estimator, _CoreEstimator):
            return self._estimator.fit(
                input_fn=self._train_input_fn, max_steps=max_steps, monitors=list(self._monitors)
            )
        return self._estimator.train(
            self._train_input_fn, hooks=list(self._monitors), max_steps=max_steps,
            saving_listeners=[*self._listeners, *listeners],
        )  # fmt: skip

    def evaluate(self, delay_secs=None, name: str | None = None):
        """The metrics of the last checkpoint, after as many seconds as are given."""
        time.sleep(delay_secs or 0)
        words = {} if self._eval_metrics is None else {"metrics": self._eval_metrics}
        return self._estimator.evaluate(
            input_fn=self._eval_input_fn, steps=self._eval_steps, name=name, hooks=self._eval_hooks, **words
        )

    def train_and_evaluate(self):
        """Trains, with evaluations of its checkpoints, exports; returns (metrics, paths of exports)."""
        listeners = [] if self._frequency == 0 else [_Evaluates(lambda step: self.evaluate(name="one_pass"))]
        self._train(self._train_steps, listeners)
        result = self.evaluate(name="one_pass")
        return result, self._export(result)

    local_run = train_and_evaluate

    def continuous_train_and_eval(self, continuous_eval_predicate_fn=None):
        """Trains and evaluates in turn until the last step, or until a function of the metrics returns False."""
        result, step = None, 0
        while self._train_steps is None or step < self._train_steps:
            if continuous_eval_predicate_fn is not None and not continuous_eval_predicate_fn(result):
                break
            more = self._per_iteration or (self._train_steps or 1000) - step
            goal = step + more if self._train_steps is None else min(step + more, self._train_steps)
            self._train(goal)
            result = self.evaluate(name="one_pass")
            if int(result["global_step"]) <= step:  # the data have ended
                break
            step = int(result["global_step"])
        return result, self._export(result)

    def _export(self, result: dict[str, Any]):
        folder = os.path.join(self._estimator.model_dir, "export")
        path = latest_checkpoint(self._estimator.model_dir)
        return [
            strategy.export(self._estimator, os.path.join(folder, strategy.name), path, result)
            for strategy in self._strategies
        ]

    def test(self):
        """One step of training, one batch of evaluation, and an export."""
        steps, self._eval_steps = self._eval_steps, 1
        try:
            self._train(1)
            result = self.evaluate(name="one_pass")
        finally:
            self._eval_steps = steps
        return result, self._export(result)


def run(
    experiment_fn: Callable[..., Any], output_dir: PathLike | None = None, schedule: str | None = None,
    run_config: RunConfig | None = None, hparams: HParams | None = None,
):
    """Makes an Experiment and carries it out.

    Args:
      experiment_fn: a function of `output_dir`, or of `run_config` and `hparams`.
      output_dir, run_config: a folder, or a RunConfig with a `model_dir`; one of both.
      schedule: the name of a method of Experiment; by default "train_and_evaluate".

    Raises ValueError for both or none of the two and for unknown methods, TypeError for what is no Experiment.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`.")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f"Experiment builder \"{experiment_fn}\" is not callable.")
    if run_config is not None:
        if not isinstance(run_config, _CoreRunConfig):
            raise ValueError(f"`run_config` must be `tf.contrib.learn.RunConfig` instance. Got {run_config}")
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory in `run_config`.")
        experiment = experiment_fn(run_config, hparams)
    else:
        if hparams is not None:
            raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
        experiment = experiment_fn(output_dir)
    if not isinstance(experiment, Experiment):
        raise TypeError(
            f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead."
        )
    task = getattr(experiment, schedule or "train_and_evaluate", None)
    if not callable(task):
        raise ValueError(f"Schedule references non-existent task {schedule}")
    return task()


