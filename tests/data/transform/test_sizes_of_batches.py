"""Batches of other sizes, of rows with parts that are None, and elements by number."""

import itertools

import pytest

import tapeflow as tf

Dataset = tf.data.Dataset


def cut(rows, sizes, drop):
    """What is in the batches: sizes of zero take no row, and so are there up to the next one that finds the end."""
    found, rows, turns = [], list(rows), itertools.cycle(sizes)
    size = next(turns)
    while len(rows) >= size:
        found.append(rows[:size])
        rows, size = rows[size:], next(turns)
    return found + ([rows] if rows and not drop else [])


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("sizes", [[1, 1, 0], [0, 1], [1, 0], [2, 0, 3], [0, 0, 5], [3]])
def test_rows_in_batches_of_sizes_in_turn(sizes, drop):
    found = Dataset.range(8).batch(4).rebatch(sizes, drop_remainder=drop)
    assert [batch.numpy().tolist() for batch in found] == cut(range(8), sizes, drop)


def test_empty_batches_of_several_parts():
    found = Dataset.from_tensors(([[1, 2], [3, 4]], ["a", "b"])).rebatch([0, 2])
    first = next(iter(found))
    assert [(part.dtype, part.shape) for part in first] == [(tf.int32, [0, 2]), (tf.string, [0])]


CHANGES = [lambda x: x.unbatch(), lambda x: x.rebatch(2).unbatch(), lambda x: x.rebatch([1, 3]).unbatch()]


@pytest.mark.parametrize("change", CHANGES)
def test_parts_that_are_none(change):
    found = list(change(Dataset.from_tensors((list(range(4)), None))))
    assert [(int(row), rest) for row, rest in found] == [(i, None) for i in range(4)]


def test_elements_by_number():
    at = tf.data.experimental.at
    numbers = Dataset.range(10).map(lambda x: x + 1)
    assert [int(at(numbers, i)) for i in (0, 9)] == [1, 10]
    for dataset, text in (
        (numbers.repeat(), "infinite cardinality"),
        (numbers.batch(4).unbatch().filter(lambda x: x > 0), "unknown cardinality"),
    ):
        with pytest.raises(tf.errors.FailedPreconditionError, match=text):
            at(dataset, 0)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        number = tf.compat.v1.placeholder(tf.int64, [])
        found = at(Dataset.range(10).map(lambda x: x * x), number)
        assert [session.run(found, {number: i}) for i in (2, 5)] == [4, 25]
        with pytest.raises(tf.errors.OutOfRangeError, match=r"\[0, 10\)"):
            session.run(found, {number: 10})


def test_a_dataset_is_saved_by_a_session(tmp_path):
    path = str(tmp_path / "saved")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        session.run(Dataset.range(5).save(path))
    assert [int(x) for x in Dataset.load(path)] == list(range(5))


def test_shards_are_read_in_turn(tmp_path, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    path = str(tmp_path / "saved")
    Dataset.range(9).save(path, shard_func=lambda x: x // 3)
    assert [int(x) for x in Dataset.load(path)] == [0, 3, 1, 4, 2, 5, 6, 7, 8]


def test_saving_keeps_how_far_it_got(tmp_path):
    counter, folder = tf.Variable(0, dtype=tf.int64), str(tmp_path / "checkpoints")
    arguments = {"directory": folder, "max_to_keep": 2, "step_counter": counter, "checkpoint_interval": 2}
    path = str(tmp_path / "saved")
    Dataset.range(6).save(path, checkpoint_args=arguments)
    assert [int(x) for x in Dataset.load(path)] == list(range(6))
    assert int(counter) == 6
    assert tf.train.latest_checkpoint(folder) is not None
    with pytest.raises(ValueError, match="not allowed to include 'checkpoint'"):
        Dataset.range(2).save(path, checkpoint_args={"checkpoint": None})


@pytest.mark.parametrize("kind", ["DatasetToGraph", "DatasetToGraphV2"])
def test_the_graph_of_a_dataset(kind):
    found = getattr(tf.raw_ops, kind)(input_dataset=Dataset.range(3).map(lambda x: x + 1)._variant_tensor)
    graph = tf.compat.v1.GraphDef.FromString(found.numpy())
    assert {"RangeDataset", "MapDataset"} <= {node.op for node in graph.node}
