"""Jacobians from one playback for all elements of the target, against one playback for each."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.autodiff import jacobians

KERNEL = tf.constant(np.linspace(-1, 1, 3 * 3 * 2 * 3).reshape(3, 3, 2, 3), tf.float32)
MATRIX = tf.constant(np.linspace(-1, 1, 20).reshape(5, 4), tf.float32)

def pooled(x):
    return tf.reduce_mean(tf.nn.max_pool2d(x, 2, 2, "SAME"), [1, 2])


# Functions of a matrix `[3, 5]`, whose rows do not depend on each other.
FUNCTIONS = {
    "dense": lambda x: tf.nn.softmax(x @ MATRIX) * tf.sin(x[:, 1:]),
    "reductions": lambda x: tf.stack([tf.reduce_max(x, 1), tf.reduce_logsumexp(x, -1), tf.norm(x, axis=1)], 1),
    "shapes": lambda x: tf.reshape(tf.transpose(tf.reshape(x**2, [-1, 5, 1]), [0, 2, 1]), [-1, 5])[:, ::2],
    "gathered": lambda x: tf.gather(x * x, [4, 0, 0], axis=1),
    "picked": lambda x: tf.where(x > 0, x**3, tf.exp(x)) - tf.cumsum(x, 1),
    "einsum": lambda x: tf.einsum("bi,ij->bj", tf.tanh(x), MATRIX),
    "joined": lambda x: tf.concat([tf.pad(x, [[0, 0], [1, 0]])[:, :2], tf.tile(x[:, :1] ** 2, [1, 2])], 1),
    "convolved": lambda x: pooled(tf.nn.conv2d(tf.reshape(tf.tile(x, [1, 10]), [-1, 5, 5, 2]), KERNEL, 1, "SAME")),
}  # fmt: skip


@pytest.fixture
def x():
    return tf.constant(np.random.default_rng(3).normal(size=(3, 5)), tf.float32)


@pytest.fixture(params=["eager", "function", "unknown batch"])
def within(request):
    if request.param == "eager":
        return lambda f: f
    signature = None if request.param == "function" else [tf.TensorSpec([None, 5])]
    return lambda f: tf.function(f, signature, autograph=False)


def both(monkeypatch, run):
    """The results with one playback for all rows, and with one for each."""
    played = []

    def at_once(*args):
        played.append(1)
        return original(*args)

    original = jacobians._at_once
    monkeypatch.setattr(jacobians, "_at_once", at_once)
    monkeypatch.setattr(jacobians, "_MANY", 0)
    monkeypatch.setattr(jacobians, "_MANY_IN_GRAPHS", 0)
    found = run()
    assert played
    monkeypatch.setattr(jacobians, "_at_once", lambda *args: None)
    return found


def one_by_one(f, x, batch):
    """The Jacobian of `f` by one gradient for each element of the target."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        parts = [[y[i, j] for j in range(y.shape[1])] for i in range(y.shape[0])]
    full = np.stack([np.stack([tape.gradient(part, x).numpy() for part in row]) for row in parts])
    return np.stack([full[i, :, i] for i in range(len(parts))]) if batch else full


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("batch", [False, True], ids=["jacobian", "batch_jacobian"])
def test_one_playback_for_all(monkeypatch, x, within, name, batch):
    f = FUNCTIONS[name]

    @within
    def derivatives(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.batch_jacobian(y, x) if batch else tape.jacobian(y, x)

    np.testing.assert_allclose(both(monkeypatch, lambda: derivatives(x)), one_by_one(f, x, batch), rtol=1e-5, atol=1e-6)


def test_variables_and_slices(monkeypatch):
    table = tf.Variable(np.arange(12.0).reshape(4, 3))

    def derivative():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 3, 1]) ** 2, 1)
        return tape.jacobian(y, table)

    want = np.zeros((3, 4, 3))
    for row, i in enumerate([1, 3, 1]):
        want[row, i] = 2 * table.numpy()[i]
    np.testing.assert_allclose(both(monkeypatch, derivative), want)


