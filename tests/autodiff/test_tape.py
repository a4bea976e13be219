"""`GradientTape`."""

import gc

import numpy as np
import pytest

import tapeflow as tf


def test_square():
    w = tf.Variable([[1.0]])
    with tf.GradientTape() as tape:
        loss = w * w
    grad = tape.gradient(loss, w)
    assert str(grad) == "tf.Tensor([[2.]], shape=(1, 1), dtype=float32)"


def test_second_use_is_an_error():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.gradient(y, v).numpy() == 6.0
    with pytest.raises(RuntimeError) as caught:
        tape.gradient(y, v)
    assert str(caught.value) == (
        "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)"
    )
    assert tape.watched_variables()[0] is v


def test_persistent():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert tape.gradient(z, x).numpy() == 108.0
    assert tape.gradient(y, x).numpy() == 6.0


def test_nested():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    assert first.numpy() == 27.0
    assert outer.gradient(first, x).numpy() == 18.0


def test_stop_recording():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = y * y
    assert tape.gradient(z, x) is None


def test_reset():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        x * x
        tape.reset()
        tape.watch(x)
        y = 5 * x
    assert tape.gradient(y, x).numpy() == 5.0


def test_structures_and_unconnected():
    x, y, z = tf.constant(2.0), tf.constant(3.0), tf.constant([1.0, 1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch({"a": x, "b": [y, z]})
        result = x * y
    grads = tape.gradient(result, {"a": x, "b": [y, z]})
    assert (grads["a"].numpy(), grads["b"][0].numpy(), grads["b"][1]) == (3.0, 2.0, None)
    zero = tape.gradient(result, z, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert zero.numpy().tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        tape.gradient(result, z, unconnected_gradients="nonsense")


def test_output_gradients():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x, output_gradients=[10.0, 100.0]).numpy().tolist() == [20.0, 400.0]


def test_watch_refuses_others():
    with (
        tf.GradientTape() as tape,
        pytest.raises(ValueError, match="Passed in object a of type 'str'"),
    ):
        tape.watch("a")


def test_watch_warns_of_integers(caplog):
    with tf.GradientTape() as tape:
        tape.watch(tf.constant(1))
    assert caplog.messages == [
        "The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.int32"
    ]


def test_jacobians():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.jacobian(y, x).shape == (2, 2, 2, 2)
    assert tape.jacobian(y, x).numpy().reshape(4, 4).diagonal().tolist() == [2.0, 4.0, 6.0, 8.0]
    assert tape.batch_jacobian(y, x).numpy().tolist() == [[[2, 0], [0, 4]], [[6, 0], [0, 8]]]


def test_jacobian_is_one_use_of_a_tape():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    for jacobian, shape in ("jacobian", (2, 2, 2, 2)), ("batch_jacobian", (2, 2, 2)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        assert getattr(tape, jacobian)(y, x).shape == shape
        with pytest.raises(RuntimeError, match="one set of gradients"):
            getattr(tape, jacobian)(y, x)


def test_variable_without_watching():
    v = tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.gradient(y, v) is None


def test_explain():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        good = x * x
        bad = tf.floor(x)
    assert "The path from the source: Mul" in tape.explain(good, x)
    assert "broke at Floor" in tape.explain(bad, x)
    assert "was it watched" in tape.explain(good, tf.constant(1.0))


def test_gather_gives_slices():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.gather(v, [1, 1])
    grad = tape.gradient(y, v)
    assert isinstance(grad, tf.IndexedSlices)
    assert tf.convert_to_tensor(grad).numpy().tolist() == [[0.0, 0.0], [2.0, 2.0]]


def test_compute_gradient():
    exact, numeric = tf.test.compute_gradient(lambda x: x * x, [tf.constant([1.0, 2.0])])
    assert exact[0].tolist() == [[2.0, 0.0], [0.0, 4.0]]
    np.testing.assert_allclose(numeric[0], exact[0], atol=1e-3)


def test_graph_is_freed():
    import weakref

    v = tf.Variable(np.ones(4, np.float32))
    ref = weakref.ref(v)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    del v, tape, y
    gc.collect()
    assert ref() is None
