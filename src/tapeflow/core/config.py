"""The functions of `tf.config`: which devices there are and are used, and how operations run on them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.api import api, api_value
from tapeflow.core import context
from tapeflow.core import device as placement
from tapeflow.core.public import boundaries

PhysicalDevice = namedtuple("PhysicalDevice", ["name", "device_type"])
api_value("PhysicalDevice", "config.PhysicalDevice")
PhysicalDevice.__doc__ = "A device of this machine, as `list_physical_devices` gives it."

LogicalDevice = namedtuple("LogicalDevice", ["name", "device_type"])
api_value("LogicalDevice", "config.LogicalDevice")
LogicalDevice.__doc__ = "A device that programs see, as `list_logical_devices` gives it."

LogicalDeviceConfiguration = namedtuple(
    "LogicalDeviceConfiguration",
    ["memory_limit", "experimental_priority", "experimental_device_ordinal"],
    defaults=[None, None, None],
)
api_value("LogicalDeviceConfiguration", "config.LogicalDeviceConfiguration")
LogicalDeviceConfiguration.__doc__ = "How one logical device is to be made; see its fields."
VirtualDeviceConfiguration = LogicalDeviceConfiguration
api_value("VirtualDeviceConfiguration", "config.experimental.VirtualDeviceConfiguration")

# Called with the number of threads that operations may use.
on_threads_change: list[Callable[[int], None]] = []

_intra_op_threads = 0
_inter_op_threads = 0
_memory_growth: dict[PhysicalDevice, bool] = {}
_logical_configurations: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}
_added_cpus: list[placement.Device] = []
_optimizer_options: dict[str, bool] = {}
_jit = ""
_tensor_float_32 = True
_op_determinism = False


def _physical_name(dev: placement.Device) -> str:
    return f"/physical_device:{dev.type}:{dev.ordinal}"


def _physical(dev: placement.Device) -> PhysicalDevice:
    return PhysicalDevice(_physical_name(dev), dev.type)


def _device_of(physical: Any) -> placement.Device:
    for dev in placement.all_devices():
        if dev not in _added_cpus and _physical(dev) == physical:
            return dev
    raise ValueError(f"Unrecognized device: {physical!r}")


# Devices.


@api("config.experimental.list_physical_devices", "config.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine, all or those of one type."""
    return [
        _physical(dev)
        for dev in placement.all_devices()
        if dev not in _added_cpus and device_type in (None, dev.type)
    ]


