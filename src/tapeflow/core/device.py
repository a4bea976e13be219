"""Device names, and the devices that there are.

A tensor carries the index of its device; index 0 is the host, `/device:CPU:0`. Accelerators are added by
the package that drives them, with `add_device`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Self

from tapeflow import _native
from tapeflow.api import api, providers
from tapeflow.core import errors
from tapeflow.core.public import boundaries

_HOST_PREFIX = "/job:localhost/replica:0/task:0"

# What may stand as a part of its own, as in "gpu:0"; others need "device:", as in "/device:XPU:0".
_bare_types = {"CPU", "GPU", "TPU", "CUSTOM"}


def _parse(spec: str) -> dict[str, Any]:
    """The fields that a device name gives."""
    fields: dict[str, Any] = {}
    device_type: str | None = None
    for part in spec.split("/"):
        key, *values = part.split(":")
        if key == "":
            continue
        if len(values) == 1 and key in ("job", "replica", "task"):
            fields[key] = values[0] if key == "job" else int(values[0])
            continue
        if key == "device" and len(values) == 2:
            found, index = values
        elif key.upper() in _bare_types and len(values) <= 1:
            found, index = key, values[0] if values else "*"
        else:
            raise ValueError(
                f"Unknown attribute '{key}' is encountered while parsing the device spec: '{spec}'."
            )
        if device_type is not None:
            raise ValueError(
                f"Multiple device types are not allowed while parsing the device spec: {spec}."
            )
        device_type = found
        fields["device_type"] = device_type
        fields["device_index"] = None if index == "*" else int(index)
    return fields


def _type_name(device_type: str) -> str:
    """A type of devices as names show it: those of every machine in capitals, others as they are."""
    upper = device_type.upper()
    return upper if upper in ("CPU", "GPU") else device_type


_FIELDS = ("job", "replica", "task", "device_type", "device_index")


@api(v2="DeviceSpec")
class DeviceSpec:
    """A device, possibly only in part: fields that are None are left open. Immutable.

    Args:
      job: the name of a job.
      replica, task, device_index: ints.
      device_type: such as "CPU" or "GPU".
    """

    __slots__ = ("_job", "_replica", "_task", "_device_type", "_device_index")

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ):
        self._set(job, replica, task, device_type, device_index)

    def _set(self, job: Any, replica: Any, task: Any, device_type: Any, device_index: Any) -> None:
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        self._device_type = None if device_type is None else _type_name(str(device_type))
        self._device_index = None if device_index is None else int(device_index)

    @property
    def job(self) -> str | None:
        return self._job

    @property
    def replica(self) -> int | None:
        return self._replica

    @property
    def task(self) -> int | None:
        return self._task

    @property
    def device_type(self) -> str | None:
        return self._device_type

    @property
    def device_index(self) -> int | None:
        return self._device_index

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_string(cls, spec: str) -> Self:
        """A `DeviceSpec` from a name such as "/job:worker/task:1/device:GPU:0" or "gpu:0".

        Raises ValueError for what is no device name.
        """
        return cls(**_parse(spec))

    def parse_from_string(self, spec: str) -> Self:
        """A spec of what a string such as "/job:worker/task:1/device:GPU:0" says."""
        return self.from_string(spec)

    def make_merged_spec(self, dev: DeviceSpec) -> Self:
        """A new spec: what `dev` says, and what this one says where `dev` leaves it open."""
        return type(self)(**self._merged(dev))

    def _merged(self, dev: DeviceSpec) -> dict[str, Any]:
        fields = self._fields()
        fields.update({key: value for key, value in dev._fields().items() if value is not None})
        return fields

    def replace(self, **kwargs: Any) -> Self:
        """A new spec with some fields changed."""
        return type(self)(**{**self._fields(), **kwargs})

    def to_string(self) -> str:
        """The name: "/job:a/replica:0/task:0/device:GPU:*"."""
        parts = [
            f"/{key}:{value}"
            for key, value in (("job", self.job), ("replica", self.replica), ("task", self.task))
            if value is not None
        ]
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type}:{index}")
        return "".join(parts)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, type(self)) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        return f"<DeviceSpec({', '.join(f'{k}={v}' for k, v in self._fields().items())})>"

    def __reduce__(self) -> Any:
        return type(self), tuple(self._fields().values())


def _writable(name: str) -> property:
    def write(self: DeviceSpecV1, value: Any) -> None:
        self._set(**{**self._fields(), name: value})

    return property(getattr(DeviceSpec, name).fget, write)


@api(v1="DeviceSpec")
class DeviceSpecV1(DeviceSpec):
    """The `DeviceSpec` of 1.x, whose fields can be changed in place."""

    __slots__ = ()

    job = _writable("job")
    replica = _writable("replica")
    task = _writable("task")
    device_type = _writable("device_type")
    device_index = _writable("device_index")

    __hash__ = DeviceSpec.__hash__

    def parse_from_string(self, spec: str) -> Self:
        """Take over what a string such as "/job:worker/task:1/device:GPU:0" says; return this spec."""
        self._set(**self.from_string(spec)._fields())
        return self

    def merge_from(self, dev: DeviceSpec) -> None:
        """Take over what `dev` says."""
        self._set(**self._merged(dev))


def canonical_name(name: str | DeviceSpec | None) -> str:
    """A device name in its one written form; "" for None."""
    if name is None:
        return ""
    if isinstance(name, DeviceSpec):
        return name.to_string()
    return DeviceSpec.from_string(name).to_string()


def _no_memory_known() -> dict[str, int]:
    return {"current": 0, "peak": 0}


class Device:
    """A device that tensors can be on.

    Attributes:
      index: the number by which tensors know it; 0 is the host.
      type: "CPU", "GPU", "TPU", ...
      ordinal: its number among the devices of its type.
      details: what `tf.config.experimental.get_device_details` tells of it.
      memory_info: returns {"current": bytes, "peak": bytes}.
      reset_memory_stats: sets the peak to the current value.
      visible: whether programs can use it.
    """

    def __init__(
        self,
        index: int,
        device_type: str,
        ordinal: int,
        details: dict[str, Any] | None = None,
        memory_info: Callable[[], dict[str, int]] = _no_memory_known,
        reset_memory_stats: Callable[[], None] = lambda: None,
    ):
        self.index = index
        self.type = device_type
        self.ordinal = ordinal
        self.details = details or {}
        self.memory_info = memory_info
        self.reset_memory_stats = reset_memory_stats
        self.visible = True

    @property
    def name(self) -> str:
        """The full name, as `tensor.device` gives it."""
        return f"{_HOST_PREFIX}/device:{self.type}:{self.ordinal}"


_devices: list[Device] = [Device(0, "CPU", 0)]
# Those that no list of devices has: found by their names alone.
_custom: list[Device] = []
_soft_placement = True
_looked = False
_look_lock = threading.RLock()
_looking = False


def _look() -> None:
    """Find the accelerators once; other threads wait, and what fails is tried again at the next look."""
    global _looked, _looking
    if _looked:
        return
    with _look_lock:
        if _looked or _looking:  # done meanwhile, or asked for by those who look
            return
        _looking = True
        try:
            providers.load("accelerators").add()
            _looked = True
        finally:
            _looking = False


def add_device(device_type: str, **attributes: Any) -> Device:
    """Add an accelerator, or another name for the host where `device_type` is "CPU".

    `attributes` are further arguments of `Device`. The new device has the next ordinal of its type.
    """
    ordinal = sum(device.type == device_type for device in _devices)
    index = 0 if device_type == "CPU" else 1 + max(device.index for device in _devices)
    device = Device(index, device_type, ordinal, **attributes)
    _devices.append(device)
    _bare_types.add(device_type)
    return device


def add_custom_device(device_type: str, ordinal: int = 0) -> Device:
    """Add a device that no list has: the last of all, found by its name where no other has it."""
    _look()
    last = max(device.index for device in [*_devices, *_custom])
    made = Device(last + 1, device_type, ordinal)
    _custom.append(made)
    names = {each.index: each.name for each in [*_devices, *_custom] if each.index}
    _native.set_device_names([host().name, *(names[i] for i in sorted(names))])
    return made


def remove_device(device: Device) -> None:
    """Take a device that `add_device` gave out of the list."""
    _devices.remove(device)


def devices(device_type: str | None = None) -> list[Device]:
    """The visible devices, all or those of one type."""
    if device_type != "CPU":
        _look()
    return [d for d in _devices if d.visible and device_type in (None, d.type)]


def all_devices() -> list[Device]:
    """The devices, those included that `tf.config.set_visible_devices` hides."""
    _look()
    return list(_devices)


def host() -> Device:
    return _devices[0]


def name_of(index: int) -> str:
    """The full name of the device with that index."""
    return next(device.name for device in [*_devices, *_custom] if device.index == index)


def set_soft_placement(enabled: bool) -> None:
    """Whether the host stands in for a device that is asked for and absent."""
    global _soft_placement
    _soft_placement = bool(enabled)


def soft_placement() -> bool:
    return _soft_placement


def unknown(name: str) -> str:
    """What an error says of a device that there is not: its name, and those that there are."""
    return f"{name} unknown device. All available devices [{', '.join(device.name for device in devices())}]."


def find(name: str | DeviceSpec | None) -> Device:
    """The device that a name, perhaps given only in part, means; the host for None or "".

    Raises InvalidArgumentError, naming what there is, if it is absent and soft placement is off;
    ValueError if `name` is no device name.
    """
    spec = name if isinstance(name, DeviceSpec) else DeviceSpec.from_string(name or "")
    asked = DeviceSpec("localhost", 0, 0, "CPU" if spec.device_type is None else None, 0)
    asked = asked.make_merged_spec(spec)
    if asked.device_type != "CPU":
        _look()
    if (asked.job, asked.replica, asked.task) != ("localhost", 0, 0):
        raise errors.InvalidArgumentError(None, None, f"{asked.to_string()} unknown device.")
    for device in [*devices(asked.device_type), *_custom]:
        if device.type == asked.device_type and device.ordinal == asked.device_index:
            return device
    if _soft_placement:
        return host()
    types = dict.fromkeys(device.type for device in devices())
    names = [device.name for device in devices()]
    raise errors.InvalidArgumentError(
        None,
        None,
        f"Could not satisfy device specification '{asked.to_string()}'. enable_soft_placement=0. "
        f"Supported device types [{', '.join(types)}]. "
        f"All available devices [{', '.join(names)}].",
    )


def num_gpus() -> int:
    """How many GPUs there are."""
    return len(devices("GPU"))


def gpu_device_name() -> str:
    """The name of the first GPU, "/device:GPU:0"; "" if there is none."""
    return next((f"/device:GPU:{device.ordinal}" for device in devices("GPU")), "")


def is_gpu_available(
    cuda_only: bool = False, min_cuda_compute_capability: tuple[int, int] | None = None
) -> bool:
    """Tell whether there is a GPU.

    Args:
      cuda_only: not used: all are of CUDA.
      min_cuda_compute_capability: the compute capability that it has at least, a pair of ints (optional).

    Returns:
      A bool.
    """
    del cuda_only
    for device in devices("GPU"):
        capability = device.details.get("compute_capability", (0, 0))
        if min_cuda_compute_capability is None or capability >= min_cuda_compute_capability:
            return True
    return False


boundaries(globals())
