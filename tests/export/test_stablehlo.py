"""Functions as StableHLO: read again by `jax.export`, they give the same numbers."""

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
