"""What makes the sessions of a `MonitoredSession`: new ones, or those of a chief elsewhere."""

from __future__ import annotations

from tapeflow.core.public import boundaries, public_methods
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.train.scaffold import Scaffold
from tapeflow.train.session_manager import SessionManager


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


boundaries(globals())
