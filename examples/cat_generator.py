"""Nudges pixels until Inception v3, written for graphs, sees in them what it is asked to see.

    python examples/cat_generator.py [--size 107] [--steps 40] [--iterations 6] [--defun] [--picture cats.png]
    python examples/cat_generator.py --checkpoint inception_v3.ckpt --classes 1001 --size 299 --labels 282

The network (inception_v3.py) is code of TensorFlow 1.x in slim's style, at its full size. The same function that
is trained in a graph and a session is called eagerly by way of `graph_callable`, takes its weights from a
checkpoint, and is differentiated with respect to its input; a line search walks down that gradient.

No pretrained weights come with the package. Without `--checkpoint` the network is trained for some steps on
enlarged digits, which is far from enough to draw one: the picture shows noise (first row) nudged towards what
the network then takes for each digit (second). Slim's own checkpoint of 1001 classes restores as well; there
282 is the tabby cat.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import tiles
from inception_v3 import arguments, inception_v3
from progress import Bar

import tapeflow.compat.v1 as tf
import tapeflow.contrib.eager as tfe
from tapeflow.contrib import slim


def enlarged(digits, size):
    """Digits (n, 28, 28) of 0 to 255 as pictures (n, size, size, 3) of 0 to 1."""
    images = tf.image.resize_images(tf.cast(digits, tf.float32)[..., None] / 255, [size, size])
    return tf.tile(images, [1, 1, 1, 3])


def train(path, size, steps, batch, seed):
    """Trains in a graph, and saves the model's variables to a checkpoint; returns the losses."""
    (images, labels), _ = tf.keras.datasets.mnist.load_data()
    rng = np.random.default_rng(seed)
    with tf.Graph().as_default():
        tf.set_random_seed(seed)
        x = tf.placeholder(tf.uint8, [None, 28, 28])
        y = tf.placeholder(tf.int64, [None])
        pixels = enlarged(x, size)
        pixels += tf.random_normal(tf.shape(pixels), stddev=0.15)
        with slim.arg_scope(arguments(training=True, decay=0.9)):  # few steps: averages of few
            logits, aside = inception_v3(2 * pixels - 1, 10, training=True)
        tf.losses.sparse_softmax_cross_entropy(y, aside, weights=0.4)
        loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
        step = slim.learning.create_train_op(
            tf.losses.get_total_loss(add_regularization_losses=False), tf.train.AdamOptimizer(1e-3)
        )
        saver, losses = tf.train.Saver(slim.get_model_variables()), []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in (bar := Bar(steps)):
                chosen = rng.integers(0, len(images), batch)
                given = {x: images[chosen], y: labels[chosen]}
                losses.append(float(session.run([loss, step], given)[0]))
                bar.say(f"loss {losses[-1]:.3f}")
            saver.save(session, path)
    return losses


def seer(classes):
    """Images (n, size, size, 3) from 0 to 1 -> probabilities: a function of graphs, called eagerly."""

    @tf.nn.graph_callable
    def probabilities(image):
        with slim.arg_scope(arguments()):
            return tf.nn.softmax(inception_v3(2 * image - 1, classes, auxiliary_logits=False)[0])

    return probabilities


def nudge(probabilities, image, label, iterations, compiled=False):
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
        rate = 0.5 / (float(tf.reduce_max(tf.abs(gradient))) + 1e-30)
        for _ in range(16):  # the longest step that goes down a tenth as fast as it started to
            moved = tf.clip_by_value(image - rate * gradient, 0.0, 1.0)
            if float(objective(moved)) <= values[-1] - 0.1 * rate * norm:
                image = moved
                break
            rate /= 2
    return image, values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=107, help="pixels of a side, from 75 on")
    parser.add_argument("--steps", type=int, default=40, help="steps of training")
    parser.add_argument("--batch", type=int, default=16, help="images a step")
    parser.add_argument("--checkpoint", help="weights to take instead of training")
    parser.add_argument("--classes", type=int, default=10, help="of the checkpoint")
    parser.add_argument("--labels", type=int, nargs="+", default=list(range(10)), help="to nudge to")
    parser.add_argument("--iterations", type=int, default=6, help="line searches for a class")
    parser.add_argument("--defun", action="store_true", help="compile what is searched by defun")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=Path, default=Path("cats.png"), help="file to draw")
    options = parser.parse_args()

    probabilities = seer(options.classes)
    if options.checkpoint:
        probabilities.restore(options.checkpoint)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "inception_v3.ckpt")
            losses = train(path, options.size, options.steps, options.batch, options.seed)
            print(f"loss {np.mean(losses[:5]):.3f} -> {np.mean(losses[-5:]):.3f}")
            probabilities.restore(path)
    start = np.random.default_rng(options.seed).uniform(0, 0.4, [1, options.size, options.size, 3])
    start = tf.constant(start, tf.float32)
    probabilities(start)
    numbers = sum(int(np.prod(v.shape.as_list())) for v in probabilities.variables)
    print(f"{len(probabilities.variables)} variables of {numbers:,} numbers restored")

    shown = []
    for label in (bar := Bar(len(options.labels), "nudging ")):
        label = options.labels[label]
        image, values = nudge(probabilities, start, label, options.iterations, options.defun)
        likely = float(probabilities(image)[0, label])
        shown.append((image, values, likely))
        bar.say(f"-log({label}-ness): {values[0]:.3f} -> {-np.log(likely + 1e-12):.3f}")
    for label, (_, values, likely) in zip(options.labels, shown, strict=True):
        print(f"p({label}): {np.exp(-values[0]):.4f} -> {likely:.4f}")
    rows = [start] * len(shown) + [image for image, _, _ in shown]
    picture = tiles.grid([row.numpy()[0] for row in rows], columns=len(shown), size=options.size)
    picture.save(options.picture)
    print(f"noise, and what it was nudged to: {options.picture.resolve()}")


if __name__ == "__main__":
    main()
