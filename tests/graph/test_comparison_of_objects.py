"""Variables and tensors of graphs, as Python objects."""

import numpy as np

import tapeflow as tf
import tapeflow.compat.v1 as tf1


def test_comparison_is_of_identity_in_graphs_of_1x_and_by_elements_outside():
    with tf.Graph().as_default():
        v, w = tf1.get_variable("v", [2]), tf1.get_variable("w", [2])
        x = tf1.placeholder(tf.float32, [2])
        assert [v == v, v != w, x != v, v in [w, x], v in {v}] == [True, True, True, False, True]
        assert [x == 1.0, x != 1.0] == [False, True]

        def body(i):
            assert (i == 1) is False
            return i + 1

        tf1.while_loop(lambda i: i < 3, body, [0])
    u = tf.Variable([1.0, 2.0])
    np.testing.assert_array_equal(u == [1.0, 3.0], [True, False])

    @tf.function
    def compared(x):
        return x == u, u != x

    same, other = compared(tf.constant([1.0, 5.0]))
    np.testing.assert_array_equal(same, [True, False])
    np.testing.assert_array_equal(other, [False, True])
