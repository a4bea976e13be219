"""`tf.train.SessionManager`: sessions with their model initialised, restored, or waited for."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.checkpoint.state import get_checkpoint_state
from tapeflow.core import errors
from tapeflow.core.annotations import Tensor
from tapeflow.core.public import public_methods
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.graph.run.session import Session

if TYPE_CHECKING:
    from tapeflow.checkpoint.saver import Saver
    from tapeflow.graph.operation import Operation

_logger = logging.getLogger("tensorflow")


@public_methods
class SessionManager:
    """Makes sessions.

    Args:
      local_init_op, local_init_run_options, local_init_feed_dict: run in each new session.
      ready_op: gives the names of variables that are not initialised; empty: the model is ready.
      ready_for_local_init_op: the same, before `local_init_op` runs.
      graph: None: the default graph.
      recovery_wait_secs: how long to wait before looking again.

    Raises ValueError for a `ready_for_local_init_op` without `local_init_op`.
    """

    def __init__(
        self, local_init_op: Operation | None = None, ready_op: Tensor | None = None,
        ready_for_local_init_op: Tensor | None = None, graph: Graph | None = None,
        recovery_wait_secs: int = 30, local_init_run_options=None, local_init_feed_dict=None,
    ):  # fmt: skip
        self._graph = get_default_graph() if graph is None else graph
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._wait_secs = recovery_wait_secs
        self._options = local_init_run_options
        self._local_feeds = local_init_feed_dict
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op "
                             f", ready_for_local_init_op [{ready_for_local_init_op}]")  # fmt: skip

    def _restore(
        self, master: str, saver, folder: str | None, path: str | None, wait: bool, max_wait_secs: int, config
    ):
        """A session, and whether a checkpoint was restored in it."""
        session = Session(master, graph=self._graph, config=config)
        if folder and path:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        if not saver or not (folder or path):
            return session, False
        if path:
            saver.restore(session, path)
            return session, True
        waited = 0
        found = get_checkpoint_state(folder)
        while not found or not found.model_checkpoint_path:
            if not wait or waited >= max_wait_secs:
                return session, False
            _logger.info("Waiting for checkpoint to be available.")
            time.sleep(self._wait_secs)
            waited += self._wait_secs
            found = get_checkpoint_state(folder)
        saver.restore(session, found.model_checkpoint_path)
        saver.recover_last_checkpoints(found.all_model_checkpoint_paths)
        return session, True

    def prepare_session(
        self, master: str, init_op: Operation | None = None, saver: Saver | None = None,
        checkpoint_dir: str | None = None, checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False, max_wait_secs: int = 7200, config=None,
        init_feed_dict: Mapping[Any, Any] | None = None, init_fn: Callable[..., Any] | None = None,
    ):  # fmt: skip
        """A session in which the model is ready: restored from a checkpoint if there is one, else initialised.

        Raises RuntimeError if there is nothing to initialise it with, or it is not ready then.
        """
        session, restored = self._restore(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )  # fmt: skip
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(session)
        done = (
            f"Init op: {_name(init_op)}, init fn: {init_fn}, local_init_op: {_name(self._local_init_op)}"
        )
        ready, why = self._run_local_init(session)
        if not ready:
            raise RuntimeError("Init operations did not make model ready for local_init.  "
                               f"{done}, error: {why}")  # fmt: skip
        ready, why = self._model_ready(session)
        if not ready:
            raise RuntimeError(f"Init operations did not make model ready.  {done}, error: {why}")
        return session

    def recover_session(
        self, master, saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None,
        wait_for_checkpoint: bool = False, max_wait_secs=7200, config=None,
    ):  # fmt: skip
        """(session, whether the model in it was restored and is ready)."""
        session, restored = self._restore(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )  # fmt: skip
        local_ready, why = self._run_local_init(session)
        if not restored:
            return session, False
        source = checkpoint_dir or checkpoint_filename_with_path
        if not local_ready:
            _logger.info("Restoring model from %s did not make model ready for local init: %s", source, why)
            return session, False
        ready, why = self._model_ready(session)
        if not ready:
            _logger.info("Restoring model from %s did not make model ready: %s", source, why)
            return session, False
        _logger.info("Restored model from %s", source)
        return session, True

    def wait_for_session(self, master: str, config=None, max_wait_secs: float = float("inf")):
        """A session in which somebody else made the model ready.

        Raises DeadlineExceededError if that takes longer than `max_wait_secs`.
        """
        limit = float("inf") if max_wait_secs is None else max_wait_secs
        began = time.time()
        while True:
            session = Session(master, graph=self._graph, config=config)
            local_ready, why_local = self._run_local_init(session)
            why = None
            if local_ready:
                ready, why = self._model_ready(session)
                if ready:
                    return session
            session.close()
            if limit - (time.time() - began) - self._wait_secs < 0:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {limit:.0f} secs."
                )
            _logger.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s", why_local, why
            )
            time.sleep(self._wait_secs)

    def _run_local_init(self, session: Session):
        """Runs `local_init_op` if the model is ready for it; (whether it is, why not)."""
        if self._local_init_op is None:
            return True, None
        ready, why = _ready(
            self._ready_for_local_init_op, session, "Model not ready for local init"
        )
        if not ready:
            return False, why
        _logger.info("Running local_init_op.")
        session.run(self._local_init_op, feed_dict=self._local_feeds, options=self._options)
        _logger.info("Done running local_init_op.")
        return True, None

    def _model_ready(self, session: Session):
        return _ready(self._ready_op, session, "Model not ready")


def _ready(op: Tensor | None, session: Session, message: str):
    """(Whether the result of `op` is empty, what it says else)."""
    if op is None:
        return True, None
    try:
        found = session.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            _logger.warning("%s : error [%s]", message, error)
            raise
        return False, str(error)
    if found is None or np.size(found) == 0 or np.asarray(found).dtype == np.int32:
        return True, None
    names = [x.decode("utf-8") if isinstance(x, bytes) else str(x) for x in np.ravel(found)]
    return False, f"Variables not initialized: {', '.join(names)}"


def _name(op):
    return getattr(op, "name", None)
