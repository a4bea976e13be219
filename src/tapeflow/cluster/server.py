"""`tf.train.Server`: a task of a cluster, with its master and its worker."""

from __future__ import annotations

import itertools
import socket
import threading
from typing import Any

from tapeflow import protos
from tapeflow.cluster import peers, security, targets, tasks
from tapeflow.cluster.master import Master
from tapeflow.cluster.peers import Peers
from tapeflow.cluster.spec import ClusterSpec
from tapeflow.cluster.tasks import Task
from tapeflow.cluster.worker import Worker
from tapeflow.core.errors import InvalidArgumentError, UnimplementedError, UnknownError
from tapeflow.core.public import public, public_methods

_ATTEMPTS = 5  # to find free ports
_numbers = itertools.count(1)
# Servers that listen, which last as long as the process.
_running: list[Any] = []


@public_methods
class Server:
    """A task of a cluster: it runs what clients, of this process or others, place on it.

    It listens on loopback where the cluster says `localhost`; else on all interfaces, with the keys or the token that
    the environment names (see `tf.train.Server` in the documentation of clusters).

    Args:
      server_or_cluster_def: a ServerDef, ClusterDef, ClusterSpec or dict.
      job_name, task_index: which task this is; the only one by default.
      protocol: "grpc".
      config: a ConfigProto, which sessions have where they bring none.
      start: whether to listen at once.

    Raises:
      TypeError, ValueError: for arguments that are no cluster, or do not say which task this is.
      InvalidArgumentError: for a task that is not in the cluster, or an address without a port.
      UnknownError: the address cannot be listened on.
      PermissionDeniedError: others would reach the server, and nothing protects it.
      ImportError: gRPC is not installed, and the cluster has other tasks.
    """

    def __init__(
        self, server_or_cluster_def, job_name: str | None = None, task_index: int | None = None, protocol=None,
        config=None, start: bool = True,
    ):
        self._server_def = _server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        addresses = tasks.addresses(self._server_def.cluster)
        task = Task(self._server_def.job_name, self._server_def.task_index)
        if task not in addresses:
            raise InvalidArgumentError(
                None, None, f"Task {task.number} was not defined in job \"{task.job}\"" if task.job in
                {each.job for each in addresses} else f"Job \"{task.job}\" was not defined in cluster"
            )  # fmt: skip
        host, port = _host_and_port(addresses[task])
        kept = self._server_def.default_session_config
        self.worker = Worker(task, addresses, kept)
        self._peers = Peers(addresses, {task: self.worker})
        self.master = Master(self.worker, self._peers, kept)
        self.is_whole_cluster = len(addresses) == 1
        self.listens = False
        self._started = False
        self._ended = threading.Event()
        self._grpc: Any = None
        if self.is_whole_cluster and port == 0 and not _has_grpc():
            port = 65535 + next(_numbers)  # a name, which no other process can reach
        else:
            self._grpc, port = _listening(host, port, self.master, self.worker)
            self.listens = True
        self._target = f"grpc://{'localhost' if security.is_loopback(host) else host}:{port}"
        self._address = addresses[task] if _host_and_port(addresses[task])[1] else f"{host}:{port}"
        peers.announce(self._address, self.worker)
        targets.announce(self._target, self)
        if start:
            self.start()

    def start(self):
        """Begins to serve; nothing happens at a second call."""
        if self._grpc is not None and not self._started:
            self._grpc.start()
            _running.append(self)
        self._started = True

    def stop_serving(self):
        """Ends the server: what runs on it raises AbortedError."""
        targets.announce(self._target, None)
        peers.announce(self._address, None)
        self.master.stop()
        self.worker.stop()
        if self._grpc is not None:
            self._grpc.stop()
        if self in _running:
            _running.remove(self)
        self._ended.set()

    def join(self):
        """Waits for the end of the server: that of the process, as a rule."""
        self._ended.wait()

    @property
    def server_def(self):
        """The ServerDef of this task."""
        return self._server_def

    @property
    def target(self):
        """What sessions give to run on this server."""
        return self._target

    @staticmethod
    def create_local_server(config=None, start: bool = True):
        """A server of a cluster of one, on a free port."""
        return Server({"localhost": ["localhost:0"]}, protocol="grpc", config=config, start=start)


def _server_def(given: Any, job: str | None, index: int | None, protocol: str | None, config: Any) -> Any:
    """The ServerDef of a server's arguments."""
    made = protos.ServerDef()
    if isinstance(given, protos.ServerDef):
        made.CopyFrom(given)
        if job is not None:
            made.job_name = job
        if index is not None:
            made.task_index = index
    else:
        try:
            cluster = ClusterSpec(given)
        except TypeError:
            raise TypeError("Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or "
                            f"`tf.train.ClusterSpec`, got {given!r}") from None  # fmt: skip
        made.cluster.CopyFrom(cluster.as_cluster_def())
        jobs = cluster.jobs
        if job is None and len(jobs) != 1:
            raise ValueError("Must specify an explicit `job_name`.")
        made.job_name = jobs[0] if job is None else job
        if index is None and cluster.num_tasks(made.job_name) != 1:
            raise ValueError("Must specify an explicit `task_index`.")
        made.task_index = cluster.task_indices(made.job_name)[0] if index is None else index
    made.protocol = protocol or made.protocol or "grpc"
    if made.protocol != "grpc":
        raise UnimplementedError(None, None, f"The protocol of servers is \"grpc\", got \"{made.protocol}\"")
    if config is not None:
        made.default_session_config.MergeFrom(config)
    return made


def _host_and_port(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise InvalidArgumentError(None, None, f"Could not parse port for local server from \"{address}\".")
    return host, int(port)


def _has_grpc() -> bool:
    try:
        peers.transport("cluster_server")
    except ImportError:
        return False
    return True


def _listening(host: str, port: int, master: Master, worker: Worker) -> tuple[Any, int]:
    """What listens, and at which port."""
    security.check_exposure(host)
    everywhere = host if security.is_loopback(host) else "[::]"
    made = peers.transport("cluster_server").GrpcServer(f"{everywhere}:{port}", master, worker)
    return made, made.port


@public
def create_local_cluster(num_workers, num_ps, protocol: str = "grpc", worker_config=None, ps_config=None):
    """Make the servers of a cluster in this process.

    Args:
      num_workers: how many of them are workers.
      num_ps: how many are parameter servers.
      protocol: "grpc".
      worker_config, ps_config: the ConfigProtos of these.

    Returns:
      (list of workers, list of parameter servers).
    """
    for attempt in range(_ATTEMPTS):
        ports = _free_ports(num_workers + num_ps)
        cluster = {
            "worker": [f"localhost:{port}" for port in ports[:num_workers]],
            "ps": [f"localhost:{port}" for port in ports[num_workers:]],
        }
        made: dict[str, list[Server]] = {"worker": [], "ps": []}
        try:
            for job, config in (("worker", worker_config), ("ps", ps_config)):
                made[job].extend(Server(cluster, job, i, protocol, config) for i in range(len(cluster[job])))
            break
        except UnknownError:  # somebody else took a port meanwhile
            for server in (*made["worker"], *made["ps"]):
                server.stop_serving()
            if attempt + 1 == _ATTEMPTS:
                raise
    return made["worker"], made["ps"]


def _free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("localhost", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
