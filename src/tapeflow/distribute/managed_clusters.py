"""Resolvers that ask what manages a cluster: Slurm, Kubernetes, Google Compute Engine."""

from __future__ import annotations

import enum
import importlib
import itertools
import os
import re
import subprocess
from typing import Any

from tapeflow import train
from tapeflow.core.public import boundaries
from tapeflow.distribute.resolvers import ClusterResolver


class SlurmClusterResolver(ClusterResolver):
    """The tasks of a Slurm job step, from the variables that Slurm sets (SLURM_PROCID, SLURM_STEP_NODELIST, ...).

    The type and number of this process's task are set by `cluster_spec()`, which also lets it see the GPUs of its
    task alone (CUDA_VISIBLE_DEVICES).

    Args:
      jobs: how many tasks each job has, a dict by name; all tasks are workers by default.
      port_base: the port of the first task of a node; others follow.
      gpus_per_node: how many GPUs a node has; by default those of CUDA_VISIBLE_DEVICES, or that nvidia-smi lists.
      gpus_per_task: how many of them a task uses; the same number for each by default.
      tasks_per_node: how many tasks run on a node: a number, or a dict by host; as Slurm says by default.
      auto_set_gpu: whether to set CUDA_VISIBLE_DEVICES.
      rpc_layer: the protocol.

    Raises:
      RuntimeError: where variables of Slurm are missing, and for more GPUs or tasks than there are.
      ValueError: for variables that cannot be read.
    """

    def __init__(
        self, jobs: Any = None, port_base: int = 8888, gpus_per_node: Any = None, gpus_per_task: Any = None,
        tasks_per_node: Any = None, auto_set_gpu: bool = True, rpc_layer: str = "grpc",
    ):  # fmt: skip
        self._rank = self._resolve_own_rank()
        self._jobs = {"worker": self._resolve_num_tasks()} if jobs is None else jobs
        self._port_base = port_base
        if tasks_per_node is None:
            self._tasks = self._resolve_task_configuration()
        elif isinstance(tasks_per_node, dict):
            self._tasks = tasks_per_node
        else:
            self._tasks = dict.fromkeys(self._resolve_hostlist(), int(tasks_per_node))
        most, count = max(self._tasks.values()), sum(self._tasks.values())
        self._gpus_per_node = _visible_gpus() if gpus_per_node is None else gpus_per_node
        self._gpus_per_task = self._gpus_per_node // most if gpus_per_task is None else gpus_per_task
        self._auto_set_gpu = auto_set_gpu
        self.rpc_layer = rpc_layer
        if most * self._gpus_per_task > self._gpus_per_node:
            raise RuntimeError("Requested more GPUs per node than available.")
        wanted = sum(self._jobs.values())
        if wanted != count:
            raise RuntimeError(f"Requested {wanted} tasks but only {count} were assigned.")

    def _resolve_own_rank(self) -> int:
        return int(_of_slurm("PROCID"))

    def _resolve_num_tasks(self) -> int:
        return int(_of_slurm("STEP_NUM_TASKS"))

    def _resolve_hostlist(self) -> list[str]:
        return expand_hostlist(_of_slurm("STEP_NODELIST"))

    def _resolve_task_configuration(self) -> dict[str, int]:
        counts = expand_tasks_per_node(_of_slurm("STEP_TASKS_PER_NODE"))
        return dict(zip(self._resolve_hostlist(), counts, strict=False))

    def cluster_spec(self) -> Any:
        """Return the processes; sets `task_type`, `task_id` and the GPUs that this process sees."""
        addresses, gpus = [], []
        for host, tasks in sorted(self._tasks.items()):
            for i in range(tasks):
                addresses.append(f"{host}:{self._port_base + i}")
                first = i * self._gpus_per_task
                gpus.append(",".join(str(n) for n in range(first, first + self._gpus_per_task)))
        cluster, start = {}, 0
        for job, count in sorted(self._jobs.items()):
            cluster[job] = addresses[start : start + count]
            if start <= self._rank < start + count:
                self.task_type, self.task_id = job, self._rank - start
            start += count
        if self._auto_set_gpu:
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus[self._rank]
        return train.ClusterSpec(cluster)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """Return the type and number of this process's task; both None before `cluster_spec()`."""
        return self.task_type, self.task_id

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None) -> str:
        """Return the address of a task, of this process's by default; empty where that is not known."""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        return super().master(kind, number, rpc_layer) if kind and number is not None else ""

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """Return how many GPUs a task has; the arguments change nothing."""
        return {"GPU": self._gpus_per_task}


