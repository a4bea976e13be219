"""What a session runs of branches whose results nobody takes, and operations that wait for each other."""

import pytest

import tapeflow.compat.v1 as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_branch_that_is_only_waited_for_runs(session):
    v = tf.Variable(0)
    flag = tf.placeholder(tf.bool, [])
    step = tf.group(tf.cond(flag, lambda: tf.group(tf.assign(v, 5)), tf.no_op))
    session.run(v.initializer)
    session.run(step, {flag: False})
    assert session.run(v) == 0
    session.run(step, {flag: True})
    assert session.run(v) == 5


def test_initialisation_can_be_asked_again_and_again(session):
    v = tf.Variable(1)
    known = tf.is_variable_initialized(v)
    assert [session.run(known) for _ in range(2)] == [False, False]
    session.run(v.initializer)
    assert [session.run(known) for _ in range(2)] == [True, True]


def test_assert_variables_initialized(session):
    v = tf.Variable(1, name="v")
    check = tf.assert_variables_initialized()
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        session.run(check)
    session.run(v.initializer)
    session.run(check)


def test_an_assignment_can_be_fetched_from_a_final_graph(session):
    v = tf.Variable(1)
    more = tf.assign_add(v, 1)
    session.run(v.initializer)
    tf.get_default_graph().finalize()
    assert session.run(more) == 2


def test_variables_follow_their_device(session):
    with tf.device("/cpu:0"):
        v = tf.Variable(1)
    assert v.initializer.device == v.device
