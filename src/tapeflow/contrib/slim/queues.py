"""`slim.queues`: the threads of queues, within a block."""

from __future__ import annotations

import contextlib
import threading

from tapeflow.graph.default_graph import get_default_graph
from tapeflow.train.coordinator import Coordinator
from tapeflow.train.queue_runner import start_queue_runners


class NestedQueueRunnerError(Exception):
    """Threads were started within a block that has started them."""


_running = threading.local()


@contextlib.contextmanager
def QueueRunners(session):
    """Starts the graph's queue runners, and stops them at the end of the block.

    Raises NestedQueueRunnerError within another such block.
    """
    if getattr(_running, "graph", None) is get_default_graph():
        raise NestedQueueRunnerError("QueueRunners within QueueRunners")
    _running.graph = get_default_graph()
    try:
        coordinator = Coordinator()
        threads = start_queue_runners(session, coordinator)
        try:
            yield
        finally:
            coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=120)
    finally:
        _running.graph = None
