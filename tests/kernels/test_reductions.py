"""The native reductions, scans and searches along any axes, against NumPy."""

import itertools

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.math import argmax, cumulative, reduction

NUMBERS = [np.float32, np.float64, np.int32, np.int64]
SHAPES = [(), (5,), (0,), (3, 0), (3, 4), (2, 3, 4), (5, 1, 4), (2, 3, 4, 5), (1000, 3), (7, 5, 300),
          (3, 100_001), (2000, 90), (600, 700)]  # fmt: skip


def numbers(rng, shape, dtype):
    if np.issubdtype(dtype, np.integer):
        return rng.integers(-50, 50, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


def axes_of(shape):
    return [
        axes for k in range(len(shape) + 1) for axes in itertools.combinations(range(len(shape)), k)
    ]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_sum_and_extremes(rng, shape, dtype):
    x = numbers(rng, shape, dtype)
    for axes, keep in itertools.product(axes_of(shape), [False, True]):
        index = np.array(axes, np.int32)
        total = np.sum(x, axis=axes, keepdims=keep, dtype=np.float64)
        got = reduction.Sum(x, index, keep).numpy()
        assert got.dtype == dtype
        assert got.shape == total.shape
        np.testing.assert_allclose(got, total, rtol=1e-6, atol=1e-6 * np.sqrt(x.size + 1))
        if x.size:
            np.testing.assert_array_equal(
                reduction.Max(x, index, keep).numpy(), np.max(x, axes, keepdims=keep)
            )
            np.testing.assert_array_equal(
                reduction.Min(x, index, keep).numpy(), np.min(x, axes, keepdims=keep)
            )


def test_nothing_to_reduce():
    x = np.zeros((0, 3), np.float32)
    np.testing.assert_array_equal(reduction.Sum(x, [0], False).numpy(), np.zeros(3))
    np.testing.assert_array_equal(reduction.Prod(x, [0], False).numpy(), np.ones(3))
    np.testing.assert_array_equal(reduction.Max(x, [0], False).numpy(), np.full(3, -np.inf))
    assert np.isnan(reduction.Mean(x, [0], False).numpy()).all()
    assert reduction.All(np.zeros((0,), bool), [0], False).numpy()


def test_sums_of_many_stay_accurate():
    x = np.full(10_000_000, 0.1, np.float32)
    assert reduction.Sum(x, [0], False).numpy() == pytest.approx(1_000_000, rel=1e-6)
    columns = x.reshape(-1, 4)
    np.testing.assert_allclose(
        reduction.Sum(columns, [0], False).numpy(), np.full(4, 250_000), rtol=1e-6
    )


def test_mean_of_integers_truncates_and_does_not_overflow():
    assert reduction.Mean(np.array([-3, -4], np.int32), [0], False).numpy() == -3
    assert reduction.Mean(np.full(4, 2**31 - 1, np.int32), [0], False).numpy() == 2**31 - 1


def test_nan_wins():
    x = np.ones((40, 50), np.float32)
    x[3, 7] = np.nan
    for axes in ([0], [1], [0, 1]):
        np.testing.assert_array_equal(reduction.Max(x, axes, False).numpy(), np.max(x, tuple(axes)))
        np.testing.assert_array_equal(reduction.Min(x, axes, False).numpy(), np.min(x, tuple(axes)))


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ([5], r"Invalid reduction dimension \(5 for input with 2 dimension"),
        ([0, -2], "duplicate dimension: 0"),
    ],
)
def test_bad_axes(axes, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        reduction.Sum(np.zeros((2, 3), np.float32), axes, False)


@pytest.mark.parametrize("shape", [(1,), (3, 4), (40, 700), (700, 40), (2, 500, 33)], ids=str)
@pytest.mark.parametrize("dtype", [*NUMBERS, np.uint8, np.bool_])
def test_places_of_extremes(rng, shape, dtype):
    x = rng.integers(0, 50, shape).astype(dtype)
    for axis in range(len(shape)):
        np.testing.assert_array_equal(argmax.ArgMax(x, axis).numpy(), np.argmax(x, axis))
        np.testing.assert_array_equal(argmax.ArgMin(x, axis, tf.int32).numpy(), np.argmin(x, axis))


def test_places_pass_over_nan():
    x = np.array([np.nan, 1, 3, np.nan], np.float32)
    assert argmax.ArgMax(x, 0).numpy() == 2
    assert argmax.ArgMin(x, 0).numpy() == 1
    assert argmax.ArgMax(np.full(3, np.nan), 0).numpy() == 0


@pytest.mark.parametrize("shape", [(1,), (0,), (3, 0, 2), (3, 4), (40, 700), (2, 500, 33)], ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_scans(rng, shape, dtype, exclusive, reverse):
    x = rng.integers(-3, 4, shape).astype(dtype)
    for axis in range(len(shape)):
        lines = np.moveaxis(x, axis, 0)[:: -1 if reverse else 1]
        for row, function, first in (
            (cumulative.Cumsum, np.cumsum, 0),
            (cumulative.Cumprod, np.cumprod, 1),
        ):
            expected = function(lines, axis=0, dtype=dtype)
            if exclusive:
                expected = np.concatenate([np.full_like(lines[:1], first), expected[:-1]])
            expected = np.moveaxis(expected[:: -1 if reverse else 1], 0, axis)
            np.testing.assert_array_equal(row(x, axis, exclusive, reverse).numpy(), expected)
