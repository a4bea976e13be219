"""tf.contrib.losses with weights of every rank, against NumPy."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import framework, losses

RNG = np.random.default_rng(7)
X = RNG.uniform(0.1, 0.9, (4, 3)).astype(np.float32)
Y = RNG.integers(0, 2, (4, 3)).astype(np.float32)
WEIGHTS = {
    "scalar": np.float32(2.5),
    "zero": np.float32(0),
    "examples": np.array([1.5, 0, 2, 1], np.float32),
    "column": np.array([[1.5], [0], [2], [1]], np.float32),
    "elements": RNG.choice([0, 0.5, 2], (4, 3)).astype(np.float32),
}
ELEMENTWISE = {
    "absolute_difference": lambda x, y: np.abs(x - y),
    "mean_squared_error": lambda x, y: (x - y) ** 2,
    "log_loss": lambda x, y: -y * np.log(x + 1e-7) - (1 - y) * np.log(1 - x + 1e-7),
    "sigmoid_cross_entropy": lambda x, y: np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x))),
}


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def evaluated(loss):
    with tf.Session() as session:
        return session.run(loss)


def mean(values, weights):
    """The weighted sum by the number of values with a weight; weights have the first axes of the values."""
    weights = np.broadcast_to(weights.reshape(weights.shape + (1,) * (values.ndim - weights.ndim)), values.shape)
    return (values * weights).sum() / max((weights != 0).sum(), 1)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name, weights):
    loss = getattr(losses, name)(tf.constant(X), tf.constant(Y), WEIGHTS[weights])
    assert losses.get_losses() == [loss]
    np.testing.assert_allclose(evaluated(loss), mean(ELEMENTWISE[name](X, Y), WEIGHTS[weights]), rtol=1e-5)


@pytest.mark.parametrize("weights", ["scalar", "zero", "examples", "column"])
def test_pairs(weights):
    d = X - Y
    total = 0
    for row, w in zip(d, np.broadcast_to(WEIGHTS[weights].reshape(-1), 4)):
        # As TensorFlow counts them: each element is a pair with itself too.
        total += w * (w != 0) * np.mean((row[:, None] - row) ** 2)
    loss = losses.mean_pairwise_squared_error(tf.constant(X), tf.constant(Y), WEIGHTS[weights])
    np.testing.assert_allclose(evaluated(loss), total, rtol=1e-4)


@pytest.mark.parametrize("weights", ["scalar", "zero", "examples", "column"])
@pytest.mark.parametrize("smoothing", [0, 0.3])
def test_classes(weights, smoothing):
    labels = np.array([0, 2, 1, 1])
    hot = np.eye(3, dtype=np.float32)[labels]
    smooth = hot * (1 - smoothing) + smoothing / 3
    values = -(smooth * (X - np.log(np.exp(X).sum(1, keepdims=True)))).sum(1)
    w = WEIGHTS[weights].reshape(-1) if weights == "column" else WEIGHTS[weights]
    loss = losses.softmax_cross_entropy(tf.constant(X), tf.constant(hot), WEIGHTS[weights], smoothing)
    np.testing.assert_allclose(evaluated(loss), mean(values, w), rtol=1e-5)
    if not smoothing:
        loss = losses.sparse_softmax_cross_entropy(tf.constant(X), labels[:, None], WEIGHTS[weights])
        np.testing.assert_allclose(evaluated(loss), mean(values, w), rtol=1e-5)


@pytest.mark.parametrize("weights", ["scalar", "zero", "examples", "column"])
def test_cosines(weights):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    loss = losses.cosine_distance(tf.constant(unit), tf.constant(Y), axis=1, weights=WEIGHTS[weights])
    w = WEIGHTS[weights].reshape(-1) if weights == "column" else WEIGHTS[weights]
    np.testing.assert_allclose(evaluated(loss), mean(1 - (unit * Y).sum(1), w), rtol=1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: losses.hinge_loss(tf.zeros([2, 1]), tf.zeros([3, 2])),
        lambda: losses.absolute_difference(tf.zeros([2]), tf.zeros([3])),
        lambda: losses.cosine_distance(tf.zeros([2]), tf.zeros([2])),
        lambda: losses.compute_weighted_loss(tf.zeros([3]), tf.ones([3, 3])),
        lambda: losses.compute_weighted_loss(tf.placeholder(tf.float32), 1.0),
        lambda: losses.compute_weighted_loss(tf.zeros([3]), tf.placeholder(tf.float32)),
    ],
)
def test_errors(call):
    with pytest.raises(ValueError):
        call()


def test_losses_are_not_collected_in_a_scope_without_a_collection():
    with framework.arg_scope([losses.add_loss], loss_collection=None):
        losses.absolute_difference(tf.constant(X), tf.constant(Y))
    assert not losses.get_losses()


def test_graph_of_tensors():
    here, (other, there) = tf.constant(1.0), _elsewhere()
    with tf.name_scope("a"), tf.name_scope("b"):
        assert framework.get_name_scope() == "a/b"
    assert framework.get_graph_from_inputs([]) is tf.get_default_graph()
    assert framework.get_graph_from_inputs([there]) is other
    with pytest.raises(ValueError, match="same graph"):
        framework.get_graph_from_inputs([here, there])
    with pytest.raises(ValueError, match="not from the passed-in graph"):
        framework.get_graph_from_inputs([here], other)


def _elsewhere():
    with tf.Graph().as_default() as graph:
        return graph, tf.constant(1.0)
