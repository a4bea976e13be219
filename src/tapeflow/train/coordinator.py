"""`tf.train.Coordinator`: lets threads stop together, and brings their exceptions to who joins them."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.core.errors import OutOfRangeError
from tapeflow.core.public import boundaries, public_methods

_logger = logging.getLogger("tensorflow")


@public_methods
class Coordinator:
    """Tells threads when to stop, and waits for them.

    Args:
      clean_stop_exception_types: exceptions that are a request to stop, not an error; OutOfRangeError by default.
    """

    def __init__(self, clean_stop_exception_types=None):
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (OutOfRangeError,)
        self._clean = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error = None
        self._joined = False
        self._registered_threads = set()

    def request_stop(self, ex=None):
        """Asks all threads to stop; `ex`, an exception or what `sys.exc_info()` gives, is raised by `join`.

        Raises `ex` itself after the threads were joined, ValueError for what is no exception.
        """
        with self._lock:
            error = self._error_of(ex)
            if self._joined:
                if error is not None:
                    raise error
                return
            if self._stop.is_set():
                return
            if error is not None and self._error is None:
                _logger.info("Error reported to Coordinator: %s, %s", type(error), error)
                self._error = error
            self._stop.set()

    def _error_of(self, ex: Sequence[Any] | OutOfRangeError | None):
        if ex is None:
            return None
        error = ex
        if isinstance(ex, tuple):
            if len(ex) != 3 or not ex[0] or not ex[1]:
                raise ValueError(
                    f"ex must be a tuple or sys.exc_info or the current exception: {ex}"
                )
            error = ex[1] if ex[1].__traceback__ is not None else ex[1].with_traceback(ex[2])
        return None if isinstance(error, self._clean) else error

    def clear_stop(self):
        """Makes the coordinator ready for threads once more."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop.clear()

    def should_stop(self):
        """Whether a stop was asked for."""
        return self._stop.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self):
        """A block whose exceptions are reported with `request_stop`."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None):
        """Waits until a stop is asked for, `timeout` seconds at most; whether it was."""
        return self._stop.wait(timeout=timeout)

    def register_thread(self, thread):
        """Adds a thread to those that `join` waits for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads: bool = False):
        """Waits for the threads to end.

        Args:
          threads: besides the registered ones.
          stop_grace_period_secs: how long they may take after a stop was asked for.
          ignore_live_threads: whether it is no error if some do not end.

        Raises the exception that was reported, RuntimeError for threads that do not end.
        """
        with self._lock:
            waiting = list(self._registered_threads.union(threads or ()))
        while any(t.is_alive() for t in waiting) and not self.wait_for_stop(1.0):
            pass
        pause, left = 0.001, stop_grace_period_secs
        while any(t.is_alive() for t in waiting) and left >= 0 and not ignore_live_threads:
            time.sleep(pause)
            left -= pause
            pause = max(0.001, min(2 * pause, left, 1.0)) if left > 0 else 0.001
        alive = [t.name for t in waiting if t.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._error is not None:
                raise self._error
            if alive and not ignore_live_threads:
                raise RuntimeError(
                    f"Coordinator stopped with threads still running: {' '.join(alive)}"
                )
            if alive:
                _logger.info("Coordinator stopped with threads still running: %s", " ".join(alive))

    @property
    def joined(self):
        """Whether the threads were joined."""
        return self._joined

    def raise_requested_exception(self):
        """Raises the exception that was reported, if there is one."""
        with self._lock:
            if self._error is not None:
                raise self._error


class LooperThread(threading.Thread):
    """A thread that calls a function again and again until its coordinator stops.

    Args:
      timer_interval_secs: how many seconds lie between calls; None: none.
      target, args, kwargs: what is called; None: `run_loop`, which subclasses write.

    Raises ValueError for what is no Coordinator, or arguments without a target.
    """

    def __init__(
        self, coord: str | Coordinator, timer_interval_secs: float, target=None, args=None,
        kwargs: Mapping[Any, Any] | None = None,
    ):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__()
        self.daemon = True
        self._coord = coord
        self._interval = timer_interval_secs
        self._target_function = target
        if target is None and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        self._target_args, self._target_kwargs = args or (), kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator, timer_interval_secs: float, target: Callable[..., Any], args=None,
        kwargs: Mapping[Any, Any] | None = None,
    ):
        """A started thread that calls `target(*args, **kwargs)`."""
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self):
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._interval is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                due = time.time()
                while not self._coord.wait_for_stop(due - time.time()):
                    due += self._interval
                    self.run_loop()
            self.stop_loop()

    def start_loop(self):
        """Called when the thread begins."""

    def stop_loop(self):
        """Called when the thread ends."""

    def run_loop(self):
        """Called again and again."""
        if self._target_function:
            self._target_function(*self._target_args, **self._target_kwargs)


boundaries(globals())
