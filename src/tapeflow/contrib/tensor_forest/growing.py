"""How a random tree grows: arrays of nodes and of candidate splits, and a step of growth with a batch of examples.

A leaf holds candidate splits, each of a random feature at the value that an example has there, and counts what falls
on their sides. When it has seen enough, the split that separates best becomes the node's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tapeflow.core.annotations import TensorLike

# Columns of `Tree.splits`: the feature, or NO_FEATURE in a leaf; the children; the leaf's row among candidates.
FEATURE, LEFT, RIGHT, ROW = range(4)
NO_FEATURE = -1


class Settings(NamedTuple):
    """What decides about growth.

    Attributes:
      max_nodes: at which size a tree ends to grow.
      candidates: how many splits a leaf considers.
      split_after: the weight of examples after which a leaf is split.
      regression: whether labels are numbers, else they are classes.
      outputs: how many numbers, or classes.
      or_equal: whether a value that equals the threshold goes left.
    """

    max_nodes: int
    candidates: int
    split_after: float
    regression: bool
    outputs: int
    or_equal: bool

    @property
    def statistics(self) -> int:
        """How many numbers are summed up of examples: the weights of classes, or the weight, sums and squares."""
        return 1 + 2 * self.outputs if self.regression else self.outputs


class Tree(NamedTuple):
    """The arrays of a tree; the first node is the root.

    Attributes:
      splits: int32 (nodes, 4).
      thresholds: float32 (nodes,).
      sums: float32 (nodes, statistics): those of the examples that came to each leaf.
      features: int32 (rows, candidates): NO_FEATURE where there is no candidate yet.
      values: float32 (rows, candidates): the thresholds of the candidates.
      sides: float32 (rows, candidates, 2, statistics): those of the examples left and right of each.
    """

    splits: np.ndarray
    thresholds: np.ndarray
    sums: np.ndarray
    features: np.ndarray
    values: np.ndarray
    sides: np.ndarray


def new_tree(settings: Settings) -> Tree:
    """A tree of one leaf."""
    return Tree(
        np.array([[NO_FEATURE, 0, 0, 0]], np.int32),
        np.zeros(1, np.float32),
        np.zeros((1, settings.statistics), np.float32),
        *_no_candidates(settings, 1),
    )


def _no_candidates(settings: Settings, rows: int):
    count = settings.candidates
    return (
        np.full((rows, count), NO_FEATURE, np.int32),
        np.zeros((rows, count), np.float32),
        np.zeros((rows, count, 2, settings.statistics), np.float32),
    )


def leaf_of(tree: Tree, data: np.ndarray, or_equal: bool) -> np.ndarray:
    """The node where each example ends."""
    at, rows = np.zeros(len(data), np.int64), np.arange(len(data))
    while True:
        split = tree.splits[at]
        inner = split[:, FEATURE] != NO_FEATURE
        if not inner.any():
            return at
        values = data[rows, np.where(inner, split[:, FEATURE], 0)]
        goes_left = _is_left(values, tree.thresholds[at], or_equal)
        at = np.where(inner, np.where(goes_left, split[:, LEFT], split[:, RIGHT]), at)


def _is_left(values: TensorLike, thresholds: np.ndarray, or_equal: bool):
    return values <= thresholds if or_equal else values < thresholds


def example_statistics(labels: np.ndarray, weights: np.ndarray, settings: Settings) -> np.ndarray:
    """What each example adds to the sums: float32 (examples, statistics)."""
    if settings.regression:
        labels = labels.reshape(len(labels), settings.outputs)
        found = np.concatenate([np.ones((len(labels), 1)), labels, labels**2], 1)
    else:
        classes = labels.reshape(len(labels)).astype(np.int64)
        if classes.size and not (classes.min() >= 0 and classes.max() < settings.outputs):
            raise ValueError(f"Labels must be in [0, {settings.outputs}), got {classes.min()} to {classes.max()}")
        found = np.eye(settings.outputs)[classes]
    return (found * weights[:, None]).astype(np.float32)


def grown(
    tree: Tree, data: np.ndarray, labels: np.ndarray, weights: np.ndarray, rng: np.random.Generator,
    settings: Settings,
) -> Tree:  # fmt: skip
    """The tree after a batch of examples.

    Args:
      data: float32 (examples, features).
      labels: classes, (examples,), or numbers, (examples, outputs).
      weights: float32 (examples,).

    Raises:
      ValueError: for a label that is no class.
    """
    tree = Tree(*(np.array(part) for part in tree))  # which is changed in place
    statistics = example_statistics(labels, weights, settings)
    leaves = leaf_of(tree, data, settings.or_equal)
    np.add.at(tree.sums, leaves, statistics)
    rows = tree.splits[leaves, ROW]
    _add_candidates(tree, rows, data, rng)
    _count(tree, rows, data, statistics, settings)
    for node in np.unique(leaves):
        if len(tree.splits) + 2 > settings.max_nodes:
            break
        tree = _split(tree, int(node), settings)
    return tree


def _add_candidates(tree, rows: np.ndarray, data, rng):
    """Each example adds a candidate where its leaf has too few."""
    for row in np.unique(rows):
        free = np.flatnonzero(tree.features[row] == NO_FEATURE)
        if len(free):
            examples = np.flatnonzero(rows == row)[: len(free)]
            chosen = rng.integers(data.shape[1], size=len(examples))
            tree.features[row, free[: len(examples)]] = chosen
            tree.values[row, free[: len(examples)]] = data[examples, chosen]


def _count(tree: Tree, rows: np.ndarray, data: TensorLike, statistics: np.ndarray, settings: Settings):
    """Adds the examples to the sides of the candidates of their leaves."""
    features = tree.features[rows]
    values = np.take_along_axis(data, np.maximum(features, 0), 1)
    right = ~_is_left(values, tree.values[rows], settings.or_equal)
    candidates = tree.features.shape[1]
    place = ((rows[:, None] * candidates + np.arange(candidates)) * 2 + right)[features != NO_FEATURE]
    example = np.nonzero(features != NO_FEATURE)[0]
    flat = tree.sides.reshape(-1, settings.statistics)
    for k in range(settings.statistics):
        if statistics[:, k].any():
            flat[:, k] += np.bincount(place, statistics[example, k], len(flat))


def impurity(sums: np.ndarray, regression: bool) -> np.ndarray:
    """How mixed examples of these sums are, times their weight: Gini's impurity, or the variance."""
    if regression:
        outputs = sums.shape[-1] // 2
        count = np.maximum(sums[..., :1], 1e-12)
        return (sums[..., 1 + outputs :] - sums[..., 1 : 1 + outputs] ** 2 / count).sum(-1)
    count = sums.sum(-1)
    return count - (sums**2).sum(-1) / np.maximum(count, 1e-12)