def _of_slurm(name: str) -> str:
    value = os.environ.get(f"SLURM_{name}")
    if value is None:
        raise RuntimeError(f"SLURM_{name} not found in environment. Not running inside a SLURM step?")
    return value


def expand_hostlist(hostlist: str) -> list[str]:
    """Return the hosts of a list as Slurm writes it: `n[1-2],m5` are n1, n2 and m5.

    Raises:
      ValueError: where it cannot be read.
    """
    hosts: list[str] = []
    # Commas separate, but for those in brackets.
    for part in re.findall(r"(?:[^,\[\]]|\[[^\]]*\]|[\[\]])+", hostlist):
        found = re.fullmatch(r"([^,\[\]]*)(?:\[([0-9,-]+)\])?", part)
        if found is None:
            raise ValueError(f"Invalid hostlist format {hostlist!r}: Invalid part: {part}")
        name, numbers = found.groups()
        hosts += [name] if numbers is None else [name + n for n in _expanded(numbers, hostlist)]
    return hosts


def _expanded(numbers: str, hostlist: str) -> list[str]:
    found = []
    for part in numbers.split(","):
        ends = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
        if ends is None:
            raise ValueError(f"Invalid hostlist format {hostlist!r}: Invalid range: {part}")
        first, last = ends[1], ends[2] or ends[1]
        found += [str(i).zfill(len(first)) for i in range(int(first), int(last) + 1)]
    return found


def expand_tasks_per_node(tasks_per_node: str) -> list[int]:
    """Return how many tasks each node has, of Slurm's list: `3(x2),1` is 3, 3 and 1.

    Raises:
      ValueError: where it cannot be read.
    """
    counts: list[int] = []
    for part in tasks_per_node.split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part)
        if found is None:
            raise ValueError(f"Invalid tasks-per-node list format {tasks_per_node!r}: Invalid part: {part}")
        counts += [int(found[1])] * int(found[2] or 1)
    return counts


def _visible_gpus() -> int:
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is not None:
        return len([n for n in listed.split(",") if n])
    try:
        text = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise RuntimeError(f"Could not get number of GPUs from nvidia-smi. Maybe it is missing?\n{error}") from None
    return sum(line.startswith("GPU ") for line in text.splitlines())


class KubernetesExecutableLocation(enum.Enum):
    """Where the program runs: in a pod of the cluster, or outside of it."""

    WITHIN_CLUSTER = 0
    OFF_CLUSTER = 1


class KubernetesClusterResolver(ClusterResolver):
    """The pods of a Kubernetes cluster that labels choose; all must be running.

    `task_type` and `task_id` of this process are set by the program.

    Args:
      job_to_label_mapping: the label selectors of each job's pods, a dict of lists by job;
        `{"worker": ["job-name=tensorflow"]}` by default.
      tf_server_port: the port of each process.
      rpc_layer: the protocol.
      override_client: a client of Kubernetes, with `list_pod_for_all_namespaces`, in place of the one of the PyPI
        package `kubernetes`.
      executable_location: a `KubernetesExecutableLocation`.

    Raises:
      ImportError: without `override_client` where the package is not installed.
      ValueError: for another `executable_location`.
    """

    def __init__(
        self, job_to_label_mapping: Any = None, tf_server_port: int = 8470, rpc_layer: str = "grpc",
        override_client: Any = None, executable_location: Any = KubernetesExecutableLocation.WITHIN_CLUSTER,
    ):  # fmt: skip
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self.rpc_layer = rpc_layer
        self._client = override_client or _kubernetes_client(executable_location)

    def cluster_spec(self) -> Any:
        """Return the processes, sorted by the names of their pods.

        Raises:
          RuntimeError: for a pod that is not running.
        """
        cluster = {}
        for job, selectors in self._labels.items():
            pods = itertools.chain.from_iterable(self._pods(selector) for selector in selectors)
            cluster[job] = [f"{pod.status.host_ip}:{self._port}" for pod in pods]
        return train.ClusterSpec(cluster)

    def _pods(self, selector: str) -> list[Any]:
        pods = self._client.list_pod_for_all_namespaces(label_selector=selector).items
        for pod in pods:
            if pod.status.phase != "Running":
                raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
        return sorted(pods, key=lambda pod: pod.metadata.name)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: Any = None) -> str:
        """Return the address of a task, of this process's by default; empty where that is not known."""
        return super().master(task_type, task_id, rpc_layer)


