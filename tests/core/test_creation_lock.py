"""Locks around tracing: no order of them stops threads for ever, and no signal or fork leaves one taken."""

import copy
import os
import signal
import threading
import time

import pytest

from tapeflow._native import CreationLock


class Stop(BaseException):
    pass


def can_take(lock):
    def take():
        with lock:
            taken.append(True)

    taken = []
    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    thread.join(20)
    return bool(taken)


@pytest.fixture
def alarm():
    """Calls `alarm(seconds)`: `Stop` is raised in this thread then."""

    def stop(*_):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("again", [False, True], ids=["once", "again"])
def test_an_interrupt_leaves_the_lock_free(again, alarm):
    lock = CreationLock()
    stopped = 0
    for i in range(300):
        try:
            alarm(1e-5 + i % 30 * 1e-6)
            while True:
                with lock:
                    if again:
                        with lock:
                            pass
        except Stop:
            stopped += 1
        if i % 30 == 0:
            assert can_take(lock)
    assert stopped == 300
    assert can_take(lock)


def test_an_interrupt_ends_waiting(alarm):
    lock, held, done = CreationLock(), threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            done.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(20)
    alarm(0.05)
    with pytest.raises(Stop), lock:
        raise AssertionError("taken while another thread holds it")
    done.set()
    thread.join()
    assert can_take(lock)


def test_threads_wait_for_whoever_holds_the_lock():
    lock, inside, most = CreationLock(), [], []

    def work():
        for _ in range(20):
            with lock, lock:
                inside.append(1)
                most.append(len(inside))
                time.sleep(1e-4)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 80


@pytest.mark.parametrize("count", [2, 3])
def test_threads_that_would_wait_for_each_other_go_on(count):
    locks = [CreationLock() for _ in range(count)]
    all_hold_one = threading.Barrier(count)
    done = []

    def work(i):
        with locks[i]:
            all_hold_one.wait(20)
            with locks[(i + 1) % count]:
                done.append(i)

    threads = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(done) == list(range(count))
    assert all(can_take(lock) for lock in locks)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("holder", ["this thread", "another"])
def test_a_forked_child_has_the_locks_of_its_thread_only(holder):
    lock, held, done = CreationLock(), threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            done.wait(20)

    def in_child():
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)  # rather than wait for ever
            with lock:
                pass
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    if holder == "another":
        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(20)
        assert in_child() == 0
        done.set()
        thread.join()
    else:
        with lock:
            assert in_child() == 0
    assert can_take(lock)


def test_a_lock_that_was_not_taken_cannot_be_released():
    with pytest.raises(RuntimeError, match="has not been entered"):
        CreationLock().__exit__(None, None, None)


def test_a_copy_is_another_lock():
    lock = CreationLock()
    with lock:
        assert can_take(copy.deepcopy(lock))
