"""Steps over many variables and over rows: by one call they are what they are variable by variable."""

import gc

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import release
from tapeflow.train import updating

K, V1 = tf.keras.optimizers, tf.compat.v1.train
KERAS = {
    "SGD": lambda **k: K.SGD(0.1, **k),
    "momentum": lambda **k: K.SGD(0.1, 0.9, **k),
    "nesterov": lambda **k: K.SGD(0.1, 0.9, nesterov=True, **k),
    "Adam": lambda **k: K.Adam(0.1, **k),
    "AMSGrad": lambda **k: K.Adam(0.1, amsgrad=True, **k),
    "AdamW": lambda **k: K.AdamW(0.1, **k),
    "Adamax": lambda **k: K.Adamax(0.1, **k),
    "Nadam": lambda **k: K.Nadam(0.1, **k),
    "RMSprop": lambda **k: K.RMSprop(0.1, **k),
    "RMSprop momentum": lambda **k: K.RMSprop(0.1, momentum=0.9, **k),
    "RMSprop centered": lambda **k: K.RMSprop(0.1, centered=True, **k),
    "RMSprop both": lambda **k: K.RMSprop(0.1, momentum=0.9, centered=True, **k),
    "Adagrad": lambda **k: K.Adagrad(0.1, **k),
    "Adadelta": lambda **k: K.Adadelta(0.1, **k),
    "Ftrl": lambda **k: K.Ftrl(0.1, l1_regularization_strength=0.01, **k),
    "Lion": lambda **k: K.Lion(0.1, **k),
}
OLD = {
    "GradientDescent": lambda: V1.GradientDescentOptimizer(0.1),
    "Momentum": lambda: V1.MomentumOptimizer(0.1, 0.9),
    "Adam": lambda: V1.AdamOptimizer(0.1),
    "Adagrad": lambda: V1.AdagradOptimizer(0.1),
    "ProximalAdagrad": lambda: V1.ProximalAdagradOptimizer(0.1),
    "ProximalGradientDescent": lambda: V1.ProximalGradientDescentOptimizer(0.1),
    "Adadelta": lambda: V1.AdadeltaOptimizer(0.1),
    "RMSProp": lambda: V1.RMSPropOptimizer(0.1),
    "RMSProp centered": lambda: V1.RMSPropOptimizer(0.1, centered=True),
    "Ftrl": lambda: V1.FtrlOptimizer(0.1),
}
BOTH = [pytest.param(make, id=f"keras {n}") for n, make in KERAS.items()] + [
    pytest.param(make, id=f"1.x {n}") for n, make in OLD.items()
]
DTYPES = ["float32", "float64", "float32", "float16", "float32"]


def case(seed=0):
    """Variables of several dtypes and shapes, one with a constraint, and gradients of two steps."""
    rng = np.random.default_rng(seed)
    shapes = [(3,), (2, 4), (), (5,), (6, 2)]
    variables = [
        tf.Variable(rng.normal(size=s), dtype=d, constraint=tf.nn.relu if i == 4 else None)
        for i, (s, d) in enumerate(zip(shapes, DTYPES))
    ]
    steps = [[tf.constant(rng.normal(size=s), d) for s, d in zip(shapes, DTYPES)] for _ in "12"]
    return variables, steps


def one_by_one(monkeypatch):
    monkeypatch.setattr(updating.ByRule, "_apply_together", lambda self, pairs: pairs)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("make", BOTH)
def test_all_at_once_is_one_by_one(make, compiled, monkeypatch):
    results = []
    for together in (True, False):
        if not together:
            one_by_one(monkeypatch)
        variables, steps = case()
        optimizer = make()

        def step(*gradients, optimizer=optimizer, variables=variables):
            optimizer.apply_gradients(zip(gradients, variables))

        run = tf.function(step) if compiled and together else step
        for gradients in steps:
            run(*gradients)
        results.append([v.numpy() for v in variables])
    for a, b, dtype in zip(*results, DTYPES):
        most = {"float16": 4e-3, "float32": 2e-6, "float64": 1e-7}[dtype]
        np.testing.assert_allclose(a, b, rtol=most, atol=most)


@pytest.mark.parametrize(
    "arguments",
    [
        {"clipnorm": 0.1}, {"clipvalue": 0.1}, {"global_clipnorm": 0.1}, {"weight_decay": 0.1}, {"use_ema": True},
        {"loss_scale_factor": 2.0}, {"gradient_accumulation_steps": 2},
    ],
    ids=lambda a: next(iter(a)),
)  # fmt: skip
@pytest.mark.parametrize("make", [KERAS["SGD"], KERAS["Adam"], KERAS["RMSprop"]])
def test_what_wraps_updates_is_kept(make, arguments, monkeypatch):
    results = []
    for together in (True, False):
        if not together:
            one_by_one(monkeypatch)
        variables = [tf.Variable([1.0, -2.0]), tf.Variable([[3.0]]), tf.Variable(4.0)]
        optimizer = make(**arguments)
        for step in range(4):
            optimizer.apply_gradients([(v * 0.5 + step, v) for v in variables])
        results.append([v.numpy() for v in variables])
    for a, b in zip(*results):
        np.testing.assert_array_equal(a, b)


