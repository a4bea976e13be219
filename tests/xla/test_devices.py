"""Programs on `GPU:0` and `GPU:1`: two CPU devices of XLA's, or what there is."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest

pytest.importorskip("jax")

import tapeflow as tf
from tapeflow import _native
from tapeflow.contrib import eager as tfe

pytestmark = [
    pytest.mark.xla,
    pytest.mark.skipif(
        len(tf.config.list_physical_devices("GPU")) < 2, reason="needs two GPUs: TAPEFLOW_VIRTUAL_GPUS=2"
    ),
]

HOST, FIRST, SECOND = (f"/job:localhost/replica:0/task:0/device:{name}" for name in ("CPU:0", "GPU:0", "GPU:1"))


@pytest.fixture
def x(rng):
    return tf.constant(rng.normal(size=(3, 4)).astype(np.float32))


# What there is.


def test_devices_are_listed():
    physical = tf.config.list_physical_devices("GPU")
    assert [d.name for d in physical[:2]] == ["/physical_device:GPU:0", "/physical_device:GPU:1"]
    assert [d.name for d in tf.config.list_logical_devices("GPU")[:2]] == ["/device:GPU:0", "/device:GPU:1"]
    assert tfe.num_gpus() == len(physical)
    assert tf.test.is_gpu_available()
    assert tf.test.gpu_device_name() == "/device:GPU:0"
    assert "device_name" in tf.config.experimental.get_device_details(physical[0])


def test_a_hidden_device_cannot_be_used():
    every = tf.config.list_physical_devices()
    tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[0], "GPU")
    try:
        assert [d.name for d in tf.config.list_logical_devices("GPU")] == ["/device:GPU:0"]
        with tf.device("gpu:1"):  # the host stands in
            assert (tf.constant(1.0) + 1).device == HOST
        tf.config.set_soft_device_placement(False)
        with pytest.raises(tf.errors.InvalidArgumentError, match="GPU:1"), tf.device("gpu:1"):
            pass
    finally:
        tf.config.set_soft_device_placement(True)
        tf.config.set_visible_devices(every)


# Where tensors are.


def test_copies(x):
    y = x.gpu()
    assert (x.device, y.device, y.gpu(1).device, y.cpu().device) == (HOST, FIRST, SECOND, HOST)
    assert y.backing_device == FIRST
    for each in (y, y.gpu(1), y.gpu(1).cpu(), y.cpu()):
        np.testing.assert_array_equal(each.numpy(), x.numpy())
    with pytest.raises(RuntimeError, match="GPU:9 unknown device"):
        x.gpu(9)


@pytest.mark.parametrize("dtype", [tf.float64, tf.float16, tf.bfloat16, tf.int64, tf.uint8, tf.bool, tf.complex64])
def test_copies_keep_the_dtype(dtype):
    y = tf.cast([[0, 1], [1, 0]], dtype).gpu()
    assert (y.device, y.dtype) == (FIRST, dtype)
    assert tf.reshape(y, [4]).dtype == dtype
    assert y.cpu().numpy().tolist() == tf.cast([[0, 1], [1, 0]], dtype).numpy().tolist()


def test_devices_can_be_waited_for():
    import jax

    with tf.device("GPU:0"):
        x = tf.random.normal([500, 500])
        for _ in range(10):
            x = tf.matmul(x, x) / 500.0
    tf.test.experimental.sync_devices()
    assert all(each.is_ready() for each in jax.live_arrays())


def test_an_update_in_place_is_not_seen_by_a_copy():
    v = tf.Variable(np.zeros(1 << 12, np.float32))
    copied = v.read_value().gpu()
    v.assign_add(np.ones(1 << 12, np.float32))
    assert copied.numpy().sum() == 0


def test_a_scope_places_constants_and_results():
    with tf.device("/gpu:0"):
        assert tf.constant([1.0]).device == FIRST
        assert tf.constant([1]).device == HOST  # int32 is kept on the host
        assert tf.convert_to_tensor(np.ones(2)).device == FIRST
        assert tf.zeros([2]).device == FIRST
        assert tf.random.normal([2]).device == FIRST
        with tf.device("/gpu:1"):
            assert tf.ones([2]).device == SECOND
        with tf.device("/cpu:0"):
            assert tf.ones([2]).device == HOST
    assert tf.ones([2]).device == HOST


def test_host_and_device_mix(x):
    y = x.gpu(1)
    for z in (y + x, x + y, x.gpu(1) * 2.0, tf.concat([x, y], 0), tf.matmul(y, x, transpose_b=True)):
        assert z.device == SECOND
    assert (x.gpu() + y).device == FIRST
    with tf.device("gpu:0"):
        assert (y + y).device == FIRST


def test_shapes_need_no_device(x):
    y = x.gpu()
    assert tf.shape(y).device == tf.rank(y).device == tf.size(y).device == HOST
    assert tf.reshape(y, tf.shape(y)[::-1]).shape == (4, 3)


def test_what_cannot_be_compiled_runs_on_the_host():
    y = tf.constant([3.0, 1.0, 3.0]).gpu()
    values, at = tf.unique(y)
    assert (values.device, values.numpy().tolist(), at.numpy().tolist()) == (HOST, [3, 1], [0, 1, 0])
    assert tf.strings.as_string(y).numpy()[1] == b"1.000000"


def test_placement_is_logged(capfd, monkeypatch):
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)
    y = tf.constant([3.0, 1.0]).gpu()
    tf.debugging.set_log_device_placement(True)
    try:
        y + y
        tf.unique(y)
    finally:
        tf.debugging.set_log_device_placement(False)
    logged = capfd.readouterr().err
    assert f"Executing op AddV2 in device {FIRST}" in logged
    assert f"Executing op Unique in device {HOST}" in logged


def test_errors_are_those_of_the_host(x):
    y = x.gpu()
    with pytest.raises(tf.errors.InvalidArgumentError) as here:
        tf.matmul(x, x)
    with pytest.raises(tf.errors.InvalidArgumentError) as there:
        tf.matmul(y, y)
    assert str(here.value) == str(there.value)


def test_checks_of_values_raise():
    with tf.device("gpu:0"):
        bad = tf.constant([1.0, np.nan])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Tensor had NaN"):
            tf.debugging.check_numerics(bad, "a message")
        assert tf.debugging.check_numerics(bad[:1], "a message").device == FIRST
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.debugging.assert_equal(bad[0], 2.0)


def test_a_row_says_once_why_it_runs_on_the_host(monkeypatch, caplog):
    from tapeflow.xla import eager

    monkeypatch.setattr(eager, "_explained", set())
    with caplog.at_level("INFO", "tensorflow"):
        for width in (5, 6):
            y = tf.linalg.logm(tf.eye(width, dtype=tf.complex64).gpu())
            assert y.device == HOST
            assert tf.reduce_sum(y.gpu()).device == FIRST
    said = [r.message for r in caplog.records if "runs on the host" in r.message]
    assert said == ["MatrixLogarithm runs on the host: JAX has no logarithm of matrices"]


def test_a_fault_of_a_kernel_is_an_error(monkeypatch):
    """Whatever keeps a kernel from being compiled that was not foreseen does not move it to the host."""
    from tapeflow.xla import rows

    def fail(*_):
        raise KeyError("a fault of the kernel")

    x = tf.ones([5]).gpu()
    with monkeypatch.context() as patched:
        patched.setattr(rows, "run", fail)
        for _ in range(2):
            with pytest.raises(KeyError, match="a fault of the kernel"):
                tf.math.erfc(x)
    assert tf.math.erfc(x).device == FIRST


@pytest.mark.parametrize("exhausted", [False, True])
def test_a_lack_of_memory_is_not_remembered(exhausted, monkeypatch):
    from tapeflow.xla import rows
    from tapeflow.xla.importing import jax

    lack = jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory") if exhausted else MemoryError()
    x = tf.ones([7 + exhausted]).gpu()

    def fail(*_):
        raise lack

    with monkeypatch.context() as patched:
        patched.setattr(rows, "run", fail)
        with pytest.raises((MemoryError, tf.errors.ResourceExhaustedError)):
            tf.math.erf(x)
    assert tf.math.erf(x).device == FIRST


# A tensor as Python sees it.


def test_reading(x):
    y = x.gpu()
    assert np.array_equal(np.asarray(y), x.numpy())
    assert repr(y) == repr(x)
    assert str(y) == str(x)
    assert float(y[0, 0]) == float(x[0, 0])
    assert [row.device for row in y] == [FIRST] * 3
    assert (len(y), y.shape, y.nbytes) == (3, (3, 4), 48)
    assert np.array_equal(np.from_dlpack(y), x.numpy())
    again = pickle.loads(pickle.dumps(y))
    assert again.device == HOST
    assert np.array_equal(again.numpy(), x.numpy())
    assert bool(tf.reduce_all(y == x))


# Variables, tapes, optimizers.


def test_a_variable_stays_where_it_was_made():
    with tf.device("gpu:0"):
        v = tf.Variable([1.0, 2.0])
    assert v.device == FIRST
    v.assign([3.0, 4.0])
    v.assign_add([1.0, 1.0])
    v.assign_sub(tf.constant([0.5, 0.5]).gpu(1))
    assert (v.device, v.numpy().tolist()) == (FIRST, [3.5, 4.5])
    w = tf.Variable([0.0, 0.0])
    w.assign(v)
    assert (w.device, w.numpy().tolist()) == (HOST, [3.5, 4.5])
    v.scatter_nd_update([[0]], [9.0])
    assert (v.device, v.numpy().tolist()) == (FIRST, [9, 4.5])


def test_an_old_value_does_not_change():
    with tf.device("gpu:0"):
        v = tf.Variable([1.0])
    before = v.read_value()
    v.assign_add([1.0])
    assert (before.numpy().tolist(), v.numpy().tolist()) == ([1], [2])


def test_memory_returns_with_the_variable():
    gc.collect()
    before = tf.config.experimental.get_memory_info("GPU:0")["current"]
    with tf.device("gpu:0"):
        v = tf.Variable(tf.random.normal([1000, 1000]))
    assert tf.config.experimental.get_memory_info("GPU:0")["current"] - before >= 4_000_000
    v = None  # v no longer takes up GPU memory
    assert v is None
    assert tf.config.experimental.get_memory_info("GPU:0")["current"] == before
    assert tf.config.experimental.get_memory_info("GPU:0")["peak"] - before >= 4_000_000
    tf.config.experimental.reset_memory_stats("GPU:0")
    assert tf.config.experimental.get_memory_info("GPU:0")["peak"] == before


def gradients_of(x, v):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.tanh(tf.matmul(x, v)) ** 2) + tf.reduce_mean(tf.nn.softmax(x))
        dx, dv = inner.gradient(y, [x, v])
        total = tf.reduce_sum(dx * dx) + tf.reduce_sum(dv)
    return [y, dx, dv, *outer.gradient(total, [x, v])]


def test_gradients(x, rng):
    start = rng.normal(size=(4, 2)).astype(np.float32)
    want = gradients_of(x, tf.Variable(start))
    with tf.device("gpu:0"):
        v = tf.Variable(start)
    got = gradients_of(x.gpu(), v)
    assert {g.device for g in got} == {FIRST}
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-4, atol=1e-5)


def test_gradients_go_through_copies(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum((x.gpu() ** 2).cpu() * 3.0)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), 6 * x.numpy(), rtol=1e-6)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Adagrad", "Ftrl"])
def test_optimizers(name):
    results = []
    for place in ("cpu:0", "gpu:0"):
        with tf.device(place):
            v = tf.Variable([1.0, -2.0, 3.0])
            optimizer = getattr(tf.keras.optimizers, name)(0.1)
            for _ in range(3):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(v * v)
                optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        assert {w.device[-5:].lower() for w in optimizer.variables if w.dtype.is_floating} <= {place}
        assert v.device.lower().endswith(place)
        results.append(v.numpy())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5)


def test_slots_are_beside_their_variables():
    with tf.device("gpu:1"):
        v = tf.Variable([1.0, -2.0])
    optimizer = tf.keras.optimizers.Adam(0.1)
    optimizer.apply_gradients([(tf.constant([1.0, 1.0]), v)])
    assert {w.device for w in optimizer.variables if w.shape == v.shape} == {SECOND}


def test_random_numbers_are_those_of_the_host():
    results = []
    for place in ("cpu:0", "gpu:0"):
        tf.random.set_seed(5)
        with tf.device(place):
            drawn = [tf.random.normal([3]), tf.random.uniform([2, 2]), tf.random.normal([3])]
        results.append([y.numpy() for y in drawn])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_second_call_compiles_nothing(x):
    from tapeflow.xla import eager

    y = x.gpu()
    tf.sin(y) + tf.random.normal([3, 4])
    with tf.device("gpu:0"):
        tf.random.normal([7])
    count = len(eager._programs)
    tf.sin(y) + tf.random.normal([3, 4])
    with tf.device("gpu:0"):
        tf.random.normal([7])
    assert len(eager._programs) == count


def test_keras_model_trains():
    losses = []
    for place in ("cpu:0", "gpu:0"):
        tf.keras.utils.set_random_seed(3)
        with tf.device(place):
            model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
            optimizer = tf.keras.optimizers.Adam(0.01)
            given = tf.constant(np.linspace(-1, 1, 32, dtype=np.float32)[:, None])
            history = []
            for _ in range(4):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((model(given) - given**2) ** 2)
                optimizer.apply_gradients(
                    zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables, strict=True)
                )
                history.append(float(loss))
        assert {v.device.lower()[-5:] for v in model.trainable_variables} == {place}
        losses.append(history)
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)
    assert losses[1][-1] < losses[1][0]


def test_device_array_of_a_host_tensor(x):
    assert _native.device_array(x) == (0, None)
    with pytest.raises(TypeError, match="EagerTensor"):
        _native.device_array(3)
    with pytest.raises(ValueError, match="no such device"):
        _native.device_tensor(_native.device_array(x.gpu())[1], 1, 0)


# Functions.


def test_a_function_runs_on_the_device_of_its_arguments(x):
    f = tf.function(lambda a, b: tf.matmul(a, b, transpose_b=True) + 1.0)
    assert f(x, x).device == HOST
    assert f(x.gpu(1), x).device == SECOND
    assert f(x, x).device == HOST
    np.testing.assert_allclose(f(x.gpu(), x).numpy(), f(x, x).numpy(), rtol=1e-5)


def test_a_function_runs_on_the_device_of_the_scope(x):
    @tf.function
    def f(a):
        return a * 2.0, tf.random.normal([2])

    with tf.device("gpu:0"):
        assert [y.device for y in f(x)] == [FIRST, FIRST]

    @tf.function
    def placed_inside(a):
        with tf.device("gpu:1"):
            return a + 1.0

    assert placed_inside(x).device == SECOND


def steps(place, jit_compile=None):
    with tf.device(place):
        v = tf.Variable([1.0, -2.0, 3.0])
    optimizer = tf.keras.optimizers.Adam(0.1)

    @tf.function(jit_compile=jit_compile)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(v) * x)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
        return loss

    losses = [step(tf.constant([1.0, 2.0, 3.0])) for _ in range(4)]
    return v, losses


@pytest.mark.parametrize("jit_compile", [None, True])
def test_a_function_updates_variables_of_a_device(jit_compile):
    wanted, want = steps("cpu:0")
    v, losses = steps("gpu:0", jit_compile)
    assert v.device == FIRST
    assert {loss.device for loss in losses} == {FIRST}
    np.testing.assert_allclose(losses, want, rtol=1e-5)
    np.testing.assert_allclose(v.numpy(), wanted.numpy(), rtol=1e-5)


def test_a_function_that_cannot_be_compiled_runs_on_the_host():
    with tf.device("gpu:0"):
        v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(x):
        v.assign_add(x)
        return tf.unique(x).y

    result = f(tf.constant([4.0, 4.0, 5.0]).gpu())
    assert (result.device, result.numpy().tolist()) == (HOST, [4, 5])
    assert (v.device, v.numpy().tolist()) == (FIRST, [5, 6, 8])


def test_a_function_keeps_its_checks(x):
    @tf.function
    def f(a):
        tf.debugging.assert_positive(a)
        return a * 2.0

    with pytest.raises(tf.errors.InvalidArgumentError):
        f(-tf.abs(x.gpu()) - 1.0)
    np.testing.assert_allclose(f(tf.exp(x.gpu())).numpy(), 2 * np.exp(x.numpy()), rtol=1e-6)


def test_gradients_of_a_function(x):
    f = tf.function(lambda a: tf.reduce_sum(tf.sin(a) * a))
    results = []
    for given in (x, x.gpu()):
        with tf.GradientTape() as outer:
            outer.watch(given)
            with tf.GradientTape() as inner:
                inner.watch(given)
                y = f(given)
            dx = inner.gradient(y, given)
        results.append([dx, outer.gradient(dx, given)])
    assert {g.device for g in results[1]} == {FIRST}
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-4, atol=1e-5)


def test_a_call_that_fails_has_updated_its_variables_once():
    with tf.device("gpu:0"):
        first, second = tf.Variable([0.0, 0.0]), tf.Variable([0.0, 0.0])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def update(x):
        first.assign_add([1.0, 1.0])
        second.assign(x)

    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        update(tf.constant([1.0, 2.0, 3.0]))
    assert first.numpy().tolist() == [1.0, 1.0]
    update(tf.constant([5.0, 6.0]))  # on the device, as if nothing had been
    assert first.numpy().tolist() == [2.0, 2.0]
    assert second.numpy().tolist() == [5.0, 6.0]
    assert second.read_value().device == FIRST
