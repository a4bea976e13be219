"""Sessions around a session: with hooks, with a coordinator, and made anew after it is lost."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.core.errors import AbortedError, UnavailableError
from tapeflow.core.public import boundaries, public_methods
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.train.coordinator import Coordinator
from tapeflow.train.queue_runner import start_queue_runners
from tapeflow.train.session_run_hook import SessionRunArgs, SessionRunContext, SessionRunValues
from tapeflow.train.sessions.creators import (
    ChiefSessionCreator,
    SessionCreator,
)

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session


# Errors of machines that come and go: the session is made anew, and the run tried once more.
_PREEMPTION = (AbortedError, UnavailableError)


_logger = logging.getLogger("tensorflow")


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


class Hooked(_Wrapped):
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


class Coordinated(_Wrapped):
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


class Recoverable(_Wrapped):
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


class CoordinatedCreator(SessionCreator):
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
        return Coordinated(Hooked(self.tf_sess, self._hooks), self.coord, self._grace)


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


boundaries(globals())
