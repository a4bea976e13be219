"""Updates of variables inside of branches and loops of 1.x graphs: they run though nothing else asks for them."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


OPTIMIZERS = [tf.train.GradientDescentOptimizer, tf.train.AdamOptimizer, tf.train.MomentumOptimizer]


@pytest.mark.parametrize("make", OPTIMIZERS)
@pytest.mark.parametrize("counted", [False, True])
def test_gradients_are_applied_in_one_branch_only(session, make, counted):
    x = tf.Variable([1.0, 2.0])
    steps = tf.train.get_or_create_global_step() if counted else None
    chosen = tf.placeholder(tf.bool, ())
    optimizer = make(0.5, 0.9) if make is tf.train.MomentumOptimizer else make(0.5)
    pairs = optimizer.compute_gradients(tf.reduce_sum(x * x), [x])
    step = tf.cond(chosen, lambda: optimizer.apply_gradients(pairs, steps), tf.no_op)
    session.run(tf.global_variables_initializer())
    session.run(step, {chosen: False})
    np.testing.assert_array_equal(session.run(x), [1, 2])
    session.run(step, {chosen: True})
    assert (session.run(x) != [1, 2]).all()
    if counted:
        assert session.run(steps) == 1


def test_averages_move_in_a_branch(session):
    x, chosen = tf.Variable(1.0), tf.placeholder(tf.bool, ())
    average = tf.train.ExponentialMovingAverage(0.5)
    with tf.control_dependencies([average.apply([x])]):
        first = tf.identity(x)
    step = tf.cond(chosen, lambda: average.apply([x]), tf.no_op)
    session.run(tf.global_variables_initializer())
    session.run(first)
    session.run(x.assign(3.0))
    session.run(step, {chosen: False})
    assert session.run(average.average(x)) == 1
    session.run(step, {chosen: True})
    assert session.run(average.average(x)) == 2
