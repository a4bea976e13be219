"""Models of several kinds compute in TensorFlow Lite's runtime what they compute here (`make test-lite`)."""

import export_models as models
import lite_running as lite
import numpy as np
import pytest

import tapeflow as tf
from tapeflow.lite import interface

for package in ("litert_converter", "ai_edge_litert", "ai_edge_quantizer"):
    pytest.importorskip(package)
pytestmark = pytest.mark.lite

DEFAULT = {tf.lite.Optimize.DEFAULT}
QUANTIZED = [models.cnn, models.masked_lstm, models.transformer]


@pytest.mark.parametrize("make", models.MODELS, ids=lambda m: m.__name__)
def test_models_compute_the_same(make):
    function, arguments = make()
    found, wanted = lite.run(lite.converted(function), arguments), lite.expected(function, arguments)
    assert len(found) == len(wanted)
    for its, mine in zip(found, wanted, strict=True):
        assert its.shape == mine.shape
        assert its.dtype == mine.dtype
        np.testing.assert_allclose(its, mine, rtol=1e-5, atol=3e-6)
    print(make.__name__, "float", max(np.abs(a - b).max() for a, b in zip(found, wanted, strict=True)))


def scaled_error(model, function, arguments):
    """The largest difference, in parts of the largest result."""
    found, wanted = lite.run(model, arguments)[0], lite.expected(function, arguments)[0]
    assert found.shape == wanted.shape
    return np.abs(found - wanted).max() / np.abs(wanted).max()


def weights(model):
    """The dtypes of the constants of a model."""
    interpreter = tf.lite.Interpreter(model_content=model)
    interpreter.allocate_tensors()
    return {d["dtype"] for d in interpreter.get_tensor_details() if d["dtype"] in (np.int8, np.float16)}


@pytest.mark.parametrize("make", QUANTIZED, ids=lambda m: m.__name__)
def test_weights_of_float16(make):
    function, arguments = make()
    model = lite.converted(function, optimizations=DEFAULT, types=[tf.float16])
    assert weights(model) == {np.float16}
    error = scaled_error(model, function, arguments)
    assert error < 2e-3
    print(make.__name__, "float16", error)


def wide(make):
    """The model with layers large enough that their weights are worth to be quantized."""
    L = tf.keras.layers
    layers = {
        "cnn": [L.Input((12, 12, 3)), L.Conv2D(48, 3), L.BatchNormalization(), L.ReLU(), L.GlobalAveragePooling2D(),
                L.Dense(40), L.Dense(5)],
        "masked_lstm": [L.Input((6,), dtype="int32"), L.Embedding(10, 32, mask_zero=True), L.LSTM(32), L.Dense(3)],
    }  # fmt: skip
    tf.keras.utils.set_random_seed(3)
    if make == "transformer":
        x = given = L.Input((6, 48))
        x = L.LayerNormalization()(x + L.MultiHeadAttention(2, 24)(x, x))
        x = L.LayerNormalization()(x + L.Dense(48)(L.Dense(64, activation="gelu")(x)))
        model = tf.keras.Model(given, L.Dense(3)(x))
    else:
        model = tf.keras.Sequential(layers[make])
    rng = np.random.default_rng(5)
    for w in model.trainable_weights:  # as large as those of trained models
        w.assign(w + 0.15 * rng.normal(size=w.shape))
    shape = (4, *model.input_shape[1:])
    x = rng.integers(0, 10, shape).astype(np.int32) if make == "masked_lstm" else rng.normal(size=shape).astype("f4")
    spec = tf.TensorSpec([None, *shape[1:]], x.dtype, "x")
    return tf.function(lambda x: model(x, training=False)).get_concrete_function(spec), [x]


@pytest.mark.parametrize("name", ["cnn", "masked_lstm", "transformer"])
def test_weights_of_int8(name):
    function, arguments = wide(name)
    model = lite.converted(function, optimizations=DEFAULT)
    assert weights(model) == {np.int8}
    assert len(model) < 0.8 * len(lite.converted(function))
    error = scaled_error(model, function, arguments)
    assert error < 0.03
    print(name, "dynamic", error)


