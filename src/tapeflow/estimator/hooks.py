"""Hooks of estimators: evaluations during a training, and stopping at a step of a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import train
from tapeflow.core.public import boundaries
from tapeflow.estimator.estimator import Estimator
from tapeflow.train.session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from tapeflow.estimator.of_heads import LinearEstimator
    from tapeflow.graph.run.session import Session
    from tapeflow.train.coordinator import Coordinator
    from tapeflow.train.session_run_hook import SessionRunContext, SessionRunValues


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates an estimator within its training, every so many steps and at the end.

    What is evaluated is the newest checkpoint, which the hook has written first.

    Args:
      input_fn: of the evaluation.
      steps, hooks, name: as in `Estimator.evaluate`.
      every_n_iter: how often.

    Raises ValueError for numbers that are not positive, and where the config names a cluster of several.
    """

    def __init__(
        self, estimator: LinearEstimator, input_fn: Callable[..., Any], steps: int | None = None,
        hooks: Sequence[Any] | None = None, name: str | None = None, every_n_iter: int = 100,
    ):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if not isinstance(estimator, Estimator):
            raise TypeError(f"estimator must be tf.estimator.Estimator; got {type(estimator)}")
        if estimator.config.num_ps_replicas > 0 or estimator.config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator, self._input_fn, self._steps = estimator, input_fn, steps
        self._hooks, self._name, self._every = hooks, name, every_n_iter

    def begin(self):
        self._saver = train.Saver(save_relative_paths=True)
        self._step = train.get_global_step()
        self._count = 0

    def _evaluate(self, session: Session):
        path = self._saver.save(
            session, f"{self._estimator.model_dir}/model.ckpt", self._step, write_meta_graph=False
        )
        self._estimator.evaluate(self._input_fn, self._steps, self._hooks, path, self._name)

    def after_create_session(self, session: Session, coord: Coordinator):
        self._evaluate(session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        self._count += 1
        if self._count % self._every == 0:
            self._evaluate(run_context.session)

    def end(self, session: Session):
        self._evaluate(session)


class _StopAtCheckpointStep(SessionRunHook):
    def __init__(self, folder, last_step, wait):
        self._folder, self._last_step, self._wait = folder, last_step, wait

    def begin(self):
        self._step = train.get_global_step()

    def before_run(self, run_context):
        return train.SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        step = int(run_values.results) + 1
        if step < self._last_step:
            return
        if int(run_context.session.run(self._step)) < self._last_step:
            return
        while True:
            path = train.latest_checkpoint(self._folder)
            known = int(train.load_variable(path, "global_step")) if path else -1
            if known >= self._last_step or self._wait is None:
                break
            time.sleep(self._wait)
        run_context.request_stop()


def make_stop_at_checkpoint_step_hook(estimator, last_step, wait_after_file_check_secs: int = 30):
    """A hook that stops at a step, and not before a checkpoint of it is there where others train too.

    Args:
      last_step: the step.
      wait_after_file_check_secs: how long between two looks.
    """
    if estimator.config.is_chief:
        return train.StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStep(estimator.model_dir, last_step, wait_after_file_check_secs)


boundaries(globals())