def weight_of(sums: np.ndarray, regression: bool) -> np.ndarray:
    """The weight of the examples of sums."""
    return sums[..., 0] if regression else sums.sum(-1)


def _split(tree: Tree, node: int, settings: Settings):
    """The tree with the node split, if it has seen enough for that."""
    row = tree.splits[node, ROW]
    sides = tree.sides[row].astype(np.float64)
    weights = weight_of(sides, settings.regression)
    seen = weights.sum(-1).max(initial=0)
    if seen < settings.split_after or (not settings.regression and np.count_nonzero(tree.sums[node]) < 2):
        return tree
    useful = (weights > 0).all(-1) & (tree.features[row] != NO_FEATURE)
    if not useful.any():  # other candidates may be
        tree.features[row], tree.sides[row] = NO_FEATURE, 0
        return tree
    # Of the same weight, since some candidates came later than others.
    mixed = impurity(sides, settings.regression).sum(-1) / np.maximum(weights.sum(-1), 1e-12)
    best = int(np.argmin(np.where(useful, mixed, np.inf)))
    left, right, new_row = len(tree.splits), len(tree.splits) + 1, len(tree.features)
    tree.splits[node] = tree.features[row, best], left, right, -1
    tree.thresholds[node] = tree.values[row, best]
    children = np.array([[NO_FEATURE, 0, 0, row], [NO_FEATURE, 0, 0, new_row]], np.int32)
    sums = tree.sides[row, best].copy()
    tree.features[row], tree.sides[row] = NO_FEATURE, 0
    more = _no_candidates(settings, 1)
    parts = (children, np.zeros(2, np.float32), sums, *more)
    return Tree(*(np.concatenate(pair) for pair in zip(tree, parts, strict=True)))
