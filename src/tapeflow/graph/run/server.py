"""Servers of 1.x inside of this process: sessions with the same target share their variables.

There is no network behind them: every job and task is this process.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import Any

from tapeflow.core.public import public, public_methods

_numbers = itertools.count()
# The running servers, by target.
_servers: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


class Shared:
    """What sessions of one server share: variables and other resources, by their containers and names."""

    def __init__(self) -> None:
        self.variables: dict[tuple[str, str], Any] = {}
        self.resources: dict[tuple[str, str], Any] = {}
        self.sessions: weakref.WeakSet[Any] = weakref.WeakSet()

    def reset(self, containers: Any) -> None:
        """Closes the sessions, and forgets what is in some containers, or in all for none."""
        for session in list(self.sessions):
            session.close()
        for kept in (self.variables, self.resources):
            for key in [key for key in kept if not containers or key[0] in containers]:
                del kept[key]


def shared(target: str | bytes) -> Shared | None:
    """What the sessions of a target share; None if there is no such server."""
    found = _servers.get(target.decode() if isinstance(target, bytes) else target)
    return None if found is None else found.shared


@public_methods
class Server:
    """A server in this process.

    Args:
      server_or_cluster_def: the jobs of the cluster: a ServerDef, a ClusterSpec or a dict; kept.
      job_name, task_index, protocol, config, start: kept.
    """

    def __init__(
        self, server_or_cluster_def, job_name: str | None = None, task_index: int | None = None, protocol=None,
        config=None, start: bool = True,
    ):
        self._definition = server_or_cluster_def
        self._job, self._task = job_name, task_index
        self.shared = Shared()
        self._ended = threading.Event()
        self._target = f"grpc://localhost:{next(_numbers)}"
        _servers[self._target] = self

    def start(self):
        """Nothing is left to start."""

    def join(self):
        """Waits for the end of the server, which only the end of the process brings."""
        self._ended.wait()

    @property
    def server_def(self):
        """What the server was made of."""
        return self._definition

    @property
    def target(self):
        """What sessions give to run on this server."""
        return self._target

    @staticmethod
    def create_local_server(config=None, start: bool = True):
        """A server of a cluster of one."""
        return Server({"local": ["localhost:0"]}, "local", 0, config=config, start=start)


@public
def create_local_cluster(num_workers, num_ps, protocol: str = "grpc", worker_config=None, ps_config=None):
    """Make servers that stand for the tasks of a cluster; all of them share what they hold.

    Args:
      num_workers: how many of them are workers.
      num_ps: how many are parameter servers.
      protocol: not used: all is in one process.
      worker_config, ps_config: not used.

    Returns:
      (list of workers, list of parameter servers).
    """
    jobs = {"worker": num_workers, "ps": num_ps}
    made = {job: [Server({}, job, i) for i in range(count)] for job, count in jobs.items()}
    common = Shared()
    for server in (*made["worker"], *made["ps"]):
        server.shared = common
    return made["worker"], made["ps"]
