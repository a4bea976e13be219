"""tf.contrib.optimizer_v2: the optimizers of tf.train under other names, and what they take besides."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf

v2 = tf.contrib.optimizer_v2
START = np.array([1.0, -2.0, 3.0])


def moved(make, steps=3):
    var, optimizer = tf.Variable(START), make()
    for step in range(steps):
        optimizer.minimize(lambda step=step: tf.reduce_sum(tf.square(var) * (step + 1)), var_list=[var])
    return var.numpy()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("AdadeltaOptimizer", (0.5,)),
        ("AdagradOptimizer", (0.5,)),
        ("AdamOptimizer", (0.1,)),
        ("GradientDescentOptimizer", (0.1,)),
        ("MomentumOptimizer", (0.1, 0.9)),
    ],
)
def test_steps_are_those_of_train(name, settings):
    got = moved(lambda: getattr(v2, name)(*settings))
    assert not np.allclose(got, START, atol=1e-4)
    np.testing.assert_array_equal(got, moved(lambda: getattr(tf.train, name)(*settings)))
    called = moved(lambda: getattr(v2, name)(*[lambda value=value: value for value in settings]))
    np.testing.assert_allclose(called, got, rtol=1e-6)  # what functions return is rounded first


def test_optimizers_are_of_one_class():
    assert isinstance(v2.AdamOptimizer(), v2.OptimizerV2)
    assert not isinstance(tf.train.AdamOptimizer(), v2.OptimizerV2)


def test_gradients_stop_at_tensors():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.Variable(3.0)
        half = x * 0.5
        optimizer = v2.GradientDescentOptimizer(1.0)
        ((gradient, var),) = optimizer.compute_gradients(half * x, [x], stop_gradients=[half])
        ((whole, _),) = optimizer.compute_gradients(half * x)
        session.run(tf.global_variables_initializer())
        assert var is x
        assert session.run([gradient, whole]) == [1.5, 3.0]


def test_losses_are_scaled_by_replicas():
    x = tf.Variable(3.0)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        ((gradient, _),) = v2.GradientDescentOptimizer(1.0).compute_gradients(
            lambda: x * x, [x], scale_loss_by_num_replicas=True
        )
    assert float(gradient) == 6.0 / strategy.num_replicas_in_sync


def test_no_gradients():
    x = tf.Variable(3.0)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        v2.GradientDescentOptimizer(1.0).minimize(lambda: tf.constant(1.0), var_list=[x])


def test_powers_of_adam_are_those_of_the_graph():
    optimizer, powers = v2.AdamOptimizer(), []
    for _ in range(2):
        with tf.Graph().as_default() as graph:
            x = tf.Variable(1.0, use_resource=True)
            optimizer.apply_gradients([(tf.constant(1.0), x)])
            powers.append((graph, optimizer._get_beta_accumulators()))
    for graph, (power, _) in powers:
        with graph.as_default():
            assert optimizer._get_beta_accumulators()[0] is power
            assert power.graph is graph
