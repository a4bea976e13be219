"""Products of one row with a matrix, against NumPy: widths and depths around those that take different paths."""

import numpy as np
import pytest

import tapeflow as tf

WIDTHS = [1, 15, 64, 191, 192, 193, 391, 2048, 2049, 4099]
DEPTHS = [1, 3, 4, 7, 8, 9, 12, 13, 64, 300]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("k", DEPTHS)
def test_widths(k, dtype, rng):
    for n in WIDTHS:
        x, y = (rng.normal(size=s) * 8 for s in ((1, k), (k, n)))
        x, y = x.astype(dtype), y.astype(dtype)
        a, b = x.astype(np.float64), y.astype(np.float64)
        whole = np.issubdtype(dtype, np.integer)
        most = 0 if whole else np.abs(a) @ np.abs(b) * np.finfo(dtype).eps * 2 * (k + 2)
        for got in (tf.matmul(x, y), tf.matmul(x.T.copy(), y, transpose_a=True)):
            assert got.shape == (1, n)
            assert (np.abs(got.numpy() - a @ b) <= most).all()


def test_integers_wrap_around(rng):
    x = rng.integers(-(2**31), 2**31 - 1, (1, 37)).astype(np.int32)
    y = rng.integers(-(2**31), 2**31 - 1, (37, 500)).astype(np.int32)
    np.testing.assert_array_equal(tf.matmul(x, y).numpy(), x @ y)


def test_a_stack_of_rows(rng):
    x, y = rng.normal(size=(6, 1, 50)), rng.normal(size=(6, 50, 400))
    np.testing.assert_allclose(tf.matmul(x, y).numpy(), x @ y, rtol=1e-12)


@pytest.mark.parametrize("columns", [200, 3000])
def test_special_values_stay_in_their_columns(columns, rng):
    x, y = rng.normal(size=(1, 20)), rng.normal(size=(20, columns))
    y[3, 5], y[7, columns - 1] = np.inf, np.nan
    got = tf.matmul(x, y).numpy()[0]
    assert np.isinf(got[5])
    assert np.isnan(got[columns - 1])
    assert np.isfinite(np.delete(got, [5, columns - 1])).all()
