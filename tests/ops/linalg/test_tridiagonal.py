"""Tridiagonal matrices: parts that are known not to fit, large ones, and kernels against each other."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.linalg.tridiagonal import TridiagonalMatMul, TridiagonalSolve

ones = tf.ones
BAD = [
    ("compact", ones([5, 4, 4]), ones([5, 4]), "Expected 3 diagonals got 4"),
    ("compact", ones([5, 3, 4]), ones([4, 5]), "Batch shapes"),
    ("compact", ones([5, 3, 4]), ones([5]), "rank of rhs to be 2 or 3, got 1"),
    ("compact", ones([5]), ones([5]), "rank at least 2"),
    ("compact", ones([2, 3, 4]), ones([2, 5, 1]), "to be equal, got 4 and 5"),
    ("matrix", ones([5, 4, 7]), ones([5, 4]), "last two dimensions"),
    ("sequence", (ones([5, 4]), ones([5, 4]), ones([5, 6])), ones([5, 4]), "subdiagonal"),
    ("sequence", (ones([5, 2]), ones([5, 4]), ones([5, 4])), ones([5, 4]), "superdiagonal"),
    ("sequence", [ones([5, 4])] * 4, ones([5, 4]), "sequence of length 3"),
    ("dense", ones([3, 4]), ones([4]), "Unrecognized diagonals_format"),
]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("case", BAD, ids=lambda case: case[3])
def test_parts_that_do_not_fit(wrap, case):
    form, diagonals, rhs, message = case
    with pytest.raises(ValueError, match=message):
        wrap(lambda: tf.linalg.tridiagonal_solve(diagonals, rhs, form))()


def diagonals_of(dtype, *shape):
    """Numbers that make rows change places here and there."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("pivots", [True, False])
@pytest.mark.parametrize("columns", [1, 3])
def test_kernels_agree(dtype, pivots, columns):
    diagonals, rhs = diagonals_of(dtype, 4, 3, 40), diagonals_of(dtype, 4, 40, columns)
    if not pivots:
        diagonals[:, 1] += 4
    diagonals[1] = 0
    got = TridiagonalSolve(diagonals, rhs, pivots, False).numpy()
    want = TridiagonalSolve.kernel(np, diagonals, rhs, pivots, False)
    tolerance = 1e-2 if np.finfo(dtype).eps > 1e-8 else 1e-9
    np.testing.assert_allclose(got, want, tolerance, tolerance)
    assert np.isnan(got[1]).all()


@pytest.mark.parametrize("pivots", [True, False])
def test_large_systems_need_no_dense_matrix(pivots):
    n = 200_000  # a dense matrix would be 320 GB
    diagonals = diagonals_of(np.float64, 3, n)
    diagonals[1] += 10
    diagonals[0, -1] = diagonals[2, 0] = 0
    x = np.linspace(0, 1, n)[:, None]
    rhs = TridiagonalMatMul(*(d[None] for d in diagonals), x)
    with tf.GradientTape() as tape:
        tape.watch(rhs)
        y = TridiagonalSolve(diagonals, rhs, pivots, False)
    np.testing.assert_allclose(y, x, 1e-9, 1e-9)
    assert tape.gradient(y, rhs).shape == (n, 1)
