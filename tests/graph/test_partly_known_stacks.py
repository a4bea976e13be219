"""Stacks of tensors of which some are known while the graph is built."""

import numpy as np
import pytest

import tapeflow as tf


def test_the_known_parts_are_given():
    with tf.Graph().as_default():
        known, unknown = np.ones((2, 3)), tf.compat.v1.placeholder(tf.float64)
        found = tf.get_static_value(tf.stack([known, unknown]), partial=True)
        np.testing.assert_array_equal(found[0], known)
        assert found[1] is None
        assert tf.get_static_value(tf.stack([known, unknown], axis=1), partial=True) is None
        assert tf.get_static_value(tf.stack([known, unknown])) is None


def test_a_split_of_a_scalar_is_refused_while_the_graph_is_built():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Shape must be at least rank 1 but is rank 0"):
        tf.TensorArray(tf.float32, 1).split(1.0, [1])


def sparse(shape, indices, values):
    return tf.SparseTensor(indices, values, tf.cast(shape, tf.int64))


# What is computed of a shape [None, 4], of which 4 is known while the graph is built: the result's shape.
SHAPES = {
    "poisson": (lambda shape, i, v: tf.random.poisson(shape, [1.0, 2.0]), [None, 4, 2]),
    "gamma": (lambda shape, i, v: tf.random.gamma(shape, [1.0, 2.0]), [None, 4, 2]),
    "to_dense": (lambda shape, i, v: tf.sparse.to_dense(sparse(shape, i, v)), [None, 4]),
    "concat": (lambda shape, i, v: tf.sparse.concat(0, [sparse(shape, i, v)] * 2), [None, 4]),
    "concat of columns": (lambda shape, i, v: tf.sparse.concat(1, [sparse(shape, i, v)] * 2), [None, 8]),
    "concat of other sizes": (
        lambda shape, i, v: tf.sparse.concat(0, [sparse(shape, i, v), tf.sparse.eye(3, 6)], True), [None, 6]),
    "resize": (lambda shape, i, v: tf.image.resize(tf.ones([1, 2, 2, 3]), shape), [1, None, 4, 3]),
    "unstack": (lambda shape, i, v: tf.zeros(tf.stack(tf.unstack(shape)[::-1])), [4, None]),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_sizes_that_are_known_stay_known(name):
    call, expected = SHAPES[name]
    found = []

    @tf.function(autograph=False)
    def traced(n, indices, values):
        found.append(call(tf.stack([n, 4]), indices, values).shape.as_list())
        return n

    specs = tf.TensorSpec([], tf.int32), tf.TensorSpec([None, 2], tf.int64), tf.TensorSpec([None], tf.float32)
    traced.get_concrete_function(*specs)
    assert found == [expected]


def in_loop(call):
    tf.while_loop(lambda i: i < 2, lambda i: [call(i)], [0])


# Where a shape of the graph around is captured: each calls its argument in a graph inside.
INNER = {
    "loop": in_loop,
    "branch": lambda call: tf.cond(tf.constant(True) & (tf.timestamp() > 0), lambda: call(1), lambda: 0),
    "function": lambda call: tf.function(call, autograph=False)(1),
    "loop in a branch": lambda call: tf.cond(tf.timestamp() > 0, lambda: in_loop(call) or 1, lambda: 0),
    "map": lambda call: tf.map_fn(call, tf.range(2)),
}


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("name", SHAPES)
def test_sizes_stay_known_where_a_shape_is_captured(name, inner):
    call, expected = SHAPES[name]
    found = []

    @tf.function(autograph=False)
    def traced(n, indices, values):
        shape = tf.stack([n, 4])

        def body(i):
            found.append(call(shape, indices, values).shape.as_list())
            return i + 1

        INNER[inner](body)
        return n

    specs = tf.TensorSpec([], tf.int32), tf.TensorSpec([None, 2], tf.int64), tf.TensorSpec([None], tf.float32)
    traced.get_concrete_function(*specs)
    assert found
    assert all(shape == expected for shape in found)
