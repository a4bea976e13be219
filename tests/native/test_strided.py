"""Copies between strided views: sizes around those of the vectors, tiles and caches that they go by."""

import ml_dtypes
import numpy as np
import pytest

import tapeflow as tf

# Pairs of sizes: edges of vectors and tiles; few columns; rows a power of two apart; more than the caches hold.
SIZES = [
    *((n, m) for n in (1, 2, 3, 4, 7, 16, 31, 33) for m in (1, 3, 4, 5, 15, 16, 65)),
    (2048, 70), (70, 2048), (512, 512), (1025, 2051), (3000, 1100),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.int8, ml_dtypes.bfloat16, np.float32, np.float64, np.complex128])
def test_transposed_matrices(dtype):
    rng = np.random.default_rng(1)
    for n, m in SIZES:
        x = rng.integers(-100, 100, (n, m)).astype(dtype)
        np.testing.assert_array_equal(tf.transpose(x).numpy(), x.T, err_msg=f"{n} x {m}")


@pytest.mark.parametrize("perm", [(0, 2, 1), (2, 1, 0), (1, 2, 0), (1, 0, 2)])
@pytest.mark.parametrize("shape", [(5, 33, 17), (2, 1030, 1100), (3, 64, 512), (70, 3, 50)])
def test_planes(shape, perm):
    x = np.random.default_rng(2).integers(0, 1 << 30, shape).astype(np.int32)
    np.testing.assert_array_equal(tf.transpose(x, perm).numpy(), x.transpose(perm))


def test_a_transpose_of_a_view_that_is_not_aligned():
    x = np.random.default_rng(3).normal(size=(1501, 1503)).astype(np.float32)
    view = tf.reshape(tf.constant(x)[1:], (1500, 1503))
    np.testing.assert_array_equal(tf.transpose(view).numpy(), x[1:].T)
