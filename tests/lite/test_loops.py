"""Branches, loops and lists of tensors, unrolled where their steps are known."""

import lite_running as lite
import numpy as np
import pytest

import tapeflow as tf

for package in ("litert_converter", "ai_edge_litert"):
    pytest.importorskip(package)
pytestmark = pytest.mark.lite

L = tf.keras.layers
X = np.random.default_rng(1).normal(size=(2, 9, 3)).astype(np.float32)


def subgraphs(model):
    return tf.lite.Interpreter(model_content=model).num_subgraphs()


def check(function, *arguments):
    model = lite.converted(function)
    found, wanted = lite.run(model, arguments), lite.expected(function, arguments)
    assert len(found) == len(wanted)
    for its, mine in zip(found, wanted, strict=True):
        np.testing.assert_allclose(its, mine, rtol=1e-5, atol=1e-6)
    return model


def recurrent(layer, steps, batch=2):
    model = tf.keras.Sequential([L.Input((steps, 3), batch_size=batch), layer])
    return tf.function(lambda x: model(x)).get_concrete_function(tf.TensorSpec([batch, steps, 3], tf.float32, "x"))


@pytest.mark.parametrize("sequences", [True, False])
@pytest.mark.parametrize("kind", [L.LSTM, L.GRU, L.SimpleRNN])
def test_known_steps_are_unrolled_for_any_batch(kind, sequences):
    assert subgraphs(check(recurrent(kind(4, return_sequences=sequences), 9, None), X)) == 1


@pytest.mark.parametrize("sequences", [True, False])
@pytest.mark.parametrize("kind", [L.LSTM, L.GRU])
def test_unknown_steps_are_a_loop(kind, sequences):
    assert subgraphs(check(recurrent(kind(4, return_sequences=sequences), None), X)) == 3


def test_many_steps_are_a_loop():
    long = np.random.default_rng(2).normal(size=(2, 300, 3)).astype(np.float32)
    assert subgraphs(check(recurrent(L.LSTM(4), 300), long)) == 3


def test_other_cells_are_converted():
    cells = [L.LSTMCell(4, activation="relu"), L.GRUCell(3)]
    check(recurrent(L.RNN(cells), 9, None), X)
    check(recurrent(L.Bidirectional(L.LSTM(4, return_sequences=True)), 9, None), X)


def test_a_loop_whose_end_is_an_input():
    w = tf.constant([[0.5, 0.1], [0.2, 0.4]])

    @tf.function(input_signature=[tf.TensorSpec([None, 2], name="x"), tf.TensorSpec([], tf.int32, "n")])
    def f(x, n):
        i = 0
        while i < n:
            if tf.reduce_sum(x) > 3.0:
                x = x - 1.0
            else:
                x = x @ w + 1.0
            i += 1
        return x, i

    concrete = f.get_concrete_function()
    for n in (0, 1, 5):
        check(concrete, np.float32([[1, 2], [3, 4]]), np.int32(n))


def test_what_a_list_holds_stays_in_its_place():
    @tf.function(input_signature=[tf.TensorSpec([3], name="x"), tf.TensorSpec([], tf.int32, "n")])
    def f(x, n):
        array = tf.TensorArray(tf.float32, 4, element_shape=[3])
        for i in tf.range(n):
            array = array.write(i, x * tf.cast(i, tf.float32))
        return array.stack()

    check(f.get_concrete_function(), np.float32([1, 2, 3]), np.int32(3))


@pytest.mark.parametrize("number", [-1, 0, 1, 2, 7])
def test_one_of_several_branches(number):
    @tf.function(input_signature=[tf.TensorSpec([3], name="x"), tf.TensorSpec([], tf.int32, "k")])
    def f(x, k):
        return tf.switch_case(k, [lambda: x + 1.0, lambda: x * 2.0, lambda: x - 3.0])

    check(f.get_concrete_function(), np.float32([1, -2, 3]), np.int32(number))


def test_mapped_functions():
    f = tf.function(lambda x: tf.map_fn(lambda v: v * v + 1.0, x))
    check(f.get_concrete_function(tf.TensorSpec([5], name="x")), np.arange(5, dtype=np.float32))


def test_lists_of_unknown_shape_are_named():
    with pytest.raises(Exception, match=r"list of tensors whose shape is not known.*known shapes"):
        lite.converted(recurrent(L.LSTM(4), None, None))
