"""Training that is saved when its processes receive a request to end, and goes on from there when it starts again."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tapeflow.checkpoint.manager import CheckpointManager
from tapeflow.core.public import boundaries
from tapeflow.ops.control import process_group

__all__ = ["PreemptionCheckpointHandler", "TerminationConfig"]

# The exit code that says that the program is to be started again, as TensorFlow has it.
_RESTART = 42


class TerminationConfig:
    """How a process learns that it is to end, and what it does then.

    Args:
      termination_watcher_fn: a function that says whether to end, called before every step; None: SIGTERM says so.
      exit_fn: called after the checkpoint was written; None for an exit with code 42.
      grace_period: seconds from the notice to the end, in which training goes on; None for 0.
      save_fn: called instead of `save` of the checkpoint manager, with the arguments of `save_checkpoint_if_preempted`.
    """

    def __init__(
        self, termination_watcher_fn: Callable[[], bool] | None = None, exit_fn: Callable[[], Any] | None = None,
        grace_period: float | None = None, save_fn: Callable[..., Any] | None = None,
    ):  # fmt: skip
        self.termination_watcher_fn, self.exit_fn = termination_watcher_fn, exit_fn
        self.grace_period, self.save_fn = grace_period or 0, save_fn


class PreemptionCheckpointHandler:
    """Saves a checkpoint, in step with all other processes, once one of them receives a request to end; then it ends.

    What was saved last is restored when the handler is made. The first process writes the checkpoint. Make it in the
    main thread, which takes signals.

    Args:
      cluster_resolver: accepted; the processes are those of the strategy.
      checkpoint_or_checkpoint_manager: what is saved: a `tf.train.Checkpoint`, or a `CheckpointManager` of one.
      checkpoint_dir: where a `Checkpoint` is saved.
      termination_config: a `TerminationConfig`, or None.

    Raises:
      ValueError: for a checkpoint without a folder.
    """

    def __init__(
        self, cluster_resolver: Any, checkpoint_or_checkpoint_manager: Any, checkpoint_dir: Any = None,
        termination_config: TerminationConfig | None = None,
    ):  # fmt: skip
        manager = checkpoint_or_checkpoint_manager
        if not isinstance(manager, CheckpointManager):
            if checkpoint_dir is None:
                raise ValueError("`checkpoint_dir` is needed with a checkpoint that has no manager")
            manager = CheckpointManager(manager, os.fspath(checkpoint_dir), max_to_keep=1)
        self._manager, self._config = manager, termination_config or TerminationConfig()
        self._noticed: float | None = None  # when
        self._slowest, self._calls = 0.0, 0
        if manager.latest_checkpoint is not None:
            manager.checkpoint.restore(manager.latest_checkpoint)
            self._calls = _calls_of(manager.latest_checkpoint)
        if self._config.termination_watcher_fn is None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._notice)

    def _notice(self, *_: Any) -> None:
        if self._noticed is None:
            self._noticed = time.monotonic()

    @property
    def total_run_calls(self) -> int:
        """How often `run` was called in all, before the restart too."""
        return self._calls

    def run(self, distributed_train_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function that trains, unless this is where all processes save and end.

        Args:
          distributed_train_function: a function of some steps.
          *args: its arguments.
          **kwargs: its keyword arguments.

        Returns:
          What it returns.
        """
        self.save_checkpoint_if_preempted()
        start = time.monotonic()
        result = distributed_train_function(*args, **kwargs)
        self._slowest = max(self._slowest, time.monotonic() - start)
        self._calls += 1
        return result

    def save_checkpoint_if_preempted(self, *args: Any, **kwargs: Any) -> None:
        """Save and end, if one of the processes has received a request to; all call it, after the same steps.

        Args:
          *args: arguments of `save` of the checkpoint manager.
          **kwargs: its keyword arguments.
        """
        group = process_group.current()
        due = self._is_due()
        if group is not None:
            due = bool(group.all_reduce(np.int32(due), "max"))
        if not due:
            return
        if group is None or group.rank == 0 or self._config.save_fn is not None:
            (self._config.save_fn or self._save)(*args, **kwargs)
        if group is not None:  # none ends before the checkpoint is there
            group.all_reduce(np.int32(0), "max")
        if self._config.exit_fn is not None:
            self._config.exit_fn()
            return
        sys.exit(_RESTART)

    def _is_due(self) -> bool:
        watch = self._config.termination_watcher_fn
        if watch is not None and watch():
            self._notice()
        if self._noticed is None:
            return False
        # One more step, and the checkpoint, have to fit.
        return time.monotonic() - self._noticed >= self._config.grace_period - 3 * self._slowest

    def _save(self, *args: Any, **kwargs: Any) -> None:
        path = self._manager.save(*args, **kwargs)
        if path is not None:
            with open(f"{path}.calls", "w") as file:
                file.write(str(self._calls))

    @contextlib.contextmanager
    def watch_preemption_scope(self) -> Iterator[None]:
        """A block at whose end, if its process has received a request to end, all processes save and end."""
        yield
        self.save_checkpoint_if_preempted()


def _calls_of(path: str) -> int:
    try:
        with open(f"{path}.calls") as file:
            return int(file.read())
    except (FileNotFoundError, ValueError):  # saved by something else
        return 0


boundaries(globals())
