"""One run of the parts of a graph, as their master sees it."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow import protos
from tapeflow.cluster.calls import Call, Pending
from tapeflow.cluster.partition import Part
from tapeflow.cluster.peers import LocalPeer, Peer, Peers
from tapeflow.cluster.tasks import Task
from tapeflow.core.errors import CancelledError, DeadlineExceededError, OpError, from_code

_MARGIN = 1.0  # seconds for a part to end by itself at its deadline


class PartRun:
    """A part of a graph that its worker has."""

    def __init__(self, part: Part, peer: Peer):
        self.part, self.peer = part, peer
        self.handle = ""
        self._pending: Pending | None = None

    def register(self, session: str, own: bool, seconds: float | None) -> None:
        """Begin to give the part to its worker."""
        request = protos.RegisterGraphRequest(
            session_handle=session, create_worker_session_called=True, graph_def=self.part.graph_def
        )
        self._pending = self.peer.start("RegisterGraph", request, seconds, own)

    def wait(self, seconds: float | None) -> None:
        """Wait until the worker has it."""
        assert self._pending is not None
        self.handle = self._pending.result(seconds).graph_handle
        self._pending = None

    def forget(self, session: str) -> None:
        """Let the worker forget it."""
        request = protos.DeregisterGraphRequest(
            session_handle=session, create_worker_session_called=True, graph_handle=self.handle
        )
        self.peer.start("DeregisterGraph", request, 10.0)


class Execution:
    """A run.

    Args:
      peers: the workers.
      session: the handle of the session.
      task: that of the master.
      seconds: how long it may take; None: any time.
      options: a RunOptions.
    """

    def __init__(self, peers: Peers, session: str, task: Task, seconds: float | None, options: Any):
        self._peers, self._session, self._task, self._options = peers, session, task, options
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._seconds = seconds
        self._number = secrets.randbits(56)
        self._lock = threading.Lock()
        self._pending: list[Pending] = []
        self._error: OpError | None = None

    def cancel(self, error: OpError | None = None) -> None:
        """End the run, which raises an error."""
        with self._lock:
            if self._error is None:
                self._error = error or CancelledError(None, None, "RunStep was cancelled.")
            pending = list(self._pending)
        for each in pending:
            each.cancel()

    def run(self, parts: Sequence[PartRun], feeds: Mapping[str, Any], metadata: Any) -> dict[str, Any]:
        """Run all parts; return TensorProtos of what is fetched, by name.

        Raises the first error of a part, and DeadlineExceededError when the time is over.
        """
        found = dict(feeds)
        try:
            responses = self._run(parts, feeds)
        except KeyboardInterrupt:
            self.cancel()
            raise
        finally:
            self._clean(parts)
        for each, response in zip(parts, responses, strict=True):
            names = {key: name for name, key in each.part.fetches.items()}
            found.update((names[tensor.name], tensor.tensor) for tensor in response.recv if tensor.name in names)
            metadata.step_stats.dev_stats.extend(response.step_stats.dev_stats)
            if self._options.output_partition_graphs:
                metadata.partition_graphs.add().CopyFrom(each.part.graph_def)
        return found

    def _run(self, parts: Sequence[PartRun], feeds: Mapping[str, Any]) -> list[Any]:
        here = [each for each in parts if isinstance(each.peer, LocalPeer)][-1:]
        started: dict[int, tuple[Task, Pending]] = {}
        for each in parts:
            if each not in here:
                started[id(each)] = each.part.task, self._start(each, self._request(each, feeds))
        for each in here:  # one of this process runs in this thread
            started[id(each)] = each.part.task, self._run_here(each, self._request(each, feeds))
        for task, pending in started.values():
            left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
            try:
                pending.result(left)
            except OpError as error:
                self._fail(task, error)
        self._wait_for_all(list(started.values()))
        if self._error is not None:
            raise from_code(self._error.error_code, self._error.message)
        return [started[id(each)][1].value for each in parts]

    def _request(self, part: PartRun, feeds: Mapping[str, Any]) -> Any:
        request = protos.RunGraphRequest(
            session_handle=self._session, create_worker_session_called=True, graph_handle=part.handle,
            step_id=self._number, recv_key=part.part.fetches.values(),
        )  # fmt: skip
        request.exec_opts.record_timeline = self._options.trace_level > 0
        for name, key in part.part.feeds.items():
            request.send.add(name=key, tensor=feeds[name])
        return request

    def _start(self, part: PartRun, request: Any) -> Pending:
        seconds = None if self._seconds is None else self._seconds + _MARGIN
        return self._watch(part.part.task, part.peer.start("RunGraph", request, seconds))

    def _run_here(self, part: PartRun, request: Any) -> Pending:
        assert isinstance(part.peer, LocalPeer)
        call = Call(False, self._seconds)
        pending = self._watch(part.part.task, Pending(call.cancel))
        part.peer.answer(pending, "RunGraph", request, call)
        return pending

    def _watch(self, task: Task, pending: Pending) -> Pending:
        """Let the failure of one part end the others."""
        with self._lock:
            self._pending.append(pending)
            over = self._error is not None
        if over:
            pending.cancel()
        pending.when_done(lambda done: self._look(task, done))
        return pending

    def _look(self, task: Task, done: Pending) -> None:
        if done.error is not None:
            self._fail(task, done.error)

    def _fail(self, task: Task, error: OpError) -> None:
        error = from_code(error.error_code, f"From {task}:\n{error.message}")
        if self._deadline is not None and time.monotonic() >= self._deadline:
            error = DeadlineExceededError(None, None, "Timed out waiting for notification")
        self.cancel(error)

    def _wait_for_all(self, started: Sequence[tuple[Task, Pending]]) -> None:
        """Wait until no part runs any more; a worker that does not answer is left to itself."""
        over = time.monotonic() + 5.0
        for task, pending in started:
            try:
                pending.result(None if self._error is None else max(0.0, over - time.monotonic()))
            except OpError as error:
                self._fail(task, error)

    def _clean(self, parts: Sequence[PartRun]) -> None:
        request = protos.CleanupGraphRequest(step_id=self._number)
        for each in parts:
            if isinstance(each.peer, LocalPeer):
                each.peer.worker.CleanupGraph(request, Call(False))
            else:
                each.peer.start("CleanupGraph", request, 10.0)
