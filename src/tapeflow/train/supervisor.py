"""`tf.train.Supervisor`: a session with checkpoints and summaries written by threads beside it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.checkpoint.saver import Saver
from tapeflow.core import context, errors
from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import public, public_methods
from tapeflow.graph.build.collections import GraphKeys, global_variables
from tapeflow.graph.build.variable_initializers import (
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange.writing import write_graph
from tapeflow.ops.control.grouping import group
from tapeflow.ops.lookup.tables import tables_initializer
from tapeflow.summary.file_writer import FileWriter
from tapeflow.train.coordinator import Coordinator, LooperThread
from tapeflow.train.global_step import global_step
from tapeflow.train.meta_graph import export_meta_graph
from tapeflow.train.session_manager import SessionManager
from tapeflow.train.sessions.services import (
    CheckpointThread,
    StepCounterThread,
    SummaryThread,
    collected,
    default_step,
    logger,
    merged_summaries,
    step_of,
)

if TYPE_CHECKING:
    from tapeflow.graph.run.session import BaseSession, Session


# Stands for an argument that is to be made.
USE_DEFAULT = 0


@public_methods
class Supervisor:
    """Prepares sessions, and runs services beside them: checkpoints, summaries, the count of steps.

    Args:
      graph: None: the default graph.
      ready_op, ready_for_local_init_op: give the names of variables that are not initialised.
      is_chief: whether it initialises the model and writes; else it waits for the chief.
      init_op, init_feed_dict, init_fn: initialise the model where there is no checkpoint.
      local_init_op, local_init_run_options: run in each session.
      logdir: where checkpoints and summaries go to.
      summary_op, saver, global_step, summary_writer: None: none; by default those of the graph.
      save_summaries_secs, save_model_secs: how often the services write; 0: not.
      recovery_wait_secs, stop_grace_secs: how long to wait for a chief, and for threads.
      checkpoint_basename: the name of checkpoints.
      session_manager: what makes the sessions.

    Raises RuntimeError if operations run eagerly.
    """

    USE_DEFAULT = USE_DEFAULT

    def __init__(
        self, graph=None, ready_op=USE_DEFAULT, ready_for_local_init_op=USE_DEFAULT, is_chief: bool = True,
        init_op=USE_DEFAULT, init_feed_dict=None, local_init_op=USE_DEFAULT, logdir=None,
        summary_op=USE_DEFAULT, saver=USE_DEFAULT, global_step=USE_DEFAULT, save_summaries_secs=120,
        save_model_secs=600, recovery_wait_secs=30, stop_grace_secs=120,
        checkpoint_basename: str = "model.ckpt", session_manager=None, summary_writer=USE_DEFAULT,
        init_fn=None, local_init_run_options=None,
    ):  # fmt: skip
        if context.executing_eagerly():
            raise RuntimeError("Supervisors are incompatible with eager execution.")
        self._graph = graph if isinstance(graph, Graph) else get_default_graph()
        with self._graph.as_default():
            self._init_ready(ready_op, ready_for_local_init_op)
            self._init_op, self._init_feed_dict, self._init_fn = init_op, init_feed_dict, init_fn
            if init_op is USE_DEFAULT:
                self._init_op = collected(GraphKeys.INIT_OP, global_variables_initializer)
            self._local_init_op, self._options = local_init_op, local_init_run_options
            if local_init_op is USE_DEFAULT:
                self._local_init_op = collected(
                    GraphKeys.LOCAL_INIT_OP,
                    lambda: group(local_variables_initializer(), tables_initializer()),
                )
            self._saver = saver
            if saver is USE_DEFAULT:
                self._saver = collected(
                    GraphKeys.SAVERS, lambda: Saver() if global_variables() else None
                )
            self._summary_op = summary_op
            if summary_op is USE_DEFAULT:
                self._summary_op = collected(GraphKeys.SUMMARY_OP, merged_summaries)
            self._global_step = global_step
            if global_step is USE_DEFAULT:
                self._global_step = default_step(self._graph)
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._wait_secs, self._grace = recovery_wait_secs, stop_grace_secs
        self._logdir = self._save_path = self._writer = None
        self._save_summaries_secs = self._save_model_secs = None
        if is_chief:
            self._logdir = logdir
            self._save_summaries_secs, self._save_model_secs = save_summaries_secs, save_model_secs
            if logdir:
                self._save_path = os.path.join(logdir, checkpoint_basename)
            if summary_writer is USE_DEFAULT:
                self._writer = FileWriter(logdir) if logdir else None
            else:
                self._writer = summary_writer
        self._graph_added = False
        self._manager = session_manager or SessionManager(
            local_init_op=self._local_init_op, ready_op=self._ready_op,
            ready_for_local_init_op=self._ready_for_local_init_op, graph=self._graph,
            recovery_wait_secs=recovery_wait_secs, local_init_run_options=local_init_run_options,
        )  # fmt: skip
        # No op is to be added by the threads.
        self._graph.finalize()

    def _init_ready(self, ready_op, ready_for_local_init_op):
        self._ready_op, self._ready_for_local_init_op = ready_op, ready_for_local_init_op
        if ready_op is USE_DEFAULT:
            self._ready_op = collected(GraphKeys.READY_OP, report_uninitialized_variables)
        if ready_for_local_init_op is USE_DEFAULT:
            found = self._graph.get_collection(GraphKeys.READY_FOR_LOCAL_INIT_OP)
            self._ready_for_local_init_op = found[0] if found else None

    # What it is made of.

    @property
    def is_chief(self):
        """Whether it initialises the model and writes."""
        return self._is_chief

    @property
    def session_manager(self):
        """What makes the sessions."""
        return self._manager

    @property
    def coord(self):
        """The coordinator of the threads."""
        return self._coord

    @property
    def init_op(self):
        """What initialises the model."""
        return self._init_op

    @property
    def init_feed_dict(self):
        """What is fed to it."""
        return self._init_feed_dict

    @property
    def ready_op(self):
        """The names of variables that are not initialised."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self):
        """The same, before the local ones are."""
        return self._ready_for_local_init_op

    @property
    def summary_writer(self):
        """What writes summaries, or None."""
        return self._writer

    @property
    def summary_op(self):
        """The merged summaries, or None."""
        return self._summary_op

    @property
    def save_summaries_secs(self):
        """How often summaries are written."""
        return self._save_summaries_secs

    @property
    def global_step(self):
        """The global step, or None."""
        return self._global_step

    @property
    def saver(self):
        """What writes checkpoints, or None."""
        return self._saver

    @property
    def save_model_secs(self):
        """How often checkpoints are written."""
        return self._save_model_secs

    @property
    def save_path(self):
        """Where checkpoints are written to."""
        return self._save_path

    # Services.

    def _write_graph(self):
        if self._logdir:
            write_graph(self._graph.as_graph_def(add_shapes=True), self._logdir, "graph.pbtxt")
        if self._writer and not self._graph_added:
            self._writer.add_graph(self._graph)
            saver = self._saver.saver_def if self._saver else None
            self._writer.add_meta_graph(export_meta_graph(graph=self._graph, saver_def=saver))
            self._graph_added = True

    def start_standard_services(self, sess):
        """Starts the threads that write summaries, steps and checkpoints; returns them. Only for the chief.

        Raises RuntimeError for others.
        """
        if not self._is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can "
                               "write events.")  # fmt: skip
        if not self._logdir:
            logger.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        if self._global_step is not None and self._writer:
            log = protos.SessionLog(status=protos.SessionLog.START)
            self._writer.add_session_log(log, global_step(sess, self._global_step))
        threads = []
        if self._save_summaries_secs and self._writer:
            if self._summary_op is not None:
                threads.append(SummaryThread(self, sess))
            if self._global_step is not None:
                threads.append(StepCounterThread(self, sess))
        if self.saver and self._save_model_secs:
            threads.append(CheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def prepare_or_wait_for_session(
        self, master: str = "", config=None, wait_for_checkpoint: bool = False, max_wait_secs=7200,
        start_standard_services: bool = True,
    ):  # fmt: skip
        """A session in which the model is ready, with the queue runners started, and the services for the chief.

        Raises RuntimeError if the model cannot be made ready.
        """
        self._coord.clear_stop()
        if self._writer:
            self._writer.reopen()
        if self._is_chief:
            session = self._manager.prepare_session(
                master, init_op=self.init_op, saver=self.saver, checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint, max_wait_secs=max_wait_secs, config=config,
                init_feed_dict=self._init_feed_dict, init_fn=self._init_fn,
            )  # fmt: skip
            self._write_graph()
            if start_standard_services:
                self.start_standard_services(session)
        else:
            session = self._manager.wait_for_session(
                master, config=config, max_wait_secs=max_wait_secs
            )
        if start_standard_services:
            self.start_queue_runners(session)
        return session

    def start_queue_runners(self, sess: Session, queue_runners=None):
        """Starts the threads of QueueRunners, those of the graph by default; returns the threads.

        Raises RuntimeError if operations run eagerly.
        """
        if context.executing_eagerly():
            raise RuntimeError("Queues are not compatible with eager execution.")
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        threads = []
        for runner in queue_runners:
            threads.extend(runner.create_threads(sess, coord=self._coord, daemon=True, start=True))
        return threads

    def loop(
        self, timer_interval_secs: float, target: TensorLike, args=None, kwargs: Mapping[Any, Any] | None = None
    ):
        """A started LooperThread that calls `target`."""
        looper = LooperThread(
            self._coord, timer_interval_secs, target=target, args=args, kwargs=kwargs
        )
        looper.start()
        return looper

    def stop(self, threads=None, close_summary_writer: bool = True, ignore_live_threads: bool = False):
        """Stops the threads and waits for them. Raises what they reported."""
        self._coord.request_stop()
        try:
            self._coord.join(
                threads, stop_grace_period_secs=self._grace, ignore_live_threads=ignore_live_threads
            )
        finally:
            if close_summary_writer and self._writer:
                log = protos.SessionLog(status=protos.SessionLog.STOP)
                self._writer.add_session_log(log)
                self._writer.close()
                self._graph_added = False

    def request_stop(self, ex=None):
        """Asks the threads to stop."""
        self._coord.request_stop(ex=ex)

    def should_stop(self):
        """Whether a stop was asked for."""
        return self._coord.should_stop()

    def stop_on_exception(self):
        """A block whose exceptions are reported to the coordinator."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self):
        """Waits until a stop is asked for."""
        self._coord.wait_for_stop()

    def summary_computed(self, sess: BaseSession, summary, global_step: TensorLike | None = None):
        """Writes a summary, with the global step. Raises RuntimeError without a writer."""
        if not self._writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = step_of(sess, self.global_step)
        self._writer.add_summary(summary, global_step)

    @contextlib.contextmanager
    def managed_session(
        self, master: str = "", config=None, start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ):
        """A block with a session; at its end threads are stopped, and what they reported is raised."""
        session = None
        try:
            session = self.prepare_or_wait_for_session(
                master=master, config=config, start_standard_services=start_standard_services
            )
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer, ignore_live_threads=True)
            finally:
                try:
                    if session is not None:
                        session.close()
                except Exception as error:  # the run itself has ended
                    logger.debug("Ignored exception: %s", error)

    # The names of old.
    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


@public
def basic_train_loop(
    supervisor: Supervisor, train_step_fn: Callable[..., Any], args: Sequence[int] | None = None,
    kwargs: Mapping[Any, Any] | None = None, master: str = "",
):
    """Call `train_step_fn(session, *args, **kwargs)` in sessions of a Supervisor until that says stop.

    After AbortedError the session is made anew.

    Args:
      supervisor: a `Supervisor`.
      train_step_fn: the function.
      args: its arguments, a list.
      kwargs: its arguments by name.
      master: the address of a server; "": this process.
    """
    args, kwargs = args or [], kwargs or {}
    restart = True
    while restart:
        restart = False
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *args, **kwargs)
        except errors.AbortedError as error:
            logger.info("Aborted: %s", error)
            restart = True
