"""The tasks of a cluster, and their devices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tapeflow import protos
from tapeflow.core.device import DeviceSpec
from tapeflow.core.errors import InvalidArgumentError


class Task(NamedTuple):
    """One process of a cluster."""

    job: str
    number: int

    def __str__(self) -> str:
        return f"/job:{self.job}/replica:0/task:{self.number}"

    @property
    def device(self) -> str:
        """The name of its host, the device that each task has."""
        return f"{self}/device:CPU:0"


def task_of(device: str) -> Task:
    """The task of a full device name. Raises InvalidArgumentError for a name that leaves it open."""
    spec = parsed(device)
    if spec.job is None or spec.task is None:
        raise InvalidArgumentError(None, None, f"'{device}' does not name a task")
    return Task(spec.job, spec.task)


def parsed(device: str) -> DeviceSpec:
    """A device name, in its parts. Raises InvalidArgumentError for a malformed one."""
    try:
        return DeviceSpec.from_string(device)
    except ValueError:
        raise InvalidArgumentError(None, None, f"Malformed device specification '{device}'") from None


def full_device(device: str, task: Task) -> str:
    """The name of the device of a node that runs on a task."""
    spec = parsed(device)
    return f"{task}/device:{spec.device_type or 'CPU'}:{spec.device_index or 0}"


def addresses(cluster_def: Any) -> dict[Task, str]:
    """The address of each task of a ClusterDef, sorted."""
    found = {Task(job.name, index): address for job in cluster_def.job for index, address in job.tasks.items()}
    return dict(sorted(found.items()))


def check_address(address: str) -> None:
    """Raises InvalidArgumentError for what is no host with a port; gRPC would take other things for one."""
    host, colon, port = address.rpartition(":")
    is_named = "/" not in host and (":" not in host or (host[0] == "[" and host[-1] == "]"))
    if not colon or not is_named or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise InvalidArgumentError(None, None, f"Could not interpret \"{address}\" as a host-port pair.")


def matching(tasks: Iterable[Task], filters: Iterable[str]) -> list[Task]:
    """The tasks of which one of some partial device names can be true; all for no names."""
    specs = [parsed(each) for each in filters]
    return [task for task in tasks if not specs or any(_matches(task, spec) for spec in specs)]


def _matches(task: Task, spec: DeviceSpec) -> bool:
    return spec.job in (None, task.job) and spec.replica in (None, 0) and spec.task in (None, task.number)


def attributes(task: Task, incarnation: int, devices: Iterable[Any]) -> list[Any]:
    """DeviceAttributes messages of a task.

    Args:
      incarnation: a number that another process at the same address does not have.
      devices: of the process (`core.device`).
    """
    return [
        protos.DeviceAttributes(
            name=f"{task}/device:{each.type}:{each.ordinal}", device_type=each.type, incarnation=incarnation,
            memory_limit=int(each.details.get("memory_limit", 1 << 28)),
        )
        for each in devices
    ]  # fmt: skip
