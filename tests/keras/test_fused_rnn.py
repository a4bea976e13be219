"""Layers that run a whole sequence in one kernel: as the loop over steps does it, wherever they may."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.keras.layers.rnn import fused

layers = tf.keras.layers
RNG = np.random.default_rng(3)
BATCH, STEPS, FEATURES, UNITS = 3, 5, 4, 3
X = RNG.normal(size=(BATCH, STEPS, FEATURES)).astype(np.float32)
# The first row begins with steps that do not count, the last has none that do.
MASK = np.array([[0, 1, 1, 0, 1], [1, 1, 1, 0, 0], [0, 0, 0, 0, 0]], bool)
INITIAL = RNG.normal(size=(BATCH, UNITS)).astype(np.float32)

MADE = {
    "lstm": lambda **k: layers.LSTM(UNITS, **k),
    "lstm without bias": lambda **k: layers.LSTM(UNITS, use_bias=False, **k),
    "gru": lambda **k: layers.GRU(UNITS, **k),
    "gru without bias": lambda **k: layers.GRU(UNITS, use_bias=False, **k),
    "gru reset before": lambda **k: layers.GRU(UNITS, reset_after=False, **k),
    "simple": lambda **k: layers.SimpleRNN(UNITS, **k),
    "simple relu": lambda **k: layers.SimpleRNN(UNITS, activation="relu", **k),
    "cudnn lstm": lambda **k: tf.compat.v1.keras.layers.CuDNNLSTM(UNITS, **k),
    "cudnn gru": lambda **k: tf.compat.v1.keras.layers.CuDNNGRU(UNITS, **k),
    "a cell": lambda **k: layers.RNN(layers.LSTMCell(UNITS), **k),
    "stacked": lambda **k: layers.RNN(
        [layers.GRUCell(2), layers.LSTMCell(UNITS), layers.SimpleRNNCell(UNITS)], **k
    ),
}
SETTINGS = {
    "last": {},
    "all": {"return_sequences": True},
    "states": {"return_sequences": True, "return_state": True},
    "backwards": {"go_backwards": True, "return_sequences": True},
    "time major": {"time_major": True, "return_sequences": True},
    "zeros": {"zero_output_for_mask": True, "return_sequences": True},
}


def flat(value):
    return [y.numpy() for y in tf.nest.flatten(value)]


@pytest.fixture
def count(monkeypatch):
    """How often the kernel was taken, and not."""
    seen = {True: 0, False: 0}
    run = fused.run

    def counting(*args):
        found = run(*args)
        seen[found is not None] += 1
        return found

    monkeypatch.setattr(fused, "run", counting)
    return seen


def results(layer, x, variables, **kwargs):
    """Outputs of a layer, and the gradients of a number made of them."""
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        outputs = layer(x, **kwargs)
        total = sum(
            tf.reduce_sum(tf.sin(y) * (k + 1)) for k, y in enumerate(tf.nest.flatten(outputs))
        )
    return flat([outputs, tape.gradient(total, [x, *variables(layer)])])


def both(layer, x, monkeypatch, **kwargs):
    def variables(layer):
        return layer.trainable_variables

    layer(x, **kwargs)
    for v in layer.trainable_variables:
        v.assign(RNG.normal(size=v.shape) * 0.7)
    one = results(layer, x, variables, **kwargs)
    graph = tf.function(layer)
    two = results(lambda *a, **k: graph(*a, **k), x, lambda _: layer.trainable_variables, **kwargs)
    monkeypatch.setattr(fused, "run", lambda *_: None)
    loop = results(layer, x, variables, **kwargs)
    for a, b, c in zip(one, two, loop, strict=True):
        np.testing.assert_allclose(a, c, rtol=1e-4, atol=2e-5)
        np.testing.assert_allclose(b, c, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", MADE)
def test_kernel_gives_what_the_loop_gives(kind, masked, setting, count, monkeypatch):
    if "cudnn" in kind and setting in ("zeros", "time major"):
        pytest.skip("has no such argument")
    settings = dict(SETTINGS[setting])
    if setting == "zeros" and kind != "a cell":
        settings.pop("zero_output_for_mask")
    layer = MADE[kind](**settings)
    if setting == "zeros":
        layer.zero_output_for_mask = True
    major = setting == "time major"
    x = X.transpose(1, 0, 2) if major else X
    mask = tf.constant(MASK.T if major else MASK) if masked else None
    both(layer, x, monkeypatch, mask=mask)
    assert count[True]
    assert not count[False]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("kind", ["lstm", "gru", "simple"])
def test_initial_states(kind, masked, count, monkeypatch):
    states = [tf.constant(INITIAL), tf.constant(-INITIAL)][: 2 if kind == "lstm" else 1]
    mask = tf.constant(MASK) if masked else None
    both(
        MADE[kind](return_sequences=True, return_state=True),
        X,
        monkeypatch,
        mask=mask,
        initial_state=states,
    )
    assert count[True]
    assert not count[False]


@pytest.mark.parametrize("kind", ["lstm", "gru", "simple"])
def test_stateful_layers_go_on(kind, count):
    layer = MADE[kind](stateful=True)
    whole = MADE[kind]()
    layer.build(X.shape)
    whole.build(X.shape)
    whole.set_weights(layer.get_weights())
    layer(X[:, :2])
    np.testing.assert_allclose(layer(X[:, 2:]), whole(X), rtol=1e-5, atol=1e-6)
    layer.reset_states()
    np.testing.assert_allclose(layer(X), whole(X), rtol=1e-5, atol=1e-6)
    assert not count[False]


def test_bidirectional_and_embedded_masks(count, monkeypatch):
    model = tf.keras.Sequential(
        [
            layers.Embedding(9, 4, mask_zero=True),
            layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
            layers.Bidirectional(layers.GRU(2)),
        ]
    )
    tokens = np.array([[1, 2, 0, 0], [3, 4, 5, 6], [0, 7, 0, 8]])
    one = model(tokens).numpy()
    assert count[True]
    assert not count[False]
    monkeypatch.setattr(fused, "run", lambda *_: None)
    np.testing.assert_allclose(one, model(tokens), rtol=1e-5, atol=1e-6)


def test_double_precision(count):
    layer = layers.LSTM(3, dtype="float64")
    assert layer(X.astype(np.float64)).dtype == tf.float64
    assert count == {True: 1, False: 0}


def test_dropout_of_inputs(count):
    layer = layers.LSTM(3, dropout=0.5)
    assert not np.allclose(layer(X, training=True), layer(X, training=False))
    assert count == {True: 2, False: 0}


class Own(layers.LSTMCell):
    def call(self, inputs, states, training=None):
        output, states = super().call(inputs, states, training)
        return output * 2, states


@pytest.mark.parametrize(
    "make",
    [
        lambda: layers.LSTM(3, activation="relu"),
        lambda: layers.GRU(3, recurrent_activation="hard_sigmoid"),
        lambda: layers.LSTM(3, unroll=True),
        lambda: layers.LSTM(3, recurrent_dropout=0.5),
        lambda: layers.SimpleRNN(3, activation="sigmoid"),
        lambda: layers.GRU(3, dtype="mixed_float16"),
        lambda: layers.RNN(Own(3)),
        lambda: layers.RNN([layers.GRUCell(3), Own(3)]),
    ],
)
def test_what_the_kernel_does_not_know_goes_by_steps(make, count):
    make()(X, training=True)
    assert count == {True: 0, False: 1}


def test_one_node_in_a_graph():
    layer = layers.LSTM(3)
    f = tf.function(layer, input_signature=[tf.TensorSpec([None, None, 4])])
    types = [op.type for op in f.get_concrete_function().graph.operations]
    assert types.count("RecurrentSequence") == 1
    assert "While" not in types
    np.testing.assert_allclose(f(X), layer(X), rtol=1e-5, atol=1e-6)


def test_fit_learns():
    model = tf.keras.Sequential([layers.LSTM(8), layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(0.02), "mse")
    x = RNG.normal(size=(64, 6, 2)).astype(np.float32)
    y = x.sum((1, 2))[:, None] / 4
    history = model.fit(x, y, epochs=8, verbose=0).history["loss"]
    assert history[-1] < 0.5 * history[0]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"strides": 2, "padding": "same"},
        {"go_backwards": True},
        {"use_bias": False, "dilation_rate": 2},
        {"data_format": "channels_first"},
    ],
)
def test_images_of_all_steps_go_through_one_convolution(settings, monkeypatch):
    layer = layers.ConvLSTM2D(2, 2, return_sequences=True, **settings)
    x = RNG.normal(size=(2, 3, 5, 6, 5)).astype(np.float32)
    layer(x)

    def variables(_):
        return layer.trainable_variables

    one = results(layer, x, variables)
    two = results(
        tf.function(layer, input_signature=[tf.TensorSpec([None, None, 5, 6, 5])]), x, variables
    )
    owner = next(c for c in type(layer).__mro__ if "_step_function" in vars(c))
    monkeypatch.setattr(owner, "_step_function", layers.RNN._step_function)
    loop = results(layer, x, variables)
    for a, b, c in zip(one, two, loop, strict=True):
        np.testing.assert_allclose(a, c, rtol=1e-4, atol=2e-5)
        np.testing.assert_allclose(b, c, rtol=1e-4, atol=2e-5)
