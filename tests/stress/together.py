"""Threads that begin at once and change turns often."""

import itertools
import sys
import threading


def together(count, function, seconds=60):
    """What `function(k)` returns for each of `count` threads k. Raises the first error, or for threads that hang."""
    barrier = threading.Barrier(count)
    results, errors = [None] * count, []

    def run(k):
        try:
            barrier.wait()
            results[k] = function(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,), daemon=True) for k in range(count)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds)
    finally:
        sys.setswitchinterval(before)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    return results


def joined(parts):
    """The items of several lists, in one."""
    return list(itertools.chain.from_iterable(parts))
