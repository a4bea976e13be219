"""What the targets of sessions stand for: a server of this process, or one that is reached by gRPC."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from tapeflow import protos
from tapeflow.cluster import peers
from tapeflow.cluster.client import Caller, LocalMaster, RemoteSession
from tapeflow.core.errors import DeadlineExceededError, NotFoundError, UnavailableError
from tapeflow.graph.run.resolving import Resolver
from tapeflow.graph.run.shared import Shared

_SCHEME = "grpc://"
_PATIENCE = 20.0  # seconds

# The servers of this process, by target.
_servers: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()


def announce(target: str, server: Any) -> None:
    """Let sessions of this process reach a server directly; None: no more."""
    if server is None:
        _servers.pop(target, None)
    else:
        _servers[target] = server


def engine(session: Any, target: str, config: Any) -> Any:
    """What makes and runs the plans of a session.

    A server of this process that is all of its cluster runs the graph of the session itself; others get it as a
    GraphDef.

    Raises NotFoundError for a target that is of no kind, and ImportError where gRPC is not installed.
    """
    server = _servers.get(target)
    if server is not None and server.is_whole_cluster and not _wants_rpc(config):
        isolated = config is not None and config.isolate_session_state
        shared = Shared(server.worker.task.job) if isolated else server.worker.shared
        server.worker.shared.sessions.add(session)
        return Resolver(shared, config, session._cancellation)
    return RemoteSession(_master(target, config), target, session.graph, config)


def _wants_rpc(config: Any) -> bool:
    return config is not None and (config.rpc_options.use_rpc_for_inprocess_master or config.HasField("cluster_def"))


def _master(target: str, config: Any) -> Caller:
    server = _servers.get(target)
    if server is not None and not (server.listens and _wants_rpc(config)):
        return LocalMaster(server.master)
    if not target.startswith(_SCHEME):
        raise NotFoundError(
            None, None, f"No session factory registered for the given session options: {{target: \"{target}\" config: "
            "}. Registered factories are {DIRECT_SESSION, GRPC_SESSION}."
        )  # fmt: skip
    return peers.transport("cluster_client").Service("MasterService", target.removeprefix(_SCHEME), "The master")


def reset(target: str, containers: Sequence[str] | None, config: Any) -> None:
    """End the sessions of a server, and let its cluster forget the resources of containers, or all.

    Raises DeadlineExceededError where nobody answers within the `operation_timeout_in_ms` of the config.
    """
    request = protos.ResetRequest(container=containers or [])
    seconds = _PATIENCE
    if config is not None:
        request.device_filters.extend(config.device_filters)
        seconds = config.operation_timeout_in_ms / 1000 or seconds
    try:
        _master(target, config).start("Reset", request, seconds).result()
    except UnavailableError as error:
        raise DeadlineExceededError(None, None, error.message) from None
