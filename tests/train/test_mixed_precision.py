"""The switch of 1.14 for mixed precision: what it does to optimizers."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.train import mixed_precision

v1 = tf.compat.v1


@pytest.fixture(autouse=True)
def switched_off():
    yield
    mixed_precision.set_mixed_precision_graph_rewrite_enabled(False)
    tf.config.optimizer.set_experimental_options({"auto_mixed_precision": False})


@pytest.mark.parametrize(
    "enable",
    [
        v1.mixed_precision.enable_mixed_precision_graph_rewrite,
        v1.train.experimental.enable_mixed_precision_graph_rewrite,
        tf.train.experimental.enable_mixed_precision_graph_rewrite,
    ],
)
def test_losses_are_scaled(enable):
    with tf.Graph().as_default(), v1.Session() as session:
        variable = v1.get_variable("v", initializer=1.0)
        optimizer = enable(v1.train.GradientDescentOptimizer(0.5), loss_scale=8.0)
        assert isinstance(optimizer, v1.mixed_precision.MixedPrecisionLossScaleOptimizer)
        assert tf.config.optimizer.get_experimental_options()["auto_mixed_precision"]
        seen = []

        @tf.custom_gradient
        def watched(x):
            def gradient(dy):
                return tf.numpy_function(lambda g: (seen.append(float(g)), g)[1], [dy], tf.float32)

            return tf.identity(x), gradient

        step = optimizer.minimize(watched(variable) * 1.0)
        session.run(v1.global_variables_initializer())
        session.run(step)
        np.testing.assert_allclose(session.run(variable), 0.5)
        assert seen == [8.0]
    v1.mixed_precision.disable_mixed_precision_graph_rewrite()
    assert not tf.config.optimizer.get_experimental_options()["auto_mixed_precision"]
    with pytest.warns(UserWarning, match="was not enabled"):
        v1.mixed_precision.disable_mixed_precision_graph_rewrite()


def test_optimizers_that_it_refuses():
    enable = v1.mixed_precision.enable_mixed_precision_graph_rewrite
    scaled = enable(v1.train.AdamOptimizer())
    with pytest.raises(ValueError, match="must not already be an instance of a MixedPrecisionLossScaleOptimizer"):
        enable(scaled)
    with pytest.raises(ValueError, match=r"must be an instance of a `tf\.train"):
        enable("adam")


def test_it_and_a_policy():
    tf.__internal__.train.set_using_mixed_precision_policy(True)  # as tf_keras does
    try:
        with pytest.raises(ValueError, match="global Keras dtype policy"):
            v1.mixed_precision.enable_mixed_precision_graph_rewrite(v1.train.AdamOptimizer())
    finally:
        tf.__internal__.train.set_using_mixed_precision_policy(False)


def test_registered_optimizers(monkeypatch):
    class Own:
        pass

    class Scaled:
        def __init__(self, optimizer, scale):
            self.optimizer, self.scale = optimizer, scale

    monkeypatch.setattr(mixed_precision, "wrappers", [])
    tf.__internal__.mixed_precision.register_loss_scale_wrapper(Own, Scaled)
    made = v1.mixed_precision.enable_mixed_precision_graph_rewrite(Own(), 3)
    assert (type(made), made.scale) == (Scaled, 3)
    with pytest.raises(ValueError, match="must not already be an instance of a Scaled"):
        v1.mixed_precision.enable_mixed_precision_graph_rewrite(made)
