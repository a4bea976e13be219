"""Checks that this library does in Python are no operations of a SavedModel, which loads without them."""

import numpy as np

import tapeflow as tf


def test_a_function_with_checks_loads(tmp_path):
    def halved(x):
        with tf.control_dependencies([tf.debugging.assert_equal(tf.shape(x)[0] % 2, 0)]):
            return tf.RaggedTensor.from_row_splits(x, [0, tf.shape(x)[0]]).flat_values / 2

    module = tf.Module()
    module.halved = tf.function(halved, input_signature=[tf.TensorSpec([None], tf.float32)])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    np.testing.assert_array_equal(loaded.halved(tf.constant([2.0, 4.0])), [1.0, 2.0])
