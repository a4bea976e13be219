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
