"""`tf.tpu.experimental.Topology`: where in a mesh the cores of TPUs are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow import protos
from tapeflow.core.public import boundaries

_LARGEST = 1 << 24  # places in the mesh of a message; the arrays of all places are made of it


class Topology:
    """The mesh of the cores of a TPU system, and which task has which of them.

    Args:
      serialized: a `TopologyProto` as bytes; the other arguments are not used then.
      mesh_shape: the sizes of the mesh: x, y, z, and the cores of a chip.
      device_coordinates: array `[tasks, devices of a task, 4]`: where each device is in the mesh.

    Raises:
      ValueError: for a mesh, or coordinates, that cannot be.
    """

    def __init__(self, serialized: bytes | None = None, mesh_shape: Any = None, device_coordinates: Any = None):
        self._serialized = serialized
        if serialized:
            self._parse(serialized)
        else:
            self._mesh_shape = np.asarray(mesh_shape, np.int32)
            self._device_coordinates = np.asarray(device_coordinates, np.int32)
            if len(self._mesh_shape) != 4 or any(self._mesh_shape < 1):
                raise ValueError(
                    f"`mesh_shape` must be a sequence of 4 positive entries; got `mesh_shape={self._mesh_shape}`"
                )
            shape = self._device_coordinates.shape
            if len(shape) != 3 or shape[2] != 4:
                raise ValueError(
                    "`device_coordinates` must be a rank 3 int32 array whose last dimension is the rank of the mesh, "
                    f"4; got shape {shape}"
                )
        self._tasks = np.full(self._mesh_shape, -1, np.int32)
        self._devices = np.full(self._mesh_shape, -1, np.int32)
        for task, devices in enumerate(self._device_coordinates):
            for device, place in enumerate(devices):
                self._tasks[tuple(place)] = task
                self._devices[tuple(place)] = device

    def _parse(self, serialized: bytes) -> None:
        proto = getattr(protos, "tpu.TopologyProto").FromString(serialized)
        self._mesh_shape = np.array(proto.mesh_shape, np.int32)
        if len(self._mesh_shape) != 4 or any(self._mesh_shape < 1):
            raise ValueError(f"`mesh_shape` must be a vector of size 4 with positive entries; got {self._mesh_shape}")
        for name in ("num_tasks", "num_tpu_devices_per_task"):
            if getattr(proto, name) < 0:
                raise ValueError(f"`{name}` must be >= 0; got {getattr(proto, name)}")
        if math.prod(proto.mesh_shape) > _LARGEST:
            raise ValueError(f"`mesh_shape` must have at most {_LARGEST} places; got {self._mesh_shape}")
        shape = (proto.num_tasks, proto.num_tpu_devices_per_task, 4)
        coordinates = np.array(proto.device_coordinates, np.int32)
        if coordinates.size != math.prod(shape):
            raise ValueError(f"`device_coordinates` must have shape {shape}; got {coordinates.size} numbers")
        if (coordinates < 0).any():
            raise ValueError(f"All values in `device_coordinates` must be >= 0, got {coordinates}")
        self._device_coordinates = coordinates.reshape(shape)
        if (self._device_coordinates >= self._mesh_shape).any():
            raise ValueError(f"All of `device_coordinates` must be in the mesh of shape {self._mesh_shape}")

    @property
    def mesh_shape(self) -> np.ndarray:
        """The sizes of the mesh."""
        return self._mesh_shape

    @property
    def mesh_rank(self) -> int:
        """How many dimensions the mesh has."""
        return len(self._mesh_shape)

    @property
    def device_coordinates(self) -> np.ndarray:
        """Where each device of each task is."""
        return self._device_coordinates

    @property
    def missing_devices(self) -> np.ndarray:
        """The places of the mesh that no device has."""
        return np.argwhere(self._tasks < 0)

    @property
    def num_tasks(self) -> int:
        """How many tasks there are."""
        return self._device_coordinates.shape[0]

    @property
    def num_tpus_per_task(self) -> int:
        """How many devices each task has."""
        return self._device_coordinates.shape[1]

    def task_ordinal_at_coordinates(self, device_coordinates: Sequence[int]) -> int:
        """Return the number of the task whose device is at a place of the mesh."""
        return self._tasks[tuple(device_coordinates)]

    def tpu_device_ordinal_at_coordinates(self, device_coordinates: Sequence[int]) -> int:
        """Return the number, in its task, of the device at a place of the mesh."""
        return self._devices[tuple(device_coordinates)]

    def cpu_device_name_at_coordinates(self, device_coordinates: Sequence[int], job: str | None = None) -> str:
        """Return the name of the CPU beside the device at a place of the mesh."""
        return f"{self._task_name(device_coordinates, job)}/device:CPU:0"

    def tpu_device_name_at_coordinates(self, device_coordinates: Sequence[int], job: str | None = None) -> str:
        """Return the name of the device at a place of the mesh."""
        number = self.tpu_device_ordinal_at_coordinates(device_coordinates)
        return f"{self._task_name(device_coordinates, job)}/device:TPU:{number}"

    def _task_name(self, place: Sequence[int], job: str | None) -> str:
        task = f"/task:{self.task_ordinal_at_coordinates(place)}"
        return task if job is None else f"/job:{job}{task}"

    def serialized(self) -> bytes:
        """Return the topology as the bytes of a `TopologyProto`."""
        if self._serialized is None:
            proto = getattr(protos, "tpu.TopologyProto")(
                mesh_shape=self._mesh_shape.tolist(),
                num_tasks=self.num_tasks,
                num_tpu_devices_per_task=self.num_tpus_per_task,
                device_coordinates=self._device_coordinates.ravel().tolist(),
            )
            self._serialized = proto.SerializeToString()
        return self._serialized


boundaries(globals())
