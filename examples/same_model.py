"""One model, trained three ways from the same seed and data: eagerly, by `tf.function`, and as a graph of 1.x.

    python examples/same_model.py [--steps 20] [--batch 64] [--seed 1]

`Digits` and `loss` are written once. Only what composes their operations differs: Python, a traced
function, a session. The losses are printed side by side, and agree.
"""

import argparse
import time

import numpy as np

import tapeflow as tf

v1 = tf.compat.v1


class Digits(tf.keras.Model):
    """A convolution, then two dense layers: images (n, 28, 28, 1) -> logits (n, 10)."""

    def __init__(self, seed):
        super().__init__()
        layers, start = tf.keras.layers, tf.keras.initializers.GlorotUniform
        self.conv = layers.Conv2D(8, 5, 2, activation="relu", kernel_initializer=start(seed))
        self.flatten = layers.Flatten()
        self.hidden = layers.Dense(32, activation="tanh", kernel_initializer=start(seed + 1))
        self.logits = layers.Dense(10, kernel_initializer=start(seed + 2))

    def call(self, images):
        return self.logits(self.hidden(self.flatten(self.conv(images))))


def loss(model, images, labels):
    logits = model(images)
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


def optimizer():
    return v1.train.AdamOptimizer(2e-3)


def eagerly(batches, seed, wrap=lambda step: step):
    """The losses of one step a batch."""
    model, adam = Digits(seed), optimizer()

    @wrap
    def step(images, labels):
        with tf.GradientTape() as tape:
            value = loss(model, images, labels)
        gradients = tape.gradient(value, model.trainable_variables)
        adam.apply_gradients(zip(gradients, model.trainable_variables))
        return value

    return [float(step(tf.constant(x), tf.constant(y))) for x, y in batches]


def by_function(batches, seed):
    return eagerly(batches, seed, tf.function)


def in_a_session(batches, seed):
    with tf.Graph().as_default():
        images = v1.placeholder(tf.float32, [None, 28, 28, 1])
        labels = v1.placeholder(tf.int32, [None])
        value = loss(Digits(seed), images, labels)
        train = optimizer().minimize(value)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            return [
                float(session.run([value, train], {images: x, labels: y})[0]) for x, y in batches
            ]


WAYS = {"eager": eagerly, "tf.function": by_function, "session": in_a_session}


def digits(steps, batch):
    """`steps` batches of images and labels, in the order of the data."""
    (images, labels), _ = tf.keras.datasets.mnist.load_data()
    images = images[..., np.newaxis].astype(np.float32) / 255
    starts = [i * batch % (len(images) - batch + 1) for i in range(steps)]
    return [(images[i : i + batch], labels[i : i + batch].astype(np.int32)) for i in starts]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64, help="images a step")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    batches = digits(options.steps, options.batch)
    losses, seconds = {}, {}
    for name, train in WAYS.items():
        begin = time.perf_counter()
        losses[name] = train(batches, options.seed)
        seconds[name] = time.perf_counter() - begin

    print("step" + "".join(f"{name:>14}" for name in losses))
    for step, values in enumerate(zip(*losses.values()), 1):
        print(f"{step:4}" + "".join(f"{value:14.7f}" for value in values))
    print("time" + "".join(f"{seconds[name]:12.2f} s" for name in losses))
    apart = max(np.ptp(values) / np.max(values) for values in zip(*losses.values()))
    print(f"largest relative difference: {apart:.1e}")


if __name__ == "__main__":
    main()