@api("config.experimental.list_logical_devices", "config.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that programs can use, all or those of one type."""
    return [
        LogicalDevice(f"/device:{dev.type}:{dev.ordinal}", dev.type)
        for dev in placement.devices(device_type)
    ]


@api("config.experimental.get_visible_devices", "config.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The physical devices that programs can use."""
    return [p for p in list_physical_devices(device_type) if _device_of(p).visible]


@api("config.experimental.set_visible_devices", "config.set_visible_devices")
def set_visible_devices(
    devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None
) -> None:
    """Choose the devices that are used; the host always is.

    Args:
      devices: a `tf.config.PhysicalDevice`, or a list of those.
      device_type: which type of devices the choice is about, such as "GPU"; None: all.

    Raises:
      ValueError: for a device that is not in `tf.config.list_physical_devices`.
    """
    wanted = [devices] if isinstance(devices, PhysicalDevice) else devices
    if not isinstance(wanted, (list, tuple)):
        raise ValueError(f"Unrecognized device: {devices!r}")
    known = list_physical_devices(device_type)
    for physical in wanted:
        if physical not in known:
            raise ValueError(f"Unrecognized device: {physical!r}")
    for physical in known:
        dev = _device_of(physical)
        dev.visible = dev is placement.host() or physical in wanted
    context.reset_devices()


@api("config.experimental.get_virtual_device_configuration", "config.get_logical_device_configuration")
def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """How a physical device is split into logical ones, None if it is not."""
    _device_of(device)
    return _logical_configurations.get(device)


@api("config.experimental.set_virtual_device_configuration", "config.set_logical_device_configuration")
def set_logical_device_configuration(
    device: PhysicalDevice,
    logical_devices: Sequence[LogicalDeviceConfiguration] | None,
) -> None:
    """Split a physical device into logical ones: for the CPU, further names of the host.

    Args:
      device: a `tf.config.PhysicalDevice`.
      logical_devices: a list of `tf.config.LogicalDeviceConfiguration`; None: one device.

    Raises:
      ValueError: for an unknown device, for a memory limit on the CPU, and for splitting an accelerator into
        several.
    """
    dev = _device_of(device)
    parts = list(logical_devices or [])
    if dev.type != "CPU":
        if len(parts) > 1:
            raise ValueError(f"{device!r} cannot be split into {len(parts)} logical devices")
    else:
        if any(part.memory_limit is not None for part in parts):
            raise ValueError(
                "Setting memory limit on CPU virtual devices is currently not supported"
            )
        _split_host(max(len(parts), 1))
    _logical_configurations[device] = parts


def _split_host(count: int) -> None:
    while len(_added_cpus) > count - 1:
        placement.remove_device(_added_cpus.pop())
    while len(_added_cpus) < count - 1:
        _added_cpus.append(placement.add_device("CPU"))
    context.reset_devices()


def reset_devices() -> None:
    """Undo what was said of the devices: all are visible, none is split."""
    _split_host(1)
    _logical_configurations.clear()
    set_visible_devices(list_physical_devices())


get_virtual_device_configuration = get_logical_device_configuration
set_virtual_device_configuration = set_logical_device_configuration


@api("config.experimental.get_device_details")
def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """What is known of a device: "device_name" and "compute_capability" of a GPU."""
    if not isinstance(device, PhysicalDevice):
        raise ValueError(f"device must be a tf.config.PhysicalDevice, but got: {device}")
    if device not in list_physical_devices():
        raise ValueError(
            "The PhysicalDevice must be one obtained from calling "
            f"`tf.config.list_physical_devices`, but got: {device}"
        )
    return dict(_device_of(device).details)


# Memory.


@api("config.experimental.get_memory_growth")
def get_memory_growth(device: PhysicalDevice) -> bool | None:
    """Whether memory of a device is taken as needed; None if that was not set."""
    _device_of(device)
    return _memory_growth.get(device)


@api("config.experimental.set_memory_growth")
def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Say whether memory of a device is taken as it is needed.

    Args:
      device: a `tf.config.PhysicalDevice`.
      enable: whether it is.

    Raises:
      ValueError: for the CPU, and an unknown device.
    """
    if _device_of(device).type == "CPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    _memory_growth[device] = bool(enable)


def _device_for_memory(name: str) -> placement.Device:
    try:
        spec = placement.DeviceSpec.from_string(name)
    except ValueError:
        spec = placement.DeviceSpec()
    if spec.device_type is None or spec.device_index is None:
        raise ValueError(
            f"Failed parsing device name: '{name}'. Note a valid device string should at least "
            'contain a device type and a device index, like "GPU:0".'
        )
    for dev in placement.devices(spec.device_type):
        if dev.ordinal == spec.device_index:
            return dev
    raise ValueError(f"No matching devices found for '{name}'")


@api("config.experimental.get_memory_info")
def get_memory_info(device: str) -> dict[str, int]:
    """Bytes in use on a device: {"current": now, "peak": the most there were}."""
    return _device_for_memory(device).memory_info()


@api("config.experimental.get_memory_usage")
def get_memory_usage(device: str) -> int:
    """Bytes in use on a device now."""
    return get_memory_info(device)["current"]


@api("config.experimental.reset_memory_stats")
def reset_memory_stats(device: str) -> None:
    """Make the peak of a device's memory its current use."""
    _device_for_memory(device).reset_memory_stats()


# How operations run.


@api("config.get_soft_device_placement")
def get_soft_device_placement() -> bool:
    """Whether the host stands in for a device that is asked for and absent."""
    return placement.soft_placement()


@api("config.set_soft_device_placement")
def set_soft_device_placement(enabled: bool) -> None:
    """Whether the host stands in for a device that is asked for and absent, instead of an error."""
    placement.set_soft_placement(enabled)
    context.reset_devices()


@api("config.threading.get_intra_op_parallelism_threads")
def get_intra_op_parallelism_threads() -> int:
    """The number of threads one operation may use; 0 stands for all the cores."""
    return _intra_op_threads


@api("config.threading.set_intra_op_parallelism_threads")
def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """The number of threads one operation may use; 0 stands for all the cores."""
    global _intra_op_threads
    if num_threads < 0:
        raise ValueError(f"num_threads must be >= 0, but got {num_threads}")
    _intra_op_threads = int(num_threads)
    for listener in on_threads_change:
        listener(_intra_op_threads)


@api("config.threading.get_inter_op_parallelism_threads")
def get_inter_op_parallelism_threads() -> int:
    """The number that was set; operations of a plan run one after another here."""
    return _inter_op_threads


@api("config.threading.set_inter_op_parallelism_threads")
def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """How many operations may run at once. Kept, but eager operations run one after the other."""
    global _inter_op_threads
    if num_threads < 0:
        raise ValueError(f"num_threads must be >= 0, but got {num_threads}")
    _inter_op_threads = int(num_threads)


@api("config.experimental.get_synchronous_execution")
def get_synchronous_execution() -> bool:
    """Whether the mode of execution is SYNC, as it is unless set; calls have always finished when they return."""
    return context.get_execution_mode() == context.SYNC


@api("config.experimental.set_synchronous_execution")
def set_synchronous_execution(enable: bool) -> None:
    """Kept, but operations always finish before they return."""
    context.set_execution_mode(context.SYNC if enable else context.ASYNC)


_POLICIES = {
    "silent": context.DEVICE_PLACEMENT_SILENT,
    "silent_for_int32": context.DEVICE_PLACEMENT_SILENT_FOR_INT32,
    "warn": context.DEVICE_PLACEMENT_WARN,
    "explicit": context.DEVICE_PLACEMENT_EXPLICIT,
}


@api("config.experimental.get_device_policy")
def get_device_policy() -> str:
    """What happens to inputs on another device: "silent", "silent_for_int32", "warn" or "explicit"."""
    policy = context.get_device_policy()
    return next(name for name, number in _POLICIES.items() if number == policy)


@api("config.experimental.set_device_policy")
def set_device_policy(device_policy: str | None) -> None:
    """What happens to inputs on another device; None for the default, "silent"."""
    name = "silent" if device_policy is None else device_policy
    if name not in _POLICIES:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. Please refer to "
            "https://www.tensorflow.org/api_docs/python/tf/config/experimental/set_device_policy "
            "for valid `device_policy` arguments."
        )
    context.set_device_policy(_POLICIES[name])


@api("config.experimental_run_functions_eagerly", "config.run_functions_eagerly")
def run_functions_eagerly(run_eagerly: bool) -> None:
    """Whether a `tf.function` runs its Python, as if it were not decorated."""
    context.set_functions_run_eagerly(bool(run_eagerly))


@api("config.experimental_functions_run_eagerly", "config.functions_run_eagerly")
def functions_run_eagerly() -> bool:
    """Whether `run_functions_eagerly` has let `tf.function`s run as plain Python."""
    return context.functions_run_eagerly()


@api("config.experimental.enable_op_determinism")
def enable_op_determinism() -> None:
    """Ask for operations that give the same result on the same machine every time."""
    global _op_determinism
    _op_determinism = True


def is_op_determinism_enabled() -> bool:
    return _op_determinism


@api("config.experimental.enable_tensor_float_32_execution")
def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Whether GPUs may round the factors of float32 products to 10 bits."""
    global _tensor_float_32
    _tensor_float_32 = bool(enabled)


@api("config.experimental.tensor_float_32_execution_enabled")
def tensor_float_32_execution_enabled() -> bool:
    """What `enable_tensor_float_32_execution` has set; products are computed in full precision all the same."""
    return _tensor_float_32


# The optimizer of graphs.


@api("config.optimizer.get_jit")
def get_jit() -> str:
    """ "autoclustering" if graphs are to be compiled by XLA, else ""."""
    return _jit


@api("config.optimizer.set_jit")
def set_jit(enabled: bool | str) -> None:
    """Whether XLA compiles what it can of graphs: True or "autoclustering", or a false value.

    It takes effect on functions that run for the first time afterwards, on the CPU, too, and needs jax.
    """
    global _jit
    _jit = "autoclustering" if enabled in (True, "autoclustering") else ""


@api("config.optimizer.get_experimental_options")
def get_experimental_options() -> dict[str, bool]:
    """The options of the optimizer of graphs that were set."""
    unset = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    return {**_optimizer_options, **{k: v for k, v in unset.items() if k not in _optimizer_options}}


@api("config.optimizer.set_experimental_options")
def set_experimental_options(options: dict[str, bool]) -> None:
    """Set options of the optimizer of graphs, by name."""
    _optimizer_options.update(options)


def is_tfrt_enabled() -> bool:
    """False: there is one runtime."""
    return False


boundaries(globals())
