"""Computes expressions with a recursive network: a cell that is called as the Python tree branches.

    python examples/tree_lstm.py [--steps 200] [--depth 4] [--seed 1]

Each example is a tree of and, or, not over yes and no, and every tree has its own shape. Level by
level from the leaves, nodes of all trees that are ready are computed in one call, as SPINN does.
"""

import argparse
import random

import numpy as np
from progress import Bar

import tapeflow as tf

WORDS = ["no", "yes", "not", "and", "or"]
CODES = {word: code for code, word in enumerate(WORDS)}


def grow(depth, rng):
    """A random tree: a word, or a tuple of an operator and its one or two trees."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(["yes", "no"])
    operator = rng.choice(["and", "or", "and", "or", "not"])
    return (operator, *(grow(depth - 1, rng) for _ in range(1 if operator == "not" else 2)))


def truth(tree):
    if isinstance(tree, str):
        return tree == "yes"
    operator, *parts = tree
    values = [truth(part) for part in parts]
    return {"not": lambda: not values[0], "and": lambda: all(values), "or": lambda: any(values)}[
        operator
    ]()


def show(tree):
    if isinstance(tree, str):
        return tree
    if tree[0] == "not":
        return f"not {show(tree[1])}"
    return f"({show(tree[1])} {tree[0]} {show(tree[2])})"


class TreeLSTM(tf.keras.Model):
    """Trees -> logits (n,) of their being true. A node's state is made of its word's and its branches'."""

    def __init__(self, units):
        super().__init__()
        self.units = units
        self.embedding = tf.keras.layers.Embedding(len(WORDS), 16)
        self.gates = tf.keras.layers.Dense(5 * units)
        self.logit = tf.keras.layers.Dense(1)

    def cell(self, words, left, right):
        """Words (n,), the states (n, 2 * units) of both branches -> the nodes' states (n, 2 * units)."""
        left_h, left_c = tf.split(left, 2, axis=1)
        right_h, right_c = tf.split(right, 2, axis=1)
        gates = self.gates(tf.concat([self.embedding(words), left_h, right_h], 1))
        new, enter, keep_left, keep_right, leave = tf.split(gates, 5, axis=1)
        c = tf.sigmoid(enter) * tf.tanh(new)
        c += tf.sigmoid(keep_left + 1) * left_c + tf.sigmoid(keep_right + 1) * right_c
        return tf.concat([tf.sigmoid(leave) * tf.tanh(c), c], 1)

    def call(self, trees):
        levels = []
        roots = [place(tree, levels) for tree in trees]
        states = tf.zeros([1, 2 * self.units])  # row 0 stands for a branch that is not there
        first = [1]  # the row of a level's first node
        for level in levels:
            words, left, right = (
                np.array(column, np.int32)
                for column in zip(
                    *((w, *(0 if b is None else first[b[0]] + b[1] for b in bs)) for w, *bs in level)
                )
            )
            new = self.cell(words, tf.gather(states, left), tf.gather(states, right))
            first.append(first[-1] + len(level))
            states = tf.concat([states, new], 0)
        rows = np.array([first[level] + i for level, i in roots], np.int32)
        return self.logit(tf.gather(states, rows)[:, : self.units])[:, 0]


def place(tree, levels):
    """Puts a tree's nodes (word, left, right) into levels, leaves first; returns (level, index)."""
    word, *parts = (tree,) if isinstance(tree, str) else tree
    branches = [place(part, levels) for part in parts]
    level = 1 + max((b[0] for b in branches), default=-1)
    while len(levels) <= level:
        levels.append([])
    levels[level].append((CODES[word], *branches, *[None] * (2 - len(branches))))
    return level, len(levels[level]) - 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=64, help="trees a step")
    parser.add_argument("--depth", type=int, default=4, help="levels of the deepest tree")
    parser.add_argument("--units", type=int, default=32, help="units of a node's state")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    tf.random.set_seed(options.seed)
    rng = random.Random(options.seed)
    model, optimizer = TreeLSTM(options.units), tf.keras.optimizers.Adam(1e-2)

    losses = []
    for _ in (bar := Bar(options.steps)):
        trees = [grow(options.depth, rng) for _ in range(options.batch)]
        truths = np.array([truth(tree) for tree in trees], np.float32)
        with tf.GradientTape() as tape:
            logits = model(trees)
            loss = tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=truths, logits=logits)
            )
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        losses.append(float(loss))
        right = np.mean((logits.numpy() > 0) == truths)
        bar.say(f"loss {losses[-1]:.3f}  right {right:.0%}")
    print(f"loss {losses[0]:.3f} -> {np.mean(losses[-10:]):.3f}")

    for depth in (options.depth, options.depth + 2):
        trees = [grow(depth, rng) for _ in range(200)]
        answers = model(trees).numpy() > 0
        right = np.mean(answers == np.array([truth(tree) for tree in trees]))
        print(f"{right:.1%} of 200 new trees of depth {depth} are answered rightly")
    tree = grow(3, rng)
    print(f"{show(tree)} is {'yes' if model([tree]).numpy()[0] > 0 else 'no'}")


if __name__ == "__main__":
    main()
