"""tf.contrib.resampler, periodic_resample and reduce_slice_ops, against SciPy and loops."""

import numpy as np
import pytest
from scipy import ndimage

import tapeflow.compat.v1 as tf
from tapeflow.contrib import reduce_slice_ops
from tapeflow.contrib.periodic_resample import periodic_resample
from tapeflow.contrib.resampler import resampler

from .contrib_values import BOTH, value

RNG = np.random.default_rng(3)


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reads_between_pixels(how, dtype):
    images = RNG.normal(size=(2, 4, 5, 3)).astype(dtype)
    points = RNG.uniform(-2, 7, (2, 6, 3, 2)).astype(dtype)
    got = value(how, resampler, images, points)
    assert got.shape == (2, 6, 3, 3)
    for n, c in np.ndindex(2, 3):
        at = np.moveaxis(points[n, ..., ::-1], -1, 0)
        want = ndimage.map_coordinates(images[n, ..., c], at, order=1, mode="grid-constant")
        np.testing.assert_allclose(got[n, ..., c], want, rtol=1e-4, atol=1e-5)


@BOTH
def test_gradients_in_images_and_points(how):
    images, points = RNG.normal(size=(1, 3, 4, 2)), RNG.uniform(-1.5, 4.5, (1, 9, 2))

    def run():
        arguments = [tf.constant(images), tf.constant(points)]
        with tf.GradientTape() as tape:
            tape.watch(arguments)
            total = tf.reduce_sum(tf.sin(resampler(*arguments)))
        return tape.gradient(total, arguments)

    for i, gradient in enumerate(value(how, run)):
        for at in np.ndindex(*gradient.shape):
            ends = []
            for change in (1e-6, -1e-6):
                moved = [images.copy(), points.copy()]
                moved[i][at] += change
                ends.append(np.sin(resampler(*moved).numpy()).sum())
            np.testing.assert_allclose(gradient[at], (ends[0] - ends[1]) / 2e-6, rtol=1e-4, atol=1e-6)


def test_shapes_of_resampler():
    images = np.zeros((2, 3, 3, 1), np.float32)
    with pytest.raises(tf.errors.UnimplementedError, match="data_channels"):
        resampler(images[0], np.zeros((3, 2), np.float32))
    with pytest.raises(tf.errors.UnimplementedError, match="entry should be 2"):
        resampler(images, np.zeros((2, 3), np.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Batch size"):
        resampler(images, np.zeros((3, 2), np.float32))


@BOTH
def test_one_axis_makes_two_longer(how):
    values = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    got = value(how, periodic_resample, values, [4, 6, None])
    assert got.shape == (4, 6, 1)
    # The rest of a place along the axes, the first axis fastest, says which of the last axis it is.
    for y, x in np.ndindex(4, 6):
        assert got[y, x, 0] == values[y // 2, x // 2, y % 2 + 2 * (x % 2)]
    np.testing.assert_array_equal(value(how, periodic_resample, values, [2, 3, None]), values)


@BOTH
def test_more_is_left_over(how):
    values = np.arange(2 * 8).reshape(2, 8)
    got = value(how, periodic_resample, values, [4, None])
    assert got.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]


def test_resampled_with_sizes_known_late_and_gradients():
    values = np.arange(12.0).reshape(3, 4)
    spec = tf.TensorSpec([None, None], tf.float64)
    late = tf.function(lambda x: periodic_resample(x, [6, None]), input_signature=[spec])
    np.testing.assert_array_equal(late(values), periodic_resample(values, [6, None]))
    x = tf.constant(values)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(periodic_resample(x, [6, None]) ** 2)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), 2 * values)


@pytest.mark.parametrize(
    ("shape", "match"),
    [([6, 4], "marked as adjustable"), ([None, None], "only one index"), ([2, None], "at least as large"),
     ([3, None, 1], "rank of the input"), ([100, None], "greater than zero")],
)  # fmt: skip
def test_shapes_of_periodic_resample(shape, match):
    with pytest.raises(tf.errors.InvalidArgumentError, match=match):
        periodic_resample(np.zeros((3, 4)), shape)


@BOTH
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
@pytest.mark.parametrize(
    ("name", "reduce", "empty"),
    [("sum", np.add.reduce, None), ("prod", np.multiply.reduce, None), ("max", np.maximum.reduce, "min"),
     ("min", np.minimum.reduce, "max")],
)  # fmt: skip
@pytest.mark.parametrize("axis", [0, 1])
def test_slices(how, dtype, name, reduce, empty, axis):
    data = RNG.integers(1, 9, (4, 5, 2)).astype(dtype)
    data = data if axis == 0 else np.moveaxis(data, 0, 1)
    bounds = [[0, 2], [1, 1], [3, 99], [3, 1]]
    got = value(how, getattr(reduce_slice_ops, f"reduce_slice_{name}"), data, bounds, axis)
    assert got.dtype == dtype
    first = np.moveaxis(data, axis, 0)
    for (start, end), part in zip(bounds, np.moveaxis(got, axis, 0), strict=True):
        if start < end:
            np.testing.assert_array_equal(part, reduce(first[start:end], 0))
        elif empty:
            limit = getattr(np.iinfo(dtype), empty) if dtype == np.int32 else {"min": -np.inf, "max": np.inf}[empty]
            assert (part == limit).all()
        else:
            assert (part == {"sum": 0, "prod": 1}[name]).all()


@BOTH
def test_bounds_in_one_vector(how):
    got = value(how, reduce_slice_ops.reduce_slice_sum, [1, 2, 3, 4], [0, 1, 4], 0)
    assert got.tolist() == [1, 9]
    assert value(how, reduce_slice_ops.reduce_slice_sum, [1, 2], np.zeros(0, np.int32), 0).tolist() == []
    with pytest.raises(ValueError, match="two columns"):
        reduce_slice_ops.reduce_slice_sum([1, 2], [[0, 1, 2]], 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not at -1"):
        reduce_slice_ops.reduce_slice_sum([1, 2], [[-1, 1]], 0)
