"""LayerNormRows, Gelu and gradients of softmax as rows of their own: what is derived, batched, written of them."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.nn.gelu import Gelu, _composed
from tapeflow.ops.nn.layer_norm import LayerNormRows, _normalized
from tapeflow.ops.nn.softmax import LogSoftmax, Softmax

rng = np.random.default_rng(5)


def numbers(*shape, dtype=np.float64):
    return tf.constant(rng.standard_normal(shape).astype(dtype))


def written_norm(x, gamma, beta):
    return _normalized(x, 0.25)[0] * gamma + beta


def written_softmax(x):
    e = tf.exp(x - tf.stop_gradient(tf.reduce_max(x, -1, True)))
    return e / tf.reduce_sum(e, -1, True)


PAIRS = {
    "LayerNormRows": (lambda *a: LayerNormRows(*a, epsilon=0.25).y, written_norm, [(3, 2, 5), (5,), (5,)]),
    "Gelu": (Gelu, lambda x: _composed(x, False), [(3, 5)]),
    "Gelu by tanh": (lambda x: Gelu(x, True), lambda x: _composed(x, True), [(3, 5)]),
    "Softmax": (Softmax, written_softmax, [(3, 2, 5)]),
    "LogSoftmax": (LogSoftmax, lambda x: tf.math.log(written_softmax(x)), [(3, 5)]),
}


@pytest.mark.parametrize("name", PAIRS)
def test_three_orders_of_derivatives_are_those_of_the_composition(name):
    row, written, shapes = PAIRS[name]
    inputs = [numbers(*shape) for shape in shapes]
    weights = [numbers(*shape) for shape in shapes]
    found = []
    for function in (row, written):
        with tf.GradientTape(persistent=True) as third:
            third.watch(inputs)
            with tf.GradientTape() as second:
                second.watch(inputs)
                with tf.GradientTape() as first:
                    first.watch(inputs)
                    loss = tf.reduce_sum(tf.sin(function(*inputs)))
                one = first.gradient(loss, inputs)
                along = tf.add_n([tf.reduce_sum(dx * w) for dx, w in zip(one, weights)])
            two = second.gradient(along, inputs)
            again = tf.add_n([tf.reduce_sum(tf.cos(dx) * w) for dx, w in zip(two, weights)])
        found.append([*one, *two, *third.gradient(again, inputs)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", PAIRS)
def test_forward_mode_jacobians_and_graphs(name):
    row, written, shapes = PAIRS[name]
    inputs = [numbers(*shape) for shape in shapes]
    found = []
    for function in (row, written, tf.function(row)):
        with tf.autodiff.ForwardAccumulator(inputs[0], tf.ones_like(inputs[0])) as forward:
            y = function(*inputs)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            flat = function(*inputs)[0]
        found.append([y, forward.jvp(y), *tape.jacobian(flat, inputs)])
    for a, b, c in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(c, b, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", PAIRS)
def test_gradients_of_each_example(name):
    row, written, shapes = PAIRS[name]
    batch = numbers(4, *shapes[0])
    rest = [numbers(*shape) for shape in shapes[1:]]

    def slopes(function):
        def of_one(x):
            with tf.GradientTape() as tape:
                tape.watch([x, *rest])
                loss = tf.reduce_sum(tf.sin(function(x, *rest)))
            return tape.gradient(loss, [x, *rest])

        return of_one

    mapped = tf.vectorized_map(slopes(row), batch)
    for i in range(4):
        for got, wanted in zip(mapped, slopes(written)(batch[i]), strict=True):
            np.testing.assert_allclose(got[i], wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("center", [True, False])
def test_a_layer_with_and_without_weights(scale, center):
    x = numbers(2, 3, 7, dtype=np.float32)
    layer = tf.keras.layers.LayerNormalization(scale=scale, center=center, epsilon=0.1)
    layer(x)
    layer.set_weights([np.asarray(numbers(*w.shape)) for w in layer.weights])
    wanted = x.numpy() - x.numpy().mean(-1, keepdims=True)
    wanted /= np.sqrt(x.numpy().var(-1, keepdims=True) + 0.1)
    for weight in layer.weights:
        wanted = wanted * weight.numpy() if "gamma" in weight.name else wanted + weight.numpy()
    np.testing.assert_allclose(layer(x), wanted, rtol=1e-5, atol=1e-5)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(x) ** 2)
    for weight, dw in zip(layer.weights, tape.gradient(loss, layer.trainable_variables), strict=True):
        assert dw.shape == weight.shape


def test_a_layer_of_halves_computes_in_single_precision():
    x = numbers(4, 64, dtype=np.float32)
    layer = tf.keras.layers.LayerNormalization(dtype="mixed_float16")
    y = layer(tf.cast(x, tf.float16))
    assert y.dtype == tf.float16
    wide = tf.keras.layers.LayerNormalization()(tf.cast(tf.cast(x, tf.float16), tf.float32))
    np.testing.assert_allclose(y, wide, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("rows", [1, 17, 1000])
@pytest.mark.parametrize("columns", [1, 3, 8, 31, 33, 100])
def test_sums_over_rows_do_not_depend_on_threads(rows, columns):
    x, dy = numbers(rows, columns, dtype=np.float32), numbers(rows, columns, dtype=np.float32)
    gamma = numbers(columns, dtype=np.float32)
    found = []
    for threads in (1, 2):
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        try:
            with tf.GradientTape() as tape:
                tape.watch([x, gamma])
                y = LayerNormRows(x, gamma, gamma).y
            found.append([y, *tape.gradient(y, [x, gamma], dy)])
        finally:
            tf.config.threading.set_intra_op_parallelism_threads(0)
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("make", [tf.float32, tf.float64])
def test_softmax_of_rows_that_end_inside_a_vector(make):
    for n in (1, 2, 7, 8, 9, 31, 32, 33, 100):
        x = rng.standard_normal((5, n)) * 20
        x[0, 0] = -np.inf if n > 1 else 0.0
        wanted = np.exp(x - x.max(-1, keepdims=True))
        wanted /= wanted.sum(-1, keepdims=True)
        tolerance = 1e-6 if make == tf.float32 else 1e-14
        np.testing.assert_allclose(tf.nn.softmax(tf.constant(x, make)), wanted, rtol=10 * tolerance, atol=tolerance)
    hidden = tf.nn.softmax(tf.constant([[0.0, -1e9, -90.0], [np.nan, 0.0, 1.0]], make)).numpy()
    np.testing.assert_allclose(hidden, [[1, 0, 0], [np.nan] * 3], atol=1e-6)
    assert hidden[0, 1] == 0


def test_functions_of_the_rows_are_read_by_graphs_without_them(tmp_path):
    """A GraphDef holds calls of what the rows are composed of."""
    model = tf.keras.Sequential([
        tf.keras.Input((6,)), tf.keras.layers.Dense(5, activation="gelu"), tf.keras.layers.LayerNormalization(),
        tf.keras.layers.Softmax(),
    ])  # fmt: skip
    x = numbers(3, 6, dtype=np.float32)

    class Step(tf.Module):
        def __init__(self):
            self.model = model

        @tf.function(input_signature=[tf.TensorSpec([None, 6], tf.float32)])
        def slope(self, x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                loss = tf.reduce_sum(self.model(x) ** 2)
            return tape.gradient(loss, x)

    step = Step()
    wanted = step.slope(x)
    graph = step.slope.get_concrete_function().graph.as_graph_def()
    kinds = {node.op for node in graph.node} | {n.op for f in graph.library.function for n in f.node_def}
    assert "Erf" in kinds
    assert kinds.isdisjoint(
        {"Gelu", "GeluGrad", "LayerNormRows", "LayerNormRowsGrad", "SoftmaxGrad", "LogSoftmaxGrad"}
    )
    tf.saved_model.save(step, str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    np.testing.assert_allclose(loaded.slope(x), wanted, rtol=1e-4, atol=1e-6)