def test_unconnected_sources(monkeypatch, x):
    other = tf.Variable(1.0)

    def derivatives():
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * 2.0
        return tape.jacobian(y, [x, other]), tape.jacobian(y, other, unconnected_gradients="zero")

    (first, none), zero = both(monkeypatch, derivatives)
    assert first.shape == (3, 5, 3, 5)
    assert none is None
    np.testing.assert_array_equal(zero, np.zeros((3, 5)))


def test_gradient_of_a_jacobian(monkeypatch, x):
    def second():
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x**3
            total = tf.reduce_sum(tape.jacobian(y, x))
        return outer.gradient(total, x)

    np.testing.assert_allclose(both(monkeypatch, second), 6 * x.numpy(), rtol=1e-6)


def test_gradients_that_need_values_are_played_one_by_one(monkeypatch, x):
    @tf.custom_gradient
    def doubled(x):
        return 2 * x, lambda dy: dy * float(np.max(dy.numpy()))

    def derivative():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = doubled(x)
        return tape.jacobian(y, x)

    np.testing.assert_allclose(tf.reshape(both(monkeypatch, derivative), [15, 15]), np.eye(15))


def test_weights_of_a_graph():
    """A tape of eager operations may be played back while a function is traced."""
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * tf.ones([3, 1])
    weighted = tf.function(lambda w: tape.gradient(y, x, output_gradients=w))
    np.testing.assert_allclose(weighted(tf.ones([3, 2]) * [[1.0], [2.0], [4.0]]), [14.0, 28.0])


def test_no_elements():
    with tf.GradientTape() as tape:
        x = tf.zeros([0, 3])
        tape.watch(x)
        y = x * 2.0
    assert tape.jacobian(y, x).shape == (0, 3, 0, 3)


def test_batches_that_differ_raise():
    x = tf.zeros([2, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.concat([x, x], 0)
    with pytest.raises(ValueError, match="first dimension of target shape"):
        tape.batch_jacobian(y, x)


def slices(x):
    """Three rows, of which the second is zero, from `x`, two rows."""
    return tf.IndexedSlices(x * x, tf.constant([2, 0]), tf.constant([3, 2]))


@pytest.mark.parametrize("recording", [True, False])
@pytest.mark.parametrize("in_graph", [True, False])
def test_target_of_slices(recording, in_graph):
    """The dense form of slices is made after the program's last operation, and belongs to what is differentiated."""
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    def derivative():
        with tf.GradientTape() as tape:
            target = slices(x)
            if recording:
                return tape.jacobian(target, x)
        return tape.jacobian(target, x)

    expected = np.zeros([3, 2, 2, 2])
    for row, source in ((2, 0), (0, 1)):
        for k in range(2):
            expected[row, k, source, k] = 2 * x.numpy()[source, k]
    np.testing.assert_allclose((tf.function(derivative) if in_graph else derivative)(), expected)


def test_batch_jacobian_of_slices():
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        target = tf.IndexedSlices(x * 3.0, tf.constant([0, 1]), tf.constant([2, 2]))
    np.testing.assert_allclose(tape.batch_jacobian(target, x), 3.0 * np.stack([np.eye(2)] * 2))


def test_batch_jacobian_of_what_does_not_depend_on_the_source_is_zero():
    x = tf.constant([[2.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.constant([[1.0, 2.0, 3.0]])
    jacobian = tape.batch_jacobian(y, x)
    assert jacobian.shape == [1, 3, 2]
    assert not jacobian.numpy().any()


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("rows", [2, 4])
@pytest.mark.parametrize("count", [-1, 1, 2, 3, 4, 5, 9])
def test_parts_of_jacobians(persistent, rows, count):
    def made(method):
        with tf.GradientTape(persistent=persistent) as tape:
            x = tf.reshape(tf.range(2.0 * rows), [2, rows])
            tape.watch(x)
            y = x * x
        return getattr(tape, method)(y, x, parallel_iterations=count)

    for method, size, error in (("jacobian", 2 * rows, ValueError), ("batch_jacobian", rows, RuntimeError)):
        if count <= 1 or (not persistent and size >= count):
            with pytest.raises(ValueError if count <= 1 else error):
                made(method)
        else:
            assert made(method).shape[0] == 2
