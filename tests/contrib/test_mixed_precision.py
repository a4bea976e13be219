"""tf.contrib.mixed_precision: how the factor changes, and what a step with bad gradients does."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import mixed_precision as mp


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def changes(session, finite, *args, **kwargs):
    """The factor after each step."""
    manager = mp.ExponentialUpdateLossScaleManager(*args, **kwargs)
    good = tf.placeholder(tf.bool, ())
    update = manager.update_loss_scale(good)
    session.run(tf.global_variables_initializer())
    out = []
    for each in finite:
        session.run(update, {good: each})
        out.append(float(session.run(manager.get_loss_scale())))
    return out


def test_grows_after_good_steps_in_a_row(session):
    assert changes(session, [True] * 6, 4, 2, 2) == [4, 8, 8, 16, 16, 32]


def test_a_bad_step_begins_the_count_again(session):
    assert changes(session, [True, False, True, True, False], 4, 2, 2, 2, 0.5) == [4, 4, 4, 8, 8]


def test_falls_after_bad_steps_though_not_in_a_row(session):
    assert changes(session, [False, True, False, False, False], 8, 9, 2, 2, 0.5) == [8, 8, 4, 4, 2]


def test_is_never_less_than_one_nor_infinite(session):
    assert changes(session, [False] * 4, 2, 2, 1, 2, 0.3) == [1, 1, 1, 1]
    assert np.isfinite(changes(session, [True] * 3, 2e38, 1, 1)).all()


def test_fixed(session):
    manager = mp.FixedLossScaleManager(5)
    assert session.run(manager.get_loss_scale()) == 5
    session.run(manager.update_loss_scale(tf.constant(False)))
    with pytest.raises(ValueError, match="at least 1"):
        mp.FixedLossScaleManager(0.5)


def test_gradients_are_those_of_the_loss(session):
    x = tf.Variable([1.0, 2.0])
    unused = tf.Variable(1.0)
    optimizer = mp.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), mp.FixedLossScaleManager(1000))
    (gradient, _), (none, _) = optimizer.compute_gradients(tf.reduce_sum(x * x), [x, unused])
    assert none is None
    step = tf.train.get_or_create_global_step()
    train = optimizer.apply_gradients([(gradient, x)], global_step=step)
    session.run(tf.global_variables_initializer())
    np.testing.assert_allclose(session.run(gradient), [2, 4])
    session.run(train)
    np.testing.assert_allclose(session.run(x), [0, 0])
    assert session.run(step) == 1


def test_half_precision_reaches_what_would_vanish(session):
    x = tf.Variable(np.float16(1))
    optimizer = mp.LossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), mp.FixedLossScaleManager(2**14))
    tiny = tf.cast(x, tf.float16) * np.float16(1e-4) * np.float16(1e-4)
    (plain,), ((scaled, _),) = tf.gradients(tiny, [x]), optimizer.compute_gradients(tiny, [x])
    session.run(tf.global_variables_initializer())
    assert session.run(plain) <= 6e-8
    assert scaled.dtype == tf.float16


def test_steps_with_bad_gradients_are_left_out(session):
    x = tf.Variable([1.0, 2.0])
    factor = tf.placeholder(tf.float32, ())
    manager = mp.ExponentialUpdateLossScaleManager(8, 100, 1, 2, 0.5)
    train = mp.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), manager).minimize(
        tf.reduce_sum(x) * factor, var_list=[x]
    )
    session.run(tf.global_variables_initializer())
    for bad in (np.inf, np.nan):
        session.run(train, {factor: bad})
    np.testing.assert_array_equal(session.run(x), [1, 2])
    assert session.run(manager.get_loss_scale()) == 2
    session.run(train, {factor: 1.0})
    np.testing.assert_array_equal(session.run(x), [0.5, 1.5])


def test_eagerly():
    x = tf.Variable([1.0, 2.0])
    manager = mp.ExponentialUpdateLossScaleManager(8, 1, 1, 2, 0.5)
    optimizer = mp.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), manager)
    optimizer.minimize(lambda: tf.reduce_sum(x * x), var_list=[x])
    np.testing.assert_allclose(x.numpy(), [0, 0])
    assert manager.get_loss_scale().numpy() == 16
    optimizer.minimize(lambda: tf.reduce_sum(x * np.inf), var_list=[x])
    np.testing.assert_allclose(x.numpy(), [0, 0])
    assert manager.get_loss_scale().numpy() == 8


def test_wants_an_optimizer():
    with pytest.raises(ValueError, match="must be an instance of Optimizer"):
        mp.LossScaleOptimizer(3, mp.FixedLossScaleManager(1))
