"""HParams, optimizers of contrib, cells, sequences, callbacks."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow import contrib
from tapeflow.contrib import eager as tfe


def test_hparams():
    h = contrib.training.HParams(rate=0.1, units=[32, 64], name="net", fast=True)
    h.parse("rate=2,units=[1,7],fast=false")
    assert h.values() == {"rate": 2.0, "units": [1, 7], "name": "net", "fast": False}
    h.parse("units[0]=9")
    assert h.units == [9, 7]
    assert contrib.training.HParams(a=1).parse_json('{"a": 3}').a == 3
    assert "rate" in h
    assert h.get("none", 5) == 5


@pytest.mark.parametrize("text", ["rate=x", "other=1", "name=[a]", "rate=1,rate=2", "units=3", "=3"])
def test_hparams_refuse(text):
    with pytest.raises(ValueError):
        contrib.training.HParams(rate=0.1, units=[32, 64], name="net").parse(text)


@pytest.mark.parametrize(
    "make",
    [
        lambda: contrib.opt.AdamWOptimizer(0.01, 0.1),
        lambda: contrib.opt.MomentumWOptimizer(0.01, 0.05, 0.9),
        lambda: contrib.opt.LARSOptimizer(1.0),
        lambda: contrib.opt.AddSignOptimizer(),
        lambda: contrib.opt.PowerSignOptimizer(),
        lambda: contrib.opt.NadamOptimizer(0.1),
        lambda: contrib.opt.AdaMaxOptimizer(0.1),
        lambda: contrib.opt.LazyAdamOptimizer(0.1),
        lambda: contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.1)),
    ],
)
def test_optimizers_descend(make):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0])
        loss = tf.reduce_sum(v * v)
        step = make().minimize(loss, global_step=tf.train.get_or_create_global_step())
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(5):
            session.run(step)
        assert session.run(loss) < before


def test_scipy_optimizer():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 5.0])
        session.run(tf.global_variables_initializer())
        contrib.opt.ScipyOptimizerInterface(tf.reduce_sum((v - 3.0) ** 2)).minimize(session)
        np.testing.assert_allclose(session.run(v), [3, 3], atol=1e-4)


class OfAProgram(tf.train.Optimizer):
    """As programs of 1.x write optimizers."""

    def __init__(self, rate):
        super().__init__(False, "Mine")
        self._rate = rate
        self.finished = 0

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _prepare(self):
        self._rate_tensor = tf.convert_to_tensor(self._call_if_callable(self._rate))

    def _resource_apply_dense(self, grad, var):
        m = self.get_slot(var, "m")
        moved = m.assign(0.5 * m + grad)
        return tf.group(var.assign_sub(self._rate_tensor * moved), moved)

    def _finish(self, update_ops, name_scope):
        self.finished += 1
        return tf.group(*update_ops, name=name_scope)


def test_optimizer_of_a_program():
    eager = tf.Variable([1.0, 2.0])
    optimizer = OfAProgram(0.1)
    for _ in range(2):
        optimizer.apply_gradients([(2 * eager, eager)])
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0])
        step = OfAProgram(lambda: 0.1).minimize(tf.reduce_sum(v * v))
        session.run(tf.global_variables_initializer())
        session.run(step)
        session.run(step)
        in_graph = session.run(v)
    np.testing.assert_allclose(in_graph, eager.numpy(), rtol=1e-6)
    np.testing.assert_allclose(eager.numpy(), [0.54, 1.08], rtol=1e-6)
    assert optimizer.finished == 2
    assert optimizer.get_slot_names() == ["m"]


@pytest.mark.parametrize(
    "make",
    [
        lambda r: r.LayerNormBasicLSTMCell(4),
        lambda r: r.UGRNNCell(4),
        lambda r: r.NASCell(4),
        lambda r: r.IndRNNCell(4),
        lambda r: r.CoupledInputForgetGateLSTMCell(4),
        lambda r: r.CoupledInputForgetGateLSTMCell(3, use_peepholes=True, num_proj=4, layer_norm=True),
        lambda r: r.InputProjectionWrapper(r.GRUCell(4), 5),
        lambda r: r.OutputProjectionWrapper(r.GRUCell(3), 4),
        lambda r: r.HighwayWrapper(r.GRUCell(4)),
        lambda r: r.AttentionCellWrapper(r.GRUCell(4), 3),
        lambda r: r.LSTMBlockCell(4),
    ],
)
def test_cells_run_and_differentiate(make):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.random.default_rng(0).normal(size=(2, 5, 4)).astype(np.float32))
        outputs, _ = tf.nn.dynamic_rnn(make(contrib.rnn), x, dtype=tf.float32)
        gradients = tf.gradients(tf.reduce_sum(outputs**2), tf.trainable_variables())
        session.run(tf.global_variables_initializer())
        assert session.run(outputs).shape == (2, 5, 4)
        assert all(np.isfinite(g).all() for g in session.run(gradients))


def test_options_of_the_coupled_cell():
    x = tf.constant(np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32))
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(session.run(tf.random_normal([2, 3], seed=1)))
        cell = contrib.rnn.CoupledInputForgetGateLSTMCell(
            5, num_proj=2, proj_clip=0.01, state_is_tuple=False, layer_norm=True, norm_gain=0.5, norm_shift=0.25
        )
        assert (cell.output_size, cell.state_size) == (2, 7)
        output, state = cell(x, cell.zero_state(2, tf.float32))
        session.run(tf.global_variables_initializer())
        output, state = session.run([output, state])
        starts = {v.name.split(":")[0].rsplit("/", 1)[1]: session.run(v) for v in tf.global_variables()}
    assert state.shape == (2, 7)
    assert abs(output).max() == np.float32(0.01)
    np.testing.assert_array_equal(state[:, 5:], output)
    assert (starts["gamma"] == 0.5).all()
    assert (starts["beta"] == 0.25).all()
    assert "bias" not in starts

    def parts(**options):
        tf.reset_default_graph()
        with tf.Graph().as_default():
            made = contrib.rnn.CoupledInputForgetGateLSTMCell(5, **options)
            made(tf.zeros([2, 3]), made.zero_state(2, tf.float32))
            return sorted(v.name.split(":")[0].rsplit("/", 1)[1] for v in tf.global_variables())

    assert parts(use_peepholes=True) == ["bias", "kernel", "w_f_diag", "w_o_diag"]
    assert parts(num_unit_shards=3) == ["bias", "kernel"]


class CellOfAProgram(tf.nn.rnn_cell.RNNCell):
    """As programs of 1.x write cells: variables come from get_variable, at each call."""

    state_size = output_size = 3

    def __call__(self, inputs, state, scope=None):
        with tf.variable_scope(scope or "mine"):
            w = tf.get_variable("w", [inputs.shape[1] + 3, 3])
            h = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), w))
        return h, h


@pytest.mark.parametrize("loop", ["dynamic_rnn", "static_rnn"])
def test_cell_of_a_program(loop):
    with tf.Graph().as_default():
        x = tf.zeros([2, 4, 5])
        x = x if loop == "dynamic_rnn" else tf.unstack(x, axis=1)
        getattr(tf.nn, loop)(CellOfAProgram(), x, dtype=tf.float32)
        assert [v.name for v in tf.global_variables()] == ["rnn/mine/w:0"]


@pytest.mark.parametrize("attention", ["LuongAttention", "BahdanauAttention", "BahdanauMonotonicAttention"])
def test_attention_learns_a_sequence(attention):
    s = contrib.seq2seq
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        table = tf.get_variable("table", [6, 4])
        memory = tf.constant(np.random.default_rng(0).normal(size=(2, 5, 4)).astype(np.float32))
        mechanism = getattr(s, attention)(4, memory, memory_sequence_length=[5, 2])
        cell = s.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, attention_layer_size=4)
        words, lengths = tf.constant([[1, 2, 3], [4, 5, 0]]), [3, 2]
        helper = s.TrainingHelper(tf.nn.embedding_lookup(table, words), lengths)
        start = cell.zero_state(2, tf.float32)
        outputs, _, ends = s.dynamic_decode(s.BasicDecoder(cell, helper, start, tf.layers.Dense(6)))
        loss = s.sequence_loss(outputs.rnn_output, words, tf.sequence_mask(lengths, 3, tf.float32))
        step = tf.train.AdamOptimizer(0.1).minimize(loss)
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(30):
            session.run(step)
        assert session.run(loss) < before / 3
        assert session.run(ends).tolist() == lengths


def test_beam_search_finds_the_most_probable():
    s = contrib.seq2seq
    logits = np.log(np.array([[0.1, 0.4, 0.5], [0.2, 0.7, 0.1], [0.5, 0.25, 0.25]], np.float32))

    class Table(tf.nn.rnn_cell.RNNCell):
        """The next word depends on the last."""

        state_size, output_size = 1, 3

        def call(self, inputs, state):
            return tf.matmul(inputs, tf.constant(logits)), state

    with tf.Graph().as_default(), tf.Session() as session:
        cell = Table()
        start = s.tile_batch(cell.zero_state(1, tf.float32), 2)
        decoder = s.BeamSearchDecoder(cell, tf.eye(3), [1], 0, start, 2)
        outputs, state, _ = s.dynamic_decode(decoder, maximum_iterations=3)
        ids, scores = session.run([outputs.predicted_ids, state.log_probs])
    # From 1: the best are 1 1 1 (0.343) and 0 (0.2).
    assert ids[0, :, 0].tolist() == [1, 1, 1]
    assert ids[0, 0, 1] == 0
    np.testing.assert_allclose(np.exp(scores[0]), [0.343, 0.2], rtol=1e-4)


@pytest.mark.parametrize("attention", ["LuongAttention", "BahdanauAttention"])
def test_keys_and_values_of_a_function(attention):
    memory = tf.ones([2, 5, 4])
    given = []

    def double(keys, values):
        given.append((keys, values))
        return keys * 2, values * 3

    made = getattr(contrib.seq2seq, attention)(4, memory, custom_key_value_fn=double)
    np.testing.assert_array_equal(made.keys, given[0][0] * 2)
    np.testing.assert_array_equal(made.values, memory * 3)


def test_the_history_of_whole_sequences():
    s = contrib.seq2seq
    found = []
    for reorder in (True, False):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(3)
            memory = s.tile_batch(tf.random_normal([2, 5, 4], seed=2), 3)
            mechanism = s.LuongAttention(4, memory)
            cell = s.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism, 4, alignment_history=True)
            decoder = s.BeamSearchDecoder(
                cell, tf.eye(4), [1, 2], 0, cell.zero_state(6, tf.float32), 3, tf.layers.Dense(4),
                coverage_penalty_weight=0.5, reorder_tensor_arrays=reorder,
            )  # fmt: skip
            outputs, state, _ = s.dynamic_decode(decoder, maximum_iterations=4, output_time_major=True)
            history = state.cell_state.alignment_history
            if not reorder:
                parents = outputs.beam_search_decoder_output.parent_ids
                history = s.gather_tree_from_array(history.stack(), parents, state.lengths)
            session.run(tf.global_variables_initializer())
            found.append(session.run([history, state.accumulated_attention_probs, state.lengths]))
    whole, seen, lengths = found[0]
    assert whole.shape == (4, 6, 5)
    np.testing.assert_array_equal(whole, found[1][0])
    np.testing.assert_allclose(whole.sum(-1), 1, rtol=1e-5)
    np.testing.assert_allclose(seen.sum(-1), lengths, rtol=1e-5)


def test_a_penalty_for_what_was_never_looked_at():
    s = contrib.seq2seq
    cell = tf.nn.rnn_cell.GRUCell(4)
    start = cell.zero_state(2, tf.float32)
    decoder = s.BeamSearchDecoder(cell, tf.eye(4), [1], 0, start, 2, coverage_penalty_weight=0.5)
    total, lengths = tf.zeros([1, 2, 4]), tf.ones([1, 2, 4], tf.int64)
    seen = tf.constant([[[0.5, 1.5], [0.5, 1.5]]])
    scores = decoder._scored(total, lengths, tf.constant([[True, False]]), seen).numpy()
    np.testing.assert_allclose(scores[0, :, 0], [0.5 * np.log(0.5), 0.0], rtol=1e-6)
    with pytest.raises(ValueError, match="needs the state of an AttentionWrapper"):
        decoder.initialize()


def test_errors_of_numbers_on_request():
    try:
        tfe.seterr(inf_or_nan="raise")
        with pytest.raises(tfe.InfOrNanError, match=r"RealDiv.*1 inf"):
            _ = tf.constant(1.0) / tf.constant(0.0)
        with tfe.errstate(inf_or_nan="ignore"):
            assert np.isnan((tf.constant(0.0) / tf.constant(0.0)).numpy())
    finally:
        tfe.clear_execution_callbacks()
    assert np.isinf((tf.constant(1.0) / tf.constant(0.0)).numpy())


def test_callbacks_see_operations():
    seen = []
    try:
        tfe.add_execution_callback(lambda op_type, inputs, attrs, outputs, name: seen.append((op_type, len(inputs))))
        _ = tf.constant(2.0) * tf.constant(3.0)
    finally:
        tfe.clear_execution_callbacks()
    assert ("Mul", 2) in seen


def test_network_checkpoint(tmp_path):
    class Net(tfe.Network):
        def __init__(self):
            super().__init__()
            self.dense = self.track_layer(tf.layers.Dense(2))

        def call(self, x):
            return self.dense(x)

    x = tf.ones([1, 3])
    first, second = Net(), Net()
    want = first(x)
    path = tfe.save_network_checkpoint(first, str(tmp_path / "net"))
    tfe.restore_network_checkpoint(second, path)
    np.testing.assert_array_equal(second(x), want)


def test_examples_come_as_often_as_rates_say():
    rates = np.repeat([0.0, 0.5, 3.0], 1000)
    rows, numbers = np.arange(3000), np.arange(6000).reshape(3000, 2)
    drawn, same = tf.contrib.training.resample_at_rate([rows, numbers], rates, seed=3)
    np.testing.assert_array_equal(numbers[drawn.numpy()], same)
    assert np.all(np.diff(drawn) >= 0)
    counts = np.bincount(drawn, minlength=3000).reshape(3, 1000)
    np.testing.assert_allclose(counts.mean(1), [0, 0.5, 3.0], atol=0.15)
    np.testing.assert_allclose(counts.var(1), [0, 0.5, 3.0], atol=0.4)


def test_examples_come_in_proportion_to_weights():
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.constant([1.0] * 500 + [3.0] * 500)
        (drawn,), rates = tf.contrib.training.weighted_resample([tf.range(1000)], weights, 2.0, seed=4)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        values, found = session.run([drawn, rates])
    # The mean of the weights is 2 from the first batch on.
    np.testing.assert_allclose(found, np.where(values < 500, 1.0, 3.0), rtol=1e-3)
    np.testing.assert_allclose([(values < 500).sum(), (values >= 500).sum()], [500, 1500], rtol=0.15)
