"""`tf.train.CheckpointOptions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.public import boundaries


class CheckpointOptions:
    """How checkpoints are written and read.

    Args:
      enable_async, experimental_enable_async_checkpoint: whether the values are copied, and written while the program
        goes on; the next write, `sync` and the end of the program wait for it.
      experimental_write_callbacks: functions that are called when a checkpoint is written, with its path if they take
        one.
      experimental_skip_slot_variables: whether the slots of optimizers are left out, in writing and in reading.
      experimental_sharding_callback: a `ShardingCallback` that says what goes to which file.
      experimental_io_device: kept.

    Raises AssertionError for callbacks that take more than one argument.
    """

    __slots__ = (
        "experimental_io_device", "experimental_enable_async_checkpoint", "experimental_write_callbacks",
        "enable_async", "experimental_sharding_callback", "experimental_skip_slot_variables",
    )  # fmt: skip

    def __init__(
        self,
        experimental_io_device: str | None = None,
        experimental_enable_async_checkpoint: bool = False,
        experimental_write_callbacks: Sequence[Callable[..., Any]] | None = None,
        enable_async: bool = False,
        experimental_skip_slot_variables: bool = False,
        experimental_sharding_callback: Any = None,
    ):
        self.experimental_io_device = experimental_io_device
        self.enable_async = enable_async or experimental_enable_async_checkpoint
        self.experimental_enable_async_checkpoint = self.enable_async
        self.experimental_write_callbacks = (
            None if experimental_write_callbacks is None else list(experimental_write_callbacks)
        )
        for callback in self.experimental_write_callbacks or ():
            if _arguments(callback) > 1:
                raise AssertionError(f"A write callback takes a path or nothing, not {callback}")
        self.experimental_skip_slot_variables = experimental_skip_slot_variables
        self.experimental_sharding_callback = experimental_sharding_callback

    @staticmethod
    def of(options: Any) -> CheckpointOptions:
        """The options, or their defaults for None. Raises TypeError for anything else."""
        if options is None:
            return CheckpointOptions()
        if not isinstance(options, CheckpointOptions):
            raise TypeError(f"`options` must be of type tf.train.CheckpointOptions, got {options!r}.")
        return options

    def written(self, path: str) -> None:
        """Tells the callbacks that a checkpoint is there."""
        for callback in self.experimental_write_callbacks or ():
            callback(path) if _arguments(callback) else callback()


def _arguments(callback: Callable[..., Any]) -> int:
    import inspect

    return len(inspect.signature(callback).parameters)


boundaries(globals())
