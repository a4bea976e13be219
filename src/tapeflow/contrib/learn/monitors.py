"""`tf.contrib.learn.monitors`: hooks from before there were hooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.learn.base_monitors import (
    BaseMonitor,
    CaptureVariable,
    EveryN,
    LoggingTrainable,
    RunHookAdapterForMonitors,
    SummarySaver,
    get_default_monitors,
)
from tapeflow.contrib.learn.input_functions import input_fn_of
from tapeflow.core.annotations import TensorLike
from tapeflow.train import (
    CheckpointSaverHook,
    LoggingTensorHook,
    NanTensorHook,
    SessionRunArgs,
    SessionRunHook,
    StepCounterHook,
    StopAtStepHook,
)

if TYPE_CHECKING:
    from tapeflow.train.session_run_hook import SessionRunContext

__all__ = [
    "BaseMonitor", "CaptureVariable", "CheckpointSaver", "EveryN", "LoggingTrainable", "NanLoss", "PrintTensor",
    "RunHookAdapterForMonitors", "StepCounter", "StopAtStep", "SummarySaver", "ValidationMonitor",
    "get_default_monitors", "replace_monitors_with_hooks",
]  # fmt: skip


class StopAtStep(StopAtStepHook):
    """Stops after some steps, or at a step."""


class NanLoss(NanTensorHook):
    """Stops where the loss is not a number."""


class PrintTensor(LoggingTensorHook):
    """Logs tensors, by names or a dict, in the first steps and then every so many.

    Args:
      tensor_names: names of tensors, or a dict of tensors by what they are called in the log.
      every_n: the number of steps from one to the next.
      first_n: how many of the first steps are logged.
    """

    def __init__(self, tensor_names: Sequence[str], every_n: int = 100, first_n: int = 1):
        super().__init__(tensor_names, every_n_iter=every_n)
        self._first = first_n

    def before_run(self, run_context):
        super().before_run(run_context)
        self._triggered = self._triggered or self._count < self._first
        return SessionRunArgs(self._current) if self._triggered else None


class ValidationMonitor(SessionRunHook):
    """Evaluates the newest checkpoint during a training, and stops it where a metric gets no better.

    Args:
      x, y, input_fn, batch_size: what to evaluate on; see `Estimator.evaluate`.
      eval_steps: batches; None: all.
      every_n_steps: how often it looks for a new checkpoint.
      metrics, hooks, name: of the evaluations.
      early_stopping_rounds: after how many steps without a better metric it stops; None: never.
      early_stopping_metric, early_stopping_metric_minimize: which metric, and whether less is better.
    """

    def __init__(
        self, x: TensorLike | None = None, y: TensorLike | None = None, input_fn=None, batch_size=None,
        eval_steps: int | None = None, every_n_steps: int = 100, metrics: Mapping[Any, Any] | None = None,
        hooks: Sequence[Any] | None = None, early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss", early_stopping_metric_minimize: bool = True, name: str | None = None,
    ):  # fmt: skip
        self._input_fn = input_fn_of(x, y, input_fn, batch_size)
        self._steps, self._every, self._metrics, self._hooks = eval_steps, every_n_steps, metrics, hooks
        self._rounds, self._metric, self._name = early_stopping_rounds, early_stopping_metric, name
        self._sign = 1 if early_stopping_metric_minimize else -1
        self._best, self._best_step, self._seen, self._last = None, None, None, None
        self._estimator = None
        self.early_stopped = False

    def set_estimator(self, estimator):
        """Sets what is evaluated."""
        self._estimator = estimator

    @property
    def best_step(self):
        """The step of the best metric."""
        return self._best_step

    @property
    def best_value(self):
        """The best metric."""
        return None if self._best is None else self._sign * self._best

    def begin(self):
        self._step = v1.train.get_global_step()

    def before_run(self, run_context: SessionRunContext):
        return v1.train.SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        step = int(run_values.results)
        if self._last is not None and step < self._last + self._every:
            return
        self._last = step
        path = self._estimator.latest_checkpoint()
        if path is None or path == self._seen:
            return
        self._seen = path
        words = {} if self._metrics is None else {"metrics": self._metrics}
        found = self._estimator.evaluate(
            input_fn=self._input_fn, steps=self._steps, checkpoint_path=path, name=self._name, hooks=self._hooks,
            **words,
        )  # fmt: skip
        if self._rounds is None:
            return
        if self._metric not in found:
            raise ValueError(
                f"Metric {self._metric} missing from outputs {set(found)}."
            )
        value = self._sign * found[self._metric]
        if self._best is None or value < self._best:
            self._best, self._best_step = value, step
        elif step - self._best_step >= self._rounds:
            self.early_stopped = True
            run_context.request_stop()


class CheckpointSaver(CheckpointSaverHook):
    """Saves checkpoints."""


class StepCounter(StepCounterHook):
    """Counts steps for a second."""

    def __init__(self, every_n_steps: int = 100, output_dir: str | None = None, summary_writer: Any = None):
        super().__init__(every_n_steps, None, output_dir, summary_writer)


def replace_monitors_with_hooks(monitors_or_hooks: Sequence[Any] | None, estimator: Any) -> list[Any]:
    """Return the hooks, and one that calls the monitors among them; those that evaluate know the estimator now.

    Args:
      monitors_or_hooks: BaseMonitors and SessionRunHooks; None: none.
      estimator: whose training they are for.
    """
    given = list(monitors_or_hooks or ())
    for each in given:
        if hasattr(each, "set_estimator"):
            each.set_estimator(estimator)
    monitors = [each for each in given if isinstance(each, BaseMonitor)]
    hooks = [each for each in given if not isinstance(each, BaseMonitor)]
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks
