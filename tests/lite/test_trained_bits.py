"""Roundings to other numbers of bits than eight keep their ends and steps."""

import lite_running as lite
import numpy as np
import pytest

import tapeflow as tf
from tapeflow.lite import interface
from tapeflow.lite.lowering import ConverterError

for package in ("litert_converter", "ai_edge_litert", "ai_edge_quantizer"):
    pytest.importorskip(package)
pytestmark = pytest.mark.lite

DEFAULT = {tf.lite.Optimize.DEFAULT}
INT16 = [tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8]
rounded = tf.quantization.fake_quant_with_min_max_vars
X = np.random.default_rng(1).uniform(-8, 8, (3, 100)).astype(np.float32)
WEIGHTS = np.random.default_rng(2).normal(size=(100, 40)).astype(np.float32)
LIMITS = [(-1.0, 1.0), (0.0, 6.0), (-0.3, 2.1), (0.5, 4.0)]


def concrete(function):
    return tf.function(function).get_concrete_function(tf.TensorSpec([None, 100], name="x"))


def op_names(model):
    opened = interface.unpacked(model)
    return [interface.op_name(opened, op) for op in opened.subgraphs[0].operators]


@pytest.mark.parametrize("optimizations", [set(), DEFAULT], ids=["float", "quantized"])
@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("bits", range(2, 17))
def test_floats_are_rounded_alike(bits, narrow, optimizations):
    # Nothing here computes with integers, so that the rounding itself stays.
    for low, high in LIMITS:
        function = concrete(lambda x: rounded(tf.exp(x), low, high, bits, narrow))  # noqa: B023
        if bits > 8 and optimizations:
            with pytest.raises(ConverterError, match=f"to {bits} bits, which integers of 8 bits do not keep"):
                lite.converted(function, optimizations=optimizations)
            continue
        model = lite.converted(function, optimizations=optimizations)
        found, wanted = lite.run(model, [X])[0], lite.expected(function, [X])[0]
        np.testing.assert_allclose([found.min(), found.max()], [wanted.min(), wanted.max()], atol=1e-5)
        # A number between two steps may go to either.
        assert (np.abs(found - wanted) > 1e-5 * high).mean() < 0.02
        assert np.abs(found - wanted).max() < 1.01 * (high - low) / (2**bits - 1 - narrow)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("bits", [2, 4, 7, 8])
def test_layers_of_int8_keep_the_ends(bits, narrow):
    def layer(x):
        y = rounded(x, -4.0, 4.0, bits, narrow) @ rounded(tf.constant(WEIGHTS), -2.0, 2.0, bits, True)
        return rounded(y, -6.0, 9.0, bits, narrow)

    function = concrete(layer)
    model = lite.converted(function, optimizations=DEFAULT)
    assert not {"FAKE_QUANT", "MAXIMUM"} & set(op_names(model))
    assert "FULLY_CONNECTED" in op_names(model)
    found, wanted = lite.run(model, [X])[0], lite.expected(function, [X])[0]
    # int8 has the lowest level, too, that training with a narrow range had not.
    low, step = wanted.min() - narrow * 15 / (2**bits - 2), (wanted.max() - wanted.min()) / 255
    np.testing.assert_allclose([found.min(), found.max()], [low, wanted.max()], atol=1.01 * step)


def test_sixteen_bits_need_integers_of_sixteen():
    def layer(x):
        return rounded(rounded(x, -4.0, 4.0, 16) @ rounded(tf.constant(WEIGHTS), -2.0, 2.0, 8, True), -80.0, 80.0, 16)

    function = concrete(layer)
    with pytest.raises(ConverterError, match="to 16 bits, which integers of 8 bits do not keep"):
        lite.converted(function, optimizations=DEFAULT)
    model = lite.converted(function, optimizations=DEFAULT, ops=INT16)
    assert "FAKE_QUANT" not in op_names(model)
    np.testing.assert_allclose(lite.run(model, [X])[0], lite.expected(function, [X])[0], atol=0.02)


@pytest.mark.parametrize("bits", [4, 8])
def test_ranges_by_channel(bits):
    low, high = -np.linspace(0, 3, 100, dtype="f4"), np.linspace(0, 5, 100, dtype="f4")
    low[0], high[0] = -1, 1
    function = concrete(lambda x: tf.quantization.fake_quant_with_min_max_vars_per_channel(x, low, high, bits))
    np.testing.assert_allclose(lite.run(lite.converted(function), [X])[0], lite.expected(function, [X])[0], atol=1e-6)
