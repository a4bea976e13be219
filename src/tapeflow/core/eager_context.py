"""What a library asks of the eager context: its configuration, and what runs its operations."""

from __future__ import annotations

from typing import Any

from tapeflow.core import config, context
from tapeflow.core.device import DeviceSpec


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


class Context:
    """What operations of the calling thread run in, as `tensorflow.python.eager.context.context()` gives it.

    Attributes:
      device_name: what `tf.device` said; "" for nothing.
      scope_name: what `tf.name_scope` said; "" for nothing.
    """

    log_device_placement = False

    @property
    def device_name(self) -> str:
        return context.device_name()

    @property
    def device_spec(self) -> DeviceSpec:
        """What `tf.device` said, in its parts."""
        return DeviceSpec.from_string(context.device_name())

    @property
    def scope_name(self) -> str:
        return context.current_name_scope()

    @property
    def soft_device_placement(self) -> bool:
        """Whether operations run elsewhere where their device is not there."""
        return config.get_soft_device_placement()

    @soft_device_placement.setter
    def soft_device_placement(self, enable: bool) -> None:
        config.set_soft_device_placement(enable)

    @property
    def config(self) -> Any:
        """The configuration of the process, as a `ConfigProto`."""
        return get_config()

    @property
    def executor(self) -> Executor:
        """What runs the operations of this thread."""
        return get_executor()

    def executing_eagerly(self) -> bool:
        """Whether operations run at once."""
        return context.executing_eagerly()

    in_eager_mode = executing_eagerly

    def in_graph_mode(self) -> bool:
        """Whether operations build a graph."""
        return context.building_graph()

    def is_async(self) -> bool:
        """False: operations are done when they return."""
        return False

    def ensure_initialized(self) -> None:
        """Nothing is left to do: what operations need is made when it is first used."""

    def clear_kernel_cache(self) -> None:
        """Nothing is left to do: kernels keep nothing between calls."""

    def devices(self) -> list[str]:
        """The names of the devices."""
        return [device.name for device in config.list_logical_devices()]

    def num_gpus(self) -> int:
        """How many GPUs there are."""
        return len(config.list_logical_devices("GPU"))

    def list_physical_devices(self, device_type: str | None = None) -> list[Any]:
        """The devices of the machine."""
        return list(config.list_physical_devices(device_type))

    def list_logical_devices(self, device_type: str | None = None) -> list[Any]:
        """The devices that operations run on."""
        return list(config.list_logical_devices(device_type))


_context = Context()


def current() -> Context:
    """What operations run in."""
    return _context
