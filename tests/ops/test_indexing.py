"""`tensor[key]` for every kind of key, and the errors of invalid keys."""

import numpy as np
import pytest

import tapeflow as tf

X = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        np.int64(1),
        slice(None),
        slice(0, 1),
        slice(None, None, -1),
        slice(5, 0, -2),
        (0, 1),
        (0, 1, 2),
        (slice(None), 1),
        (..., 1),
        (1, ..., 2),
        (None, 0),
        (0, None, ..., None),
        (slice(None), slice(1, None), slice(None, None, 2)),
        ...,
        (),
    ],
    ids=repr,
)
def test_basic_keys_are_numpys(key):
    np.testing.assert_array_equal(tf.constant(X)[key].numpy(), X[key])


@pytest.mark.parametrize(
    ("key", "same"),
    [
        (tf.constant(1), 1),
        (tf.constant(1, tf.int64), 1),
        (slice(tf.constant(0), tf.constant(1)), slice(0, 1)),
        ((slice(None), tf.constant(2)), (slice(None), 2)),
        ((slice(1, tf.constant(2)), tf.constant(0, tf.int64)), (slice(1, 2), 0)),
    ],
)
def test_scalar_tensors_are_indices(key, same):
    np.testing.assert_array_equal(tf.constant(X)[key].numpy(), X[same])


@pytest.mark.parametrize(
    "mask",
    [np.array([True, False]), np.array([[True, False, True], [False, True, False]]), X > 7],
    ids=["vector", "matrix", "full"],
)
@pytest.mark.parametrize("as_tensor", [True, False])
def test_boolean_masks(mask, as_tensor):
    key = tf.constant(mask) if as_tensor else mask
    np.testing.assert_array_equal(tf.constant(X)[key].numpy(), X[mask])


NOT_AN_INDEX = "Only integers, slices"


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (2, tf.errors.InvalidArgumentError, "slice index 2 of dimension 0 out of bounds."),
        (-3, tf.errors.InvalidArgumentError, "slice index -1 of dimension 0 out of bounds."),
        ((0, 3), tf.errors.InvalidArgumentError, "slice index 3 of dimension 1 out of bounds."),
        (
            (0, 0, 0, 0),
            tf.errors.InvalidArgumentError,
            "Index out of range using input dim 3; input has only 3 dims",
        ),
        (slice(None, None, 0), tf.errors.InvalidArgumentError, r"strides\[0\] must be non-zero"),
        ((..., ...), tf.errors.InvalidArgumentError, "Multiple ellipses in slice spec not allowed"),
        ("a", TypeError, NOT_AN_INDEX + ".*got 'a'"),
        (1.5, TypeError, NOT_AN_INDEX + ".*got 1.5"),
        (slice(None, 2.5), TypeError, NOT_AN_INDEX + ".*got 2.5"),
        (tf.constant(1.5), TypeError, NOT_AN_INDEX),
        (tf.constant([0, 1]), TypeError, NOT_AN_INDEX),
        (np.array([0, 1]), TypeError, NOT_AN_INDEX),
        (tf.constant(1, tf.uint8), TypeError, NOT_AN_INDEX),
        (True, ValueError, "mask cannot be scalar."),
        (np.array([True, False, True]), ValueError, r"Shapes \(2,\) and \(3,\) are incompatible"),
    ],
    ids=repr,
)
def test_bad_keys(key, error, text):
    x = tf.constant(X)
    with pytest.raises(error, match=text):
        x[key]


def test_gradients_flow_through_every_kind_of_key():
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = (
            tf.reduce_sum(x[1, ..., ::2] ** 2)
            + tf.reduce_sum(x[x > 20.0])
            + x[0, tf.constant(1), 3]
        )
    expected = np.zeros_like(X)
    expected[1, :, ::2] += 2 * X[1, :, ::2]
    expected[X > 20] += 1
    expected[0, 1, 3] += 1
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), expected)
