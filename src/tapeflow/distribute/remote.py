"""Connecting to other machines for operations that run there: there are none, but programs for TPUs call it."""

from __future__ import annotations

from typing import Any

from tapeflow.api import api
from tapeflow.cluster.spec import ClusterSpec
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.public import boundaries
from tapeflow.distribute.resolvers import ClusterResolver


@api("config.experimental_connect_to_cluster")
def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any, job_name: str = "localhost", task_index: int = 0, protocol: str | None = None,
    make_master_device_default: bool = True, cluster_device_filters: Any = None,
) -> None:  # fmt: skip
    """Connect to the processes of a cluster; for one of this machine, as a local TPU, there is nothing to do.

    Args:
      cluster_spec_or_resolver: a `ClusterSpec`, or a cluster resolver.
      job_name: not used.
      task_index: not used.
      protocol: not used.
      make_master_device_default: not used.
      cluster_device_filters: not used.

    Raises:
      ValueError: for what is neither.
      UnimplementedError: the cluster has other processes: operations do not run there.
    """
    spec = cluster_spec_or_resolver
    if isinstance(spec, ClusterResolver):
        if spec.master() in ("", "local"):
            return
        spec = spec.cluster_spec()
    elif not isinstance(spec, ClusterSpec):
        raise ValueError(
            "`cluster_spec_or_resolver` must be a `ClusterSpec` or a `ClusterResolver`, got "
            f"{type(spec).__name__}."
        )
    if spec.jobs:
        _refuse(str(spec.as_dict()))


@api("config.experimental_connect_to_host")
def experimental_connect_to_host(remote_host: Any = None, job_name: str = "worker") -> None:
    """Connect to a machine.

    Args:
      remote_host: its address, or a list of addresses.
      job_name: not used.

    Raises:
      ValueError: no address is given.
      UnimplementedError: operations do not run on other machines.
    """
    if not remote_host:
        raise ValueError("Must provide at least one remote_host")
    _refuse(str(remote_host))


def _refuse(where: str) -> None:
    raise UnimplementedError(
        None, None, f"Operations run in this process, not at {where}. tf.distribute.MultiWorkerMirroredStrategy trains "
        "in several processes."
    )  # fmt: skip


boundaries(globals())
