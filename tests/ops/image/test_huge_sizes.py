"""Sizes of images that no memory holds are errors before anything of that length is made."""

import pytest

import tapeflow as tf


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "area", "lanczos3", "mitchellcubic"])
def test_results_beyond_memory_raise(method):
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)):
        tf.image.resize(tf.ones([1, 3, 3, 1]), [2**31 - 1, 2**31 - 1], method)
