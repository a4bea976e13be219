"""Passes over datasets: iterators that can say where they are, and go there again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.errors import InvalidArgumentError


class _Scope(threading.local):
    """What holds for the passes that begin now, on this thread.

    Attributes:
      plans: plans that were made for the iterator that they are for, by what of; None: there is no such iterator.
      ordered: whether parallel maps keep the order of their elements.
      threads: the most threads that a parallel map may use; None: as many as it was given.
    """

    plans = None
    ordered = True
    threads = None


scope = _Scope()


def begun(start: Callable[..., Any]):
    """The pass that `start` begins for an iterator of its own."""
    return _within({}, scope.ordered, scope.threads, start)


def under(start: Callable[..., Any], ordered: bool | None, threads: int | None):
    """The pass that `start` begins, of which parallel maps keep the order of elements or not, with so many threads.

    None: what holds for the pass that it is a part of.
    """
    kept = scope.ordered if ordered is None else ordered
    return _within(scope.plans, kept, scope.threads if threads is None else threads, start)


def later(start: Callable[..., Any]):
    """`start`, to be called when a pass that begins now needs it: for the same iterator."""
    held = scope.plans, scope.ordered, scope.threads
    return lambda *args: _within(*held, start, *args)


def _within(plans, ordered: bool, threads, start: Callable[..., Any], *args):
    before = scope.plans, scope.ordered, scope.threads
    scope.plans, scope.ordered, scope.threads = plans, ordered, threads
    try:
        return start(*args)
    finally:
        scope.plans, scope.ordered, scope.threads = before


class Pass:
    """An iterator of elements. An error in one element does not end it: the next call goes on after it.

    `save` gives where it is, of None, bool, int, float, str, bytes, tensors, and lists of these; `restore` takes
    a pass that has just begun over an equal dataset there.
    """

    __slots__ = ()

    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration

    def save(self):
        """Where the pass is."""
        raise InvalidArgumentError(
            None, None, f"{type(self).__name__.strip('_')} iterators cannot be saved."
        )

    def restore(self, state):
        """Goes where `save` was called."""
        raise InvalidArgumentError(
            None, None, f"{type(self).__name__.strip('_')} iterators cannot be restored."
        )


class Counted(Pass):
    """A pass over what `begin()` returns, which is where it is by the number of elements taken."""

    __slots__ = ("_begin", "_count", "_values")

    def __init__(self, begin: Callable[..., Any]):
        self._begin = begin
        self._values = None
        self._count = 0

    def __next__(self):
        if self._values is None:
            self._values = iter(self._begin())
        self._count += 1
        try:
            return next(self._values)
        except StopIteration:
            self._values = iter(())  # what it read is let go
            raise

    def save(self):
        return self._count

    def restore(self, state):
        self._values = iter(self._begin())
        self._count = state
        for _ in range(state):
            next(self._values, None)

    def close(self):
        """Ends the iterator, where it has to be ended explicitly."""
        close_pass(self._values)
        self._values = iter(())


class Raising(Pass):
    """An error in the place of elements, once."""

    __slots__ = ("_error",)

    def __init__(self, error):
        self._error = error

    def __next__(self):
        error, self._error = self._error, None
        if error is None:
            raise StopIteration
        raise error

    def save(self):
        return None

    def restore(self, state):
        self._error = None


class Over(Pass):
    """A pass over the elements of another, `_input`."""

    __slots__ = ("_input",)

    def __init__(self, values):
        self._input = values

    def save(self):
        return self._input.save()

    def restore(self, state: Sequence[Any]):
        self._input.restore(state)

    def close(self):
        """Closes what it reads."""
        close_pass(self._input)


def close_pass(values):
    """Tells an iterator, if it wants to know, that nothing more is wanted of it."""
    close = getattr(values, "close", None)
    if close is not None:
        close()
