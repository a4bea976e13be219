"""Threads that share tensors, tapes, functions and lists: what one does is not seen half by another."""

import contextlib
import pathlib
import sys

import numpy as np

import tapeflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from together import joined, together

THREADS, ROUNDS = 4, 200


def test_a_tensor_that_many_tapes_watch():
    x = tf.constant([1.0, 2.0])

    def gradients(k):
        found = []
        for _ in range(ROUNDS):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * float(k + 1)
            found.append(tape.gradient(y, x).numpy().tolist())
        return found

    for k, found in enumerate(together(THREADS, gradients)):
        assert found == [[k + 1.0, k + 1.0]] * ROUNDS


def test_more_tapes_than_there_are_marks():
    x = tf.constant(3.0)

    def gradients(k):
        found = []
        for _ in range(ROUNDS // 20):
            tapes = [tf.GradientTape() for _ in range(30)]
            for tape in tapes:
                tape.__enter__()
                tape.watch(x)
            y = x * x
            for tape in tapes:
                tape.__exit__(None, None, None)
            found += [float(tape.gradient(y, x)) for tape in tapes]
        return found

    assert set(joined(together(THREADS, gradients))) == {6.0}


def test_gradients_of_a_variable_that_is_assigned_meanwhile():
    v = tf.Variable(np.zeros(64, np.float32))

    def run(k):
        for i in range(ROUNDS):
            if k == 0:
                v.assign(np.full(64, i, np.float32))
                v.assign_add(np.full(64, 0.5, np.float32))
                continue
            with tf.GradientTape() as tape:
                value = v * 1.0
                y = value * value
            gradient = tape.gradient(y, v).numpy()
            assert len(set(gradient)) == 1
            np.testing.assert_array_equal(gradient, 2 * value.numpy())

    together(THREADS, run)


def test_gradients_of_one_tape():
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        ys = [x**n for n in range(1, THREADS + 1)]

    def gradient(k):
        found = []
        for _ in range(ROUNDS):
            with contextlib.suppress(RuntimeError):  # another thread is computing one
                found.append(float(tape.gradient(ys[k], x)))
        return found

    for k, found in enumerate(together(THREADS, gradient)):
        assert set(found) <= {(k + 1) * 2.0**k}


def test_a_tape_that_is_asked_while_it_records():
    v = tf.Variable(1.0)
    tape = tf.GradientTape(persistent=True)

    def run(k):
        if k > 0:
            for _ in range(ROUNDS):
                assert {each.ref() for each in tape.watched_variables()} <= {v.ref()}
                tape.watch(tf.constant(1.0))
            return None
        with tape:
            y = v * 1.0
            for _ in range(ROUNDS):
                y = y * 1.0
        return y

    assert float(tape.gradient(together(THREADS, run)[0], v)) == 1.0


def test_the_elements_of_a_tensor_are_given_once():
    elements = iter(tf.range(THREADS * ROUNDS))
    together_given = together(THREADS, lambda k: [int(x) for x in elements])
    assert sorted(joined(together_given)) == list(range(THREADS * ROUNDS))


def test_one_shape_for_all():
    x = tf.zeros([2, 3, 5])
    shapes = together(THREADS, lambda k: x.shape)
    assert all(shape is shapes[0] for shape in shapes)


def test_lists_that_change_while_they_are_converted():
    rows = [[1.0, 2.0, 3.0] for _ in range(8)]

    def run(k):
        for i in range(ROUNDS):
            if k == 0:
                rows[i % 8] = [float(i)] * 3
                rows.append([0.0, 0.0, 0.0])
                rows.pop(0)
                continue
            with contextlib.suppress(ValueError):  # non-rectangular
                assert tf.constant(rows).shape[1:] == [3]

    together(THREADS, run)


def test_a_function_that_meets_new_shapes_while_others_call_it():
    f = tf.function(lambda x: x + 1.0)

    def run(k):
        return [f(tf.ones([n % 20 + 1])).numpy().tolist() == [2.0] * (n % 20 + 1) for n in range(k, k + ROUNDS)]

    assert all(joined(together(THREADS, run)))


def test_what_one_thread_makes_and_another_drops():
    made: list = []

    def run(k):
        for i in range(ROUNDS):
            if k % 2 == 0:
                made.append(tf.fill([100 + i], float(i)))
                continue
            try:
                x = made.pop()
            except IndexError:
                continue
            assert len(set(x.numpy())) == 1

    together(THREADS, run)
