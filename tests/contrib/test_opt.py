"""tf.contrib.opt: every rule against NumPy, for dense gradients and for rows, in graphs and eagerly."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.contrib import opt

v1 = tf.compat.v1
START = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, -1.0], [2.0, 2.0, 2.0], [-3.0, 1.0, 0.25]])
GRADIENTS = [
    np.random.default_rng(seed).normal(size=START.shape) * np.array([[1], [0.1], [0], [3]])
    for seed in range(3)
]
STEPS = len(GRADIENTS)


def graph_steps(make, gradient_of):
    """The variable after each step of a graph."""
    out = []
    with tf.Graph().as_default(), v1.Session() as session:
        var = v1.Variable(START, use_resource=True)
        step = v1.train.get_or_create_global_step()
        optimizer = make()
        updates = [optimizer.apply_gradients([(gradient_of(g), var)], global_step=step) for g in GRADIENTS]
        session.run(v1.global_variables_initializer())
        for update in updates:
            session.run(update)
            out.append(session.run(var))
    return out


def eager_steps(make, gradient_of):
    """The variable after each eager step."""
    out, var, optimizer = [], tf.Variable(START), make()
    for gradient in GRADIENTS:
        optimizer.apply_gradients([(gradient_of(gradient), var)])
        out.append(var.numpy())
    return out


def dense(gradient):
    return tf.constant(gradient)


def rows(gradient):
    """The gradient as rows, one of which comes twice; the third has none."""
    values = gradient[[0, 1, 3, 0]] * np.array([[0.25], [1], [1], [0.75]])
    return tf.IndexedSlices(tf.constant(values), tf.constant([0, 1, 3, 0]), tf.constant(START.shape))


def adamax(v, g, s, touched, lr=0.001, b1=0.9, b2=0.999, eps=1e-8):
    s.setdefault("m", np.zeros_like(v))
    s.setdefault("v", np.zeros_like(v))
    s["t"] = s.get("t", 0) + 1
    s["m"][touched] = (b1 * s["m"] + (1 - b1) * g)[touched]
    s["v"][touched] = np.maximum(b2 * s["v"], np.abs(g))[touched]
    v[touched] -= (lr / (1 - b1 ** s["t"]) * s["m"] / (s["v"] + eps))[touched]


def lars(v, g, s, touched, lr=0.1, momentum=0.9, decay=0.05, eeta=0.01):
    s.setdefault("m", np.zeros_like(v))
    if touched.all():  # TensorFlow's rows have no rate by layer
        lr = lr * eeta * np.linalg.norm(v) / (np.linalg.norm(g) + decay * np.linalg.norm(v))
    s["m"][touched] = (momentum * s["m"] + g)[touched]
    v[touched] -= (lr * s["m"])[touched]


def reg_adagrad(v, g, s, touched, lr=0.5):
    s.setdefault("a", np.full_like(v, 0.1))
    s["a"] += g * g
    v -= lr * g / np.sqrt(s["a"])


def sign_step(scale):
    def update(v, g, s, touched, lr=0.1, beta=0.9):
        s["m"] = beta * s.get("m", np.zeros_like(v)) + (1 - beta) * g
        v -= lr * scale(np.sign(g) * np.sign(s["m"])) * g

    return update


def root(matrix, power, epsilon=1e-4):
    values, vectors = np.linalg.eigh(matrix + epsilon * np.eye(len(matrix)))
    return (vectors * np.maximum(values, epsilon) ** power) @ vectors.T


def shampoo(v, g, s, touched):
    for axis, size in enumerate(v.shape):
        unfolded = np.moveaxis(g, axis, 0).reshape(size, -1)
        s[axis] = s.get(axis, 0) + unfolded @ unfolded.T
    v -= root(s[0] / 4, -0.25) @ g @ root(s[1] / 3, -0.25)


def shampoo_diagonal(v, g, s, touched):
    for axis, size in enumerate(v.shape):
        s[axis] = s.get(axis, 0) + (g * g).sum(1 - axis) / (size if touched.all() else 1)
    with np.errstate(divide="ignore"):
        left, right = (np.where(s[a] > 0, s[a] ** -0.25, 0) for a in (0, 1))
    v -= left[:, None] * g * right


def adamw(v, g, s, touched, decay=0.05, lr=0.001, b1=0.9, b2=0.999, eps=1e-8):
    v[touched] -= decay * v[touched]
    s["t"] = s.get("t", 0) + 1
    s["m"] = b1 * s.get("m", 0) + (1 - b1) * g
    s["v"] = b2 * s.get("v", 0) + (1 - b2) * g * g
    v -= lr * np.sqrt(1 - b2 ** s["t"]) / (1 - b1 ** s["t"]) * s["m"] / (np.sqrt(s["v"]) + eps)


def momentumw(v, g, s, touched, decay=0.05, lr=0.1, momentum=0.9):
    s.setdefault("m", np.zeros_like(v))
    v[touched] -= decay * v[touched]
    s["m"][touched] = (momentum * s["m"] + g)[touched]
    v[touched] -= (lr * s["m"])[touched]


def rmsprop_v2(v, g, s, touched, lr=0.1, decay=0.9, momentum=0.5, eps=0.25):
    s.setdefault("rms", np.full_like(v, eps))
    s.setdefault("m", np.zeros_like(v))
    s["rms"][touched] = (decay * s["rms"] + (1 - decay) * g * g)[touched]
    s["m"][touched] = (momentum * s["m"] + lr * g / np.sqrt(s["rms"]))[touched]
    v[touched] -= s["m"][touched]


RULES = {
    "AdamW": (lambda: opt.AdamWOptimizer(0.05), adamw),
    "MomentumW": (lambda: opt.MomentumWOptimizer(0.05, 0.1, 0.9), momentumw),
    "RMSProp of optimizer_v2": (
        lambda: tf.contrib.optimizer_v2.RMSPropOptimizer(0.1, 0.9, 0.5, 0.25), rmsprop_v2
    ),
    "AdaMax": (lambda: opt.AdaMaxOptimizer(), adamax),
    "LARS": (lambda: opt.LARSOptimizer(0.1, weight_decay=0.05, eeta=0.01), lars),
    "RegAdagrad": (lambda: opt.RegAdagradOptimizer(0.5), reg_adagrad),
    "AddSign": (lambda: opt.AddSignOptimizer(0.1), sign_step(lambda agree: 1 + agree)),
    "PowerSign": (lambda: opt.PowerSignOptimizer(0.1), sign_step(lambda agree: np.e**agree)),
    "Shampoo": (lambda: opt.ShampooOptimizer(), shampoo),
    "Shampoo, iterated": (lambda: opt.ShampooOptimizer(use_iterative_root=True), shampoo),
    "Shampoo, diagonal": (lambda: opt.ShampooOptimizer(max_matrix_size=1), shampoo_diagonal),
}


@pytest.mark.parametrize("steps", [graph_steps, eager_steps])
@pytest.mark.parametrize("form", [dense, rows])
@pytest.mark.parametrize("name", RULES)
def test_rule(name, form, steps):
    make, update = RULES[name]
    state, want = {}, START.copy()
    touched = np.ones(len(START), bool) if form is dense else np.array([True, True, False, True])
    for gradient, got in zip(GRADIENTS, steps(make, form), strict=True):
        update(want, gradient, state, touched)
        # Iterations end at single precision.
        np.testing.assert_allclose(got, want, rtol=1e-3 if "iterated" in name else 1e-6, atol=1e-6)


def test_steps_of_a_regularizer_leave_accumulators_alone():
    var, optimizer = tf.Variable([1.0, 2.0]), opt.RegAdagradOptimizer(1.0)
    optimizer.apply_gradients([(tf.constant([0.5, 0.5]), var)])
    before = optimizer.get_slot(var, "accumulator").numpy()
    moved = var.numpy()
    with optimizer.avoid_updating_slots():
        optimizer.apply_gradients([(tf.constant([0.5, 0.5]), var)])
    np.testing.assert_array_equal(optimizer.get_slot(var, "accumulator").numpy(), before)
    np.testing.assert_allclose(var.numpy(), moved - 0.5 / np.sqrt(before), rtol=1e-6)


@pytest.mark.parametrize("steps", [graph_steps, eager_steps])
def test_variables_without_a_gradient_do_not_move_by_momentum(steps):
    gradients = iter([np.ones_like(START), np.zeros_like(START), np.ones_like(START)])
    got = steps(
        lambda: opt.MultitaskOptimizerWrapper(v1.train.MomentumOptimizer(0.1, 0.9)),
        lambda _: tf.constant(next(gradients)),
    )
    np.testing.assert_allclose(got[0], START - 0.1)
    np.testing.assert_allclose(got[1], got[0])
    np.testing.assert_allclose(got[2], got[1] - 0.19)


@pytest.mark.parametrize("form", [dense, rows])
def test_variables_are_clipped_after_steps(form):
    with tf.Graph().as_default(), v1.Session() as session:
        var = v1.Variable(START, use_resource=True)
        optimizer = opt.VariableClippingOptimizer(v1.train.GradientDescentOptimizer(1.0), {var: [1]}, 2.0)
        step = optimizer.apply_gradients([(form(GRADIENTS[0]), var)])
        session.run(v1.global_variables_initializer())
        session.run(step)
        got = session.run(var)
    want = START - GRADIENTS[0]
    norms = np.linalg.norm(want, axis=1, keepdims=True)
    clipped = np.where(norms > 2, want * 2 / norms, want)
    if form is rows:
        clipped[2] = want[2]  # a row without a gradient is left alone
    np.testing.assert_allclose(got, clipped)


def test_norm_of_gradients_is_told():
    pairs = [(tf.constant([3.0]), "a"), (None, "b"), (tf.constant([4.0]), "c")]
    clipped, norm = opt.clip_gradients_by_global_norm(pairs, 1.0)
    assert float(norm) == 5.0
    assert [name for _, name in clipped] == ["a", "b", "c"]
    np.testing.assert_allclose(clipped[2][0], [0.8])


@pytest.mark.parametrize("step", [0, 30, 50, 75, 100, 130])
def test_sign_decays(step):
    at = min(step, 100) / 100
    assert float(opt.sign_decay.get_linear_decay_fn(100)(step)) == pytest.approx(1 - at)
    cosine = opt.sign_decay.get_cosine_decay_fn(100, num_periods=2, zero_after=1)
    want = 0 if at >= 0.5 else 0.5 * (1 + np.cos(4 * np.pi * at))
    assert float(cosine(tf.constant(step))) == pytest.approx(want, abs=1e-6)
    restart = opt.sign_decay.get_restart_decay_fn(100, num_periods=2)
    assert float(restart(step)) == pytest.approx(0.5 * (1 + np.cos(np.pi * (2 * at % 1))), abs=1e-6)


@pytest.mark.parametrize("make", [opt.AdaMaxOptimizer, v1.train.AdamOptimizer], ids=["AdaMax", "Adam"])
def test_an_optimizer_has_variables_of_its_own_in_each_graph(make):
    optimizer, counts = make(), []
    for _ in range(2):
        with tf.Graph().as_default():
            assert not optimizer.variables()
            var = v1.Variable([1.0, 2.0])
            optimizer.apply_gradients([(tf.constant([0.1, 0.1]), var)])
            counts.append(len(optimizer.variables()))
            assert all(each.graph is var.graph for each in optimizer.variables())
    assert counts[0] == counts[1] > 2


@pytest.mark.parametrize("options", [{}, {"method": "SLSQP"}, {"method": "TNC"}])
def test_scipy_minimizes_variables_of_single_precision(options):
    pytest.importorskip("scipy")
    with tf.Graph().as_default(), v1.Session() as session:
        var = v1.Variable(np.array([7.0, -3.0], np.float32))
        optimizer = opt.ScipyOptimizerInterface(tf.reduce_sum(tf.square(var - [1.0, 2.0])), **options)
        session.run(v1.global_variables_initializer())
        optimizer.minimize(session)
        np.testing.assert_allclose(session.run(var), [1, 2], atol=1e-3)


@pytest.mark.parametrize(
    ("make", "same", "rows"),
    [
        (opt.AdamGSOptimizer, v1.train.AdamOptimizer, False), (opt.AdamGSOptimizer, v1.train.AdamOptimizer, True),
        (opt.LazyAdamGSOptimizer, opt.LazyAdamOptimizer, True),
    ],
)  # fmt: skip
def test_steps_counted_by_the_global_step(make, same, rows):
    gradient_of = (lambda g: tf.IndexedSlices(tf.constant(g[[0, 3]]), [0, 3], [4, 3])) if rows else tf.constant
    got = graph_steps(lambda: make(v1.train.get_global_step(), 0.1), gradient_of)
    for step, want in zip(got, graph_steps(lambda: same(0.1), gradient_of), strict=True):
        np.testing.assert_allclose(step, want, rtol=0, atol=1e-5)  # 1 - beta2^t loses digits: it is float32


def test_a_count_that_goes_on():
    var, step = tf.Variable([1.0, 2.0]), tf.Variable(9)
    opt.AdamGSOptimizer(step, 0.1).apply_gradients([(tf.constant([0.5, -2.0]), var)])
    rate = 0.1 * np.sqrt(1 - 0.999**10) / (1 - 0.9**10)
    gradient = np.array([0.5, -2.0])
    moved = rate * 0.1 * gradient / (np.sqrt(0.001 * gradient**2) + 1e-8)
    np.testing.assert_allclose(var, [1.0, 2.0] - moved, rtol=1e-5)
