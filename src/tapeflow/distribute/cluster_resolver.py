"""`tf.distribute.cluster_resolver`: where the processes of a cluster are."""

from __future__ import annotations

import json
import os
from typing import Any

from tapeflow import train
from tapeflow.core.public import boundaries

__all__ = ["ClusterResolver", "SimpleClusterResolver", "TFConfigClusterResolver", "UnionResolver"]


class ClusterResolver:
    """Says which processes a cluster has, and which of them this is."""

    task_type: str | None = None
    task_id: int | None = None
    rpc_layer: str | None = None
    environment = ""

    def cluster_spec(self) -> Any:
        """The processes."""
        return train.ClusterSpec({})

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> str:
        """The address of the master; empty for this process."""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        if kind is None or number is None:
            return ""
        address = self.cluster_spec().task_address(kind, number)
        layer = rpc_layer or self.rpc_layer
        return f"{layer}://{address}" if layer else address

    def num_accelerators(
        self, task_type: Any = None, task_id: Any = None, config_proto: Any = None
    ) -> dict[str, int]:
        """How many accelerators of each kind a process has."""
        from tapeflow.core import config

        count = len(config.list_logical_devices("GPU"))
        return {"GPU": count} if count else {}


class SimpleClusterResolver(ClusterResolver):
    """A cluster that is given as it is."""

    def __init__(
        self, cluster_spec: Any, master: str = "", task_type: Any = None, task_id: Any = None,
        environment: str = "", num_accelerators: Any = None, rpc_layer: Any = None,
    ):  # fmt: skip
        self._spec, self._master = cluster_spec, master
        self.task_type, self.task_id = task_type, task_id
        self.environment, self.rpc_layer = environment, rpc_layer
        self._accelerators = num_accelerators

    def cluster_spec(self) -> Any:
        return self._spec

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> str:
        if task_type is not None and task_id is not None:
            return super().master(task_type, task_id, rpc_layer)
        return self._master

    def num_accelerators(
        self, task_type: Any = None, task_id: Any = None, config_proto: Any = None
    ) -> dict[str, int]:
        return self._accelerators or {}


class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment variable TF_CONFIG describes, in JSON."""

    def __init__(
        self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None, environment: Any = None
    ):  # fmt: skip
        config = json.loads(os.environ.get("TF_CONFIG", "{}"))
        task = config.get("task", {})
        self._cluster = config.get("cluster", {})
        self.task_type = task.get("type") if task_type is None else task_type
        number = task.get("index") if task_id is None else task_id
        self.task_id = None if number is None else int(number)
        self.rpc_layer = rpc_layer or config.get("rpc_layer")
        self.environment = environment or config.get("environment") or ""

    def cluster_spec(self) -> Any:
        return train.ClusterSpec(self._cluster)


class UnionResolver(ClusterResolver):
    """The processes of several resolvers together."""

    def __init__(self, *args: Any, **kwargs: Any):
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        self._resolvers = args
        self.task_type, self.task_id = args[0].task_type, args[0].task_id
        self.rpc_layer = kwargs.get("rpc_layer", args[0].rpc_layer)

    def cluster_spec(self) -> Any:
        merged: dict[str, Any] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                merged.setdefault(job, []).extend(tasks)
        return train.ClusterSpec(merged)

    def master(self, task_type: Any = None, task_id: Any = None, rpc_layer: Any = None) -> str:
        return next((m for m in (r.master(task_type, task_id) for r in self._resolvers) if m), "")


boundaries(globals())
