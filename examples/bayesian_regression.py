"""Fits a curve and says how sure it is: a small network with Laplace's approximation.

    python examples/bayesian_regression.py [--steps 600] [--seed 1] [--picture bayesian_regression.png]

After the likeliest weights are found, the jacobian of the network's outputs by its weights tells how
much each direction of the weights matters to the data: what does not matter is uncertain. The picture
shows the curve with its band of two standard deviations, wide where there were no points.
"""

import argparse
import math
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from progress import Bar

import tapeflow as tf

NOISE, PRIOR = 0.1, 1.0  # standard deviations: of a measurement, of a weight before any was made


class Curve(tf.Module):
    """x (n, 1) -> y (n, 1), through a layer of tanh units."""

    def __init__(self, units):
        super().__init__()
        self.w1 = tf.Variable(tf.random.normal([1, units], stddev=2.0))
        self.b1 = tf.Variable(tf.random.normal([units], stddev=2.0))
        self.w2 = tf.Variable(tf.random.normal([units, 1], stddev=1.0 / math.sqrt(units)))
        self.b2 = tf.Variable(tf.zeros([1]))

    def __call__(self, x):
        return tf.matmul(tf.tanh(tf.matmul(x, self.w1) + self.b1), self.w2) + self.b2


def points(count, rng):
    """Noisy points of a wave, with a gap in the middle."""
    x = np.concatenate([rng.uniform(-2, -0.7, count // 2), rng.uniform(0.8, 2, count - count // 2)])
    y = np.sin(2 * x) + NOISE * rng.normal(size=count)
    return tf.constant(x[:, None], tf.float32), tf.constant(y[:, None], tf.float32)


def energy(curve, x, y):
    """Minus the logarithm of the weights' probability, up to a constant."""
    misfit = tf.reduce_sum(tf.square(curve(x) - y)) / (2 * NOISE**2)
    return misfit + sum(tf.reduce_sum(tf.square(w)) for w in curve.variables) / (2 * PRIOR**2)


def jacobian(curve, x):
    """The curve at x (n,), and its derivatives by all weights (n, weights)."""
    with tf.GradientTape() as tape:
        y = curve(x)[:, 0]
    parts = tape.jacobian(y, curve.variables)
    return y, tf.concat([tf.reshape(part, [len(x), -1]) for part in parts], 1)


def covariance(curve, x):
    """Of the weights, given the points at x: the inverse of the energy's second derivatives."""
    _, j = jacobian(curve, x)
    precision = tf.matmul(j, j, transpose_a=True) / NOISE**2
    return tf.linalg.inv(tf.cast(precision, tf.float64) + tf.eye(len(precision), dtype=tf.float64))


def foretell(curve, weights, x):
    """The curve at x (n, 1), and its standard deviation there."""
    y, j = jacobian(curve, x)
    j = tf.cast(j, tf.float64)
    return y.numpy(), tf.sqrt(tf.reduce_sum(tf.matmul(j, weights) * j, 1)).numpy()


def draw(grid, mean, deviation, x, y, size=(880, 480)):
    picture = Image.new("RGB", size, (251, 251, 250))
    canvas = ImageDraw.Draw(picture)

    def place(xs, ys):
        across = (np.asarray(xs) - grid[0]) / (grid[-1] - grid[0]) * size[0]
        return list(zip(across, size[1] * (0.5 - np.asarray(ys) / 6)))

    above, below = place(grid, mean + 2 * deviation), place(grid, mean - 2 * deviation)
    canvas.polygon(above + below[::-1], fill=(213, 228, 244))
    canvas.line(place(grid, np.sin(2 * grid)), fill=(150, 158, 168), width=2)
    canvas.line(place(grid, mean), fill=(31, 111, 184), width=3)
    for at in place(x, y):
        canvas.ellipse((at[0] - 3, at[1] - 3, at[0] + 3, at[1] + 3), fill=(29, 39, 51))
    return picture


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--points", type=int, default=40)
    parser.add_argument("--units", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=Path, default=Path("bayesian_regression.png"))
    options = parser.parse_args()

    tf.random.set_seed(options.seed)
    x, y = points(options.points, np.random.default_rng(options.seed))
    curve, optimizer = Curve(options.units), tf.keras.optimizers.Adam(2e-2)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            value = energy(curve, x, y)
        gradients = tape.gradient(value, curve.trainable_variables)
        optimizer.apply_gradients(zip(gradients, curve.trainable_variables))
        return value

    losses = []
    for _ in (bar := Bar(options.steps)):
        losses.append(float(step()))
        bar.say(f"energy {losses[-1]:.1f}")
    print(f"loss {losses[0]:.1f} -> {losses[-1]:.1f}")

    weights = covariance(curve, x)
    grid = np.linspace(-3, 3, 241)
    mean, deviation = foretell(curve, weights, tf.constant(grid[:, None], tf.float32))
    for words, place in (("among the points", -1.3), ("in the gap", 0.05), ("outside", 2.9)):
        i = np.argmin(np.abs(grid - place))
        print(f"{words:17} y({place:5.2f}) = {mean[i]:5.2f} +- {2 * deviation[i]:.2f}")
    draw(grid, mean, deviation, x.numpy()[:, 0], y.numpy()[:, 0]).save(options.picture)
    print(f"curve, band and points: {options.picture.resolve()}")


if __name__ == "__main__":
    main()
