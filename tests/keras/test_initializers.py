"""Initializers: their distributions, their seeds, their names."""

import numpy as np
import pytest

import tapeflow as tf

initializers = tf.keras.initializers
# Name -> (limit of the values or None, variance) for a kernel of shape [400, 200].
VARIANCES = {
    "glorot_uniform": (np.sqrt(6 / 600), 2 / 600),
    "glorot_normal": (2 * np.sqrt(2 / 600) / 0.8796, 2 / 600),
    "he_uniform": (np.sqrt(6 / 400), 2 / 400),
    "he_normal": (2 * np.sqrt(2 / 400) / 0.8796, 2 / 400),
    "lecun_uniform": (np.sqrt(3 / 400), 1 / 400),
    "random_uniform": (0.05, 0.1**2 / 12),
    "random_normal": (None, 0.05**2),
}


@pytest.mark.parametrize("name", VARIANCES)
def test_variance(name):
    limit, variance = VARIANCES[name]
    values = initializers.get(name)([400, 200]).numpy()
    assert values.var() == pytest.approx(variance, rel=0.03)
    assert abs(values.mean()) < 0.01
    assert limit is None or np.abs(values).max() <= limit * 1.0001


def test_seed():
    make = initializers.GlorotUniform
    np.testing.assert_array_equal(make(3)([5, 4]).numpy(), make(3)([5, 4]).numpy())
    assert (make(3)([5, 4]).numpy() != make(4)([5, 4]).numpy()).any()
    assert (make()([5, 4]).numpy() != make()([5, 4]).numpy()).any()


def test_orthogonal():
    q = initializers.Orthogonal()([6, 4]).numpy()
    np.testing.assert_allclose(q.T @ q, np.eye(4), atol=1e-5)
    q = initializers.Orthogonal(2.0)([2, 3]).numpy()
    np.testing.assert_allclose(q @ q.T, 4 * np.eye(2), atol=1e-5)


def test_fixed_values():
    assert initializers.Constant([1, 2])([2]).numpy().tolist() == [1, 2]
    assert initializers.Ones()([2], "int32").dtype == tf.int32
    np.testing.assert_array_equal(initializers.Identity()([2, 2]).numpy(), np.eye(2))


@pytest.mark.parametrize("name", ["GlorotUniform", "Constant", "VarianceScaling"])
def test_config(name):
    initializer = getattr(initializers, name)()
    again = initializers.deserialize(initializers.serialize(initializer))
    assert type(again) is type(initializer)
    assert again.get_config() == initializer.get_config()


def test_bad_input():
    with pytest.raises(ValueError, match="Could not interpret initializer identifier: nope"):
        initializers.get("nope")
    with pytest.raises(ValueError, match="must be positive"):
        initializers.VarianceScaling(0.0)
    with pytest.raises(ValueError, match="at least two-dimensional"):
        initializers.Orthogonal()([3])


_NAMES = ["Zeros", "Ones", "Constant", "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling"]


@pytest.mark.parametrize("name", [*_NAMES, "Orthogonal", "Identity", "GlorotUniform", "HeNormal"])
def test_initializers_refuse_unknown_arguments(name):
    with pytest.raises(TypeError, match="foo"):
        getattr(tf.keras.initializers, name)()([3, 3], foo=1)
