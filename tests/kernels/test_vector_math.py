"""The native elementary functions: units in the last place from the truth, and the special values."""

import numpy as np
import pytest
import scipy.special

from tapeflow.ops.math import elementwise, trigonometric
from tapeflow.ops.nn import activation, softplus
from tapeflow.ops.special import bessel
from tapeflow.ops.special import functions as special

FUNCTIONS = {
    (elementwise, "Exp"): np.exp,
    (elementwise, "Expm1"): np.expm1,
    (elementwise, "Log"): np.log,
    (elementwise, "Log1p"): np.log1p,
    (elementwise, "Rsqrt"): lambda x: 1 / np.sqrt(x),
    (trigonometric, "Tanh"): np.tanh,
    (trigonometric, "Sin"): np.sin,
    (trigonometric, "Cos"): np.cos,
    (softplus, "Softplus"): lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    (special, "Erf"): lambda x: scipy.special.erf(x.astype(np.float64)),
}
# Functions that are vectorised for floats alone, and the units in the last place that they may be off.
OF_FLOATS = {
    (trigonometric, "Tan"): (np.tan, 5),
    (trigonometric, "Asin"): (np.arcsin, 5),
    (trigonometric, "Acos"): (np.arccos, 5),
    (trigonometric, "Atan"): (np.arctan, 5),
    (trigonometric, "Sinh"): (np.sinh, 5),
    (trigonometric, "Cosh"): (np.cosh, 5),
    (trigonometric, "Asinh"): (np.arcsinh, 5),
    (trigonometric, "Acosh"): (np.arccosh, 5),
    (trigonometric, "Atanh"): (np.arctanh, 5),
    (special, "Erfc"): (scipy.special.erfc, 10),
    (special, "Erfinv"): (scipy.special.erfinv, 6),
    (special, "Ndtri"): (scipy.special.ndtri, 6),
    (bessel, "BesselI0e"): (scipy.special.i0e, 6),
    (bessel, "BesselI1e"): (scipy.special.i1e, 6),
    (bessel, "BesselI0"): (lambda x: np.where(np.isinf(x), np.abs(x), scipy.special.i0(x)), 10),
    (bessel, "BesselI1"): (lambda x: np.where(np.isinf(x), x, scipy.special.i1(x)), 10),
}
SPECIAL = [
    0.0,
    -0.0,
    1,
    -1,
    np.inf,
    -np.inf,
    np.nan,
    1e-45,
    -1e-40,
    3e38,
    -3e38,
    88.7,
    88.8,
    -87.4,
    -104.5,
]


def arguments(rng, dtype):
    powers = 10.0 ** rng.uniform(-38, 38, 5000) * rng.choice([-1, 1], 5000)
    spread = [
        rng.normal(size=20_000),
        rng.uniform(-100, 100, 20_000),
        rng.uniform(0.3, 3, 20_001),
        powers,
    ]
    return np.concatenate([SPECIAL, *spread, rng.uniform(-9000, 9000, 20_000)]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("module", "name"), list(FUNCTIONS))
def test_accuracy(rng, module, name, dtype):
    x = arguments(rng, dtype)
    if name in (
        "Sin",
        "Cos",
    ):  # the extended precision of NumPy does not reduce huge arguments well
        x = x[np.abs(x) < 1e6]
    with np.errstate(all="ignore"):
        truth = FUNCTIONS[module, name](x.astype(np.longdouble))
        expected = truth.astype(dtype)
    got = getattr(module, name)(x).numpy()
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(got[~finite], expected[~finite])
    error = np.abs(got[finite] - truth[finite]) / np.spacing(np.abs(expected[finite]))
    assert error.max() < 4, f"at {x[finite][error.argmax()]!r}"


@pytest.mark.parametrize(("module", "name"), list(OF_FLOATS))
def test_accuracy_of_floats(rng, module, name):
    x = arguments(rng, np.float32)
    if name == "Tan":  # beside its poles a unit of the argument is many of the result
        x = x[(np.abs(x) < 1e4) | ~np.isfinite(x)]
    x = np.concatenate([x, rng.uniform(-1, 1, 20_000), 10.0 ** rng.uniform(-38, 0, 2000)]).astype(np.float32)
    function, limit = OF_FLOATS[module, name]
    with np.errstate(all="ignore"):
        truth = function(x.astype(np.float64))
        expected = truth.astype(np.float32)
    got = getattr(module, name)(x).numpy()
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(got[~finite], expected[~finite])
    error = np.abs(got[finite] - truth[finite]) / np.spacing(np.abs(expected[finite]))
    assert error.max() < limit, f"at {x[finite][error.argmax()]!r}"


def test_angles_of_all_quadrants(rng):
    y, x = (np.concatenate([SPECIAL, rng.normal(size=500)]).astype(np.float32) for _ in range(2))
    got = trigonometric.Atan2(y[:, None], x[None]).numpy()
    want = np.arctan2(y[:, None].astype(np.float64), x[None].astype(np.float64))
    np.testing.assert_allclose(got, want, rtol=5e-7, atol=2e-45)
    np.testing.assert_array_equal(np.signbit(got)[~np.isnan(got)], np.signbit(want)[~np.isnan(got)])


@pytest.mark.parametrize("name", ["Tanh", "Sin", "Tan", "Asin", "Atan", "Sinh", "Asinh", "Atanh"])
def test_negative_zero(name):
    assert np.signbit(getattr(trigonometric, name)(np.float32(-0.0)).numpy())


@pytest.mark.parametrize("size", [0, 1, 7, 15, 16, 17, 31, 33, 100])
def test_every_length(rng, size):
    x = rng.normal(size=size).astype(np.float32)
    np.testing.assert_allclose(trigonometric.Tanh(x).numpy(), np.tanh(x), rtol=1e-6)
    np.testing.assert_allclose(
        activation.Elu(x).numpy(), np.where(x < 0, np.expm1(x), x), rtol=1e-6
    )


def test_huge_angles():
    x = np.array([1e10, 3e38, -12345678, 0.5], np.float32)
    np.testing.assert_allclose(
        trigonometric.Sin(x).numpy(), np.sin(x.astype(np.float64)), rtol=1e-6
    )
