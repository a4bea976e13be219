"""Learns to sample: Hamiltonian Monte Carlo whose moves are bent by small trained networks (L2HMC).

    python examples/l2hmc.py [--steps 600] [--seed 1] [--picture l2hmc.png]

The density is a long and narrow ridge. Untrained, the networks answer nothing and the sampler is plain
HMC, whose steps must suit the ridge's width; trained to jump far, it walks along the ridge. The picture:
samples of the density itself, of the untrained sampler, of the trained one, all begun at one end.
"""

import argparse
from pathlib import Path

import numpy as np
import tiles
from progress import Bar

import tapeflow as tf

LENGTH, WIDTH = 1.5, 0.06  # standard deviations along the ridge and across
AXES = np.array([[1.0, 1.0], [1.0, -1.0]], np.float32) / np.float32(np.sqrt(2))


def energy(x):
    """Minus the log of the density at x (n, 2), up to a constant."""
    return tf.reduce_sum(tf.square(tf.matmul(x, AXES) / [LENGTH, WIDTH]), 1) / 2


def samples(rng, count):
    """States of the density itself, which is known here."""
    return np.float32(rng.normal(size=[count, 2]) * [LENGTH, WIDTH]) @ AXES


def slope(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = energy(x)
    return tape.gradient(value, x)


class Bend(tf.keras.Model):
    """Two vectors (n, 2) and the time -> scale, shift and gate (n, 2) each, all zero at first."""

    def __init__(self, units=24):
        super().__init__()
        self.hidden = [tf.keras.layers.Dense(units, "relu") for _ in range(2)]
        self.out = tf.keras.layers.Dense(6, kernel_initializer="zeros")
        self.reach = tf.Variable(tf.zeros([2, 2]))

    def call(self, a, b, time):
        clock = tf.stack([tf.cos(time), tf.sin(time)]) * tf.ones_like(a)
        x = tf.concat([a, b, clock], 1)
        for layer in self.hidden:
            x = layer(x)
        scale, shift, gate = tf.split(self.out(x), 3, 1)
        reach = tf.exp(self.reach)
        return reach[0] * tf.tanh(scale), shift, reach[1] * tf.tanh(gate)


class Sampler(tf.Module):
    def __init__(self, moves=5, step=0.06):
        super().__init__()
        self.moves, self.eps = moves, step
        self.bend_v, self.bend_x = Bend(), Bend()

    def kick(self, x, v, time, forward):
        """Half a step of the momentum, or that undone; and the log of how much volume grew."""
        g = slope(x)
        scale, shift, gate = self.bend_v(x, g, time)
        push = self.eps / 2 * (g * tf.exp(self.eps * gate) + shift)
        grow = self.eps / 2 * scale
        if forward:
            return v * tf.exp(grow) - push, tf.reduce_sum(grow, 1)
        return (v + push) * tf.exp(-grow), -tf.reduce_sum(grow, 1)

    def drift(self, x, v, mask, time, forward):
        """Moves the coordinates that the mask leaves free, or moves them back."""
        scale, shift, gate = self.bend_x(v, x * mask, time)
        push = self.eps * (v * tf.exp(self.eps * gate) + shift)
        grow = self.eps * scale * (1 - mask)
        moved = x * tf.exp(grow) + push if forward else (x - push) * tf.exp(-grow)
        return mask * x + (1 - mask) * moved, tf.reduce_sum(grow, 1) * (1 if forward else -1)

    def travel(self, x, v, forward):
        """Where (x, v) is carried, and the log of the growth of volume on the way."""
        growth = tf.zeros_like(x[:, 0])
        masks = [tf.constant([1.0, 0.0]), tf.constant([0.0, 1.0])]
        for i in range(self.moves) if forward else reversed(range(self.moves)):
            time = tf.constant(2 * np.pi * i / self.moves, tf.float32)
            v, more = self.kick(x, v, time, forward)
            growth += more
            for mask in masks if forward else masks[::-1]:
                x, more = self.drift(x, v, mask, time, forward)
                growth += more
            v, more = self.kick(x, v, time, forward)
            growth += more
        return x, v, growth

    def propose(self, x):
        """A proposal for each of x (n, 2), one half in each direction of time; and its acceptance."""
        v = tf.random.normal(tf.shape(x))
        half = x.shape[0] // 2
        parts = [self.travel(x[:half], v[:half], True), self.travel(x[half:], v[half:], False)]
        new_x, new_v, growth = (tf.concat(pair, 0) for pair in zip(*parts))
        before = energy(x) + tf.reduce_sum(v * v, 1) / 2
        after = energy(new_x) + tf.reduce_sum(new_v * new_v, 1) / 2
        return new_x, tf.exp(tf.minimum(before - after + growth, 0.0))

    @tf.function
    def sample(self, x):
        """The next state of the chains x (n, 2), in an order of its own."""
        new, accept = self.propose(x)
        taken = tf.random.uniform(tf.shape(accept)) < accept
        return tf.random.shuffle(tf.where(taken[:, None], new, x))


def loss_of(x, new, accept, scale=1.0):
    """Small where accepted jumps are far, large where some do not move at all."""
    far = accept * tf.reduce_sum(tf.square(new - x), 1) + 0.05
    return tf.reduce_mean(scale / far - far / scale)


def measure(sampler, chains, moves):
    """Chains begun at one end: their last states."""
    x = tf.zeros([chains, 2]) - LENGTH * AXES[0]
    for _ in range(moves):
        x = sampler.sample(x)
    return x.numpy()


def along(x):
    """Mean and standard deviation of where states are on the ridge's axis."""
    places = x @ AXES[0]
    return f"{places.mean():5.2f} +- {places.std():.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600, help="steps of training")
    parser.add_argument("--chains", type=int, default=200)
    parser.add_argument("--moves", type=int, default=20, help="moves of a chain in the picture")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=Path, default=Path("l2hmc.png"), help="file to draw")
    options = parser.parse_args()

    tf.random.set_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    sampler = Sampler()
    before = measure(sampler, 1000, options.moves)
    optimizer = tf.keras.optimizers.Adam(3e-3)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = loss_of(x, *sampler.propose(x))
        gradients = tape.gradient(loss, sampler.trainable_variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
        optimizer.apply_gradients(zip(gradients, sampler.trainable_variables))
        return loss, sampler.sample(x)

    x, losses = tf.constant(samples(rng, options.chains)), []
    for _ in (bar := Bar(options.steps)):
        loss, x = step(x)
        losses.append(float(loss))
        bar.say(f"loss {losses[-1]:9.2f}")
    tenth = max(len(losses) // 10, 1)
    print(f"loss {np.median(losses[:tenth]):.2f} -> {np.median(losses[-tenth:]):.2f}")

    after = measure(sampler, 1000, options.moves)
    truth = samples(rng, 1000)
    print(f"along the ridge after {options.moves} moves from {-LENGTH}:")
    for name, x in (("HMC", before), ("L2HMC", after), ("density", truth)):
        print(f"    {name:8} {along(x)}")
    tiles.points([truth, before, after], extent=4.0).save(options.picture)
    print(f"the density, HMC, L2HMC: {options.picture.resolve()}")


if __name__ == "__main__":
    main()
