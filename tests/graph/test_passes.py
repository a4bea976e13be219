"""Each pass acts where it should, leaves alone what it must not touch, and keeps the results."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.graph import passes
from tapeflow.graph.interchange import drawing
from tapeflow.graph.run import planning


def concrete(function, *args):
    return tf.function(function, autograph=False).get_concrete_function(*args)


def program(function, *args):
    return planning.function_program(concrete(function, *args).graph)


def kinds(program):
    return [each.type for each in program.instructions]


X = tf.constant([[1.0, -2.0], [3.0, 4.0]])


def changed(change, function, *args):
    made = program(function, *args)
    before = kinds(made)
    change(made)
    return before, kinds(made)


def test_prune_drops_what_nobody_needs():
    def f(x):
        tf.exp(x)
        return tf.tanh(x)

    # Building leaves it in the graph; the program is made of what the outputs need already.
    assert kinds(program(f, X)) == ["Tanh"]


def test_prune_keeps_effects():
    v = tf.Variable(1.0)

    def f(x):
        v.assign_add(1.0)
        return tf.tanh(x)

    made = program(f, X)
    passes.prune(made)
    assert kinds(made) == ["AssignAddVariableOp", "Tanh"]


def test_folding_computes_constants_once():
    def f(x):
        return x * tf.exp(tf.constant(2.0) + 1.0)

    before, after = changed(passes.fold_constants, f, X)
    assert before == ["AddV2", "Exp", "Mul"]
    assert after == ["Mul"]


def test_folding_leaves_random_numbers_and_errors():
    def f(x):
        return x + tf.random.uniform([2]), tf.gather(tf.constant([1, 2]), 5)

    _, after = changed(passes.fold_constants, f, X)
    assert "RandomUniform" in after
    assert "Gather" in after
    with pytest.raises(tf.errors.InvalidArgumentError):
        concrete(f, X)(X)


def test_common_subexpressions_are_computed_once():
    def f(x):
        return tf.exp(x) + tf.exp(x)

    before, after = changed(passes.merge_common, f, X)
    assert before == ["Exp", "Exp", "AddV2"]
    assert after == ["Exp", "AddV2"]


def test_random_numbers_are_never_common():
    def f(x):
        return tf.random.uniform([2], seed=1) - tf.random.uniform([2], seed=1)

    _, after = changed(passes.merge_common, f, X)
    assert after.count("RandomUniform") == 2


@pytest.mark.parametrize(
    ("function", "left"),
    [
        (lambda x: x * 1.0, []),
        (lambda x: 1.0 * x, []),
        (lambda x: x / 1.0, []),
        (lambda x: x - 0.0, []),
        (lambda x: tf.negative(tf.negative(x)), []),
        (lambda x: tf.reshape(x, [2, 2]), []),
        (lambda x: tf.cast(x, tf.float32), []),
        (lambda x: tf.transpose(x, [0, 1]), []),
        (lambda x: x**2.0, ["Square"]),
        (lambda x: x + 0.0, ["AddV2"]),  # -0.0 + 0.0 is 0.0
        (lambda x: x * 0.0, ["Mul"]),  # NaN and infinities stay
    ],
)
def test_arithmetic_keeps_bits(function, left):
    made = program(function, X)
    passes.simplify(made)
    passes.prune(made)
    assert kinds(made) == left
    special = tf.constant([[-0.0, np.inf], [np.nan, 1.5]])
    got = concrete(function, X)(special)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(function(special)))
    np.testing.assert_array_equal(got, function(special))


def test_a_broadcast_by_one_is_no_identity():
    def f(x):
        return tf.ones([2, 2]) * tf.reshape(x, [1, 4])[:, :2]

    np.testing.assert_array_equal(concrete(f, X)(X), f(X))


def test_stages_are_shown_and_drawn(tmp_path):
    def f(x):
        return tf.exp(x) * 2.0 + tf.exp(x) * 2.0

    found = dict(drawing.stages(concrete(f, X)))
    assert [name for name, _ in passes.PASSES if name not in found] == []
    assert len(found["common subexpressions"].instructions) < len(found[""].instructions)
    picture = drawing.draw(concrete(f, X), str(tmp_path / "f.svg"))
    assert (tmp_path / "f.svg").read_text() == picture
    assert picture.startswith("<svg")
    assert picture.count("<rect") == len(concrete(f, X).graph.operations)
    before, after = (
        drawing.draw(concrete(f, X), after=name) for name in ("", "common subexpressions")
    )
    assert after.count("<rect") < before.count("<rect")
    with pytest.raises(ValueError, match="no pass is named"):
        drawing.draw(concrete(f, X), after="magic")
    with pytest.raises(TypeError, match="cannot draw"):
        drawing.draw(3)


def test_timelines_are_chrome_traces():
    import json

    from tapeflow.graph.run import timeline

    plan = concrete(lambda x: tf.tanh(x) @ x, X).native_plan()
    results, events = plan.timeline(X)
    np.testing.assert_array_equal(results[0], tf.tanh(X) @ X)
    rows = json.loads(timeline.chrome_trace(events))["traceEvents"]
    assert {"Tanh", "MatMul"} <= {row["name"] for row in rows}
    assert all(row["dur"] >= 0 for row in rows if row["ph"] == "X")


def outer_products(*sizes):
    """The gradient of weights (6, 8) that matrices of so many rows were multiplied by, and what it is of."""
    rng = np.random.default_rng(5)
    weights = tf.Variable(rng.normal(size=(6, 8)))
    xs = [tf.constant(rng.normal(size=(n, 6))) for n in sizes]

    def f(*xs):
        with tf.GradientTape() as tape:
            total = sum(tf.reduce_sum(tf.tanh(x @ weights)) for x in xs)
        return tape.gradient(total, weights)

    return f, xs


def test_sums_of_products_are_one_product():
    f, xs = outer_products(1, 2, 1)
    made = program(f, *xs)
    assert kinds(made).count("MatMul") == 6
    passes.optimise(made)
    after = kinds(made)
    assert after.count("MatMul") == 4
    assert after.count("ConcatV2") == 2
    assert "AddN" not in after
    np.testing.assert_allclose(concrete(f, *xs)(*xs), f(*xs), rtol=1e-12)


def test_sums_of_products_in_a_session_of_the_graph_being_built():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        xs = [tf.constant(np.full([1, 6], k), tf.float32) for k in range(1, 4)]
        total = tf.add_n(
            [tf.matmul(x, tf.random.uniform([1, 6]) * 0 + x, transpose_a=True) for x in xs]
        )
        np.testing.assert_allclose(session.run(total), np.full([6, 6], 1 + 4 + 9))


def test_sums_of_products_keep_other_terms():
    _, xs = outer_products(1, 1, 1)

    def g(*xs):
        weights = tf.ones([6, 8], tf.float64)
        products = [tf.matmul(x, tf.exp(x[:, :1] + weights[:1]), transpose_a=True) for x in xs]
        kept = products[0]
        return tf.add_n([*products, weights, kept]), kept

    made = program(g, *xs)
    passes.stack_products(made)
    passes.prune(made)
    # One of the three is used elsewhere as well.
    assert kinds(made).count("MatMul") == 2
    for a, b in zip(concrete(g, *xs)(*xs), g(*xs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("shape", [(40, 6), (None, 6)])
def test_sums_of_products_of_long_or_unknown_matrices_stay(shape):
    def f(*xs):
        return tf.add_n([tf.matmul(x, tf.exp(x), transpose_a=True) for x in xs])

    spec = tf.TensorSpec(shape, tf.float32)
    graph = tf.function(f).get_concrete_function(*[spec] * 3).graph
    made = planning.function_program(graph)
    passes.stack_products(made)
    assert kinds(made).count("MatMul") == 3


def test_sums_of_integer_products_stay():
    def f(*xs):
        return tf.add_n([tf.matmul(x, x + 1, transpose_a=True) for x in xs])

    x = tf.constant([[1, 2, 3, 4]])
    assert "AddN" in changed(passes.stack_products, f, x, x, x)[1]


def test_an_unrolled_loop_trains_while_its_graph_is_the_default():
    """The passes of a session's plan make constants, which are not to become nodes."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [4, 3, 5])
        cell = v1.nn.rnn_cell.BasicLSTMCell(5)
        outputs, _ = v1.nn.static_rnn(cell, tf.unstack(x), dtype=tf.float32)
        step = v1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.stack(outputs)))
        session.run(v1.global_variables_initializer())
        kernel = cell.trainable_variables[0].value()
        before, count = session.run(kernel), len(graph.get_operations())
        session.run(step, {x: np.ones([4, 3, 5])})
        assert not np.array_equal(session.run(kernel), before)
        assert len(graph.get_operations()) == count
