"""The order of what `parse_example` and related functions return: programs print it and go through it."""

import tapeflow as tf

NUMBERS = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
CONTEXT = {
    "z": tf.io.VarLenFeature(tf.int64),
    "a": tf.io.FixedLenFeature([1], tf.int64),
    "m": tf.io.RaggedFeature(tf.int64),
    "b": tf.io.VarLenFeature(tf.int64),
}


def test_examples():
    features = CONTEXT | {
        "c": tf.io.SparseFeature("b", "z", tf.int64, 3),
        "q": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }
    given = dict.fromkeys("zambq", NUMBERS)
    example = tf.train.Example(features=tf.train.Features(feature=given)).SerializeToString()
    assert list(tf.io.parse_single_example(example, features)) == [*"bzaqmc"]
    assert list(tf.io.parse_example([example], features)) == [*"bzaqmc"]


def test_sequence_examples():
    given = tf.train.Features(feature=dict.fromkeys("zamb", NUMBERS))
    lists = tf.train.FeatureLists(feature_list={"a": tf.train.FeatureList(feature=[NUMBERS])})
    example = tf.train.SequenceExample(context=given, feature_lists=lists).SerializeToString()
    sequences = {"a": tf.io.FixedLenSequenceFeature([], tf.int64), "c": tf.io.VarLenFeature(tf.int64)}
    context, found = tf.io.parse_single_sequence_example(example, CONTEXT, sequences)
    assert (list(context), list(found)) == ([*"bzam"], [*"ca"])
    context, found, _ = tf.io.parse_sequence_example([example], CONTEXT, sequences)
    assert (list(context), list(found)) == ([*"bzam"], [*"ca"])
