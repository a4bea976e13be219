"""Colours of more pixels than the kernels compute at a time are those of each pixel alone."""

import numpy as np
import pytest

import tapeflow as tf

FUNCTIONS = {
    "rgb_to_hsv": tf.image.rgb_to_hsv,
    "hsv_to_rgb": tf.image.hsv_to_rgb,
    "adjust_hue": lambda x: tf.image.adjust_hue(x, 0.3),
    "adjust_hue_backwards": lambda x: tf.image.adjust_hue(x, -0.9),
    "adjust_saturation": lambda x: tf.image.adjust_saturation(x, 1.7),
}


def _pixels(count: int) -> np.ndarray:
    pixels = np.random.default_rng(count).random((count, 1, 3)).astype(np.float32)
    pixels[::5, :, 1] = pixels[::5, :, 0]  # two channels alike, or all
    pixels[::10, :, 2] = pixels[::10, :, 0]
    pixels[3::17] = 0
    return pixels


@pytest.mark.parametrize("count", [0, 1, 127, 128, 129, 1000])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_many_pixels(function, count):
    pixels = _pixels(count)
    found = function(tf.constant(pixels)).numpy()
    alone = [function(tf.constant(pixel[None])).numpy()[0] for pixel in pixels]
    np.testing.assert_array_equal(found, np.reshape(alone, found.shape))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_nan_stays_with_its_pixel(function):
    pixels = _pixels(300)
    broken = pixels.copy()
    broken[140, 0, 1] = np.nan
    good, found = function(tf.constant(pixels)).numpy(), function(tf.constant(broken)).numpy()
    assert np.isnan(found[140]).any()
    np.testing.assert_array_equal(np.delete(found, 140, 0), np.delete(good, 140, 0))


def test_there_and_back():
    pixels = _pixels(1000)
    back = tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(pixels)).numpy()
    np.testing.assert_allclose(back, pixels, atol=1e-6)


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 5, 3), (2, 3, 40, 3, 4), (70, 60, 1)])
def test_contrast(shape):
    images = np.random.default_rng(0).random(shape).astype(np.float32)
    mean = images.mean((-3, -2), keepdims=True, dtype=np.float64)
    found = tf.image.adjust_contrast(images, 2.5).numpy()
    np.testing.assert_allclose(found, mean + (images - mean) * 2.5, rtol=1e-5, atol=1e-6)
