"""Rows within the values of a `RaggedFeature`: of one example, and of a batch as of its examples one by one."""

import numpy as np
import pytest

import tapeflow as tf

Ragged = tf.io.RaggedFeature
EXAMPLES = (
    {
        "v": [3, 1, 4, 1, 5, 9, 2, 6], "splits": [0, 2, 5, 8], "lengths": [2, 0, 6], "starts": [0, 2, 2],
        "limits": [2, 2, 8], "ids": [0, 0, 2, 2, 2, 3, 3, 3], "outer": [0, 2, 3], "some": [1, 7],
    },
    {
        "v": [7, 8], "splits": [0, 2], "lengths": [2], "starts": [0], "limits": [2], "ids": [0, 0], "outer": [0, 1],
        "some": [2],
    },
    {
        "v": [], "splits": [0], "lengths": [], "starts": [], "limits": [], "ids": [], "outer": [0], "some": [],
    },
)  # fmt: skip
# Partitions, and the rows of the first example.
CASES = {
    "splits": ([Ragged.RowSplits("splits")], [[3, 1], [4, 1, 5], [9, 2, 6]]),
    "lengths": ([Ragged.RowLengths("lengths")], [[3, 1], [], [4, 1, 5, 9, 2, 6]]),
    "starts": ([Ragged.RowStarts("starts")], [[3, 1], [], [4, 1, 5, 9, 2, 6]]),
    "limits": ([Ragged.RowLimits("limits")], [[3, 1], [], [4, 1, 5, 9, 2, 6]]),
    "ids": ([Ragged.ValueRowIds("ids")], [[3, 1], [], [4, 1, 5], [9, 2, 6]]),
    "uniform": ([Ragged.UniformRowLength(2)], [[3, 1], [4, 1], [5, 9], [2, 6]]),
    "two": ([Ragged.RowSplits("outer"), Ragged.RowSplits("splits")], [[[3, 1], [4, 1, 5]], [[9, 2, 6]]]),
    "uniform inside": (
        [Ragged.RowLengths("some"), Ragged.UniformRowLength(1)],
        [[[3]], [[1], [4], [1], [5], [9], [2], [6]]],
    ),
    "uniform outside": (
        [Ragged.UniformRowLength(1), Ragged.RowSplits("splits")],
        [[[3, 1]], [[4, 1, 5]], [[9, 2, 6]]],
    ),
}


def serialized(lists):
    made = {k: tf.train.Feature(int64_list=tf.train.Int64List(value=v)) for k, v in lists.items()}
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


BATCH = [serialized(lists) for lists in EXAMPLES]


def as_lists(value):
    return value.to_list() if isinstance(value, tf.RaggedTensor) else value.numpy().tolist()


@pytest.mark.parametrize("splits", [tf.int32, tf.int64], ids=["int32", "int64"])
@pytest.mark.parametrize("case", CASES)
def test_rows(case, splits):
    partitions, expected = CASES[case]
    features = {"x": Ragged(tf.int64, "v", partitions, row_splits_dtype=splits)}
    alone = [tf.io.parse_single_example(example, features)["x"] for example in BATCH]
    assert as_lists(alone[0]) == expected
    together = tf.io.parse_example(BATCH, features)["x"]
    assert together.to_list() == [as_lists(each) for each in alone]
    assert together.row_splits.dtype == splits
    assert together.dtype == tf.int64


def test_rows_in_a_dataset():
    features = {"x": Ragged(tf.int64, "v", [Ragged.RowSplits("splits")])}
    dataset = tf.data.Dataset.from_tensor_slices(BATCH).batch(2)
    found = list(dataset.map(lambda batch: tf.io.parse_example(batch, features)["x"]))
    assert found[0].to_list() == [[[3, 1], [4, 1, 5], [9, 2, 6]], [[7, 8]]]
    assert found[1].to_list() == [[]]


@pytest.mark.parametrize("lengths", [[1], [3, 3]], ids=["too few", "too many"])
def test_partitions_that_are_none(lengths):
    bad = serialized({"v": [1, 2, 3], "lengths": lengths})
    features = {"x": Ragged(tf.int64, "v", [Ragged.RowLengths("lengths")], validate=True)}
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.parse_example([bad], features)


def test_values_of_several_examples_stay_with_their_own():
    rng = np.random.RandomState(0)
    lists = []
    for _ in range(20):
        lengths = rng.randint(0, 4, rng.randint(0, 5)).tolist()
        lists.append({"v": rng.randint(0, 100, sum(lengths)).tolist(), "lengths": lengths})
    features = {"x": Ragged(tf.int64, "v", [Ragged.RowLengths("lengths")], validate=True)}
    found = tf.io.parse_example([serialized(each) for each in lists], features)["x"].to_list()
    for each, rows in zip(lists, found, strict=True):
        assert [len(row) for row in rows] == each["lengths"]
        assert [x for row in rows for x in row] == each["v"]
