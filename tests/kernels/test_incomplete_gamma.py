"""The native incomplete gamma functions against those in NumPy, which have other methods."""

import numpy as np
import pytest

from tapeflow.ops.special.incomplete import Igamma, Igammac, IgammaGradA, RandomGammaGrad

A = np.array([1e-12, 1e-3, 0.1, 0.5, 0.99, 1, 2.5, 9, 11, 40, 99, 101, 700, 9999])
EDGES = np.array([0.0, -1, np.inf, -np.inf, np.nan, 1.5])


def grid():
    ratios = np.array([1e-6, 0.1, 0.5, 0.9, 0.999, 1, 1.001, 1.1, 1.5, 3])
    a = np.repeat(A, len(ratios))
    x = a * np.tile(ratios, len(A))
    return np.concatenate([a, A, np.repeat(EDGES, 6)]), np.concatenate([x, A[::-1] / 9, np.tile(EDGES, 6)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("row", [Igamma, Igammac, IgammaGradA], ids=lambda row: row.name)
def test_kernels_agree(row, dtype):
    a, x = (v.astype(dtype) for v in grid())
    got, want = row(a, x).numpy(), row.kernel(np, a, x)
    exact = dtype == np.float64 and row is not IgammaGradA
    np.testing.assert_allclose(got, want, 1e-11 if exact else 1e-5, 1e-12 if exact else 1e-6)


def test_slopes_are_those_of_fine_differences():
    a, x = (v[:140] for v in grid())
    a, x = a[a > 0.05], x[a > 0.05]
    step = 1e-3 * np.minimum(a, np.sqrt(a))
    near, far = (Igamma(a + k * step, x).numpy() - Igamma(a - k * step, x).numpy() for k in (1, 2))
    np.testing.assert_allclose(IgammaGradA(a, x), (8 * near - far) / (12 * step), 1e-4, 1e-8)


def test_slopes_of_samples():
    a, x = np.array([0.3, 2.0, 30.0, 500.0]), np.array([0.1, 3.0, 28.0, 510.0])
    np.testing.assert_allclose(RandomGammaGrad(a, x), RandomGammaGrad.kernel(np, a, x), 1e-6)


def test_large_parameters_are_left_to_numpy():
    a = np.array([1.0, 1e6])
    np.testing.assert_allclose(Igamma(a, a), Igamma.kernel(np, a, a), 1e-12)
