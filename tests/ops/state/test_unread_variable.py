"""What an eager assignment returns."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import tapeflow as tf

UPDATES = {
    "assign": lambda v: v.assign([2.0]),
    "assign of a list of another dtype": lambda v: v.assign(np.array([2])),
    "assign_add": lambda v: v.assign_add([1.0]),
    "assign_add of a tensor": lambda v: v.assign_add(tf.constant([1.0])),
    "assign_sub": lambda v: v.assign_sub(tf.constant([-1.0])),
    "scatter_nd_update": lambda v: v.scatter_nd_update([[0]], [2.0]),
    "scatter_add": lambda v: v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))),
    "a part": lambda v: v[0].assign(2.0),
    "1.x": lambda v: tf.compat.v1.assign(v, [2.0]),
    "again": lambda v: v.assign([9.0]).assign([2.0]),
}


@pytest.mark.parametrize("update", UPDATES)
def test_shows_itself_as_tensorflow_does(update):
    after = UPDATES[update](tf.Variable([1.0], name="weight"))
    assert repr(after) == (
        "<tf.Variable 'UnreadVariable' shape=(1,) dtype=float32, numpy=array([2.], dtype=float32)>"
    )
    assert after.name == "UnreadVariable"
    assert isinstance(after, tf.Variable)


def test_shares_value_and_attributes_with_the_variable():
    v = tf.Variable([1.0], trainable=False, constraint=tf.nn.relu)
    after = v.assign([2.0])
    assert after is not v
    assert after.constraint is tf.nn.relu
    assert not after.trainable
    assert after.device == v.device
    v.assign_add([1.0])
    np.testing.assert_array_equal(after, [3.0])
    after.assign([7.0])
    np.testing.assert_array_equal(v, [7.0])
    assert v.name == "Variable:0"


def test_keeps_the_variable_alive():
    after = tf.Variable(1.0).assign(3.0)
    gc.collect()
    assert (after + 1.0).numpy() == 4.0
    assert after.assign_add(1.0).numpy() == 4.0


def test_a_circle_of_both_is_collected():
    v = tf.Variable(1.0)
    v.after = v.assign(3.0)
    alive = weakref.ref(v)
    del v
    gc.collect()
    assert alive() is None


def test_gradients_are_those_of_the_variable():
    v = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        after = v.assign(4.0)
        y = after * after + v
    assert tape.gradient(y, v).numpy() == 9.0
    assert tape.gradient(y, after).numpy() == 9.0
    assert tape.watched_variables()[0] is v


def test_functions_use_the_variable():
    v = tf.Variable(3.0)
    after = v.assign(4.0)

    @tf.function
    def f(given):
        with tf.GradientTape() as tape:
            y = after * v * given
        after.assign_add(1.0)
        return tape.gradient(y, v), v.read_value()

    gradient, value = f(after)
    assert gradient.numpy() == 3 * 4.0**2
    assert value.numpy() == 5.0
    assert v.numpy() == 5.0


def test_copies_are_variables_of_their_own():
    after = tf.Variable(3.0).assign(4.0)
    for twin in (copy.copy(after), copy.deepcopy(after), pickle.loads(pickle.dumps(after))):
        assert type(twin) is tf.Variable
        assert twin.numpy() == 4.0
        twin.assign(1.0)
    assert after.numpy() == 4.0


def test_checkpoints_hold_its_value(tmp_path):
    v = tf.Variable(3.0)
    saved = tf.train.Checkpoint(x=v.assign(4.0)).save(str(tmp_path / "c"))
    v.assign(0.0)
    other = tf.Variable(1.0)
    tf.train.Checkpoint(x=other).restore(saved).assert_consumed()
    assert other.numpy() == 4.0


def test_a_subclass_returns_its_own_variables():
    class Counter(tf.Variable):
        pass

    counter = Counter(1)
    assert counter.assign_add(1) is counter


def test_read_value_false_returns_nothing():
    v = tf.Variable(1.0)
    assert v.assign(2.0, read_value=False) is None
    assert v.assign_add(2.0, read_value=False) is None
