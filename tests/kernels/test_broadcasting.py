"""The native elementwise kernels over the shapes that take different paths, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tapeflow as tf
from tapeflow.ops.math import arithmetic, bitwise, choice, clip, comparison, division

NUMBERS = [np.float32, np.float64, np.int32, np.int64]
PAIRS = [
    ((), ()),
    ((2, 3), ()),
    ((), (2, 3)),
    ((0, 3), (3,)),
    ((100, 3), (3,)),  # short rows, laid out once
    ((100, 3), (100, 1)),  # short rows, one element each
    ((50, 2, 3), (50, 1, 3)),
    ((40, 70), (70,)),  # long rows
    ((70,), (40, 1)),
    ((5, 1, 4, 1), (1, 6, 1, 7)),
    ((300_000,), (300_000,)),  # split among threads
    ((300, 1000), (300, 1)),
    ((100_000, 3), (3,)),
]
EXACT = {
    "AddV2": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
}
COMPARISONS = {"Less": np.less, "GreaterEqual": np.greater_equal, "NotEqual": np.not_equal}


def numbers(rng, shape, dtype):
    if np.issubdtype(dtype, np.integer):
        return rng.integers(-50, 50, shape).astype(dtype)
    return rng.normal(size=shape).astype(dtype)


def same(got, expected):
    assert got.numpy().dtype == expected.dtype
    np.testing.assert_array_equal(got.numpy(), expected)


@pytest.mark.parametrize("shapes", PAIRS, ids=str)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_shapes(rng, shapes, dtype):
    x, y = (numbers(rng, s, dtype) for s in shapes)
    for name, function in EXACT.items():
        same(getattr(arithmetic, name)(x, y), np.asarray(function(x, y)))
    for name, function in COMPARISONS.items():
        same(getattr(comparison, name)(x, y), np.asarray(function(x, y)))


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=5, max_side=4), st.data())
def test_choice_broadcasts_three_ways(shapes, data):
    condition, x, y = shapes.input_shapes
    c = data.draw(hnp.arrays(np.bool_, condition))
    a = np.arange(np.prod(x), dtype=np.float64).reshape(x)
    b = -np.arange(np.prod(y), dtype=np.float64).reshape(y)
    same(choice.SelectV2(c, a, b), np.where(c, a, b))


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "complex64", "complex128"])
def test_choice_moves_elements_of_any_size(rng, dtype):
    c = rng.random((50, 1)) < 0.5
    x, y = rng.normal(size=(50, 40)).astype(dtype), rng.normal(size=(40,)).astype(dtype)
    same(choice.SelectV2(c, x, y), np.where(c, x, y))
    same(choice.Select(c[:, 0], x, -x), np.where(c, x, -x))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integer_division(rng, dtype):
    x, y = rng.integers(-50, 50, (40, 9)).astype(dtype), rng.integers(1, 9, 9).astype(dtype)
    y[::2] *= -1
    same(division.FloorDiv(x, y), x // y)
    same(division.FloorMod(x, y), x % y)
    same(division.TruncateDiv(x, y), np.trunc(x / y).astype(dtype))
    same(division.TruncateMod(x, y), np.fmod(x, y))
    least = np.array([np.iinfo(dtype).min], dtype)
    same(division.FloorDiv(least, -1), least)
    same(division.FloorMod(least, -1), least * 0)


@pytest.mark.parametrize("name", ["FloorDiv", "FloorMod", "Div", "TruncateMod"])
def test_integer_division_by_zero(name):
    row = getattr(division, name)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        row([1, 2], [3, 0])
    assert row(np.zeros((0, 1), np.int32), 0).shape == (0, 1)


def test_integers_to_negative_powers():
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative integer powers"):
        arithmetic.Pow([2, 3], [1, -1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values(dtype):
    v = np.array([0, -0.0, 1, -1, 2.5, -3, np.inf, -np.inf, np.nan, 1e-40], dtype)
    x, y = v[:, None], v[None]
    with np.errstate(all="ignore"):
        same(arithmetic.Maximum(x, y), np.maximum(x, y))
        same(arithmetic.Minimum(x, y), np.minimum(x, y))
        same(comparison.Equal(x, y), x == y)
        for exponent in [*v, 2, 3]:
            got = arithmetic.Pow(x, dtype(exponent)).numpy()
            np.testing.assert_allclose(got, np.power(x, exponent), rtol=1e-6)


def test_shifts_stop_at_the_word():
    x = np.array([1, 1, -1], np.int32)
    same(
        bitwise.LeftShift(x, np.array([40, -1, 3], np.int32)), np.array([-(2**31), 1, -8], np.int32)
    )


def test_incompatible_shapes():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3\]"
    ):
        arithmetic.AddV2([1, 2], [1, 2, 3])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_clip(rng, dtype):
    x, low, high = (numbers(rng, (500,), dtype) for _ in range(3))
    same(clip.ClipByValue(x, low, high), np.maximum(np.minimum(x, high), low))
    same(clip.ClipByValue(x, dtype(-1), high), np.maximum(np.minimum(x, high), dtype(-1)))
