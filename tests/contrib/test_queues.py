"""Buckets and samples of tf.contrib.training, from queues; strategies of devices; messages of hyperparameters."""

import numpy as np
import pytest

import tapeflow.compat.v1 as tf
from tapeflow.contrib import training


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def batches(session, fetch, most=None):
    """All batches, or that many."""
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coord)
    found = []
    try:
        while most is None or len(found) < most:
            found.append(session.run(fetch))
    except tf.errors.OutOfRangeError:
        pass
    coord.request_stop()
    coord.join(threads, stop_grace_period_secs=1, ignore_live_threads=True)
    return found


def example(count):
    """A number, as many copies of it, and a sparse tensor."""
    number = tf.train.range_input_producer(count, num_epochs=1, shuffle=False).dequeue()
    sparse = tf.SparseTensor([[0, 1]], tf.cast(number[None], tf.float32), [1, 2])
    return {"number": number, "copies": tf.fill([number], number), "sparse": sparse}


@pytest.mark.parametrize("smaller", [True, False])
@pytest.mark.parametrize("sizes", [3, [2, 4]])
def test_batches_are_of_one_bucket(session, sizes, smaller):
    given = example(14)
    which, batch = training.bucket(
        given, given["number"] % 2, sizes, 2, dynamic_pad=True, allow_smaller_final_batch=smaller
    )
    known = 3 if sizes == 3 and not smaller else None
    assert batch["number"].shape.as_list() == [known]
    assert batch["copies"].shape.as_list() == [known, None]
    assert batch["sparse"].shape.as_list() == [None, None, None]
    seen = {0: [], 1: []}
    for number, found in batches(session, (which, batch)):
        size = sizes if isinstance(sizes, int) else sizes[number]
        assert len(found["number"]) == size or (smaller and len(found["number"]) < size)
        assert (found["number"] % 2 == number).all()
        for row, value in zip(found["copies"], found["number"]):
            assert row.tolist() == [value] * value + [0] * (len(row) - value)
        np.testing.assert_array_equal(found["sparse"].values, found["number"])
        seen[number] += found["number"].tolist()
    for number, values in seen.items():
        size = sizes if isinstance(sizes, int) else sizes[number]
        assert values == list(range(number, 14, 2))[: None if smaller else 7 // size * size]


def test_buckets_by_length(session):
    given = example(12)
    lengths, (copies,) = training.bucket_by_sequence_length(
        given["number"], [given["copies"]], 2, [3, 7], dynamic_pad=True, keep_input=tf.not_equal(given["number"], 4),
        allow_smaller_final_batch=True,
    )  # fmt: skip
    found = batches(session, (lengths, copies))
    groups = {tuple(sorted({np.searchsorted([3, 7], n, "right") for n in each})) for each, _ in found}
    assert groups == {(0,), (1,), (2,)}
    assert sorted(n for each, _ in found for n in each) == [n for n in range(12) if n != 4]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: training.bucket([], 0, 2, 2), ValueError),
        (lambda x: training.bucket([x], 0, [2], 2), ValueError),
        (lambda x: training.bucket([x], 0, 2, 2, bucket_capacities=[1]), ValueError),
        (lambda x: training.bucket_by_sequence_length(x, [x], 2, []), ValueError),
        (lambda x: training.bucket_by_sequence_length(x, [x], 2, [3, 2]), ValueError),
        (lambda x: training.bucket_by_sequence_length(x, [x], 2, [1.5, 2.5]), TypeError),
        (lambda x: training.rejection_sample(x, lambda _: 1.0, 2), TypeError),
        (lambda x: training.rejection_sample([x, [1, 2]], lambda _: 1.0, 2, enqueue_many=True), ValueError),
        (lambda x: training.stratified_sample([x], 0, tf.placeholder(tf.float32, [None]), 2), ValueError),
        (lambda x: training.stratified_sample([x], 0, [0.5, 0.5], 2, [1.0]), ValueError),
        (lambda x: training.stratified_sample([x], 0.0, [0.5, 0.5], 2), TypeError),
    ],
)
def test_wrong_arguments(session, call, error):
    with pytest.raises(error):
        call(tf.constant(1))


def test_examples_are_kept_with_their_probability(session):
    tf.set_random_seed(1)
    number = tf.cast(tf.train.range_input_producer(4, shuffle=False).dequeue(), tf.float32)
    (made,) = training.rejection_sample([number], lambda x: x[0] / 4.0, 64, runtime_checks=True)
    got = np.concatenate(batches(session, made, 30))
    shares = [np.mean(got == n) for n in range(4)]
    np.testing.assert_allclose(shares, np.arange(4) / 6, atol=0.04)


@pytest.mark.parametrize("known", [True, False])
def test_classes_have_the_shares_that_are_wanted(session, known):
    tf.set_random_seed(2)
    share = [0.6, 0.3, 0.1]
    label = tf.cast(tf.random.categorical(tf.math.log([share]), 1)[0, 0], tf.int32)
    (value,), labels = training.stratified_sample(
        [label * 10], label, [0.2, 0.3, 0.5], 64, share if known else None
    )
    found = batches(session, (value, labels), 40)
    for values, classes in found:
        np.testing.assert_array_equal(values, classes * 10)
    got = np.concatenate([classes for _, classes in found])[1000:]
    np.testing.assert_allclose([np.mean(got == n) for n in range(3)], [0.2, 0.3, 0.5], atol=0.06)


def test_strategies_of_devices():
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:1"], "worker": ["c:1"]})
    for strategy, want in (
        (training.GreedyLoadBalancingStrategy(2, training.byte_size_load_fn), [0, 1, 1, 1]),
        # By the MD5 hash of the names, as in TensorFlow.
        (training.RandomStrategy(2), [1, 0, 1, 1]),
    ):
        with tf.Graph().as_default(), tf.device(
            tf.train.replica_device_setter(cluster=cluster, ps_strategy=strategy)
        ):
            variables = [tf.Variable(tf.zeros(shape)) for shape in ([2, 2], [2, 1], [1], [1, 3])]
        assert [v.device for v in variables] == [f"/job:ps/task:{task}" for task in want]


def test_hyperparameters_as_a_message():
    given = training.HParams(a=1, b=0.5, c="x", d=True, e=[1, 2], f=[0.5, 2.0], g=["x", "y"], h=[True, False])
    message = given.to_proto()
    assert isinstance(message, training.HParamDef)
    again = training.HParams(hparam_def=training.HParamDef.FromString(message.SerializeToString()))
    assert again.values() == given.values()
    assert type(again.d) is bool
    with pytest.raises(AssertionError):
        training.HParams(hparam_def=1)


def test_writer_of_a_folder_begins_with_the_graph(tmp_path):
    with tf.Graph().as_default():
        tf.constant(1.0, name="here")
        writer = tf.summary.FileWriterCache.get(str(tmp_path))
        writer.flush()
        tf.summary.FileWriterCache.clear()
    (path,) = tmp_path.iterdir()
    graphs = [e.graph_def for e in tf.train.summary_iterator(str(path)) if e.graph_def]
    assert [node.name for node in tf.GraphDef.FromString(graphs[0]).node] == ["here"]
