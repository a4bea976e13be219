"""Trains ResNet-50 for a few steps on random images, eagerly and by tf.function, and counts images.

    python examples/resnet50.py [--steps 3] [--batch 4] [--size 96] [--classes 10]

The network is the one of tf.keras.applications, with its 23.5 million weights made up at random.
"""

import argparse
import time

from progress import Bar

import tapeflow as tf


def train(step, images, labels, steps, words):
    """Losses, and images per second; the first step, which traces and makes buffers, is not counted."""
    losses = [float(step(images, labels))]
    begin = time.perf_counter()
    for i in (bar := Bar(steps, f"{words:12}")):
        losses.append(float(step(images, labels)))
        rate = (i + 1) * len(images) / (time.perf_counter() - begin)
        bar.say(f"loss {losses[-1]:.3f}  {rate:.1f} images/s")
    return losses, rate


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch", type=int, default=4, help="images a step")
    parser.add_argument("--size", type=int, default=96, help="pixels of a side")
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    tf.random.set_seed(options.seed)
    shape = (options.size, options.size, 3)
    model = tf.keras.applications.ResNet50(
        weights=None, input_shape=shape, classes=options.classes, classifier_activation=None
    )
    print(f"{model.count_params():,} weights, images of {options.size} x {options.size}")
    images = tf.random.normal([options.batch, *shape])
    labels = tf.random.uniform([options.batch], 0, options.classes, tf.int32)
    optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)

    def step(images, labels):
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    eager, eager_rate = train(step, images, labels, options.steps, "eager")
    traced, traced_rate = train(tf.function(step), images, labels, options.steps, "tf.function")
    print(f"loss {eager[0]:.3f} -> {traced[-1]:.3f}")
    print(f"{eager_rate:.1f} images/s eagerly, {traced_rate:.1f} by tf.function")


if __name__ == "__main__":
    main()
