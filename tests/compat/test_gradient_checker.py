"""`tf.compat.v1.test.compute_gradient` at the edges: gradients of empty tensors."""

import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.mark.parametrize("check", [v1.test.compute_gradient, v1.test.compute_gradient_error])
def test_an_empty_gradient_of_another_shape_is_refused(check):
    @tf.custom_gradient
    def turned(x):
        return tf.identity(x), tf.transpose

    with tf.Graph().as_default(), v1.Session():
        x = v1.placeholder(tf.float32)
        message = r"Empty gradient has wrong shape: expected \(0, 3\), got \(3, 0\)"
        with pytest.raises(ValueError, match=message):
            check(x, (0, 3), turned(x), (0, 3))


def test_an_empty_gradient_of_the_same_shape_passes():
    with tf.Graph().as_default(), v1.Session():
        x = v1.placeholder(tf.float32)
        assert v1.test.compute_gradient_error(x, (0, 3), tf.identity(x), (0, 3)) == 0
