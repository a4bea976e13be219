"""`Mesh`: devices in a grid with named dimensions."""

from __future__ import annotations

import itertools
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.device import DeviceSpec
from tapeflow.core.public import public_methods

MeshDimension = namedtuple("MeshDimension", ["name", "size"])
MeshDimension.__doc__ = "A dimension of a mesh: its name, and its size."


def _texts(devices: Sequence[DeviceSpec | str]) -> list[str]:
    return [d.to_string() if isinstance(d, DeviceSpec) else d for d in devices]


def _check_ids(ids: Any) -> None:
    if not isinstance(ids, np.ndarray):
        raise ValueError("Variable global_device_ids must be an ndarray.")
    if ids.size == 0:
        raise ValueError("Variable global_device_ids must be non-empty.")
    flat = ids.ravel()
    if np.any(flat - np.arange(flat.size) != flat[0]):
        raise ValueError(f"global_device_ids must sequentially increase: {ids}")


def _check_devices(local_ids: Any, local: Any, everywhere: Any, count: int) -> None:
    if not isinstance(local_ids, list):
        raise ValueError("Variable local_device_ids must be a list of integers.")
    if not isinstance(local, list):
        raise ValueError("Variable local_devices must be a list of DeviceSpecs.")
    if everywhere and not isinstance(everywhere, list):
        raise ValueError("Variable global_devices must be a list of DeviceSpecs.")
    if not local and not everywhere:
        raise ValueError("Empty list of devices not allowed.")
    specs = {DeviceSpec.from_string(d) for d in _texts(local)}
    only_host = len(specs) == 1 and next(iter(specs)).device_type == "CPU"
    if not only_host and len(local) != len(specs):
        raise ValueError(
            f"Duplicate devices found in mesh specification {[d for d in local if local.count(d) > 1]}."
        )
    if len(local_ids) != len(local):
        raise ValueError("Variable local_device_ids does not have same size as local_devices.")
    if len(local_ids) > count:
        raise ValueError("Cannot have more local than gobal device IDs.")


def _type_of(devices: Sequence[str]) -> str:
    types = {DeviceSpec.from_string(d).device_type for d in devices}
    if None in types:
        raise ValueError("device_type is required")
    if len(types) > 1:
        raise ValueError(f"Devices containing multiple device_types : {types}")
    found = types.pop()
    assert found is not None
    return found


