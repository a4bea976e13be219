"""Numbers by laws with parameters, on what TensorFlow 2.21 draws; and pooling over random regions."""

import numpy as np
import pytest

import tapeflow as tf


def test_binomial():
    found = tf.random.stateless_binomial([2, 3], [1, 2], [100.0, 20, 1000], [0.3, 0.5, 0.9])
    assert found.numpy().tolist() == [[36, 13, 909], [33, 15, 892]]
    assert found.dtype == tf.int32
    few = tf.random.stateless_binomial([6], [1, 2], 8.0, 0.25)
    assert few.numpy().tolist() == [3, 2, 3, 2, 4, 2]


def test_binomial_of_a_generator():
    g = tf.random.Generator.from_seed(3)
    assert g.binomial([5, 1], [100.0], [0.4]).numpy().ravel().tolist() == [41, 39, 35, 43, 41]
    assert g.state.numpy().tolist() == [102403, 0, 0]
    more = g.binomial([2, 5], 100.0, [0.9] * 5, dtype=tf.float64)
    assert more.numpy().tolist() == [[89, 90, 91, 87, 91], [86, 88, 93, 87, 95]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must end with"):
        g.binomial([5], [100.0, 3.0], [0.4])


@pytest.mark.parametrize(
    ("low", "high", "want"),
    [
        (-1.0, 1.0, [0.68812, -0.61591, 0.99245, -0.67923]),
        (5.0, 9.0, [5.03265, 5.00073, 5.25074, 5.43051]),
        (0.5, 0.6, [0.58441, 0.5192, 0.59962, 0.51604]),
        (-9.0, -3.0, [-3.05133, -3.00115, -3.39421, -3.67684]),
    ],
)
def test_truncated_normals(low, high, want):
    found = tf.random.stateless_parameterized_truncated_normal([4], [1, 2], 0.0, 1.0, low, high)
    np.testing.assert_allclose(found, want, rtol=1e-4)


@pytest.mark.parametrize("largest", [1, 9, 1000, 70000])
def test_index_shuffle_is_a_permutation(largest):
    index = tf.range(largest + 1, dtype=tf.int64)
    found = tf.random.experimental.index_shuffle(index, [1, 2], tf.constant(largest, tf.int64))
    assert sorted(found.numpy()) == index.numpy().tolist()
    if largest == 9:
        assert found.numpy().tolist() == [5, 0, 1, 4, 3, 6, 9, 8, 7, 2]


@pytest.mark.parametrize("pseudo_random", [False, True])
def test_fractional_pooling(pseudo_random):
    tf.random.set_seed(42)
    x = tf.constant(np.arange(63.0).reshape(1, 7, 9, 1))
    pooled, rows, columns = tf.nn.fractional_max_pool(x, [1.0, 1.4, 1.7, 1.0], pseudo_random, seed=5)
    assert rows.numpy().tolist() == [0, 1, 3, 4, 5, 7]
    assert columns.numpy().tolist() == [0, 1, 3, 5, 7, 9]
    assert pooled[0, :, 0, 0].numpy().tolist() == [0, 18, 27, 36, 54]
    mean, *_ = tf.nn.fractional_avg_pool(x, [1.0, 1.4, 1.7, 1.0], pseudo_random, seed=5)
    assert mean[0, :2, :2, 0].numpy().tolist() == [[0, 1.5], [13.5, 15]]
    with pytest.raises(ValueError, match="pooling_ratio"):
        tf.nn.fractional_max_pool(x, 0.5)


def test_dropout_by_other_numbers():
    x = tf.ones([4])
    half = tf.nn.experimental.general_dropout(
        x, 0.5, lambda shape, dtype: tf.constant([0.1, 0.9, 0.5, 0.4], dtype)
    )
    assert half.numpy().tolist() == [0, 2, 2, 0]
    first = tf.nn.experimental.stateless_dropout(x, 0.5, [1, 2])
    assert first.numpy().tolist() == tf.nn.experimental.stateless_dropout(x, 0.5, [1, 2]).numpy().tolist()


def test_names_of_version_one():
    random = tf.compat.v1.random
    assert random.split([1, 2], 3).shape == (3, 2)
    assert random.experimental.Generator is random.Generator is tf.random.Generator


def test_ops_that_read_and_move_the_state_of_a_generator():
    state = tf.Variable([0, 0, 1], dtype=tf.int64)
    rows = tf.raw_ops
    first = rows.StatefulStandardNormalV2(resource=state.handle, algorithm=1, shape=[3])
    g = tf.random.Generator.from_state([0, 0, 1], "philox")
    np.testing.assert_array_equal(first, g.normal([3]))
    assert state.numpy().tolist() == g.state.numpy().tolist() == [768, 0, 1]
    rows.RngSkip(resource=state.handle, algorithm=1, delta=2)
    g.skip(2)
    for name, theirs in (("Uniform", g.uniform), ("TruncatedNormal", g.truncated_normal)):
        found = getattr(rows, f"Stateful{name}")(resource=state.handle, algorithm=1, shape=[4])
        np.testing.assert_array_equal(found, theirs([4]))
    found = rows.StatefulUniformInt(
        resource=state.handle, algorithm=1, shape=[4], minval=tf.constant(2), maxval=tf.constant(9)
    )
    np.testing.assert_array_equal(found, g.uniform([4], 2, 9, tf.int32))
    found = rows.StatefulUniformFullInt(resource=state.handle, algorithm=1, shape=[4])
    np.testing.assert_array_equal(found, g.uniform_full_int([4]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unsupported algorithm"):
        rows.StatefulUniform(resource=state.handle, algorithm=9, shape=[4])
    floats = tf.Variable([1.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype"):
        rows.StatefulUniform(resource=floats.handle, algorithm=1, shape=[4])
