"""Hooks that stop a training by what its evaluations found."""

from __future__ import annotations

import collections
import glob
import operator
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tapeflow import train
from tapeflow.core.annotations import PathLike
from tapeflow.core.public import boundaries
from tapeflow.estimator.estimator import Estimator
from tapeflow.train.session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from tapeflow.estimator.of_heads import LinearEstimator
    from tapeflow.train.session_run_hook import SessionRunContext, SessionRunValues


class _StopOnPredicate(SessionRunHook):
    """Asks a function every so many steps or seconds."""

    def __init__(self, should_stop_fn: Callable[..., Any], every_secs, every_steps):
        self._should_stop_fn = should_stop_fn
        self._timer = train.SecondOrStepTimer(every_secs=every_secs, every_steps=every_steps)

    def begin(self):
        self._timer.reset()
        self._step = train.get_global_step()

    def before_run(self, run_context: SessionRunContext):
        return train.SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        step = run_values.results
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._should_stop_fn():
                run_context.request_stop()


def make_early_stopping_hook(
    estimator: LinearEstimator, should_stop_fn: Callable[..., Any], run_every_secs: int | None = 60,
    run_every_steps: int | None = None,
):
    """A hook that stops a training where a function returns True.

    Args:
      run_every_secs, run_every_steps: how often it is asked; one of both.

    Raises TypeError for other objects, ValueError for both numbers or none.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if not callable(should_stop_fn):
        raise TypeError(f"`should_stop_fn` must be callable. Got: {type(should_stop_fn)}")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if run_every_secs is None and run_every_steps is None:
        raise ValueError("One of `run_every_secs` or `run_every_steps` must be set.")
    return _StopOnPredicate(should_stop_fn, run_every_secs, run_every_steps)


def read_eval_metrics(eval_dir: str):
    """An OrderedDict of the metrics of all evaluations that wrote to a folder, dicts by step."""
    found: dict = collections.defaultdict(dict)
    for path in sorted(glob.glob(os.path.join(glob.escape(eval_dir), "*.tfevents.*"))):
        for event in train.summary_iterator(path):
            for value in event.summary.value if event.HasField("summary") else ():
                if value.HasField("simple_value"):
                    found[event.step][value.tag] = value.simple_value
    return collections.OrderedDict(sorted((step, values) for step, values in found.items() if values))


def _known(estimator: LinearEstimator, metric_name: str, eval_dir: str | None, min_steps: int):
    """(step, value) of evaluations from `min_steps` on."""
    metrics = read_eval_metrics(eval_dir or estimator.eval_dir())
    return [(step, found[metric_name]) for step, found in metrics.items() if step >= min_steps]


def _threshold(
    better: Callable[..., Any], estimator: LinearEstimator, metric_name: str, threshold: float, eval_dir,
    min_steps: int, secs, steps: int | None,
):
    def stop():
        known = _known(estimator, metric_name, eval_dir, min_steps)
        return any(better(value, threshold) for _, value in known)

    return make_early_stopping_hook(estimator, stop, secs, steps)


def stop_if_higher_hook(
    estimator, metric_name: str, threshold: float, eval_dir: PathLike | None = None, min_steps: int = 0,
    run_every_secs: int = 60, run_every_steps: int | None = None,
):
    """A hook that stops where a metric is higher than a threshold, from `min_steps` on."""
    return _threshold(
        operator.gt, estimator, metric_name, threshold, eval_dir, min_steps, run_every_secs, run_every_steps
    )  # fmt: skip


def stop_if_lower_hook(
    estimator: LinearEstimator, metric_name: str, threshold: float, eval_dir: PathLike | None = None,
    min_steps: int = 0, run_every_secs: int | None = 60, run_every_steps: int | None = None,
):
    """A hook that stops where a metric is lower than a threshold, from `min_steps` on."""
    return _threshold(
        operator.lt, estimator, metric_name, threshold, eval_dir, min_steps, run_every_secs, run_every_steps
    )  # fmt: skip


def _no_change(
    better: Callable[..., Any], estimator: LinearEstimator, metric_name: str, most: int, eval_dir, min_steps: int,
    secs, steps: int | None,
):
    def stop():
        best = best_step = None
        for step, value in _known(estimator, metric_name, eval_dir, min_steps):
            if best is None or better(value, best):
                best, best_step = value, step
            elif step - best_step >= most:
                return True
        return False

    return make_early_stopping_hook(estimator, stop, secs, steps)


def stop_if_no_increase_hook(
    estimator: LinearEstimator, metric_name: str, max_steps_without_increase: int, eval_dir: PathLike | None = None,
    min_steps: int = 0, run_every_secs: int | None = 60, run_every_steps: int | None = None,
):  # fmt: skip
    """A hook that stops where a metric has not risen for some steps."""
    return _no_change(
        operator.gt, estimator, metric_name, max_steps_without_increase, eval_dir, min_steps, run_every_secs,
        run_every_steps,
    )  # fmt: skip


def stop_if_no_decrease_hook(
    estimator: LinearEstimator, metric_name: str, max_steps_without_decrease: int, eval_dir: PathLike | None = None,
    min_steps: int = 0, run_every_secs: int | None = 60, run_every_steps: int | None = None,
):  # fmt: skip
    """A hook that stops where a metric has not fallen for some steps."""
    return _no_change(
        operator.lt, estimator, metric_name, max_steps_without_decrease, eval_dir, min_steps, run_every_secs,
        run_every_steps,
    )  # fmt: skip


boundaries(globals())
