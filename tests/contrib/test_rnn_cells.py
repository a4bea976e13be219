"""The cells of `tf.contrib.rnn`: shapes, variables, and results against NumPy."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import rnn

UNITS, DEPTH, BATCH = 4, 4, 3


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def inner():
    return tf.nn.rnn_cell.LSTMCell(UNITS)


CELLS = {
    "AttentionCellWrapper": lambda: rnn.AttentionCellWrapper(inner(), 2),
    "AttentionCellWrapper, one state": lambda: rnn.AttentionCellWrapper(
        tf.nn.rnn_cell.GRUCell(UNITS), 2, state_is_tuple=False
    ),
    "BidirectionalGridLSTMCell": lambda: rnn.BidirectionalGridLSTMCell(
        UNITS, use_peepholes=True, feature_size=2, frequency_skip=1, num_frequency_blocks=[3], backward_slice_offset=1
    ),
    "CFNCell": lambda: rnn.CFNCell(UNITS),
    "CompiledWrapper": lambda: rnn.CompiledWrapper(inner()),
    "CoupledInputForgetGateLSTMCell": lambda: rnn.CoupledInputForgetGateLSTMCell(UNITS, use_peepholes=True),
    "GLSTMCell": lambda: rnn.GLSTMCell(UNITS, number_of_groups=2, num_proj=2),
    "GridLSTMCell": lambda: rnn.GridLSTMCell(
        UNITS, use_peepholes=True, feature_size=2, frequency_skip=1, num_frequency_blocks=[3], num_unit_shards=2
    ),
    "GridLSTMCell, coupled, one state": lambda: rnn.GridLSTMCell(
        UNITS, feature_size=1, frequency_skip=1, num_frequency_blocks=[2, 1], start_freqindex_list=[0, 3],
        end_freqindex_list=[2, 4], couple_input_forget_gates=True, state_is_tuple=False,
    ),
    "HighwayWrapper": lambda: rnn.HighwayWrapper(inner(), couple_carry_transform_gates=False),
    "IndRNNCell": lambda: rnn.IndRNNCell(UNITS),
    "IndyGRUCell": lambda: rnn.IndyGRUCell(UNITS),
    "IndyLSTMCell": lambda: rnn.IndyLSTMCell(UNITS),
    "InputProjectionWrapper": lambda: rnn.InputProjectionWrapper(inner(), 7),
    "IntersectionRNNCell": lambda: rnn.IntersectionRNNCell(UNITS),
    "LayerNormBasicLSTMCell": lambda: rnn.LayerNormBasicLSTMCell(UNITS),
    "LayerNormLSTMCell": lambda: rnn.LayerNormLSTMCell(
        UNITS, use_peepholes=True, cell_clip=0.5, num_proj=2, proj_clip=0.2, layer_norm=True
    ),
    "MinimalRNNCell": lambda: rnn.MinimalRNNCell(UNITS),
    "NASCell": lambda: rnn.NASCell(UNITS, num_proj=2, use_bias=True),
    "OutputProjectionWrapper": lambda: rnn.OutputProjectionWrapper(inner(), 7),
    "SRUCell": lambda: rnn.SRUCell(UNITS),
    "TimeFreqLSTMCell": lambda: rnn.TimeFreqLSTMCell(UNITS, use_peepholes=True, feature_size=DEPTH),
    "UGRNNCell": lambda: rnn.UGRNNCell(UNITS),
    "WeightNormLSTMCell": lambda: rnn.WeightNormLSTMCell(UNITS, use_peepholes=True, num_proj=2),
}


def sizes(x):
    return tf.nest.map_structure(lambda t: t.shape.as_list()[1], x)


NAMES = [pytest.param(name, marks=pytest.mark.xla) if name == "CompiledWrapper" else name for name in CELLS]


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_gives_the_sizes_that_it_names_and_makes_its_variables_once(name):
    cell = CELLS[name]()
    state = cell.zero_state(BATCH, tf.float32)
    output, new = cell(tf.ones([BATCH, DEPTH]), state)
    assert sizes(output) == cell.output_size
    assert tf.nest.flatten(sizes(new)) == tf.nest.flatten(cell.state_size)
    made = {v.name for v in tf.global_variables()}
    cell(tf.ones([BATCH, DEPTH]), new)
    assert {v.name for v in tf.global_variables()} == made, "the second call shares the variables"
    CELLS[name]()(tf.ones([BATCH, DEPTH]), state)
    assert len(tf.global_variables()) == 2 * len(made), "another cell has variables of its own"


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_learns_over_a_sequence(name):
    rng = np.random.default_rng(0)
    outputs, _ = tf.nn.dynamic_rnn(
        CELLS[name](), tf.constant(rng.normal(size=(BATCH, 3, DEPTH)), tf.float32), [3, 2, 1], dtype=tf.float32
    )
    loss = tf.reduce_mean((outputs - 0.1) ** 2)
    variables = tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    unused = {v.name for v, gradient in zip(variables, gradients, strict=True) if gradient is None}
    # Normalization takes the bias of the gates away, which TensorFlow makes all the same.
    assert unused == ({"rnn/layer_norm_lstm_cell/bias:0"} if name == "LayerNormLSTMCell" else set())
    step = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before, found = session.run([loss, outputs])
        assert not found[2, 1:].any(), "past the end of a sequence outputs are zero"
        for _ in range(40):
            session.run(step)
        after = session.run(loss)
        assert after < 0.98 * before


def test_attention_reads_by_likeness_to_the_state():
    """A memory of one row is read whole, whatever the weights."""
    cell = rnn.AttentionCellWrapper(tf.nn.rnn_cell.GRUCell(2), 1)
    inside, read, kept = cell.zero_state(1, tf.float32)
    output, (_, read, kept) = cell(tf.ones([1, 2]), (inside, read, tf.constant([[5.0, 7.0]])))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        output, read, kept = session.run([output, read, kept])
    np.testing.assert_allclose(read, [[5.0, 7.0]], rtol=1e-6)
    np.testing.assert_array_equal(kept, output)
    with pytest.raises(ValueError, match="attn_length should be greater than zero"):
        rnn.AttentionCellWrapper(tf.nn.rnn_cell.GRUCell(2), 0)
    with pytest.raises(ValueError, match="state_is_tuple is not set"):
        rnn.AttentionCellWrapper(tf.nn.rnn_cell.LSTMCell(2), 1, state_is_tuple=False)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("space", [(5,), (4, 3), (3, 2, 2)])
@pytest.mark.parametrize("skip", [False, True])
def test_convolutional_lstm_of_filters_of_one_element_is_an_lstm_at_each_place(space, skip):
    rng = np.random.default_rng(1)
    cell_class = {1: rnn.Conv1DLSTMCell, 2: rnn.Conv2DLSTMCell, 3: rnn.Conv3DLSTMCell}[len(space)]
    cell = cell_class(input_shape=[*space, 2], output_channels=3, kernel_shape=[1] * len(space), skip_connection=skip)
    x, c, h = (rng.normal(size=(2, *space, n)).astype("f") for n in (2, 3, 3))
    output, state = cell(tf.constant(x), tf.nn.rnn_cell.LSTMStateTuple(tf.constant(c), tf.constant(h)))
    assert output.shape.as_list()[1:] == cell.output_size.as_list()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        output, state, weights = session.run([output, state, tf.global_variables()])
    gates = np.concatenate([x, h], -1) @ weights[0].reshape(5, 12) + weights[1]
    i, j, f, o = np.split(gates, 4, -1)
    want_c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
    want_h = sigmoid(o) * np.tanh(want_c)
    np.testing.assert_allclose(state.c, want_c, atol=1e-5)
    np.testing.assert_allclose(state.h, want_h, atol=1e-5)
    np.testing.assert_allclose(output, np.concatenate([want_h, x], -1) if skip else want_h, atol=1e-5)


def test_groups_of_an_lstm_do_not_see_one_another():
    cell = rnn.GLSTMCell(4, number_of_groups=2)
    x = tf.placeholder(tf.float32, [1, 6])
    output, _ = cell(x, cell.zero_state(1, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        one, other = (session.run(output, {x: [[1, 2, 3, a, a, a]]}) for a in (0, 9))
    np.testing.assert_array_equal(one[:, :2], other[:, :2])
    assert (one[:, 2:] != other[:, 2:]).all()
    with pytest.raises(ValueError, match="num_units must be divisible"):
        rnn.GLSTMCell(5, number_of_groups=2)


def test_phased_lstm_keeps_its_state_while_it_is_closed():
    cell = rnn.PhasedLSTMCell(2, leak=0.0, ratio_on=1e-6, period_init_min=10.0, period_init_max=20.0)
    state = tf.nn.rnn_cell.LSTMStateTuple(tf.fill([1, 2], 0.3), tf.fill([1, 2], 0.7))
    output, new = cell((tf.constant([[25.0]]), tf.ones([1, 3])), state)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        output, new = session.run([output, new])
    np.testing.assert_allclose(output, [[0.7, 0.7]], rtol=1e-5)
    np.testing.assert_allclose(new.c, [[0.3, 0.3]], rtol=1e-5)


def test_weights_of_a_normalized_lstm_have_columns_of_the_learned_lengths():
    cell = rnn.WeightNormLSTMCell(2, forget_bias=0.0)
    x = np.array([[1.0, -2.0, 0.5]], "f")
    output, _ = cell(tf.constant(x), cell.zero_state(1, tf.float32))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        output, values = session.run([output, {v.name.split("/")[-1]: v for v in tf.global_variables()}])
    rows = values["kernel:0"][:3]
    gates = x @ (rows / np.linalg.norm(rows, axis=0) * values["norm_0:0"]) + values["bias:0"]
    i, j, _, o = np.split(gates, 4, -1)
    np.testing.assert_allclose(output, sigmoid(o) * np.tanh(sigmoid(i) * np.tanh(j)), rtol=1e-5)


def test_a_fused_lstm_shares_the_variables_of_an_lstm_cell():
    x = tf.constant(np.random.default_rng(2).normal(size=(5, 3, 4)), tf.float32)
    lengths = tf.placeholder(tf.int64)  # of unknown rank
    with tf.variable_scope("one"):
        want, want_state = tf.nn.dynamic_rnn(
            tf.nn.rnn_cell.LSTMCell(2, use_peepholes=True), x, lengths, dtype=tf.float32, time_major=True
        )
    fused = rnn.LSTMBlockFusedCell(2, use_peephole=True, reuse=True)
    with tf.variable_scope("one", reuse=True):
        found, state = fused(x, dtype=tf.float32, sequence_length=lengths, scope="rnn/lstm_cell")
    assert len(tf.global_variables()) == 5
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = session.run([want, found, want_state, state], {lengths: [5, 2, 0]})
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(values[2], values[3])


def test_bidirectional_layers_take_lengths_of_unknown_rank():
    lengths = tf.placeholder(tf.int32)
    x = tf.constant(np.random.default_rng(3).normal(size=(2, 4, 3)), tf.float32)
    cells = [[tf.nn.rnn_cell.LSTMCell(2)], [tf.nn.rnn_cell.LSTMCell(2)]]
    outputs, *_ = rnn.stack_bidirectional_rnn(*cells, tf.unstack(x, axis=1), dtype=tf.float32, sequence_length=lengths)
    assert outputs[0].shape.as_list() == [2, 4]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(tf.stack(outputs, 1), {lengths: [4, 1]})
        assert not found[1, 1:].any()
        assert found[1, 0].all()
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(outputs, {lengths: [[4, 1]]})


def test_affine_maps_of_the_cells_module():
    from tapeflow.contrib.rnn.core_rnn_cell import _Linear, _linear

    x, y = tf.ones([2, 3]), 2 * tf.ones([2, 1])
    with tf.variable_scope("one"):
        made = _Linear([x, y], 4, True)
    with tf.variable_scope("one", reuse=True):
        again = _linear((x, y), 4, True, bias_initializer=1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, same, (kernel, bias) = session.run([made([x, y]), again, tf.global_variables()])
    np.testing.assert_allclose(found, np.array([[1, 1, 1, 2]] * 2) @ kernel + bias, rtol=1e-6)
    np.testing.assert_array_equal(found, same)
    with pytest.raises(ValueError, match="must be specified"):
        _linear([], 4, True)
