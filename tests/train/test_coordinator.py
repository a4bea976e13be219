"""Coordinators and the threads that follow them."""

import threading
import time

import pytest

import tapeflow.compat.v1 as tf


def test_threads_stop_together():
    coord = tf.train.Coordinator()
    threads = [threading.Thread(target=coord.wait_for_stop) for _ in range(3)]
    for t in threads:
        t.start()
    coord.request_stop()
    coord.join(threads)
    assert coord.joined
    assert coord.should_stop()


def test_join_raises_what_a_thread_reported():
    coord = tf.train.Coordinator()

    def work():
        with coord.stop_on_exception():
            raise RuntimeError("first")

    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(RuntimeError, match="first"):
        coord.join([thread])


def test_the_end_of_input_is_a_clean_stop():
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.OutOfRangeError(None, None, "end"))
    coord.join()
    coord.clear_stop()
    assert not coord.should_stop()


def test_threads_that_do_not_end():
    coord = tf.train.Coordinator()
    release = threading.Event()
    thread = threading.Thread(target=release.wait, name="stubborn", daemon=True)
    thread.start()
    coord.request_stop()
    with pytest.raises(RuntimeError, match="threads still running: stubborn"):
        coord.join([thread], stop_grace_period_secs=0.05)
    release.set()


def test_what_is_no_exception():
    with pytest.raises(ValueError, match="ex must be a tuple"):
        tf.train.Coordinator().request_stop((None, None, None))


def test_loops():
    coord, count = tf.train.Coordinator(), []

    def work():
        count.append(1)
        if len(count) == 3:
            coord.request_stop()

    tf.train.LooperThread.loop(coord, 0.01, work)
    coord.join()
    assert len(count) == 3
    with pytest.raises(ValueError, match="must be a Coordinator"):
        tf.train.LooperThread("coord", 1)


def test_wait_for_stop_takes_a_limit():
    began = time.time()
    assert not tf.train.Coordinator().wait_for_stop(0.01)
    assert time.time() - began < 5
