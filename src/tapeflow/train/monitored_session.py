"""`tf.train.MonitoredSession`: sessions that initialise themselves, call hooks, and recover from errors."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.core.errors import AbortedError, OutOfRangeError, UnavailableError
from tapeflow.core.public import boundaries, public, public_methods
from tapeflow.graph.graph import get_default_graph
from tapeflow.train.coordinator import Coordinator
from tapeflow.train.queue_runner import start_queue_runners
from tapeflow.train.saving_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from tapeflow.train.scaffold import Scaffold
from tapeflow.train.session_manager import SessionManager
from tapeflow.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunValues

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session

# Errors of machines that come and go: the session is made anew, and the run tried once more.
_PREEMPTION = (AbortedError, UnavailableError)
# The default of arguments that depend on each other.
USE_DEFAULT = object()
_logger = logging.getLogger("tensorflow")


class SessionCreator:
    """Makes sessions, for MonitoredSession."""

    def create_session(self):
        """A new session."""
        raise TypeError(f"create_session is not implemented for {type(self).__name__}.")


@public_methods
class ChiefSessionCreator(SessionCreator):
    """Makes sessions that initialise the model, or restore its last checkpoint."""

    def __init__(
        self, scaffold: Scaffold | None = None, master: str = "", config=None,
        checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None,
    ):  # fmt: skip
        self._folder, self._path = checkpoint_dir, checkpoint_filename_with_path
        self._scaffold = scaffold or Scaffold()
        self._manager = None
        self._master, self._config = master, config

    def create_session(self):
        """A new session with the model ready."""
        parts = self._scaffold
        parts.finalize()
        if self._manager is None:
            self._manager = _manager(parts)
        return self._manager.prepare_session(
            self._master, saver=parts.saver, checkpoint_dir=self._folder, checkpoint_filename_with_path=self._path,
            config=self._config, init_op=parts.init_op, init_feed_dict=parts.init_feed_dict, init_fn=parts.init_fn,
        )  # fmt: skip


@public_methods
class WorkerSessionCreator(SessionCreator):
    """Makes sessions once a chief has made the model ready."""

    def __init__(self, scaffold: Scaffold | None = None, master: str = "", config=None, max_wait_secs: int = 30 * 60):
        self._scaffold = scaffold or Scaffold()
        self._manager = None
        self._master, self._config, self._wait = master, config, max_wait_secs

    def create_session(self):
        """A new session. Raises DeadlineExceededError if the model does not get ready."""
        self._scaffold.finalize()
        if self._manager is None:
            self._manager = _manager(self._scaffold)
        return self._manager.wait_for_session(
            self._master, config=self._config, max_wait_secs=self._wait
        )


def _manager(scaffold: Scaffold):
    return SessionManager(
        local_init_op=scaffold.local_init_op, local_init_feed_dict=scaffold.local_init_feed_dict,
        ready_op=scaffold.ready_op, ready_for_local_init_op=scaffold.ready_for_local_init_op,
        graph=get_default_graph(),
    )  # fmt: skip


class _Wrapped:
    """A session around another one."""

    def __init__(self, sess):
        self._sess = sess

    @property
    def graph(self):
        return self._sess.graph

    @property
    def sess_str(self):
        return self._sess.sess_str

    def should_stop(self):
        if self._check_stop():
            return True
        return self._sess.should_stop() if isinstance(self._sess, _Wrapped) else False

    def _check_stop(self):
        return False

    def close(self):
        if self._sess:
            try:
                self._sess.close()
            except _PREEMPTION as error:
                _logger.error("An error occurred when attempting to close the session: %s", error)
            finally:
                self._sess = None

    def run(self, *args, **kwargs):
        return self._sess.run(*args, **kwargs)

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Session, run_with_hooks):
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class _Hooked(_Wrapped):
    """Calls hooks around runs."""

    def __init__(self, sess: Session, hooks: Sequence[Any]):
        super().__init__(sess)
        self._hooks = hooks
        self._stop = False

    def _check_stop(self):
        return self._stop

    def run(
        self, fetches: Sequence[Any], feed_dict: Mapping[Any, Any] | None = None, options=None, run_metadata=None
    ):
        if self._stop:
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        options = protos.RunOptions() if options is None else options
        asked, feeds = self._before(context, feed_dict, options)
        metadata = protos.RunMetadata() if run_metadata is None else run_metadata
        if not any(x is not None for x in asked):
            own, results = self._sess.run(fetches, feeds, options, metadata), asked
        else:
            kept = [i for i, x in enumerate(asked) if x is not None]
            own, *found = self._sess.run(
                [fetches, *(asked[i] for i in kept)], feeds, options, metadata
            )
            results = list(asked)
            for i, value in zip(kept, found, strict=True):
                results[i] = value
        for hook, value in zip(self._hooks, results, strict=True):
            hook.after_run(context, SessionRunValues(value, options, metadata))
        self._stop = self._stop or context.stop_requested
        return own

    def _before(self, context, feed_dict, options):
        """What each hook fetches, and all feeds. Raises RuntimeError for a tensor that is fed twice."""
        asked, hook_feeds = [], {}
        for hook in self._hooks:
            request = hook.before_run(context)
            asked.append(None if request is None else request.fetches)
            if request is None:
                continue
            if request.feed_dict:
                _check_apart(hook_feeds, request.feed_dict, "Same tensor is fed by two hooks.")
                hook_feeds.update(request.feed_dict)
            if request.options:
                _merge_options(options, request.options)
        if not hook_feeds:
            return asked, feed_dict
        if feed_dict:
            _check_apart(
                feed_dict, hook_feeds, "Same tensor is fed by a SessionRunHook and user."
            )
            hook_feeds.update(feed_dict)
        return asked, hook_feeds


def _check_apart(a: Any, b, message: str):
    if any(x is y for x in a for y in b):
        raise RuntimeError(message)


def _merge_options(options, wanted):
    """Lets `options` trace, wait and tell of partitions as much as either wants."""
    options.trace_level = max(options.trace_level, wanted.trace_level)
    options.timeout_in_ms = max(options.timeout_in_ms, wanted.timeout_in_ms)
    options.inter_op_thread_pool = max(options.inter_op_thread_pool, wanted.inter_op_thread_pool)
    options.output_partition_graphs = (
        options.output_partition_graphs or wanted.output_partition_graphs
    )


class _Coordinated(_Wrapped):
    """Raises what threads report to a coordinator, and stops them at the end."""

    def __init__(self, sess, coord: Coordinator, grace: int):
        super().__init__(sess)
        self._coord, self._grace = coord, grace

    def _check_stop(self):
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self):
        self._coord.request_stop()
        try:
            self._coord.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        finally:
            try:
                super().close()
            except Exception as error:  # what was raised before says more
                _logger.debug("Ignored exception: %s", error)

    def run(self, *args, **kwargs):
        try:
            return self._sess.run(*args, **kwargs)
        except _PREEMPTION:
            raise
        except Exception as original:
            # A thread's error comes first: it may have caused this one.
            try:
                self._coord.raise_requested_exception()
            except _PREEMPTION:
                raise
            except Exception:
                raise original from None
            raise


class _Recoverable(_Wrapped):
    """Makes its session anew after errors of machines, and tries again."""

    def __init__(self, creator):
        self._creator = creator
        super().__init__(self._create())

    def _create(self):
        while True:
            try:
                return self._creator.create_session()
            except _PREEMPTION as error:
                _logger.info("An error was raised while a session was being created. This may be due to a preemption "
                             "of a connected worker or parameter server. A new session will be created. "
                             "Error: %s", error)  # fmt: skip

    def _check_stop(self):
        try:
            return self._sess._check_stop() if self._sess else True
        except _PREEMPTION as error:
            _logger.info("An error was raised while considering whether the session is complete. This may be due to a "
                         "preemption in a connected worker or parameter server. The current session will be closed "
                         "and a new session will be created. Error: %s", error)  # fmt: skip
            self.close()
            self._sess = self._create()
            return False
        except Exception:  # what went wrong ends the loop; the next run, or the close, tells of it
            return True

    def _retried(self, call: Callable[..., Any]):
        while True:
            try:
                if not self._sess:
                    self._sess = self._create()
                return call()
            except _PREEMPTION as error:
                _logger.info("An error was raised. This may be due to a preemption in a connected worker or parameter "
                             "server. The current session will be closed and a new session will be created. "
                             "Error: %s", error)  # fmt: skip
                self.close()
                self._sess = None

    def run(
        self, fetches: Sequence[Any], feed_dict: Mapping[Any, Any] | None = None, options=None, run_metadata=None
    ):
        return self._retried(lambda: self._sess.run(fetches, feed_dict, options, run_metadata))

    def run_step_fn(self, step_fn: Callable[..., Any], raw_session: Session, run_with_hooks):
        raw = [raw_session]

        def call():
            session = raw.pop() if raw else self._creator.tf_sess  # another one after an error
            return self._sess.run_step_fn(step_fn, session, run_with_hooks=None)

        return self._retried(call)


class _CoordinatedCreator(SessionCreator):
    """Makes sessions with hooks, queue runners and a coordinator."""

    def __init__(self, creator: ChiefSessionCreator, hooks: Sequence[Any], grace: int):
        self._creator, self._hooks, self._grace = creator, hooks, grace
        self.coord = self.tf_sess = None

    def create_session(self):
        self.tf_sess = self._creator.create_session()
        self.coord = Coordinator(clean_stop_exception_types=[])
        if get_default_graph().get_collection("queue_runners"):
            start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        return _Coordinated(_Hooked(self.tf_sess, self._hooks), self.coord, self._grace)


@public_methods
class StepContext:
    """What a step function gets.

    Args:
      session: the session itself, without hooks.
      run_with_hooks_fn: runs with hooks.
    """

    def __init__(self, session: Session, run_with_hooks_fn: Callable[..., Any]):
        self._session, self._run = session, run_with_hooks_fn

    @property
    def session(self):
        """The session itself, without hooks."""
        return self._session

    def run_with_hooks(self, *args, **kwargs):
        """A run with hooks."""
        return self._run(*args, **kwargs)

    def request_stop(self):
        """Leaves the step function, and the block of the session."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _Monitored:
    StepContext = StepContext

    def __init__(
        self, session_creator, hooks: Sequence[Any] | None, should_recover: bool,
        stop_grace_period_secs: int = 120,
    ):
        self._was_final = get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = _CoordinatedCreator(
            session_creator or ChiefSessionCreator(), self._hooks, stop_grace_period_secs
        )
        self._sess = (
            _Recoverable(self._coordinated_creator) if should_recover else self._coordinated_creator.create_session()
        )

    @property
    def graph(self):
        """The graph that runs; None after the end."""
        session = self._coordinated_creator.tf_sess
        return None if session is None else session.graph

    def run(
        self, fetches: Sequence[Any], feed_dict: Mapping[Any, Any] | None = None, options=None, run_metadata=None
    ):
        """As of a Session, with the hooks around. Raises what hooks raise."""
        if self._sess is None:
            raise RuntimeError("Session is already closed.")
        return self._sess.run(
            fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
        )

    def run_step_fn(self, step_fn: Callable[..., Any]):
        """What `step_fn(step_context)` returns; it can run with and without hooks.

        Raises ValueError for a function of other arguments.
        """
        arguments = list(inspect.signature(step_fn).parameters)
        if arguments != ["step_context"] and not (len(arguments) == 2 and arguments[0] == "self"):
            if len(arguments) != 1:
                raise ValueError("`step_fn` may either have one `step_context` argument, or `self` and `step_context` "
                                 f"arguments if it's an instance method. Got {arguments} instead.")  # fmt: skip
        if self._sess is None:
            raise RuntimeError("Session is already closed.")
        return self._sess.run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    def __enter__(self):
        return self

    def __exit__(self, exception_type: type | None, exception_value: Any, traceback):
        if exception_type in (OutOfRangeError, StopIteration):
            exception_type = None
        self._end(exception_type)
        return exception_type is None

    def should_stop(self):
        """Whether no more runs are wanted."""
        return self._sess is None or self._sess.should_stop()

    def close(self):
        """Calls the hooks' `end`, stops the threads, closes the session."""
        self._end()

    def _is_closed(self):
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self):
        return self._coordinated_creator.tf_sess

    def _end(self, exception_type: type | None = None):
        try:
            if not exception_type:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                for hook in self._hooks:
                    hook.end(self._coordinated_creator.tf_sess)
        finally:
            try:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                self._sess.close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                if not self._was_final:
                    get_default_graph()._unsafe_unfinalize()


