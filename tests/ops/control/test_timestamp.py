"""tf.timestamp against the clock."""

import time

import tapeflow as tf


def test_is_the_time_of_now():
    before = time.time()
    now = tf.timestamp()
    assert now.dtype == tf.float64
    assert before <= float(now) <= time.time()
