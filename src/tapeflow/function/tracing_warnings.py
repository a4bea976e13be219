"""Warns of functions that are traced often: something in their arguments is never the same."""

from __future__ import annotations

import functools
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from tapeflow import _native
from tapeflow.core.log import get_logger

# Thresholds of TensorFlow: so many traces in so many of the last calls, and so many warnings for one function.
_MANY = 5
_HISTORY = 10
_WARNINGS = 2

_lock = _native.CreationLock()  # of the counts of all functions, which threads may call at once


class Calls:
    """The recent calls of one Python function, by every `tf.function` that was made of it.

    Attributes:
      served: for each recent trace, the number of calls that it served so far, the one that made it included.
      recent: their sum.
    """

    def __init__(self) -> None:
        self.served: deque[int] = deque()
        self.recent = 0
        self._warnings = 0

    def without_trace(self, count: int) -> None:
        """Counts calls that a known trace served."""
        with _lock:
            if not self.served:
                self.served.append(0)
            self.served[-1] += count
            self.recent += count

    def with_trace(self, function: Any, reason: Callable[[], str], quiet: bool) -> None:
        """Counts a call that was traced, and warns where there were many."""
        with _lock:
            self.served.append(1)
            self.recent += 1
            while self.served and self.recent - self.served[0] > _HISTORY:
                self.recent -= self.served.popleft()
            traces, calls = len(self.served), self.recent
            if quiet or self._warnings >= _WARNINGS or traces < _MANY:
                return
            self._warnings += 1
        get_logger().warning(
            "%d out of the last %d calls to %s triggered tf.function retracing. Tracing is "
            "expensive and the excessive "
            "number of tracings could be due to (1) creating @tf.function repeatedly in a "
            "loop, (2) passing tensors "
            "with different shapes, (3) passing Python objects instead of tensors. For (1), please define your "
            "@tf.function outside of the loop. For (2), @tf.function has "
            "reduce_retracing=True option that can avoid "
            "unnecessary retracing. For (3), pass tensors. The last trace was needed because: %s",
            traces, calls, repr(function), reason(),
        )  # fmt: skip


_calls: weakref.WeakKeyDictionary[Any, Calls] = weakref.WeakKeyDictionary()


def calls_of(function: Callable[..., Any]) -> Calls:
    """The calls of a Python function: of its code, so that functions defined anew in a loop are the same one."""
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    key = getattr(function, "__code__", function)
    try:
        return _calls.setdefault(key, Calls())
    except TypeError:  # what cannot be referred to weakly, or hashed
        return Calls()
