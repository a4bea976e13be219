"""Evaluation of checkpoints, once or as they appear."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import train as _train
from tapeflow.checkpoint.state import latest_checkpoint
from tapeflow.core import dtypes
from tapeflow.core.annotations import PathLike, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.train.session_run_hook import SessionRunArgs, SessionRunHook
from tapeflow.v1 import initializers, logging, summary
from tapeflow.v1.variable_getting import get_variable

if TYPE_CHECKING:
    from tapeflow.train.scaffold import Scaffold
    from tapeflow.train.session_run_hook import SessionRunContext, SessionRunValues

__all__ = [
    "StopAfterNEvalsHook", "SummaryAtEndHook", "checkpoints_iterator", "evaluate_once",
    "evaluate_repeatedly", "get_or_create_eval_step", "wait_for_new_checkpoint",
]  # fmt: skip


def get_or_create_eval_step():
    """The counter of evaluations of the graph."""

    found = get_default_graph().get_collection("eval_step")
    if len(found) == 1:
        return found[0]
    if found:
        raise ValueError('Multiple tensors added to tf.GraphKeys.EVAL_STEP')
    return get_variable(
        "eval_step", shape=[], dtype=dtypes.int64, initializer=initializers.zeros_initializer(),
        trainable=False, collections=[GraphKeys.LOCAL_VARIABLES, "eval_step"],
    )  # fmt: skip


def wait_for_new_checkpoint(checkpoint_dir: PathLike, last_checkpoint=None, seconds_to_sleep: int = 1, timeout=None):
    """The newest checkpoint, once it is another than the last; None where that takes too long."""
    end = None if timeout is None else time.time() + timeout
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path is not None and path != last_checkpoint:
            return path
        if end is not None and time.time() + seconds_to_sleep > end:
            return None
        time.sleep(seconds_to_sleep)


def checkpoints_iterator(checkpoint_dir, min_interval_secs: int = 0, timeout: int | None = None, timeout_fn=None):
    """Checkpoints as they appear; see `tf.train.checkpoints_iterator`."""
    return _train.checkpoints_iterator(checkpoint_dir, min_interval_secs, timeout, timeout_fn)


class StopAfterNEvalsHook(SessionRunHook):
    """Stops an evaluation after that many runs of its operations."""

    def __init__(self, num_evals: int, log_progress: bool = True):
        self._num_evals, self._log_progress = num_evals, log_progress
        self._evals_completed = None

    def _set_evals_completed_tensor(self, updated_eval_step: Any):
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext):
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        done = run_values.results["evals_completed"]
        if self._log_progress:
            total = "" if self._num_evals is None else f"/{self._num_evals}"
            logging.info("Evaluation [%d%s]", done, total)
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes a summary when an evaluation ends. Raises ValueError with neither a folder nor a writer."""

    def __init__(
        self, log_dir: str | None = None, summary_writer=None, summary_op: TensorLike | None = None,
        feed_dict: Mapping[Any, Any] | None = None,
    ):
        if not log_dir and summary_writer is None:
            raise ValueError("log_dir and summary_writer cannot both be None.")
        self._log_dir, self._writer = log_dir, summary_writer
        self._summary_op, self._feed_dict = summary_op, feed_dict
        self._global_step = None

    def begin(self):
        if self._summary_op is None:
            self._summary_op = summary.merge_all()
        self._global_step = _train.get_or_create_global_step()

    def after_create_session(self, session, coord):
        if self._writer is None and self._log_dir:
            self._writer = summary.FileWriterCache.get(self._log_dir)

    def end(self, session):
        if self._summary_op is not None:
            values, step = session.run([self._summary_op, self._global_step], self._feed_dict)
            self._writer.add_summary(values, step)
        if self._writer is not None:
            self._writer.flush()


def evaluate_once(
    checkpoint_path: str, master: str = "", scaffold: Scaffold | None = None, eval_ops=None,
    feed_dict: Mapping[Any, Any] | None = None, final_ops: dict[str, Any] | None = None,
    final_ops_feed_dict: Mapping[Any, Any] | None = None, hooks: Sequence[Any] | None = None, config=None,
):  # fmt: skip
    """Restores a checkpoint and runs `eval_ops` until a hook stops it; returns `final_ops`' values.

    Raises ValueError for operations without a hook that would stop them.
    """
    step = get_or_create_eval_step()
    hooks = list(hooks or ())
    if eval_ops is not None:
        update = step.assign_add(1)
        if isinstance(eval_ops, dict):
            eval_ops = {**eval_ops, "update_eval_step": update}
        else:
            many = isinstance(eval_ops, (tuple, list))
            eval_ops = [*(eval_ops if many else [eval_ops]), update]
        for hook in hooks:
            if isinstance(hook, StopAfterNEvalsHook):
                hook._set_evals_completed_tensor(convert_to_tensor(update))
    creator = _train.ChiefSessionCreator(
        scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, master=master, config=config
    )
    last = _train.FinalOpsHook(final_ops, final_ops_feed_dict)
    hooks.append(last)
    with _train.MonitoredSession(session_creator=creator, hooks=hooks) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    return last.final_ops_values


def evaluate_repeatedly(
    checkpoint_dir: PathLike, master: str = "", scaffold=None, eval_ops=None,
    feed_dict: Mapping[Any, Any] | None = None, final_ops=None, final_ops_feed_dict: Mapping[Any, Any] | None = None,
    eval_interval_secs: int = 60, hooks: Sequence[Any] | None = None, config=None, max_number_of_evaluations=None,
    timeout=None, timeout_fn=None,
):  # fmt: skip
    """`evaluate_once` of every checkpoint that appears; returns the values of the last."""
    final = None
    paths = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for count, path in enumerate(paths, 1):
        final = evaluate_once(
            path, master, scaffold, eval_ops, feed_dict, final_ops, final_ops_feed_dict, hooks, config
        )
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return final
