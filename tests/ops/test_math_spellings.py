"""What the public functions of math add to their rows: 1.x spellings, defaults, dtypes."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.compat import v1


def test_division_of_integers():
    assert tf.divide(3, 4).dtype == tf.float64
    assert tf.truediv(np.int8(3), np.int8(4)).dtype == tf.float32
    assert (tf.constant([7, -7]) / 2).numpy().tolist() == [3.5, -3.5]
    assert (tf.constant([7, -7]) // 2).numpy().tolist() == [3, -4]
    assert v1.div([7, -7], 2).numpy().tolist() == [3, -4]


def test_division_of_two_dtypes():
    with pytest.raises(TypeError, match="must have the same dtype"):
        tf.truediv(tf.constant(1), tf.constant(2.0))


def test_strings_add():
    assert tf.add("a", ["b", "c"]).numpy().tolist() == [b"ab", b"ac"]


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "min", "logsumexp"])
def test_old_names_of_reduction_arguments(name):
    x = np.array([[1.0, 2.0], [3.0, 5.0]])
    new = getattr(tf, f"reduce_{name}")(x, axis=1, keepdims=True)
    old = getattr(v1, f"reduce_{name}")(x, reduction_indices=1, keep_dims=True)
    np.testing.assert_array_equal(new, old)


def test_two_spellings_at_once():
    with pytest.raises(ValueError, match="Cannot specify both 'axis' and 'reduction_indices'"):
        v1.reduce_sum([1.0], axis=0, reduction_indices=0)


def test_old_argmax():
    assert v1.argmax([1, 3, 2], dimension=0).numpy() == 1
    assert v1.arg_max([1, 3, 2], 0).numpy() == 1


def test_where_chooses_rows_in_1x():
    rows = v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]])
    assert rows.numpy().tolist() == [[1, 2], [7, 8]]


def test_where_with_one_branch():
    with pytest.raises(ValueError, match="x and y must both be non-None"):
        tf.where([True], x=[1])


def test_no_axis_reduces_nothing():
    assert tf.reduce_sum([[1.0, 2.0]], axis=[]).numpy().tolist() == [[1.0, 2.0]]


def test_clip_by_global_norm_of_infinity():
    (clipped,), norm = tf.clip_by_global_norm([tf.constant([np.inf, 1.0])], 1.0)
    assert np.isnan(clipped).all()
    assert np.isinf(norm)


def test_clip_by_norm_of_zeros_has_a_gradient():
    x = tf.constant([0.0, 0.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.clip_by_norm(x, 1.0)
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 1.0]


def test_power_with_a_negative_base_has_a_gradient():
    x, y = tf.constant(-2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = x**y
    of_x, of_y = tape.gradient(z, [x, y])
    assert of_x.numpy() == 12.0
    assert of_y.numpy() == 0.0


def test_three_factors_of_einsum():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(4, 5))
    np.testing.assert_allclose(tf.einsum("ab,bc,cd->ad", a, b, c), a @ b @ c)
