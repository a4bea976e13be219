"""Parts of graphs that XLA compiles: carved out unasked, or marked by `jit_scope` and `xla.experimental.compile`."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("jax")

from tapeflow.graph.run.clustering import clustering
from tapeflow.xla import clusters

pytestmark = pytest.mark.xla
v1 = tf.compat.v1
jit_scope = tf.xla.experimental.jit_scope
X = np.array([0.5, -1.0, 2.0], np.float32)


@pytest.fixture(autouse=True)
def programs(monkeypatch):
    """The clusters that are compiled, as lists of the types of their operations, without constants."""
    made = []
    run = clusters._Program.run

    def watch(self, *values):
        results = run(self, *values)
        kinds = [op.type for op in self._cluster.operations if op.type != "Const"]
        if self._plan is None and kinds not in made:
            made.append(kinds)
        return results

    monkeypatch.setattr(clusters._Program, "run", watch)
    return made


@pytest.fixture
def auto():
    """Functions are clustered while the test runs."""
    tf.config.optimizer.set_jit("autoclustering")
    yield
    tf.config.optimizer.set_jit(False)


def twice_in_python(x):
    y = tf.numpy_function(lambda a: a * 2, [x], x.dtype)
    y.set_shape(x.shape)
    return y


def mixed(x):
    """A computation with Python in the middle."""
    y = tf.tanh(x) * 2.0 + tf.exp(x) - x * x
    z = twice_in_python(y)
    return tf.sin(z) * z + tf.cos(z) / 2.0 + y


# What is carved out.


@pytest.mark.usefixtures("auto")
@pytest.mark.parametrize("value", [True, "autoclustering"])
def test_what_python_does_stays_outside(programs, value):
    tf.config.optimizer.set_jit(value)
    got = tf.function(mixed)(X)
    assert programs == [
        ["Tanh", "Mul", "Exp", "AddV2", "Mul", "Sub"],
        ["Sin", "Mul", "Cos", "RealDiv", "AddV2", "AddV2", "Identity"],
    ]
    np.testing.assert_allclose(got, mixed(tf.constant(X)), rtol=1e-5)


def test_nothing_is_carved_out_unasked(programs):
    tf.function(mixed)(X)
    assert not programs


@pytest.mark.usefixtures("auto")
def test_gradients(programs):
    def polynomial(x):
        y = tf.tanh(x) * 2.0 + tf.exp(x) - x * x
        tf.print("between", output_stream="file:///dev/null")
        return tf.reduce_sum(tf.sin(y) * y + tf.cos(y) / 2.0)

    def gradient(function):
        with tf.GradientTape() as tape:
            x = tf.Variable(X)
            y = function(x)
        return tape.gradient(y, x)

    want = gradient(polynomial)
    np.testing.assert_allclose(gradient(tf.function(lambda x: polynomial(x))), want, rtol=1e-5)
    assert any("TanhGrad" in kinds for kinds in programs)


@pytest.mark.usefixtures("auto")
def test_independent_operations_around_one_of_the_host_are_one_cluster(programs):
    @tf.function
    def f(x):
        a = tf.exp(x) + x
        s = tf.strings.as_string(x)
        b = tf.sin(x) * x
        return a * b, s

    f(tf.constant(X))
    assert programs == [["Exp", "AddV2", "Sin", "Mul", "Mul", "Identity"]]


@pytest.mark.usefixtures("auto")
def test_few_operations_are_not_worth_it(programs):
    tf.function(lambda x: tf.exp(x) + 1.0)(X)
    assert not programs


@pytest.mark.usefixtures("auto")
def test_loops_and_branches(programs):
    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = tf.sin(x) + 1.0
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2.0, lambda: x)

    y = X
    for _ in range(3):
        y = np.sin(y) + 1
    np.testing.assert_allclose(f(X), y * 2, rtol=1e-5)
    assert len(programs) == 1
    assert {"While", "If"} <= set(programs[0])


@pytest.mark.usefixtures("auto")
def test_a_loop_with_python_in_its_body_has_clusters_in_it(programs):
    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = twice_in_python(tf.sin(x) + tf.cos(x) * 0.5 - x / 3.0)
        return x

    y = X
    for _ in range(3):
        y = 2 * (np.sin(y) + np.cos(y) * 0.5 - y / 3)
    np.testing.assert_allclose(f(X), y, rtol=1e-4)
    assert programs[0][:6] == ["Sin", "Cos", "Mul", "AddV2", "RealDiv", "Sub"]


@pytest.mark.usefixtures("auto")
def test_checks_raise():
    @tf.function
    def f(x):
        tf.debugging.assert_positive(x, message="no")
        return tf.sqrt(x) + tf.exp(x) * x - 1.0

    f(tf.constant([1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="no"):
        f(tf.constant([-1.0]))


@pytest.mark.usefixtures("auto")
def test_the_order_of_effects_is_kept(programs):
    v = tf.Variable(1.0)
    seen = []

    @tf.function
    def f(x):
        v.assign(v * x + 1.0 - x / 2.0)
        tf.numpy_function(lambda: seen.append(v.numpy()), [], [])
        v.assign(v * x + 2.0 - x / 2.0)
        tf.numpy_function(lambda: seen.append(v.numpy()), [], [])
        return v + 0.0

    assert f(tf.constant(2.0)).numpy() == 5
    assert seen == [2.0, 5.0]
    assert f(tf.constant(2.0)).numpy() == 21
    assert len(programs) >= 2


@pytest.mark.usefixtures("auto")
def test_what_turns_out_not_to_compile_is_left_out(programs, caplog):
    @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None], tf.int32)])
    def f(x, shape):
        y = tf.exp(x) * x + tf.sin(x) - 1.0
        z = tf.reshape(y, shape)  # a shape that only the call knows
        return tf.cos(z) * z + tf.tanh(z) - 2.0

    x = np.arange(6, dtype=np.float32) / 7
    y = np.exp(x) * x + np.sin(x) - 1
    z = y.reshape(2, 3)
    with caplog.at_level(logging.INFO, logger="tensorflow"):
        np.testing.assert_allclose(f(x, [2, 3]), np.cos(z) * z + np.tanh(z) - 2, rtol=1e-5)
    assert "Reshape cannot be compiled: the value of its input `shape`" in caplog.text
    assert ["Exp", "Mul", "Sin", "AddV2", "Sub"] in programs
    assert len(programs) == 2
    z = y.reshape(3, 2)
    np.testing.assert_allclose(f(x, [3, 2]), np.cos(z) * z + np.tanh(z) - 2, rtol=1e-5)


@pytest.mark.usefixtures("auto")
def test_ever_other_shapes_are_compiled_no_more(caplog):
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def f(x):
        return tf.reduce_sum(tf.exp(x) * x + tf.sin(x) - 1.0)

    with caplog.at_level(logging.INFO, logger="tensorflow"):
        for n in range(1, 13):
            x = np.linspace(0, 1, n, dtype=np.float32)
            np.testing.assert_allclose(f(x), (np.exp(x) * x + np.sin(x) - 1).sum(), rtol=1e-5)
    assert "is compiled no more" in caplog.text


@pytest.mark.usefixtures("auto")
def test_models_train_as_without():
    def losses():
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential([
            tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dropout(0.2), tf.keras.layers.Dense(1)
        ])
        model.compile("adam", "mse")
        x = np.random.default_rng(0).normal(size=(32, 4)).astype(np.float32)
        return model.fit(x, x[:, :1], epochs=3, batch_size=8, verbose=0).history["loss"]

    got = losses()
    tf.config.optimizer.set_jit(False)
    np.testing.assert_allclose(got, losses(), rtol=1e-4)


# Who asks for it.


@pytest.mark.parametrize(("level", "count"), [("OFF", 0), ("DEFAULT", 0), ("ON_1", 2), ("ON_2", 2)])
def test_a_session_says_so(programs, level, count):
    config = v1.ConfigProto()
    options = config.graph_options.optimizer_options
    options.global_jit_level = getattr(v1.OptimizerOptions, level)
    with tf.Graph().as_default(), v1.Session(config=config) as session:
        x = v1.placeholder(tf.float32, [None])
        v = v1.get_variable("v", [3], initializer=v1.ones_initializer(), use_resource=True)
        y = tf.tanh(x) * v + tf.exp(x) - x * x
        z = twice_in_python(y)
        loss = tf.reduce_sum(tf.sin(z) * z + y * y - z)
        train = v.assign_sub(0.1 * tf.gradients(tf.reduce_sum(tf.sin(y) * y), v)[0])
        session.run(v.initializer)
        for _ in range(2):
            got = session.run([loss, train, y], {x: X})
        value = np.tanh(X) * 1.0 + np.exp(X) - X * X
        assert got[0].shape == ()
        assert got[2].shape == value.shape
        assert len(programs) == count


def test_sessions_give_what_they_give_without():
    def run(level):
        config = v1.ConfigProto()
        config.graph_options.optimizer_options.global_jit_level = level
        with tf.Graph().as_default(), v1.Session(config=config) as session:
            x = v1.placeholder(tf.float32, [3])
            v = v1.get_variable("v", [3], initializer=v1.ones_initializer())
            y = tf.reduce_sum(twice_in_python(tf.tanh(x * v) * v + tf.exp(v) - x))
            train = v1.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.sin(x * v) * v - tf.exp(v)))
            session.run(v1.global_variables_initializer())
            return [session.run([y, train], {x: X})[0] for _ in range(3)] + list(session.run(v))

    np.testing.assert_allclose(run(v1.OptimizerOptions.ON_1), run(v1.OptimizerOptions.OFF), rtol=1e-5)


@pytest.mark.parametrize(
    ("flags", "level", "want"),
    [
        ("--tf_xla_auto_jit=2", 0, (True, 4)),
        ("--tf_xla_auto_jit=1 --tf_xla_min_cluster_size=1", 0, (True, 1)),
        ("--tf_xla_auto_jit=fusible --tf_xla_cpu_global_jit", None, (True, 4)),
        ("--tf_xla_auto_jit=-1", 0, (False, 4)),
        ("--tf_xla_auto_jit=2", -1, (False, 4)),
        ("", 2, (True, 4)),
        ("", None, (False, 4)),
    ],
)
def test_flags_of_the_environment(monkeypatch, flags, level, want):
    monkeypatch.setenv("TF_XLA_FLAGS", flags)
    assert clustering(level) == want


def test_a_flag_that_is_no_number(monkeypatch):
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=yes")
    with pytest.raises(ValueError, match="tf_xla_auto_jit must be a number, got 'yes'"):
        clustering()


# Marks.


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_scopes_are_clusters_of_their_own(graph, programs):
    x = v1.placeholder(tf.float32, [3])
    with jit_scope():
        y = tf.exp(x) + 1.0
    y = tf.sin(y)
    with jit_scope():
        z = tf.square(y) - x
    with v1.Session() as session:
        np.testing.assert_allclose(session.run(z, {x: X}), np.sin(np.exp(X) + 1) ** 2 - X, rtol=1e-5)
    assert programs == [["Exp", "AddV2"], ["Square", "Sub"]]


def test_automatic_clusters_do_not_heed_scopes_but_what_is_excluded(graph, programs):
    x = v1.placeholder(tf.float32, [3])
    with jit_scope():
        y = tf.exp(x) + 1.0
    with jit_scope():
        y = tf.sin(y) * 2.0
    with jit_scope(compile_ops=False):
        y = tf.square(y)
    config = v1.ConfigProto()
    config.graph_options.optimizer_options.global_jit_level = v1.OptimizerOptions.ON_1
    with v1.Session(config=config) as session:
        np.testing.assert_allclose(session.run(y, {x: X}), (np.sin(np.exp(X) + 1) * 2) ** 2, rtol=1e-5)
    assert programs == [["Exp", "AddV2", "Sin", "Mul"]]


@pytest.mark.parametrize("separate", [False, True])
def test_gradients_of_scopes(graph, programs, separate):
    x = v1.placeholder(tf.float32, [3])
    with jit_scope(separate_compiled_gradients=separate):
        y = tf.exp(x) * x
    (dx,) = tf.gradients(y, x)
    with v1.Session() as session:
        np.testing.assert_allclose(session.run(dx, {x: X}), np.exp(X) * X + np.exp(X), rtol=1e-5)
    assert len(programs) == (2 if separate else 1)


def test_scopes_in_functions(programs):
    @tf.function
    def f(x):
        with jit_scope():
            y = tf.exp(x) + x
        return tf.sin(y)

    np.testing.assert_allclose(f(X), np.sin(np.exp(X) + X), rtol=1e-4)
    assert programs == [["Exp", "AddV2"]]


def test_a_fed_tensor_of_a_cluster(graph, programs):
    x = v1.placeholder(tf.float32, [3])
    with jit_scope():
        a = tf.exp(x)
        b = a + 1.0
    with v1.Session() as session:
        np.testing.assert_allclose(session.run(b, {a: X}), X + 1)
        np.testing.assert_allclose(session.run([a, b], {x: X})[1], np.exp(X) + 1, rtol=1e-6)
    assert programs == [["AddV2"], ["Exp", "AddV2"]]


def test_a_compiled_computation(graph, programs):
    def step(x, y):
        v = v1.get_variable("v", [3], initializer=v1.ones_initializer())
        update = v.assign_add(x * y)
        with tf.control_dependencies([update]):
            return tf.exp(x) + y, tf.reduce_sum(v.read_value())

    x = v1.placeholder(tf.float32, [3])
    a, b = tf.xla.experimental.compile(step, [x, 2.0])
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for n in (1, 2):
            got = session.run([a, b], {x: X})
            np.testing.assert_allclose(got[0], np.exp(X) + 2, rtol=1e-6)
            np.testing.assert_allclose(got[1], 3 + n * 2 * X.sum(), rtol=1e-6)
    (compiled,) = [kinds for kinds in programs if "Exp" in kinds]
    assert {"AssignAddVariableOp", "Sum"} <= set(compiled)


def test_a_computation_that_cannot_be_compiled(graph):
    x = v1.placeholder(tf.float32, [3])
    (y,) = tf.xla.experimental.compile(lambda x: twice_in_python(x) + 1.0, [x])
    with v1.Session() as session, pytest.raises(tf.errors.UnimplementedError, match="cannot be compiled"):
        session.run(y, {x: X})


def test_a_compiled_computation_eagerly():
    (y,) = tf.xla.experimental.compile(lambda x: tf.exp(x) + 1.0, [X])
    np.testing.assert_allclose(y, np.exp(X) + 1, rtol=1e-6)
