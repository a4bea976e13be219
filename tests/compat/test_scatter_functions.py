"""The scatter functions of 1.x, and its initializers by their short names."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("update", [1, 4, 3]),
        ("add", [1, 6, 3]),
        ("sub", [1, -2, 3]),
        ("mul", [1, 8, 3]),
        ("div", [1, 0.5, 3]),
        ("min", [1, 2, 3]),
        ("max", [1, 4, 3]),
    ],
)
def test_scatter(name, expected):
    variable = tf.Variable([1.0, 2.0, 3.0])
    written = getattr(v1, f"scatter_{name}")(variable, [1], [4.0])
    assert isinstance(written, tf.Variable)
    np.testing.assert_array_equal(written.numpy(), expected)
    np.testing.assert_array_equal(variable.numpy(), expected)


@pytest.mark.parametrize(
    ("name", "expected"), [("update", [1, 4]), ("add", [1, 6]), ("sub", [1, -2])]
)
def test_scatter_nd(name, expected):
    variable = tf.Variable([1.0, 2.0])
    getattr(v1, f"scatter_nd_{name}")(variable, [[1]], [4.0])
    np.testing.assert_array_equal(variable.numpy(), expected)


def test_scatter_out_of_range():
    variable = tf.Variable([1.0, 2.0])
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"indices\[0\] = 5 is not in \[0, 2\)"
    ):
        v1.scatter_update(variable, [5], [9.0])
    np.testing.assert_array_equal(variable.numpy(), [1, 2])


def test_scatter_needs_a_variable():
    with pytest.raises(AttributeError, match="A scatter needs a"):
        v1.scatter_add(tf.constant([1.0]), [0], [1.0])


@pytest.mark.parametrize(
    "name",
    [
        "ones",
        "zeros",
        "truncated_normal",
        "he_normal",
        "he_uniform",
        "lecun_normal",
        "lecun_uniform",
    ],
)
def test_initializers(name):
    assert getattr(v1.initializers, name)()([3, 2]).shape == [3, 2]


def test_clip_by_norm_keeps_the_shape():
    with pytest.raises(ValueError, match="are incompatible"):
        tf.clip_by_norm(tf.ones([2, 3, 1]), tf.constant([1.0, 2.0]))


@pytest.mark.parametrize("shape", [(2, 0), (2, 3, 0)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64])
def test_segments_of_empty_rows(shape, dtype):
    sums = tf.math.unsorted_segment_sum(np.zeros(shape, dtype), [0, 1], 2)
    assert sums.shape == shape