def test_a_step_is_one_call_for_each_dtype(monkeypatch):
    calls = []
    original = updating.Rule.apply_many
    monkeypatch.setattr(
        updating.Rule, "apply_many", lambda self, v, *a, **k: calls.append(len(v)) or original(self, v, *a, **k)
    )  # fmt: skip
    variables, steps = case()
    K.Adam().apply_gradients(zip(steps[0], variables))
    assert calls == [2, 1, 1]  # the one with a constraint is not among them


def test_a_plan_has_one_update_for_all():
    variables = [tf.Variable(tf.ones([i, 2])) for i in range(1, 8)]
    optimizer = K.Adam(0.1)

    @tf.function
    def step():
        optimizer.apply_gradients([(v * 2.0, v) for v in variables])

    from tapeflow.graph import passes
    from tapeflow.graph.run import planning

    step()
    graph = step.get_concrete_function().graph
    kinds = [op.type for op in graph.get_operations()]
    made = passes.optimise(planning.function_program(graph))
    assert kinds.count("ResourceApplyAdam") == 7
    planned = [each.type for each in made.instructions]
    assert planned.count("ResourceMultiApplyAdam") == 1
    assert "ResourceApplyAdam" not in planned


def test_updates_of_one_variable_stay_apart_in_a_plan():
    a, b = tf.Variable([1.0]), tf.Variable([10.0])
    optimizer, other = K.SGD(0.5), K.SGD(0.25)

    @tf.function
    def step():
        optimizer.apply_gradients([(a * 1.0, a), (b * 1.0, b)])
        other.apply_gradients([(a * 1.0, a), (b * 1.0, b)])
        return a + b

    assert step().numpy() == 11 * 0.5 * 0.75


def test_other_variables_and_fewer_gradients_next_time():
    a, b, c = (tf.Variable([1.0]) for _ in range(3))
    one = tf.constant([1.0])
    optimizer = K.SGD(0.1, momentum=0.5)
    optimizer.apply_gradients([(one, a), (one, b)])
    optimizer.apply_gradients([(one, b), (None, a), (one, c)])
    optimizer.apply_gradients([(one, c)])
    optimizer.apply_gradients([(one, c), (one, a)])
    found = [v.numpy().item() for v in (a, b, c)]
    np.testing.assert_allclose(
        found, [1 - 0.1 - 0.15, 1 - 0.1 - 0.15, 1 - 0.1 - 0.15 - 0.175], rtol=1e-6
    )


def test_a_variable_in_two_pairs_is_updated_twice():
    a, b = tf.Variable([1.0]), tf.Variable([1.0])
    one = tf.constant([1.0])
    K.SGD(0.1, momentum=0.5).apply_gradients([(one, a), (one, b), (one, a)])
    np.testing.assert_allclose([a.numpy()[0], b.numpy()[0]], [0.75, 0.9], rtol=1e-6)


def test_a_wrong_shape_among_gradients_changes_nothing():
    variables = [tf.Variable(tf.ones([n])) for n in (2, 3, 4)]
    optimizer = K.Adam()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"var and grad .*\[3\] \[2\]"):
        optimizer.apply_gradients([(tf.ones([n]), v) for n, v in zip((2, 2, 4), variables)])
    assert all((v.numpy() == 1).all() for v in variables)
    assert optimizer.iterations.numpy() == 0


def test_variables_that_go_are_forgotten():
    optimizer = V1.MomentumOptimizer(0.1, 0.9)
    one = tf.constant([1.0])
    variables = [tf.Variable([1.0]) for _ in range(3)]
    optimizer.apply_gradients([(one, v) for v in variables])
    del variables[2]
    gc.collect()
    for _ in range(3):  # a new variable may have the place of the one that went
        again = [*variables, tf.Variable([5.0])]
        optimizer.apply_gradients([(one, v) for v in again])
        np.testing.assert_allclose(again[2].numpy(), [4.9], rtol=1e-6)


def test_a_step_of_an_overriding_class_is_its_own():
    class Halved(V1.AdamOptimizer):
        def _apply_dense(self, grad, var):
            var.assign(var * 0.5)

    variables = [tf.Variable([2.0]), tf.Variable([4.0])]
    Halved().apply_gradients([(tf.constant([1.0]), v) for v in variables])
    assert [v.numpy().item() for v in variables] == [1, 2]


