"""`slim.evaluation`: metrics over a dataset, for one checkpoint or for all that appear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import train as _train
from tapeflow.compat import v1
from tapeflow.contrib.framework.variables import get_variables_to_restore
from tapeflow.core.annotations import PathLike
from tapeflow.train.global_step import get_or_create_global_step
from tapeflow.v1.evaluation import (
    SummaryAtEndHook,
    checkpoints_iterator,
    wait_for_new_checkpoint,
)

__all__ = ["checkpoints_iterator", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint"]
_USE_DEFAULT = 0


class _Restored(_train.SessionCreator):
    """Makes the session of an evaluation: with the values of a checkpoint, and what comes before the first run."""

    def __init__(self, master, config, begin, saver, path, after):
        self._master, self._config, self._begin = master, config, begin
        self._saver, self._path, self._after = saver, path, after

    def create_session(self):
        session = v1.Session(self._master, config=self._config)
        session.run(self._begin)
        self._saver.restore(session, self._path)
        self._after(session)
        return session


def evaluate_once(
    master, checkpoint_path, logdir, num_evals: int = 1, initial_op=None, initial_op_feed_dict=None,
    eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=_USE_DEFAULT,
    summary_op_feed_dict=None, variables_to_restore=None, session_config=None, hooks: Sequence[Any] | None = None,
):  # fmt: skip
    """Restores a checkpoint, runs `eval_op` num_evals times, writes a summary; returns `final_op`'s value.

    `hooks` are SessionRunHooks that see these runs, and may stop them.
    """

    def begin(session):
        if initial_op is not None:
            session.run(initial_op, initial_op_feed_dict)

    return _evaluated(
        master, checkpoint_path, logdir, num_evals, begin, eval_op, eval_op_feed_dict, final_op,
        final_op_feed_dict, summary_op, summary_op_feed_dict, variables_to_restore, session_config, hooks,
    )  # fmt: skip


def _evaluated(
    master, path: PathLike, logdir, num_evals, begin, eval_op, eval_feed, final_op, final_feed, summary_op,
    summary_feed,
    variables_to_restore, config, hooks,
):  # fmt: skip

    saver = _train.Saver(variables_to_restore or get_variables_to_restore())
    merged = v1.summary.merge_all() if summary_op is _USE_DEFAULT else summary_op
    final = _train.FinalOpsHook(final_op, final_feed)
    all_hooks = [*(hooks or ()), final]
    if merged is not None and logdir:
        all_hooks.append(SummaryAtEndHook(logdir, summary_op=merged, feed_dict=summary_feed))
        get_or_create_global_step()
    start = [v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()]
    creator = _Restored(master, config, start, saver, path, begin)
    with _train.MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
        for _ in range(num_evals if eval_op is not None else 0):
            if session.should_stop():
                break
            session.run(eval_op, eval_feed)
    return final.final_ops_values


def evaluation_loop(
    master, checkpoint_dir, logdir, num_evals: int = 1, initial_op=None, initial_op_feed_dict=None,
    init_fn=None, eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None,
    summary_op=_USE_DEFAULT, summary_op_feed_dict=None, variables_to_restore=None,
    eval_interval_secs: int = 60, max_number_of_evaluations=None, session_config=None, timeout=None,
    timeout_fn=None, hooks: Sequence[Any] | None = None,
):  # fmt: skip
    """`evaluate_once` of every checkpoint that appears; returns the value of the last.

    `init_fn(session)` is called after `initial_op`, each time.
    """

    def begin(session):
        if initial_op is not None:
            session.run(initial_op, initial_op_feed_dict)
        if init_fn is not None:
            init_fn(session)

    final = None
    paths = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for count, path in enumerate(paths, 1):
        final = _evaluated(
            master, path, logdir, num_evals, begin, eval_op, eval_op_feed_dict, final_op, final_op_feed_dict,
            summary_op, summary_op_feed_dict, variables_to_restore, session_config, hooks,
        )  # fmt: skip
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return final
