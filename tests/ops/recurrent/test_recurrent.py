"""The row for recurrent cells: the gradient of its outputs alone, its composition in graphs for others, its memory."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.recurrent import sequence_steps
from tapeflow.ops.recurrent.rows import RecurrentSequence
from tapeflow.ops.recurrent.sequence_gradient import RecurrentSequenceGrad
from tapeflow.ops.recurrent.steps import CELLS, sequence, sequence_gradient

WANTED = {"all": (0,), "last": (3,), "both": (0, 3), "last c": (4,), "every": (0, 3, 4)}


class Generator:
    def __init__(self):
        self.numbers = np.random.default_rng(11)

    def normal(self, *shape):
        return np.asarray(self.numbers.normal(size=shape))


def generated(cell, **kwargs):
    return [tf.constant(x) for x in sequence_steps.generated(Generator(), cell, **kwargs)]


def loss(row, inputs, cell, wanted):
    outputs = row(*inputs, cell, False)
    return sum(tf.reduce_sum(tf.sin(outputs[i]) * (i + 1.0)) for i in wanted)


def slope(row, inputs, cell, wanted, weights):
    """The derivative along `weights`, which has derivatives of its own."""
    with tf.GradientTape() as tape:
        tape.watch(inputs[:5])
        total = loss(row, inputs, cell, wanted)
    found = tape.gradient(total, inputs[:5])
    return sum(
        tf.reduce_sum(dx * w) for dx, w in zip(found, weights, strict=True) if dx is not None
    )


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [(cell, wanted) for cell in CELLS for wanted in WANTED if wanted != "last c" or cell == "LSTM"],
)
def test_gradients_of_some_outputs_are_those_of_the_composition(cell, wanted):
    inputs = generated(cell, masked=True)
    weights = [Generator().normal(*x.shape) for x in inputs[:5]]
    found = []
    for row in (RecurrentSequence, lambda *a: sequence(*a)):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(inputs[:5])
            total = loss(row, inputs, cell, WANTED[wanted])
            along = slope(row, inputs, cell, WANTED[wanted], weights)
        first = tape.gradient(total, inputs[:5], unconnected_gradients="zero")
        second = tape.gradient(along, inputs[:5], unconnected_gradients="zero")
        found.append([*first, *second])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("cell", CELLS)
def test_second_order_is_the_numeric_one(cell):
    inputs = generated(cell, masked=cell == "LSTM")
    weights = [Generator().normal(*x.shape) for x in inputs[:5]]
    directions = [Generator().normal(*x.shape) for x in inputs[:5]]
    with tf.GradientTape() as tape:
        tape.watch(inputs[:5])
        along = slope(RecurrentSequence, inputs, cell, (0, 3), weights)
    found = tape.gradient(along, inputs[:5], unconnected_gradients="zero")
    got = sum(float(tf.reduce_sum(g * d)) for g, d in zip(found, directions, strict=True))
    step = 1e-6
    ends = [
        slope(
            RecurrentSequence,
            [*(x + sign * step * d for x, d in zip(inputs, directions)), inputs[5]],
            cell,
            (0, 3),
            weights,
        )
        for sign in (1, -1)
    ]
    assert got == pytest.approx(float(ends[0] - ends[1]) / (2 * step), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("batch", [1, 2, 13, 40])
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_native_gradient_of_wide_cells_is_the_python_one(cell, batch, dtype):
    inputs = generated(
        cell, batch=batch, units=37, steps=4, masked=batch == 13, time_major=batch == 2
    )
    inputs = [x if x.dtype == tf.bool else tf.cast(x, dtype) for x in inputs]
    outputs = RecurrentSequence(*inputs, cell, batch == 2)
    upstream = [tf.cast(Generator().normal(*outputs[i].shape), dtype) for i in (0, 3, 4)]
    call = [*inputs, *outputs[:3], *upstream]
    attrs = {"cell": cell, "time_major": batch == 2}
    tolerance = 1e-9 if dtype == "float64" else 2e-3
    for a, b in zip(
        RecurrentSequenceGrad(*call, **attrs),
        RecurrentSequenceGrad.call_python(*call, **attrs),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def test_gradient_row_agrees_with_its_composition():
    inputs = generated("GRU", masked=True)
    outputs = RecurrentSequence(*inputs, "GRU")
    call = [*inputs, *outputs[:3], outputs.h, outputs.last_h, outputs.last_c]
    for a, b in zip(
        RecurrentSequenceGrad(*call, "GRU"), sequence_gradient(*call, "GRU", False), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("cell", ["LSTM", "tanh"])
def test_inputs_that_live_on_are_not_written_to(cell):
    inputs = generated(cell)

    @tf.function
    def f(x):
        projected = x * 2.0  # dies in the row's call, in one case
        return RecurrentSequence(projected, *inputs[1:], cell).h, x

    want = RecurrentSequence(inputs[0] * 2.0, *inputs[1:], cell).h
    before = inputs[0].numpy().copy()
    for _ in range(2):
        np.testing.assert_allclose(f(inputs[0])[0], want, rtol=1e-12)
    np.testing.assert_array_equal(inputs[0], before)


def test_graph_defs_hold_a_call_of_the_composition():
    f = tf.function(lambda *a: RecurrentSequence(*a, "LSTM").h)
    inputs = generated("LSTM")
    graph_def = f.get_concrete_function(*inputs).graph.as_graph_def()
    assert "PartitionedCall" in {node.op for node in graph_def.node}
    ops = {node.op for function in graph_def.library.function for node in function.node_def}
    assert "RecurrentSequence" not in ops | {node.op for node in graph_def.node}
    assert ops & {"While", "StatelessWhile"}


def test_saved_gradients_are_read_again(tmp_path):
    inputs = generated("LSTM", masked=True)

    def f(*own):
        with tf.GradientTape() as tape:
            tape.watch(own[:5])
            total = loss(RecurrentSequence, own, "LSTM", (0, 4))
        return tape.gradient(total, own[:5])

    module = tf.Module()
    module.f = tf.function(
        f, input_signature=[tf.TensorSpec([None] * x.shape.rank, x.dtype) for x in inputs]
    )
    tf.saved_model.save(module, str(tmp_path))
    for a, b in zip(tf.saved_model.load(str(tmp_path)).f(*inputs), f(*inputs), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
