"""Stacks behind handles."""

import pytest

import tapeflow as tf

raw = tf.raw_ops


def stack(most=-1):
    return raw.StackV2(max_size=most, elem_type=tf.float32)


def pop(handle, dtype=tf.float32):
    return raw.StackPopV2(handle=handle, elem_type=dtype)


def test_the_last_is_the_first_to_go():
    handle = stack()
    for x in (1.0, [2.0, 3.0]):
        pushed = raw.StackPushV2(handle=handle, elem=x)
        assert pushed.numpy().tolist() == x
    assert pop(handle).numpy().tolist() == [2.0, 3.0]
    assert pop(handle).numpy() == 1.0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda h: raw.StackPushV2(handle=h, elem=1.0), r"overflowed its max_size \(1\)"),
        (lambda h: raw.StackPushV2(handle=h, elem=1), "Must have type float32 but got int32"),
        (lambda h: pop(h, tf.int32), "Must have type float32 but got int32"),
        (lambda h: (pop(h), pop(h)), "is empty"),
        (lambda h: (raw.StackCloseV2(handle=h), pop(h)), "already been closed"),
        (lambda h: stack([1, 2]), r"must be a scalar, got shape \(2,\)"),
    ],
)
def test_errors(bad, message):
    handle = stack(1)
    raw.StackPushV2(handle=handle, elem=4.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        bad(handle)


def test_every_run_of_a_graph_has_its_own():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        handle = stack()
        pushed = raw.StackPushV2(handle=handle, elem=[[4.0]])
        with tf.control_dependencies([pushed]):
            popped = pop(handle)
        with tf.control_dependencies([popped]):
            beyond = pop(handle)
        assert session.run(popped).tolist() == [[4.0]]
        assert session.run(popped).tolist() == [[4.0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="is empty"):
            session.run(beyond)
