"""Tables, queues, arrays, names and counters used by several threads: exact sizes and contents in the end."""

import importlib.util
import pathlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.ops.lookup.rows import LookupTableExportV2

_spec = importlib.util.spec_from_file_location("together", pathlib.Path(__file__).with_name("together.py"))
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
together, joined = _module.together, _module.joined
THREADS, EACH = 8, 50
v1 = tf.compat.v1


def numbers(k):
    """Those of thread k, which no other has."""
    return range(k * EACH, (k + 1) * EACH)


# -- tables -------------------------------------------------------------------------------------------


def hash_table():
    return tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)


def dense_table():
    return tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, -1, empty_key=-1, deleted_key=-2, initial_num_buckets=4
    )


@pytest.mark.parametrize("make", [hash_table, dense_table])
def test_tables_take_and_lose_entries(make):
    table = make()

    def work(k):
        for i in numbers(k):
            table.insert(tf.constant([i, i + 10**6], tf.int64), tf.constant([2 * i, i], tf.int64))
            assert table.lookup(tf.constant([i], tf.int64)).numpy().tolist() == [2 * i]
            table.remove(tf.constant([i + 10**6], tf.int64))

    together(THREADS, work)
    assert int(table.size()) == THREADS * EACH
    found = table.lookup(tf.range(THREADS * EACH, dtype=tf.int64)).numpy()
    np.testing.assert_array_equal(found, 2 * np.arange(THREADS * EACH))


@pytest.mark.parametrize("make", [hash_table, dense_table])
def test_readers_of_tables_see_whole_updates(make):
    table = make()
    keys = tf.range(20, dtype=tf.int64)
    table.insert(keys, tf.fill([20], tf.constant(0, tf.int64)))

    def work(k):
        for i in range(EACH):
            if k % 2:
                table.insert(keys, tf.fill([20], tf.constant(k * 1000 + i, tf.int64)))
            else:
                assert len(set(table.lookup(keys).numpy().tolist())) == 1
                exported = LookupTableExportV2(table.resource_handle, Tkeys=tf.int64, Tvalues=tf.int64)
                values = exported[1].numpy().ravel()[np.isin(exported[0].numpy().ravel(), keys)]
                assert len(values) == 20
                assert len(set(values.tolist())) == 1

    together(THREADS, work)


@pytest.mark.parametrize("make", [hash_table, dense_table])
def test_lookups_while_entries_go(make):
    table = make()

    def work(k):
        for _ in range(EACH):
            key = tf.constant([1, 2, 3], tf.int64)
            if k % 2:
                table.insert(key, key)
                table.remove(key)
            else:
                assert set(table.lookup(key).numpy().tolist()) in ({-1}, {1, 2, 3})

    together(THREADS, work)
    assert int(table.size()) == 0


# -- queues and accumulators --------------------------------------------------------------------------

QUEUES = {
    "fifo": lambda: tf.queue.FIFOQueue(5, tf.int64, shapes=()),
    "random": lambda: tf.queue.RandomShuffleQueue(5, 0, tf.int64, shapes=()),
    "priority": lambda: tf.queue.PriorityQueue(5, [tf.int64], [()]),
    "padding": lambda: tf.queue.PaddingFIFOQueue(5, tf.int64, shapes=[()]),
}


