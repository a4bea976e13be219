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
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from tapeflow.core.errors import InvalidArgumentError

_SLOW = 5e-4  # seconds per element from which threads are worth their cost
_TRIALS = 4
_END = object()


class _Order(threading.local):
    """Whether passes that begin now keep the order of their elements."""

    kept = True


_order = _Order()


def unordered(start):
    """Begins a pass whose parallel maps hand out elements as they get ready."""
    before = _order.kept
    _order.kept = False
    try:
        return start()
    finally:
        _order.kept = before


def map_in_threads(fn, values, workers):
    """fn of every value, in order, up to `workers` at a time (-1: as many as there are cores)."""
    return _InThreads(fn, values, workers)


class _InThreads:
    """After an error the pass goes on with the next value."""

    _pool = None

    def __init__(self, fn, values, workers):
        self._fn = fn
        self._values = iter(values)
        self._trials = _TRIALS if workers < 0 else 0
        self._spent = 0.0
        self._workers = workers if workers > 0 else os.cpu_count() or 1
        self._waiting = deque()
        self._ordered = _order.kept
        self._position = -1

    def __iter__(self):
        return self

    def __next__(self):
        if self._trials > 0:
            return self._tried()
        if self._trials < 0:
            return self._noted(self._fn, next(self._values))
        while self._values is not None and len(self._waiting) <= self._workers:
            self._submit()
        if not self._waiting:
            self._end()
            raise StopIteration
        if not self._ordered:
            done = wait(self._waiting, return_when=FIRST_COMPLETED).done
            first = next(iter(done))
            self._waiting.remove(first)
            return self._noted(first.result)
        return self._noted(self._waiting.popleft().result)

    def _tried(self):
        value = next(self._values)
        began = time.perf_counter()
        try:
            return self._noted(self._fn, value)
        finally:
            self._spent += time.perf_counter() - began
            self._trials -= 1
            if self._trials == 0 and self._spent < _SLOW * _TRIALS:
                self._trials = -1  # quick enough without threads

    def _submit(self):
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._workers, thread_name_prefix="tapeflow-map")
        try:
            self._waiting.append(self._pool.submit(self._fn, next(self._values)))
        except StopIteration:
            self._values = None
        except Exception as error:
            failed = Future()
            failed.set_exception(error)
            self._waiting.append(failed)

    def _noted(self, call, *args):
        self._position += 1
        try:
            return call(*args)
        except StopIteration as error:
            raise InvalidArgumentError(
                None,
                None,
                "Function invocation produced OutOfRangeError: StopIteration in Dataset.map, at element "
                f"{self._position}",
            ) from error
        except Exception as error:
            error.add_note(f"in Dataset.map, at element {self._position}")
            raise

    def _end(self):
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __del__(self):
        self._end()


def read_ahead(start, size):
    """The values of the pass that `start()` begins, up to `size` of them made in advance."""
    return _ReadAhead(iter(start()), size)


class _ReadAhead:
    """Reads by itself until that has proved slow, then lets a thread read."""

    def __init__(self, values, size):
        self._values = values
        self._size = size
        self._left = _TRIALS
        self._spent = 0.0

    def __iter__(self):
        return self

    def __next__(self):
        if self._left < 0:
            return next(self._values)
        if self._left == 0:
            self._left = -1
            if self._spent >= _SLOW * _TRIALS:
                self._values = _Reader(self._values, self._size)
            return next(self._values)
        self._left -= 1
        began = time.perf_counter()
        try:
            return next(self._values)
        finally:
            self._spent += time.perf_counter() - began


class _Shelf:
    """The queue between a reader and who it reads for."""

    def __init__(self, size):
        self.items = queue.Queue(size)
        self.stop = threading.Event()

    def put(self, item):
        while not self.stop.is_set():
            try:
                self.items.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def read(self, values):
        """Fills the queue; errors are handed on, and reading goes on after them."""
        try:
            while not self.stop.is_set():
                try:
                    item = next(values), None
                except StopIteration:
                    break
                except BaseException as error:
                    item = _END, error
                if not self.put(item):
                    return
            self.put((_END, None))
        finally:
            close = getattr(values, "close", None)
            if close is not None:
                close()


class _Reader:
    """A thread that reads an iterator into a queue."""

    def __init__(self, values, size):
        self._shelf = _Shelf(size)
        self._thread = threading.Thread(
            target=self._shelf.read, args=(values,), name="tapeflow-prefetch", daemon=True
        )
        self._thread.start()

    def __iter__(self):
        return self

    def __next__(self):
        if self._thread is None:
            raise StopIteration
        value, error = self._shelf.items.get()
        if error is not None:
            raise error
        if value is _END:
            self._end()
            raise StopIteration
        return value

    def _end(self):
        thread, self._thread = self._thread, None
        self._shelf.stop.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def __del__(self):
        self._end()