KINDS = [tf.float32, tf.int8, tf.uint8, tf.int16]


@pytest.mark.parametrize("kind", KINDS, ids=lambda t: t.name)
@pytest.mark.parametrize("name", ["cnn", "masked_lstm", "transformer"])
def test_activations_of_int8(name, kind):
    function, arguments = wide(name)
    model = lite.converted(
        function, optimizations=DEFAULT, representative_dataset=lambda: [arguments] * 3,
        inference_input_type=kind, inference_output_type=kind,
    )  # fmt: skip
    interpreter = tf.lite.Interpreter(model_content=model)
    inputs = np.int32 if name == "masked_lstm" else kind.as_numpy_dtype  # words are no numbers to be quantized
    assert [d["dtype"] for d in interpreter.get_input_details()] == [inputs]
    assert [d["dtype"] for d in interpreter.get_output_details()] == [kind.as_numpy_dtype]
    error = scaled_error(model, function, arguments)
    assert error < 0.08
    print(name, "int8", error)


@pytest.mark.parametrize("name", ["cnn", "masked_lstm", "transformer"])
def test_models_of_integers_only(name):
    function, arguments = wide(name)
    model = lite.converted(
        function, optimizations=DEFAULT, representative_dataset=lambda: [arguments] * 3,
        inference_input_type=tf.int8, inference_output_type=tf.int8, ops=[tf.lite.OpsSet.TFLITE_BUILTINS_INT8],
    )  # fmt: skip
    assert not interface.float_operators(interface.unpacked(model))
    assert scaled_error(model, function, arguments) < 0.08


def test_activations_of_int16():
    function, arguments = wide("cnn")
    ops = [tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8]
    model = lite.converted(
        function, optimizations=DEFAULT, representative_dataset=lambda: [arguments] * 3,
        inference_input_type=tf.int16, inference_output_type=tf.int16, ops=ops,
    )  # fmt: skip
    assert tf.lite.Interpreter(model_content=model).get_input_details()[0]["dtype"] == np.int16
    assert scaled_error(model, function, arguments) < 0.02


def test_digits_are_read_as_well():
    """The accuracy of quantized models is within 1 % of that of the float one."""
    (x, y), (test_x, test_y) = tf.keras.datasets.mnist.load_data()
    x, test_x = (a[..., None].astype(np.float32) / 255 for a in (x[:4000], test_x[:1000]))
    tf.keras.utils.set_random_seed(1)
    L = tf.keras.layers
    model = tf.keras.Sequential([
        L.Input((28, 28, 1)), L.Conv2D(8, 3, strides=2), L.BatchNormalization(), L.ReLU(), L.Conv2D(16, 3, strides=2),
        L.ReLU(), L.Flatten(), L.Dense(10),
    ])  # fmt: skip
    model.compile(tf.keras.optimizers.Adam(3e-3), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x, y[:4000], batch_size=64, epochs=3, verbose=0)

    def accuracy(**settings):
        converter = tf.lite.TFLiteConverter.from_keras_model(model)
        for name, value in settings.items():
            setattr(converter, name, value)
        return np.mean(lite.run(converter.convert(), [test_x])[0].argmax(1) == test_y[:1000])

    here = np.mean(model.predict(test_x, verbose=0).argmax(1) == test_y[:1000])
    assert here > 0.9
    assert accuracy() == here
    dynamic = accuracy(optimizations=DEFAULT)
    samples = {"representative_dataset": lambda: ([x[i : i + 1]] for i in range(100)), "optimizations": DEFAULT}
    integers = accuracy(**samples, inference_input_type=tf.int8, inference_output_type=tf.int8)
    print("digits", here, dynamic, integers)
    assert abs(dynamic - here) <= 0.01
    assert abs(integers - here) <= 0.01
