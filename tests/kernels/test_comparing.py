"""Comparisons in blocks, and sums of their results, against NumPy: lengths around a block, either operand
one element, memory that begins anywhere, special values."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.math import comparison

OPS = {
    "Less": np.less,
    "LessEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "Equal": np.equal,
    "NotEqual": np.not_equal,
}
DTYPES = [np.float32, np.float64, np.int32, np.int64, np.uint8]
LENGTHS = [1, 7, 31, 32, 33, 64, 95, 257, 300_001]


def operands(rng, dtype, n):
    """Few values, so that many pairs are equal, with the extreme ones among them."""
    if np.issubdtype(dtype, np.integer):
        few = np.array([0, 1, 2, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    else:
        few = np.array([0.0, -0.0, 1.5, -np.inf, np.inf, np.nan, np.finfo(dtype).tiny / 2], dtype)
    return rng.choice(few, n), rng.choice(few, n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPS)
def test_lengths_and_single_operands(name, dtype, rng):
    op, exact = getattr(comparison, name), OPS[name]
    fused = tf.function(lambda x, y: tf.reduce_sum(tf.cast(op(x, y), tf.int32)))
    for n in LENGTHS:
        x, y = operands(rng, dtype, n)
        for a, b in ((x, y), (x, y[0]), (x[0], y)):
            expected = exact(a, b)
            np.testing.assert_array_equal(op(a, b).numpy(), expected)
            assert fused(tf.constant(a), tf.constant(b)).numpy() == expected.sum()


@pytest.mark.parametrize("dtype", DTYPES)
def test_memory_that_begins_anywhere(dtype, rng):
    x, y = operands(rng, dtype, 200)
    for start in range(9):
        np.testing.assert_array_equal(
            (tf.constant(x)[start:] < tf.constant(y)[start:]).numpy(), x[start:] < y[start:]
        )


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("n", [1, 15, 63, 64, 65, 1000, 100_003])
def test_fused_sums_of_integers_wrap_around(dtype, n, rng):
    x = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, n).astype(dtype)

    @tf.function
    def f(x):
        return tf.reduce_sum(x * 3 + 1)

    with np.errstate(over="ignore"):
        assert f(tf.constant(x)).numpy() == np.sum(
            x * np.asarray(3, dtype) + np.asarray(1, dtype), dtype=dtype
        )
