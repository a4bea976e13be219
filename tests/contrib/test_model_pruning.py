"""tf.contrib.model_pruning: masks and their updates, masked layers and cells, stripped graphs."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import model_pruning
from tapeflow.contrib.model_pruning import pruning_utils

RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def hparams(text):
    return model_pruning.get_pruning_hparams().parse(text)


def pruned(shape, sparsity, **settings):
    """A weight of random numbers, and its mask after an update, as arrays."""
    spec = model_pruning.get_pruning_hparams()
    for name, value in settings.items():
        spec.set_hparam(name, value)
    with tf.variable_scope("layer"):
        weight = tf.get_variable("w", initializer=RNG.normal(size=shape).astype(np.float32))
        masked = model_pruning.apply_mask(weight, tf.get_variable_scope())
    update = model_pruning.Pruning(spec, tf.constant(3), tf.constant(sparsity)).mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        found = session.run([weight, model_pruning.get_masks()[0], masked])
    np.testing.assert_array_equal(found[2], found[0] * found[1])
    return found[:2]


@pytest.mark.parametrize("sparsity", [0.0, 0.25, 0.5, 0.95])
def test_the_smallest_weights_are_masked(sparsity):
    weight, mask = pruned((10, 10), sparsity)
    kept = round(100 * (1 - sparsity))
    order = np.argsort(-np.abs(weight).ravel())
    assert set(np.flatnonzero(mask)) == set(order[:kept])


def test_blocks_are_masked_as_a_whole():
    weight, mask = pruned((4, 6), 0.5, block_height=2, block_width=3)
    blocks = np.abs(weight).reshape(2, 2, 2, 3).mean((1, 3))
    want = np.kron(blocks >= np.sort(blocks.ravel())[2], np.ones((2, 3)))
    np.testing.assert_array_equal(mask, want)


def test_sparsity_of_some_weights():
    _, mask = pruned((10, 10), 0.5, weight_sparsity_map=["layer/w:0.75"])
    assert mask.sum() == 25


def test_parts_of_a_variable():
    with tf.variable_scope("layer", partitioner=tf.fixed_size_partitioner(2)):
        weight = tf.get_variable("w", [10, 4], initializer=tf.random_normal_initializer())
        model_pruning.apply_mask(weight, tf.get_variable_scope())
    update = model_pruning.Pruning(None, tf.constant(0), tf.constant(0.5)).mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        assert session.run(model_pruning.get_weight_sparsity()) == [0.5]


def test_masks_are_updated_in_some_steps():
    step = tf.get_variable("step", initializer=0, trainable=False)
    weight = tf.get_variable("w", initializer=np.arange(1, 101, dtype=np.float32))
    model_pruning.apply_mask(weight)
    spec = hparams(
        "begin_pruning_step=2,end_pruning_step=8,pruning_frequency=3,sparsity_function_end_step=10,target_sparsity=0.9,"
        "sparsity_function_exponent=1"
    )
    update = model_pruning.Pruning(spec, step).conditional_mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        kept = []
        for _ in range(10):
            session.run(update)
            kept.append(int(session.run(model_pruning.get_masks()[0]).sum()))
            session.run(step.assign_add(1))
    # 0.09 more are masked each step: of steps 3 and 6.
    assert kept == [100] * 3 + [73] * 3 + [46] * 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("begin_pruning_step=-1", "begin_pruning_step"), ("begin_pruning_step=9,end_pruning_step=3", "begin before"),
        ("sparsity_function_begin_step=200", "begin_step < end_step"), ("threshold_decay=1.5", "threshold_decay"),
        ("target_sparsity=1.0", "target_sparsity"), ("weight_sparsity_map=[a:1.5]", "exceed 1.0"),
        ("block_dims_map=[a:1x2x3]", "Expected 2 values"),
    ],
)  # fmt: skip
def test_specifications_that_cannot_be_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        model_pruning.Pruning(hparams(text), tf.constant(0))


@pytest.mark.parametrize("pooling", ["AVG", "MAX"])
def test_windows_along_one_axis_after_the_other(pooling):
    x = tf.constant(RNG.normal(size=(6, 8)).astype(np.float32))
    got = pruning_utils.factorized_pool(x, [2, 4], pooling, [2, 4], "SAME")
    with tf.Session() as session:
        got, x = session.run([got, x])
    function = np.mean if pooling == "AVG" else np.max
    np.testing.assert_allclose(got, function(x.reshape(3, 2, 2, 4), (1, 3)), rtol=1e-5)


def test_products_and_blocks_of_matrices():
    a, b = RNG.normal(size=(2, 3)).astype(np.float32), RNG.normal(size=(2, 2)).astype(np.float32)
    product = pruning_utils.kronecker_product(tf.constant(a), tf.constant(b))
    blocks = pruning_utils.expand_tensor(tf.constant(a), [2, 3])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(product), np.kron(a, b), rtol=1e-5)
        np.testing.assert_array_equal(session.run(blocks), np.kron(a, np.ones((2, 3))))


def test_layers_compute_with_masked_weights():
    x = tf.constant(RNG.normal(size=(2, 4, 4, 3)).astype(np.float32))
    y = model_pruning.masked_conv2d(x, 5, 3, activation_fn=None, biases_initializer=tf.ones_initializer())
    z = model_pruning.masked_fully_connected(y, 2, activation_fn=None)
    assert [mask.shape.as_list() for mask in model_pruning.get_masks()] == [[3, 3, 3, 5], [5, 2]]
    assert "Conv/weights" in {v.op.name for v in tf.trainable_variables()}
    assert len(tf.trainable_variables()) == 4
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert np.ptp(session.run(y)) > 0
        session.run([mask.assign(tf.zeros_like(mask)) for mask in model_pruning.get_masks()])
        np.testing.assert_array_equal(session.run(y), np.ones((2, 4, 4, 5)))
        np.testing.assert_array_equal(session.run(z), np.zeros((2, 4, 4, 2)))


@pytest.mark.parametrize("rank", [3, 5])
def test_only_pictures_are_convolved(rank):
    with pytest.raises(ValueError, match="not supported for input with rank"):
        model_pruning.masked_conv2d(tf.zeros([2] * rank), 3, 2)


@pytest.mark.parametrize(
    ("masked", "plain"),
    [
        (model_pruning.MaskedBasicLSTMCell, tf.nn.rnn_cell.BasicLSTMCell),
        (model_pruning.MaskedLSTMCell, tf.nn.rnn_cell.LSTMCell),
    ],
)
def test_cells_compute_with_masked_weights(masked, plain):
    x = tf.constant(RNG.normal(size=(2, 5, 3)).astype(np.float32))
    cells = masked(4), plain(4)
    outputs = [tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, scope=f"s{i}")[0] for i, cell in enumerate(cells)]
    (mask,) = model_pruning.get_masks()
    assert mask.shape.as_list() == [7, 16]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(cells[1].variables[0].assign(cells[0].trainable_variables[0]))
        np.testing.assert_allclose(*session.run(outputs), rtol=1e-5, atol=1e-6)
        session.run(mask.assign(tf.zeros_like(mask)))
        assert not session.run(outputs[0]).any()


def test_stripped_graphs_have_no_masks():
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = model_pruning.masked_fully_connected(x, 2, activation_fn=None, scope="layer")
    out = tf.identity(y, name="out")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(session, session.graph_def, ["out"])
        want = session.run(out, {x: np.ones((1, 3))})
    stripped = model_pruning.strip_pruning_vars_fn(frozen, ["out"])
    assert any("mask" in node.name and node.op != "Const" for node in frozen.node)
    assert not any(node.name == "layer/mask" for node in stripped.node)
    with tf.Graph().as_default(), tf.Session() as session:
        (found,) = tf.import_graph_def(stripped, return_elements=["out:0"], name="")
        np.testing.assert_allclose(session.run(found, {"x:0": np.ones((1, 3))}), want, rtol=1e-6)


def test_training_prunes(tmp_path):
    x = RNG.normal(size=(32, 8)).astype(np.float32)
    y = model_pruning.masked_fully_connected(tf.constant(x), 1, activation_fn=None)
    loss = tf.losses.mean_squared_error(tf.constant(x[:, :1]), y)
    step = tf.train.get_or_create_global_step()
    train_op = tf.contrib.training.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1), step)
    spec = hparams("pruning_frequency=1,sparsity_function_end_step=5,target_sparsity=0.75")
    update = model_pruning.Pruning(spec, step).conditional_mask_update_op()
    model_pruning.train(train_op, str(tmp_path), update, number_of_steps=20, save_summaries_secs=0)
    mask = tf.train.load_variable(tf.train.latest_checkpoint(str(tmp_path)), "fully_connected/mask")
    assert mask.sum() == 2
