"""`Variable`: creation, assignment, parts, lifetime."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import tapeflow as tf


def test_text_and_names():
    v = tf.Variable([1.0, 2.0])
    assert repr(v) == (
        "<tf.Variable 'Variable:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    )
    with tf.name_scope("a"):
        assert tf.Variable(lambda: 1.0, name="b").name == "a/b:0"


def test_creation_errors():
    with pytest.raises(ValueError, match="initial_value"):
        tf.Variable()
    with pytest.raises(ValueError, match="is not compatible with the explicitly supplied `shape`"):
        tf.Variable([1.0, 2.0], shape=[3])
    with pytest.raises(ValueError, match="Argument `constraint` must be None or a callable"):
        tf.Variable(1.0, constraint=1)


def test_assign():
    v = tf.Variable([1.0, 2.0])
    before = v.read_value()
    after = v.assign_add([1.0, 1.0])
    assert after.numpy().tolist() == v.numpy().tolist() == [2.0, 3.0]
    v.assign_sub(tf.constant([0.5, 0.5]))
    assert v.numpy().tolist() == [1.5, 2.5]
    assert before.numpy().tolist() == [1.0, 2.0]
    source = tf.constant([7.0, 8.0])
    v.assign(source)
    v.assign_add(v)
    assert v.numpy().tolist() == [14.0, 16.0]
    assert source.numpy().tolist() == [7.0, 8.0]


def test_assign_errors():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError) as caught:
        v.assign([1.0, 2.0, 3.0])
    assert str(caught.value) == (
        "Cannot assign value to variable ' Variable:0': Shape mismatch.The variable shape (2,), and the "
        "assigned value shape (3,) are incompatible."
    )
    with pytest.raises(ValueError, match="Tensor conversion requested dtype float32"):
        v.assign(tf.constant([1, 2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot update variable with shape"):
        v.assign_add([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="`variable \\+= value`"):
        v += 1
    assert v.numpy().tolist() == [1.0, 2.0]


def test_partial_shape():
    v = tf.Variable([1.0], shape=tf.TensorShape([None]))
    v.assign([1.0, 2.0, 3.0])
    assert v.shape.as_list() == [None]
    assert v.numpy().tolist() == [1.0, 2.0, 3.0]


def test_parts():
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    v[1:3].assign([20.0, 30.0])
    with pytest.raises(TypeError, match="does not support item assignment"):
        v[0] = 10.0
    assert v.numpy().tolist() == [1.0, 20.0, 30.0, 4.0]
    assert v[1:3].numpy().tolist() == [20.0, 30.0]
    assert [float(x) for x in v] == [1.0, 20.0, 30.0, 4.0]


def test_scatter():
    v = tf.Variable([1.0, 2.0, 3.0])
    v.scatter_add(tf.IndexedSlices(tf.constant([5.0, 5.0]), tf.constant([0, 0])))
    v.scatter_nd_update([[2]], [9.0])
    assert v.numpy().tolist() == [11.0, 2.0, 9.0]
    assert v.sparse_read([2, 0]).numpy().tolist() == [9.0, 11.0]
    with pytest.raises(TypeError, match=r"must be a `tf\.IndexedSlices`"):
        v.scatter_add(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="7 is not in"):
        v.scatter_sub(tf.IndexedSlices(tf.constant([5.0]), tf.constant([7])))
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    w.batch_scatter_update(tf.IndexedSlices(tf.constant([[9.0], [8.0]]), tf.constant([[0], [1]])))
    assert w.numpy().tolist() == [[9.0, 2.0], [3.0, 8.0]]


def test_as_tensor_and_numbers():
    v = tf.Variable(3.0)
    assert (v * 2).numpy() == 6.0
    assert (2 - v).numpy() == -1.0
    assert (-v).numpy() == -3.0
    assert float(v) == 3.0
    assert bool(v > 2)
    assert np.asarray(v) == 3.0
    n = tf.Variable(5)
    assert int(n.count_up_to(6)) == 5
    assert list(range(10))[n] == 6
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 6"):
        n.count_up_to(6)


def test_identity():
    v = tf.Variable(1.0)
    with pytest.raises(TypeError, match=r"Variable is unhashable\. Instead, use variable\.ref"):
        hash(v)
    assert v.ref() == v.ref()
    assert {v.ref(): 1}[v.ref()] == 1
    assert v.ref().deref() is v


def test_copies():
    v = tf.Variable([1.0], name="n", trainable=False)
    for twin in (copy.copy(v), copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        twin.assign([2.0])
        assert (twin.name, twin.trainable, twin.numpy().tolist()) == ("n:0", False, [2.0])
    assert v.numpy().tolist() == [1.0]


def test_memory_goes_at_once():
    v = tf.Variable(np.zeros(100, np.float32))
    v.assign_add(np.ones(100, np.float32))
    handle, ref = v.handle, weakref.ref(v)
    gc.disable()
    try:
        del v
        assert ref() is None
    finally:
        gc.enable()
    assert handle.dtype == tf.resource


def test_creator_scope():
    made = []

    def creator(next_creator, **kwargs):
        made.append(kwargs["name"])
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        v = tf.Variable(1.0, name="x")
    assert made == ["x"]
    assert v.numpy() == 1.0
