"""Conditional accumulators, dense and sparse."""

import threading

import numpy as np
import pytest

import tapeflow.compat.v1 as tf


def test_the_mean_of_gradients():
    q = tf.ConditionalAccumulator(tf.float32, shape=[2])
    q.apply_grad([1.0, 2.0])
    q.apply_grad([3.0, 6.0])
    assert q.num_accumulated().numpy() == 2
    assert q.take_grad(2).numpy().tolist() == [2.0, 4.0]
    assert q.num_accumulated().numpy() == 0


def test_the_sum_of_gradients():
    q = tf.ConditionalAccumulator(tf.float32, reduction_type="SUM")
    q.apply_grad([1.0])
    q.apply_grad([3.0])
    assert q.take_grad(1).numpy().tolist() == [4.0]


def test_old_gradients_are_dropped():
    q = tf.ConditionalAccumulator(tf.float32)
    q.set_global_step(3)
    q.apply_grad([1.0], local_step=2)
    assert q.num_accumulated().numpy() == 0
    q.apply_grad([1.0], local_step=3)
    q.take_grad(1)
    q.apply_grad([1.0], local_step=3)  # taking began step 4
    assert q.num_accumulated().numpy() == 0


def test_taking_waits():
    q = tf.ConditionalAccumulator(tf.float32)
    threading.Timer(0.1, lambda: [q.apply_grad([1.0]), q.apply_grad([2.0])]).start()
    assert q.take_grad(2).numpy().tolist() == [1.5]


def test_sparse_gradients():
    q = tf.SparseConditionalAccumulator(tf.float32, shape=[None, 2])
    q.apply_grad([0, 2], [[1.0, 1.0], [2.0, 2.0]], [3, 2])
    q.apply_indexed_slices_grad(tf.IndexedSlices(tf.constant([[4.0, 6.0]]), tf.constant([2], tf.int64)))
    found = q.take_indexed_slices_grad(2)
    assert found.indices.numpy().tolist() == [0, 2]
    assert found.values.numpy().tolist() == [[1.0, 1.0], [3.0, 4.0]]
    assert found.dense_shape.numpy().tolist() == [-1, 2]


@pytest.mark.parametrize(
    ("indices", "values", "shape", "message"),
    [
        ([[0]], [[1.0, 2.0]], None, "Input indices should be vector"),
        ([0], 1.0, None, "Values cannot be 0-dimensional"),
        ([0, 1], [[1.0, 2.0]], None, "non-empty input values, got 1"),
        ([5], [[1.0, 2.0]], None, "index is 5 exceeded 3"),
        ([0], [[1.0, 2.0, 3.0]], None, "expected values dim 1 to be 2, got 3"),
        ([0], [[1.0, 2.0]], [3], "expected shape rank at least 2, got 1"),
    ],
)
def test_sparse_mistakes(indices, values, shape, message):
    q = tf.SparseConditionalAccumulator(tf.float32, shape=[3, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        q.apply_grad(indices, np.array(values, np.float32), shape)


def test_mistakes():
    with pytest.raises(ValueError, match="reduction_type"):
        tf.ConditionalAccumulator(tf.float32, reduction_type="MEDIAN")
    q = tf.ConditionalAccumulator(tf.float32, shape=[2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_required must be positive"):
        q.take_grad(0)
    with pytest.raises(ValueError, match="incompatible"):
        q.apply_grad([1.0, 2.0, 3.0])
