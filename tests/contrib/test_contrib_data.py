"""`tf.contrib.data`: windows of datasets whose elements have any structure."""

import pytest

import tapeflow as tf

STRUCTURES = {
    "tensor": lambda x: x,
    "pair": lambda x: (x, x * x),
    "dict": lambda x: {"a": x, "b": (x, -x)},
    "sparse": lambda x: tf.SparseTensor([[0]], tf.expand_dims(x, 0), [1]),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_sliding_windows_of_structures(name):
    make = STRUCTURES[name]
    windows = list(tf.data.Dataset.range(5).map(make).apply(tf.contrib.data.sliding_window_batch(3, 2)))
    assert len(windows) == 2
    for window, start in zip(windows, (0, 2), strict=True):
        for i in range(3):
            want = make(tf.constant(start + i, tf.int64))
            if name == "sparse":
                part, want = tf.sparse.to_dense(window)[i], tf.sparse.to_dense(want)
            else:
                part = tf.nest.map_structure(lambda x, i=i: x[i], window)
            tf.nest.map_structure(lambda x, y: tf.debugging.assert_equal(x, y), part, want)
