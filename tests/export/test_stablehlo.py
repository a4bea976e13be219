"""Functions as StableHLO: read again by `jax.export`, they give the same numbers."""

import export_models as models
import numpy as np
import pytest

import tapeflow as tf

jax = pytest.importorskip("jax")
pytest.importorskip("flatbuffers")

from jax import export  # noqa: E402

from tapeflow.export.stablehlo import stablehlo  # noqa: E402

pytestmark = pytest.mark.xla
SPEC = tf.TensorSpec([2, 8, 8, 3])


def network():
    rng = np.random.default_rng(3)
    w = tf.Variable(rng.normal(size=(3, 3, 3, 4)).astype(np.float32))
    b = tf.Variable(rng.normal(size=4).astype(np.float32))

    @tf.function
    def f(x):
        y = tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + b)
        return tf.nn.max_pool2d(y, 2, 2, "VALID"), tf.nn.softmax(b)

    return f, [w, b], rng.normal(size=(2, 8, 8, 3)).astype(np.float32)


@pytest.mark.parametrize("variables", ["constants", "arguments"])
def test_what_is_read_again_gives_the_same(variables):
    f, held, x = network()
    written = bytes(stablehlo(f, SPEC, variables=variables).serialize())
    more = [v.numpy() for v in held] if variables == "arguments" else []
    got = export.deserialize(bytearray(written)).call(x, *more)
    for a, b in zip(got, f(x), strict=True):
        np.testing.assert_allclose(a, b.numpy(), rtol=1e-4, atol=1e-4)


def test_a_convolution_is_one_instruction():
    f, _, _ = network()
    text = stablehlo(f, SPEC).mlir_module()
    assert text.count("stablehlo.convolution") == 1
    assert text.count("stablehlo.reduce_window") == 1
    assert "dot_general" not in text


def test_what_cannot_be_exported_is_named():
    f, held, _ = network()
    with pytest.raises(ValueError, match="'x:0' has to be known"):
        stablehlo(f, tf.TensorSpec([None, 8, 8, 3]))
    with pytest.raises(ValueError, match="'constants' or 'arguments'"):
        stablehlo(f, SPEC, variables="frozen")
    count = tf.function(lambda: held[1].assign_add(tf.ones(4)))
    with pytest.raises(ValueError, match="assigns variables"):
        stablehlo(count)


def exported(make):
    """A model as a module for the shapes of its arguments; the arguments, and what the function computes."""
    function, arguments = make()
    specs = [tf.TensorSpec(a.shape, x.dtype, x.op.name) for a, x in zip(arguments, function.inputs)]
    module = stablehlo(tf.function(lambda *x: function(*x)), *specs)
    return module, arguments, [y.numpy() for y in tf.nest.flatten(function(*map(tf.constant, arguments)))]


LACKING = {"text": "uses a table", "vocabulary": "uses a table"}


@pytest.mark.parametrize("make", [m for m in models.MODELS if m.__name__ not in LACKING], ids=lambda m: m.__name__)
def test_models_compute_the_same(make):
    module, arguments, wanted = exported(make)
    with jax.enable_x64(True):
        found = export.deserialize(bytearray(module.serialize())).call(*arguments)
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=2e-6)
    print("StableHLO:", make.__name__, max(np.abs(np.asarray(a) - b).max() for a, b in zip(found, wanted)))


@pytest.mark.parametrize("name", LACKING)
def test_models_that_cannot_be_exported(name):
    with pytest.raises(tf.errors.UnimplementedError, match=LACKING[name]):
        exported(getattr(models, name))


def test_loops_whose_end_depends_on_data():
    @tf.function
    def halvings(x, limit):
        steps = tf.constant(0, tf.int64)
        while tf.reduce_max(x) > limit:
            x = x / 2.0
            steps += 1
        return x, steps

    module = stablehlo(halvings, tf.TensorSpec([3]), tf.TensorSpec([]))
    assert module.mlir_module().count("stablehlo.while") == 1
    for x, steps in (([8.0, 1.0, 0.0], 3), ([0.5, 0.25, 1.0], 0), ([1000.0, 3.0, 2.0], 10)):
        with jax.enable_x64(True):
            found = export.deserialize(bytearray(module.serialize())).call(np.float32(x), np.float32(1))
        assert np.asarray(found[1]) == steps
        np.testing.assert_array_equal(found[0], np.float32(x) / 2**steps)


def test_what_is_known_while_compiling_keeps_its_dtype():
    @tf.function
    def f(x):
        n = tf.cast(tf.shape(x)[0], tf.int64)
        return tf.range(n), tf.searchsorted(x, tf.range(n) * 2, "right")

    module = stablehlo(f, tf.TensorSpec([3], tf.int64))
    with jax.enable_x64(True):
        count, places = export.deserialize(bytearray(module.serialize())).call(np.int64([0, 3, 4]))
    assert count.dtype == np.int64
    np.testing.assert_array_equal(count, [0, 1, 2])
    np.testing.assert_array_equal(places, [1, 1, 3])
