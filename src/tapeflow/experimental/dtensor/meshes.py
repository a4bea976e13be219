"""Making meshes of the devices that there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tapeflow.core.device import DeviceSpec
from tapeflow.core.dtensor.mesh import Mesh
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.public import boundaries
from tapeflow.experimental.dtensor import clients, systems

Dimensions = list[tuple[str, int]] | dict[str, int]
Devices = Sequence[DeviceSpec | str]


def _pairs(dims: Dimensions) -> list[tuple[str, int]]:
    return list(dims.items()) if isinstance(dims, dict) else [(str(name), int(size)) for name, size in dims]


def _specs(devices: Devices) -> list[DeviceSpec]:
    return [DeviceSpec.from_string(d) if isinstance(d, str) else d for d in devices]


def _found(devices: Devices | None, device_type: str | None) -> tuple[list[DeviceSpec], str]:
    """Devices by their full names, and their kind."""
    if devices is None:
        kind = (device_type or clients.preferred_device_type()).upper()
        return clients.local_devices(kind), kind
    given = _specs(devices)
    kind = (device_type or given[0].device_type or "").upper()
    if device_type and kind != (given[0].device_type or "").upper():
        raise ValueError(f"Conflicting devices {given} and device_type {kind}")
    job = DeviceSpec.from_string(f"/job:{clients.full_job_name()}")
    return [job.make_merged_spec(each) for each in given], kind


def create_mesh(
    mesh_dims: Dimensions | None = None, mesh_name: str = "", devices: list[DeviceSpec | str] | None = None,
    device_type: str | None = None, use_xla_spmd: bool = False,
) -> Mesh:  # fmt: skip
    """Make a mesh of devices of this process.

    Args:
      mesh_dims: the names and sizes of the dimensions, pairs or a dict; None: one dimension "x".
      mesh_name: the name of the mesh.
      devices: the devices, by names or `tf.DeviceSpec`s; None: all those of `device_type`.
      device_type: their kind; None: that of `devices`, or `preferred_device_type()`.
      use_xla_spmd: kept.

    Raises:
      ValueError: where there are not as many devices as the dimensions say.

    >>> mesh = tf.experimental.dtensor.create_mesh([("x", 1)], devices=["CPU:0"])
    >>> mesh.shape()
    [1]
    """
    found, _ = _found(devices, device_type)
    pairs = [("x", len(found))] if mesh_dims is None else _pairs(mesh_dims)
    shape = [size for _, size in pairs]
    count = int(np.prod(shape))
    if len(found) != count:
        raise ValueError(f"length of devices ({len(found)}) must be equal to total size of the mesh of shape {shape}")
    ids = np.arange(count).reshape(shape)
    return Mesh(
        [name for name, _ in pairs], ids, list(range(count)), list(found), mesh_name, use_xla_spmd=use_xla_spmd
    )


def create_distributed_mesh(
    mesh_dims: Dimensions, mesh_name: str = "", local_devices: list[DeviceSpec | str] | None = None,
    device_type: str | None = None, use_xla_spmd: bool = False,
) -> Mesh:  # fmt: skip
    """Make a mesh of the devices of all processes, of which there is one here.

    Args:
      mesh_dims: the names and sizes of the dimensions, pairs or a dict.
      mesh_name: the name of the mesh.
      local_devices: the devices of this process; None: all those of `device_type`.
      device_type: their kind; None: that of `local_devices`, or `preferred_device_type()`.
      use_xla_spmd: kept.

    Raises:
      ValueError: before `initialize_accelerator_system`, and where there are not as many devices as the dimensions
        say.
    """
    if not systems.is_initialized():
        raise ValueError(
            "Accelerators are uninitialized, please run dtensor.initialize_accelerator_system() first."
        )
    found, kind = _found(local_devices, device_type)
    pairs = _pairs(mesh_dims)
    shape = [size for _, size in pairs]
    total = len(found) * clients.num_clients()
    if total != int(np.prod(shape)):
        raise ValueError(
            f"Global number of devices ({len(found)} per client * {clients.num_clients()} clients = {total}) must be "
            f"equal to total size of the mesh of shape {shape}"
        )
    return create_mesh(mesh_dims, mesh_name, list(found), kind, use_xla_spmd)


def create_tpu_mesh(
    mesh_dim_names: list[str], mesh_shape: list[int], mesh_name: str, ring_dims: int | None = None,
    ring_axes: list[str] | None = None, ring_bounds: list[int] | None = None,
    can_split_host_across_rings: bool = True, build_ring_across_rings: bool = False,
    rotate_ring_across_rings: bool = False, use_xla_spmd: bool = False,
) -> Mesh:  # fmt: skip
    """Make a mesh of the cores of a TPU, in the order of their numbers.

    Args:
      mesh_dim_names: the names of the dimensions.
      mesh_shape: their sizes.
      mesh_name: the name of the mesh.
      ring_dims, ring_axes, ring_bounds: which cores are to be in rings; only None is supported: XLA chooses.
      can_split_host_across_rings, build_ring_across_rings, rotate_ring_across_rings: of rings.
      use_xla_spmd: kept.

    Raises:
      ValueError: where there are not as many cores.
      UnimplementedError: for rings.
    """
    if ring_dims is not None or ring_axes is not None or ring_bounds is not None:
        raise UnimplementedError(None, None, "Rings of TPU cores are not supported: XLA arranges them")
    del can_split_host_across_rings, build_ring_across_rings, rotate_ring_across_rings
    dims = list(zip(mesh_dim_names, mesh_shape, strict=True))
    return create_mesh(dims, mesh_name, device_type="TPU", use_xla_spmd=use_xla_spmd)


boundaries(globals())
