"""`tf.losses` of 1.x in graphs: names, collections, weights."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1
losses = v1.losses


@pytest.mark.parametrize(
    ("function", "scope"),
    [
        (losses.softmax_cross_entropy, "softmax_cross_entropy_loss"),
        (losses.sigmoid_cross_entropy, "sigmoid_cross_entropy_loss"),
        (losses.mean_squared_error, "mean_squared_error"),
        (losses.absolute_difference, "absolute_difference"),
        (losses.huber_loss, "huber_loss"),
        (losses.log_loss, "log_loss"),
        (losses.hinge_loss, "hinge_loss"),
    ],
)
def test_a_loss_is_named_after_its_kind(function, scope):
    with tf.Graph().as_default(), v1.Session() as session:
        loss = function(tf.constant([[0.0, 1.0]]), tf.constant([[0.25, 0.75]]))
        assert loss.op.name == f"{scope}/value"
        assert losses.get_losses() == [loss]
        staged = session.run(loss)
    np.testing.assert_allclose(staged, function([[0.0, 1.0]], [[0.25, 0.75]]), rtol=1e-6)


@pytest.mark.parametrize("weights", [[1.0, 2.0], [[1.0], [2.0], [3.0]], [[[1.0]]]])
def test_weights_must_broadcast(weights):
    values = tf.ones([3, 2])
    if np.shape(weights) in ((3, 1),):
        assert losses.compute_weighted_loss(values, weights).shape == []
        return
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        losses.compute_weighted_loss(values, weights)
    with tf.Graph().as_default(), v1.Session() as session:
        given = v1.placeholder(tf.float32)
        loss = losses.compute_weighted_loss(tf.ones([3, 2]), given)
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
            session.run(loss, {given: weights})
        assert session.run(loss, {given: 2.0}) == 2.0


def test_weights_of_unknown_rank():
    with tf.Graph().as_default(), v1.Session() as session:
        weights = v1.placeholder(tf.float32)
        loss = v1.losses.sparse_softmax_cross_entropy([[2], [0]], [[0.0, 0.0, 9.0], [0.0, 9.0, 0.0]], weights)
        one = session.run(loss, {weights: [1.0, 0.0]})
        assert session.run(loss, {weights: [[1.0], [0.0]]}) == one
        labels = v1.placeholder(tf.float32)
        pairs = v1.losses.mean_pairwise_squared_error(labels, labels * 2 + 1, weights)
        assert session.run(pairs, {labels: [[1.0, 3.0]], weights: 2.0}) == 8.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="can not be broadcast"):
            session.run(pairs, {labels: [[1.0, 3.0]], weights: [1.0, 2.0, 3.0]})


def test_the_error_of_a_gradient_is_a_number_of_numpy():
    with tf.Graph().as_default(), v1.Session():
        x = tf.constant([1.0, 2.0])
        error = v1.test.compute_gradient_error(x, [2], x * x, [2])
        assert isinstance(error, np.floating)
        assert error < 1e-2


def test_a_size_beside_one_of_unknown_rank_stays_known():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32)
        size = v1.placeholder(tf.int32)
        assert tf.reshape(x, [size, 37]).shape.as_list() == [None, 37]
        assert tf.zeros([size, 37]).shape.as_list() == [None, 37]
