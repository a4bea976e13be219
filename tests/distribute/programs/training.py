"""Trains a small model by `fit` or by a loop, and writes what came out: run by `tests/distribute/test_processes.py`.

Arguments: how ("fit", "loop" or "eager"), a folder for the results, and optionally after which batch worker 1 kills
itself in the first attempt.
"""

import json
import os
import signal
import sys

import numpy as np

import tapeflow as tf
from tapeflow.ops.control import process_group

how, folder = sys.argv[1:3]
dies_after = int(sys.argv[3]) if len(sys.argv) > 3 else None
strategy = tf.distribute.MultiWorkerMirroredStrategy()
steps = []  # those of all replicas, which are one program each
group = process_group.current()
if group is not None:
    driver = group.step_driver
    group.step_driver = lambda *arguments: steps.append(driver(*arguments)) or steps[-1]
rank = strategy.cluster_resolver.task_id or 0
tf.keras.utils.set_random_seed(3)
rng = np.random.default_rng(0)
x = rng.normal(size=(48, 6)).astype(np.float32)
y = np.tanh(x @ rng.normal(size=(6, 1))).astype(np.float32)

with strategy.scope():
    model = tf.keras.Sequential(
        [tf.keras.Input([6]), tf.keras.layers.Dense(16, "tanh"), tf.keras.layers.Dense(1)]
    )
    optimizer = tf.keras.optimizers.Adam(0.01)
    if how == "fit":
        model.compile(optimizer, "mse", metrics=["mae"])


class Dies(tf.keras.callbacks.Callback):
    """Kills the process after a batch, once."""

    def on_train_begin(self, logs=None):
        self.count = 0

    def on_train_batch_end(self, batch, logs=None):
        self.count += 1
        mark = os.path.join(folder, "died")
        if rank == 1 and self.count == dies_after and not os.path.exists(mark):
            with open(mark, "w"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)


def loop():
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, y)).batch(16))

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(tf.reduce_sum((model(x, training=True) - y) ** 2, -1))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    def train(x, y):
        return strategy.reduce("SUM", strategy.run(step, (x, y)), axis=None)

    train = tf.function(train) if how == "loop" else train
    return {"loss": [np.mean([float(train(*batch)) for batch in data]) for _ in range(4)]}


if how == "fit":
    callbacks = [tf.keras.callbacks.BackupAndRestore(os.path.join(folder, "backup"), delete_checkpoint=False)]
    callbacks += [Dies()] if dies_after else []
    history = model.fit(x, y, 16, epochs=4, verbose=0, shuffle=False, callbacks=callbacks).history
    history["evaluated"] = model.evaluate(x, y, 16, verbose=0)
    assert model.predict(x, verbose=0).shape == (48, 1)
else:
    history = loop()
total = float(sum(np.abs(w).sum() for w in model.get_weights()))
with open(os.path.join(folder, f"result{rank}.json"), "w") as file:
    programs = sum(step.__self__._works is True for step in steps)
    json.dump({"history": history, "weights": total, "programs": programs}, file)
print("trained", rank, history["loss"])
