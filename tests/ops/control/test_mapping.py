"""map_fn, scan, folds and vectorized_map: the same eagerly and in graphs of known and unknown shapes."""

import numpy as np
import pytest

import tapeflow as tf

x = tf.constant([1.0, 2.0, 3.0])
m = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def numbers(value):
    return tf.nest.map_structure(lambda v: np.asarray(v).tolist(), value)


def unknown(tensor):
    return tf.TensorSpec([None] * tensor.shape.rank, tensor.dtype)


# Expected numbers are TensorFlow's.
CASES = {
    "map": (lambda x: tf.map_fn(lambda v: v * v + 1, x), [x], [2, 5, 10]),
    "map rows": (lambda m: tf.map_fn(tf.reduce_sum, m), [m], [3, 7, 11]),
    "map tuple": (
        lambda x, m: tf.map_fn(
            lambda a: (a[0] * 2, tf.cast(a[0], tf.int32)),
            (x, m),
            fn_output_signature=(tf.float32, tf.int32),
        ),
        [x, m],
        ([2, 4, 6], [1, 2, 3]),
    ),
    "map dict": (
        lambda x: tf.map_fn(lambda a: {"b": a["x"] * 2}, {"x": x}, fn_output_signature={"b": tf.float32}),
        [x],
        {"b": [2, 4, 6]},
    ),
    "map nothing": (
        lambda x: tf.map_fn(
            lambda a: tf.stack([a, a]), x[:0], fn_output_signature=tf.TensorSpec([2], tf.float32)
        ),
        [x],
        [],
    ),
    "scan": (lambda x: tf.scan(lambda a, v: a * v, x), [x], [1, 2, 6]),
    "scan from": (lambda x: tf.scan(lambda a, v: a + v, x, 10.0), [x], [11, 13, 16]),
    "scan back": (lambda x: tf.scan(lambda a, v: a + v, x, reverse=True), [x], [6, 5, 3]),
    "scan back from": (
        lambda x: tf.scan(lambda a, v: a + v, x, 1.0, reverse=True), [x], [7, 6, 4],
    ),
    "scan tuple": (
        lambda x: tf.scan(lambda a, v: (a[1], a[0] + v), x, (0.0, 1.0)),
        [x],
        ([1, 1, 3], [1, 3, 4]),
    ),
    "scan several": (
        lambda x, m: tf.scan(lambda a, v: a * v[0] + v[1], (x, m), tf.constant([1.0, 1.0])),
        [x, m],
        [[2, 3], [7, 10], [26, 36]],
    ),
    "foldl": (lambda x: tf.foldl(lambda a, v: a - v, x), [x], -4),
    "foldr": (lambda x: tf.foldr(lambda a, v: a - v, x), [x], 0),
    "foldl from": (lambda x: tf.foldl(lambda a, v: a - v, x, 1.0), [x], -5),
    "foldr several": (
        lambda x, m: tf.foldr(lambda a, v: a + v[0] * v[1], (x, m), tf.constant([0.0, 0.0])),
        [x, m],
        [22, 28],
    ),
    "vectorized": (
        lambda x, m: tf.vectorized_map(lambda a: a[0] * tf.reduce_sum(a[1]), (x, m)),
        [x, m],
        [3, 14, 33],
    ),
    "vectorized structure": (
        lambda x: tf.vectorized_map(lambda a: {"s": a, "t": (tf.cast(a, tf.int32), a * a)}, x),
        [x],
        {"s": [1, 2, 3], "t": ([1, 2, 3], [1, 4, 9])},
    ),
    "vectorized with one": (
        lambda x: tf.vectorized_map(lambda a: a[0] * a[1], (x, tf.constant([10.0]))), [x], [10, 20, 30],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_results(name):
    function, inputs, expected = CASES[name]
    signature = [unknown(t) for t in inputs]
    assert numbers(function(*inputs)) == expected
    assert numbers(tf.function(function)(*inputs)) == expected
    assert numbers(tf.function(function, input_signature=signature)(*inputs)) == expected


@pytest.mark.parametrize(
    ("function", "at", "first", "second"),
    [
        (
            lambda m: tf.map_fn(lambda v: tf.reduce_sum(v**3) * v[0], m),
            m,
            [[12, 12], [172, 144], [716, 540]],
            [[24, 24], [156, 120], [408, 288]],
        ),
        (lambda x: tf.scan(lambda a, v: a * v, x), x, [9, 4, 2], [6, 5, 3]),
        (lambda x: tf.foldl(lambda a, v: a * v, x), x, [6, 3, 2], [5, 4, 3]),
        (
            lambda m: tf.vectorized_map(lambda v: tf.reduce_sum(v**3) * v[0], m),
            m,
            [[12, 12], [172, 144], [716, 540]],
            [[24, 24], [156, 120], [408, 288]],
        ),
    ],
)
@pytest.mark.parametrize("staged", [False, True])
def test_gradients(function, at, first, second, staged):
    call = tf.function(function) if staged else function
    with tf.GradientTape() as outer:
        outer.watch(at)
        with tf.GradientTape() as tape:
            tape.watch(at)
            y = tf.reduce_sum(call(at))
        dy = tape.gradient(y, at)
    assert numbers(dy) == first
    assert numbers(outer.gradient(dy, at)) == second


def test_what_is_known_of_shapes():
    shapes = []

    def pairs(x):
        y = tf.map_fn(lambda a: tf.stack([a, a]), x)
        shapes.append(y.shape.as_list())
        return y

    tf.function(pairs)(x)
    tf.function(pairs, input_signature=[unknown(x)])(x)
    assert shapes == [[3, 2], [None, 2]]


def test_autograph_and_captures():
    factor = tf.Variable(10.0)

    @tf.function
    def some(x):
        def one(v):
            if v > 1.5:
                return v * factor
            return v

        return tf.map_fn(one, x)

    with tf.GradientTape() as tape:
        y = some(x)
    assert numbers(y) == [1, 20, 30]
    assert float(tape.gradient(y, factor)) == 5


def test_in_a_loop():
    @tf.function
    def doubled(x):
        step = lambda i, v: (i + 1, tf.map_fn(lambda a: a * 2, v))  # noqa: E731
        return tf.while_loop(lambda i, v: i < 3, step, [0, x])[1]

    assert numbers(doubled(x)) == [8, 16, 24]


def test_session():
    with tf.Graph().as_default():
        p = tf.compat.v1.placeholder(tf.float32, [None])
        ys = [
            tf.compat.v1.map_fn(lambda v: v * 2, p),
            tf.compat.v1.scan(lambda a, v: a + v, p),
            tf.compat.v1.foldl(lambda a, v: a + v, p),
        ]
        with tf.compat.v1.Session() as session:
            got = session.run([*ys, *tf.compat.v1.gradients(ys, p)], {p: [1.0, 2.0, 3.0]})
    assert numbers(got) == [[2, 4, 6], [1, 3, 6], 6, [6, 5, 4]]


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (lambda: tf.map_fn(lambda v: tf.cast(v, tf.int32), x), tf.errors.InvalidArgumentError, "int32"),
        (lambda: tf.map_fn(lambda v: (v, v), x), ValueError, "structure"),
        (lambda: tf.map_fn(lambda v: v, tf.constant(1.0)), ValueError, "not scalars"),
        (lambda: tf.map_fn(lambda v: v[0], (x, x[:2]), fn_output_signature=tf.float32), ValueError, "imension"),
        (lambda: tf.map_fn(lambda v: v, []), ValueError, "does not contain any Tensors"),
        (lambda: tf.map_fn(3, x), TypeError, "not callable"),
        (lambda: tf.scan(lambda a, v: (a, v), x), ValueError, "structure"),
        (lambda: tf.foldl(3, x), TypeError, "not callable"),
        (lambda: tf.vectorized_map(lambda v: v, tf.constant(1.0)), ValueError, "not scalars"),
    ],
)  # fmt: skip
def test_errors(function, error, text, staged):
    with pytest.raises(error, match=text):
        (tf.function(function) if staged else function)()
