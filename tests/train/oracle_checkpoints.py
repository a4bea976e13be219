"""Writes a checkpoint, then reads one and prints what is in it; with TensorFlow or with tapeflow.

python oracle_checkpoints.py tensorflow|tapeflow FOLDER_TO_WRITE
python oracle_checkpoints.py tensorflow|tapeflow FOLDER_TO_READ read
"""

import importlib
import json
import os
import sys

import numpy as np


def objects(tf, keras, start):
    """A model, an optimizer, a module and a step, with values that follow from `start`."""
    layers = keras.layers
    model = keras.Sequential(
        [layers.Dense(3, input_shape=(4,), name="first"), layers.LayerNormalization(name="norm")]
    )
    inputs = keras.Input((2, 4))
    rnn = keras.Model(inputs, layers.Bidirectional(layers.LSTM(2))(inputs))
    optimizer = getattr(keras.optimizers, "legacy", keras.optimizers).Adam(0.1)

    class Holder(tf.Module):
        def __init__(self):
            super().__init__()
            self.parts = [
                tf.Variable(start),
                {"a": tf.Variable([start] * 2), "b/c": tf.Variable(1)},
            ]

    for i, weight in enumerate(model.weights + rnn.weights):
        spread = np.linspace(-1, 1, int(np.prod(weight.shape))) ** 3
        weight.assign(np.reshape(start + i + spread, weight.shape))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(np.ones([1, 4], np.float32)) ** 2)
    pairs = zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights, strict=True)
    optimizer.apply_gradients(pairs)
    mean = keras.metrics.Mean()
    mean.update_state(start)
    return tf.train.Checkpoint(
        model=model, rnn=rnn, optimizer=optimizer, holder=Holder(), mean=mean,
        step=tf.Variable(int(start), dtype=tf.int64),
    )  # fmt: skip


def main():
    name, folder = sys.argv[1:3]
    tf = importlib.import_module(name)
    keras = importlib.import_module("tf_keras") if name == "tensorflow" else tf.keras
    prefix = os.path.join(folder, "ck")
    if len(sys.argv) < 4:
        objects(tf, keras, 3.0).save(prefix)
        return
    checkpoint = objects(tf, keras, 8.0)
    checkpoint.restore(tf.train.latest_checkpoint(folder)).assert_consumed()
    variables = [
        *checkpoint.model.weights, *checkpoint.rnn.weights, *checkpoint.optimizer.variables(),
        *checkpoint.mean.variables, checkpoint.step, *checkpoint.holder.variables,
    ]  # fmt: skip
    print(json.dumps([np.asarray(variable).tolist() for variable in variables]))


if __name__ == "__main__":
    main()
