"""Gradients by tensors that are put away and taken out again: once through lists, none through queues and datasets."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

R = tf.raw_ops


def _list(*values):
    made = R.EmptyTensorList(element_shape=tf.constant([], tf.int32), element_dtype=tf.float32, max_num_elements=-1)
    for value in values:
        made = R.TensorListPushBack(input_handle=made, tensor=value)
    return made


def _popped(x):
    return R.TensorListPopBack(input_handle=_list(x), element_shape=-1, element_dtype=tf.float32)[1]


def _got(x):
    held = R.TensorListSetItem(input_handle=_list(tf.constant(1.0), x), index=0, item=x)
    items = [
        R.TensorListGetItem(input_handle=held, index=i, element_shape=-1, element_dtype=tf.float32) for i in (0, 1)
    ]
    return items[0] + items[1]


@pytest.mark.parametrize(("through", "times"), [(_popped, 2.0), (_got, 4.0)])
def test_through_a_list(through, times):
    x = tf.constant(1.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = through(x) * 2.0
    assert tape.gradient(y, x).numpy() == times
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant(1.5)
        assert session.run(tf.gradients(through(x) * 2.0, x)) == [times]


def _queued(x):
    queue = tf.queue.FIFOQueue(3, [tf.float32], [[]])
    queue.enqueue(x)
    return queue.dequeue()


def _by_priority(x):
    queue = tf.queue.PriorityQueue(3, [tf.float32], [[]])
    queue.enqueue((tf.constant(1, tf.int64), x))
    return queue.dequeue()[1]


def _staged(x):
    R.Stage(values=[x], shared_name="put away")
    return R.Unstage(dtypes=[tf.float32], shared_name="put away")[0]


def _staged_by_key(x):
    R.MapStage(key=1, indices=[0], values=[x], dtypes=[tf.float32], shared_name="by key")
    return R.MapUnstage(key=1, indices=[0], dtypes=[tf.float32], shared_name="by key")[0]


@pytest.mark.parametrize(
    "through",
    [
        _queued,
        _by_priority,
        _staged,
        _staged_by_key,
        lambda x: next(iter(tf.data.Dataset.from_tensors(x))),
        lambda x: next(iter(tf.data.Dataset.from_tensors((x, x))))[1],
        lambda x: next(iter(tf.data.Dataset.from_tensors(tf.ragged.constant([[1.0]]).with_values(x[None])))).values,
        lambda x: next(iter(tf.data.Dataset.from_tensor_slices((x[None], None))))[0],
        lambda x: next(iter(tf.data.Dataset.range(1).map(lambda _: x))),
        lambda x: tf.data.Dataset.from_tensors(x).get_single_element(),
    ],
)
def test_through_what_has_no_gradient(through):
    x = tf.constant(1.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        taken = through(x)
        y = taken * 2.0
    np.testing.assert_array_equal(taken, np.reshape(1.5, taken.shape))
    assert tape.gradient(y, x) is None


def _grown(x):
    made = R.TensorListFromTensor(tensor=x, element_shape=tf.constant([], tf.int32))
    made = R.TensorListSetItem(input_handle=made, index=3, item=4.0, resize_if_index_out_of_bounds=True)
    return R.TensorListStack(input_handle=made, element_shape=tf.constant([], tf.int32), element_dtype=tf.float32)


def _array_grown(x):
    return tf.TensorArray(tf.float32, 3, dynamic_size=True).unstack(x).write(3, 4.0).stack()


@pytest.mark.parametrize("grown", [_grown, _array_grown])
def test_through_a_list_that_grows(grown):
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = grown(x) * tf.constant([1.0, 2.0, 3.0, 4.0])
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(gradient(x), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(tf.function(gradient)(x), [1.0, 2.0, 3.0])
    any_size = tf.function(gradient, input_signature=[tf.TensorSpec([None])])
    np.testing.assert_array_equal(any_size(x), [1.0, 2.0, 3.0])
