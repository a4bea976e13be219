"""Dense tables keep their buckets where TensorFlow's do."""

import numpy as np
import pytest

import tapeflow as tf


def table(**settings):
    return tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, -1, empty_key=0, deleted_key=-5, **settings
    )


def buckets(made):
    return [part.numpy()[:, 0].tolist() for part in made.export()]


def test_buckets_lie_where_tensorflow_puts_them():
    made = table(initial_num_buckets=8)
    made.insert([11, 12, 13], [1, 2, 3])
    assert buckets(made) == [[0, 0, 0, 11, 12, 13, 0, 0], [0, 0, 0, 1, 2, 3, 0, 0]]


def test_deleted_entries_leave_a_mark_and_their_value():
    made = table(initial_num_buckets=8)
    made.insert([11, 12, 13], [1, 2, 3])
    made.remove(tf.constant([12], tf.int64))
    assert buckets(made) == [[0, 0, 0, 11, -5, 13, 0, 0], [0, 0, 0, 1, 2, 3, 0, 0]]
    assert made.size().numpy() == 2


def test_tables_grow_beyond_four_fifths():
    made = table(initial_num_buckets=8)
    made.insert([11, 12, 13], [1, 2, 3])
    made.remove(tf.constant([12], tf.int64))
    made.insert(np.arange(20, 25), np.arange(5))
    keys, values = buckets(made)
    assert keys == [0, 0, 0, 0, 20, 21, 22, 23, 24, 0, 0, 11, 0, 13, 0, 0]
    assert values == [0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 1, 0, 3, 0, 0]


def test_growth_is_by_what_is_coming():
    made = table(initial_num_buckets=4)
    sizes = []
    for key in range(1, 6):
        made.insert([key], [key])
        sizes.append(made.export()[0].shape[0])
    assert sizes == [4, 4, 4, 8, 8]


@pytest.mark.parametrize("count", [2, 12])
def test_bucket_counts_are_powers_of_two(count):
    with pytest.raises(tf.errors.InvalidArgumentError, match="power of 2"):
        table(initial_num_buckets=count)


def test_one_dimension_of_keys_only():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected key shape"):
        table().lookup(tf.constant([[1, 2]], tf.int64))


def test_tables_of_one_shared_name_are_one_table():
    def made(name):
        return tf.raw_ops.HashTableV2(key_dtype=tf.int64, value_dtype=tf.int64, shared_name=name)

    first = made("test_tables_of_one_shared_name")
    one = tf.constant([1], tf.int64)
    tf.raw_ops.LookupTableImportV2(table_handle=first, keys=one, values=one)
    again = made("test_tables_of_one_shared_name")
    assert tf.raw_ops.LookupTableSizeV2(table_handle=again) == 1
    other = made("test_tables_of_another_shared_name")
    assert tf.raw_ops.LookupTableSizeV2(table_handle=other) == 0
