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
from concurrent.futures import ThreadPoolExecutor

_SLOW = 5e-4  # seconds per element from which threads are worth their cost
_TRIALS = 4
_END = object()


def map_in_threads(fn, values, workers):
    """fn of every value, in order, up to `workers` at a time (-1: as many as there are cores)."""
    if workers < 0:
        workers = os.cpu_count() or 1
        began = time.perf_counter()
        for tried, value in zip(range(1, _TRIALS + 1), values):
            yield fn(value)
            if tried == _TRIALS and time.perf_counter() - began < _SLOW * _TRIALS:
                yield from map(fn, values)
                return
    pool = ThreadPoolExecutor(workers, thread_name_prefix="tapeflow-map")
    waiting = deque()
    position = 0
    try:
        for value in values:
            waiting.append(pool.submit(fn, value))
            if len(waiting) > workers:
                output = waiting.popleft().result()
                position += 1
                yield output
        while waiting:
            output = waiting.popleft().result()
            position += 1
            yield output
    except Exception as error:
        error.add_note(f"in Dataset.map, at element {position}")
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def read_ahead(start, size):
    """The values of the pass that `start()` begins, up to `size` of them made in advance."""
    values = iter(start())
    began = time.perf_counter()
    spent = 0.0
    for _ in range(_TRIALS):
        began = time.perf_counter()
        value = next(values, _END)
        if value is _END:
            return
        spent += time.perf_counter() - began
        yield value
    if spent < _SLOW * _TRIALS:
        yield from values
        return
    yield from _Reader(values, size)


class _Reader:
    """A thread that reads an iterator into a queue."""

    def __init__(self, values, size):
        self._queue = queue.Queue(size)
        self._stop = threading.Event()
        self._thread = threading.Thread(
            target=self._read, args=(values,), name="tapeflow-prefetch", daemon=True
        )

    def _read(self, values):
        try:
            for value in values:
                if not self._put((value, None)):
                    return
            self._put((_END, None))
        except BaseException as error:
            self._put((_END, error))
        finally:
            close = getattr(values, "close", None)
            if close is not None:
                close()

    def _put(self, item):
        while not self._stop.is_set():
            try:
                self._queue.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def __iter__(self):
        self._thread.start()
        try:
            while True:
                value, error = self._queue.get()
                if error is not None:
                    raise error
                if value is _END:
                    return
                yield value
        finally:
            self._stop.set()
            self._thread.join()
