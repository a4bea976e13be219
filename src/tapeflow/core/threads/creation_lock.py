"""A lock around making something once, such as the trace of a function, which may make other such things meanwhile."""

from __future__ import annotations

import os
import threading

# Guards what follows. It is taken by itself, not by way of the condition: an interrupt in the `__enter__` of that,
# which is Python code, would leave it taken for ever.
_guard = threading.RLock()
# Notified when a lock is released.
_changed = threading.Condition(_guard)
# The threads that hold a lock, once for each time they took it.
_owners: dict[CreationLock, tuple[int, ...]] = {}
# Which lock a thread waits for.
_awaited: dict[int, CreationLock] = {}


class CreationLock:
    """A lock for user code that may take others in any order: threads that would wait for each other do not.

    A thread waits until no other holds the lock, unless one of these waits itself, directly or by way of others, for
    this thread: then both hold it. Whoever holds it looks first whether what it wants to make has been made. A thread
    may take the lock again.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        me = threading.get_ident()
        taken = False
        try:
            with _guard:
                while self._is_taken(me) and not self._waits_for(me):
                    _awaited[me] = self
                    try:
                        _changed.wait()
                    finally:
                        del _awaited[me]
                owners = (*_owners.get(self, ()), me)
                _owners[self], taken = owners, True  # no signal is handled between the two
        except BaseException:
            if taken:
                self._release(me)
            raise

    def __exit__(self, *_exception: object) -> None:
        self._release(threading.get_ident())

    def _release(self, thread: int) -> None:
        with _guard:
            owners = list(_owners.pop(self))
            owners.remove(thread)
            if owners:
                _owners[self] = tuple(owners)
            _changed.notify_all()

    def _is_taken(self, me: int) -> bool:
        return any(owner != me for owner in _owners.get(self, ()))

    def _waits_for(self, thread: int) -> bool:
        """Whether an owner cannot go on until `thread` does."""
        seen: set[int] = set()
        locks = [self]
        while locks:
            for owner in _owners.get(locks.pop(), ()):
                if owner == thread:
                    return True
                if owner not in seen:
                    seen.add(owner)
                    if owner in _awaited:
                        locks.append(_awaited[owner])
        return False


def _in_forked_child() -> None:
    """The other threads are gone, and with them what they held."""
    global _guard, _changed
    _guard = threading.RLock()
    _changed = threading.Condition(_guard)
    _awaited.clear()
    me = threading.get_ident()
    for lock, owners in list(_owners.items()):
        left = tuple(owner for owner in owners if owner == me)
        if left:
            _owners[lock] = left
        else:
            del _owners[lock]


os.register_at_fork(after_in_child=_in_forked_child)
