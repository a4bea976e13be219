"""`slim.learning`: a train operation, and the loop that runs it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import train as _train
from tapeflow.compat import v1
from tapeflow.contrib.training.training import (
    add_gradients_summaries,
    clip_gradient_norms,
    multiply_gradients,
)
from tapeflow.contrib.training.training import create_train_op as _create_train_op
from tapeflow.core.annotations import IntLike, TensorLike, Variable
from tapeflow.core.files.whole_files import replace_file
from tapeflow.graph.run.timeline import Timeline
from tapeflow.train.global_step import get_or_create_global_step
from tapeflow.v1 import logging

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session
    from tapeflow.train.sync_replicas import SyncReplicasOptimizer

__all__ = [
    "add_gradients_summaries", "clip_gradient_norms", "create_train_op", "multiply_gradients", "train",
    "train_step",
]  # fmt: skip
_USE_DEFAULT = 0


def create_train_op(
    total_loss: TensorLike, optimizer: Any, global_step: int = _USE_DEFAULT, update_ops: Sequence[Any] | None = None,
    variables_to_train=None, clip_gradient_norm: float = 0, summarize_gradients: bool = False,
    gate_gradients: int = 1, aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
    gradient_multipliers: Mapping[Any, Any] | None = None, check_numerics: bool = True,
):  # fmt: skip
    """An operation that trains and gives the loss; see `contrib.training.create_train_op`."""

    def transform(pairs: Sequence[Any]):
        if gradient_multipliers:
            pairs = multiply_gradients(pairs, gradient_multipliers)
        return clip_gradient_norms(pairs, clip_gradient_norm) if clip_gradient_norm > 0 else pairs

    more = {} if global_step is _USE_DEFAULT else {"global_step": global_step}
    return _create_train_op(
        total_loss, optimizer, update_ops=update_ops, variables_to_train=variables_to_train,
        transform_grads_fn=transform, summarize_gradients=summarize_gradients,
        gate_gradients=gate_gradients, aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops, check_numerics=check_numerics, **more,
    )  # fmt: skip


def train_step(sess, train_op, global_step, train_step_kwargs):
    """One step: (loss, whether to stop); with "should_trace" among the settings also a trace of it, in "logdir"."""

    start = time.time()
    wanted = train_step_kwargs or {}
    traced = "should_trace" in wanted and bool(sess.run(wanted["should_trace"]))
    options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE) if traced else None
    metadata = v1.RunMetadata() if traced else None
    loss, step = sess.run([train_op, global_step], options=options, run_metadata=metadata)
    if traced:
        path = os.path.join(wanted["logdir"], f"tf_trace-{int(step)}.json")
        replace_file(path, Timeline(metadata.step_stats).generate_chrome_trace_format().encode())
        if wanted.get("summary_writer") is not None:
            wanted["summary_writer"].add_run_metadata(metadata, f"run_metadata-{int(step)}")
    if "should_log" in wanted and sess.run(wanted["should_log"]):
        logging.info(
            "global step %d: loss = %.4f (%.3f sec/step)", step, loss, time.time() - start
        )
    return loss, bool(sess.run(wanted["should_stop"])) if "should_stop" in wanted else False


def train(
    train_op, logdir, train_step_fn=train_step, train_step_kwargs=_USE_DEFAULT, log_every_n_steps: int = 1,
    graph=None, master: str = "", is_chief: bool = True, global_step: Variable | None = None, number_of_steps=None,
    init_op=_USE_DEFAULT, init_feed_dict=None, local_init_op=_USE_DEFAULT, init_fn=None,
    ready_op=_USE_DEFAULT, summary_op=_USE_DEFAULT, save_summaries_secs: int = 600,
    summary_writer=_USE_DEFAULT, startup_delay_steps: int = 0, saver=None, save_interval_secs: int = 600,
    sync_optimizer=None, session_config=None, session_wrapper=None, trace_every_n_steps=None,
    ignore_live_threads: bool = False,
):  # fmt: skip
    """Runs the operation for that many steps, from the last checkpoint in `logdir` on; returns the last loss.

    Args:
      ready_op: what gives the names of variables without a value once all is initialised; None: nothing is checked.
      startup_delay_steps: which step a worker that is not the chief waits for before it begins.
      sync_optimizer: the `SyncReplicasOptimizer` that the train operation is of, whose threads and tokens are started.
      trace_every_n_steps: how often a trace is written to `logdir`.
      ignore_live_threads: whether it is no error if threads of queues do not end.

    Raises ValueError for no train operation, an invalid number of steps, a folder that is missing where something
    is to be saved, and a delay beside a `sync_optimizer`; RuntimeError for variables that have no value.
    """
    _check(train_op, logdir, number_of_steps, trace_every_n_steps, summary_op, saver)
    optimizers = _listed(sync_optimizer, startup_delay_steps)
    graph = graph or v1.get_default_graph()
    with graph.as_default():
        step = get_or_create_global_step() if global_step is None else global_step
        starting = _Starting(init_op, init_feed_dict, local_init_op, init_fn, ready_op)
        hooks = [_begun(optimizer.make_session_run_hook(is_chief)) for optimizer in optimizers]
        merged = v1.summary.merge_all() if summary_op is _USE_DEFAULT else summary_op
        if logdir is not None and saver is None and v1.global_variables():
            saver = _train.Saver()
        writer = summary_writer
        if writer is _USE_DEFAULT:
            writer = None if logdir is None else v1.summary.FileWriter(logdir, graph)
        kwargs = dict(train_step_kwargs) if isinstance(train_step_kwargs, dict) else {}
        if train_step_kwargs is _USE_DEFAULT:
            kwargs = _step_kwargs(step, number_of_steps, log_every_n_steps, trace_every_n_steps, logdir, writer)
        session = v1.Session(master, config=session_config, graph=graph)
        if session_wrapper is not None:
            session = session_wrapper(session)
        loss = None
        with session:
            starting.run(session, saver, logdir)
            if not is_chief:
                _wait_for_step(session, step, min(startup_delay_steps, number_of_steps or startup_delay_steps))
            coordinator = _train.Coordinator()
            # The threads of a synchronous optimizer wait for gradients until the session ends.
            waiting = _train.Coordinator() if hooks else coordinator
            for hook in hooks:
                hook.after_create_session(session, waiting)
            threads = _train.start_queue_runners(sess=session, coord=coordinator)
            summing = _Regularly(save_summaries_secs, writer is not None and merged is not None)
            saving = _Regularly(save_interval_secs, saver is not None and bool(logdir))
            def write_summary():
                writer.add_summary(session.run(merged), session.run(step))

            def save():
                saver.save(session, f"{logdir}/model.ckpt", global_step=step)

            try:
                should_stop = False
                while not (should_stop or coordinator.should_stop() or waiting.should_stop()):
                    loss, should_stop = train_step_fn(session, train_op, step, kwargs)
                    if summing.due():
                        write_summary()
                    if saving.due():
                        save()
            finally:
                coordinator.request_stop()
                waiting.request_stop()
                coordinator.join(threads, ignore_live_threads=ignore_live_threads)
            if logdir is not None and is_chief and saver is not None:
                save()
            if writer is not None:
                if merged is not None:
                    write_summary()
                writer.close()
        if hooks:
            waiting.join()
        return loss


def _begun(hook):
    hook.begin()
    return hook


def _listed(sync_optimizer: SyncReplicasOptimizer | None, startup_delay_steps: int):
    """The synchronous optimizers, which workers do not wait for."""
    optimizers = sync_optimizer if isinstance(sync_optimizer, (list, tuple)) else [sync_optimizer]
    optimizers = [optimizer for optimizer in optimizers if optimizer is not None]
    if optimizers and startup_delay_steps > 0:
        raise ValueError("startup_delay_steps must be zero when sync_optimizer is supplied.")
    return optimizers


def _wait_for_step(session: Session, step: IntLike, least: int):
    while least > 0 and session.run(step) < least:
        time.sleep(1)


def _check(
    train_op: Any, logdir: str | None, number_of_steps: int, trace_every_n_steps: int | None, summary_op: int, saver
):
    if train_op is None:
        raise ValueError("train_op cannot be None.")
    if number_of_steps is not None and number_of_steps <= 0:
        raise ValueError("`number_of_steps` must be either None or a positive number.")
    if logdir is not None:
        return
    if trace_every_n_steps is not None:
        raise ValueError("Cannot provide trace_every_n_steps because logdir=None")
    if (summary_op is not _USE_DEFAULT and summary_op is not None) or saver is not None:
        raise ValueError("Cannot provide summary_op or saver because logdir=None")


def _step_kwargs(
    step: Variable, number_of_steps: int | None, log_every_n_steps: int, trace_every_n_steps: int | None, logdir,
    writer,
):
    """What `train_step` is given where the caller gives nothing."""
    found = {}
    if number_of_steps:
        found["should_stop"] = v1.greater_equal(step, number_of_steps)
    if log_every_n_steps > 0:
        found["should_log"] = v1.equal(v1.mod(step, log_every_n_steps), 0)
    if trace_every_n_steps is not None:
        found["should_trace"] = v1.equal(v1.mod(step, trace_every_n_steps), 0)
        found |= {"logdir": logdir, "summary_writer": writer}
    return found


class _Starting:
    """How the variables of a session get their first values; the arguments are those of `train`."""

    def __init__(
        self, init_op: Any, init_feed_dict: Mapping[Any, Any] | None, local_init_op: int,
        init_fn: Callable[..., Any] | None, ready_op: int | None,
    ):
        self._feed, self._function = init_feed_dict, init_fn
        self._begin = v1.global_variables_initializer() if init_op is _USE_DEFAULT else init_op
        self._local = local_init_op
        if local_init_op is _USE_DEFAULT:
            self._local = v1.group(v1.local_variables_initializer(), v1.tables_initializer())
        self._ready = v1.report_uninitialized_variables() if ready_op is _USE_DEFAULT else ready_op

    def run(self, session, saver, logdir: str | None):
        """Initialises, and restores the last checkpoint if there is one. Raises RuntimeError if something is left."""
        restored = logdir and saver is not None and _train.latest_checkpoint(logdir)
        if self._begin is not None:
            session.run(self._begin, self._feed)
        if restored:
            saver.restore(session, restored)
        elif self._function is not None:
            self._function(session)
        if self._local is not None:
            session.run(self._local)
        missing = [] if self._ready is None else [name.decode() for name in session.run(self._ready)]
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready. Variables not initialized: {', '.join(missing)}"
            )


class _Regularly:
    """Says every so many seconds, if at all, that something is due."""

    def __init__(self, seconds: int, wanted: bool):
        self._seconds, self._wanted = seconds, wanted
        self._last = time.time()

    def due(self):
        now = time.time()
        if not self._wanted or now - self._last < self._seconds:
            return False
        self._last = now
        return True
