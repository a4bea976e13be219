"""cuDNN's recurrent networks: training, gradients, dropout, in graphs, compiled, beside the layers of Keras."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.recurrent.cudnn_rnn_samples import generated

MODES = ("lstm", "gru", "rnn_relu", "rnn_tanh")
v1 = tf.compat.v1


class Generator:
    def __init__(self):
        self.numbers = np.random.default_rng(5)

    def normal(self, *shape):
        return np.asarray(self.numbers.normal(size=shape))


def network(version, inputs, lengths=None, **attrs):
    """(output, output_h, output_c, ...) of one version of the op."""
    names = ("input", "input_h", "input_c", "params")
    given = dict(zip(names, inputs, strict=True), **attrs)
    if version == 3:
        batch = inputs[0].shape[1 if attrs.get("time_major", True) else 0]
        steps = inputs[0].shape[0 if attrs.get("time_major", True) else 1]
        given["sequence_lengths"] = [steps] * batch if lengths is None else lengths
    return getattr(tf.raw_ops, "CudnnRNN" + {1: "", 2: "V2", 3: "V3"}[version])(**given)


def loss(outputs, weights):
    return sum(tf.reduce_sum(y * w) for y, w in zip(outputs[:3], weights, strict=True))


CASES = [
    *((1 + i % 3, mode, {}, None) for i, mode in enumerate(MODES)),
    *((2 + i % 2, mode, {"layers": 2, "direction": "bidirectional"}, None) for i, mode in enumerate(MODES)),
    (3, "lstm", {"layers": 2, "direction": "bidirectional"}, [3, 1]),
    (3, "gru", {"direction": "bidirectional", "time_major": False}, [0, 2]),
    (3, "rnn_tanh", {"layers": 3, "time_major": False}, [3, 2]),
]


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize(("version", "mode", "shape", "lengths"), CASES)
def test_gradients_are_the_numeric_ones(version, mode, shape, lengths, dropout):
    rng = Generator()
    inputs = [tf.constant(x) for x in generated(rng, mode, **shape)]
    attrs = {key: shape[key] for key in ("direction", "time_major") if key in shape}
    attrs |= {"rnn_mode": mode, "dropout": dropout, "seed": 3, "seed2": 4}

    def run(values):
        tf.random.set_seed(1)  # the same places are dropped each time
        return network(version, values, lengths, **attrs)

    weights = [rng.normal(*y.shape) for y in run(inputs)[:3]]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        total = loss(run(inputs), weights)
    gradients = tape.gradient(total, inputs)
    for number, (x, got) in enumerate(zip(inputs, gradients, strict=True)):
        if mode != "lstm" and number == 2:
            continue  # only LSTMs read input_c
        direction, step = rng.normal(*x.shape), 1e-6
        ends = [
            float(loss(run([*inputs[:number], x + sign * step * direction, *inputs[number + 1 :]]), weights))
            for sign in (1, -1)
        ]
        want = (ends[0] - ends[1]) / (2 * step)
        assert float(tf.reduce_sum(got * direction)) == pytest.approx(want, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("version", [1, 2, 3])
def test_training_without_dropout_computes_what_inference_does(version, mode):
    inputs = generated(Generator(), mode, layers=2, direction="bidirectional")
    attrs = {"rnn_mode": mode, "direction": "bidirectional"}
    trained = network(version, inputs, **attrs)
    inferred = network(version, inputs, is_training=False, dropout=0.5, **attrs)
    for a, b in zip(trained[:3], inferred[:3], strict=True):
        np.testing.assert_array_equal(a, b)


def test_dropout_acts_between_layers_only():
    inputs = generated(Generator(), "rnn_relu", batch=400, units=5)
    one = network(2, inputs, rnn_mode="rnn_relu", dropout=0.5)
    np.testing.assert_array_equal(one[0], network(2, inputs, rnn_mode="rnn_relu")[0])
    inputs = generated(Generator(), "rnn_relu", layers=2, batch=400, units=5, steps=1)
    two = [network(2, inputs, rnn_mode="rnn_relu", dropout=d) for d in (0.0, 0.5, 1.0)]
    for each in two[1:]:  # the first layer's state is what it was
        np.testing.assert_array_equal(each.output_h[0], two[0].output_h[0])
    share = np.mean(np.asarray(two[1].reserve_space)[-2000:] == 0)
    assert 0.45 < share < 0.55
    assert np.abs(np.asarray(two[1].output) - two[0].output).max() > 0.1
    assert np.all(np.asarray(two[2].reserve_space)[-2000:] == 0)


def test_padding_is_zero_and_states_are_the_last_that_count():
    inputs = generated(Generator(), "lstm", steps=4, batch=2, direction="bidirectional")
    padded = network(3, inputs, [4, 2], direction="bidirectional")
    alone = network(
        3, [inputs[0][:2, 1:], inputs[1][:, 1:], inputs[2][:, 1:], inputs[3]], direction="bidirectional"
    )
    assert not np.any(np.asarray(padded.output)[2:, 1])
    np.testing.assert_allclose(padded.output[:2, 1:], alone.output)
    np.testing.assert_allclose(padded.output_h[:, 1:], alone.output_h)
    np.testing.assert_allclose(padded.output_c[:, 1:], alone.output_c)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "SimpleRNN"])
def test_is_the_layer_of_keras_with_these_weights(kind):
    x = np.random.default_rng(2).normal(size=(3, 5, 4)).astype(np.float32)
    layer = getattr(tf.keras.layers, kind)(
        6, return_sequences=True, bias_initializer="random_normal"
    )
    want = layer(x)
    kernel, recurrent, bias = (np.asarray(w) for w in layer.get_weights())
    gates = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}[kind]
    order = [1, 0, 2] if kind == "GRU" else list(range(gates))  # cuDNN's GRU: reset, update, candidate
    matrices = [np.split(w, gates, 1)[k].T for w in (kernel, recurrent) for k in order]
    biases = bias if kind == "GRU" else np.stack([bias, np.zeros_like(bias)])
    biases = [np.split(b, gates)[k] for b in biases for k in order]
    mode = {"LSTM": "lstm", "GRU": "gru", "SimpleRNN": "rnn_tanh"}[kind]
    count = {"num_params_weights": 2 * gates, "num_params_biases": 2 * gates}
    sizes = {"num_layers": 1, "num_units": 6, "input_size": 4, "rnn_mode": mode}
    params = tf.raw_ops.CudnnRNNCanonicalToParamsV2(weights=matrices, biases=biases, **sizes)
    assert params.shape == tf.raw_ops.CudnnRNNParamsSize(T=tf.float32, S=tf.int64, **sizes).numpy()
    state = np.zeros((3, 1, 6), np.float32)
    got = network(3, [x, state, state if kind == "LSTM" else np.float32(0), params], rnn_mode=mode,
                  time_major=False)  # fmt: skip
    np.testing.assert_allclose(got.output, want, atol=1e-5)
    back = tf.raw_ops.CudnnRNNParamsToCanonicalV2(params=params, **sizes, **count)
    for a, b in zip([*back.weights, *back.biases], [*matrices, *biases], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.xla)])
def test_function_computes_and_differentiates_as_eagerly(mode, compiled):
    if compiled:
        pytest.importorskip("jax")
    inputs = [
        tf.constant(x, tf.float32)
        for x in generated(Generator(), mode, layers=2, direction="bidirectional")
    ]

    def run(*inputs):
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = network(3, inputs, [3, 2], rnn_mode=mode, direction="bidirectional")
            total = tf.reduce_sum(tf.sin(y.output)) + tf.reduce_sum(y.output_h**2)
        return y.output, tape.gradient(total, [inputs[0], inputs[1], inputs[3]])

    for a, b in zip(
        tf.nest.flatten(tf.function(run, jit_compile=compiled)(*inputs)),
        tf.nest.flatten(run(*inputs)),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_graph_of_1_x_has_the_nodes_and_shapes_of_tensorflow():
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [3, None, 3])
        state = tf.zeros([1, 2, 2])
        y = network(3, [x, state, state, tf.ones([56])], [3, 3])
        gradient = v1.gradients(y.output, x)[0]
        assert gradient.op.type == "CudnnRNNBackpropV3"
        assert y.output.shape.as_list() == [3, None, 2]
        assert y.output_h.shape.as_list() == y.output_c.shape.as_list() == [1, 2, 2]
        found = session.run([y.output, gradient], {x: np.ones([3, 2, 3])})
        text = graph.as_graph_def().SerializeToString()
    again = v1.GraphDef.FromString(text)
    with tf.Graph().as_default(), v1.Session() as session:
        wanted = [y.output.name, gradient.name]
        read = tf.import_graph_def(again, return_elements=[x.name, *wanted], name="")
        for a, b in zip(session.run(read[1:], {read[0]: np.ones([3, 2, 3])}), found, strict=True):
            np.testing.assert_array_equal(a, b)


def test_only_training_has_gradients_and_only_of_first_order():
    inputs = [tf.constant(x) for x in generated(Generator(), "gru")]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = network(2, inputs, rnn_mode="gru", is_training=False)
    with pytest.raises(ValueError, match="is_training must be set to True"):
        tape.gradient(y.output, inputs)
    with tf.GradientTape() as outer:
        outer.watch(inputs)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = network(2, inputs, rnn_mode="gru")
        first = tape.gradient(y.output, inputs[0])
    with pytest.raises(LookupError, match="CudnnRNNBackpropV2"):
        outer.gradient(first, inputs[0])


@pytest.mark.parametrize("kind", [tf.float16, tf.bfloat16])
def test_halves_are_computed_in_single_precision(kind):
    inputs = [tf.cast(x, kind) for x in generated(Generator(), "lstm", steps=20)]
    got = network(2, inputs)
    want = network(2, [tf.cast(x, tf.float32) for x in inputs])
    assert got.output.dtype == kind
    np.testing.assert_array_equal(
        tf.cast(got.output, tf.float32), tf.cast(tf.cast(want.output, kind), tf.float32)
    )
