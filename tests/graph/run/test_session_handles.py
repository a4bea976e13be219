"""Tensors that stay in a session."""

import pytest

import tapeflow.compat.v1 as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_tensor_stays(session):
    kept = session.run(tf.get_session_handle(tf.constant(5) * 2))
    holder, x = tf.get_session_tensor(kept.handle, tf.int32)
    assert session.run(x + 1, {holder: kept.handle}) == 11
    assert kept.eval() == 10
    gone, delete = tf.delete_session_tensor(kept.handle)
    session.run(delete, {gone: kept.handle})
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not in the session store"):
        session.run(x, {holder: kept.handle})


def test_a_handle_again_and_again(session):
    fetched = tf.get_session_handle(tf.constant([1.0]))
    assert [session.run(fetched).eval().tolist() for _ in range(3)] == [[1.0]] * 3


def test_a_handle_can_be_fed(session):
    x = tf.constant(5) * 2
    kept = session.run(tf.get_session_handle(tf.constant(7)))
    assert session.run(x, {x: kept}) == 7
