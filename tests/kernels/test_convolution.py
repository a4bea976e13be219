"""The native gradient of a convolution's filter, and stores of a part of a vector, by formulas in double precision."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native


@pytest.fixture(params=["whole", "split"])
def split(request):
    least = 1 if request.param == "split" else 2**62
    before = _native.set_work_thresholds(least, least)
    yield
    _native.set_work_thresholds(*before)


def filter_gradient(x, size, dy, stride, dilation, before):
    """The sum over all outputs of the inputs under each tap times the gradient of the output."""
    images, height, width, depth = dy.shape
    padded = np.zeros((images, *(n + 2 * 8 for n in x.shape[1:3]), x.shape[3]))
    padded[:, 8:-8, 8:-8] = x
    result = np.zeros((*size, x.shape[3], depth))
    for r, s in np.ndindex(*size):
        top, left = 8 - before[0] + r * dilation, 8 - before[1] + s * dilation
        seen = padded[:, top : top + height * stride : stride, left : left + width * stride : stride]
        result[r, s] = np.tensordot(seen[:, :height, :width], dy, ([0, 1, 2], [0, 1, 2]))
    return result


@pytest.mark.parametrize(
    ("image", "size", "out_depth", "stride", "dilation", "before"),
    [
        ((3, 9, 8, 5), (3, 3), 16, 1, 1, (1, 1)),
        ((2, 9, 8, 6), (3, 2), 19, 2, 1, (0, 0)),
        ((1, 11, 12, 7), (3, 3), 41, 1, 2, (2, 2)),
        ((2, 2, 3, 4), (5, 4), 17, 1, 1, (2, 1)),
        ((2, 6, 6, 13), (1, 1), 32, 1, 1, (0, 0)),
        ((1, 30, 29, 12), (1, 1), 24, 2, 1, (0, 0)),
        ((1, 3, 500, 4), (3, 3), 16, 1, 1, (1, 1)),
    ],
)
def test_filter_gradient(split, image, size, out_depth, stride, dilation, before):
    rng = np.random.default_rng(0)
    after = before  # as much on both sides
    out = [
        (n + p + q - (k - 1) * dilation - 1) // stride + 1
        for n, k, p, q in zip(image[1:3], size, before, after, strict=True)
    ]
    x, dy = rng.normal(size=image), rng.normal(size=(image[0], *out, out_depth))
    got = tf.raw_ops.Conv2DBackpropFilter(
        input=tf.constant(x, tf.float32),
        filter_sizes=[*size, image[3], out_depth],
        out_backprop=tf.constant(dy, tf.float32),
        strides=[1, stride, stride, 1],
        padding="EXPLICIT",
        explicit_paddings=[0, 0, before[0], after[0], before[1], after[1], 0, 0],
        dilations=[1, dilation, dilation, 1],
    )
    want = filter_gradient(x, size, dy, stride, dilation, before)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("image", "size", "strides", "data_format"),
    [
        ((4, 9, 7, 1), (3, 7), (1, 1), "NHWC"),  # a filter over embedded words
        ((4, 9, 7, 3), (3, 7), (2, 5), "NHWC"),
        ((2, 5, 7, 3), (5, 7), (1, 1), "NHWC"),
        ((2, 5, 7, 3), (5, 7), (3, 3), "NHWC"),
        ((2, 5, 7, 3), (5, 2), (1, 2), "NHWC"),
        ((2, 5, 1, 3), (2, 1), (1, 1), "NHWC"),
        ((2, 3, 9, 7), (3, 7), (2, 1), "NCHW"),
    ],
)
def test_filters_as_wide_as_the_image(image, size, strides, data_format):
    rng = np.random.default_rng(0)
    first = data_format == "NCHW"
    depth = image[1] if first else image[3]
    x, w = rng.normal(size=image), rng.normal(size=(*size, depth, 5))
    rows = np.moveaxis(x, 1, 3) if first else x
    height, width = ((n - k) // s + 1 for n, k, s in zip(rows.shape[1:3], size, strides, strict=True))
    attrs = {
        "strides": [1, 1, *strides] if first else [1, *strides, 1],
        "padding": "VALID",
        "data_format": data_format,
    }

    def taps(rows, r, s):
        return rows[:, r * strides[0] : r * strides[0] + size[0], s * strides[1] : s * strides[1] + size[1]]

    want = np.stack(
        [np.stack([np.tensordot(taps(rows, r, s), w, 3) for s in range(width)], 1) for r in range(height)], 1
    )
    dy = rng.normal(size=want.shape)
    want_w = sum(
        np.tensordot(taps(rows, r, s), dy[:, r, s], (0, 0)) for r in range(height) for s in range(width)
    )
    want_x = np.zeros_like(rows)
    for r, s in np.ndindex(height, width):
        taps(want_x, r, s)[...] += np.tensordot(dy[:, r, s], w, (1, 3))
    if first:
        want, want_x = np.moveaxis(want, 3, 1), np.moveaxis(want_x, 3, 1)
    images, filters, of_output = (
        tf.constant(v, tf.float32) for v in (x, w, np.moveaxis(dy, 3, 1) if first else dy)
    )
    with tf.GradientTape() as tape:
        tape.watch([images, filters])
        y = tf.raw_ops.Conv2D(input=images, filter=filters, **attrs)
    np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-4)
    of_images, of_filters = tape.gradient(y, [images, filters], of_output)
    np.testing.assert_allclose(of_filters, want_w, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(of_images, want_x, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("channels", range(1, 20))
def test_maxima_of_any_number_of_channels(channels, dtype):
    x = np.random.default_rng(channels).permutation(4 * 4 * channels).reshape(1, 4, 4, channels)
    windows = x.reshape(2, 2, 2, 2, channels)
    largest = windows.max((1, 3))
    image = tf.constant(x, dtype)
    with tf.GradientTape() as tape:
        tape.watch(image)
        pooled = tf.nn.max_pool2d(image, 2, 2, "VALID")
        loss = tf.reduce_sum(pooled * pooled)
    np.testing.assert_array_equal(pooled[0], largest)
    where = windows == largest[:, None, :, None]
    np.testing.assert_array_equal(tape.gradient(loss, image)[0], (2 * windows * where).reshape(4, 4, channels))
