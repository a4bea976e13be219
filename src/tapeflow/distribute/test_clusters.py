"""Addresses of the processes of a cluster on this machine, for tests."""

from __future__ import annotations

import contextlib
import socket


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("localhost", 0))
        return [each.getsockname()[1] for each in sockets]


def create_cluster_spec(
    has_chief: bool = False, num_workers: int = 1, num_ps: int = 0, has_eval: bool = False
) -> dict[str, list[str]]:
    """Addresses on this machine, by the kind of process.

    Args:
      has_chief: whether there is a chief.
      num_workers: how many workers there are.
      num_ps: how many parameter servers there are.
      has_eval: whether there is an evaluator.
    """
    counts = {"chief": int(has_chief), "worker": num_workers, "ps": num_ps, "evaluator": int(has_eval)}
    ports = iter(_free_ports(sum(counts.values())))
    return {kind: [f"localhost:{next(ports)}" for _ in range(count)] for kind, count in counts.items() if count}
