"""Models that were trained to be quantized keep the ranges of their training (`make test-lite`)."""

import importlib.util
import os
import subprocess
import sys

import lite_running as lite
import numpy as np
import pytest

import tapeflow as tf
from tapeflow.lite import interface

for package in ("litert_converter", "ai_edge_litert", "ai_edge_quantizer"):
    pytest.importorskip(package)
pytestmark = pytest.mark.lite

v1 = tf.compat.v1
DEFAULT = {tf.lite.Optimize.DEFAULT}
rounded = tf.quantization.fake_quant_with_min_max_vars
RNG = np.random.default_rng(0)
KERNEL = RNG.normal(size=(3, 3, 1, 4)).astype(np.float32)
WEIGHTS = RNG.normal(size=(4, 5)).astype(np.float32)
X = RNG.uniform(-1, 1, size=(2, 8, 8, 1)).astype(np.float32)


def network(x, low=-3.0, high=3.0, first=True):
    """A convolution and a product whose numbers are rounded; `first`: the inputs too."""
    x = rounded(x, -1.0, 1.0) if first else x
    y = tf.nn.conv2d(x, rounded(KERNEL, low, high, narrow_range=True), 1, "SAME") + np.float32([0.1, 0.2, 0.3, 0.4])
    y = tf.reduce_mean(rounded(tf.nn.relu6(y), 0.0, 6.0), [1, 2])
    return rounded(tf.matmul(y, rounded(WEIGHTS, low, high, narrow_range=True)), -6.0, 6.0)


def concrete(function, **settings):
    spec = tf.TensorSpec([None, 8, 8, 1], name="x")
    return tf.function(lambda x: function(x, **settings)).get_concrete_function(spec)


