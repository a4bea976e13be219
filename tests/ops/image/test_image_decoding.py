"""Values of decoded images in each dtype, as TensorFlow 2.21 gives them."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.image.samples import bmp_bytes


def png():
    return tf.io.encode_png(tf.constant([[[0, 128, 255]]], tf.uint8)).numpy()


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (tf.uint8, [0, 128, 255]), (tf.uint16, [0, 128 * 257, 65535]), (tf.float32, [0.0, 128 / 255, 1.0]),
        (tf.float64, [0.0, 128 / 255, 1.0]), (tf.bfloat16, [0.0, 0.5, 1.0]), (tf.int32, [0, 1077936128, 2147450880]),
    ],
)  # fmt: skip
def test_values_fill_the_range_of_the_dtype(dtype, expected):
    image = tf.image.decode_image(png(), dtype=dtype)
    assert image.dtype == dtype
    np.testing.assert_allclose(image.numpy().ravel().astype(np.float64), expected, rtol=1e-6)


def test_bitmaps_have_their_own_uint16():
    pixels = np.uint8([[[255, 128, 0]]])
    image = tf.image.decode_image(bmp_bytes(pixels), dtype=tf.bfloat16)
    assert image.numpy().ravel().tolist() == [0.99609375, 0.5, 0.0]
