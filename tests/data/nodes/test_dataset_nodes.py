"""Datasets as nodes of TensorFlow's ops, which make the same elements when a graph runs."""

import re

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.data import leaves
from tapeflow.data.nodes import variants
from tapeflow.data.nodes.writing import NoOpForIt, node_of
from tapeflow.ops import node_rows

D = tf.data.Dataset
_OPTIONS = tf.data.Options()
_OPTIONS.deterministic = False
CASES = {
    "AssertCardinalityDataset": lambda: D.range(3).apply(tf.data.experimental.assert_cardinality(3)),
    "BatchDatasetV2": lambda: D.range(10).batch(3),
    "CacheDataset": lambda: D.range(3).cache(),
    "ConcatenateDataset": lambda: D.range(3).concatenate(D.range(2)),
    "FilterDataset": lambda: D.range(9).filter(lambda x: x % 3 == 0),
    "FlatMapDataset": lambda: D.range(4).flat_map(lambda x: D.range(x).map(lambda y: (x, y))),
    "IgnoreErrorsDataset": lambda: D.range(3).map(lambda x: tf.debugging.check_numerics(1 / x, "")).ignore_errors(),
    "InterleaveDataset": lambda: D.range(4).interleave(lambda x: D.from_tensors(x).repeat(2), cycle_length=2),
    "MapDataset": lambda: D.from_tensor_slices({"b": [1, 2], "a": [3, 4]}).map(lambda d: {"z": d["a"], "c": d["b"]}),
    "OptionsDataset": lambda: D.range(3).with_options(_OPTIONS),
    "ParallelBatchDataset": lambda: D.range(5).batch(2, drop_remainder=True, num_parallel_calls=2),
    "ParallelInterleaveDatasetV4": lambda: D.range(4).interleave(lambda x: D.range(x), 2, 1, num_parallel_calls=2),
    "ParallelMapDatasetV2": lambda: D.range(9).map(lambda x: x + 1, num_parallel_calls=2),
    "PrefetchDataset": lambda: D.range(3).prefetch(2),
    "RangeDataset": lambda: D.range(9, 2, -2, output_type=tf.int32),
    "RepeatDataset": lambda: D.range(2).repeat(3),
    "ScanDataset": lambda: D.range(5).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, (s * x, x))),
    "ShardDataset": lambda: D.range(9).shard(3, 1),
    "ShuffleDatasetV3": lambda: D.range(9).shuffle(4, seed=3, reshuffle_each_iteration=False),
    "SkipDataset": lambda: D.range(9).skip(7),
    "TakeDataset": lambda: D.range(9).take(2),
    "TakeWhileDataset": lambda: D.range(9).take_while(lambda x: x < 4),
    "TensorDataset": lambda: D.from_tensors((1, [2.0, 3.0])),
    "TensorSliceDataset": lambda: D.from_tensor_slices((["a", "b"], [1, 2])),
    "UnbatchDataset": lambda: D.range(4).batch(2).unbatch(),
    "UniqueDataset": lambda: D.range(4).map(lambda x: x // 2).unique(),
    "ZipDataset": lambda: D.zip((D.range(3), (D.range(3), D.range(2)))),
}


def values(dataset):
    return [[x.numpy() for x in variants.unpacked(value)] for value in dataset]


@pytest.mark.parametrize("kind", CASES)
def test_nodes_make_the_same_elements(kind):
    dataset = CASES[kind]()
    function = tf.function(lambda: node_of(dataset), autograph=False).get_concrete_function()
    assert kind in {op.type for op in function.graph.get_operations()}
    made = leaves.unboxed(function())
    np.testing.assert_equal(values(made), values(dataset))
    again = tf.function(lambda: node_of(made), autograph=False)
    np.testing.assert_equal(values(leaves.unboxed(again())), values(dataset))


def test_what_no_op_makes_is_said():
    for dataset in (
        D.from_generator(lambda: iter([1]), tf.int32),
        D.from_tensors(tf.ragged.constant([[1], [2, 3]])),
    ):
        with pytest.raises(NoOpForIt), tf.Graph().as_default():
            node_of(dataset)


def test_errors_name_the_method_and_the_element():
    dataset = D.range(3).map(lambda x: tf.debugging.check_numerics(1 / tf.cast(x - 1, tf.float32), "bad"))

    @tf.function
    def total():
        s = 0.0
        for x in D.range(1).flat_map(lambda _: dataset):
            s += x
        return s

    with pytest.raises(tf.errors.InvalidArgumentError, match="bad : Tensor had Inf"):
        total()


def test_graph_of_a_dataset_as_a_string():
    dataset = tf.data.Dataset.range(5).shuffle(3, seed=1).map(lambda x: x + 1)
    graph = tf.compat.v1.GraphDef.FromString(dataset._as_serialized_graph().numpy())
    kinds = [node.op for node in graph.node]
    assert {"RangeDataset", "MapDataset"} < set(kinds)
    assert any(kind.startswith("ShuffleDataset") for kind in kinds)


def test_rows_say_whether_they_make_a_dataset():
    """Iterators count what makes a dataset as no state outside of them, whatever its name ends in."""
    node_rows.load_all()
    making = {name for name, row in node_rows.NODES.items() if row.makes_dataset}
    assert {"RangeDataset", "BatchDatasetV2", "ShuffleDatasetV3", "ParallelInterleaveDatasetV4"} <= making
    named = {name for name, row in node_rows.NODES.items() if row.kernel and re.search(r"Dataset(V\d)?$", name)}
    assert named - making == {"InitializeTableFromDataset"}


def _from_its_graph(dataset):
    graph = tf.raw_ops.DatasetToGraphV2(input_dataset=tf.data.experimental.to_variant(dataset))
    made = tf.raw_ops.DatasetFromGraph(graph_def=graph)
    return tf.data.experimental.from_variant(made, dataset.element_spec)


@pytest.mark.parametrize(
    "dataset",
    [
        tf.data.Dataset.range(5).map(lambda x: x + 1).filter(lambda x: x > 2),
        tf.data.Dataset.from_tensor_slices(([1, 2, 3], ["a", "b", "c"])).batch(2),
        tf.data.Dataset.range(4).flat_map(tf.data.Dataset.range),
    ],
)
def test_a_dataset_of_its_own_graph(dataset):
    for mine, theirs in zip(_from_its_graph(dataset), dataset, strict=True):
        tf.nest.map_structure(np.testing.assert_array_equal, mine, theirs)


def test_records_of_one_length_from_a_graph(tmp_path):
    (tmp_path / "records").write_bytes(b"h" + b"abcdef" + b"ff")
    dataset = tf.data.FixedLengthRecordDataset([str(tmp_path / "records")], 3, 1, 2).repeat(2)
    assert list(_from_its_graph(dataset).as_numpy_iterator()) == [b"abc", b"def"] * 2


@pytest.mark.parametrize(
    ("text", "error"), [(b"", tf.errors.NotFoundError), (b"\xff\xff", tf.errors.InvalidArgumentError)]
)
def test_a_graph_that_returns_no_dataset(text, error):
    with pytest.raises(error):
        tf.raw_ops.DatasetFromGraph(graph_def=text)
