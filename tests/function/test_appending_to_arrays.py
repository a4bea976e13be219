"""`array.append(x)` on a TensorArray, as AutoGraph takes it."""

import tapeflow as tf


def test_append_in_a_staged_loop():
    @tf.function
    def count(n):
        z = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            z.append(i)
        return z.stack()

    assert count(tf.constant(4)).numpy().tolist() == [0, 1, 2, 3]
