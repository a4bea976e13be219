"""Initializers of tables whose keys do not fit."""

import pytest

import tapeflow as tf

TWO_VALUES = "HashTable has different value for same key. Key a has 0 and trying to add value 1"


@pytest.mark.parametrize("source", ["tensors", "file"])
def test_two_values_for_one_key(source, tmp_path):
    words, lookup = tmp_path / "words.txt", tf.lookup
    words.write_text("a\na\n")
    if source == "tensors":
        initializer = lookup.KeyValueTensorInitializer(["a", "a"], [0, 1])
    else:
        index = lookup.TextFileIndex
        initializer = lookup.TextFileInitializer(
            str(words), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
        )
    with pytest.raises(tf.errors.FailedPreconditionError, match=TWO_VALUES):
        lookup.StaticHashTable(initializer, -1)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        lookup.StaticHashTable(lookup.KeyValueTensorInitializer(["a", "a"], [0, 1]), -1)
        with pytest.raises(tf.errors.FailedPreconditionError, match=TWO_VALUES):
            session.run(tf.compat.v1.tables_initializer())
