"""Arguments that layers of Keras 3 refuse when these are made or called."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import keras
from tapeflow.keras import layers

REFUSED = [
    (lambda: layers.Conv1D(filters=0, kernel_size=1), "Expected a strictly positive value. Received filters=0"),
    (lambda: layers.Conv2D(2, (1, 0)), r"must be a tuple of 2 integers. Received kernel_size=\(1, 0\), including"),
    (lambda: layers.Conv2D(2, 2, strides=(1, 0)), r"Received strides=\(1, 0\), including values \{0\}"),
    (lambda: layers.Conv2D(5, 2, groups=0), "number of groups must be a positive integer. Received: groups=0"),
    (lambda: layers.Conv2DTranspose(2, 3, strides=2, output_padding=3), "must be strictly less than `strides`"),
    (lambda: layers.DepthwiseConv1D(1, depth_multiplier=0), "Received depth_multiplier=0"),
    (lambda: layers.SeparableConv2D(1, 1, depth_multiplier=0), "Received depth_multiplier=0"),
    (lambda: layers.ConvLSTM1D(1, 1, strides=2, dilation_rate=3), "is not compatible with"),
    (lambda: layers.Dropout(1.5), "Expected a float value between 0 and 1"),
    (lambda: layers.Dropout(0.5, noise_shape="no"), "Expected a tuple or list of integers"),
    (lambda: layers.Dropout(0.5, noise_shape=(2, 1.5)), "Expected all elements to be integers or None"),
    (lambda: layers.Dropout(0.5, noise_shape=(2, 0)), "Expected all dimensions to be positive integers or None"),
    (lambda: layers.Cropping1D((1, 2, 3)), "cropping"),
    (lambda: layers.Cropping1D((1,)), "cropping"),
    (lambda: layers.ZeroPadding1D((1,)), "padding"),
    (lambda: layers.Cropping1D((2, 3))(tf.ones([3, 5, 7])), "parameter of `Cropping1D` layer must be smaller than"),
    (lambda: layers.Cropping2D(3)(tf.ones([3, 5, 7, 1])), "should be smaller than the corresponding spatial"),
    (lambda: layers.Reshape((-2, 5)), r"non-negative integer.*-1.*target_shape=\(-2, 5\)"),
    (lambda: layers.Reshape((-1, -1)), r"at most one unknown dimension.*target_shape=\(-1, -1\)"),
    (lambda: layers.RepeatVector(0), "should be a positive integer"),
    (lambda: layers.Embedding(3.7, 8), "`input_dim` must be a positive integer"),
    (lambda: layers.Embedding(3, True), "`output_dim` must be a positive integer"),
    (lambda: layers.GroupNormalization(1.5), "argument `groups`"),
    (lambda: layers.InputLayer(shape=(2,), batch_shape=(1, 2)), "cannot pass both `shape` and `batch_shape`"),
    (lambda: layers.InputLayer(batch_size=2, batch_shape=(1, 2)), "cannot pass both `batch_size` and `batch_shape`"),
    (lambda: layers.InputLayer(), "pass a `shape` argument"),
    (lambda: layers.TimeDistributed(layers.Dense(2))(tf.ones([4, 5, 3]), mask=tf.ones([4, 6], tf.bool)), "`mask`"),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_refused(number):
    make, message = REFUSED[number]
    with pytest.raises(ValueError, match=message):
        make()


def test_taken():
    assert layers.Dropout(0.5, noise_shape=[2, None]).noise_shape == (2, None)
    assert layers.Embedding(np.int64(3), np.int32(2))(tf.constant([1])).shape == (1, 2)
    assert layers.InputLayer((3,)).call() is None
    with pytest.warns(UserWarning, match="`input_shape` is deprecated"):
        assert layers.InputLayer(input_shape=(3,)).batch_shape == (None, 3)
    assert keras.layers.ZeroPadding1D(1, data_format="channels_first").get_config()["data_format"] == "channels_first"
