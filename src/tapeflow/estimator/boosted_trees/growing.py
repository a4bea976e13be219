"""How boosted trees grow: the arrays of an ensemble, and what a batch of examples changes in them.

Features are numbers of buckets. A layer is grown at once: batches add up the gradients and Hessians of the loss by
leaf, feature and bucket, until the best split of each leaf is chosen. The value of a leaf is a step of Newton's method.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow.core.annotations import IntLike

# Columns of `Ensemble.nodes`.
FEATURE, BUCKET, LEFT, RIGHT = range(4)
NO_FEATURE = -1
# Elements of `Ensemble.counts`: layers that were tried; the depth of the tree that grows; finished trees; batches and
# examples since the last layer; 1 if the bias is found, else less how often it moved.
LAYERS, DEPTH, TREES, BATCHES, EXAMPLES, CENTERED = range(6)
# The bias is found when it moves by a smaller part of itself, or after so many moves.
_STILL, _MOVES = 0.01, 5


class Settings(NamedTuple):
    """What decides about growth.

    Attributes:
      features, buckets, outputs: how many.
      trees, depth: how many trees, and layers of each.
      rate: by what steps are multiplied.
      l1, l2: penalties of the values of leaves.
      complexity: what each split costs.
      least_weight: of the Hessians in a leaf that is split.
      pruning: "none", "pre" (splits that do not gain are not made) or "post" (they are taken back).
      batches, examples: after how many of them a layer grows (a function of the depth, too); None where the other one
        decides.
      centers: whether the bias is found first.
      by_layer: whether gradients see the layers of the tree that grows.
      in_turn: whether each tree is for one output, in turn.
    """

    features: int
    buckets: int
    outputs: int
    trees: int
    depth: int
    rate: float
    l1: float
    l2: float
    complexity: float
    least_weight: float
    pruning: str
    batches: object
    examples: object
    centers: bool
    by_layer: bool = True
    in_turn: bool = False


class Ensemble(NamedTuple):
    """The arrays of the trees.

    Attributes:
      nodes: int32 (nodes, 4).
      values: float32 (nodes, outputs): of leaves; for other nodes, as they were leaves.
      gains: float32 (nodes,): of splits.
      roots: int32 (trees,).
      bias: float32 (outputs,).
      counts: int32 (6,).
      active: int32 (leaves,): those that the next layer splits.
      sums: float32 (leaves, features, buckets, 2, outputs): of gradients and Hessians; of no leaves before a batch.
      bias_sums: float32 (2, outputs).
    """

    nodes: np.ndarray
    values: np.ndarray
    gains: np.ndarray
    roots: np.ndarray
    bias: np.ndarray
    counts: np.ndarray
    active: np.ndarray
    sums: np.ndarray
    bias_sums: np.ndarray

    def extended(self, count, active, settings, **more):
        """The ensemble with more leaves, and other leaves to be split next."""
        leaves = np.tile(np.int32([NO_FEATURE, 0, 0, 0]), (count, 1))
        none = np.zeros((0, settings.features, settings.buckets, 2, settings.outputs), np.float32)
        return self._replace(
            nodes=np.concatenate([self.nodes, leaves]),
            values=np.concatenate([self.values, np.zeros((count, settings.outputs), np.float32)]),
            gains=np.concatenate([self.gains, np.zeros(count, np.float32)]),
            active=np.asarray(active, np.int32), sums=none, **more,
        )  # fmt: skip

    def with_root(self, settings: Settings):
        root = len(self.nodes)
        return self.extended(1, [root], settings, roots=np.append(self.roots, root).astype(np.int32))

    def with_sums_of(
        self, ids: np.ndarray, gradients: np.ndarray, hessians: np.ndarray, settings: Settings
    ):
        """Adds a batch to the sums of its leaves, features and buckets."""
        slots = np.full(len(self.nodes), -1)
        slots[self.active] = np.arange(len(self.active))
        slot = slots[leaf_of(self, ids, self.roots[-1])]
        here = slot >= 0
        numbers = np.stack([gradients[here], hessians[here]], 1)
        found = _histograms(ids[here], numbers, settings, slot[here], len(self.active))
        before = self.sums if len(self.sums) else 0
        shape = (len(self.active), settings.features, settings.buckets, 2, settings.outputs)
        return self._replace(sums=found.reshape(shape) + before)


def new_ensemble(settings: Settings) -> Ensemble:
    """No trees."""
    outputs = settings.outputs
    return Ensemble(
        np.zeros((0, 4), np.int32), np.zeros((0, outputs), np.float32), np.zeros(0, np.float32),
        np.zeros(0, np.int32), np.zeros(outputs, np.float32), np.zeros(6, np.int32), np.zeros(0, np.int32),
        np.zeros((0, settings.features, settings.buckets, 2, outputs), np.float32),
        np.zeros((2, outputs), np.float32),
    )  # fmt: skip


def leaf_of(ensemble: Ensemble, ids: np.ndarray, root: IntLike) -> np.ndarray:
    """The leaf of each example in the tree of a root."""
    at, rows = np.full(len(ids), root, np.int64), np.arange(len(ids))
    while True:
        node = ensemble.nodes[at]
        inner = node[:, FEATURE] != NO_FEATURE
        if not inner.any():
            return at
        left = ids[rows, np.where(inner, node[:, FEATURE], 0)] <= node[:, BUCKET]
        at = np.where(inner, np.where(left, node[:, LEFT], node[:, RIGHT]), at)


def weights_and_gains(gradients: np.ndarray, hessians: np.ndarray, l1: float, l2: float):
    """The values that leaves of such sums take, and by how much twice the loss sinks by that."""
    shrunk = np.sign(gradients) * np.maximum(np.abs(gradients) - l1, 0) if l1 else gradients
    below = hessians + l2
    safe = np.where(below > 1e-12, below, 1)
    weights = np.where(below > 1e-12, -shrunk / safe, 0)
    return weights, -weights * shrunk


def stepped(
    ensemble: Ensemble, ids: np.ndarray, gradients: np.ndarray, hessians: np.ndarray, settings: Settings
) -> Ensemble:
    """The ensemble after a batch.

    Args:
      ids: int32 (examples, features).
      gradients, hessians: float32 (examples, outputs): of the loss of the batch.
    """
    ensemble = Ensemble(*(np.array(part) for part in ensemble))  # which is changed in place
    counts = ensemble.counts
    if counts[TREES] >= settings.trees:
        return ensemble
    counts[BATCHES] += 1
    counts[EXAMPLES] += len(ids)
    if settings.centers and counts[CENTERED] <= 0:
        return _centered(ensemble, gradients, hessians, settings)
    if not len(ensemble.active):
        ensemble = ensemble.with_root(settings)
    if settings.in_turn:
        this = np.arange(settings.outputs) == counts[TREES] % settings.outputs
        gradients, hessians = gradients * this, hessians * this
    if not _is_due(counts, settings):
        return ensemble.with_sums_of(ids, gradients, hessians, settings)
    if counts[BATCHES] == 1:
        leaves, splits = _splits_of_batch(ensemble, ids, gradients, hessians, settings)
        return _with_layer(ensemble, leaves, splits, settings)
    ensemble = ensemble.with_sums_of(ids, gradients, hessians, settings)
    splits = best_splits(ensemble.sums / counts[BATCHES], settings)
    return _with_layer(ensemble, ensemble.active, splits, settings)


def collected(counts: np.ndarray, examples: int, settings: Settings):
    """The counts after a batch that grows nothing, and whether there were as many as a layer takes."""
    counts = counts.copy()
    counts[BATCHES] += 1
    counts[EXAMPLES] += examples
    done = _is_due(counts, settings)
    if done:
        _restart(counts)
    return counts, done


def _is_due(counts: np.ndarray, settings: Settings):
    """Whether there were enough batches, or examples."""
    which, wanted = (EXAMPLES, settings.examples) if settings.batches is None else (BATCHES, settings.batches)
    return counts[which] >= (wanted(int(counts[DEPTH])) if callable(wanted) else wanted)


def _restart(counts: np.ndarray):
    counts[[BATCHES, EXAMPLES]] = 0


def _centered(ensemble, gradients, hessians, settings):
    """Moves the bias after enough batches."""
    ensemble.bias_sums[:] += gradients.sum(0), hessians.sum(0)
    if _is_due(ensemble.counts, settings):
        moved, _ = weights_and_gains(*(ensemble.bias_sums / ensemble.counts[BATCHES]), settings.l1, settings.l2)
        still = np.all(np.abs(moved) <= _STILL * np.abs(ensemble.bias))
        ensemble.bias[:] += moved
        ensemble.bias_sums[:] = 0
        moves = 1 - ensemble.counts[CENTERED]
        ensemble.counts[CENTERED] = 1 if still or moves == _MOVES else -moves
        _restart(ensemble.counts)
    return ensemble


class Splits(NamedTuple):
    """The best split of each leaf: arrays of (leaves,), of values (leaves, outputs), and the weights of the leaves."""

    feature: np.ndarray
    bucket: np.ndarray
    gain: np.ndarray
    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray


def best_splits(sums: np.ndarray, settings: Settings) -> Splits:
    """The best splits of leaves by their sums, (leaves, features, buckets, 2, outputs)."""
    return _best(np.cumsum(sums.astype(np.float64), 2), None, settings)


def _best(left: np.ndarray, ids: np.ndarray | None, settings: Settings):
    """The best splits by the sums on the left of each place.

    Args:
      left: (leaves, features, places, 2, outputs).
      ids: the bucket of each place, (leaves, features, places), where places are examples in the order of buckets; None
        where they are buckets.
    """
    whole = left[:, :, -1:]
    right = whole - left

    def scored(part: np.ndarray):
        weights, gains = weights_and_gains(part[..., 0, :], part[..., 1, :], settings.l1, settings.l2)
        return weights, gains.sum(-1)

    (left_values, left_gains), (right_values, right_gains) = scored(left), scored(right)
    gains = left_gains + right_gains - scored(whole)[1] - settings.complexity
    if ids is not None:  # equal examples cannot be parted
        gains[..., :-1][ids[..., 1:] == ids[..., :-1]] = -np.inf
    flat = gains.reshape(len(left), -1)
    # Rounding decides nothing: of splits that are as good, the first is taken.
    most = flat.max(1, keepdims=True)
    best = np.argmax(flat >= most - 1e-12 - 1e-9 * np.abs(most), 1)
    feature, place = np.divmod(best, left.shape[2])
    rows = np.arange(len(left))
    return Splits(
        feature, place if ids is None else ids[rows, feature, place], flat[rows, best],
        left_values[rows, feature, place], right_values[rows, feature, place], whole[:, 0, 0, 1].sum(-1),
    )  # fmt: skip


def _splits_of_batch(
    ensemble: Ensemble, ids: np.ndarray, gradients: np.ndarray, hessians: np.ndarray, settings: Settings
):
    """The best splits of the leaves that a batch comes to, and these leaves: nothing is added up over batches."""
    leaves = leaf_of(ensemble, ids, ensemble.roots[-1])
    order = np.argsort(leaves, kind="stable")
    found, starts = np.unique(leaves[order], return_index=True)
    splits = []
    for rows in np.split(order, starts[1:]):
        ids_here, numbers = ids[rows], np.stack([gradients[rows], hessians[rows]], 1)
        if len(rows) >= settings.buckets:
            splits.append(best_splits(_histograms(ids_here, numbers, settings)[None], settings))
            continue
        places = np.argsort(ids_here, 0, kind="stable").T
        left = np.cumsum(numbers.astype(np.float64)[places], 1)
        splits.append(_best(left[None], np.take_along_axis(ids_here.T, places, 1)[None], settings))
    return found, Splits(*(np.concatenate(parts) for parts in zip(*splits, strict=True)))


def _histograms(ids, numbers: np.ndarray, settings, slot: Any = 0, slots: int = 1):
    """Sums by leaf, feature and bucket: (slots * features, buckets, 2, outputs), or for one leaf without the first."""
    place = ((slot + np.zeros(len(ids), np.int64))[:, None] * settings.features + np.arange(settings.features)) * (
        settings.buckets
    ) + ids
    count = slots * settings.features * settings.buckets
    flat = np.empty((count, 2, settings.outputs), np.float32)
    for which in range(2):
        for k in range(settings.outputs):
            flat[:, which, k] = np.bincount(place.ravel(), np.repeat(numbers[:, which, k], settings.features), count)
    return flat.reshape(-1, settings.buckets, 2, settings.outputs)


def _with_layer(ensemble: Ensemble, leaves: np.ndarray, splits: Splits, settings: Settings):
    """Splits leaves; ends the tree at its last layer, or where nothing is split."""
    _restart(ensemble.counts)
    counts = ensemble.counts
    counts[LAYERS] += 1
    seen = np.isin(leaves, ensemble.active) & (splits.weight > 0) & (splits.weight >= settings.least_weight)
    if settings.pruning == "pre":
        seen &= splits.gain > 0
    parents, splits = leaves[seen], Splits(*(part[seen] for part in splits))
    first = len(ensemble.nodes)
    children = np.arange(first, first + 2 * len(parents))
    ensemble.nodes[parents] = np.stack([splits.feature, splits.bucket, children[::2], children[1::2]], 1)
    ensemble.gains[parents] = splits.gain
    before = ensemble.values[parents]
    made = ensemble.extended(len(children), children, settings)
    base = before if settings.by_layer else 0
    made.values[children[::2]] = base + settings.rate * splits.left
    made.values[children[1::2]] = base + settings.rate * splits.right
    counts[DEPTH] += 1
    if counts[DEPTH] == settings.depth or not len(parents):
        if settings.pruning == "post":
            _prune(made, made.roots[-1])
        counts[TREES] += 1
        counts[DEPTH] = 0
        made = made.extended(0, [], settings)
    return made


def _prune(ensemble, node):
    """Takes back the splits below a node that did not gain; whether the node is a leaf then."""
    split = ensemble.nodes[node]
    if split[FEATURE] == NO_FEATURE:
        return True
    both = [_prune(ensemble, child) for child in split[[LEFT, RIGHT]]]
    if all(both) and ensemble.gains[node] <= 0:
        ensemble.nodes[node], ensemble.gains[node] = (NO_FEATURE, 0, 0, 0), 0
        return True
    return False
