"""tf.contrib.layers, framework and slim: scopes of arguments, layers with variables of the model."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import framework, layers, slim

RNG = np.random.default_rng(0)
PICTURES = RNG.normal(size=(2, 8, 8, 3)).astype(np.float32)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_arg_scope():
    @framework.add_arg_scope
    def f(x, a=1, b=2):
        return x, a, b

    @framework.add_arg_scope
    def g(x, a=1):
        return x, a

    with framework.arg_scope([f, g], a=5), framework.arg_scope([f], b=6) as scope:
        assert f(0) == (0, 5, 6)
        assert f(0, a=7) == (0, 7, 6)
        assert g(0) == (0, 5)
    assert f(0) == (0, 1, 2)
    with framework.arg_scope(scope):
        assert f(0) == (0, 5, 6)
    assert framework.has_arg_scope(f)
    assert framework.arg_scoped_arguments(f) == ("a", "b")


@pytest.mark.parametrize(
    ("scope", "options", "error"), [([len], {}, ValueError), (5, {}, TypeError), ({}, {"a": 1}, ValueError)]
)
def test_arg_scope_errors(scope, options, error):
    with pytest.raises(error), framework.arg_scope(scope, **options):
        pass


def test_small_network(graph):
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected], weights_regularizer=slim.l2_regularizer(0.1),
        normalizer_fn=slim.batch_norm,
    ):  # fmt: skip
        net = slim.conv2d(PICTURES, 4, [3, 3], scope="conv1", outputs_collections="ends")
        net = slim.max_pool2d(net, [2, 2], scope="pool1")
        net = slim.flatten(net)
        net = slim.fully_connected(net, 5, activation_fn=None, normalizer_fn=None, scope="logits")
    assert net.shape == (2, 5)
    names = [v.op.name for v in slim.get_model_variables()]
    assert names == [
        "conv1/weights", "conv1/BatchNorm/beta", "conv1/BatchNorm/moving_mean", "conv1/BatchNorm/moving_variance",
        "logits/weights", "logits/biases",
    ]  # fmt: skip
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2
    assert len(tf.losses.get_regularization_losses()) == 2
    assert list(layers.convert_collection_to_dict("ends")) == ["conv1"]
    assert np.isfinite(run(net)[0]).all()


def test_create_train_op_moves_averages_and_variables(graph):
    x = tf.constant(RNG.normal(size=(16, 3)).astype(np.float32) + 5)
    y = slim.fully_connected(slim.batch_norm(x, is_training=True, decay=0.5), 1, activation_fn=None)
    loss = tf.losses.mean_squared_error(tf.ones([16, 1]), y)
    step = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1), clip_gradient_norm=5.0)
    (moving,) = slim.get_variables("BatchNorm/moving_mean")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(step)
        for _ in range(20):
            last = session.run(step)
        assert last < first
        assert (session.run(moving) > 4).all()
        assert session.run(tf.train.get_global_step()) == 21


def test_batch_norm_in_graphs_of_tf_layers(graph):
    training = tf.placeholder_with_default(True, [])
    y = tf.layers.batch_normalization(PICTURES + 3, training=training, momentum=0.5)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert len(updates) == 2
    (mean,) = [v for v in tf.global_variables() if "moving_mean" in v.name]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(y)
        assert (session.run(mean) == 0).all()
        session.run(updates, {training: False})
        assert (session.run(mean) == 0).all()
        session.run(updates)
        np.testing.assert_allclose(session.run(mean), 0.5 * (PICTURES + 3).mean((0, 1, 2)), rtol=1e-4)


def normed(x, axes):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-6)


@pytest.mark.parametrize(
    ("name", "options", "want"),
    [
        ("layer_norm", {}, normed(PICTURES, (1, 2, 3))),
        ("instance_norm", {}, normed(PICTURES, (1, 2))),
        ("group_norm", {"groups": 1}, normed(PICTURES, (1, 2, 3))),
        ("unit_norm", {"dim": 3}, PICTURES / np.linalg.norm(PICTURES, axis=3, keepdims=True)),
        ("maxout", {"num_units": 1}, PICTURES.max(3, keepdims=True)),
        ("flatten", {}, PICTURES.reshape(2, -1)),
        ("avg_pool2d", {"kernel_size": 2}, PICTURES.reshape(2, 4, 2, 4, 2, 3).mean((2, 4))),
    ],
)
def test_values(graph, name, options, want):
    (got,) = run(getattr(layers, name)(tf.constant(PICTURES), **options))
    np.testing.assert_allclose(got, want, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(
    ("name", "args", "shape"),
    [
        ("conv2d_transpose", (4, 3, 2), (2, 16, 16, 4)),
        ("separable_conv2d", (5, 3), (2, 8, 8, 5)),
        ("separable_conv2d", (None, 3, 2), (2, 8, 8, 6)),
        ("conv2d_in_plane", (3,), (2, 8, 8, 3)),
        ("spatial_softmax", (), (2, 6)),
        ("images_to_sequence", (), (8, 16, 3)),
    ],
)
def test_shapes(graph, name, args, shape):
    assert run(getattr(layers, name)(tf.constant(PICTURES), *args))[0].shape == shape


def test_stack_and_repeat(graph):
    layers.stack(tf.ones([2, 3]), layers.fully_connected, [4, 5], scope="fc")
    layers.repeat(tf.constant(PICTURES), 2, layers.conv2d, 3, 3, scope="c")
    assert [v.op.name for v in framework.get_variables() if "weights" in v.name] == [
        "fc/fc_1/weights", "fc/fc_2/weights", "c/c_1/weights", "c/c_2/weights",
    ]  # fmt: skip


def test_variables_from_a_checkpoint(graph, tmp_path):
    a = framework.model_variable("a", shape=[2], initializer=tf.ones_initializer())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver([a]).save(session, str(tmp_path / "m"))
        session.run(a.assign([5.0, 5.0]))
        framework.assign_from_checkpoint_fn(path, [a])(session)
        assert session.run(a).tolist() == [1, 1]
        framework.assign_from_values_fn({"a": np.array([7.0, 8.0])})(session)
        assert session.run(a).tolist() == [7, 8]
    assert framework.get_unique_variable("a") is a
    with pytest.raises(ValueError, match="find variable"):
        framework.get_unique_variable("b")


def test_optimize_loss(graph):
    v = tf.get_variable("v", initializer=3.0)
    step = layers.optimize_loss(v * v, tf.train.get_or_create_global_step(), 0.1, "SGD", clip_gradients=1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(v), 2.9, rtol=1e-6)
    with pytest.raises(ValueError, match="Optimizer name should be one of"):
        layers.optimize_loss(v * v, None, 0.1, "Best")


def test_padding_is_not_in_the_bag_of_words(graph):
    ids = tf.constant([[1, 0, 2], [0, 0, 0]])
    sparse = tf.sparse.from_dense(tf.constant([[1, 3]]))
    bag = {"vocab_size": 4, "embed_dim": 2, "scope": "bag"}
    made = [
        layers.bow_encoder(ids, **bag),
        layers.bow_encoder(ids, sparse_lookup=False, reuse=True, **bag),
        layers.bow_encoder(sparse, reuse=True, **bag),
    ]
    (table,) = tf.global_variables()
    t, without, counted, few = run(table, *made)
    np.testing.assert_allclose(without, [(t[1] + t[2]) / 2, t[0]], rtol=1e-6)
    np.testing.assert_allclose(counted, [(t[1] + t[0] + t[2]) / 3, t[0]], rtol=1e-6)
    np.testing.assert_allclose(few, [(t[1] + t[3]) / 2], rtol=1e-6)
    with pytest.raises(TypeError, match="expected to be dense"):
        layers.bow_encoder(sparse, sparse_lookup=False, reuse=True, **bag)


def test_regularizers_name_their_losses():
    layers = tf.contrib.layers
    l1, l2 = layers.l1_regularizer(0.5), layers.l2_regularizer(0.5)
    wanted = {
        "l1_regularizer": (l1, 1.5), "l2_regularizer": (l2, 1.25), "own": (layers.l2_regularizer(0.5, "own"), 1.25),
        "l1_l2_regularizer": (layers.l1_l2_regularizer(0.5, 0.5), 2.75),
        "sum_regularizer": (layers.sum_regularizer([l1]), 1.5),
    }  # fmt: skip
    for name, (regularizer, value) in wanted.items():
        with tf.Graph().as_default(), tf.Session() as session:
            for kind in (tf.float32, tf.float64):
                start = tf.constant([1.0, -2.0], kind)
                tf.get_variable(kind.name, initializer=start, regularizer=regularizer)
            losses = tf.losses.get_regularization_losses()
            assert [loss.op.name for loss in losses] == [f"{k}/Regularizer/{name}" for k in ("float32", "float64")]
            session.run(tf.global_variables_initializer())
            assert session.run(losses) == [value, value]
