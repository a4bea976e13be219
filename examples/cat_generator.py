"""Nudges pixels until an Inception network, written for graphs, sees in them what it is asked to see.

    python examples/cat_generator.py [--steps 150] [--iterations 12] [--defun] [--picture cats.png]

The network is code of TensorFlow 1.x in slim's style. It is trained in a graph and a session, on digits, and
saved. Then the same function is called eagerly by way of `graph_callable`, takes its weights from the
checkpoint, and is differentiated with respect to its input; a line search walks down that gradient.
No cats come with the package: the picture shows noise (first row) nudged towards each digit (second).
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import tiles
from progress import Bar

import tapeflow.compat.v1 as tf
import tapeflow.contrib.eager as tfe
from tapeflow.contrib import slim


def mixed(net, branches, scope):
    """Branches side by side: each a list of (channels, kernel), or ("pool", channels)."""
    with tf.variable_scope(scope):
        outputs = []
        for i, branch in enumerate(branches):
            with tf.variable_scope(f"Branch_{i}"):
                x = net
                for j, (first, second) in enumerate(branch):
                    if first == "pool":
                        x = slim.avg_pool2d(x, 3, stride=1, padding="SAME")
                        x = slim.conv2d(x, second, 1, scope=f"Conv_{j}")
                    else:
                        x = slim.conv2d(x, first, second, scope=f"Conv_{j}")
                outputs.append(x)
        return tf.concat(outputs, 3)


def reduction(net, channels, scope):
    """Half as many pixels: a strided convolution beside a pooling."""
    with tf.variable_scope(scope):
        conv = slim.conv2d(net, channels, 3, stride=2, scope="Conv_0")
        return tf.concat([conv, slim.max_pool2d(net, 3, stride=2, padding="SAME")], 3)


def inception(images, classes, training):
    """Images (n, 28, 28, 1) -> logits (n, classes), by a small relative of Inception v3."""
    norm = {"is_training": training, "decay": 0.9, "scale": True}
    with (
        tf.variable_scope("Inception", reuse=tf.AUTO_REUSE),
        slim.arg_scope(
            [slim.conv2d],
            activation_fn=tf.nn.relu,
            normalizer_fn=slim.batch_norm,
            normalizer_params=norm,
        ),
    ):
        net = slim.conv2d(images, 16, 3, scope="Conv_1a")
        net = slim.max_pool2d(net, 2, scope="Pool_1a")
        net = mixed(net, [[(8, 1)], [(6, 1), (8, 5)], [(6, 1), (8, 3), (8, 3)], [("pool", 8)]], "Mixed_2")
        net = reduction(net, 16, "Mixed_3")
        line, column = [1, 7], [7, 1]
        net = mixed(net, [[(12, 1)], [(8, 1), (8, line), (12, column)], [("pool", 12)]], "Mixed_4")
        net = mixed(net, [[(16, 1)], [(12, 1), (16, [1, 3])], [(12, 1), (16, [3, 1])]], "Mixed_5")
        net = slim.flatten(slim.avg_pool2d(net, 7, scope="Pool_6"))
        return slim.fully_connected(net, classes, activation_fn=None, scope="Logits")


def train(path, steps, batch, seed):
    """Trains in a graph, and saves to a checkpoint; returns the losses."""
    (images, labels), _ = tf.keras.datasets.mnist.load_data()
    rng = np.random.default_rng(seed)
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        x = tf.placeholder(tf.float32, [None, 28, 28, 1])
        y = tf.placeholder(tf.int64, [None])
        loss = tf.losses.sparse_softmax_cross_entropy(y, inception(x, 10, training=True))
        step = slim.learning.create_train_op(loss, tf.train.AdamOptimizer(5e-3))
        saver, losses = tf.train.Saver(), []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in (bar := Bar(steps)):
                chosen = rng.integers(0, len(images), batch)
                noisy = images[chosen, ..., None] / 255 + rng.normal(0, 0.15, [batch, 28, 28, 1])
                losses.append(float(session.run(step, {x: noisy, y: labels[chosen]})))
                bar.say(f"loss {losses[-1]:.3f}")
            saver.save(session, path)
    return losses


@tf.nn.graph_callable
def probabilities(image):
    return tf.nn.softmax(inception(image, 10, training=False))


def nudge(image, label, iterations, compiled=False):
    """Walks down the gradient of -log p(label); returns the image, and -log p at each iteration."""

    def objective(image):
        return -tf.log(probabilities(image)[0, label] + 1e-12)

    if compiled:
        objective = tfe.defun(objective)
    value_and_gradient = tfe.value_and_gradients_function(objective)
    values = []
    for _ in range(iterations):
        value, (gradient,) = value_and_gradient(image)
        values.append(float(value))
        norm = float(tf.reduce_sum(gradient * gradient))
        rate = 4.0
        while rate > 1e-4:  # the longest step that goes down at least half as fast as it started to
            moved = tf.clip_by_value(image - rate * gradient, 0.0, 1.0)
            if float(objective(moved)) <= values[-1] - 0.1 * rate * norm:
                image = moved
                break
            rate /= 2
    return image, values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=150, help="steps of training")
    parser.add_argument("--batch", type=int, default=64, help="images a step")
    parser.add_argument("--iterations", type=int, default=12, help="line searches for a class")
    parser.add_argument("--defun", action="store_true", help="compile what is searched by defun")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=Path, default=Path("cats.png"), help="file to draw")
    options = parser.parse_args()

    start = np.random.default_rng(options.seed).uniform(0, 0.4, [1, 28, 28, 1]).astype(np.float32)
    start = tf.constant(start)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "inception.ckpt")
        losses = train(path, options.steps, options.batch, options.seed)
        print(f"loss {losses[0]:.3f} -> {np.mean(losses[-10:]):.3f}")
        probabilities.restore(path)
    print(f"{len(probabilities.variables)} variables restored")

    shown = []
    for label in (bar := Bar(10, "nudging ")):
        image, values = nudge(start, label, options.iterations, options.defun)
        likely = float(probabilities(image)[0, label])
        shown.append((image, values, likely))
        bar.say(f"-log({label}-ness): {values[0]:.3f} -> {-np.log(likely + 1e-12):.3f}")
    for label, (_, values, likely) in enumerate(shown):
        print(f"p({label}): {np.exp(-values[0]):.4f} -> {likely:.4f}")
    rows = [start] * 10 + [image for image, _, _ in shown]
    tiles.grid(np.stack([row.numpy()[0, :, :, 0] for row in rows]), columns=10).save(options.picture)
    print(f"noise, and what it was nudged to: {options.picture.resolve()}")


if __name__ == "__main__":
    main()
