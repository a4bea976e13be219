"""Counts until a signal, saves, and goes on when it is started again: run by `tests/distribute/test_processes.py`.

Arguments: a folder, and which worker gets the signal, after the third step of the first attempt.
"""

import os
import signal
import sys

import tapeflow as tf

folder, target = sys.argv[1], int(sys.argv[2])
strategy = tf.distribute.MultiWorkerMirroredStrategy()
resolver = strategy.cluster_resolver
with strategy.scope():
    total = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
checkpoint = tf.train.Checkpoint(total=total)
handler = tf.distribute.experimental.PreemptionCheckpointHandler(resolver, checkpoint, os.path.join(folder, "saved"))


@tf.function
def train():
    strategy.run(lambda: total.assign_add(1.0))


first = handler.total_run_calls
for _ in range(first, 8):
    handler.run(train)
    if first == 0 and handler.total_run_calls == 3 and resolver.task_id == target:
        os.kill(os.getpid(), signal.SIGTERM)
assert first == 3, first
assert handler.total_run_calls == 8
assert total.numpy() == 8 * strategy.num_replicas_in_sync, total
print("counted", resolver.task_id)
