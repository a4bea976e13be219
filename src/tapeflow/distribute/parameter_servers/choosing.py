"""Whether a strategy has parameter servers and workers in other processes."""

from __future__ import annotations

from typing import Any

from tapeflow.api import providers
from tapeflow.core.log import get_logger
from tapeflow.core.processes import ray_runtime


def remote_cluster(resolver: Any) -> Any:
    """The processes of the tasks "ps" and "worker" that a resolver names; None where all is in this process.

    That is where it names none of one kind, where this process is one of them, and where Ray is not installed.
    """
    if resolver is None or resolver.task_type in ("ps", "worker"):
        return None
    jobs = resolver.cluster_spec().as_dict()
    workers, servers = len(jobs.get("worker", ())), len(jobs.get("ps", ()))
    if not (workers and servers):
        return None
    if not ray_runtime.installed():
        get_logger().warning(
            f"The {workers} workers and {servers} parameter servers are one thread of this process each, as Ray is not "
            "installed: pip install 'tapeflow[ray]'"
        )
        return None
    return providers.load("parameter_servers").Cluster(workers, servers)
