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
