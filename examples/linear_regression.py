"""Fits a line to noisy points twice: with a gradient tape, and with implicit gradients.

    python examples/linear_regression.py [--steps 100] [--rate 0.1] [--seed 1]

The tape watches what is computed inside its block. `implicit_value_and_gradients` makes of a loss a
function that returns its value and the gradients by all variables it read, without naming them.
"""

import argparse

from progress import Bar

import tapeflow as tf
import tapeflow.contrib.eager as tfe

TRUE_SLOPE, TRUE_INTERCEPT = 3.0, 2.0


class Line:
    """y = slope * x + intercept"""

    def __init__(self):
        self.slope = tf.Variable(-5.0, name="slope")
        self.intercept = tf.Variable(10.0, name="intercept")

    def __call__(self, x):
        return self.slope * x + self.intercept


def points(count, noise=1.0):
    x = tf.random.normal([count])
    return x, TRUE_SLOPE * x + TRUE_INTERCEPT + noise * tf.random.normal([count])


def loss(line, x, y):
    return tf.reduce_mean(tf.square(line(x) - y))


def by_tape(line, x, y):
    """A function of no arguments: the loss, and pairs of gradient and variable."""
    variables = [line.slope, line.intercept]

    def value_and_gradients():
        with tf.GradientTape() as tape:
            value = loss(line, x, y)
        return value, list(zip(tape.gradient(value, variables), variables))

    return value_and_gradients


def by_implicit_gradients(line, x, y):
    return tfe.implicit_value_and_gradients(lambda: loss(line, x, y))


def fit(way, x, y, steps, rate):
    line = Line()
    step = way(line, x, y)
    optimizer = tf.compat.v1.train.GradientDescentOptimizer(rate)
    losses = []
    for _ in (bar := Bar(steps, f"{way.__name__:22}")):
        value, gradients = step()
        optimizer.apply_gradients(gradients)
        losses.append(float(value))
        bar.say(f"loss {losses[-1]:8.4f}")
    return line, losses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rate", type=float, default=0.1, help="learning rate")
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    tf.random.set_seed(options.seed)
    x, y = points(options.points)
    for way in (by_tape, by_implicit_gradients):
        line, losses = fit(way, x, y, options.steps, options.rate)
        print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}")
        print(f"y = {float(line.slope):.3f} x + {float(line.intercept):.3f}")
    print(f"the points were made of y = {TRUE_SLOPE} x + {TRUE_INTERCEPT}, and noise")


if __name__ == "__main__":
    main()
