"""The gradient of a variable by itself."""

import tapeflow as tf


def test_gradient_of_a_variable_by_itself():
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        _ = v * w
    first, second = tape.gradient(v, [v, w])
    assert first.numpy() == 1
    assert second is None
    assert tape.gradient(v, v, output_gradients=tf.constant(5.0)).numpy() == 5
