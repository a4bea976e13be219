"""Optimizers of 1.x against their formulas, written here in NumPy."""

import contextlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import train

START = np.array([[1.0, -2.0], [0.5, 3.0]], np.float32)
GRADIENTS = [np.array([[0.1, -0.2], [0.3, 0.4]], np.float32) * k for k in (1.0, -2.0, 0.5)]


def gradient_descent(w, gradients):
    for g in gradients:
        w = w - 0.1 * g
    return w


def momentum(w, gradients, nesterov=False):
    a = np.zeros_like(w)
    for g in gradients:
        a = 0.9 * a + g
        w = w - (0.1 * g + 0.1 * 0.9 * a if nesterov else 0.1 * a)
    return w


def adam(w, gradients):
    m = v = np.zeros_like(w)
    for t, g in enumerate(gradients, 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        rate = 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        w = w - rate * m / (np.sqrt(v) + 1e-8)
    return w


def adagrad(w, gradients):
    a = np.full_like(w, 0.1)
    for g in gradients:
        a = a + g * g
        w = w - 0.1 * g / np.sqrt(a)
    return w


def adadelta(w, gradients):
    a = u = np.zeros_like(w)
    for g in gradients:
        a = 0.95 * a + 0.05 * g * g
        step = np.sqrt(u + 1e-8) / np.sqrt(a + 1e-8) * g
        u = 0.95 * u + 0.05 * step * step
        w = w - 0.1 * step
    return w


def rmsprop(w, gradients, centered=False):
    ms, mg, mom = np.ones_like(w), np.zeros_like(w), np.zeros_like(w)
    for g in gradients:
        ms = 0.9 * ms + 0.1 * g * g
        mg = 0.9 * mg + 0.1 * g
        mom = 0.5 * mom + 0.1 * g / np.sqrt(ms - (mg * mg if centered else 0) + 1e-10)
        w = w - mom
    return w


CASES = {
    "GradientDescent": (lambda: train.GradientDescentOptimizer(0.1), gradient_descent),
    "Momentum": (lambda: train.MomentumOptimizer(0.1, 0.9), momentum),
    "Nesterov": (
        lambda: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        lambda w, g: momentum(w, g, True),
    ),
    "Adam": (lambda: train.AdamOptimizer(0.1), adam),
    "Adagrad": (lambda: train.AdagradOptimizer(0.1), adagrad),
    "Adadelta": (lambda: train.AdadeltaOptimizer(0.1), adadelta),
    "RMSProp": (lambda: train.RMSPropOptimizer(0.1, momentum=0.5), rmsprop),
    "centered RMSProp": (
        lambda: train.RMSPropOptimizer(0.1, momentum=0.5, centered=True),
        lambda w, g: rmsprop(w, g, True),
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dense_updates(name, dtype):
    make, formula = CASES[name]
    optimizer = make()
    w = tf.Variable(START.astype(dtype))
    for g in GRADIENTS:
        optimizer.apply_gradients([(tf.constant(g.astype(dtype)), w)])
    expected = formula(START.astype(np.float64), [g.astype(np.float64) for g in GRADIENTS])
    np.testing.assert_allclose(w.numpy(), expected, rtol=2e-5)


@pytest.mark.parametrize("name", CASES)
def test_sparse_updates_add_up_equal_rows(name):
    make, formula = CASES[name]
    optimizer = make()
    w = tf.Variable(START)
    rows = GRADIENTS[0]
    values = tf.constant(np.concatenate([rows / 2, rows / 2]))
    optimizer.apply_gradients([(tf.IndexedSlices(values, tf.constant([0, 1, 0, 1])), w)])
    np.testing.assert_allclose(w.numpy(), formula(START, GRADIENTS[:1]), rtol=2e-5)


def test_rows_without_a_gradient_stay():
    w = tf.Variable(START)
    gradient = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([1]))
    train.AdagradOptimizer(0.1).apply_gradients([(gradient, w)])
    np.testing.assert_array_equal(w.numpy()[0], START[0])
    assert (w.numpy()[1] != START[1]).all()


def test_minimize_a_function():
    w = tf.Variable(1.0)
    step = tf.Variable(0, dtype=tf.int64)
    optimizer = train.GradientDescentOptimizer(0.1)
    for _ in range(3):
        optimizer.minimize(lambda: w * w, global_step=step)
    np.testing.assert_allclose(w.numpy(), 0.8**3, rtol=1e-6)
    assert int(step) == 3


def test_global_step():
    step = train.get_or_create_global_step()
    assert train.get_or_create_global_step() is step
    assert train.get_global_step() is step
    assert (step.dtype, step.shape.rank) == (tf.int64, 0)
    with pytest.raises(ValueError, match="already exists"):
        train.create_global_step()


def test_slots():
    w = tf.Variable(START, name="w")
    optimizer = train.AdamOptimizer(0.1)
    optimizer.apply_gradients([(tf.ones([2, 2]), w)])
    assert optimizer.get_slot_names() == ["m", "v"]
    np.testing.assert_allclose(optimizer.get_slot(w, "m").numpy(), 0.1, rtol=1e-6)
    names = [variable.name for variable in optimizer.variables()]
    assert names == ["beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0"]


def test_slots_go_with_their_variable():
    optimizer = train.AdamOptimizer(0.1)
    w = tf.Variable(START)
    optimizer.apply_gradients([(tf.ones([2, 2]), w)])
    del w
    assert optimizer.get_slot_names() == []


def test_constraint_is_applied():
    w = tf.Variable(1.0, constraint=lambda x: tf.maximum(x, 0.5))
    train.GradientDescentOptimizer(1.0).apply_gradients([(tf.constant(3.0), w)])
    assert float(w) == 0.5


BAD = {
    "no variables": (lambda o, w: o.apply_gradients([]), ValueError, "No variables provided"),
    "no gradients": (
        lambda o, w: o.apply_gradients([(None, w)]),
        ValueError,
        "No gradients provided",
    ),
    "no variable": (
        lambda o, w: o.apply_gradients([(tf.constant(1.0), 3)]),
        NotImplementedError,
        "Trying to optimize unsupported type 3",
    ),
    "a tensor": (
        lambda o, w: o.apply_gradients([(tf.constant(1.0), tf.constant(2.0))]),
        NotImplementedError,
        "Trying to update a Tensor",
    ),
    "a string": (
        lambda o, w: o.apply_gradients([("a", w)]),
        TypeError,
        "Gradient must be convertible",
    ),
    "no step": (
        lambda o, w: o.apply_gradients([(tf.constant(1.0), w)], global_step=3),
        TypeError,
        "must be a variable",
    ),
    "loss is no function": (lambda o, w: o.minimize(w * w), RuntimeError, "should be a function"),
    "loss of nothing": (
        lambda o, w: o.minimize(lambda: tf.constant(1.0)),
        ValueError,
        "No gradients provided",
    ),
    "another shape": (
        lambda o, w: o.apply_gradients([(tf.ones([2]), w)]),
        tf.errors.InvalidArgumentError,
        "shape",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    call, error, message = BAD[name]
    w = tf.Variable(1.0)
    with pytest.raises(error, match=message):
        call(train.GradientDescentOptimizer(0.1), w)
    assert float(w) == 1.0


DECAYS = {
    "exponential_decay": ((0.1, 3, 0.9), 0.1 * 0.9 ** (5 / 3)),
    "natural_exp_decay": ((0.1, 3, 0.9), 0.1 * np.exp(-0.9 * 5 / 3)),
    "inverse_time_decay": ((0.1, 3, 0.9), 0.1 / (1 + 0.9 * 5 / 3)),
    "polynomial_decay": ((0.1, 10), (0.1 - 0.0001) * 0.5 + 0.0001),
    "cosine_decay": ((0.1, 10), 0.05),
}


@pytest.mark.parametrize("name", DECAYS)
def test_decay(name):
    (rate, *settings), expected = DECAYS[name]
    step = tf.Variable(5, dtype=tf.int64)
    decayed = getattr(train, name)(rate, step, *settings)
    np.testing.assert_allclose(decayed().numpy(), expected, rtol=1e-5)


def test_decay_follows_the_step():
    step = tf.Variable(0, dtype=tf.int64)
    rate = train.piecewise_constant(step, [1, 2], [1.0, 0.5, 0.25])
    w = tf.Variable(0.0)
    optimizer = train.GradientDescentOptimizer(rate)
    for _ in range(4):
        optimizer.apply_gradients([(tf.constant(-1.0), w)], global_step=step)
    assert float(w) == 1.0 + 1.0 + 0.5 + 0.25


def test_moving_average():
    w = tf.Variable(1.0)
    average = train.ExponentialMovingAverage(0.9)
    average.apply([w])
    w.assign(2.0)
    average.apply([w])
    np.testing.assert_allclose(average.average(w).numpy(), 1.1, rtol=1e-6)


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.0), (0.001, 0.0), (0.0, 2.0), (0.001, 2.0)])
def test_dual_averaging_counts_steps_from_one(l1, l2):
    rate, start, gradient = 3.0, 0.1, np.array([0.1, 0.2])
    step = tf.Variable(0, dtype=tf.int64)
    w = tf.Variable([4.0, 3.0])
    optimizer = train.AdagradDAOptimizer(
        rate, step, initial_gradient_squared_accumulator_value=start,
        l1_regularization_strength=l1, l2_regularization_strength=l2,
    )  # fmt: skip
    total, squares = np.zeros(2), np.full(2, start)
    for t in range(1, 4):
        optimizer.apply_gradients([(tf.constant(gradient, tf.float32), w)], global_step=step)
        total, squares = total + gradient, squares + gradient**2
        cut = np.sign(total) * np.maximum(np.abs(total) - l1 * t, 0)
        np.testing.assert_allclose(w, -rate * cut / (np.sqrt(squares) + l2 * t * rate), rtol=1e-4)


NAMES = """
    graph  first  beta1_power beta2_power layer/w/Adam layer/w/Adam_1
    graph  second beta1_power_1 beta2_power_1 layer/w/Adam_2 layer/w/Adam_3
    graph  named  layer/w/Adam_4 layer/w/Adam_5 scope/beta1_power scope/beta2_power
    graph  inside below/beta1_power below/beta2_power below/layer/w/Adam below/layer/w/Adam_1
    graph  both   below2/in/beta1_power below2/in/beta2_power below2/layer/w/Adam below2/layer/w/Adam_1
    eager  first  beta1_power beta2_power layer/w/Adam layer/w/Adam_1
    eager  second beta1_power beta2_power layer/w/Adam_2 layer/w/Adam_3
    eager  named  layer/w/Adam_4 layer/w/Adam_5 scope/beta1_power scope/beta2_power
    eager  inside below/beta1_power below/beta2_power below/layer/w/Adam below/layer/w/Adam_1
    eager  both   below2/in/beta1_power below2/in/beta2_power below2/layer/w/Adam below2/layer/w/Adam_1
"""


@pytest.mark.parametrize("mode", ["graph", "eager"])
def test_names_of_own_variables_and_slots(mode):
    """What checkpoints of sessions go by: names that depend on the scopes around `minimize`, as in TensorFlow."""
    v1 = tf.compat.v1
    expected = [line.split()[1:] for line in NAMES.splitlines() if line.split()[:1] == [mode]]
    with tf.Graph().as_default() if mode == "graph" else contextlib.nullcontext():
        if mode == "eager":
            v1.reset_default_graph()  # where scopes are counted from the start
        with tf.name_scope("layer"):
            w = tf.Variable([1.0, 2.0], name="w")
        around = {
            "named": [tf.name_scope("scope")],
            "inside": [v1.variable_scope("below")],
            "both": [v1.variable_scope("below2"), tf.name_scope("in")],
        }
        for case, *names in expected:
            with contextlib.ExitStack() as stack:
                for scope in around.get(case, ()):
                    stack.enter_context(scope)
                optimizer = v1.train.AdamOptimizer(0.1)
                loss = lambda: tf.reduce_sum(w * w)  # noqa: E731
                optimizer.minimize(loss if mode == "eager" else loss())
            assert (case, [v.name.removesuffix(":0") for v in optimizer.variables()]) == (case, names)


def test_names_of_averages_follow_variable_scopes():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        w = v1.get_variable("w", [2])
        averages = [v1.train.ExponentialMovingAverage(0.9) for _ in range(3)]
        averages[0].apply([w])
        with tf.name_scope("named"):
            averages[1].apply([w])
        with v1.variable_scope("below"):
            averages[2].apply([w])
        kept = "w/ExponentialMovingAverage"
        assert [a.average(w).op.name for a in averages] == [kept, f"{kept}_1", f"below/{kept}"]
