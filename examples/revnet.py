"""A reversible network: blocks whose input is computed back from their output, so none is remembered.

    python examples/revnet.py [--steps 30] [--blocks 8] [--batch 50] [--seed 1]

A block turns (a, b) into (a + f(b), b + g(a + f(b))), which can be undone. Its gradient, written with
tf.custom_gradient, undoes it and computes f and g again. The same network is trained with gradients
by plain tape, by tf.recompute_grad and reversibly: the losses agree, the memory does not.
"""

import argparse

import numpy as np
from progress import Bar

import tapeflow as tf


class Branch(tf.keras.Model):
    """What is added to one half: two convolutions (n, h, w, channels) -> the same shape."""

    def __init__(self, channels, seed):
        super().__init__()
        start = tf.keras.initializers.VarianceScaling(0.5, seed=seed)
        self.conv1 = tf.keras.layers.Conv2D(channels, 3, padding="same", kernel_initializer=start)
        self.conv2 = tf.keras.layers.Conv2D(channels, 3, padding="same", kernel_initializer=start)

    def call(self, x):
        return self.conv2(tf.nn.relu(self.conv1(tf.nn.relu(x))))


class Block:
    """(a, b) -> (a + f(b), b + g(a + f(b)))"""

    def __init__(self, channels, seed):
        self.f, self.g = Branch(channels, seed), Branch(channels, seed + 1)

    @property
    def variables(self):
        return self.f.trainable_variables + self.g.trainable_variables

    def forward(self, a, b):
        a = a + self.f(b)
        return a, b + self.g(a)

    def backward(self, a, b, da, db):
        """From the outputs and their gradients: the inputs, their gradients, and those of the variables."""
        with tf.GradientTape() as tape:
            tape.watch(a)
            added = self.g(a)
        b = b - added
        through, *dg = tape.gradient(added, [a, *self.g.trainable_variables], output_gradients=db)
        da = da + through
        with tf.GradientTape() as tape:
            tape.watch(b)
            added = self.f(b)
        a = a - added
        through, *df = tape.gradient(added, [b, *self.f.trainable_variables], output_gradients=da)
        return a, b, da, db + through, df + dg


def plainly(tape, blocks, a, b):
    for block in blocks:
        a, b = block.forward(a, b)
    return a, b


def recomputing(tape, blocks, a, b):
    """Remembers what is between blocks; what is inside is computed again for the gradient."""
    for block in blocks:
        a, b = tf.recompute_grad(block.forward)(a, b)
    return a, b


def reversibly(tape, blocks, a, b):
    """Remembers nothing but the last outputs."""

    @tf.custom_gradient
    def all_blocks(a, b):
        with tape.stop_recording():
            a, b = plainly(tape, blocks, a, b)

        def gradient(da, db, variables):
            x, y, by_variable = a, b, {}
            for block in reversed(blocks):
                x, y, da, db, found = block.backward(x, y, da, db)
                by_variable.update((v.ref(), g) for v, g in zip(block.variables, found))
            return (da, db), [by_variable[v.ref()] for v in variables]

        return (a, b), gradient

    return all_blocks(a, b)


class RevNet:
    """Images (n, 28, 28, 1) -> logits (n, 10)."""

    def __init__(self, blocks, channels, seed):
        start = tf.keras.initializers.GlorotUniform
        conv, dense = tf.keras.layers.Conv2D, tf.keras.layers.Dense
        self.first = conv(2 * channels, 3, 2, padding="same", kernel_initializer=start(seed))
        self.blocks = [Block(channels, seed + 2 * i + 1) for i in range(blocks)]
        self.last = dense(10, kernel_initializer=start(seed))

    @property
    def variables(self):
        inner = [v for block in self.blocks for v in block.variables]
        return self.first.trainable_variables + inner + self.last.trainable_variables

    def __call__(self, images, through, tape):
        a, b = tf.split(self.first(images), 2, axis=-1)
        return self.last(tf.reduce_mean(tf.concat(through(tape, self.blocks, a, b), -1), [1, 2]))


def gradients_of(net, images, labels, through):
    """The loss, its gradients, and the bytes that were held between forward and backward."""
    before = tf.config.experimental.get_memory_info("CPU:0")["current"]
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=net(images, through, tape)
            )
        )
    held = tf.config.experimental.get_memory_info("CPU:0")["current"] - before
    return loss, tape.gradient(loss, net.variables), held


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--batch", type=int, default=50, help="images a step")
    parser.add_argument("--blocks", type=int, default=8)
    parser.add_argument("--channels", type=int, default=8, help="of each half")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    (images, labels), _ = tf.keras.datasets.mnist.load_data()
    order = np.random.default_rng(options.seed).integers(
        0, len(images), [options.steps, options.batch]
    )
    for through in (plainly, recomputing, reversibly):
        net = RevNet(options.blocks, options.channels, options.seed)
        optimizer, losses = tf.keras.optimizers.Adam(5e-3), []
        for i in (bar := Bar(options.steps, f"{through.__name__:12}")):
            x = tf.constant(images[order[i], ..., None], tf.float32) / 255
            y = tf.constant(labels[order[i]], tf.int32)
            loss, gradients, held = gradients_of(net, x, y, through)
            optimizer.apply_gradients(zip(gradients, net.variables))
            losses.append(float(loss))
            bar.say(f"loss {losses[-1]:.4f}  {held / 2**20:.1f} MiB held for the gradient")
        print(f"{through.__name__:12} loss {losses[0]:.4f} -> {losses[-1]:.4f}, {held:,} bytes held")


if __name__ == "__main__":
    main()