@public_methods
class Mesh:
    """Arrange devices in a grid with named dimensions. Immutable.

    Args:
      dim_names: the names of the dimensions, a list of str.
      global_device_ids: the numbers of all devices, which increase by one, an array with an axis for each dimension.
      local_device_ids: the numbers of those of this process, a list of ints.
      local_devices: their names or `tf.DeviceSpec`s, in the same order.
      mesh_name: the name of the mesh.
      global_devices: the names of all devices (optional).
      use_xla_spmd: kept; XLA makes the programs of all meshes.

    Raises:
      ValueError: for arguments that do not fit each other.
    """

    def __init__(
        self, dim_names: list[str], global_device_ids: np.ndarray, local_device_ids: list[int],
        local_devices: list[DeviceSpec | str], mesh_name: str = "",
        global_devices: list[DeviceSpec | str] | None = None, use_xla_spmd: bool = False,
    ):  # fmt: skip
        _check_ids(global_device_ids)
        if len(dim_names) != global_device_ids.ndim:
            raise ValueError("Number of mesh dimensions does not match number of dimension names.")
        _check_devices(local_device_ids, local_devices, global_devices, global_device_ids.size)
        self._type = _type_of(_texts(local_devices or global_devices or []))
        if use_xla_spmd and self._type != "TPU":
            raise ValueError(f"XLA SPMD is not currently not supported for {self._type} mesh.")
        self._names, self._ids = [str(n) for n in dim_names], np.array(global_device_ids, np.int64)
        self._local_ids, self._local = [int(i) for i in local_device_ids], _texts(local_devices)
        self._global, self._name = _texts(global_devices or []), mesh_name
        self._use_xla_spmd, self._single = bool(use_xla_spmd), ""
        self._text = self._written()

    def _written(self) -> str:
        dims = ",".join(f"{n}={s}" for n, s in zip(self._names, self.shape(), strict=True))
        ids = ",".join(map(str, self._ids.ravel().tolist()))
        parts = [self._name, dims, ids, ",".join(map(str, self._local_ids)), ",".join(self._local)]
        if self._global:
            parts.append(",".join(self._global))
        return "|".join([*parts, "use_xla_spmd"] if self._use_xla_spmd else parts)

    @classmethod
    def from_string(cls, mesh_str: str) -> Mesh:
        """Make the mesh that `to_string` wrote. Raises ValueError for another text."""
        parts = mesh_str.split("|")
        if len(parts) == 1 and "device:" in mesh_str.lower():
            return cls.from_device(mesh_str)
        if len(parts) < 5:
            raise ValueError(f"Input string is invalid: {mesh_str}")
        name, dims, ids, local_ids, local, *rest = parts
        spmd = bool(rest) and rest[-1] == "use_xla_spmd"
        pairs = [dim.split("=") for dim in dims.split(",")]
        try:
            shape = [int(size) for _, size in pairs]
            numbers = np.array([int(i) for i in ids.split(",")]).reshape(shape)
            local_numbers = [int(i) for i in local_ids.split(",") if i]
        except ValueError as error:
            raise ValueError(f"Input string is invalid: {mesh_str}") from error
        everywhere: list[Any] = [d for d in (rest[0].split(",") if rest and rest[0] != "use_xla_spmd" else []) if d]
        devices: list[Any] = [d for d in local.split(",") if d]
        return cls([n for n, _ in pairs], numbers, local_numbers, devices, name, everywhere, spmd)

    @classmethod
    def from_device(cls, device: str) -> Mesh:
        """Make the mesh of one device, which has no dimensions."""
        return cls(["x"], np.zeros(1, np.int64), [0], [device])._without_dimensions(device)

    def _without_dimensions(self, device: str) -> Self:
        self._names, self._ids, self._single, self._text = [], np.zeros((), np.int64), device, device
        return self

    def to_string(self) -> str:
        """The mesh as text: `name|x=2|0,1|0,1|CPU:0,CPU:1`."""
        return self._text

    @property
    def name(self) -> str:
        """The name of the mesh."""
        return self._name

    @property
    def dim_names(self) -> list[str]:
        """The names of the dimensions."""
        return list(self._names)

    @property
    def size(self) -> int:
        """The number of devices."""
        return int(self._ids.size)

    @property
    def strides(self) -> list[int]:
        """By how many devices a step along each dimension goes on."""
        sizes = self.shape()
        return [int(np.prod(sizes[i + 1 :], dtype=np.int64)) for i in range(len(sizes))]

    @property
    def single_device(self) -> str:
        """The device of a mesh made of one; "" for others."""
        return self._single

    def shape(self) -> list[int]:
        """The sizes of the dimensions."""
        return list(self._ids.shape)

    def dim_size(self, dim_name: str) -> int:
        """The size of a dimension. Raises ValueError for an unknown name."""
        if dim_name not in self._names:
            raise ValueError(
                f"Dimension {dim_name} does not exist in mesh.Available dimensions: {','.join(self._names)}"
            )
        return int(self._ids.shape[self._names.index(dim_name)])

    def contains_dim(self, dim_name: str) -> bool:
        """Whether there is a dimension of the name."""
        return dim_name in self._names

    __contains__ = contains_dim

    def __getitem__(self, dim_name: str) -> MeshDimension:
        return MeshDimension(dim_name, self.dim_size(dim_name))

    def global_device_ids(self) -> np.ndarray:
        """The numbers of all devices, in the shape of the mesh."""
        return self._ids.copy()

    def global_devices(self) -> list[str]:
        """The names of all devices, where they were given."""
        return list(self._global)

    def local_device_ids(self) -> list[int]:
        """The numbers of the devices of this process."""
        return list(self._local_ids)

    def local_devices(self) -> list[str]:
        """The names of the devices of this process."""
        return list(self._local)

    def num_local_devices(self) -> int:
        """How many devices of the mesh this process has."""
        return len(self._local)

    def min_global_device_id(self) -> int:
        """The least number of a device."""
        return int(self._ids.min())

    def device_type(self) -> str:
        """The kind of the devices: "CPU", "GPU" or "TPU"."""
        return self._type

    def use_xla_spmd(self) -> bool:
        """What was given of that name."""
        return self._use_xla_spmd

    def is_remote(self) -> bool:
        """Whether no device is of this process."""
        return not self._local

    def is_single_device(self) -> bool:
        """Whether the mesh is one device without dimensions."""
        return bool(self._single)

    def host_mesh(self) -> Mesh:
        """The mesh of CPUs beside the devices: of CPUs, the mesh itself."""
        if self._type == "CPU":
            return self
        here = [DeviceSpec.from_string(d).replace(device_type="CPU", device_index=0) for d in self._local]
        return Mesh(self._names, self._ids, self._local_ids, list(here), self._name)

    def unravel_index(self) -> dict[int, dict[str, int]]:
        """Where each device is: its number -> {name of a dimension: index}."""
        places = itertools.product(*map(range, self.shape()))
        return {i: dict(zip(self._names, place, strict=True)) for i, place in enumerate(places)}

    def local_device_locations(self) -> list[dict[str, int]]:
        """Where each device of this process is: {name of a dimension: index}."""
        places = self.unravel_index()
        return [places[i - self.min_global_device_id()] for i in self._local_ids]

    def coords(self, device_idx: Any) -> Any:
        """The coordinates of a device, a vector of int32."""
        shape = convert_to_tensor(np.array(self.shape(), np.int32))
        return (device_idx // convert_to_tensor(np.array(self.strides, np.int32))) % shape

    def __eq__(self, other: object) -> bool:
        return self._text == other.to_string() if isinstance(other, Mesh) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        return f"Mesh.from_string({self._text})"

    def __reduce__(self) -> tuple[Callable[..., Mesh], tuple[str]]:
        return Mesh.from_string, (self._text,)
