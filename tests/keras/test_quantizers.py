"""Weights of 8 bits: quantizers, layers and models that use them, alone and against Keras 3."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras
RNG = np.random.RandomState(0)


def answers(python, package, folder):
    """What `oracle_quantize.py` says of a package."""
    program = pathlib.Path(__file__).with_name("oracle_quantize.py")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_USE_LEGACY_KERAS": "0"}
    if package != "tapeflow":
        environment.pop("PYTHONPATH", None)
    file = folder / f"{package}.json"
    subprocess.run([python, str(program), package, str(file)], check=True, env=environment, timeout=900)
    return json.loads(file.read_text())


@pytest.mark.oracle
@pytest.mark.skipif("TF_PYTHON" not in os.environ, reason="TF_PYTHON names no Python")
def test_quantized_models_are_those_of_keras(tmp_path):
    theirs = answers(os.environ["TF_PYTHON"], "tensorflow", tmp_path)
    ours = answers(sys.executable, "tapeflow", tmp_path)
    for name, answer in theirs.items():
        assert ours[name]["policies"] == answer["policies"]
        assert [w[:2] for w in ours[name]["weights"]] == [w[:2] for w in answer["weights"]]
        for mine, other in zip(ours[name]["weights"], answer["weights"], strict=True):
            np.testing.assert_allclose(mine[2], other[2], rtol=1e-5)
        for what in ("before", "after", "gradient"):
            if answer[what] is not None:
                np.testing.assert_allclose(ours[name][what], answer[what], rtol=1e-4, atol=1e-5)


LAYERS = [
    (lambda: keras.layers.Dense(3), (4, 6)),
    (lambda: keras.layers.EinsumDense("...x,xy->...y", 4, bias_axes="y"), (2, 3, 6)),
    (lambda: keras.layers.EinsumDense("x...,xy->y...", (4, None)), (2, 3)),
    (lambda: keras.layers.EinsumDense("abc,cde->abde", (None, 2, 3), bias_axes="de"), (2, 3, 4)),
    (lambda: keras.layers.Embedding(7, 3), (2, 4)),
]


MODES = {
    "int8": ({"mode": "int8"}, 0.05, "int8"),
    "int4": ({"mode": "int4"}, 0.5, "int4/128"),
    "int4 of small groups": ({"config": keras.quantizers.Int4QuantizationConfig(block_size=2)}, 1.0, "int4/2"),
    "int4 of one group": ({"config": keras.quantizers.Int4QuantizationConfig(block_size=None)}, 0.5, "int4/-1"),
}


@pytest.mark.parametrize("way", MODES)
@pytest.mark.parametrize(("make", "shape"), LAYERS)
def test_quantized_layers_stay_near_and_can_be_saved(make, shape, way, tmp_path):
    arguments, near, policy = MODES[way]
    layer = make()
    model = keras.Sequential([layer])
    x = RNG.normal(size=shape).astype("float32")
    if isinstance(layer, keras.layers.Embedding):
        x = RNG.randint(0, 7, shape)
    model(x)
    before = model(x).numpy()
    model.quantize(**arguments)
    after = model(x).numpy()
    assert before.shape == after.shape
    assert 0 < np.abs(before - after).max() < near * np.abs(before).max()
    assert sorted({w.dtype.name for w in layer.weights}) == ["float32", "int8"]
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.layers[0].dtype_policy.name == f"{policy}_from_float32"
    np.testing.assert_array_equal(loaded(x), after)


def test_layers_that_cannot_be_quantized_say_so():
    dense = keras.layers.Dense(2)
    with pytest.raises(ValueError, match="isn't yet built"):
        dense.quantize("int8")
    dense.build((None, 3))
    with pytest.raises(ValueError, match="Invalid quantization mode"):
        dense.quantize("int3")
    with pytest.raises(NotImplementedError, match="gptq"):
        dense.quantize("gptq")
    assert dense.quantization_mode is None
    dense = keras.layers.Dense(2)
    dense.build((None, 3))
    dense.quantize("int8")
    with pytest.raises(ValueError, match="already quantized"):
        dense.quantize("int8")
    with pytest.raises(NotImplementedError, match="does not have a `quantize` method"):
        keras.layers.Conv2D(1, 2).quantize("int8")


def test_models_quantize_the_chosen_layers():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4, name="a"), keras.layers.Dense(2, name="b")])
    model.predict(np.ones((1, 3)), verbose=0)
    before = model.predict(np.ones((1, 3)), verbose=0)
    model.quantize("int8", filters="b")
    assert [layer.quantization_mode for layer in model.layers] == [None, "int8"]
    assert (model.predict(np.ones((1, 3)), verbose=0) != before).any()


def test_models_name_the_layers_that_stay():
    model = keras.Sequential([keras.Input((5, 1)), keras.layers.Conv1D(1, 2), keras.layers.Dense(2)])
    with pytest.warns(UserWarning, match="Conv1D does not have"):
        model.quantize("int8")


def test_regularizers_of_quantized_weights_end():
    layer = keras.layers.Dense(2, kernel_regularizer="l2", bias_regularizer="l2")
    layer(np.ones((1, 3)))
    assert len(layer.losses) == 2
    layer.quantize("int8")
    assert [float(loss) for loss in layer.losses] == [0.0]


def test_inputs_may_stay_floats():
    layer = keras.layers.Dense(2)
    x = RNG.normal(size=(4, 3)).astype("float32")
    layer(x)
    layer.quantize("int8", config=keras.quantizers.Int8QuantizationConfig(activation_quantizer=None))
    kernel, scale = np.asarray(layer.kernel, "float32"), np.asarray(layer._scales)
    np.testing.assert_allclose(layer(x), x @ kernel / scale, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_integers_of_4_bits_are_packed(dtype, axis):
    low = -8 if dtype == "int8" else 0
    x = np.arange(low, low + 15).astype(dtype).reshape(5, 3)
    packed, shape, size = keras.quantizers.pack_int4(x, axis, dtype)
    assert packed.shape == shape
    assert packed.shape[axis] == -(-size // 2)
    np.testing.assert_array_equal(keras.quantizers.unpack_int4(packed, size, axis, dtype), x)


def test_configs_of_4_bits():
    config = keras.quantizers.Int4QuantizationConfig
    quantizer = keras.quantizers.AbsMaxQuantizer(axis=0, value_range=(-8, 7))
    again = config.from_config(config(quantizer, block_size=-1).get_config())
    assert again.weight_quantizer.value_range == (-8, 7)
    assert again.block_size == -1
    assert config.from_config({}).block_size is None
    for wrong in ({"block_size": 0}, {"weight_quantizer": quantizer},
                  {"weight_quantizer": keras.quantizers.AbsMaxQuantizer(axis=0), "block_size": None}):  # fmt: skip
        with pytest.raises(ValueError, match=r"block_size|value_range"):
            config(**wrong)
    for name in ("int4", "int4/", "int4/a", "int4/0", "int8/4"):
        with pytest.raises(ValueError, match="Invalid"):
            keras.dtype_policies.Int4DTypePolicy(name, "float32")


def test_quantizers_by_config():
    quantizer = keras.quantizers.AbsMaxQuantizer(axis=-1, value_range=(-7, 7))
    again = keras.quantizers.deserialize(keras.quantizers.serialize(quantizer))
    x = RNG.normal(size=(2, 5)).astype("float32")
    for mine, other in zip(quantizer(x), again(x), strict=True):
        np.testing.assert_array_equal(mine, other)
    assert keras.quantizers.get("abs_max_quantizer").axis is None
    assert np.abs(quantizer(x)[0]).max() == 7


def test_fake_quantization_is_that_of_tensorflow_ops():
    x = RNG.normal(size=(4, 3)).astype("float32") * 3
    for narrow in (False, True):
        np.testing.assert_allclose(
            keras.quantizers.fake_quant_with_min_max_vars(x, -2.0, 3.0, 8, narrow),
            tf.quantization.fake_quant_with_min_max_vars(x, -2.0, 3.0, 8, narrow), rtol=1e-5, atol=1e-6,
        )  # fmt: skip
    low, high = np.array([-1.0, -2, -3], "float32"), np.array([1.0, 2, 4], "float32")
    np.testing.assert_allclose(
        keras.quantizers.fake_quant_with_min_max_vars(x, low, high, axis=1),
        tf.quantization.fake_quant_with_min_max_vars_per_channel(x, low, high), rtol=1e-5, atol=1e-6,
    )  # fmt: skip
