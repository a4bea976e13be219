"""Gamma and Poisson numbers of 16 bits are those of 32 bits, rounded."""

import numpy as np
import pytest

import tapeflow as tf


def drawn(kind, dtype, parameter, seed, row):
    """1000 numbers from a fresh stream, by the native kernel or the Python one."""
    tf.random.set_seed(seed)
    parameter = tf.constant(parameter, dtype)
    if kind == "gamma":
        return row(tf.constant([1000]), parameter, seed=3, seed2=seed)
    return row(tf.constant([1000]), parameter, seed=3, seed2=seed, dtype=dtype)


@pytest.mark.parametrize("parameter", [0.0, 0.015625, 1.0, 2.5, 40.0])
@pytest.mark.parametrize(("kind", "name"), [("gamma", "RandomGamma"), ("poisson", "RandomPoissonV2")])
def test_numbers_are_rounded(kind, name, parameter):
    from tapeflow.ops.random import distributions as random

    row = getattr(random, name)
    narrow = drawn(kind, tf.float16, parameter, 11, row)
    wide = drawn(kind, tf.float32, parameter, 11, row)
    assert narrow.dtype == tf.float16
    np.testing.assert_array_equal(narrow.numpy(), wide.numpy().astype(np.float16))


@pytest.mark.parametrize("parameter", [0.0, 0.25, 3.0])
def test_python_kernel_draws_the_same(parameter):
    from tapeflow.ops.random.distributions import RandomGamma

    tf.random.set_seed(5)
    native = RandomGamma(tf.constant([20]), tf.constant(parameter, tf.float16), seed=1, seed2=2)
    tf.random.set_seed(5)
    python = RandomGamma.call_python(tf.constant([20]), tf.constant(parameter, tf.float16), seed=1, seed2=2)
    np.testing.assert_allclose(native.numpy(), python.numpy(), rtol=1e-3)


def test_large_rates_stay_finite():
    assert np.isfinite(tf.random.poisson([100], tf.constant(65000.0, tf.float16), dtype=tf.float16).numpy()).all()
