"""`tf.profiler.experimental`: when operations, functions and marked blocks ran, written for TensorBoard.

An eager operation is shown from the end of the one before it: with the Python that led to it.
"""

from __future__ import annotations

import threading
import time
from typing import Any, NamedTuple

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.errors import AlreadyExistsError, UnavailableError
from tapeflow.core.public import public, public_methods
from tapeflow.function import function
from tapeflow.graph.run import call_watching
from tapeflow.summary import profile_files
from tapeflow.summary.profile_files import Span


@api("profiler.experimental.ProfilerOptions")
class ProfilerOptions(NamedTuple):
    """What a profile holds.

    Args:
      host_tracer_level: 0: only blocks of `Trace`; from 1 on the operations too.
      python_tracer_level, device_tracer_level, delay_ms: kept; there is nothing to trace there.
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _Profile:
    """A profile that is being taken."""

    def __init__(self, folder: str, options: Any):
        self.folder, self.options = folder, options or ProfilerOptions()
        self.spans: list[Span] = []
        self._lock = threading.Lock()
        self._last = threading.local()
        self.began = time.perf_counter_ns()

    def add(self, name: str, begin: int, end: int, details: dict[str, str]) -> None:
        thread = threading.current_thread().name
        with self._lock:
            self.spans.append(Span(name, begin, end, thread, details))

    def operation(self, row: Any, inputs: Any, outputs: list[Any]) -> None:
        now = time.perf_counter_ns()
        begin = getattr(self._last, "end", self.began)
        self._last.end = now
        shapes = ", ".join(f"{y.dtype.name}{list(y.shape)}" for y in outputs)
        self.add(row.name, begin, now, {"outputs": shapes})

    def start(self) -> None:
        if self.options.host_tracer_level > 0:
            call_watching.watch(self.operation)
            function.runners.append(self.run)
            _native.set_functions_fast(False)

    def stop(self) -> None:
        if self.run in function.runners:
            call_watching.unwatch(self.operation)
            function.runners.remove(self.run)
            _native.set_functions_fast(not context.functions_run_eagerly())

    def run(self, concrete: Any, call: Any) -> Any:
        """Runs a call of a function, and notes when it did."""
        begin = time.perf_counter_ns()
        try:
            return call()
        finally:
            now = time.perf_counter_ns()
            self._last.end = now
            self.add(concrete.function_name, begin, now, {"kind": "tf.function"})


_current: _Profile | None = None
_lock = threading.Lock()


def is_running() -> bool:
    """Whether a profile is being taken."""
    return _current is not None


@api("profiler.experimental.start")
@public
def start(logdir, options=None):
    """Begin to take a profile.

    Args:
      logdir: the folder to write it to.
      options: a `tf.profiler.experimental.ProfilerOptions` (optional).

    Raises:
      AlreadyExistsError: where one is being taken.
    """
    global _current
    with _lock:
        if _current is not None:
            raise AlreadyExistsError(None, None, "Another profiler is running.")
        _current = _Profile(logdir, options)
        _current.start()


@api("profiler.experimental.stop")
@public
def stop(save: bool = True):
    """Ends the profile; writes it to its folder if `save`. Raises UnavailableError if there is none."""
    _finish(None, save)


def stop_to(folder: Any) -> None:
    """Ends the profile and writes it to `folder`, or to that it was begun for."""
    _finish(folder, True)


def _finish(folder: Any, save: bool) -> None:
    global _current
    with _lock:
        if _current is None:
            raise UnavailableError(
                None, None, "Cannot export profiling results. No profiler is running."
            )
        profile, _current = _current, None
        profile.stop()
    target = folder if folder is not None else profile.folder
    if save and target:
        profile_files.write(target, profile.spans)


@api("profiler.experimental.Profile")
@public_methods
class Profile:
    """A context in which a profile is taken."""

    def __init__(self, logdir: str, options=None):
        self._logdir, self._options = logdir, options

    def __enter__(self):
        start(self._logdir, self._options)

    def __exit__(self, typ, value, tb):
        stop()


@api("profiler.experimental.Trace")
@public_methods
class Trace:
    """A context that profiles show by its name, with details by keyword, such as `step_num`."""

    def __init__(self, name: str, **kwargs):
        self._name = name
        self._details = {key: str(value) for key, value in kwargs.items()}
        self._begin = 0

    def __enter__(self):
        self._begin = time.perf_counter_ns()
        return self

    def set_metadata(self, **kwargs):
        """Adds details."""
        self._details.update((key, str(value)) for key, value in kwargs.items())

    def __exit__(self, exc_type, exc_val, exc_tb):
        profile = _current
        if profile is not None:
            profile.add(self._name, self._begin, time.perf_counter_ns(), dict(self._details))
