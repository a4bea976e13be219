"""Resolvers of clusters that are given as they are, by TF_CONFIG, or by other resolvers."""

from __future__ import annotations

import json
import os
from typing import Any

from tapeflow import train
from tapeflow.core import config
from tapeflow.core.public import boundaries


class ClusterResolver:
    """Says which processes a cluster has, and which of them this is."""

    task_type: str | None = None
    task_id: int | None = None
    rpc_layer: str | None = None
    environment = ""

    def cluster_spec(self) -> Any:
        """The processes."""
        return train.ClusterSpec({})

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None) -> str:
        """The address of the master; empty for this process."""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        if kind is None or number is None:
            return ""
        address = self.cluster_spec().task_address(kind, number)
        layer = rpc_layer or self.rpc_layer
        return f"{layer}://{address}" if layer else address

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """How many accelerators of each kind a process has."""
        count = len(config.list_logical_devices("GPU"))
        return {"GPU": count} if count else {}


class SimpleClusterResolver(ClusterResolver):
    """A cluster that is given as it is.

    Args:
      cluster_spec: a `tf.train.ClusterSpec`.
      master: the address of the master.
      task_type: the type of this process's task, as "worker".
      task_id: its number.
      environment: where the cluster runs, as "google".
      num_accelerators: how many accelerators each process has, a dict by kind.
      rpc_layer: the protocol, as "grpc".

    Raises:
      TypeError: for a `cluster_spec` of another class.
    """

    def __init__(
        self, cluster_spec: Any, master: str = "", task_type: str | None = None, task_id: int | None = None,
        environment: str = "", num_accelerators: Any = None, rpc_layer: Any = None,
    ):  # fmt: skip
        if not isinstance(cluster_spec, train.ClusterSpec):
            raise TypeError(f"`cluster_spec` must be a `tf.train.ClusterSpec`, got {cluster_spec!r}")
        self._spec, self._master = cluster_spec, master
        self.task_type, self.task_id = task_type, task_id
        self.environment, self.rpc_layer = environment, rpc_layer
        self._accelerators = num_accelerators

    def cluster_spec(self) -> Any:
        return self._spec

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None) -> str:
        if task_type is not None and task_id is not None:
            return super().master(task_type, task_id, rpc_layer)
        return self._master

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        return self._accelerators or {}


class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment variable TF_CONFIG describes, in JSON.

    Args:
      task_type: the type of this process's task, as "worker".
      task_id: its number.
      rpc_layer: the protocol, instead of the one that TF_CONFIG says.
      environment: where the cluster runs, instead of what TF_CONFIG says.
    """

    def __init__(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None, environment: Any = None
    ):  # fmt: skip
        config = json.loads(os.environ.get("TF_CONFIG", "{}"))
        task = config.get("task", {})
        self._cluster = config.get("cluster", {})
        kind = task.get("type") if task_type is None else task_type
        self.task_type = None if kind is None else str(kind)
        number = task.get("index") if task_id is None else task_id
        self.task_id = None if number is None else int(number)
        self.rpc_layer = rpc_layer or config.get("rpc_layer")
        self.environment = environment or config.get("environment") or ""
        self._master = config.get("session_master")

    def cluster_spec(self) -> Any:
        return train.ClusterSpec(self._cluster)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None) -> str:
        if self._master is not None:
            return str(self._master)
        spec = self.cluster_spec()
        if sum(map(spec.num_tasks, spec.jobs)) <= 1:  # this process is the only one
            return ""
        return super().master(task_type, task_id, rpc_layer)


class UnionResolver(ClusterResolver):
    """The processes of several resolvers together.

    Args:
      *args: the resolvers.
      **kwargs: `task_type`, `task_id` and `rpc_layer` of this process, instead of those of the first resolver.

    Raises:
      ValueError: for no resolvers, and other arguments.
      TypeError: for what is no resolver.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(resolver, ClusterResolver) for resolver in args):
            raise TypeError(f"All arguments must be a sub-class of `ClusterResolver`, got {args}")
        self._resolvers = args
        for name in ("task_type", "task_id", "rpc_layer"):
            setattr(self, name, kwargs.pop(name, None) or getattr(args[0], name))
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")

    def cluster_spec(self) -> Any:
        merged: dict[str, Any] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                merged.setdefault(job, []).extend(tasks)
        return train.ClusterSpec(merged)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None) -> str:
        return next((m for m in (r.master(task_type, task_id) for r in self._resolvers) if m), "")


boundaries(globals())
