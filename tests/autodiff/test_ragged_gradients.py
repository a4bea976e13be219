"""Gradients of ragged tensors and by them have their rows."""

import pytest

import tapeflow as tf

ROWS = {
    "one": [[1.0, 2.0], [], [3.0]],
    "two": [[[1.0], [2.0, 5.0]], [], [[3.0]]],
}


def squares(rows):
    return [squares(r) if isinstance(r, list) else r * 2 for r in rows]


@pytest.mark.parametrize("in_function", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("rows", ROWS)
def test_gradients(rows, in_function):
    x = tf.ragged.constant(ROWS[rows])

    def by(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
            total = tf.reduce_sum(y)
        return tape.gradient(y, x), tape.gradient(total, {"x": x})["x"], tape.gradient(y, x, output_gradients=x)

    plain, of_sum, weighted = (tf.function(by) if in_function else by)(x)
    assert plain.to_list() == of_sum.to_list() == squares(ROWS[rows])
    assert weighted.to_list() == (x * x * 2).to_list()


def test_only_the_values_are_watched(caplog):
    x = tf.ragged.constant([[1.0], [2.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x.flat_values**3)
    assert tape.gradient(y, x).to_list() == [[3.0], [12.0, 27.0]]
    assert not caplog.records


def test_what_a_target_does_not_depend_on():
    x, other = tf.ragged.constant([[1.0]]), tf.ragged.constant([[1.0, 2.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = x * 2.0
    assert tape.gradient(y, other) is None
    assert tape.gradient(y, other, unconnected_gradients="zero").to_list() == [[0.0, 0.0]]


def test_second_order():
    x = tf.ragged.constant([[1.0], [2.0, 3.0]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    assert outer.gradient(first, x).to_list() == [[6.0], [12.0, 18.0]]


def test_a_sparse_tensor_is_no_source():
    s = tf.SparseTensor([[0]], [2.0], [3])
    with tf.GradientTape() as tape:
        tape.watch(s.values)
        y = tf.sparse.reduce_sum(s)
    with pytest.raises(TypeError, match="sources must be tensors or variables"):
        tape.gradient(y, s)
