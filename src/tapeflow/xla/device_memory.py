"""Tensors on accelerators: which of jax's devices an index means, and copies between them and the host.

The elements of such a tensor are a `jax.Array`; whoever looks at them waits for the device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core import context, convert, device, device_calls, dtypes
from tapeflow.core.dtensor import placed
from tapeflow.core.dtypes import DType
from tapeflow.xla.importing import jax

# Device index -> device of jax; the host is 0.
_devices: dict[int, Any] = {}
# What TensorFlow keeps in the host's memory also where a scope asks for an accelerator: sizes and indices.
_OF_THE_HOST = (dtypes.int32, dtypes.string, dtypes.resource, dtypes.variant)


def add_devices(found: list[tuple[str, Any]]) -> None:
    """Let programs use devices of jax: (type, device) of each."""
    for kind, each in found:
        memory = _Memory(each)
        added = device.add_device(
            kind,
            details={"device_name": each.device_kind},
            memory_info=memory.info,
            reset_memory_stats=memory.reset,
        )
        _devices[added.index] = each
    names = {each.index: each.name for each in device.all_devices() if each.index}
    _native.set_device_names([device.host().name, *(names[i] for i in sorted(names))])
    device_calls.copier, device_calls.waiter = copy, wait
    _native.set_copy_to_device(copy)
    convert.place = place


def index_of_cpu(ordinal: int, of: Any) -> int:
    """The index of one of the CPUs that the host was split into, a device of jax; it is added at the first call."""
    if not ordinal:
        return 0
    known = next((index for index, each in _devices.items() if each is of), None)
    if known is None:
        known = device.add_custom_device("CPU", ordinal).index
        _devices[known] = of
    return known


class _Memory:
    """What is in use of a device's memory; where the device does not count it, the arrays there are added up.

    Then the peak is the most that any question found.
    """

    def __init__(self, of: Any):
        self._of = of
        self._peak = 0

    def _current(self) -> int:
        live = jax.live_arrays(self._of.platform)
        return sum(x.nbytes for x in live if x.devices() == {self._of})

    def info(self) -> dict[str, int]:
        stats = self._of.memory_stats()
        if stats is not None:
            return {"current": stats["bytes_in_use"], "peak": stats["peak_bytes_in_use"]}
        current = self._current()
        self._peak = max(self._peak, current)
        return {"current": current, "peak": self._peak}

    def reset(self) -> None:
        self._peak = self._current()


def wait() -> None:
    """Wait until all that was given to devices is computed."""
    for each in jax.live_arrays():
        each.block_until_ready()


def jax_device(index: int) -> Any:
    """The device of jax that an index of ours means; 0: the one for CPUs."""
    if not index and index not in _devices:
        _devices[0] = jax.local_devices(backend="cpu")[0]
    return _devices[index]


def array_on(tensor: Any, index: int) -> Any:
    """The elements of a tensor on the device of that index."""
    where, array = _native.device_array(tensor)
    if where == index and where:
        return array
    # Elements of the host are copied: they may change in place later, which the device must not see.
    given = np.array(tensor.numpy()) if where == 0 else array
    with jax.enable_x64(True):
        return jax.device_put(given, jax_device(index))


def host_array(tensor: Any) -> np.ndarray:
    """The elements of a tensor of numbers in NumPy's memory."""
    held = placed.mesh_array(tensor)
    return np.asarray(tensor.numpy()) if held is None else held.whole()


def tensor_of(array: Any, dtype: DType, index: int) -> Any:
    """The tensor of an array of jax on the device of that index."""
    if not index:
        return _native.tensor_of(np.asarray(array), dtype)
    return _native.device_tensor(array, dtype.as_datatype_enum, index)


def can_hold(dtype: DType) -> bool:
    """Whether tensors of a dtype can be on accelerators."""
    return dtype not in (dtypes.string, dtypes.resource, dtypes.variant) and not dtype.is_quantized


def on_host(tensor: Any) -> Any:
    """The same elements on the host; no tape knows the result."""
    index, _ = _native.device_array(tensor)
    return tensor if index == 0 else _native.tensor_of(host_array(tensor), tensor.dtype)


def moved(tensor: Any, index: int) -> Any:
    """The same elements on the device of that index; no tape knows the result."""
    if index == 0:
        return on_host(tensor)
    if _native.device_array(tensor)[0] == index or not can_hold(tensor.dtype):
        return tensor
    return tensor_of(array_on(tensor, index), tensor.dtype, index)


def copy(tensor: Any, name: str) -> Any:
    """What `x.gpu()` and `x.cpu()` do: a copy on the device of that name, which tapes see through.

    Raises:
      RuntimeError: for a device that there is not.
    """
    spec = device.DeviceSpec.from_string(name)
    wanted = [d for d in device.devices(spec.device_type) if d.ordinal == (spec.device_index or 0)]
    if not wanted:
        raise RuntimeError(device.unknown(name))
    result = moved(tensor, wanted[0].index)
    if result is not tensor and _native.recording_tapes() and tensor.dtype.is_floating | tensor.dtype.is_complex:
        _native.record_custom("Copy", [result], [tensor], lambda dy: [dy])
    return result


def place(tensor: Any) -> Any:
    """A new constant on the device of the scope around it, but for what belongs on the host."""
    index = context.device_index()
    if not index or tensor.dtype in _OF_THE_HOST or not isinstance(tensor, _native.EagerTensor):
        return tensor
    if index not in _devices:  # a mesh takes no constants
        return tensor
    return moved(tensor, index)
