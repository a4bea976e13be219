"""`tf.train.MonitoredSession`: sessions that initialise themselves, call hooks, and recover from errors."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.public import boundaries, public, public_methods
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.train.saving_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from tapeflow.train.scaffold import Scaffold
from tapeflow.train.sessions.creators import (
    ChiefSessionCreator,
    WorkerSessionCreator,
)
from tapeflow.train.sessions.layers import CoordinatedCreator, Recoverable, StepContext

# The default of arguments that depend on each other.
USE_DEFAULT = object()


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
        self._coordinated_creator = CoordinatedCreator(
            session_creator or ChiefSessionCreator(), self._hooks, stop_grace_period_secs
        )
        self._sess = (
            Recoverable(self._coordinated_creator) if should_recover else self._coordinated_creator.create_session()
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
