"""Recurrent layers: formulas, masks, states, directions, dropout, and the bad arguments."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release

layers = tf.keras.layers
rnn_cell = tf.compat.v1.nn.rnn_cell


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(x, kernel, recurrent, bias):
    h = c = np.zeros([len(x), recurrent.shape[0]])
    outputs = []
    for t in range(x.shape[1]):
        i, f, g, o = np.split(x[:, t] @ kernel + h @ recurrent + bias, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs, 1), h, c


def gru(x, kernel, recurrent, bias):
    h = np.zeros([len(x), recurrent.shape[0]])
    outputs = []
    for t in range(x.shape[1]):
        xz, xr, xh = np.split(x[:, t] @ kernel + bias[0], 3, axis=1)
        hz, hr, hh = np.split(h @ recurrent + bias[1], 3, axis=1)
        z, r = sigmoid(xz + hz), sigmoid(xr + hr)
        h = z * h + (1 - z) * np.tanh(xh + r * hh)
        outputs.append(h)
    return np.stack(outputs, 1), h


def simple(x, kernel, recurrent, bias):
    h = np.zeros([len(x), recurrent.shape[0]])
    outputs = []
    for t in range(x.shape[1]):
        h = np.tanh(x[:, t] @ kernel + h @ recurrent + bias)
        outputs.append(h)
    return np.stack(outputs, 1), h


FORMULAS = {"LSTM": lstm, "GRU": gru, "SimpleRNN": simple}


def with_weights(layer, x, rng):
    layer(x)
    layer.set_weights([0.5 * rng.normal(size=w.shape) for w in layer.get_weights()])
    return layer


@pytest.mark.parametrize("name", FORMULAS)
def test_formula(name, rng):
    x = rng.normal(size=(3, 6, 4)).astype(np.float32)
    layer = getattr(layers, name)(5, return_sequences=True, return_state=True)
    with_weights(layer, x, rng)
    for ours, expected in zip(layer(x), FORMULAS[name](x, *layer.get_weights()), strict=True):
        np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", FORMULAS)
def test_masked_steps_do_not_count(name, rng):
    x = rng.normal(size=(1, 5, 2)).astype(np.float32)
    layer = with_weights(getattr(layers, name)(3), x, rng)
    mask = np.array([[True, False, True, True, False]])
    np.testing.assert_allclose(layer(x, mask=mask), layer(x[:, mask[0]]), rtol=1e-5)


@pytest.mark.parametrize("name", FORMULAS)
def test_one_layer_in_all_ways_of_running(name, rng):
    x = rng.normal(size=(2, 5, 3)).astype(np.float32)
    make = getattr(layers, name)
    plain = with_weights(make(4, return_sequences=True), x, rng)
    expected = plain(x).numpy()
    cell = getattr(layers, f"{name}Cell")(4)
    for other in (
        make(4, return_sequences=True, unroll=True),
        layers.RNN(cell, return_sequences=True),
        layers.RNN([cell], return_sequences=True),
    ):
        other(x)
        other.set_weights(plain.get_weights())
        np.testing.assert_allclose(other(x), expected, rtol=1e-4, atol=1e-6)
    backwards = make(4, return_sequences=True, go_backwards=True)
    backwards(x)
    backwards.set_weights(plain.get_weights())
    np.testing.assert_allclose(backwards(x[:, ::-1].copy()), expected, rtol=1e-4, atol=1e-6)


def test_stateful_goes_on_where_it_ended(rng):
    x = rng.normal(size=(2, 6, 3)).astype(np.float32)
    whole = with_weights(layers.LSTM(4, return_sequences=True), x, rng)
    parts = layers.LSTM(4, return_sequences=True, stateful=True)
    parts(x[:, :3])
    parts.set_weights(whole.get_weights())
    parts.reset_states()
    halves = [parts(x[:, :3]).numpy(), parts(x[:, 3:]).numpy()]
    np.testing.assert_allclose(np.concatenate(halves, 1), whole(x), rtol=1e-4, atol=1e-6)
    assert len(parts.weights) == 3
    parts.reset_states(states=[np.ones([2, 4]), np.zeros([2, 4])])
    assert (parts.states[0].numpy() == 1).all()
    with pytest.raises(AttributeError, match="must be stateful"):
        whole.reset_states()
    with pytest.raises(ValueError, match="expects 2 states"):
        parts.reset_states(states=[np.ones([2, 4])])


def test_bidirectional_halves(rng):
    x = rng.normal(size=(2, 5, 3)).astype(np.float32)
    both = with_weights(layers.Bidirectional(layers.GRU(4, return_sequences=True)), x, rng)
    outputs = both(x).numpy()
    np.testing.assert_allclose(outputs[..., :4], both.forward_layer(x), rtol=1e-5)
    np.testing.assert_allclose(outputs[:, ::-1, 4:], both.backward_layer(x), rtol=1e-5)
    assert both.forward_layer.name.startswith("forward_")
    assert both.compute_output_shape((None, 5, 3)).as_list() == [None, 5, 8]


def test_dropout_is_the_same_at_every_step():
    x = tf.ones([1, 4, 50])
    layer = layers.SimpleRNN(
        50, dropout=0.5, kernel_initializer="identity", recurrent_initializer="zeros",
        activation=None, return_sequences=True,
    )  # fmt: skip
    outputs = layer(x, training=True).numpy()[0]
    assert (outputs == outputs[0]).all()
    assert 0 < (outputs[0] == 0).mean() < 1
    assert (layer(x).numpy() == 1).all()


def test_masks_travel_through_models():
    model = tf.keras.Sequential(
        [layers.Embedding(5, 3, mask_zero=True), layers.Dense(2), layers.LSTM(4)]
    )
    long, short = model(np.array([[1, 2, 0, 0]])), model(np.array([[1, 2]]))
    np.testing.assert_allclose(long, short, rtol=1e-5)
    inputs = tf.keras.Input((None, 2))
    hidden = layers.Masking(0.0)(inputs)
    functional = tf.keras.Model(inputs, layers.GRU(3)(layers.Dropout(0.5)(hidden)))
    x = np.array([[[1, 2], [0, 0], [3, 4], [0, 0]]], np.float32)
    np.testing.assert_allclose(functional(x), functional(x[:, ::2]), rtol=1e-5)


@pytest.mark.parametrize(("legacy", "both"), [(True, False), (False, True)], ids=["keras2", "keras3"])
def test_masks_of_merges(legacy, both):
    release.use_keras_2(legacy)
    try:
        _check_masks_of_merges(both)
    finally:
        release.use_keras_2(False)


def _check_masks_of_merges(both):
    masked = layers.Masking(7.0)
    a, b = masked(tf.constant([[[1.0], [7.0]]])), masked(tf.constant([[[7.0], [2.0]]]))
    assert layers.Add()([a, b])._keras_mask.numpy().tolist() == [[both, both]]
    assert layers.Concatenate()([a, b])._keras_mask.numpy().tolist() == [[both, both]]
    joined = layers.Concatenate(axis=1)([a, b])
    assert joined._keras_mask.numpy().tolist() == [[True, False, False, True]]
    assert not hasattr(layers.Flatten()(a), "_keras_mask")


def test_encoder_and_decoder_share_states(rng):
    source, target = tf.keras.Input((None, 3)), tf.keras.Input((None, 2))
    _, *states = layers.LSTM(4, return_state=True)(source)
    decoded = layers.LSTM(4, return_sequences=True)(target, initial_state=states)
    model = tf.keras.Model([source, target], layers.TimeDistributed(layers.Dense(1))(decoded))
    outputs = model([rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 7, 2))])
    assert outputs.shape == (2, 7, 1)
    model.compile("adam", "mse")
    loss = model.train_on_batch(
        [rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 7, 2))], np.zeros([2, 7, 1])
    )
    assert loss > 0


class MinimalCell(layers.Layer):
    """A cell as users write it, with a state given bare."""

    def __init__(self, units):
        super().__init__()
        self.units = self.state_size = units

    def build(self, shape):
        self.kernel = self.add_weight("kernel", [shape[-1], self.units])

    def call(self, inputs, states):
        output = tf.matmul(inputs, self.kernel) + states[0]
        return output, [output]


def test_own_cell(rng):
    x = rng.normal(size=(2, 4, 3)).astype(np.float32)
    layer = layers.RNN(MinimalCell(5))
    np.testing.assert_allclose(layer(x), x.sum(1) @ layer.get_weights()[0], rtol=1e-4, atol=1e-5)


WRONG = {
    "no cell": lambda: layers.RNN(3),
    "no layer": lambda: layers.Bidirectional(3),
    "no mode": lambda: layers.Bidirectional(layers.GRU(2), merge_mode="both"),
    "no units": lambda: layers.LSTM(0),
    "no steps": lambda: layers.LSTM(2)(tf.ones([2, 3])),
    "wrong features": lambda: built(layers.LSTM(2))(tf.ones([2, 3, 5])),
    "no batch": lambda: layers.LSTM(2, stateful=True).build(tf.TensorShape([None, 3, 4])),
    "states": lambda: layers.LSTM(2)(tf.ones([2, 3, 4]), initial_state=[tf.ones([2, 2])]),
}


def built(layer):
    layer(tf.ones([2, 3, 4]))
    return layer


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    with pytest.raises(ValueError):
        WRONG[name]()


def test_no_steps_give_zeros():
    assert layers.LSTM(3, return_sequences=True)(tf.ones([2, 0, 4])).shape == (2, 0, 3)
    assert (layers.LSTM(3)(tf.ones([2, 0, 4])).numpy() == 0).all()


CELLS = {
    "BasicRNNCell": lambda: rnn_cell.BasicRNNCell(3),
    "GRUCell": lambda: rnn_cell.GRUCell(3),
    "BasicLSTMCell": lambda: rnn_cell.BasicLSTMCell(3),
    "LSTMCell": lambda: rnn_cell.LSTMCell(
        3, use_peepholes=True, cell_clip=0.4, num_proj=2, proj_clip=0.2
    ),
    "flat state": lambda: rnn_cell.BasicLSTMCell(3, state_is_tuple=False),
    "MultiRNNCell": lambda: rnn_cell.MultiRNNCell([rnn_cell.GRUCell(2), rnn_cell.LSTMCell(3)]),
    "DropoutWrapper": lambda: rnn_cell.DropoutWrapper(rnn_cell.GRUCell(3)),
    "ResidualWrapper": lambda: rnn_cell.ResidualWrapper(rnn_cell.GRUCell(4)),
}


@pytest.mark.parametrize("name", CELLS)
def test_dynamic_and_static_rnn_agree(name, rng):
    nn = tf.compat.v1.nn
    x = rng.normal(size=(2, 5, 4)).astype(np.float32)
    cell, lengths = CELLS[name](), [3, 5]
    outputs, state = nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
    parts, other = nn.static_rnn(
        cell, [x[:, t] for t in range(5)], dtype=tf.float32, sequence_length=lengths
    )
    np.testing.assert_allclose(outputs, np.stack(parts, 1), rtol=1e-5)
    assert (outputs.numpy()[0, 3:] == 0).all()
    for a, b in zip(tf.nest.flatten(state), tf.nest.flatten(other), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)
    first, _ = nn.dynamic_rnn(cell, x[:1, :3], dtype=tf.float32)
    np.testing.assert_allclose(outputs[:1, :3], first, rtol=1e-4, atol=1e-6)


def test_raw_rnn_emits_what_the_loop_says(rng):
    x = rng.normal(size=(2, 4, 3)).astype(np.float32)
    cell = rnn_cell.GRUCell(2)

    def loop(time, output, state, loop_state):
        state = cell.zero_state(2, tf.float32) if output is None else state
        return time >= tf.constant([2, 4]), x[:, min(int(time), 3)], state, output, None

    arrays, _, loop_state = tf.compat.v1.nn.raw_rnn(cell, loop)
    expected, _ = tf.compat.v1.nn.dynamic_rnn(cell, x, [2, 4], dtype=tf.float32)
    np.testing.assert_allclose(arrays.stack(), np.swapaxes(expected.numpy(), 0, 1), rtol=1e-5)
    assert loop_state is None


def test_variable_scopes_say_how_cells_begin():
    v1 = tf.compat.v1
    with v1.variable_scope("outer", initializer=v1.constant_initializer(0.5)):
        cell = rnn_cell.BasicRNNCell(1)
        v1.nn.dynamic_rnn(cell, tf.ones([1, 2, 1]), dtype=tf.float32)
    assert [w.name for w in cell.weights] == [
        "outer/rnn/basic_rnn_cell/kernel:0",
        "outer/rnn/basic_rnn_cell/bias:0",
    ]
    assert (cell.weights[0].numpy() == 0.5).all()


def test_no_dtype_for_the_first_state():
    with pytest.raises(ValueError, match="you must give a dtype"):
        tf.compat.v1.nn.dynamic_rnn(rnn_cell.GRUCell(2), tf.ones([1, 2, 3]))
    with pytest.raises(TypeError, match="is not an RNNCell"):
        tf.compat.v1.nn.dynamic_rnn(3, tf.ones([1, 2, 3]), dtype=tf.float32)
