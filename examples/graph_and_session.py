"""Trains a small convolutional network on MNIST the way of TensorFlow 1.x: a graph, then a session.

Ten thousand real handwritten digits come with the package: 8,000 to train with, 2,000 to test.

    python examples/graph_and_session.py [--epochs 5] [--batch 64] [--seed 1]
"""

import argparse
import time
from typing import NamedTuple

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import tapeflow.compat.v1 as tf


class Model(NamedTuple):
    """The nodes of the graph that a session is asked for, or given values of."""

    images: tf.Tensor
    labels: tf.Tensor
    training: tf.Tensor
    loss: tf.Tensor
    accuracy: tf.Tensor
    train: tf.Operation
    step: tf.Variable


def build():
    """Adds the network, its loss and its training step to the graph being built."""
    images = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    training = tf.placeholder_with_default(False, [], name="training")

    x = tf.layers.conv2d(images, 16, 5, padding="same", activation=tf.nn.relu, name="conv1")
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.conv2d(x, 32, 5, padding="same", activation=tf.nn.relu, name="conv2")
    x = tf.layers.max_pooling2d(x, 2, 2)
    x = tf.layers.dense(tf.layers.flatten(x), 128, activation=tf.nn.relu, name="hidden")
    x = tf.layers.dropout(x, 0.5, training=training)
    logits = tf.layers.dense(x, 10, name="logits")

    with tf.name_scope("loss"):
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
    with tf.name_scope("accuracy"):
        right = tf.equal(tf.argmax(logits, 1, output_type=tf.int32), labels)
        accuracy = tf.reduce_mean(tf.cast(right, tf.float32))
    step = tf.train.get_or_create_global_step()
    train = tf.train.AdamOptimizer(2e-3).minimize(loss, global_step=step)
    return Model(images, labels, training, loss, accuracy, train, step)


def summary(graph):
    """One line: how large the graph and its model are."""
    sizes = [v.shape.num_elements() for v in tf.trainable_variables()]
    return f"{len(graph.get_operations())} nodes, {len(sizes)} variables of {sum(sizes):,} numbers"


def batches(images, labels, epochs, batch, seed):
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        order = rng.permutation(len(images))
        for i in range(0, len(order), batch):
            yield images[order[i : i + batch]], labels[order[i : i + batch]]


def train(session, model, images, labels, epochs, batch, seed):
    """Trains with a progress bar; returns the loss of every step, and images per second."""
    losses, seen, rate, smooth_loss, smooth_accuracy = [], 0, 0.0, None, None
    columns = (
        TextColumn("training"),
        BarColumn(bar_width=28),
        TextColumn("{task.percentage:>3.0f}%  {task.fields[report]}"),
        TimeElapsedColumn(),
    )
    fetches = [model.loss, model.accuracy, model.train]
    with Progress(*columns) as progress:
        bar = progress.add_task("", total=len(images) * epochs, report="")
        begin = time.perf_counter()
        for x, y in batches(images, labels, epochs, batch, seed):
            feed = {model.images: x, model.labels: y, model.training: True}
            value, right, _ = session.run(fetches, feed)
            losses.append(float(value))
            seen += len(x)
            rate = seen / (time.perf_counter() - begin)
            first = smooth_loss is None
            smooth_loss = value if first else 0.95 * smooth_loss + 0.05 * value
            smooth_accuracy = right if first else 0.95 * smooth_accuracy + 0.05 * right
            report = f"loss {smooth_loss:.3f}  accuracy {smooth_accuracy:.1%}  {rate:,.0f} images/s"
            progress.update(bar, completed=seen, report=report)
    return losses, rate


def as_inputs(images, labels):
    """uint8 (n, 28, 28) -> float32 (n, 28, 28, 1) in [0, 1]; labels as int32."""
    return images[..., np.newaxis].astype(np.float32) / 255, labels.astype(np.int32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=5, help="passes through the training images")
    parser.add_argument("--batch", type=int, default=64, help="images a step")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    train_set, test_set = (as_inputs(*part) for part in tf.keras.datasets.mnist.load_data())
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(options.seed)
        model = build()
        start = tf.global_variables_initializer()
        graph.finalize()
        print(summary(graph))
        with tf.Session() as session:
            session.run(start)
            _, rate = train(session, model, *train_set, options.epochs, options.batch, options.seed)
            feed = {model.images: test_set[0], model.labels: test_set[1]}
            accuracy, steps = session.run([model.accuracy, model.step], feed)
    print(f"{steps:,} steps, {rate:,.0f} images/s")
    print(f"test accuracy {accuracy:.2%} of {len(test_set[0]):,} unseen digits")


if __name__ == "__main__":
    main()
