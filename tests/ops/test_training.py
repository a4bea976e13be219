"""Optimizer updates against TensorFlow's own results (training_vectors.json was written by TensorFlow 2.21)."""

import json
import pathlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.state import training

VECTORS = json.loads(pathlib.Path(__file__).with_name("training_vectors.json").read_text())


def _label(case) -> str:
    return "-".join([case["op"], case["dtype"], *case["attrs"]])


def _arguments(case):
    dtype = case["dtype"]
    variables = {name: tf.Variable(value, dtype=dtype) for name, value in case["variables"].items()}
    own = {"indices": np.int32, "global_step": np.int64}
    return variables, [np.array(value, own.get(name, dtype)) for name, value in case["inputs"]]


def _assert_expected(case, values) -> None:
    rtol, atol = (4e-6, 1e-7) if case["dtype"] == "float32" else (1e-8, 1e-9)
    for name, value in values.items():
        np.testing.assert_allclose(
            np.ravel(value), case["expected"][name], rtol=rtol, atol=atol, err_msg=name
        )


@pytest.mark.parametrize("case", VECTORS, ids=_label)
def test_step_is_tensorflows(case):
    variables, inputs = _arguments(case)
    getattr(training, case["op"])(*variables.values(), *inputs, **case["attrs"])
    _assert_expected(case, {name: v.numpy() for name, v in variables.items()})


@pytest.mark.parametrize("case", VECTORS, ids=_label)
def test_python_kernel_agrees(case):
    variables, inputs = _arguments(case)
    row = getattr(training, case["op"])
    row.kernel(np, *variables.values(), *inputs, **{**row.defaults, **case["attrs"]})
    _assert_expected(case, {name: v.numpy() for name, v in variables.items()})


def test_large_dense_update_is_the_small_one():
    """Above the size where threads share the work."""
    rng = np.random.default_rng(0)
    n = 300_001
    x, m, v, g = (rng.random(n).astype(np.float32) for _ in range(4))
    var, slot_m, slot_v = tf.Variable(x), tf.Variable(m), tf.Variable(v)
    training.ResourceApplyAdam(var, slot_m, slot_v, 0.9, 0.99, 0.1, 0.9, 0.99, 1e-3, g)
    m2, v2 = m + (g - m) * 0.1, v + (g * g - v) * 0.01
    expected = x - 0.1 * np.sqrt(1 - 0.99) / (1 - 0.9) * m2 / (np.sqrt(v2) + 1e-3)
    np.testing.assert_allclose(var.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_update_leaves_an_earlier_value_alone():
    var = tf.Variable([1.0, 2.0])
    before = var.read_value()
    training.ResourceApplyGradientDescent(var, 0.5, [1.0, 1.0])
    np.testing.assert_array_equal(before.numpy(), [1, 2])
    np.testing.assert_array_equal(var.numpy(), [0.5, 1.5])


def test_gradient_may_be_the_variables_own_value():
    var = tf.Variable([1.0, 2.0])
    training.ResourceApplyGradientDescent(var, 0.5, var.read_value())
    np.testing.assert_array_equal(var.numpy(), [0.5, 1.0])


def test_one_variable_in_two_places():
    var = tf.Variable([1.0, 2.0])
    training.ResourceApplyMomentum(var, var, 0.5, [1.0, 1.0], 0.9)
    assert np.isfinite(var.numpy()).all()


_G = np.ones((3, 2), np.float32)
_SHORT = np.ones(2, np.float32)


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        (
            "ResourceApplyGradientDescent",
            (0.1, _SHORT),
            r"var and delta do not have the same shape\[3,2\] \[2\]",
        ),
        ("ResourceApplyGradientDescent", ([0.1], _G), r"alpha is not a scalar: \[1\]"),
        (
            "ResourceApplyMomentum",
            ("short", 0.1, _G, 0.9),
            r"var and accum do not have the same shape\[3,2\] \[2\]",
        ),
        (
            "ResourceApplyAdagrad",
            ("slot", 0.1, _SHORT),
            r"var and grad do not have the same shape\[3,2\] \[2\]",
        ),
        (
            "ResourceSparseApplyAdagrad",
            ("slot", 0.1, _G[:1], [5]),
            "Index 5 at offset 0 in indices is out of range",
        ),
        (
            "ResourceSparseApplyAdagrad",
            ("slot", 0.1, _G[:1], [-1]),
            "Index -1 at offset 0 in indices is out of range",
        ),
        (
            "ResourceSparseApplyAdagrad",
            ("slot", 0.1, _G[:2], [1]),
            "grad must be the same size as indices",
        ),
        ("ResourceSparseApplyAdagrad", ("slot", 0.1, _G[:1, :1], [1]), "must match in dimension 1"),
        (
            "ResourceSparseApplyAdagrad",
            ("slot", 0.1, _G[:1], [[1]]),
            "indices must be one-dimensional",
        ),
        (
            "ResourceApplyProximalAdagrad",
            ("slot", -1.0, 0.0, 0.0, _G),
            "lr is not a positive scalar",
        ),
    ],
)
def test_bad_input_changes_nothing(name, arguments, text):
    var = tf.Variable(_G)
    slots = {"slot": tf.Variable(_G), "short": tf.Variable(_SHORT)}
    arguments = [slots[a] if isinstance(a, str) else a for a in arguments]
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        getattr(training, name)(var, *arguments)
    np.testing.assert_array_equal(var.numpy(), _G)
    np.testing.assert_array_equal(slots["slot"].numpy(), _G)
