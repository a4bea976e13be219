"""`tf.tpu.experimental.DeviceAssignment`: which cores of a mesh each replica of a computation runs on."""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core.public import boundaries
from tapeflow.tpu.topology import Topology

Place = tuple[int, int, int]


class DeviceOrderMode(enum.IntEnum):
    """In which order cores are taken: as it fits (AUTO), neighbours in a ring (RING), row by row (MESH)."""

    AUTO = 0
    RING = 1
    MESH = 2


class DeviceAssignment:
    """Which core of a mesh each logical core of each replica is.

    Args:
      topology: a `Topology`.
      core_assignment: integer array `[replicas, logical cores of a replica, 4]` of places of the mesh.

    Raises:
      ValueError: for arguments that are not these.
    """

    def __init__(self, topology: Topology, core_assignment: Any):
        if not isinstance(topology, Topology):
            raise ValueError(f"topology must be a Topology object, got {type(topology)}")
        assignment = np.asarray(core_assignment, np.int32)
        if assignment.ndim != 3:
            raise ValueError(f"core_assignment must be a rank 3 numpy array, got shape {assignment.shape}")
        if assignment.shape[-1] != topology.mesh_rank:
            raise ValueError(
                f"core_assignment.shape[-1] must have size equal to topology rank ({topology.mesh_rank}), got "
                f"core_assignment.shape={assignment.shape}"
            )
        self._topology = topology
        self._core_assignment = assignment
        self._replicas: dict[tuple[int, int], list[int]] = {}
        for replica, cores in enumerate(assignment):
            for core, place in enumerate(cores):
                task = int(topology.task_ordinal_at_coordinates(place))
                self._replicas.setdefault((task, core), []).append(replica)

    @property
    def topology(self) -> Topology:
        """The topology."""
        return self._topology

    @property
    def num_cores_per_replica(self) -> int:
        """How many cores a replica has."""
        return self._core_assignment.shape[1]

    @property
    def num_replicas(self) -> int:
        """How many replicas there are."""
        return self._core_assignment.shape[0]

    @property
    def core_assignment(self) -> np.ndarray:
        """The place in the mesh of each logical core of each replica."""
        return self._core_assignment

    def coordinates(self, replica: int, logical_core: int) -> tuple[int, ...]:
        """Return the place in the mesh of a logical core."""
        return tuple(self._core_assignment[replica, logical_core])

    def lookup_replicas(self, task_id: int, logical_core: int) -> list[int]:
        """Return the replicas whose logical core of this number a task has. Raises ValueError where none is."""
        found = self._replicas.get((task_id, logical_core))
        if found is None:
            raise ValueError(f"Can not find any replica in task: {task_id} contains logical_core: {logical_core} ")
        return found

    def tpu_ordinal(self, replica: int = 0, logical_core: int = 0) -> int:
        """Return the number, in its task, of the device of a logical core."""
        return self._topology.tpu_device_ordinal_at_coordinates(self.coordinates(replica, logical_core))

    def host_device(self, replica: int = 0, logical_core: int = 0, job: str | None = None) -> str:
        """Return the name of the CPU beside a logical core."""
        return self._topology.cpu_device_name_at_coordinates(self.coordinates(replica, logical_core), job)

    def tpu_device(self, replica: int = 0, logical_core: int = 0, job: str | None = None) -> str:
        """Return the name of the device of a logical core."""
        return self._topology.tpu_device_name_at_coordinates(self.coordinates(replica, logical_core), job)

    @classmethod
    def build(
        cls, topology: Any, computation_shape: Any = None, computation_stride: Any = None, num_replicas: int = 1,
        device_order_mode: DeviceOrderMode = DeviceOrderMode.AUTO,
    ) -> DeviceAssignment:  # fmt: skip
        """Return an assignment of blocks of the mesh to replicas.

        Args:
          topology: a `Topology`, or one that was serialised.
          computation_shape: the shape of the block of a replica; one core unless given.
          computation_stride: how far the cores of a block are apart; 1 unless given.
          num_replicas: how many replicas there are.
          device_order_mode: in which order cores are taken.

        Raises:
          ValueError: for blocks that do not fit.
        """
        if isinstance(topology, bytes):
            topology = Topology(serialized=topology)
        if not isinstance(topology, Topology):
            raise ValueError(f"`topology` is not a Topology object; got {type(topology)}")
        block = _sizes("computation_shape", computation_shape, topology)
        stride = _sizes("computation_stride", computation_stride, topology)
        footprint = block * stride
        if any(footprint > topology.mesh_shape):
            raise ValueError(
                f"computation footprint {footprint} does not fit in TPU topology shape {topology.mesh_shape}"
            )
        counts = topology.mesh_shape // footprint * stride
        if num_replicas > counts.prod():
            raise ValueError(
                f"requested {num_replicas} replicas but only {counts.prod()} replicas with shape {block} and "
                f"computation_stride {stride} fit in a TPU mesh of shape {topology.mesh_shape}"
            )
        if topology.missing_devices.size:
            return cls(topology, _in_order(topology, int(block.prod()), num_replicas, stride))
        ringed = (
            block[-1] == topology.mesh_shape[-1] and stride.prod() == 1 and num_replicas == counts.prod()
        )
        if device_order_mode == DeviceOrderMode.RING and not ringed:
            raise ValueError(
                "device_order_mode=DeviceOrderMode.RING is not compatible with the 3D tiling current topology.  Try "
                "setting device_order_mode=DeviceOrderMode.AUTO"
            )
        replicas = _near_cube(num_replicas, counts)
        if ringed and device_order_mode != DeviceOrderMode.MESH:
            return cls(topology, _along_rings(num_replicas, block, replicas))
        return cls(topology, _row_by_row(num_replicas, block, stride, replicas))


