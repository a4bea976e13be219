"""Checkpoints of the iterators of a graph while it trains (1.x)."""

from __future__ import annotations

from typing import Any

from tapeflow.checkpoint.saver import Saver
from tapeflow.checkpoint.state import latest_checkpoint
from tapeflow.core.public import public_methods
from tapeflow.data.iteration.graph_iterating import ITERATORS
from tapeflow.data.iteration.saveable import IteratorSaveable
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.train.saving_hooks import CheckpointSaverHook
from tapeflow.train.session_run_hook import SessionRunHook


class _OwnSaver(Saver):
    """A Saver that notes its checkpoints in a file of their own."""

    def __init__(self, saveables: list[Any], latest_filename: str):
        super().__init__(saveables)
        self._latest_filename = latest_filename

    def save(
        self, sess: Any, save_path: Any, global_step: Any = None, latest_filename: Any = None, *args: Any, **kwargs: Any
    ):
        """See Saver."""
        return super().save(sess, save_path, global_step, latest_filename or self._latest_filename, *args, **kwargs)


@public_methods
class CheckpointInputPipelineHook(SessionRunHook):
    """Save where the iterators of a graph are, and go on from there when training is resumed.

    Their checkpoints are beside those of the model, as often as those, under names of their own: those of the model
    do not grow, and what evaluates the model keeps its own iterators.

    Args:
      estimator: an `Estimator`, for its folder and its configuration.
    """

    def __init__(self, estimator: Any):
        config = estimator.config
        prefix = "input"
        if config.num_worker_replicas > 1:
            prefix += f"_{config.task_type}_{config.task_id}"
        self._model_dir, self._basename = estimator.model_dir, f"{prefix}.ckpt"
        self._every = {"save_secs": config.save_checkpoints_secs, "save_steps": config.save_checkpoints_steps}
        self._latest_filename = f"checkpoint_{prefix}"
        self._first_run = True

    def begin(self):
        saveables = [IteratorSaveable(handle) for handle in get_default_graph().get_collection(ITERATORS)]
        self._saver = _OwnSaver(saveables, self._latest_filename)
        self._hook = CheckpointSaverHook(
            self._model_dir, saver=self._saver, checkpoint_basename=self._basename, save_graph_def=False, **self._every
        )
        self._hook.begin()

    def before_run(self, run_context: Any):
        if self._first_run:
            self._first_run = False
            path = latest_checkpoint(self._model_dir, self._latest_filename)
            if path:
                self._saver.restore(run_context.session, path)
            else:
                self._hook.after_create_session(run_context.session, None)
        return self._hook.before_run(run_context)

    def after_run(self, run_context: Any, run_values: Any):
        self._hook.after_run(run_context, run_values)

    def end(self, session: Any):
        self._hook.end(session)
