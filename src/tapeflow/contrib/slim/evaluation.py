"""`slim.evaluation`: metrics over a dataset, for one checkpoint or for all that appear."""

from __future__ import annotations

from tapeflow import train as _train
from tapeflow.contrib.framework.variables import get_variables_to_restore
from tapeflow.contrib.training.evaluation import (
    checkpoints_iterator,
    wait_for_new_checkpoint,
)

__all__ = ["checkpoints_iterator", "evaluate_once", "evaluation_loop", "wait_for_new_checkpoint"]
_USE_DEFAULT = 0


def evaluate_once(
    master, checkpoint_path, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None, eval_op=None,
    eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=_USE_DEFAULT,
    summary_op_feed_dict=None, variables_to_restore=None, session_config=None, hooks=None,
):  # fmt: skip
    """Restores a checkpoint, runs `eval_op` num_evals times, writes a summary; returns `final_op`'s value."""
    from tapeflow.compat import v1

    merged = v1.summary.merge_all() if summary_op is _USE_DEFAULT else summary_op
    saver = _train.Saver(variables_to_restore or get_variables_to_restore())
    with v1.Session(master, config=session_config) as session:
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer(), v1.tables_initializer()])
        saver.restore(session, checkpoint_path)
        if initial_op is not None:
            session.run(initial_op, initial_op_feed_dict)
        coordinator = _train.Coordinator()
        threads = _train.start_queue_runners(sess=session, coord=coordinator)
        try:
            for _ in range(num_evals if eval_op is not None else 0):
                session.run(eval_op, eval_op_feed_dict)
            final = None if final_op is None else session.run(final_op, final_op_feed_dict)
            if merged is not None and logdir:
                writer = v1.summary.FileWriter(logdir)
                step = v1.train.get_global_step()
                number = None if step is None else session.run(step)
                writer.add_summary(session.run(merged, summary_op_feed_dict), number)
                writer.close()
        finally:
            coordinator.request_stop()
            coordinator.join(threads, ignore_live_threads=True)
    return final


def evaluation_loop(
    master, checkpoint_dir, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None,
    init_fn=None, eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None,
    summary_op=_USE_DEFAULT, summary_op_feed_dict=None, variables_to_restore=None, eval_interval_secs=60,
    max_number_of_evaluations=None, session_config=None, timeout=None, timeout_fn=None, hooks=None,
):  # fmt: skip
    """`evaluate_once` of every checkpoint that appears; returns the value of the last."""
    final = None
    paths = checkpoints_iterator(checkpoint_dir, eval_interval_secs, timeout, timeout_fn)
    for count, path in enumerate(paths, 1):
        final = evaluate_once(
            master, path, logdir, num_evals, initial_op, initial_op_feed_dict, eval_op, eval_op_feed_dict,
            final_op, final_op_feed_dict, summary_op, summary_op_feed_dict, variables_to_restore,
            session_config, hooks,
        )  # fmt: skip
        if max_number_of_evaluations is not None and count >= max_number_of_evaluations:
            break
    return final
