"""Locks around tracing stay free for other threads when a signal interrupts whoever takes one."""

import sys
import threading

import pytest

from tapeflow.core.threads.creation_lock import CreationLock


class Interrupted(BaseException):
    pass


def interrupted_at(line, lock):
    """Whether entering the lock is interrupted before its line number `line`, among those that run.

    A trace stops at the end of a `with` as well, where Python handles no signals.
    """
    seen = []

    def trace(frame, event, argument):
        if frame.f_code is not CreationLock.__enter__.__code__:
            return None
        if event == "line" and frame.f_lineno not in seen:
            if len(seen) == line:
                sys.settrace(None)
                raise Interrupted
            seen.append(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with lock:
            return False
    except Interrupted:
        return True
    finally:
        sys.settrace(before)


def can_take(lock):
    def take():
        with lock:
            taken.append(True)

    taken = []
    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    thread.join(20)
    return bool(taken)


@pytest.mark.parametrize("again", [False, True], ids=["once", "again"])
def test_an_interrupt_leaves_the_lock_free(again):
    lock = CreationLock()
    line = 0
    while True:
        if again:
            with lock:
                interrupted = interrupted_at(line, lock)
        else:
            interrupted = interrupted_at(line, lock)
        assert can_take(lock), line
        if not interrupted:
            break
        line += 1
    assert line > 4
