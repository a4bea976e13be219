"""Threads of the library's own: the interpreter does not wait for them at its end."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


def start_thread(function: Callable[..., Any], *args: Any, name: str) -> threading.Thread:
    """Starts a daemon thread. Raises RuntimeError while the interpreter ends: the thread would never begin."""
    if sys.is_finalizing():
        raise RuntimeError("cannot start a thread at interpreter shutdown")
    thread = threading.Thread(target=function, args=args, name=name, daemon=True)
    thread.start()
    return thread


class Workers:
    """Up to `size` threads that call functions in the order in which they were given.

    The threads of `concurrent.futures` are joined before `atexit` functions run, so that a function that never returns
    keeps the process alive, and refuse work from then on, though daemon threads still run.
    """

    def __init__(self, size: int, name: str):
        self._size, self._name = size, name
        self._begin()

    def _begin(self) -> None:
        self._count = 0
        self._lock = threading.Lock()  # of the count
        self._work: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._process = os.getpid()

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """The future of a call."""
        if self._is_forked():
            self._begin()
        future: Future[Any] = Future()
        with self._lock:
            if self._count < self._size:
                start_thread(_work, self._work, name=f"{self._name}_{self._count}")
                self._count += 1
        self._work.put((future, function, args))
        return future

    def finish(self) -> None:
        """Waits for the calls that were submitted before; for one thread only."""
        if self._count and not self._is_forked():
            self.submit(lambda: None).result()

    def close(self) -> None:
        """Cancels the calls that have not begun, and ends each thread after its call.

        Does nothing where the threads are gone, in a forked child and while the interpreter ends: they may hold locks
        for ever.
        """
        if self._is_forked() or sys.is_finalizing():
            return
        while True:
            try:
                item = self._work.get_nowait()
            except queue.Empty:
                break
            if item is not None:
                item[0].cancel()
        self._work.put(None)

    def _is_forked(self) -> bool:
        """Whether this is a child of the process with the threads."""
        return os.getpid() != self._process


def _work(work: queue.SimpleQueue[Any]) -> None:
    while (item := work.get()) is not None:
        future, function, args = item
        if future.set_running_or_notify_cancel():
            try:
                result = function(*args)
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
                del result
        del item, future, function, args  # else they live until the next call comes
    work.put(None)  # for the next thread
