"""Ctrl-C while functions, loops and input pipelines run: KeyboardInterrupt comes before they end."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.graph.func_graph import FuncGraph

STEPS = 600


def _long(x):
    return tf.matmul(x, x) * 1e-3


def _loop(count):
    @tf.function
    def f(x):
        for _ in tf.range(STEPS):
            x = _long(x)
            count.assign_add(1)
        return x

    f.get_concrete_function(tf.TensorSpec((300, 300), tf.float32)).native_plan()
    return lambda: f(tf.ones((300, 300)))


def _unrolled(count):
    @tf.function
    def f(x):
        for _ in range(STEPS):
            x = _long(x)
            # After the product: what does not depend on it may run before it.
            with tf.control_dependencies([x]):
                count.assign_add(1)
        return x

    f.get_concrete_function(tf.TensorSpec((300, 300), tf.float32)).native_plan()
    return lambda: f(tf.ones((300, 300)))


def _unrolled_after_short_ones(count):
    """Plans of quick instructions rarely look whether there was a signal; one of long instructions has to."""
    heavy = _unrolled(count)
    quick = tf.function(lambda x: tf.while_loop(lambda x: x < 100_000, lambda x: x + 1, [x])[0])
    until = time.monotonic() + 0.1
    while time.monotonic() < until:
        quick(tf.constant(0))
    return heavy


def _reduced_dataset(count):
    def add(total, i):
        count.assign_add(1)
        return total + tf.reduce_sum(_long(tf.fill((300, 300), tf.cast(i, tf.float32))))

    return lambda: tf.data.Dataset.range(STEPS).reduce(0.0, add)


def _filtered_dataset(count):
    def never(i):
        count.assign_add(1)
        return tf.reduce_sum(_long(tf.fill((300, 300), tf.cast(i, tf.float32)))) < 0

    iterator = iter(tf.data.Dataset.range(STEPS).filter(never).prefetch(2))
    return lambda: next(iterator, None)


def _mapped(count):
    def body(i):
        count.assign_add(1)
        return tf.reduce_sum(_long(tf.fill((300, 300), i)))

    return lambda: tf.map_fn(body, tf.zeros((STEPS,)))


@pytest.mark.parametrize(
    "make", [_loop, _unrolled, _unrolled_after_short_ones, _reduced_dataset, _filtered_dataset, _mapped]
)
def test_ctrl_c(make):
    count = tf.Variable(0)
    run = make(count)
    ended = threading.Event()

    def interrupt():
        while int(count) == 0 and not ended.wait(0.001):
            pass
        if not ended.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    # Whoever started the tests may ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            run()
    finally:
        ended.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert 0 < int(count) < STEPS
    assert float(tf.reduce_sum(tf.ones(3))) == 3.0


class Stop(Exception):
    pass


def _trace():
    @tf.function
    def f(a):
        total = tf.zeros([])
        for i in tf.range(20):
            total += tf.reduce_sum(a) if total < 3.0 else tf.cast(i, tf.float32)
        return total

    with tf.GradientTape() as tape:
        x = tf.constant([1.0, 2.0])
        tape.watch(x)
        y = f(x)
    tape.gradient(y, x)


def _blocks():
    for _ in range(100):
        with FuncGraph("f").as_default(), tf.GradientTape() as tape, tape.stop_recording():
            with tf.init_scope():
                assert tf.executing_eagerly()
            assert not tf.executing_eagerly()


# Also raised in callbacks of the garbage collector, where Python can only report it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("work", [_trace, _blocks])
def test_exceptions_of_handlers_leave_no_block_half(work):
    armed = False

    def stop(*_):
        if armed:
            raise Stop

    chosen = np.random.RandomState(0)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        work()
        start = time.monotonic()
        work()
        usual = time.monotonic() - start
        for _ in range(100):
            try:
                armed = True
                signal.setitimer(signal.ITIMER_REAL, chosen.uniform(1e-5, usual))
                work()
            except Stop:
                pass
            finally:
                armed = False
            assert tf.executing_eagerly()
            assert _native.recording_tapes() == 0
            assert float(tf.add(1.0, 2.0)) == 3.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# Without a stack of their own for handlers, which pytest gives the main thread.
_SIGNALS = """
import signal, sys, threading
import tapeflow as tf

handled = 0
def handle(*_):
    global handled
    handled += 1
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 2e-4, 2e-4)
x, images, window = tf.ones([300, 300]), tf.ones([8, 30, 30, 64]), tf.ones([3, 3, 64, 64])
def work():
    for _ in range(200):
        tf.matmul(x, x, transpose_b=True)
        tf.nn.conv2d(images, window, 1, "SAME")
        tf.sqrt(tf.ones([300_000]))
if sys.argv[1] == "thread":
    # The system gives a signal that the main thread blocks to any other.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
else:
    work()
signal.setitimer(signal.ITIMER_REAL, 0)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
assert handled > 20 or sys.argv[1] == "thread", handled
print("done")
"""


@pytest.mark.parametrize("where", ["main", "thread"])
def test_handlers_run_beside_products(where):
    """oneDNN's products are no place for a handler's frame: the heap was overwritten."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONFAULTHANDLER"}
    done = subprocess.run(
        [sys.executable, "-c", _SIGNALS, where], env=environment, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
