"""Maps over rows in memory, whose batches are computed at once, against the same map of each element."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.data.parts import parts_of
from tapeflow.data.transform.mapping_batches import MappedRows

X = np.random.default_rng(0).normal(size=(11, 2, 3)).astype(np.float32)
Y = np.arange(11, dtype=np.uint8)
Dataset = tf.data.Dataset

BY_NUMBER = {
    "scaled": lambda x, y: (x / 255.0 - 0.5, y),
    "cast": lambda x, y: {"x": x, "y": tf.cast(y, tf.float32) * 2.0},
    "matrix": lambda x, y: (x + tf.constant(X[0]), tf.cast(y, tf.int64)),
    "row": lambda x, y: tf.maximum(x, tf.constant([0.0, 0.5, 1.0])) * tf.cast(y, tf.float32),
    "moved": lambda x, y: (tf.transpose(tf.reshape(x, [3, 2]))[:, ::-1], y[None]),
    "chosen": lambda x, y: tf.where(x > 0, tf.exp(x), x),
    "same": lambda x, y: (y, x),
}
BY_ELEMENT = {
    "integer division": lambda x, y: 7 // (y + 1),
    "gathered": lambda x, y: tf.gather(tf.range(20), tf.cast(y, tf.int32)),
    "filled": lambda x, y: tf.fill([tf.cast(y, tf.int32)], 1.0)[:0],
    "random": lambda x, y: x + tf.random.uniform([]),
    "Python": lambda x, y: tf.py_function(lambda v: v * 2, [x], tf.float32),
    "checked": lambda x, y: tf.debugging.check_numerics(x, "finite"),
    "text": lambda x, y: tf.strings.as_string(x),
    "reduced": lambda x, y: tf.reduce_sum(x),
}
PIPELINES = {
    "batch": lambda d, f: d.map(f).batch(4),
    "parallel": lambda d, f: d.map(f, num_parallel_calls=2).batch(4, drop_remainder=True),
    "shuffle": lambda d, f: d.shuffle(5, seed=3).map(f).batch(4),
    "shuffle after": lambda d, f: d.map(f).shuffle(20, seed=3).repeat(2).batch(4),
    "twice": lambda d, f: d.map(f).map(lambda *a: a).skip(2).take(7).batch(2).prefetch(1),
    "shard": lambda d, f: d.map(f).shard(3, 1).batch(2),
    "cache": lambda d, f: d.map(f).cache().batch(4),
}


def source():
    return Dataset.from_tensor_slices((X, Y))


def of_each_element(f):
    """The function through Python, which is called for each element."""
    return lambda *a: tf.nest.map_structure(lambda v: tf.numpy_function(lambda v: v, [v], v.dtype), f(*a))


@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("name", BY_NUMBER)
def test_batches_are_those_of_the_elements(name, pipeline):
    f, make = BY_NUMBER[name], PIPELINES[pipeline]
    assert isinstance(parts_of(source().map(f)).rows, MappedRows)
    found = [tf.nest.flatten(batch) for batch in make(source(), f)]
    wanted = [tf.nest.flatten(batch) for batch in make(source(), of_each_element(f))]
    assert len(found) == len(wanted)
    for ours, theirs in zip(found, wanted, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", BY_ELEMENT)
def test_other_functions_run_for_each_element(name):
    assert parts_of(source().map(BY_ELEMENT[name])).rows is None


def test_element_spec_stays():
    made = source().map(BY_NUMBER["scaled"]).batch(4)
    assert made.element_spec == (tf.TensorSpec([None, 2, 3]), tf.TensorSpec([None], tf.uint8))


def test_iterators_go_on_where_they_were(tmp_path):
    iterator = iter(source().shuffle(5, seed=1).map(BY_NUMBER["scaled"]).batch(2))
    next(iterator)
    saved = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "saved"))
    rest = [y.numpy().tolist() for _, y in iterator]
    tf.train.Checkpoint(iterator=iterator).restore(saved)
    assert [y.numpy().tolist() for _, y in iterator] == rest