def _sizes(name: str, given: Any, topology: Topology) -> np.ndarray:
    rank = topology.mesh_rank
    sizes = np.ones(rank, np.int32) if given is None else np.asarray(given, np.int32)
    if sizes.shape != (rank,):
        raise ValueError(f"{name} must have shape [{rank}]; got {sizes.shape}")
    if any(sizes < 1):
        raise ValueError(f"{name} must be positive; got {name}={sizes}")
    return sizes


def _in_order(topology: Topology, cores: int, replicas: int, stride: np.ndarray) -> np.ndarray:
    """The devices in the order of their tasks, where the mesh has holes."""
    devices = topology.device_coordinates.reshape(-1, topology.mesh_rank)
    if stride.prod() != 1 or replicas * cores > len(devices):
        raise ValueError(f"{replicas} replicas of {cores} cores do not fit on the {len(devices)} devices of the mesh")
    return devices[: replicas * cores].reshape(replicas, cores, -1)


def _near_cube(count: int, most: np.ndarray) -> list[int]:
    """The sizes of a block of replicas that holds `count`, about the same along each dimension."""
    sizes = [0] * len(most)
    left = count
    last = len(most) - 1
    # Smallest dimension first; of equal ones, the last one first.
    order = sorted(range(len(most)), key=lambda i: (most[i], -1 if i == last else i))
    for place, i in enumerate(order if count else ()):
        even = math.ceil(left ** (1.0 / (len(most) - place)))
        sizes[i] = int(min(even, most[i]))
        left = -(-left // sizes[i])
    return sizes


def _row_by_row(count: int, block: np.ndarray, stride: np.ndarray, replicas: Sequence[int]) -> np.ndarray:
    """Replicas one after another: the cores of a chip first, then x, y and z."""
    within = np.stack(
        np.meshgrid(*(np.arange(size) * step for size, step in zip(block, stride, strict=True)), indexing="ij"), -1
    ).reshape(-1, len(block))
    sizes = [replicas[-1], *replicas[:-1]]
    offsets = []
    for number in range(count):
        place = []
        for size in sizes:
            place.append(number % size)
            number //= size
        at = np.array([*place[1:], place[0]])
        offsets.append(at // stride * block * stride + at % stride)
    return within + np.array(offsets, np.int32).reshape(count, 1, len(block))


def _along_rings(count: int, block: np.ndarray, replicas: Sequence[int]) -> np.ndarray:
    """Chips next to each other: replicas along one ring, and the chips of each along another."""
    inner, outer = _ring(*block[:3]), _ring(*replicas[:3])
    return np.array([
        [[*(np.array(far) * block[:3] + near), core] for near in inner for core in range(block[3])]
        for far in outer[:count]
    ])


def _ring(x: int, y: int, z: int) -> list[Place]:
    """All places of a box so that each is beside the next, and the last one beside the first where that can be."""
    sizes = (int(x), int(y), int(z))
    wide = [i for i, size in enumerate(sizes) if size > 1]
    if len(wide) <= 1 or any(sizes[i] % 2 for i in wide):  # a line; and no ring can be: as in a table
        return [(i, j, k) for k in range(sizes[2]) for j in range(sizes[1]) for i in range(sizes[0])]
    first, second = wide[0], wide[1]
    sheet = _open_ring(sizes[first], sizes[second])

    def placed(a: int, b: int, level: int) -> Place:
        at = [0, 0, 0]
        at[first], at[second] = a, b
        if len(wide) == 3:
            at[2] = level
        return (at[0], at[1], at[2])

    if len(wide) == 2:
        return [(0, 0, 0), *(placed(a, b, 0) for a, b in sheet)]
    levels = [sheet if level % 2 == 0 else sheet[::-1] for level in range(sizes[2])]
    up = [placed(a, b, level) for level, each in enumerate(levels) for a, b in each]
    return [(0, 0, 0), *up, *((0, 0, level) for level in range(sizes[2] - 1, 0, -1))]


def _open_ring(width: int, height: int) -> list[tuple[int, int]]:
    """A ring around a sheet, from beside the corner to beside it: forth and back by rows, and home along the edge."""
    rows = [[(a, b) for a in range(1, width)] for b in range(height)]
    there = [row if b % 2 == 0 else row[::-1] for b, row in enumerate(rows)]
    return [*itertools.chain(*there), *((0, b) for b in range(height - 1, 0, -1))]


boundaries(globals())
