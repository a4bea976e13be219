"""Worker threads of input pipelines. All end with the pass that started them.

Threads pay only where an element takes long: handing one over costs some ten microseconds, and
short Python functions only wait for each other's interpreter lock. So both functions first make a
few elements in the calling thread, and start threads when those took long.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from tapeflow.core.threads.workers import Workers, start_thread
from tapeflow.data.iteration.passes import Over, close_pass, scope
from tapeflow.data.transform.tracing import translated

_SLOW = 5e-4  # seconds per element from which threads are worth their cost
_TRIALS = 4
_END = object()


class InThreads(Over):
    """A traced function of every element, up to `workers` at a time (-1: as many as there are cores)."""

    __slots__ = (
        "__weakref__", "_call", "_done", "_ordered", "_over", "_pool", "_position", "_spent", "_transformation",
        "_trials", "_waiting", "_workers",
    )  # fmt: skip

    def __init__(self, call, transformation, values, workers, deterministic):
        super().__init__(values)
        self._call = call
        self._transformation = transformation
        self._trials = _TRIALS if workers < 0 else 0
        self._spent = 0.0
        self._workers = workers if workers > 0 else os.cpu_count() or 1
        if scope.threads is not None:
            self._workers = min(self._workers, scope.threads)
        self._waiting = deque()
        self._ordered = scope.ordered if deterministic is None else bool(deterministic)
        self._position = -1
        self._over = False
        self._pool = None

    def __next__(self):
        if self._trials > 0:
            return self._tried()
        if self._trials < 0:
            return self._noted(self._call, next(self._input))
        while not self._over and len(self._waiting) <= self._workers:
            self._submit()
        if not self._waiting:
            self.close_pool()
            raise StopIteration
        if not self._ordered:
            wait(self._waiting, return_when=FIRST_COMPLETED)
            first = next(future for future in self._waiting if future.done())
            self._waiting.remove(first)
            return self._noted(first.result)
        return self._noted(self._waiting.popleft().result)

    def _tried(self):
        value = next(self._input)
        began = time.perf_counter()
        try:
            return self._noted(self._call, value)
        finally:
            self._spent += time.perf_counter() - began
            self._trials -= 1
            if self._trials == 0 and self._spent < _SLOW * _TRIALS:
                self._trials = -1  # quick enough without threads

    def _submit(self):
        if self._pool is None:
            self._pool = Workers(self._workers, "tapeflow-map")
        try:
            value = next(self._input)
        except StopIteration:
            self._over = True
        except Exception as error:
            failed = Future()
            failed.set_exception(error)
            self._waiting.append(failed)
        else:
            future = self._pool.submit(self._call, value)
            future.element = value
            self._waiting.append(future)

    def _noted(self, call: Callable[..., Any], *args):
        self._position += 1
        try:
            return call(*args)
        except Exception as error:
            raise translated(error, self._transformation, self._position) from error

    def save(self):
        # What is under way is kept as the elements that it is made of.
        wait(self._waiting)
        elements = [future.element for future in self._waiting if hasattr(future, "element")]
        return [self._input.save(), self._position, self._over, elements, self._trials]

    def restore(self, state):
        inner, self._position, self._over, elements, self._trials = state
        self._input.restore(inner)
        for value in elements:
            if self._pool is None:
                self._pool = Workers(self._workers, "tapeflow-map")
            future = self._pool.submit(self._call, value)
            future.element = value
            self._waiting.append(future)

    def close_pool(self):
        """Ends the threads."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def close(self):
        self.close_pool()
        super().close()

    def __del__(self):
        if hasattr(self, "_pool"):
            self.close_pool()


def read_ahead(start: Callable[..., Any], size: int, at_once: bool = False):
    """The pass that `start()` begins, up to `size` elements of it made in advance.

    Args:
      at_once: whether a thread reads from the first element on, however quick that is.
    """
    return _ReadAhead(start(), size, 0 if at_once else _TRIALS)


class _ReadAhead(Over):
    """Reads by itself until that has proved slow, then lets a thread read."""

    __slots__ = ("_at_once", "_left", "_ready", "_size", "_spent", "_thread")

    def __init__(self, values, size, trials):
        super().__init__(values)
        self._size = size
        self._left = trials
        self._at_once = trials == 0
        self._spent = 0.0
        self._thread = None
        self._ready = deque()

    def __next__(self):
        if self._left < 0:
            if self._ready:
                return self._handed(self._ready.popleft())
            return next(self._input if self._thread is None else self._thread)
        if self._left == 0:
            self._left = -1
            if self._at_once or self._spent >= _SLOW * _TRIALS:
                self._thread = _Reader(self._input, self._size)
            return self.__next__()
        self._left -= 1
        began = time.perf_counter()
        try:
            return next(self._input)
        finally:
            self._spent += time.perf_counter() - began

    @staticmethod
    def _handed(item):
        value, error = item
        if error is not None:
            raise error
        if value is _END:
            raise StopIteration
        return value

    def save(self):
        if self._thread is not None:
            # The thread rests while its pass is saved; what it has read comes first from now on.
            self._ready.extend(self._thread.stopped())
            state = self._input.save()
            self._thread = _Reader(self._input, self._size)
        else:
            state = self._input.save()
        return [state, [value for value, error in self._ready if value is not _END and error is None]]

    def restore(self, state: Sequence[Any]):
        inner, ready = state
        self._input.restore(inner)
        self._ready.extend((value, None) for value in ready)
        self._left = 0 if self._at_once and not ready else -1

    def close(self):
        if self._thread is None:
            super().close()
        else:
            self._thread.give_up()


class _Shelf:
    """The queue between a reader and who it reads for."""

    def __init__(self, size):
        self.items = queue.Queue(size)
        self.stop = threading.Event()
        self.given_up = False
        self.kept = []  # what was read but found no place before the end

    def put(self, item: Sequence[Any]):
        while not self.stop.is_set():
            try:
                self.items.put(item, timeout=0.1)
                return
            except queue.Full:
                continue
        self.kept.append(item)

    def read(self, values):
        """Fills the queue; errors are handed on, and reading goes on after them."""
        while not self.stop.is_set():
            try:
                item = next(values), None
            except StopIteration:
                self.put((_END, None))
                return
            except BaseException as error:
                item = _END, error
            self.put(item)
        if self.given_up:
            close_pass(values)


class _Reader:
    """A thread that reads an iterator into a queue."""

    def __init__(self, values: Any, size: int):
        self._shelf = _Shelf(size)
        self._thread = start_thread(self._shelf.read, values, name="tapeflow-prefetch")

    def __next__(self):
        if self._thread is None:
            raise StopIteration
        value, error = self._shelf.items.get()
        if error is not None:
            raise error
        if value is _END:
            self.stopped()
            raise StopIteration
        return value

    def stopped(self):
        """Ends the thread; returns what it had read."""
        thread, self._thread = self._thread, None
        self._shelf.stop.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        left = []
        while not self._shelf.items.empty():
            left.append(self._shelf.items.get())
        return left + self._shelf.kept

    def give_up(self):
        """Lets the thread end by itself: it may be waiting for a generator that never yields."""
        self._shelf.given_up = True
        self._shelf.stop.set()

    __del__ = give_up