def graph_of(function, **settings):
    """A converter of 1.x for a graph of it."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [None, 8, 8, 1], name="x")
        y = function(x, **settings)
    with v1.Session(graph=graph) as session:
        return v1.lite.TFLiteConverter.from_session(session, [x], [y])


def operators(model):
    """Op names with the scales of their outputs, and the scales of weights by the op that uses them."""
    opened = interface.unpacked(model)
    (graph,) = opened.subgraphs
    made, weights = [], {}
    for each in graph.operators:
        name = interface.op_name(opened, each)
        scale = graph.tensors[each.outputs[0]].quantization
        made.append((name, None if scale is None or scale.scale is None else pytest.approx(scale.scale[0])))
        if name in ("CONV_2D", "FULLY_CONNECTED"):
            weights[name] = graph.tensors[each.inputs[1]].quantization.scale
    return made, weights


def test_ranges_become_the_parameters():
    # The scales are those that TensorFlow's converter gives this function.
    function = concrete(network)
    model = lite.converted(function, optimizations=DEFAULT)
    made, weights = operators(model)
    relu, sums = 6 / 255, 12 / 255
    assert made == [
        ("QUANTIZE", 2 / 255), ("CONV_2D", relu), ("MEAN", relu), ("FULLY_CONNECTED", sums), ("DEQUANTIZE", None),
    ]  # fmt: skip
    for scales in weights.values():
        np.testing.assert_allclose(scales, 6 / 254, rtol=1e-6)
    # One step of the last rounding, where a sum lies between two.
    np.testing.assert_allclose(lite.run(model, [X])[0], lite.expected(function, [X])[0], atol=1.01 * sums)


@pytest.mark.parametrize("kind", [tf.int8, tf.uint8, tf.int16], ids=lambda t: t.name)
def test_inputs_and_outputs_of_integers(kind):
    function = concrete(network)
    ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    model = lite.converted(
        function, optimizations=DEFAULT, inference_input_type=kind, inference_output_type=kind, ops=ops
    )
    assert not interface.float_operators(interface.unpacked(model))
    np.testing.assert_allclose(lite.run(model, [X])[0], lite.expected(function, [X])[0], atol=1.01 * 12 / 255)


def test_operations_without_ranges_stay_float():
    function = concrete(network, first=False)
    model = lite.converted(function, optimizations=DEFAULT)
    assert [name for name, _ in operators(model)[0]] == ["CONV_2D", "QUANTIZE", "MEAN", "FULLY_CONNECTED", "DEQUANTIZE"]
    np.testing.assert_allclose(lite.run(model, [X])[0], lite.expected(function, [X])[0], atol=1.01 * 12 / 255)
    with pytest.raises(ValueError, match=r"The range of 'serving_default_x:0' is not known"):
        lite.converted(function, optimizations=DEFAULT, inference_input_type=tf.int8)


def test_samples_give_the_ranges_that_training_did_not():
    function = concrete(network, first=False)
    model = lite.converted(
        function, optimizations=DEFAULT, representative_dataset=lambda: [[X]], inference_input_type=tf.int8
    )
    made, _ = operators(model)
    assert made == [("CONV_2D", 6 / 255), ("MEAN", 6 / 255), ("FULLY_CONNECTED", 12 / 255), ("DEQUANTIZE", None)]
    detail = tf.lite.Interpreter(model_content=model).get_input_details()[0]
    assert detail["quantization"][0] == pytest.approx((X.max() - X.min()) / 255, rel=1e-3)


def test_weights_beyond_what_symmetric_integers_say_have_scales_of_their_own():
    # There are 191 steps above zero, int8 has 127: TensorFlow's converter stores a zero point, which the kernels of
    # int8 do not read.
    function = concrete(network, low=-0.4, high=1.2)
    model = lite.converted(function, optimizations=DEFAULT)
    step = 1.6 / 254
    greatest = np.abs(np.clip(KERNEL, -0.4, 1.2)).max((0, 1, 2))
    assert (greatest > 127 * step).any()
    wanted = np.where(greatest > 127 * step, greatest / 127, step)
    np.testing.assert_allclose(operators(model)[1]["CONV_2D"], wanted, rtol=2e-2)
    np.testing.assert_allclose(lite.run(model, [X])[0], lite.expected(function, [X])[0], atol=2.01 * 12 / 255)


@pytest.mark.parametrize("kind", [tf.int8, tf.uint8], ids=lambda t: t.name)
def test_input_stats_of_graphs_of_1x(kind):
    converter = graph_of(network, first=False)
    converter.inference_type = kind
    mean = 128 if kind == tf.uint8 else 0
    converter.quantized_input_stats = {"x": (mean, 127.5)}
    model = converter.convert()
    detail = tf.lite.Interpreter(model_content=model).get_input_details()[0]
    assert detail["dtype"] == kind.as_numpy_dtype
    assert detail["quantization"] == (pytest.approx(1 / 127.5), mean)
    assert not interface.float_operators(interface.unpacked(model))
    np.testing.assert_allclose(lite.run(model, [X])[0], network(X).numpy(), atol=1.01 * 12 / 255)


def test_default_ranges_of_graphs_of_1x():
    converter = graph_of(lambda x: tf.reduce_mean(tf.nn.relu(tf.nn.conv2d(x, KERNEL, 1, "SAME")), [1, 2]))
    converter.inference_type = tf.int8
    converter.quantized_input_stats = {"x": (0.0, 127.5)}
    converter.default_ranges_stats = (0, 4)
    made, _ = operators(converter.convert())
    assert [name for name, _ in made] == ["CONV_2D", "MEAN"]
    assert made[0][1] == pytest.approx(4 / 255)


def test_what_converters_of_1x_need():
    converter = graph_of(network)
    converter.inference_type = tf.int8
    with pytest.raises(ValueError, match=r"Currently, `inference_type=tf.int8` and `inference_input_type=None`"):
        converter.convert()
    converter.quantized_input_stats = {"y": (0.0, 1.0)}
    with pytest.raises(ValueError, match=r"stats are not available for input tensors 'x'"):
        converter.convert()
    converter.inference_type = tf.int16
    with pytest.raises(ValueError, match="inference_type"):
        converter.convert()
    converter.inference_type = tf.float32
    converter.quantized_input_stats = {}
    model = converter.convert()  # rounds as the graph does
    np.testing.assert_allclose(lite.run(model, [X])[0], network(X).numpy(), atol=1.01 * 12 / 255)


def digits(count, test):
    (x, y), (test_x, test_y) = tf.keras.datasets.mnist.load_data()
    scaled = [np.float32(a[..., None]) / 255 for a in (x[:count], test_x[:test])]
    return scaled[0], y[:count].astype(np.int64), scaled[1], test_y[:test]


def reader(x, training):
    """Scores of digits: convolutions with batch normalization, and a layer of scores."""
    layers = tf.contrib.layers
    norm = {"is_training": training, "decay": 0.9, "center": True, "scale": True}
    y = layers.conv2d(x, 8, [3, 3], 2, normalizer_fn=layers.batch_norm, normalizer_params=norm, scope="one")
    y = layers.conv2d(y, 16, [3, 3], 2, normalizer_fn=layers.batch_norm, normalizer_params=norm, scope="two")
    return layers.fully_connected(layers.flatten(y), 10, activation_fn=None, scope="scores")


def test_digits_of_a_graph_that_was_trained_to_be_quantized(tmp_path):
    """The whole way of 1.x: training graph, checkpoint, evaluation graph, frozen graph, model of int8."""
    x, y, test_x, test_y = digits(4000, 1000)

    def trained(quantize, epochs=3):
        graph = tf.Graph()
        with graph.as_default(), v1.Session(graph=graph) as session:
            v1.set_random_seed(1)
            images, labels = v1.placeholder(tf.float32, [None, 28, 28, 1]), v1.placeholder(tf.int64, [None])
            loss = v1.losses.sparse_softmax_cross_entropy(labels, reader(images, True))
            if quantize:
                tf.contrib.quantize.create_training_graph(graph, quant_delay=60)
            with tf.control_dependencies(v1.get_collection(v1.GraphKeys.UPDATE_OPS)):
                step = v1.train.AdamOptimizer(3e-3).minimize(loss)
            session.run(v1.global_variables_initializer())
            for _ in range(epochs):
                for i in range(0, len(x), 50):
                    session.run(step, {images: x[i : i + 50], labels: y[i : i + 50]})
            return v1.train.Saver().save(session, str(tmp_path / f"model_{quantize}"))

    def evaluated(checkpoint, quantize):
        graph = tf.Graph()
        with graph.as_default(), v1.Session(graph=graph) as session:
            images = v1.placeholder(tf.float32, [None, 28, 28, 1], name="x")
            scores = reader(images, False)
            if quantize:
                tf.contrib.quantize.create_eval_graph(graph)
                scores = v1.get_default_graph().get_tensor_by_name("scores/act_quant/FakeQuantWithMinMaxVars:0")
            v1.train.Saver().restore(session, checkpoint)
            found = session.run(scores, {images: test_x})
            return found, v1.lite.TFLiteConverter.from_session(session, [images], [scores])

    def accuracy(scores):
        return np.mean(scores.argmax(1) == test_y)

    plain = accuracy(evaluated(trained(False), False)[0])
    scores, converter = evaluated(trained(True), True)
    converter.inference_type = tf.int8
    converter.quantized_input_stats = {"x": (-128, 255)}
    model = converter.convert()
    assert not interface.float_operators(interface.unpacked(model))
    integers = lite.run(model, [test_x])[0]
    print("digits", "float", plain, "rounded", accuracy(scores), "int8", accuracy(integers))
    assert plain > 0.9
    assert accuracy(integers) >= plain - 0.005
    # What it computes is what the graph that rounds computes: a few steps of the last rounding apart.
    step = tf.lite.Interpreter(model_content=model).get_output_details()[0]["quantization"][0]
    assert np.abs(integers - scores).max() < 6 * step
    assert np.mean(integers.argmax(1) == scores.argmax(1)) > 0.99


KERAS_PROGRAM = """
import sys
import numpy as np, tensorflow as tf, tf_keras as keras
import tensorflow_model_optimization as tfmot
from tapeflow.keras.datasets import mnist
from tapeflow.lite import interface

