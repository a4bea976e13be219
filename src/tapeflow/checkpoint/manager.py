"""`tf.train.CheckpointManager`: checkpoints of one folder, of which the old ones go."""

from __future__ import annotations

import collections
import os
import time
from typing import Any

from tapeflow.checkpoint.object_writing import session_of
from tapeflow.checkpoint.state import (
    get_checkpoint_state,
    remove_checkpoint,
    update_checkpoint_state,
)
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import boundaries, public_methods


@public_methods
class CheckpointManager:
    """Saves checkpoints as `<directory>/<name>-<number>` and keeps the newest `max_to_keep` of them.

    Args:
      keep_checkpoint_every_n_hours: one more is kept for good at least this often.
      step_counter, checkpoint_interval: `save` does nothing until the counter has gone on by the interval.
      init_fn: called by `restore_or_initialize` where there is no checkpoint.
    """

    def __init__(
        self,
        checkpoint: Any,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Any = None,
        checkpoint_interval: int | None = None,
        init_fn: Any = None,
        last_checkpoint_step: Any = None,
    ):
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        if checkpoint_interval is not None and checkpoint_interval <= 0:
            raise ValueError("`checkpoint_interval` should be a positive number.")
        self._checkpoint, self._directory = checkpoint, os.fspath(directory)
        self._max_to_keep, self._keep_every = max_to_keep, keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._interval, self._counter = checkpoint_interval, step_counter
        self._last_step, self._init_fn = last_checkpoint_step, init_fn
        self._kept: collections.OrderedDict[str, float] = collections.OrderedDict()
        os.makedirs(local_path(self._directory), exist_ok=True)
        state = get_checkpoint_state(self._directory)
        now = time.time()
        self._latest = None
        # A little ago, so that what is saved at once by a second manager counts as later.
        self._preserved = now - 1.0
        if state is not None:
            self._latest = state.model_checkpoint_path
            self._preserved = min(state.last_preserved_timestamp, now)
            # What has no time was not saved by a manager, and is not this one's to remove.
            paths = state.all_model_checkpoint_paths
            stamps = state.all_model_checkpoint_timestamps or [self._preserved] * len(paths)
            for path, stamp in zip(paths, stamps, strict=False):
                if min(stamp, now) > self._preserved:
                    self._kept[path] = min(stamp, now)

    @property
    def checkpoint(self) -> Any:
        """The Checkpoint."""
        return self._checkpoint

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the newest checkpoint, or None."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The prefixes of the checkpoints that are kept, the newest last."""
        return list(self._kept)

    @property
    def checkpoint_interval(self) -> int | None:
        """How far the step counter must go on between checkpoints."""
        return self._interval

    def save(
        self, checkpoint_number: Any = None, check_interval: bool = True, options: Any = None
    ) -> Any:
        """Saves a checkpoint under the given number, else the next; its prefix, or None before the interval ends."""
        if self._interval is not None and check_interval:
            step = _number(self._counter, None)
            if self._last_step is not None and step < self._last_step + self._interval:
                return None
            self._last_step = step
        number = self._checkpoint.next_number()
        if checkpoint_number is not None:
            number = _number(checkpoint_number, None)
        self.sync()
        path = f"{self._prefix}-{number}"
        return self._checkpoint._write(path, None, options, lambda: self._note(path))

    def _note(self, path: str) -> None:
        """Knows a new checkpoint, and lets old ones go."""
        self._latest = path
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        self._record()  # before old ones go, so that a crash leaves the file right
        if self._sweep():
            self._record()

    def _sweep(self) -> bool:
        """Removes checkpoints beyond max_to_keep; whether any went."""
        if not self._max_to_keep:
            return False
        gone = False
        while len(self._kept) > self._max_to_keep:
            path, stamp = self._kept.popitem(last=False)
            gone = True
            if self._keep_every is not None and (
                stamp - self._keep_every * 3600.0 >= self._preserved
            ):
                self._preserved = stamp
                continue
            remove_checkpoint(path)
        return gone

    def _record(self) -> None:
        update_checkpoint_state(
            self._directory,
            self._latest,
            list(self._kept),
            all_model_checkpoint_timestamps=list(self._kept.values()),
            last_preserved_timestamp=self._preserved,
            save_relative_paths=True,
        )

    def restore_or_initialize(self) -> str | None:
        """Restores the newest checkpoint and returns its prefix; calls `init_fn` where there is none."""
        if self._latest is not None:
            self._checkpoint.restore(self._latest)
            if self._counter is not None:
                self._last_step = _number(self._counter, None)
            return self._latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    def sync(self) -> None:
        """Waits for a write that still goes on. Raises what went wrong with it."""
        self._checkpoint.sync()


def _number(value: Any, session: Any) -> int:
    """A number, a tensor or a variable as an int; those of a graph in the default session."""
    if getattr(value, "_parts", None) is not None or (
        hasattr(value, "op") and not hasattr(value, "_parts")
    ):
        return int(session_of(session).run(value))
    return int(value.numpy() if hasattr(value, "numpy") else value)


boundaries(globals())