def _kubernetes_client(location: Any) -> Any:
    try:
        config = importlib.import_module("kubernetes.config")
        client = importlib.import_module("kubernetes.client")
    except ImportError:
        raise ImportError(
            "The Kubernetes Python client must be installed before using the Kubernetes Cluster Resolver. To install "
            "the Kubernetes Python client, run `pip install kubernetes` on your command line."
        ) from None
    if location == KubernetesExecutableLocation.WITHIN_CLUSTER:
        config.load_incluster_config()
    elif location == KubernetesExecutableLocation.OFF_CLUSTER:
        config.load_kube_config()
    else:
        raise ValueError("The executable location provided is invalid.")
    return client.CoreV1Api()


class GCEClusterResolver(ClusterResolver):
    """The running instances of an instance group of Google Compute Engine.

    Args:
      project: what the instances belong to, by its name.
      zone: where they are, as "us-east1-d".
      instance_group: the name of the group.
      port: the port of each process.
      task_type: the job that the instances are.
      task_id: the number of this process.
      rpc_layer: the protocol.
      credentials: those of the API; the application's by default.
      service: the API, an object of `googleapiclient.discovery.build("compute", "v1")`, which is made by default.

    Raises:
      ImportError: without `service` where the PyPI package `google-api-python-client` is not installed.
    """

    def __init__(
        self, project: str, zone: str, instance_group: str, port: int, task_type: str = "worker", task_id: int = 0,
        rpc_layer: str = "grpc", credentials: Any = "default", service: Any = None,
    ):  # fmt: skip
        self._place = {"project": project, "zone": zone}
        self._group, self._port = instance_group, port
        self._task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._service = service or _compute_service(credentials)

    @property
    def task_type(self) -> str:
        """The job that the instances are."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        raise RuntimeError("You cannot reset the task_type of the GCEClusterResolver after it has been created.")

    def cluster_spec(self) -> Any:
        """Return the processes, sorted by their addresses; asks the API each time."""
        groups = self._service.instanceGroups()
        request = groups.listInstances(
            **self._place, instanceGroups=self._group, body={"instanceState": "RUNNING"}, orderBy="name"
        )
        addresses = []
        while request is not None:
            response = request.execute()
            for item in response.get("items", ()):
                name = item["instance"].rpartition("/")[2]
                details = self._service.instances().get(**self._place, instance=name).execute()
                addresses.append(f"{details['networkInterfaces'][0]['networkIP']}:{self._port}")
            request = groups.listInstances_next(previous_request=request, previous_response=response)
        return train.ClusterSpec({self._task_type: sorted(addresses)})


def _compute_service(credentials: Any) -> Any:
    try:
        discovery = importlib.import_module("googleapiclient.discovery")
    except ImportError:
        raise ImportError(
            "The GCE cluster resolver asks the API of Compute Engine: `pip install google-api-python-client`"
        ) from None
    # Without credentials the library takes those of the application.
    return discovery.build("compute", "v1", credentials=None if credentials == "default" else credentials)


boundaries(globals())