(x, y), (test_x, test_y) = mnist.load_data()
x, test_x = np.float32(x[:4000, ..., None]) / 255, np.float32(test_x[:1000, ..., None]) / 255
keras.utils.set_random_seed(1)
L = keras.layers
model = keras.Sequential([
    L.Conv2D(8, 3, strides=2, input_shape=(28, 28, 1)), L.BatchNormalization(momentum=0.9), L.ReLU(),
    L.Conv2D(16, 3, strides=2), L.BatchNormalization(momentum=0.9), L.ReLU(), L.Flatten(), L.Dense(10)])

def trained(model, rate, epochs):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(rate), loss, metrics=["accuracy"])
    model.fit(x, y[:4000], batch_size=50, epochs=epochs, verbose=0)
    return model.evaluate(test_x, test_y[:1000], verbose=0)[1]

plain = trained(model, 3e-3, 3)
aware = tfmot.quantization.keras.quantize_model(model)
rounded = trained(aware, 1e-3, 1)
converter = tf.lite.TFLiteConverter.from_keras_model(aware)
converter.optimizations = [tf.lite.Optimize.DEFAULT]
content = converter.convert()
assert not interface.float_operators(interface.unpacked(content))
runner = tf.lite.Interpreter(model_content=content).get_signature_runner()
(name,) = runner.get_input_details()
(scores,) = runner(**{name: test_x}).values()
print(plain, rounded, np.mean(scores.argmax(1) == test_y[:1000]))
"""


def test_digits_of_a_keras_model_that_was_trained_to_be_quantized():
    """`quantize_model` of tensorflow-model-optimization, on the package."""
    for library in ("tensorflow_model_optimization", "tf_keras"):  # which only that process can import
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "tapeflow.run", "-c", KERAS_PROGRAM], capture_output=True, text=True, check=False,
        env={**os.environ, "TF_USE_LEGACY_KERAS": "1"}, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plain, rounded, integers = map(float, done.stdout.split())
    print("digits", "float", plain, "rounded", rounded, "int8", integers)
    assert plain > 0.9
    assert integers >= plain - 0.005
    assert abs(integers - rounded) <= 0.005