# Rows

ROWS = 12
FIRST, SECOND = [3, 1, 3, 0, 1, 3], [5, 1, 1]


def slices(rows, seed, dtype="float32"):
    values = np.random.default_rng(seed).normal(size=(len(rows), 2))
    return tf.IndexedSlices(tf.constant(values, dtype), tf.constant(rows), tf.constant([ROWS, 2]))


# Where slots decay in all rows, as a dense gradient has it; the others leave rows without a gradient alone.
DECAYING = {name for name in KERAS if name not in ("SGD", "momentum", "nesterov")}


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", KERAS)
def test_rows_with_duplicates(name, dtype, compiled):
    """Duplicates are added up first. The rows that a step names change as by a dense gradient."""
    start = np.random.default_rng(5).normal(size=(ROWS, 2))
    table, other = tf.Variable(start, dtype=dtype), tf.Variable(start, dtype=dtype)
    optimizer, dense = KERAS[name](), KERAS[name]()
    steps = [slices(FIRST, 1, dtype), slices(FIRST, 2, dtype)]
    if name in DECAYING:
        steps.append(slices(SECOND, 3, dtype))

    def step(values, indices):
        grad = tf.IndexedSlices(values, indices, tf.constant([ROWS, 2]))
        optimizer.apply_gradients([(grad, table)])

    run = tf.function(step) if compiled else step
    for grad in steps:
        run(grad.values, grad.indices)
        dense.apply_gradients([(tf.convert_to_tensor(grad), other)])
    rows = slice(None) if name in DECAYING else sorted(set(FIRST))
    # In a function the learning rate is a float32 variable.
    most = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-6}[dtype]
    got, wanted = table.numpy()[rows], other.numpy()[rows]
    np.testing.assert_allclose(got, wanted, rtol=most, atol=most)
    if name not in DECAYING:
        left = [i for i in range(ROWS) if i not in FIRST]
        np.testing.assert_array_equal(table.numpy()[left], start.astype(dtype)[left])


def test_ftrl_of_keras_2_leaves_rows_without_a_gradient(monkeypatch):
    monkeypatch.setattr(release, "_keras_2", True)
    table, optimizer = tf.Variable(np.ones((ROWS, 2), "float32")), tf.keras.optimizers.Ftrl(0.1)
    optimizer.apply_gradients([(slices(FIRST, 1), table)])
    changed = (table.numpy() != 1).all(axis=1)
    assert set(np.flatnonzero(changed)) == set(FIRST)


@pytest.mark.parametrize("name", OLD)
def test_rows_in_1x(name):
    start = np.random.default_rng(5).normal(size=(ROWS, 2)).astype(np.float32)
    table, other = tf.Variable(start), tf.Variable(start)
    optimizer, dense = OLD[name](), OLD[name]()
    for seed in (1, 2):
        grad = slices(FIRST, seed)
        optimizer.apply_gradients([(grad, table)])
        dense.apply_gradients([(tf.convert_to_tensor(grad), other)])
    rows = sorted(set(FIRST))
    np.testing.assert_allclose(table.numpy()[rows], other.numpy()[rows], rtol=1e-5, atol=1e-6)


def test_dense_and_sparse_gradients_in_one_step():
    table, a, b = tf.Variable(tf.ones([ROWS, 2])), tf.Variable([1.0]), tf.Variable([2.0])
    optimizer = K.SGD(1.0)
    optimizer.apply_gradients(
        [(tf.constant([0.5]), a), (slices([2, 2], 1), table), (tf.constant([0.5]), b)]
    )
    assert [a.numpy().item(), b.numpy().item()] == [0.5, 1.5]
    total = slices([2, 2], 1).values.numpy().sum(0)
    np.testing.assert_allclose(table.numpy()[2], 1 - total, rtol=1e-6)


def test_a_step_of_an_embedding_changes_the_rows_looked_up(monkeypatch):
    """And its gradient is never made dense."""
    monkeypatch.setattr(updating, "scatter_nd", None)
    layer = tf.keras.layers.Embedding(200_000, 8)
    layer(tf.constant([0]))
    before = layer.embeddings.numpy().copy()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tf.constant([5, 7, 5])))
    (grad,) = tape.gradient(loss, layer.trainable_variables)
    assert isinstance(grad, tf.IndexedSlices)
    K.Adam(0.1).apply_gradients([(grad, layer.embeddings)])
    changed = (layer.embeddings.numpy() != before).any(1).nonzero()[0]
    assert changed.tolist() == [5, 7]
