"""Starting and ending the work of accelerators, and waiting for all processes."""

from __future__ import annotations

from tapeflow.core import config
from tapeflow.core.dtensor.mesh import Mesh
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.log import get_logger
from tapeflow.core.public import boundaries
from tapeflow.experimental.dtensor import clients

_started = ""


def is_initialized() -> bool:
    """Whether the work of accelerators has been started."""
    return bool(_started)


def initialize_accelerator_system(
    device_type: str | None = None, enable_coordination_service: bool | None = True,
    num_logical_cpu_devices: int | None = None, experimental_reset_context: bool | None = False,
    experimental_enable_megcore: bool | None = False,
) -> str:  # fmt: skip
    """Start the work of the devices of a kind.

    Args:
      device_type: "CPU", "GPU" or "TPU"; None: `preferred_device_type()`.
      enable_coordination_service: not used: there is one process.
      num_logical_cpu_devices: into how many CPUs the host is split; None: as it is.
      experimental_reset_context: not used: there is nothing to be reset.
      experimental_enable_megcore: not used.

    Returns:
      The kind of the devices.

    Raises:
      ValueError: if it was called before, and for another kind.
      UnimplementedError: for several processes.
    """
    global _started
    if _started:
        raise ValueError(
            "Accelerator system has already been initialized. Call "
            "tf.experimental.dtensor.shutdown_accelerator_system() first."
        )
    kind = (device_type or clients.preferred_device_type()).upper()
    if kind not in ("CPU", "GPU", "TPU"):
        raise ValueError(f"Unknown device_type {kind}. Allowed values are CPU, GPU, or TPU")
    if clients.num_clients() > 1:
        raise UnimplementedError(None, None, "Meshes over the devices of several processes are not supported")
    if num_logical_cpu_devices is not None:
        host = config.list_physical_devices("CPU")[0]
        config.set_logical_device_configuration(
            host, [config.LogicalDeviceConfiguration() for _ in range(num_logical_cpu_devices)]
        )
    _started = kind
    return kind


def shutdown_accelerator_system() -> None:
    """End what `initialize_accelerator_system` started. Raises ValueError if nothing was."""
    global _started
    if not _started:
        raise ValueError(
            "Accelerator system is not initialized. Call "
            "tf.experimental.dtensor.initialize_accelerator_system first."
        )
    _started = ""


initialize_multi_client = initialize_accelerator_system
initialize_tpu_system = initialize_accelerator_system
shutdown_tpu_system = shutdown_accelerator_system


def barrier(mesh: Mesh, barrier_name: str | None = None, timeout_in_ms: int | None = None) -> None:
    """Wait until all processes of a mesh are here: at once, as there is one.

    Args:
      mesh: the mesh.
      barrier_name: for the log.
      timeout_in_ms: not used.
    """
    name = "(barrier)" if barrier_name is None else barrier_name
    get_logger().info("entering barrier before op: %s", name)
    del mesh, timeout_in_ms


boundaries(globals())
