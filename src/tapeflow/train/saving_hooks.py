"""Hooks that write: checkpoints, summaries, the speed of training, traces."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.core.annotations import TensorLike
from tapeflow.core.files.whole_files import replace_file
from tapeflow.core.public import public_methods
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.interchange.writing import write_graph
from tapeflow.graph.run.timeline import Timeline
from tapeflow.summary.file_writer import FileWriterCache
from tapeflow.train.global_step import get_global_step
from tapeflow.train.hooks import run_options, step_tensor
from tapeflow.train.meta_graph import export_meta_graph
from tapeflow.train.session_run_hook import SessionRunArgs, SessionRunHook
from tapeflow.train.step_timer import SecondOrStepTimer

if TYPE_CHECKING:
    from tapeflow.checkpoint.saver import Saver
    from tapeflow.graph.run.session import BaseSession, Session
    from tapeflow.train.scaffold import Scaffold
    from tapeflow.train.session_run_hook import SessionRunContext, SessionRunValues

_logger = logging.getLogger("tensorflow")


class CheckpointSaverListener:
    """Code around the checkpoints that a CheckpointSaverHook writes; a subclass writes what it needs."""

    def begin(self):
        """When the hook begins."""

    def before_save(self, session: Session, global_step_value: TensorLike):
        """Before each checkpoint."""

    def after_save(self, session: BaseSession, global_step_value):
        """After each checkpoint; True asks for the end of training."""

    def end(self, session: Session, global_step_value: TensorLike):
        """When the hook ends."""


@public_methods
class CheckpointSaverHook(SessionRunHook):
    """Writes a checkpoint at the start, every so many seconds or steps, and at the end.

    Args:
      saver, scaffold: what has the saver; not both. With neither the graph's collection has it.
      listeners: CheckpointSaverListeners.
      save_graph_def: whether the graph is written beside the checkpoints.

    Raises ValueError for a saver and a scaffold.
    """

    def __init__(
        self, checkpoint_dir: str, save_secs: int | None = None, save_steps: int | None = None,
        saver: Saver | None = None, checkpoint_basename: str = "model.ckpt", scaffold: Scaffold | None = None,
        listeners: Sequence[Any] | None = None, save_graph_def: bool = True,
    ):  # fmt: skip
        _logger.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._dir = checkpoint_dir
        self._path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = list(listeners or ())
        self._save_graph = save_graph_def
        self._writer = None
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run):
        self._steps_per_run = steps_per_run

    def begin(self):
        self._writer = FileWriterCache.get(self._dir)
        self._step = step_tensor("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session, coord):
        step = session.run(self._step)
        if self._save_graph:
            write_graph(session.graph.as_graph_def(add_shapes=True), self._dir, "graph.pbtxt")
            saver = self._get_saver()
            self._writer.add_graph(session.graph)
            self._writer.add_meta_graph(
                export_meta_graph(graph=session.graph, saver_def=saver.saver_def if saver else None)
            )
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext):
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        if self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            step = run_context.session.run(self._step)
            if self._timer.should_trigger_for_step(step):
                self._timer.update_last_triggered_step(step)
                if self._save(run_context.session, step):
                    run_context.request_stop()

    def end(self, session: Session):
        step = session.run(self._step)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session, step):
        """Writes a checkpoint; whether a listener wants the end."""
        _logger.info("Saving checkpoints for %d into %s.", step, self._path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(
            session, self._path, global_step=int(step), write_meta_graph=self._save_graph
        )
        log = protos.SessionLog(status=protos.SessionLog.CHECKPOINT, checkpoint_path=self._path)
        self._writer.add_session_log(log, step)
        stop = False
        for listener in self._listeners:
            if listener.after_save(session, step):
                _logger.info(
                    "A CheckpointSaverListener requested that training be stopped. listener: %s",
                    listener,
                )
                stop = True
        return stop

    def _get_saver(self):
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        found = get_default_graph().get_collection("savers")
        if not found:
            raise RuntimeError("No items in collection savers. Please add a saver to the collection or provide a "
                               "saver or scaffold.")  # fmt: skip
        if len(found) > 1:
            raise RuntimeError("More than one item in collection savers. Please indicate which one to use by passing "
                               "it to the constructor.")  # fmt: skip
        self._saver = found[0]
        return self._saver


@public_methods
class StepCounterHook(SessionRunHook):
    """Writes how many steps a second takes to summaries, and logs it.

    Raises ValueError unless one of `every_n_steps` and `every_n_secs` is given.
    """

    def __init__(
        self, every_n_steps: int | None = 100, every_n_secs=None, output_dir: str | None = None, summary_writer=None
    ):
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._writer, self._dir = summary_writer, output_dir
        self._last = None
        self._warnings = 0
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run):
        self._steps_per_run = steps_per_run

    def begin(self):
        if self._writer is None and self._dir:
            self._writer = FileWriterCache.get(self._dir)
        self._step = step_tensor("StepCounterHook")
        self._tag = get_global_step().op.name + "/sec"

    def before_run(self, run_context: SessionRunContext):
        return SessionRunArgs(self._step)

    def _log_and_record(self, elapsed_steps: TensorLike, elapsed_time, global_step: TensorLike):
        speed = elapsed_steps / elapsed_time
        if self._writer is not None:
            value = protos.Summary.Value(tag=self._tag, simple_value=speed)
            self._writer.add_summary(protos.Summary(value=[value]), global_step)
        _logger.info("%s: %g", self._tag, speed)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        stale = run_values.results
        if self._timer.should_trigger_for_step(stale + self._steps_per_run):
            step = run_context.session.run(self._step)
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds is not None:
                    self._log_and_record(steps, seconds, step)
        if stale == self._last and self._warnings < 5:
            self._warnings += 1
            _logger.warning(
                "It seems that global step (tf.train.get_global_step) has not been increased. Current value (could be "
                "stable): %s vs previous value: %s. You could increase the global step by passing "
                "tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize.",
                stale, self._last,
            )  # fmt: skip
        self._last = stale


@public_methods
class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds.

    Args:
      output_dir, summary_writer: where to.
      scaffold, summary_op: what has the summaries; one of them.

    Raises ValueError unless one of `scaffold` and `summary_op` is given.
    """

    def __init__(
        self, save_steps: int | None = None, save_secs=None, output_dir: str | None = None,
        summary_writer=None, scaffold: Scaffold | None = None, summary_op=None,
    ):  # fmt: skip
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._op, self._scaffold = summary_op, scaffold
        self._writer, self._dir = summary_writer, output_dir
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self):
        if self._writer is None and self._dir:
            self._writer = FileWriterCache.get(self._dir)
        self._next = None
        self._step = step_tensor("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext):
        self._wanted = self._next is None or self._timer.should_trigger_for_step(self._next)
        requests = {"global_step": self._step}
        if self._wanted:
            ops = self._summary_ops()
            if ops is not None:
                requests["summary"] = ops
        return SessionRunArgs(requests)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        if not self._writer:
            return
        step = run_values.results["global_step"] + 1
        if self._next is None or self._wanted:
            step = run_context.session.run(self._step)
        if self._next is None:
            self._writer.add_session_log(
                protos.SessionLog(status=protos.SessionLog.START), global_step=step
            )
        if self._wanted:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._writer.add_summary(summary, step)
        self._next = step + 1

    def end(self, session: Session | None = None):
        if self._writer:
            self._writer.flush()

    def _summary_ops(self):
        op = self._op if self._op is not None else self._scaffold.summary_op
        if op is None:
            return None
        return op if isinstance(op, list) else [op]


@public_methods
class ProfilerHook(SessionRunHook):
    """Writes a trace of a run, `timeline-<step>.json`, every so many steps or seconds.

    Args:
      output_dir: where to.
      show_dataflow, show_memory: what traces hold.
    """

    def __init__(
        self, save_steps=None, save_secs=None, output_dir: str = "", show_dataflow: bool = True,
        show_memory: bool = False,
    ):
        self._file = os.path.join(output_dir, "timeline-{}.json")
        self._writer = FileWriterCache.get(output_dir) if output_dir else None
        self._show_dataflow, self._show_memory = show_dataflow, show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self):
        self._next = None
        self._step = step_tensor("ProfilerHook")

    def before_run(self, run_context: SessionRunContext):
        self._wanted = self._next is not None and self._timer.should_trigger_for_step(self._next)
        options = run_options(True) if self._wanted else None
        return SessionRunArgs({"global_step": self._step}, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        stale = run_values.results["global_step"]
        if self._next is None:
            self._timer.update_last_triggered_step(stale)
        step = stale + 1
        if self._wanted:
            step = run_context.session.run(self._step)
            self._timer.update_last_triggered_step(step)
            trace = Timeline(run_values.run_metadata.step_stats)
            text = trace.generate_chrome_trace_format(
                show_dataflow=self._show_dataflow, show_memory=self._show_memory
            )
            replace_file(self._file.format(step), text.encode())
            if self._writer is not None:
                self._writer.add_run_metadata(run_values.run_metadata, f"step_{step}")
        self._next = step + 1
