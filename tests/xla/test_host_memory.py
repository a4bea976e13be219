"""Compiled functions on the host: values stay arrays of XLA between calls, and nothing else sees them change."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import tapeflow as tf

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.xla

from tapeflow.xla import host_memory  # noqa: E402

SIZES = [3, 300, 400_000]  # copied, shared, and lent where it is an argument


def address(x):
    return np.asarray(memoryview(x)).ctypes.data


def known(tensor):
    """The array that is known for a tensor."""
    return host_memory.HostMemory().array_of(tensor)


@pytest.fixture(params=SIZES)
def step(request):
    """A variable, and a compiled function that adds to it."""
    v = tf.Variable(tf.zeros([request.param]))

    @tf.function(jit_compile=True)
    def add(x):
        v.assign_add(x)
        return v * 2.0

    return v, add, tf.ones([request.param])


def test_values_stay_arrays_between_calls(step):
    v, add, one = step
    add(one)
    array = known(v.read_value())
    assert isinstance(array, jax.Array)
    if array.nbytes >= 1024:
        assert array.unsafe_buffer_pointer() == address(v.read_value())
    add(one)
    assert np.unique(v.numpy()).tolist() == [2]


def test_updates_between_calls_are_seen(step):
    v, add, one = step
    add(one)
    v.assign_add(one * 10)  # in place, where nobody else has the value
    assert np.unique(add(one).numpy()).tolist() == [24]
    v.assign(one * 5)
    assert np.unique(add(one).numpy()).tolist() == [12]
    tf.function(lambda: v.assign_sub(one))()
    assert np.unique(add(one).numpy()).tolist() == [12]


def test_what_was_read_does_not_change(step):
    v, add, one = step
    first = add(one)
    before = v.read_value()
    v.assign(first)
    v.assign_add(one)
    add(one)
    assert np.unique(first.numpy()).tolist() == [2]
    assert np.unique(before.numpy()).tolist() == [1]
    assert np.unique(v.numpy()).tolist() == [4]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.int64, tf.bool, tf.bfloat16, tf.complex64])
def test_arguments_that_come_again(size, dtype):
    f = tf.function(lambda x: (x, tf.concat([x, x], 0)), jit_compile=True)
    x = tf.cast(tf.range(size) % 2, dtype)
    for _ in range(3):
        same, twice = f(x)
        assert same.dtype == twice.dtype == dtype
        np.testing.assert_array_equal(same.numpy(), x.numpy())
        np.testing.assert_array_equal(twice.numpy(), np.concatenate([x.numpy()] * 2))
    np.testing.assert_array_equal(f(same)[0].numpy(), x.numpy())


def test_shapes_that_are_not_known():
    total = tf.Variable(0.0)

    @tf.function(input_signature=[tf.TensorSpec([None])], jit_compile=True)
    def add(x):
        total.assign_add(tf.reduce_sum(x))
        return tf.reverse(x, [0])

    for n in (2, 3, 2):
        assert add(tf.range(float(n))).numpy().tolist() == list(range(n))[::-1]
    assert total.numpy() == 5


def test_variables_among_the_arguments():
    f = tf.function(lambda v, w: v.assign_add(2.0 * w), jit_compile=True)
    a, b = tf.Variable([1.0]), tf.Variable([10.0])
    for want in ([21.0], [41.0]):
        f(a, b)
        assert a.numpy().tolist() == want
    f(b, b)
    assert b.numpy().tolist() == [30.0]
    f(b, a)
    assert b.numpy().tolist() == [112.0]


def test_a_value_of_another_shape_is_refused():
    v = tf.Variable([1.0], shape=[None])

    @tf.function(jit_compile=True)
    def grow():
        v.assign(tf.concat([v, v], 0))

    grow()
    grow()
    assert v.shape == [None]
    assert v.numpy().tolist() == [1] * 4


def test_arrays_go_with_their_tensors():
    def used():
        v = tf.Variable(tf.zeros([1000]))
        f = tf.function(lambda x: v.assign_add(x) + 1.0, jit_compile=True)
        for _ in range(3):
            f(tf.ones([1000]))

    gc.collect()
    before = len(host_memory.arrays)
    used()
    gc.collect()
    assert len(host_memory.arrays) == before
