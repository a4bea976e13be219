"""Variables of several replicas: what replicas write without an aggregation is an error, never one replica's word."""

import pytest

import tapeflow as tf


@pytest.fixture
def two():
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])


def variable(strategy, aggregation):
    with strategy.scope():
        return tf.Variable([1.0, 1.0, 1.0], aggregation=tf.VariableAggregation[aggregation])


def number():
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize(
    ("aggregation", "total"), [("SUM", 42.0), ("MEAN", 21.0), ("ONLY_FIRST_REPLICA", 20.0)]
)
def test_slices_that_replicas_add_are_aggregated(two, aggregation, total, compiled):
    v = variable(two, aggregation)

    def step():
        slices = tf.IndexedSlices(tf.fill([3], 10.0 + number()), [0, 2, 0], [3])
        v.scatter_add(slices)
        v.scatter_sub(tf.IndexedSlices(tf.fill([1], 10.0 + number()), [2], [3]))

    run = tf.function(lambda: two.run(step)) if compiled else lambda: two.run(step)
    run()
    assert v.numpy().tolist() == [1 + total, 1, 1]


@pytest.mark.parametrize(
    "write",
    [
        lambda v, x: v.scatter_update(tf.IndexedSlices([x], [0], [3])),
        lambda v, x: v.scatter_max(tf.IndexedSlices([x], [0], [3])),
        lambda v, x: v.scatter_nd_update([[0]], [x]),
        lambda v, x: v.scatter_nd_add([[0]], [x]),
        lambda v, x: v[0].assign(x),
        lambda v, x: v[:1].assign([x]),
    ],
)
def test_other_slices_are_not_written_in_a_replica(two, write):
    v = variable(two, "MEAN")
    with pytest.raises(NotImplementedError, match="in a replica of several"):
        two.run(lambda: write(v, number()))
    write(v, tf.constant(5.0))  # outside of replicas
    assert v[0].numpy() >= 5


def test_each_replica_reads_for_itself(two):
    v = variable(two, "SUM")
    assert two.reduce("SUM", two.run(v.read_value), axis=None).numpy().tolist() == [2, 2, 2]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("of_replicas", [False, True])
def test_a_tensor_that_is_no_distributed_value_has_no_sum(two, compiled, of_replicas):
    x = tf.constant([5.0, 6.0])

    def reduce(op="SUM"):
        return two.reduce(op, two.run(lambda: x) if of_replicas else x, axis=None)

    run = tf.function(reduce) if compiled else reduce
    with pytest.raises(ValueError, match="A non-DistributedValues value"):
        run()
    assert run("MEAN").numpy().tolist() == [5, 6]
    assert two.reduce("SUM", x, axis=0).numpy() == 22  # as TensorFlow, which adds it up in each replica


def test_devices_are_named_once():
    with pytest.raises(AssertionError, match="No duplicates allowed in `devices`"):
        tf.distribute.MirroredStrategy(["/cpu:0", "cpu:0"])


def test_what_is_asked_of_reductions_and_not_done_is_an_error():
    with pytest.raises(ValueError, match="NCCL all-reduce requires num_packs >= 0, but -1"):
        tf.distribute.NcclAllReduce(num_packs=-1)
    with pytest.raises(ValueError, match="HierarchicalCopy requires num_packs >= 0, but -1"):
        tf.distribute.HierarchicalCopyAllReduce(num_packs=-1)
    with pytest.raises(tf.errors.UnimplementedError, match=r"other than tf\.add_n"):
        tf.distribute.ReductionToOneDevice(accumulation_fn=lambda values: values[0])
    tf.distribute.ReductionToOneDevice(accumulation_fn=tf.add_n)
