"""`tf.train.SessionRunHook`: code around the runs of a monitored session."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from tapeflow.core.public import public_methods

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session
    from tapeflow.train.coordinator import Coordinator


class SessionRunArgs(
    collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"], defaults=(None, None))
):
    """What a hook adds to a run: tensors to fetch, values to feed, RunOptions."""


class SessionRunValues(
    collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])
):
    """What a hook gets after a run: the values of its fetches, the RunOptions, the RunMetadata."""


class SessionRunHook:
    """Code that a monitored session calls; a subclass writes what it needs."""

    def begin(self):
        """Before the session is made; the graph may still be changed."""

    def after_create_session(self, session: Session, coord: Coordinator):
        """After a session was made, also one that takes the place of another; the graph is final."""

    def before_run(self, run_context: SessionRunContext):
        """Before each run; may return `SessionRunArgs`."""
        return

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        """After each run, with its `SessionRunValues`; may call `run_context.request_stop()`."""

    def end(self, session: Session):
        """At the end of the session, unless it ends by an exception."""


@public_methods
class SessionRunContext:
    """What hooks learn about a run.

    Args:
      original_args: `SessionRunArgs` of who called `run`.
      session: the session below the monitored one.
    """

    def __init__(self, original_args: SessionRunArgs, session: Session):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self):
        """What was asked for without hooks."""
        return self._original_args

    @property
    def session(self):
        """The session that runs."""
        return self._session

    @property
    def stop_requested(self):
        """Whether a hook wants no more runs."""
        return self._stop_requested

    def request_stop(self):
        """Asks for no more runs: `should_stop` of the session becomes True."""
        self._stop_requested = True
