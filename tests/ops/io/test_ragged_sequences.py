"""Lists of features that `parse_sequence_example` and its kind give as ragged tensors; the answers are TensorFlow's."""

import tapeflow as tf

Ragged = tf.io.RaggedFeature


def _feature(*values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _message(**lists):
    made = {key: tf.train.FeatureList(feature=[_feature(*v) for v in steps]) for key, steps in lists.items()}
    return tf.train.SequenceExample(feature_lists=tf.train.FeatureLists(feature_list=made)).SerializeToString()


A = _message(t=[[1, 2], [], [3]], n=[[2], [], [1]])
B = _message(t=[[], [4], []], n=[[], [1], []])
C = _message()


def _batch(**features):
    context, found, lengths = tf.io.parse_sequence_example([A, B, C], sequence_features=features)
    assert (context, lengths) == ({}, {})
    return {key: value.to_list() for key, value in found.items()}


def test_batches():
    found = _batch(t=Ragged(tf.int64), z=Ragged(tf.float32))
    assert found == {"t": [[[1, 2], [], [3]], [[], [4], []], []], "z": [[], [], []]}


def test_one_message():
    _, found = tf.io.parse_single_sequence_example(
        A, sequence_features={"q": Ragged(tf.int64, value_key="t", row_splits_dtype=tf.int64)}
    )
    assert found["q"].to_list() == [[1, 2], [], [3]]
    assert (found["q"].row_splits.dtype, found["q"].row_splits.numpy().tolist()) == (tf.int64, [0, 2, 2, 3])


def test_partitions_of_steps():
    by_lengths = Ragged(tf.int64, value_key="t", partitions=[Ragged.RowLengths("n")])
    assert _batch(q=by_lengths) == {"q": [[[[1, 2]], [], [[3]]], [[], [[4]], []], []]}
    _, found = tf.io.parse_single_sequence_example(A, sequence_features={"q": by_lengths})
    assert found["q"].to_list() == [[[1, 2]], [], [[3]]]
    by_ones = Ragged(tf.int64, value_key="t", partitions=[Ragged.UniformRowLength(1)])
    assert _batch(q=by_ones) == {"q": [[[[1], [2]], [], [[3]]], [[], [[4]], []], []]}


def test_in_functions_of_datasets():
    dataset = tf.data.Dataset.from_tensor_slices([A, B, C]).map(
        lambda s: tf.io.parse_single_sequence_example(s, sequence_features={"t": Ragged(tf.int64)})[1]["t"]
    )
    assert dataset.batch(3).get_single_element().to_list() == [[[1, 2], [], [3]], [[], [4], []], []]
