"""`TPUClusterResolver`: where a TPU is, as its name or its address says."""

from __future__ import annotations

import os
from typing import Any

from tapeflow import train
from tapeflow.core import config
from tapeflow.core.errors import NotFoundError
from tapeflow.core.public import boundaries
from tapeflow.distribute.remote import experimental_connect_to_cluster
from tapeflow.distribute.resolvers import ClusterResolver

# What the environment may name a TPU by, in the order in which it is asked.
_VARIABLES = ("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_NAME")


class TPUClusterResolver(ClusterResolver):
    """Says where a TPU is.

    Args:
      tpu: "local" for one of this machine, or an address ("grpc://host:port"); None or "": what TPU_NAME says.
      zone, project: where a named TPU would be looked up.
      job_name: the job of the TPU's workers.
      coordinator_name, coordinator_address: the job and address of a coordinator beside them.
      credentials, service, discovery_url: how a named TPU would be looked up.

    Raises:
      ValueError: where nothing says which TPU is meant.
      NotFoundError: for a name, which only Google's cloud could look up.
    """

    environment = "google"

    def __init__(
        self, tpu: str | None = None, zone: str | None = None, project: str | None = None, job_name: str = "worker",
        coordinator_name: str | None = None, coordinator_address: str | None = None, credentials: Any = "default",
        service: Any = None, discovery_url: str | None = None,
    ):  # fmt: skip
        found = tpu or next((os.environ[name] for name in _VARIABLES if os.environ.get(name)), None)
        if not found:
            raise ValueError("Please provide a TPU Name to connect to.")
        if found != "local" and not found.startswith("grpc://"):
            raise NotFoundError(
                None, None, f"The TPU '{found}' cannot be looked up: Google's cloud is not asked. Give its address as "
                "grpc://host:port."
            )  # fmt: skip
        self._tpu = found
        self.task_type: str | None = job_name
        self.task_id = 0
        self._coordinator = (coordinator_name, coordinator_address)

    @staticmethod
    def connect(tpu: str | None = None, zone: str | None = None, project: str | None = None) -> TPUClusterResolver:
        """Connect to a TPU and start it.

        Args:
          tpu, zone, project: which TPU, as the class takes them.

        Returns:
          The resolver of the TPU.

        Raises:
          ValueError: where nothing says which TPU is meant.
          NotFoundError: for a name that only Google's cloud could look up, and where there are no TPUs.
        """
        resolver = TPUClusterResolver(tpu, zone, project)
        experimental_connect_to_cluster(resolver)
        checked_cores(resolver)
        return resolver

    @property
    def tpu(self) -> str:
        """The name or address of the TPU."""
        return self._tpu

    def get_master(self) -> str:
        """Return the address of the master; empty for this machine."""
        return self.master()

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None) -> str:
        """Return the address of the master; empty for this machine."""
        return "" if self._tpu == "local" else self._tpu

    def get_job_name(self) -> str | None:
        """Return the job of the TPU's workers."""
        return self.task_type

    def cluster_spec(self) -> Any:
        """Return the processes of the TPU; none for one of this machine."""
        if self._tpu == "local":
            return train.ClusterSpec({})
        jobs: dict[Any, Any] = {self.task_type: [self._tpu.removeprefix("grpc://")]}
        name, address = self._coordinator
        if name:
            jobs[name] = [address]
        return train.ClusterSpec(jobs)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None,
    ) -> dict[str, int]:
        """Return how many cores the TPU has; {"TPU": 0} for one of another machine, which is not asked."""
        return {"TPU": 0 if self.master() else len(config.list_logical_devices("TPU"))}


def checked_cores(resolver: TPUClusterResolver) -> int:
    """How many cores a TPU has. Raises NotFoundError where it is none that programs of this package run on."""
    count = int(resolver.num_accelerators()["TPU"])
    if not count:
        raise NotFoundError(
            None, None, "TPUs not found in the cluster. Failed in initialization: No OpKernel was registered to "
            "support Op 'ConfigureDistributedTPU'."
        )  # fmt: skip
    return count


boundaries(globals())
