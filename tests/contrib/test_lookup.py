"""`tf.contrib.lookup`: tables with buckets, and the hashes of these. The numbers are TensorFlow's."""

import pytest

import tapeflow as tf
from tapeflow.contrib import lookup

STRONG = lookup.StrongHashSpec([1, 2])
WORDS = ["a", "c", "d", "e", "hello"]


def found(table, keys=WORDS, dtype=None):
    return table.lookup(tf.constant(keys, dtype)).numpy().tolist()


def test_the_hash_of_unknown_words_can_be_chosen():
    assert found(lookup.index_table_from_tensor(["a", "b"], 5)) == [0, 4, 2, 3, 3]
    assert found(lookup.index_table_from_tensor(["a", "b"], 5, hasher_spec=STRONG)) == [0, 6, 5, 5, 4]
    made = lookup.string_to_index_table_from_tensor(["a", "b"], 5, hasher_spec=STRONG)
    assert found(made) == [0, 6, 5, 5, 4]


def test_the_hash_of_unknown_words_of_a_file(tmp_path):
    path = tmp_path / "words"
    path.write_text("a\nb\n")
    assert found(lookup.index_table_from_file(str(path), 5, hasher_spec=STRONG)) == [0, 6, 5, 5, 4]


def test_the_hash_of_tables_of_datasets():
    words = tf.data.Dataset.from_tensor_slices(["a", "b"])
    pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], tf.constant([5, 6], tf.int64)))
    experimental = tf.data.experimental
    assert found(experimental.index_table_from_dataset(words, 5, hasher_spec=STRONG)) == [0, 6, 5, 5, 4]
    assert found(experimental.table_from_dataset(pairs, 5, hasher_spec=STRONG)) == [5, 6, 5, 5, 4]
    with pytest.raises(TypeError, match="must be of type HasherSpec"):
        experimental.table_from_dataset(pairs, 5, hasher_spec=None)


def test_whole_numbers_as_keys():
    keys = [10, 30, 40, 50]
    assert found(lookup.index_table_from_tensor([10, 20], 5, dtype=tf.int64), keys, tf.int64) == [0, 5, 5, 5]
    strong = lookup.index_table_from_tensor([10, 20], 5, hasher_spec=STRONG, dtype=tf.int64)
    assert found(strong, keys, tf.int64) == [0, 4, 5, 2]
    with pytest.raises(ValueError, match="Expected non-integer"):
        lookup.index_table_from_tensor([10, 20], 5)
    with pytest.raises(ValueError, match="Expected integer"):
        lookup.index_table_from_tensor(["a"], 5, dtype=tf.int64)


def test_buckets_around_another_table():
    numbers = tf.constant([10, 20], tf.int64)
    table = lookup.HashTable(lookup.KeyValueTensorInitializer(numbers, tf.range(2, dtype=tf.int64)), -1)
    made = lookup.IdTableWithHashBuckets(table, 3, key_dtype=tf.int32)
    assert found(made, [10, 30], tf.int32) == [0, 4]
    assert made.size().numpy() == 5
    assert found(lookup.IdTableWithHashBuckets(table, 0), [10, 30], tf.int64) == [0, -1]
    assert found(lookup.IdTableWithHashBuckets(None, 3), ["10"]) == [2]
    with pytest.raises(TypeError, match="expected non-integer"):
        lookup.IdTableWithHashBuckets(table, 3, key_dtype=tf.string)
    with pytest.raises(ValueError, match="must be > 0"):
        lookup.IdTableWithHashBuckets(None, 0)


def test_hashes_that_are_none():
    with pytest.raises(ValueError, match="`key` must have size 2"):
        lookup.StrongHashSpec([1])
    with pytest.raises(TypeError, match="Must be unsigned integer values"):
        lookup.StrongHashSpec([1, "a"])
    with pytest.raises(TypeError, match="must be of type HasherSpec"):
        lookup.index_table_from_tensor(["a"], 5, hasher_spec="strong")
    with pytest.raises(ValueError, match="Unknown hasher"):
        lookup.index_table_from_tensor(["a"], 5, hasher_spec=lookup.HasherSpec("other", None))
