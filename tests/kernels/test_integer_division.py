"""Integer divisions against exact ones: all pairs of edge cases, whichever operand is one element, fused and not."""

import math

import numpy as np
import pytest

import tapeflow as tf

OPS = {
    "FloorDiv": (tf.raw_ops.FloorDiv, lambda x, y: x // y),
    "FloorMod": (tf.raw_ops.FloorMod, lambda x, y: x % y),
    "TruncateDiv": (tf.raw_ops.TruncateDiv, lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)),
    "TruncateMod": (tf.raw_ops.TruncateMod, lambda x, y: int(math.copysign(1, x)) * (abs(x) % abs(y))),
}


def numbers(dtype, rng):
    bits = np.iinfo(dtype).bits
    edges = {0, 1, 2, 3, 5, 6, 7, 10, 11, 641, 2 ** (bits - 1) - 1}
    edges |= {2**k + d for k in range(2, bits - 1, 3) for d in (-1, 0, 1)}
    edges |= {int(v) >> int(s) for v, s in zip(rng.integers(0, 2 ** (bits - 1) - 1, 12), rng.integers(0, bits - 2, 12))}
    return np.array(sorted(edges | {-v for v in edges} | {-(2 ** (bits - 1))}), dtype)


def wrapped(values, dtype):
    bits = np.iinfo(dtype).bits
    return np.array([(v + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for v in values], dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("name", OPS)
def test_all_pairs(name, dtype, rng):
    op, exact = OPS[name]
    x = numbers(dtype, rng)
    divisors = x[x != 0]
    fused = tf.function(lambda x, y: op(x=x + 0 * x, y=y))
    every = tf.constant(np.repeat(x, len(divisors))), tf.constant(np.tile(divisors, len(x)))
    expected = np.stack([wrapped([exact(int(a), int(d)) for a in x], dtype) for d in divisors], 1)
    np.testing.assert_array_equal(op(x=every[0], y=every[1]).numpy(), expected.reshape(-1))
    for k, d in enumerate(divisors):
        np.testing.assert_array_equal(op(x=x, y=d).numpy(), expected[:, k])
        np.testing.assert_array_equal(fused(tf.constant(x), tf.constant(d)).numpy(), expected[:, k])
    for a, row in zip(x, expected, strict=True):
        np.testing.assert_array_equal(op(x=a, y=divisors).numpy(), row)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_division_by_zero_in_a_fused_run(dtype):
    x = tf.range(1000, dtype=dtype)

    @tf.function
    def f(x, y):
        return (x * 3 + 7) // y % 11 + 1

    for zero in (tf.constant(0, dtype), tf.concat([x[1:], tf.constant([0], dtype)], 0)):
        f(x, zero + 1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
            f(x, zero)
