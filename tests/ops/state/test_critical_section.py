"""Critical sections."""

import threading

import pytest

import tapeflow as tf2
import tapeflow.compat.v1 as tf


def test_one_at_a_time_eagerly():
    section = tf2.CriticalSection()
    count = [0]

    def step():
        seen = count[0]
        threading.Event().wait(0.001)
        count[0] = seen + 1

    threads = [threading.Thread(target=lambda: [section.execute(step) for _ in range(5)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert count[0] == 20


def test_one_at_a_time_in_a_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        section, v = tf.CriticalSection(), tf.Variable(0)

        def step():
            value = v.read_value()
            with tf.control_dependencies([value]):
                return tf.identity(v.assign(value + 1))

        result = section.execute(step)
        session.run(v.initializer)
        threads = [threading.Thread(target=lambda: [session.run(result) for _ in range(10)]) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert session.run(v) == 40


def test_an_error_lets_the_section_go():
    with tf.Graph().as_default(), tf.Session() as session:
        section = tf.CriticalSection()
        bad = section.execute(lambda: tf.Assert(False, ["bad"]))
        good = section.execute(lambda: tf.constant(1))
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(bad)
        assert session.run(good) == 1


def test_not_within_itself():
    section = tf2.CriticalSection()
    with pytest.raises(ValueError, match="cannot be nested"):
        section.execute(lambda: section.execute(lambda: 1))


def test_resources_of_one_section_only():
    with tf.Graph().as_default():
        v, w = tf.Variable(0), tf.Variable(0)
        one, other = tf.CriticalSection(), tf.CriticalSection()
        one.execute(lambda: v.assign_add(1))
        one.execute(lambda: v.assign_add(1))
        other.execute(lambda: w.assign_add(1))
        with pytest.raises(ValueError, match="requested exclusive resource access"):
            other.execute(lambda: v.assign_add(1), exclusive_resource_access=False)
    with tf.Graph().as_default():
        v = tf.Variable(0)
        for section in tf.CriticalSection(), tf.CriticalSection():
            section.execute(lambda: v.assign_add(1), exclusive_resource_access=False)


def test_in_the_order_of_a_function():
    section, v = tf2.CriticalSection(), tf2.Variable(1)

    @tf2.function
    def f():
        section.execute(lambda: v.assign_add(1))
        before = v.read_value()
        section.execute(lambda: v.assign_add(1))
        return before, v.read_value()

    assert [int(x) for x in f()] == [2, 3]
