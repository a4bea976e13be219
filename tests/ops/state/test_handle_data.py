"""What graphs know of the variable behind a handle: its dtype and shape, also behind ops that hand the handle on."""

import numpy as np
import pytest

import tapeflow as tf

raw = tf.raw_ops
tf1 = tf.compat.v1

# How a handle may reach the op that uses it.
WAYS = {
    "itself": lambda handle: handle,
    "identity": tf.identity,
    "identity_n": lambda handle: tf.identity_n([tf.constant(1), handle])[1],
    "twice": lambda handle: tf.identity(tf.identity(handle)),
}


def handle(dtype, shape, name):
    return raw.VarHandleOp(dtype=dtype, shape=shape, shared_name=name)


# Calls that cannot be right for a float variable of shape [5, 2], and what TensorFlow 2.21 says of each in a graph.
WRONG = {
    "assign dtype": (
        lambda h: raw.AssignVariableOp(resource=h, value=tf.zeros([5, 2], tf.int32)),
        "Trying to read variable with wrong dtype. Expected float got int32",
    ),
    "assign rank": (
        lambda h: raw.AssignVariableOp(resource=h, value=1.0),
        "Shapes must be equal rank, but are 2 and 0",
    ),
    "assign_add": (
        lambda h: raw.AssignAddVariableOp(resource=h, value=tf.zeros([5, 3])),
        "Dimension 1 in both shapes must be equal, but are 2 and 3",
    ),
    "assign_sub": (
        lambda h: raw.AssignSubVariableOp(resource=h, value=tf.zeros([4, 2])),
        "Dimension 0 in both shapes must be equal, but are 5 and 4",
    ),
    "read": (
        lambda h: raw.ReadVariableOp(resource=h, dtype=tf.int64),
        "Trying to read variable with wrong dtype. Expected float got int64",
    ),
    "gather": (
        lambda h: raw.ResourceGather(resource=h, indices=[1], dtype=tf.float64),
        "Trying to read variable with wrong dtype. Expected float got double",
    ),
    "gather_nd": (
        lambda h: raw.ResourceGatherNd(resource=h, indices=[[1]], dtype=tf.float16),
        "Trying to read variable with wrong dtype. Expected float got half",
    ),
    "scatter": (
        lambda h: raw.ResourceScatterUpdate(resource=h, indices=[1, 2], updates=tf.zeros([3, 2])),
        "Dimension 0 in both shapes must be equal, but are 3 and 2",
    ),
    "scatter rows": (
        lambda h: raw.ResourceScatterAdd(resource=h, indices=[1, 2], updates=tf.zeros([2, 3])),
        "Dimension 1 in both shapes must be equal, but are 3 and 2",
    ),
    "scatter_nd": (
        lambda h: raw.ResourceScatterNdUpdate(ref=h, indices=[[1]], updates=tf.zeros([1, 3])),
        "must be equal",
    ),
    "gradient descent": (
        lambda h: raw.ResourceApplyGradientDescent(var=h, alpha=0.1, delta=tf.zeros([5])),
        "Shapes must be equal rank, but are 2 and 1",
    ),
    "gradient descent's rate": (
        lambda h: raw.ResourceApplyGradientDescent(var=h, alpha=[0.1], delta=tf.zeros([5, 2])),
        "equal rank|rank 0",
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", WRONG)
def test_graphs_refuse_what_cannot_be_right(case, way):
    call, message = WRONG[case]
    with tf.Graph().as_default():
        h = WAYS[way](handle(tf.float32, [5, 2], "v"))
        with pytest.raises(ValueError, match=message):
            call(h)


@pytest.mark.parametrize("way", WAYS)
def test_graphs_know_the_shape_of_what_is_read(way):
    with tf.Graph().as_default():
        h = WAYS[way](handle(tf.float32, [5, 2], "v"))
        assert raw.ReadVariableOp(resource=h, dtype=tf.float32).shape == [5, 2]
        assert raw.ResourceGather(resource=h, indices=[1, 2, 3], dtype=tf.float32).shape == [3, 2]
        assert raw.ResourceGatherNd(resource=h, indices=[[1]], dtype=tf.float32).shape == [1, 2]
        assert raw.VariableShape(input=h).shape == [2]


def test_what_is_not_known_is_not_refused():
    with tf.Graph().as_default(), tf1.Session() as session:
        h = handle(tf.float32, None, "v")
        fed = tf1.placeholder(tf.float32)
        for value in (1.0, tf.zeros([5, 2]), fed):
            raw.AssignVariableOp(resource=h, value=value)
        known = handle(tf.float32, [2], "w")
        assign = raw.AssignVariableOp(resource=known, value=fed)
        session.run(assign, {fed: [1.0, 2.0]})
        read = raw.ReadVariableOp(resource=known, dtype=tf.float32)
        np.testing.assert_array_equal(session.run(read), [1.0, 2.0])


@pytest.mark.parametrize("way", WAYS)
def test_handles_that_were_handed_on_at_once(way):
    original = handle(tf.int32, [2], f"eager {way}")
    h = WAYS[way](original)
    raw.AssignVariableOp(resource=h, value=[1, 2])
    raw.AssignAddVariableOp(resource=h, value=[1, 1])
    np.testing.assert_array_equal(raw.ReadVariableOp(resource=h, dtype=tf.int32), [2, 3])
    np.testing.assert_array_equal(raw.ReadVariableOp(resource=original, dtype=tf.int32), [2, 3])
    np.testing.assert_array_equal(raw.ResourceGather(resource=h, indices=[1], dtype=tf.int32), [3])
    message = r"wrong dtype\. Expected float got int32"
    for read in (
        lambda: raw.ReadVariableOp(resource=h, dtype=tf.float32),
        lambda: raw.ResourceGather(resource=h, indices=[1], dtype=tf.float32),
        lambda: raw.ResourceGatherNd(resource=h, indices=[[1]], dtype=tf.float32),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            read()
    for row in (raw.AssignVariableOp, raw.AssignAddVariableOp, raw.AssignSubVariableOp):
        with pytest.raises(tf.errors.InvalidArgumentError, match="wrong dtype"):
            row(resource=h, value=[1.0, 2.0])


def test_a_variable_that_has_no_value_takes_another_shape():
    with tf.Graph().as_default(), tf1.Session() as session:
        v = tf1.get_variable("x", [1, 1], use_resource=True)
        fed = tf1.placeholder(tf.float32)
        session.run(v.assign(fed), {fed: np.zeros([2, 2])})
        np.testing.assert_array_equal(session.run(v), np.zeros([2, 2]))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[2,2\] got \[1,1\]"):
            session.run(v.assign(fed), {fed: np.zeros([1, 1])})
