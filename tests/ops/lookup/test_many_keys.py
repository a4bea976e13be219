"""Many keys are looked up by an index as few are by the dictionary, also after the table has changed."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow import _native
from tapeflow.ops.lookup.table_object import Table

KEYS = {
    "int32": np.array([0, 7, -1, 2**31 - 1, -(2**31)], np.int32),
    "int64": np.array([5, -1, 2**63 - 1, -(2**63), 2**32 + 5]),
    "string": np.array([b"", b"a", b"a\0", b"\xff", b"long" * 50], object),
}
VALUES = {"float32": [1.5, -0.0, np.inf, 3.0, 2.0], "int64": [1, 2, 3, 4, 5], "string": [b"v", b"", b"w", b"x", b"y"]}


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("shape", [(), (2,)])
def test_an_index_finds_what_the_dictionary_has(key, value, shape):
    values = np.array(VALUES[value], object if value == "string" else value)
    rows = values if not shape else np.stack([values, values[::-1]], 1)
    table = Table(tf.as_dtype(key), tf.as_dtype(value), (), shape)
    numbers = np.random.default_rng(1)
    missing = np.array([b"?" if key == "string" else 3], KEYS[key].dtype)
    pool = np.concatenate([KEYS[key], missing])
    default = rows[2]
    for size in (3, 5):
        table.insert(KEYS[key][:size], rows[:size])
        for many in (pool[numbers.integers(0, 6, 500)], pool[numbers.integers(0, 6, (40, 3))][:, ::2]):
            found = table.find(many, np.asarray(default, rows.dtype))
            known = dict(zip(KEYS[key][:size].tolist(), rows[:size], strict=True))
            want = np.array([known.get(k, default) for k in many.ravel().tolist()], rows.dtype)
            np.testing.assert_array_equal(found, want.reshape(many.shape + shape))
    table.remove(KEYS[key][:1])
    assert (table.find(np.repeat(KEYS[key][:1], 99), np.asarray(default, rows.dtype)) == default).all()
    table.insert(KEYS[key][:1], rows[1:2])
    found = table.find(np.repeat(KEYS[key][:1], 99), np.asarray(default, rows.dtype))
    np.testing.assert_array_equal(found, np.repeat(rows[1:2], 99, 0))


def test_many_defaults_and_an_empty_table():
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, 0)
    keys = tf.range(200, dtype=tf.int64)
    assert table.lookup(keys, keys * 2).numpy().tolist() == list(range(0, 400, 2))
    table.insert(keys[::2], keys[::2] + 1)
    want = [k + 1 if k % 2 == 0 else 2 * k for k in range(200)]
    assert table.lookup(keys, keys * 2).numpy().tolist() == want


def test_keys_that_a_dense_table_keeps_are_refused_among_many():
    table = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, empty_key=-1, deleted_key=-2)
    keys = tf.range(100, dtype=tf.int64)
    table.insert(keys, keys)
    assert table.lookup(keys).numpy().tolist() == list(range(100))
    with pytest.raises(tf.errors.InvalidArgumentError, match="as a table key is not allowed"):
        table.lookup(keys - 2)


def test_indexes_take_arrays_of_keys_only():
    index = _native.key_index(np.arange(3))
    places = np.empty(2, np.int64)
    for keys in (np.ones(2), np.array([b"a", b"b"], object), np.zeros(2, np.int8)):
        with pytest.raises(TypeError):
            _native.key_places(index, keys, places)
    with pytest.raises(ValueError, match="do not fit"):
        _native.key_places(index, np.arange(3), places)
    with pytest.raises(TypeError):
        _native.key_index(np.array([b"a", "b"], object))
    with pytest.raises(ValueError, match="PyCapsule"):
        _native.key_places(None, np.arange(2), places)
