"""Which processes work together, and which devices they have: DTENSOR_CLIENT_ID, DTENSOR_NUM_CLIENTS, DTENSOR_JOBS."""

from __future__ import annotations

import os

from tapeflow.core import config
from tapeflow.core.device import DeviceSpec
from tapeflow.core.public import boundaries

_TYPES = ("CPU", "GPU", "TPU")


def client_id() -> int:
    """The number of this process."""
    found = int(os.environ.get("DTENSOR_CLIENT_ID", "0"))
    if found < 0:
        raise ValueError(f"Environment variable DTENSOR_CLIENT_ID must be >= 0, got {found}. ")
    if found >= num_clients():
        raise ValueError(
            f"Environment variable DTENSOR_CLIENT_ID must be < DTENSOR_NUM_CLIENTS, got {found} and {num_clients()}"
        )
    return found


def num_clients() -> int:
    """The number of processes."""
    found = int(os.environ.get("DTENSOR_NUM_CLIENTS", "1"))
    if found <= 0:
        raise ValueError(f"Environment variable DTENSOR_NUM_CLIENTS must be > 0, got {found}. ")
    return found


def jobs() -> list[str]:
    """The addresses of the processes; empty for one process."""
    text = os.environ.get("DTENSOR_JOBS")
    return [] if text is None else text.split(",")


def job_name() -> str:
    """The name of the job of this process: "localhost" for one alone."""
    return os.environ.get("DTENSOR_JOB_NAME", "localhost" if num_clients() == 1 else "worker")


def full_job_name(task_id: int | None = None) -> str:
    """The name of the job and the task.

    Args:
      task_id: the number of the task; None: this process.

    Raises:
      ValueError: for a task that there is not.
    """
    if task_id is None:
        task_id = client_id()
    if num_clients() == 1 and task_id != 0:
        raise ValueError(f"Unexpected task ID {task_id} in local runs")
    return f"{job_name()}/replica:0/task:{task_id}"


def heartbeat_enabled() -> bool:
    """Whether processes would watch each other: DTENSOR_ENABLE_HEARTBEAT, by default "true". One alone does not."""
    return os.environ.get("DTENSOR_ENABLE_HEARTBEAT", "true").lower() in ("1", "true")


def local_devices(device_type: str, for_client_id: int | None = None) -> list[DeviceSpec]:
    """The devices of a kind of one process.

    Args:
      device_type: "CPU", "GPU" or "TPU".
      for_client_id: the number of the process; None: this one.

    Raises:
      ValueError: for another kind.
    """
    kind = device_type.upper()
    if kind not in _TYPES:
        raise ValueError(f"Device type {kind} is not CPU, GPU, or TPU.")
    client = client_id() if for_client_id is None else for_client_id
    job = DeviceSpec.from_string(f"/job:{full_job_name(client)}")
    count = len(config.list_logical_devices(kind))
    return [job.replace(device_type=kind, device_index=i) for i in range(count)]


def num_local_devices(device_type: str) -> int:
    """How many devices of a kind this process has."""
    return len(config.list_logical_devices(device_type.upper()))


def num_global_devices(device_type: str) -> int:
    """How many devices of a kind all processes have."""
    return num_local_devices(device_type) * num_clients()


def preferred_device_type() -> str:
    """The kind of device that meshes are made of: TPUs where there are some, else GPUs, else CPUs."""
    return next((kind for kind in ("TPU", "GPU") if config.list_logical_devices(kind)), "CPU")


boundaries(globals())
