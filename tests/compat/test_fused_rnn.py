"""`dynamic_rnn` runs the cells that one kernel knows as the loop over steps does."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import contrib
from tapeflow.v1.rnn import fused

v1 = tf.compat.v1
cells = v1.nn.rnn_cell
X = np.random.default_rng(2).normal(size=(3, 5, 4))
MADE = {
    "rnn": lambda: cells.BasicRNNCell(3),
    "gru": lambda: cells.GRUCell(3),
    "basic lstm": lambda: cells.BasicLSTMCell(3, forget_bias=0.5),
    "lstm": lambda: cells.LSTMCell(3),
    "lstm block": lambda: contrib.rnn.LSTMBlockCell(3),
    "gru block": lambda: contrib.rnn.GRUBlockCellV2(3),
}
OTHERS = {
    "peepholes": lambda: cells.LSTMCell(3, use_peepholes=True),
    "clipped": lambda: cells.LSTMCell(3, cell_clip=1.0),
    "projected": lambda: cells.LSTMCell(3, num_proj=2),
    "states in one": lambda: cells.BasicLSTMCell(3, state_is_tuple=False),
    "relu": lambda: cells.GRUCell(3, activation=tf.nn.relu),
    "wrapped": lambda: cells.DropoutWrapper(cells.GRUCell(3), 0.5),
    "stacked": lambda: cells.MultiRNNCell([cells.GRUCell(3), cells.GRUCell(3)]),
}


def run_in_graph(make, lengths, time_major, weights=None):
    """Outputs, state and gradients; names of the variables; types of the nodes."""
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = tf.constant(X.transpose(1, 0, 2) if time_major else X)
        found, state = v1.nn.dynamic_rnn(
            make(), x, lengths, dtype=tf.float64, time_major=time_major
        )
        variables = v1.trainable_variables()
        total = sum(tf.reduce_sum(tf.sin(y)) for y in [found, *tf.nest.flatten(state)])
        gradients = v1.gradients(total, [x, *variables])
        session.run(v1.global_variables_initializer())
        rng = np.random.default_rng(8)
        for v in variables:
            v.load(rng.normal(size=v.shape), session)
        values = session.run([found, *tf.nest.flatten(state), *gradients])
        return values, [v.name for v in variables], {op.type for op in graph.get_operations()}


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("lengths", [None, [5, 2, 0]])
@pytest.mark.parametrize("kind", MADE)
def test_graphs_give_what_the_loop_gives(kind, lengths, time_major, monkeypatch):
    one, names, types = run_in_graph(MADE[kind], lengths, time_major)
    assert "RecurrentSequence" in types
    assert "While" not in types
    monkeypatch.setattr(fused, "fits", lambda *_: False)
    two, same, types = run_in_graph(MADE[kind], lengths, time_major)
    assert "While" in types
    assert names == same
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", OTHERS)
def test_other_cells_go_by_steps(kind):
    assert "RecurrentSequence" not in run_in_graph(OTHERS[kind], None, False)[2]


@pytest.mark.parametrize("kind", MADE)
def test_eagerly(kind, monkeypatch):
    cell = MADE[kind]()
    one = tf.nest.flatten(v1.nn.dynamic_rnn(cell, tf.constant(X), [5, 2, 0], dtype=tf.float64))
    monkeypatch.setattr(fused, "fits", lambda *_: False)
    two = tf.nest.flatten(v1.nn.dynamic_rnn(cell, tf.constant(X), [5, 2, 0], dtype=tf.float64))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_fused_cell_of_contrib():
    with tf.Graph().as_default() as graph:
        outputs, state = contrib.rnn.LSTMBlockFusedCell(3)(
            tf.constant(X.transpose(1, 0, 2)), dtype=tf.float64, sequence_length=[3, 2, 5]
        )
        assert "RecurrentSequence" in {op.type for op in graph.get_operations()}
    assert outputs.shape == (5, 3, 3)
    assert state.h.shape == (3, 3)


def test_a_cell_that_is_only_called():
    class Cell:
        state_size = output_size = 2

        def __call__(self, inputs, state):
            return inputs + state, inputs + state

        def zero_state(self, batch_size, dtype):
            return tf.zeros([batch_size, 2], dtype)

    outputs, state = tf.compat.v1.nn.dynamic_rnn(Cell(), tf.ones([1, 3, 2]), dtype=tf.float32)
    np.testing.assert_array_equal(outputs, [[[1, 1], [2, 2], [3, 3]]])
    np.testing.assert_array_equal(state, [[3, 3]])


@pytest.mark.parametrize("cell", ["BasicRNNCell", "GRUCell", "BasicLSTMCell", "LSTMCell"])
def test_cells_refuse_integers(cell):
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        made = getattr(v1.nn.rnn_cell, cell)(2, dtype=tf.int32)
        with pytest.raises(ValueError, match=r"only supports floating point inputs, but saw dtype: .*int32"):
            v1.nn.dynamic_rnn(made, v1.placeholder(tf.int32, (3, 4, 5)), dtype=tf.int32)
