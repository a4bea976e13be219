"""Ctrl-C while functions, loops and input pipelines run: KeyboardInterrupt comes before they end."""

import os
import signal
import threading

import pytest

import tapeflow as tf

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


@pytest.mark.parametrize("make", [_loop, _unrolled, _reduced_dataset, _filtered_dataset, _mapped])
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
