"""States that recurrent layers and cells begin with, asked for by the size of a batch."""

import numpy as np
import pytest

import tapeflow as tf

layers = tf.keras.layers


@pytest.mark.parametrize(
    ("layer", "shapes"),
    [(layers.SimpleRNN(3), [(2, 3)]), (layers.GRU(3), [(2, 3)]), (layers.LSTM(3), [(2, 3)] * 2)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_states_of_zeros(layer, shapes):
    assert [tuple(state.shape) for state in layer.get_initial_state(batch_size=2)] == shapes
    assert [tuple(state.shape) for state in layer.cell.get_initial_state(2)] == shapes
    assert [tuple(state.shape) for state in layer.get_initial_state(tf.zeros([2, 5, 4]))] == shapes


def test_states_of_images_are_known_once_the_layer_is_built():
    layer = layers.ConvLSTM2D(2, 3, padding="same")
    layer.build((None, 4, 5, 5, 1))
    assert [tuple(state.shape) for state in layer.get_initial_state(3)] == [(3, 5, 5, 2)] * 2


class Own(layers.Layer):
    """A cell of a program, whose states are asked for by the size alone."""

    def __init__(self):
        super().__init__()
        self.state_size = 2

    def call(self, x, states):
        return states[0] + x, [states[0] + x]

    def get_initial_state(self, batch_size=None):
        return [tf.fill([batch_size, self.state_size], 0.5)]


def test_cells_of_programs_take_the_size_alone():
    outputs = layers.RNN([Own(), Own()])(tf.ones([3, 1, 2]))
    np.testing.assert_allclose(outputs, np.full((3, 2), 2.0))


def test_layers_of_programs_are_asked_by_size_or_by_inputs():
    class BySize(layers.SimpleRNN):
        def get_initial_state(self, batch_size):
            return [tf.ones([batch_size, 2])]

    class ByInputs(layers.SimpleRNN):
        def get_initial_state(self, inputs):
            return [tf.ones([inputs.shape[0], 2])]

    found = []
    for kind in (BySize, ByInputs):
        layer = kind(2, kernel_initializer="zeros", recurrent_initializer="identity", activation=None)
        found.append(layer(tf.zeros([3, 4, 1])).numpy())
    np.testing.assert_array_equal(found, np.ones((2, 3, 2)))
