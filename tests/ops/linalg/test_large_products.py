"""Products of matrices that are packed in blocks, of sizes that end inside of tiles, panels and blocks."""

import numpy as np
import pytest

import tapeflow as tf

rng = np.random.default_rng(3)


def whole_numbers(*shape):
    """Small ones, whose sums of products are exact in every order."""
    return rng.integers(-3, 4, shape).astype(np.float32)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize(
    ("m", "k", "n"),
    [
        (256, 256, 256), (259, 515, 271), (300, 1025, 257), (97, 700, 2100), (401, 256, 600), (5, 3000, 300),
        (300, 3000, 5),
    ],
)  # fmt: skip
def test_exact(m, k, n, transpose_a, transpose_b):
    a = whole_numbers(*((k, m) if transpose_a else (m, k)))
    b = whole_numbers(*((n, k) if transpose_b else (k, n)))
    wanted = (a.T if transpose_a else a) @ (b.T if transpose_b else b)
    for threads in (1, 2):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        try:
            found = tf.matmul(tf.constant(a), tf.constant(b), transpose_a, transpose_b)
        finally:
            tf.config.threading.set_intra_op_parallelism_threads(0)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.int64])
def test_exact_in_other_dtypes(dtype):
    a, b = (whole_numbers(270, 530).astype(dtype), whole_numbers(530, 290).astype(dtype))
    np.testing.assert_array_equal(tf.matmul(tf.constant(a), tf.constant(b)), a @ b)
    np.testing.assert_array_equal(tf.matmul(tf.constant(a.T.copy()), tf.constant(b), transpose_a=True), a @ b)