@pytest.mark.parametrize("kind", QUEUES)
def test_queues_deliver_each_element_once(kind):
    queue = QUEUES[kind]()

    def work(k):
        if k % 2:
            for i in numbers(k // 2):
                item = tf.constant(i, tf.int64)
                queue.enqueue((item, item) if kind == "priority" else item)
            return []
        taken = [queue.dequeue() for _ in range(EACH)]
        return [int(x[1] if kind == "priority" else x) for x in taken]

    results = together(THREADS, work)
    assert sorted(joined(results)) == list(range(THREADS // 2 * EACH))
    assert int(queue.size()) == 0


def test_a_queue_closed_while_threads_wait():
    queue = tf.queue.FIFOQueue(1000, tf.int64, shapes=())

    def work(k):
        taken = []
        if k == 0:
            for i in range(200):
                queue.enqueue(tf.constant(i, tf.int64))
            queue.close()
            return taken
        try:
            while True:
                taken.append(int(queue.dequeue()))
        except tf.errors.OutOfRangeError:
            return taken

    assert sorted(joined(together(THREADS, work))) == list(range(200))


def test_accumulators_count_each_gradient():
    with v1.Graph().as_default():
        accumulator = v1.ConditionalAccumulator(tf.float32, shape=())
        apply = accumulator.apply_grad(tf.constant(1.0), local_step=10**6)
        taken, count = accumulator.take_grad(1), accumulator.num_accumulated()
        s = v1.Session()
        together(THREADS, lambda _: [s.run(apply) for _ in range(EACH)])
        assert s.run(count) == THREADS * EACH
        assert s.run(taken) == 1.0


# -- arrays --------------------------------------------------------------------------------------------


def test_arrays_filled_by_threads():
    array = tf.TensorArray(tf.int64, THREADS * EACH)
    together(THREADS, lambda k: [array.write(i, tf.constant(i, tf.int64)).mark_used() for i in numbers(k)])
    np.testing.assert_array_equal(array.stack(), np.arange(THREADS * EACH))


# -- names, counters and files -------------------------------------------------------------------------


def test_names_of_operations_are_unique():
    graph = v1.Graph()

    def work(k):
        with graph.as_default():
            for i in range(EACH):
                with tf.name_scope("scope") if i % 2 else tf.name_scope(f"own{k}"):
                    tf.constant(1.0, name="c")

    together(THREADS, work)
    names = [op.name for op in graph.get_operations()]
    assert len(names) == len(set(names)) == THREADS * EACH
    assert [graph.get_operation_by_name(name).name for name in names] == names


def test_names_of_layers_are_unique():
    tf.keras.backend.clear_session()
    names = joined(together(THREADS, lambda _: [tf.keras.layers.Dense(1).name for _ in range(EACH)]))
    assert set(names) == {"dense", *(f"dense_{i}" for i in range(1, THREADS * EACH))}


def test_seeds_of_operations_in_a_graph_are_unique():
    graph = v1.Graph()
    graph.seed = 3

    def work(_):
        with graph.as_default():
            return [tf.compat.v1.get_seed(None)[1] for _ in range(EACH)]

    assert sorted(joined(together(THREADS, work))) == list(range(THREADS * EACH))


def test_session_handles_are_unique():
    with v1.Graph().as_default():
        handle = v1.get_session_handle(tf.constant(1.0))
        s = v1.Session()
        kept = joined(together(THREADS, lambda _: [s.run(handle) for _ in range(EACH)]))
    assert len({h.handle for h in kept}) == THREADS * EACH


def test_events_are_written_once(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path), max_queue=3)

    def work(k):
        with writer.as_default():
            for i in numbers(k):
                tf.summary.scalar("a", float(i), step=i)

    together(THREADS, work)
    writer.close()
    (file,) = tmp_path.iterdir()
    steps = [e.step for e in v1.train.summary_iterator(str(file)) if e.summary.value]
    assert sorted(steps) == list(range(THREADS * EACH))


def test_checkpoints_are_numbered(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    paths = joined(together(4, lambda k: [checkpoint.save(str(tmp_path / f"c{k}")) for _ in range(5)]))
    assert sorted(int(path.rpartition("-")[2]) for path in paths) == list(range(1, 21))
    assert int(checkpoint.save_counter) == 20


def test_sessions_plan_a_fetch_once_for_all():
    with v1.Graph().as_default():
        x = v1.placeholder(tf.float32)
        ys = [x + float(i) for i in range(20)]
        s = v1.Session()
        results = together(THREADS, lambda k: [float(s.run(y, {x: k})) for y in ys])
    assert results == [[float(k + i) for i in range(20)] for k in range(THREADS)]
    assert len(s._steps) == 20


def test_metrics_and_iterations_count_each_update():
    metric = tf.keras.metrics.Mean()
    metric.update_state(0.0)
    v = tf.Variable(0.0)
    optimizer = tf.keras.optimizers.SGD(1.0)
    optimizer.apply_gradients([(tf.constant(0.0), v)])

    def work(_):
        for _ in range(EACH):
            metric.update_state(1.0)
            optimizer.apply_gradients([(tf.constant(1.0), v)])

    together(THREADS, work)
    total = THREADS * EACH
    assert float(metric.result()) == np.float32(total / (total + 1))
    assert int(optimizer.iterations) == total + 1
    assert float(v) == -total


def test_a_critical_section_is_entered_by_one_at_a_time():
    section, inside, most = tf.CriticalSection(), [], []

    def body():
        inside.append(1)
        most.append(len(inside))
        result = tf.constant(1.0) + 1
        inside.pop()
        return result

    together(THREADS, lambda _: [section.execute(body) for _ in range(EACH)])
    assert most == [1] * (THREADS * EACH)