@public_methods
class MonitoredSession(_Monitored):
    """A session that initialises itself, calls hooks, and is made anew after AbortedError and UnavailableError.

    Args:
      session_creator: a ChiefSessionCreator by default.
      hooks: SessionRunHooks.
      stop_grace_period_secs: how long threads may take to end.
    """

    def __init__(
        self, session_creator: ChiefSessionCreator | None = None, hooks: Sequence[Any] | None = None,
        stop_grace_period_secs: int = 120,
    ):
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


@public_methods
class SingularMonitoredSession(_Monitored):
    """A session that initialises itself and calls hooks; it is not made anew after errors."""

    def __init__(
        self, hooks=None, scaffold=None, master: str = "", config=None, checkpoint_dir=None,
        stop_grace_period_secs=120, checkpoint_filename_with_path=None,
    ):  # fmt: skip
        creator = ChiefSessionCreator(
            scaffold=scaffold, master=master, config=config, checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
        )  # fmt: skip
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self):
        """The session itself, without hooks."""
        return self._tf_sess()


def _chosen(steps: Any, secs, default_steps: int | None, default_secs: int | None):
    """What of steps and seconds decides, where either may be left to its default."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default_steps, default_secs
    return (None if steps is USE_DEFAULT else steps), (None if secs is USE_DEFAULT else secs)


@public
def MonitoredTrainingSession(
    master="", is_chief=True, checkpoint_dir=None, scaffold=None, hooks=None, chief_only_hooks=None,
    save_checkpoint_secs=USE_DEFAULT, save_summaries_steps=USE_DEFAULT, save_summaries_secs=USE_DEFAULT, config=None,
    stop_grace_period_secs=120, log_step_count_steps=100, max_wait_secs=7200, save_checkpoint_steps=USE_DEFAULT,
    summary_dir=None, save_graph_def=True,
):  # fmt: skip
    """A MonitoredSession for training, with checkpoints, summaries and the steps per second where they are wanted.

    Args:
      is_chief: whether it initialises the model and writes; else it waits for the chief.
      checkpoint_dir: where the model is restored from and saved to.
      scaffold: what the graph has for it.
      hooks, chief_only_hooks: SessionRunHooks.
      save_checkpoint_secs, save_checkpoint_steps: every 600 seconds by default; None for none.
      save_summaries_steps, save_summaries_secs: every 100 steps by default; None for none.
      log_step_count_steps: how often the steps per second are logged.
      max_wait_secs: how long a worker waits for the chief.
      summary_dir: where summaries go to, else `checkpoint_dir`.
    """
    save_summaries_steps, save_summaries_secs = _chosen(
        save_summaries_steps, save_summaries_secs, 100, None
    )
    save_checkpoint_steps, save_checkpoint_secs = _chosen(
        save_checkpoint_steps, save_checkpoint_secs, None, 600
    )
    scaffold = scaffold or Scaffold()
    if not is_chief:
        creator = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(creator, hooks or [], stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or [])
    creator = ChiefSessionCreator(
        scaffold=scaffold, checkpoint_dir=checkpoint_dir, master=master, config=config
    )
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        summary_dir = os.fspath(summary_dir)
        if log_step_count_steps and log_step_count_steps > 0:
            all_hooks.append(
                StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps)
            )
        if (save_summaries_steps or 0) > 0 or (save_summaries_secs or 0) > 0:
            all_hooks.append(
                SummarySaverHook(
                    scaffold=scaffold, save_steps=save_summaries_steps, save_secs=save_summaries_secs,
                    output_dir=summary_dir,
                )
            )  # fmt: skip
    if checkpoint_dir and ((save_checkpoint_secs or 0) > 0 or (save_checkpoint_steps or 0) > 0):
        all_hooks.append(
            CheckpointSaverHook(
                os.fspath(checkpoint_dir), save_steps=save_checkpoint_steps, save_secs=save_checkpoint_secs,
                scaffold=scaffold, save_graph_def=save_graph_def,
            )
        )  # fmt: skip
    all_hooks.extend(hooks or [])
    return MonitoredSession(creator, all_hooks, stop_grace_period_secs)


boundaries(globals())
