"""What a library asks of the eager context: its configuration, and what runs its operations."""

from __future__ import annotations

from typing import Any

from tapeflow.core import config, context


def get_config() -> Any:
    """The configuration of the process, as a `ConfigProto`."""
    from tapeflow import protos  # messages are built when they are first used

    made = protos.ConfigProto()
    made.intra_op_parallelism_threads = config.get_intra_op_parallelism_threads()
    made.inter_op_parallelism_threads = config.get_inter_op_parallelism_threads()
    made.allow_soft_placement = config.get_soft_device_placement()
    for kind in ("CPU", "GPU"):
        made.device_count[kind] = len(config.list_logical_devices(kind))
    return made


class Executor:
    """What runs the operations of a thread: they are done when they return."""

    def is_async(self) -> bool:
        """False: no operation is waited for later."""
        return False

    def wait(self) -> None:
        """Waits for what devices still compute."""
        context.async_wait()

    def clear_error(self) -> None:
        """Forgets an error of an operation that nobody waited for."""
        context.async_clear_error()


def get_executor() -> Executor:
    """What runs the operations of this thread."""
    return Executor()
