"""Replicas of a function, in step: each runs in a thread of its own, one at a time, until it ends or has to wait
for the others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core import context, replicas
from tapeflow.distribute.values import regroup


class _Stopped(BaseException):
    """Ends a replica when another has failed."""


class _Replica:
    """One replica and its thread."""

    def __init__(self, body: Callable[[], Any]):
        self.turn, self.done = threading.Semaphore(0), threading.Semaphore(0)
        self.merging: Any = None
        self.merged: Any = None
        self.result: Any = None
        self.error: BaseException | None = None
        self.ended = self.stopped = False
        self.thread = threading.Thread(target=self._run, args=(body,), daemon=True)

    def _run(self, body: Callable[[], Any]) -> None:
        self.turn.acquire()
        try:
            if not self.stopped:
                self.result = body()
        except _Stopped:
            pass
        except BaseException as error:
            self.error = error
        self.ended = True
        self.done.release()

    def advance(self) -> None:
        """Lets the replica run to its end or to where it waits for the others."""
        self.turn.release()
        self.done.acquire()

    def merge(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Called by the replica: waits for the others; returns its part of what the function returned."""
        self.merging = (function, args, kwargs)
        self.done.release()
        self.turn.acquire()
        if self.stopped:
            raise _Stopped
        return self.merged


def run_in_step(bodies: list[Any], part: Callable[[int, Any], Any]) -> list[Any]:
    """The results of `body(merge)` for every body.

    `merge(function, args, kwargs)` waits until all bodies have called it, then runs `function` once, with the
    arguments of all regrouped, in the thread of the caller; `part(i, result)` is what body i gets of its result.

    Raises what a body raised first; RuntimeError where some wait for others that have ended.
    """
    around = _surroundings()
    members: list[_Replica] = []
    for body in bodies:
        box: list[_Replica] = []

        def work(body: Any = body, box: Any = box) -> Any:
            with around():
                return body(box[0].merge)

        replica = _Replica(work)
        box.append(replica)
        members.append(replica)
        replica.thread.start()
    try:
        while True:
            for replica in members:
                replica.advance()
                if replica.error is not None:
                    raise replica.error
            ended = [replica.ended for replica in members]
            if all(ended):
                return [replica.result for replica in members]
            if any(ended):
                raise RuntimeError(
                    "Some replicas made a different number of replica_context().merge_call() calls."
                )
            calls = [replica.merging for replica in members]
            result = calls[0][0](
                *regroup([call[1] for call in calls]), **regroup([call[2] for call in calls])
            )
            for i, replica in enumerate(members):
                replica.merged = part(i, result)
    finally:
        for replica in members:
            while not replica.ended:
                replica.stopped = True
                replica.advance()
            replica.thread.join()


def _surroundings() -> Callable[[], Any]:
    """A context manager that gives another thread the graphs, names and device of this one."""
    import contextlib

    state = context.thread_state()
    graphs, scope = state.graphs, state.name_scope
    device, index = state.device_name, state.device_index
    strategies = replicas.state.strategies

    @contextlib.contextmanager
    def enter() -> Any:
        own = context.thread_state()
        own.graphs = graphs
        own.name_scope = scope
        context.set_device(own, device, index)
        context.tell_graph()
        replicas.place(strategies, None)
        yield

    return enter
