"""Random numbers against TensorFlow's own, for the same seeds (random_vectors.json was written by TensorFlow 2.21)."""

import json
import os
import pathlib
import threading

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.random import seed as random_seed

VECTORS = json.loads(pathlib.Path(__file__).with_name("random_vectors.json").read_text())


def unseeded() -> None:
    random_seed._global_seed = None
    random_seed._native.random_reset()


@pytest.fixture(autouse=True)
def _own_seeds():
    unseeded()
    yield
    unseeded()


def assert_same(got, dtype: str, expected) -> None:
    got = np.asarray(got)
    expected = np.array(expected, dtype)
    assert got.shape == expected.shape
    if expected.dtype.kind in "iub":
        np.testing.assert_array_equal(got, expected)
    else:
        assert got.dtype == expected.dtype
        # Logarithm and sine are the C library's: one unit in the last place, of numbers around 1, is its own.
        tolerance = 4 * np.finfo(expected.dtype).eps
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", VECTORS)
def test_numbers_are_tensorflows(case):
    names = {"tf": tf, "np": np}
    for step in VECTORS[case]:
        if len(step) == 1:
            exec(step[0], names)
        else:
            assert_same(eval(step[0], names), *step[1:])


def test_without_seeds_every_call_differs():
    a, b = tf.random.uniform([8]).numpy(), tf.random.uniform([8]).numpy()
    assert not np.array_equal(a, b)


def test_without_seeds_every_reset_differs():
    a = tf.random.uniform([8]).numpy()
    unseeded()
    assert not np.array_equal(a, tf.random.uniform([8]).numpy())


def test_set_seed_starts_streams_again():
    tf.random.set_seed(1234)
    first = [tf.random.normal([3], seed=1).numpy() for _ in range(2)]
    tf.random.set_seed(1234)
    again = [tf.random.normal([3], seed=1).numpy() for _ in range(2)]
    assert not np.array_equal(first[0], first[1])
    np.testing.assert_array_equal(first, again)


def test_drawn_seeds_are_not_remembered():
    """A long loop under a global seed keeps no stream for each of its calls."""
    tf.random.set_seed(3)
    tf.random.uniform([1])
    seed, seed2 = random_seed.get_seed(None)
    start = random_seed._native.random_reserve("RandomUniform", 1, 3, seed, seed2, 1)
    assert start[1] == 0


def test_integers_stay_in_range():
    x = tf.random.uniform([5000], -3, 4, tf.int32).numpy()
    assert set(x.tolist()) == set(range(-3, 4))


def test_truncated_normal_stays_within_two_deviations():
    x = tf.random.truncated_normal([20001], 1.0, 2.0).numpy()
    assert np.abs(x - 1).max() < 4


def test_moments_of_normal():
    x = tf.random.normal([200_000], 3.0, 2.0, seed=1).numpy()
    assert abs(x.mean() - 3) < 0.02
    assert abs(x.std() - 2) < 0.02


def test_shuffle_keeps_rows():
    x = np.arange(60).reshape(20, 3)
    shuffled = tf.random.shuffle(x).numpy()
    assert sorted(map(tuple, shuffled)) == list(map(tuple, x))


def test_threads_share_a_stream_without_repeating():
    tf.random.set_seed(2)
    drawn = []

    def draw():
        for _ in range(200):
            drawn.append(float(tf.random.uniform([], seed=7)))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(set(drawn)) > 790  # of 800 with 23 random bits each


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_child_has_its_own_numbers():
    tf.random.uniform([4])
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, tf.random.uniform([4]).numpy().tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    theirs = np.frombuffer(os.read(read, 16), np.float32)
    assert not np.array_equal(theirs, tf.random.uniform([4]).numpy())


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: tf.random.uniform([-1]),
            tf.errors.InvalidArgumentError,
            "Dimension -1 must be >= 0",
        ),
        (
            lambda: tf.random.uniform([2**40, 2**40]),
            tf.errors.InvalidArgumentError,
            "1099511627776",
        ),
        (
            lambda: tf.random.uniform([[2]]),
            tf.errors.InvalidArgumentError,
            "shape must be a vector",
        ),
        (
            lambda: tf.random.uniform([2], dtype=tf.int32),
            ValueError,
            "Must specify maxval for integer dtype tf.int32",
        ),
        (
            lambda: tf.random.uniform([2], dtype=tf.int8),
            ValueError,
            "Argument `dtype` got invalid value",
        ),
        (
            lambda: tf.random.uniform([2], 3, 3, tf.int32),
            tf.errors.InvalidArgumentError,
            "got 3 >= 3",
        ),
        (lambda: tf.random.set_seed("a"), TypeError, "'a'"),
        (
            lambda: tf.random.categorical([1.0, 2.0], 3),
            tf.errors.InvalidArgumentError,
            r"got shape \[2\]",
        ),
        (
            lambda: tf.random.categorical([[1.0]], -3),
            tf.errors.InvalidArgumentError,
            "non-negative, got -3",
        ),
        (
            lambda: tf.random.stateless_normal([2], [1]),
            tf.errors.InvalidArgumentError,
            r"must have shape \[2\]",
        ),
        (
            lambda: tf.random.stateless_uniform([2], [1, 2], alg="foo"),
            ValueError,
            "unsupported value foo",
        ),
        (
            lambda: tf.random.Generator.from_seed(1).uniform([2], 5, dtype=tf.int32),
            ValueError,
            "both",
        ),
        (lambda: tf.random.Generator.from_state([1, 2], "philox"), ValueError, "incompatible"),
    ],
)
def test_bad_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()
