"""Layers of integers of eight bits and what follows them: beside floats, and beside TensorFlow (oracle)."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf

PROGRAM = pathlib.Path(__file__).with_name("quantized_layers.py")
LOW, HIGH, GREATEST = -1.5, 3.6, 0.75  # the range of the left side, and the ends of that of the right one


def floats(a, b, mode):
    """The numbers that the integers of a product stand for."""
    left = a * (HIGH - LOW) / 255 + LOW if mode == "MIN_FIRST" else a * HIGH / 255
    return left, b * GREATEST / 127


@pytest.mark.parametrize("mode", ["MIN_FIRST", "SCALED"])
def test_products_stand_for_those_of_floats(rng, mode):
    a, b, bias = rng.integers(0, 256, (4, 6)), rng.integers(-127, 128, (6, 3)), rng.normal(0, 2, 3).astype(np.float32)
    left, right = floats(a, b, mode)
    want = left @ right + bias
    given = {
        "a": tf.constant(a, tf.quint8), "b": tf.constant(b, tf.qint8), "bias": bias, "min_a": LOW, "max_a": HIGH,
        "min_b": -GREATEST, "max_b": GREATEST, "input_quant_mode": mode,
    }  # fmt: skip
    fixed = {"min_freezed_output": 0.0, "max_freezed_output": 8.0}
    found = tf.raw_ops.QuantizedMatMulWithBiasAndDequantize(**given, **fixed, Toutput=tf.float32)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)
    found = tf.raw_ops.QuantizedMatMulWithBiasAndReluAndRequantize(**given, **fixed)
    np.testing.assert_allclose(tf.cast(found.out, tf.float32) * (8 / 255), np.clip(want, 0, 8), atol=4.1 / 255)
    found = tf.raw_ops.QuantizedMatMulWithBias(**given)
    step = (HIGH - LOW if mode == "MIN_FIRST" else HIGH) / 255 * GREATEST / 127
    np.testing.assert_allclose(tf.cast(found.out, tf.float32) * step, want, atol=step)


def test_a_filter_has_a_range_for_each_channel(rng):
    x, w = rng.integers(0, 256, (1, 4, 5, 2)), rng.integers(-127, 128, (2, 2, 2, 3))
    reach = np.float32([0.5, 1, 2])
    found = tf.raw_ops.QuantizedConv2DWithBiasAndReluAndRequantize(
        input=tf.constant(x, tf.quint8), filter=tf.constant(w, tf.qint8), bias=[1.0, -2.0, 3.0], min_input=0.0,
        max_input=5.0, min_filter=-reach, max_filter=reach, min_freezed_output=0.0, max_freezed_output=20.0,
        strides=[1, 1, 1, 1], padding="SAME",
    )  # fmt: skip
    image, kernel = np.float32(x * 5 / 255), np.float32(w * reach / 127)
    want = tf.nn.conv2d(image, kernel, 1, "SAME") + [1.0, -2.0, 3.0]
    np.testing.assert_allclose(tf.cast(found.output, tf.float32) * (20 / 255), np.clip(want, 0, 20), atol=10.1 / 255)


def test_shapes_of_ranges_in_graphs():
    @tf.function
    def f(x, w, low):
        found = tf.raw_ops.QuantizedConv2DPerChannel(
            input=x, filter=w, min_input=0.0, max_input=1.0, min_filter=low, max_filter=-low, strides=[1, 1, 1, 1],
            padding="VALID",
        )  # fmt: skip
        assert [y.shape.as_list() for y in found] == [[None, 4, 4, 3], [3], [3]]
        return found

    f.get_concrete_function(
        tf.TensorSpec([None, 5, 5, 2], tf.quint8), tf.TensorSpec([2, 2, 2, 3], tf.qint8), tf.TensorSpec([3])
    )


def answers(python, package, path):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    subprocess.run([python, str(PROGRAM), package, str(path)], check=True, env=environment, timeout=600)
    return json.loads(path.read_text())


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_results_are_those_of_tensorflow(tmp_path):
    """Its kernels are those of oneDNN. The two ways of a float into 32 bits differ by one where it is nearly half."""
    theirs = answers(os.environ["TF_PYTHON"], "tensorflow", tmp_path / "theirs.json")
    ours = answers(sys.executable, "tapeflow", tmp_path / "ours.json")
    assert len({name for name, _ in theirs}) == 25
    for (name, found), (also, wanted) in zip(ours, theirs, strict=True):
        assert name == also
        assert not isinstance(wanted, str), wanted
        wide = len(wanted) > 1 and "Requantize" not in name
        for at, (x, y) in enumerate(zip(found, wanted, strict=True)):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1 if wide and at == 0 else 1e-5, err_msg=name)


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_every_op_of_tensorflow_on_quantized_numbers_is_a_row():
    program = (
        "import tensorflow as tf; from tensorflow.python.framework import kernels as k; "
        "print(*(n for n in dir(tf.raw_ops) if 'quantiz' in n.lower() and k.get_registered_kernels_for_op(n).kernel))"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [os.environ["TF_PYTHON"], "-c", program]
    done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True, timeout=600)
    names = done.stdout.split()
    assert len(names) > 50
    assert [name for name in names if not hasattr(tf.raw_ops, name)] == []
