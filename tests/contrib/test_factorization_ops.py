"""Parts of matrix products, and the equations of weighted alternating least squares, against NumPy."""

import numpy as np
import pytest

from tapeflow.contrib.factorization.factorization_ops import (
    masked_matmul,
    wals_compute_partial_lhs_and_rhs,
)

from .contrib_values import BOTH, value

RNG = np.random.default_rng(7)
INDICES = np.array([[0, 0], [0, 2], [1, 1], [2, 0], [2, 1], [3, 2]])
VALUES = RNG.normal(size=6).astype(np.float32)
FACTORS = RNG.normal(size=(3, 2)).astype(np.float32)


@BOTH
@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
def test_masked_matmul(how, turned):
    a, b = RNG.normal(size=(4, 5)).astype(np.float32), RNG.normal(size=(5, 3)).astype(np.float32)
    got = value(how, masked_matmul, a.T if turned[0] else a, b.T if turned[1] else b, INDICES, *turned)
    np.testing.assert_allclose(got, (a @ b)[tuple(INDICES.T)], rtol=1e-5)


@BOTH
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("by_entry", [False, True])
def test_equations(how, transposed, by_entry):
    columns, rows, entries = (RNG.uniform(0.1, 1, n).astype(np.float32) for n in (3, 4, 6))
    none = np.zeros(0, np.float32)
    weights = entries if by_entry else rows[INDICES[:, 0]] * columns[INDICES[:, 1]]
    left, right = np.zeros((4, 2, 2)), np.zeros((4, 2))
    for (row, column), number, weight in zip(INDICES, VALUES, weights):
        left[row] += weight * np.outer(FACTORS[column], FACTORS[column])
        right[row] += (weight + 0.1) * number * FACTORS[column]
    got = value(
        how, wals_compute_partial_lhs_and_rhs, FACTORS, none if by_entry else columns, 0.1, none if by_entry else rows,
        INDICES[:, ::-1] if transposed else INDICES, VALUES, entries if by_entry else none, 4, transposed,
    )  # fmt: skip
    np.testing.assert_allclose(got[0], left, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(got[1], right, rtol=1e-4, atol=1e-6)
