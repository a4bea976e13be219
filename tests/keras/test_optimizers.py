"""Keras optimizers: settings, schedules, clipping, and updates against formulas."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release

optimizers = tf.keras.optimizers
W = np.array([1.0, -2.0, 3.0])
G = [np.array([0.5, -1.0, 0.25]), np.array([-1.5, 0.5, 2.0])]


def updated(optimizer):
    w = tf.Variable(W)
    for g in G:
        optimizer.apply_gradients([(tf.constant(g), w)])
    return w.numpy()


def adam(w, amsgrad=False):
    m = v = highest = np.zeros(3)
    for t, g in enumerate(G, 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        highest = np.maximum(highest, v) if amsgrad else v
        w = w - 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m / (np.sqrt(highest) + 1e-7)
    return w


def sgd(w, nesterov=False):
    velocity = np.zeros(3)
    for g in G:
        velocity = 0.9 * velocity - 0.1 * g
        w = w + (0.9 * velocity - 0.1 * g if nesterov else velocity)
    return w


def root(x, epsilon):
    return np.sqrt(x) + epsilon if release.keras_2() else np.sqrt(x + epsilon)


def rmsprop(w, epsilon=1e-7, centered=False):
    ms = mean = np.zeros(3)
    for g in G:
        ms, mean = 0.9 * ms + 0.1 * g * g, 0.9 * mean + 0.1 * g
        w = w - 0.1 * g / root(ms - mean * mean if centered else ms, epsilon)
    return w


def adamax(w):
    m = u = np.zeros(3)
    for t, g in enumerate(G, 1):
        m, u = 0.9 * m + 0.1 * g, np.maximum(0.999 * u, np.abs(g))
        w = w - 0.1 / (1 - 0.9**t) * m / (u + 1e-7)
    return w


def adagrad(w, epsilon=1e-7):
    a = np.full(3, 0.1)
    for g in G:
        a = a + g * g
        w = w - 0.1 * g / root(a, epsilon)
    return w


CASES = {
    "SGD": (lambda: optimizers.SGD(0.1), W - 0.1 * sum(G)),
    "momentum": (lambda: optimizers.SGD(0.1, 0.9), sgd(W)),
    "nesterov": (lambda: optimizers.SGD(0.1, 0.9, nesterov=True), sgd(W, True)),
    "Adam": (lambda: optimizers.Adam(0.1), adam(W)),
    "AMSGrad": (lambda: optimizers.Adam(0.1, amsgrad=True), adam(W, True)),
    "Adamax": (lambda: optimizers.Adamax(0.1), adamax(W)),
    "RMSprop": (lambda: optimizers.RMSprop(0.1), rmsprop(W)),
    "RMSprop epsilon": (lambda: optimizers.RMSprop(0.1, epsilon=0.5), rmsprop(W, 0.5)),
    "RMSprop centered": (
        lambda: optimizers.RMSprop(0.1, epsilon=0.5, centered=True),
        rmsprop(W, 0.5, True),
    ),
    "Adagrad": (lambda: optimizers.Adagrad(0.1), adagrad(W)),
    "Adagrad epsilon": (lambda: optimizers.Adagrad(0.1, epsilon=0.5), adagrad(W, 0.5)),
    "clipvalue": (
        lambda: optimizers.SGD(0.1, clipvalue=0.5),
        W - 0.1 * sum(np.clip(g, -0.5, 0.5) for g in G),
    ),
    "clipnorm": (
        lambda: optimizers.SGD(0.1, clipnorm=1.0),
        W - 0.1 * sum(g / max(1, np.linalg.norm(g)) for g in G),
    ),
    "decay": (lambda: optimizers.SGD(0.1, decay=1.0), W - 0.1 * G[0] - 0.05 * G[1]),
    "schedule": (
        lambda: optimizers.SGD(optimizers.schedules.PiecewiseConstantDecay([0], [0.1, 0.01])),
        W - 0.1 * G[0] - 0.01 * G[1],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_updates(name):
    make, expected = CASES[name]
    np.testing.assert_allclose(updated(make()), expected, rtol=1e-5)
    config = make().get_config()
    np.testing.assert_allclose(updated(type(make()).from_config(config)), expected, rtol=1e-5)


def test_settings_can_change():
    optimizer = optimizers.SGD(0.1)
    w = tf.Variable(0.0)
    optimizer.apply_gradients([(tf.constant(-1.0), w)])
    optimizer.lr = 0.5
    optimizer.apply_gradients([(tf.constant(-1.0), w)])
    optimizer.learning_rate.assign(2.0)
    optimizer.apply_gradients([(tf.constant(-1.0), w)])
    np.testing.assert_allclose(w.numpy(), 2.6, rtol=1e-6)
    assert int(optimizer.iterations) == 3
    assert optimizer.get_config()["learning_rate"] == 2.0


def test_minimize_and_slots():
    w = tf.Variable(1.0, name="w")
    optimizer = optimizers.Adam(0.1)
    optimizer.minimize(lambda: w * w, [w])
    names = ["iteration", "learning_rate", "w_0_momentum", "w_0_velocity"]
    assert [v.path for v in optimizer.variables] == [f"{optimizer.name}/{name}" for name in names]
    assert optimizer.get_slot_names() == ["m", "v"]
    optimizer.set_weights(optimizer.get_weights())


def test_sparse_adam_touches_only_its_rows_first():
    w = tf.Variable(tf.ones([3, 2]))
    gradient = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 1]))
    optimizers.Adam(0.1).apply_gradients([(gradient, w)])
    np.testing.assert_allclose(w.numpy(), [[1, 1], [0.9, 0.9], [1, 1]], rtol=1e-5)


BAD = {
    "keyword": (lambda w: optimizers.SGD(foo=1), ValueError, r"not recognized: {.foo.: 1}"),
    "momentum": (lambda w: optimizers.SGD(momentum=2.0), ValueError, "between"),
    "no gradient": (
        lambda w: optimizers.SGD().apply_gradients([(None, w)]),
        ValueError,
        "No gradients provided",
    ),
    "name": (lambda w: optimizers.get("nope"), ValueError, "Could not interpret optimizer identifier: nope"),
    "loss": (lambda w: optimizers.SGD().minimize(w * w, [w]), ValueError, "`tape` is required"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, error, message = BAD[name]
    with pytest.raises(error, match=message):
        call(tf.Variable(1.0))


def test_the_rate_of_a_schedule_is_that_of_the_moment(monkeypatch):
    schedule = optimizers.schedules.ExponentialDecay(0.5, 1, 0.5)
    optimizer, w = optimizers.SGD(schedule), tf.Variable(1.0)
    rates = []
    for _ in range(3):
        rates.append(float(optimizer.learning_rate))
        optimizer.apply_gradients([(tf.constant(1.0), w)])
    assert rates == [0.5, 0.25, 0.125]
    with pytest.raises(TypeError, match="created with a `LearningRateSchedule`"):
        optimizer.learning_rate = 0.1
    monkeypatch.setattr(release, "_keras_2", True)
    assert optimizer.learning_rate is schedule
    optimizer.learning_rate = 0.1
    assert float(optimizer.learning_rate) == np.float32(0.1)


def test_nadam_of_keras_2_keeps_its_schedule(monkeypatch):
    steps = []
    for legacy in (False, True):
        monkeypatch.setattr(release, "_keras_2", legacy)
        w, optimizer = tf.Variable(1.0), optimizers.Nadam(0.1)
        for _ in range(3):
            optimizer.apply_gradients([(2 * w, w)])
        steps.append(float(w))
        assert ("decay" in optimizer.get_config()) == legacy
    assert abs(steps[0] - steps[1]) > 1e-3


def test_optimizers_create_variables_in_the_first_trace_only():
    """As in Keras 3; optimizers of Keras 2 create theirs outside of all traces."""

    @tf.function
    def step(v, optimizer):
        optimizer.apply_gradients([(v * 0 + 1, v)])

    v = tf.Variable(2.0)
    first, second = (optimizers.SGD(0.5, momentum=0.9) for _ in range(2))
    step(v, first)
    with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables created on the first call"):
        step(v, second)
    second.build([v])
    step(v, second)
    assert v.numpy() == pytest.approx(1.0)


def test_wrappers_of_optimizers_as_keras_2_had_them():
    """A subclass adds its own weights to those of the optimizer that it wraps, which has the learning rate."""

    class Wrapper(tf.keras.optimizers.Optimizer):
        def __init__(self, inner):
            super().__init__("Wrapper")
            self.inner = inner

        @property
        def weights(self):
            return self._weights + self.inner.weights

        def _create_slots(self, var_list):
            for var in var_list:
                self.add_slot(var, "average")

        def _resource_apply_dense(self, grad, var, apply_state=None):
            return var.assign_sub(0.5 * tf.cast(grad, var.dtype))

        def get_config(self):
            return {"name": self._name}

    optimizer = Wrapper(tf.keras.optimizers.SGD(0.1))
    var = tf.Variable([1.0, 2.0])
    optimizer.apply_gradients([(tf.constant([2.0, 2.0]), var)])
    np.testing.assert_allclose(var, [0.0, 1.0])
    assert len(optimizer._weights) == 2
    assert optimizer.weights[:2] == optimizer._weights
    scaled = tf.keras.mixed_precision.LossScaleOptimizer(Wrapper(tf.keras.optimizers.SGD(0.1)))
    scaled.build([var])
    scaled.apply_gradients([(tf.constant([2.0, 2.0]) * 2.0**15, var)])
    np.testing.assert_allclose(var, [-1.0, 0.0])
