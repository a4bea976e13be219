"""tf.contrib.integrate, against solutions in closed form and SciPy."""

import numpy as np
import pytest
from scipy import integrate, linalg

import tapeflow.compat.v1 as tf
from tapeflow.contrib.integrate import odeint, odeint_fixed

from .contrib_values import BOTH, value

TIMES = np.array([0.0, 0.3, 1.0, 2.5])
SYSTEM = np.array([[-0.5, 2.0], [-2.0, -0.5]])


def linear(y, t):
    return tf.linalg.matvec(tf.constant(SYSTEM, y.dtype), y)


def exact(start):
    return np.stack([linalg.expm(SYSTEM * t) @ start for t in TIMES])


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_linear_systems(how, dtype):
    start = np.array([1.0, 0.5]).astype(dtype)
    got = value(how, odeint, linear, start, TIMES)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, exact(start), rtol=2e-5, atol=2e-5)


@BOTH
def test_time_matters(how):
    got = value(how, odeint, lambda y, t: tf.cast(t, y.dtype) * y, tf.constant([[1.0, 2.0]]), TIMES)
    np.testing.assert_allclose(got, np.exp(TIMES**2 / 2)[:, None, None] * [[1.0, 2.0]], rtol=1e-4)


@BOTH
def test_of_a_nonlinear_equation_with_all_that_is_known(how):
    def van_der_pol(y, t):
        return tf.stack([y[1], (1 - y[0] ** 2) * y[1] - y[0]])

    start = np.array([2.0, 0.0])
    got, info = value(how, odeint, van_der_pol, start, TIMES, rtol=1e-9, atol=1e-9, method="dopri5",
                      options={"first_step": 0.1}, full_output=True)  # fmt: skip
    want = integrate.solve_ivp(
        lambda t, y: [y[1], (1 - y[0] ** 2) * y[1] - y[0]], (0, 2.5), start, "DOP853", TIMES, rtol=1e-11, atol=1e-11
    )
    np.testing.assert_allclose(got, want.y.T, rtol=1e-6, atol=1e-6)
    tried = info["integrate_points"]
    assert info["num_func_evals"] == 6 * len(tried) + 1
    assert len(info["error_ratio"]) == len(tried)
    assert tried[info["error_ratio"] <= 1][-1] >= TIMES[-1]


def test_tighter_tolerance_means_more_steps_and_less_error():
    counts, errors = [], []
    for tolerance in (1e-3, 1e-6, 1e-9):
        y, info = odeint(linear, tf.constant([1.0, 0.5], tf.float64), TIMES, tolerance, tolerance, full_output=True)
        counts.append(int(info["num_func_evals"]))
        errors.append(np.abs(y.numpy() - exact([1.0, 0.5])).max())
    assert counts == sorted(set(counts))
    assert errors == sorted(errors, reverse=True)


@BOTH
@pytest.mark.parametrize(("method", "order"), [("midpoint", 2), ("rk4", 4)])
def test_fixed_steps_have_their_order(how, method, order):
    start = np.array([1.0, 0.5])
    errors = []
    for dt in (0.1, 0.05):
        got = value(how, odeint_fixed, linear, start, TIMES, dt, method)
        errors.append(np.abs(got - exact(start)).max())
    assert 2 ** (order - 0.4) < errors[0] / errors[1] < 2 ** (order + 0.4)


@BOTH
def test_steps_of_each_interval(how):
    start = np.array([1.0, 0.5])
    single = value(how, odeint_fixed, linear, start, TIMES)
    many = value(how, odeint_fixed, linear, start, TIMES, [0.01, 0.01, 0.01])
    assert np.abs(many - exact(start)).max() < 1e-6 < np.abs(single - exact(start)).max()
    # In one step of the classical method the solution is the exponential series up to order 4.
    z = SYSTEM * TIMES[1]
    series = np.eye(2) + z + z @ z / 2 + z @ z @ z / 6 + z @ z @ z @ z / 24
    np.testing.assert_allclose(single[1], series @ start)


@pytest.mark.parametrize("solve", [odeint, odeint_fixed])
def test_gradients(solve):
    rate = tf.constant(0.7, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(rate)
        end = solve(lambda y, t: -rate * y, tf.constant(2.0, tf.float64), np.linspace(0, 1.5, 31))[-1]
    want = -1.5 * 2 * np.exp(-0.7 * 1.5)
    np.testing.assert_allclose(tape.gradient(end, rate).numpy(), want, rtol=1e-4)


def test_arguments():
    with pytest.raises(ValueError, match="invalid method"):
        odeint(linear, [1.0, 0.0], TIMES, method="euler")
    with pytest.raises(ValueError, match="without specifying `method`"):
        odeint(linear, [1.0, 0.0], TIMES, options={"first_step": 1.0})
    with pytest.raises(TypeError, match="y0"):
        odeint(linear, [1, 0], TIMES)
    with pytest.raises(TypeError, match="`t`"):
        odeint(linear, [1.0, 0.0], tf.constant([0, 1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="monotonic increasing"):
        odeint(linear, [1.0, 0.0], [0.0, 1.0, 0.5])
    with pytest.raises(tf.errors.InvalidArgumentError, match="max_num_steps"):
        odeint(linear, [1.0, 0.0], TIMES, method="dopri5", options={"max_num_steps": 2})
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-finite"):
        odeint(linear, [np.inf, 0.0], TIMES)
    with pytest.raises(ValueError, match="not supported"):
        odeint_fixed(linear, [1.0, 0.0], TIMES, method="euler")
    with pytest.raises(ValueError, match="lengths"):
        odeint_fixed(linear, [1.0, 0.0], [0.0, 1.0], dt=tf.constant([0.1, 0.1], tf.float64))
