"""Compiled functions on the host: values stay arrays of XLA between calls, and nothing else sees them change."""

from __future__ import annotations

import contextlib
import gc
import threading

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


@pytest.mark.parametrize("size", [*SIZES, 40_000])
def test_arrays_go_with_their_tensors(size):
    def used():
        v = tf.Variable(tf.zeros([size]))
        f = tf.function(lambda x: v.assign_add(x) + 1.0, jit_compile=True)
        x = tf.ones([size])
        for _ in range(3):
            f(x)

    used()  # what jax keeps for itself
    gc.collect()
    before = len(jax.live_arrays())
    used()
    gc.collect()
    assert len(jax.live_arrays()) == before


def test_numbers_of_64_bits_keep_their_digits():
    x = tf.constant(np.linspace(0, 1, 40_000))
    f = tf.function(lambda x: x * 3.0, jit_compile=True)
    for _ in range(3):
        np.testing.assert_array_equal(f(x).numpy(), x.numpy() * 3.0)


# What training copies.


@pytest.fixture
def training():
    """Variables, a compiled step of Adam that returns the loss, and arguments that are arrays already."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(300, activation="relu"), tf.keras.layers.Dense(10)])
    optimizer = tf.keras.optimizers.Adam()
    x, y = tf.random.normal([64, 100]), tf.random.normal([64, 10])
    model(x)

    @tf.function(jit_compile=True)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    for _ in range(3):
        step(x, y)
    return [*model.trainable_variables, *optimizer.variables()], step, (x, y)


@pytest.fixture
def copies(monkeypatch):
    """The copies of tensors to the device that are made."""
    made = []
    constant = host_memory.HostMemory.constant

    def watch(self, tensor):
        made.append(tensor)
        return constant(self, tensor)

    monkeypatch.setattr(host_memory.HostMemory, "constant", watch)
    return made


def test_training_copies_nothing(training, copies):
    variables, step, arguments = training
    before = variables[0].numpy()
    with jax.transfer_guard("disallow"):  # refuses what is no array of the device
        for _ in range(10):
            loss = step(*arguments)
    assert not copies
    assert np.isfinite(loss.numpy())
    assert np.any(variables[0].numpy() != before)


def test_a_new_batch_is_all_that_is_copied(training, copies):
    _, step, (x, y) = training
    step(x + 1.0, y)
    with jax.transfer_guard("disallow"), pytest.raises(Exception, match="Disallowed host-to-device transfer"):
        step(x + 1.0, y)
    assert not copies


def test_updates_reuse_the_memory_of_values(training):
    variables, step, arguments = training
    large = [v for v in variables if v.shape.num_elements() >= 1000]
    assert len(large) == 6
    before = {address(v.read_value()) for v in large}
    step(*arguments)
    assert {address(v.read_value()) for v in large} == before


def test_a_value_that_is_held_is_not_overwritten(training):
    variables, step, arguments = training
    held = [v.read_value() for v in variables]
    before = [x.numpy().copy() for x in held]
    for _ in range(3):
        step(*arguments)
    for x, old in zip(held, before, strict=True):
        np.testing.assert_array_equal(x.numpy(), old)
        assert known(x) is not None
        np.testing.assert_array_equal(np.asarray(known(x)), old)


def test_readers_wait_for_an_update():
    """Threads that read a variable while programs take its value always find one that was there."""
    v = tf.Variable(tf.zeros([50_000]))
    step = tf.function(lambda: v.assign(tf.sin(v) * 0.0 + v + 1.0), jit_compile=True)
    step()
    seen, done = [], threading.Event()

    def read():
        while not done.is_set():
            value = v.numpy()
            seen.append((value.shape, value.min(), value.max()))

    readers = [threading.Thread(target=read) for _ in range(3)]
    for each in readers:
        each.start()
    for _ in range(100):
        step()
    done.set()
    for each in readers:
        each.join()
    assert seen
    assert all(shape == (50_000,) and low == high for shape, low, high in seen)
    assert v.numpy()[0] == 101


def test_programs_that_read_what_the_other_assigns(monkeypatch):
    """Two threads have taken the values of their variables, and none waits for the other's."""
    a, b = tf.Variable(tf.ones([300])), tf.Variable(tf.ones([300]))
    steps = [
        tf.function(lambda: a.assign_add(b * 0.0 + 1.0), jit_compile=True),
        tf.function(lambda: b.assign_add(a * 0.0 + 1.0), jit_compile=True),
    ]
    for step in steps:
        step()
    both = threading.Barrier(2)
    own_array = host_memory.HostMemory.own_array

    def met(self, tensor):
        with contextlib.suppress(threading.BrokenBarrierError):  # the other waits to read this one's
            both.wait(1)
        return own_array(self, tensor)

    monkeypatch.setattr(host_memory.HostMemory, "own_array", met)
    threads = [threading.Thread(target=step, daemon=True) for step in steps]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert not any(each.is_alive() for each in threads)
    assert np.unique(a.numpy()).tolist() == np.unique(b.numpy()).tolist() == [3]


def test_values_are_put_back_where_memory_is_short(monkeypatch):
    a, b = tf.Variable(tf.zeros([300])), tf.Variable(tf.ones([300]))
    step = tf.function(lambda: (a.assign_add(b), b.assign_add(a)), jit_compile=True)
    step()
    before = a.numpy(), b.numpy()
    given = []
    own_array = host_memory.HostMemory.own_array

    def scarce(self, tensor):
        given.append(tensor.shape)
        if len(given) == 2:
            raise MemoryError
        return own_array(self, tensor)

    monkeypatch.setattr(host_memory.HostMemory, "own_array", scarce)
    with pytest.raises(MemoryError):
        step()
    np.testing.assert_array_equal((a.numpy(), b.numpy()), before)
    step()
    np.testing.assert_array_equal(a.numpy(), before[0] + before[1])


def test_a_value_that_is_taken_is_not_read_in_the_midst(monkeypatch):
    """What interrupts the thread of a program, such as a handler of signals, finds no value, and the next run does."""
    v = tf.Variable(tf.zeros([300]))
    step = tf.function(lambda: v.assign_add(tf.ones([300])), jit_compile=True)
    step()
    seen = []
    own_array = host_memory.HostMemory.own_array

    def interrupted(self, tensor):
        for read in (v.numpy, lambda: v + 1.0, lambda: v.assign_add(tf.ones([300])), step):
            with pytest.raises(tf.errors.FailedPreconditionError, match="not finished") as raised:
                read()
            seen.append(raised)
        return own_array(self, tensor)

    with monkeypatch.context() as patch:
        patch.setattr(host_memory.HostMemory, "own_array", interrupted)
        step()
    assert len(seen) == 4
    assert np.unique(v.numpy()).tolist() == [2]
    step()
    assert np.unique(v.numpy()).tolist() == [3]
