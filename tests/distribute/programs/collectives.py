"""What two or more workers exchange: run by `tests/distribute/test_processes.py`."""

import numpy as np

import tapeflow as tf
from tapeflow.ops.control import process_group

strategy = tf.distribute.MultiWorkerMirroredStrategy()
group = process_group.current()
rank, size = group.rank, group.size
assert strategy.num_replicas_in_sync == size
assert strategy.extended._in_multi_worker_mode()

x = tf.constant([1.0, 2.0]) * (rank + 1)
total = size * (size + 1) // 2
np.testing.assert_allclose(strategy.reduce("SUM", x, axis=None), np.array([1.0, 2.0]) * total)
np.testing.assert_allclose(strategy.reduce("MEAN", x, axis=None), np.array([1.0, 2.0]) * total / size, rtol=1e-6)
np.testing.assert_allclose(strategy.reduce("SUM", x, axis=0), 3.0 * total)
rows = tf.fill([rank + 1, 2], rank)
all_rows = np.repeat(np.arange(size), np.arange(size) + 1)
np.testing.assert_array_equal(strategy.gather(rows, 0)[:, 0], all_rows)
np.testing.assert_array_equal(strategy.gather(tf.transpose(rows), 1)[0], all_rows)
assert np.all(group.all_reduce(np.array([rank + 1j]), "sum") == [sum(range(size)) + 1j * size])
assert group.all_reduce(np.int64(2**40 + rank), "max") == 2**40 + size - 1
assert group.all_reduce(np.int32(rank + 1), "product") == np.prod(np.arange(size) + 1)
assert [a.tolist() for a in group.all_gather(np.array([True] * (rank + 1)))] == [[True] * (i + 1) for i in range(size)]

with strategy.scope():
    v = tf.Variable(float(rank + 5))
assert v.numpy() == 5.0  # as in the first worker


def replica():
    context = tf.distribute.get_replica_context()
    assert context.num_replicas_in_sync == size
    return context.all_reduce("SUM", tf.constant(float(rank))), context.all_gather(tf.constant([rank]), 0)


for run in (strategy.run, tf.function(lambda f: strategy.run(f))):
    summed, gathered = run(replica)
    assert float(summed) == sum(range(size)), summed
    np.testing.assert_array_equal(gathered, np.arange(size))

dataset = strategy.experimental_distribute_dataset(tf.data.Dataset.range(3 * size).batch(2 * size))
np.testing.assert_array_equal(
    [len(part) for part in dataset], [2, 1]
)
parts = [part.numpy().tolist() for part in dataset]
assert parts == [[2 * rank, 2 * rank + 1], [2 * size + rank]], parts
made = strategy.distribute_datasets_from_function(
    lambda c: tf.data.Dataset.range(c.input_pipeline_id + 1).batch(1)
)
lengths = [len(part) for part in made]
assert lengths == [1] * (rank + 1) + [0] * (size - rank - 1), lengths
print("exchanged", rank)
