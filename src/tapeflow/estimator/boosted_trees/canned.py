"""`BoostedTreesClassifier`, `BoostedTreesRegressor` and `BoostedTreesEstimator`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow.core.annotations import Tensor
from tapeflow.core.public import boundaries, public_methods
from tapeflow.estimator.boosted_trees import growing
from tapeflow.estimator.boosted_trees.columns import Inputs, names_of
from tapeflow.estimator.boosted_trees.model import StopsWhenGrown, Trees
from tapeflow.estimator.canned import MEAN
from tapeflow.estimator.estimator import Estimator
from tapeflow.estimator.heads import Classes, Numbers
from tapeflow.estimator.spec import ModeKeys

if TYPE_CHECKING:
    from tapeflow.estimator.public_heads import PublicHead

_PRUNING = ("none", "pre", "post")


@public_methods
class _BoostedTrees(Estimator):
    """An estimator of boosted trees.

    Args:
      make_spec: (features, mode, labels, logits, function of the loss that makes a step) -> EstimatorSpec.
      make_loss: (features, labels, logits) -> the loss of a batch.
      outputs: how many logits.
    """

    def __init__(
        self, make_spec: Callable[..., Any], make_loss: Callable[..., Any], outputs: int,
        feature_columns: Sequence[Any], n_batches_per_layer: int, model_dir: str | None, n_trees: int,
        max_depth: int, learning_rate: float, l1: float, l2: float, complexity: float, least_weight: float,
        config, center_bias: bool, pruning_mode: str, epsilon: float,
    ):  # fmt: skip
        for name, value in (
            ("n_trees", n_trees), ("max_depth", max_depth), ("n_batches_per_layer", n_batches_per_layer),
            ("learning_rate", learning_rate),
        ):  # fmt: skip
            if value <= 0:
                raise ValueError(f"{name} must be > 0. Got: {value}")
        if pruning_mode not in _PRUNING:
            raise ValueError(f"pruning_mode must be one of {_PRUNING}. Got: {pruning_mode}")
        if complexity and pruning_mode == "none":
            raise ValueError("For pruning, tree_complexity must be positive and pruning_mode must be set.")
        columns = sorted(feature_columns, key=lambda column: column.name)
        self._columns = columns

        def settings(features: int, buckets: int):
            return growing.Settings(
                features, buckets, outputs, n_trees, max_depth, learning_rate, l1, l2, complexity, least_weight,
                pruning_mode, n_batches_per_layer, None, center_bias,
            )  # fmt: skip

        def model_fn(features: dict[str, Any], labels: Tensor | None, mode: str):
            inputs = Inputs(features, columns)
            trees = Trees(inputs, max(2, round(1 / epsilon)), settings)

            def train(loss: Tensor):
                return trees.train(lambda logits: make_loss(features, labels, logits), loss)

            spec = make_spec(features, mode, labels, trees.logits, train)
            if mode != ModeKeys.TRAIN:
                return spec
            return spec._replace(training_hooks=(*spec.training_hooks, StopsWhenGrown(trees.finished)))

        super().__init__(model_fn, model_dir, config)

    def experimental_feature_importances(self, normalize: bool = False):
        """By how much the splits of each feature lower the loss, in the last checkpoint of `model_dir`.

        Args:
          normalize: whether the parts of the whole are returned.

        Returns:
          A dict of numbers by the features' names, the greatest first.

        Raises:
          ValueError: if there is no checkpoint, or `normalize` for trees without a split.
        """
        names = names_of(self._columns)
        nodes, gains = (self.get_variable_value(f"boosted_trees/{name}") for name in ("nodes", "gains"))
        inner = nodes[:, growing.FEATURE] != growing.NO_FEATURE
        found = np.bincount(nodes[inner, growing.FEATURE], gains[inner], len(names))
        if normalize:
            if not found.sum():
                raise ValueError("Trees are all empty or root node only.")
            found = found / found.sum()
        order = np.argsort(-found, kind="stable")
        return {names[i]: float(found[i]) for i in order}


def _of_kind(head: Classes | Numbers):
    """What `_BoostedTrees` asks of a head of this package."""
    return head.spec, lambda features, labels, logits: head.loss_of(features, logits, labels)[0], head.logits_dimension


class BoostedTreesClassifier(_BoostedTrees):
    """Trees that tell classes apart: each corrects what those before it say.

    Args:
      feature_columns: bucketized, indicator or numeric columns; numbers get buckets by their quantiles.
      n_batches_per_layer: after how many batches a layer of a tree grows.
      model_dir, config: the folder and a RunConfig.
      n_classes: how many.
      weight_column: the name of the feature with the examples' weights.
      label_vocabulary: the classes' names, where labels are strings.
      n_trees, max_depth: how many trees, and layers of each.
      learning_rate: by what the values of leaves are multiplied.
      l1_regularization, l2_regularization: penalties of the values of leaves.
      tree_complexity: what a split costs.
      min_node_weight: the least sum of Hessians in a leaf that is split.
      center_bias: whether a constant is found first.
      pruning_mode: "none", "pre" or "post": whether splits that do not gain are left out, or taken back.
      quantile_sketch_epsilon: the part of the numbers that a bucket gets.
      train_in_memory: no meaning: what batches say is not kept from step to step.

    Raises:
      ValueError: for numbers that are not positive, an unknown pruning mode, and a complexity without pruning.
    """

    def __init__(
        self, feature_columns, n_batches_per_layer, model_dir=None, n_classes=2, weight_column=None,
        label_vocabulary=None, n_trees=100, max_depth=6, learning_rate=0.1, l1_regularization=0.0,
        l2_regularization=0.0, tree_complexity=0.0, min_node_weight=0.0, config=None, center_bias=False,
        pruning_mode="none", quantile_sketch_epsilon=0.01, train_in_memory=False,
    ):  # fmt: skip
        super().__init__(
            *_of_kind(Classes(n_classes, weight_column, label_vocabulary, MEAN)), feature_columns,
            n_batches_per_layer, model_dir, n_trees, max_depth, learning_rate, l1_regularization, l2_regularization,
            tree_complexity, min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip


class BoostedTreesRegressor(_BoostedTrees):
    """Trees that estimate numbers; see `BoostedTreesClassifier`."""

    def __init__(
        self, feature_columns, n_batches_per_layer, model_dir=None, label_dimension=1, weight_column=None,
        n_trees=100, max_depth=6, learning_rate=0.1, l1_regularization=0.0, l2_regularization=0.0,
        tree_complexity=0.0, min_node_weight=0.0, config=None, center_bias=False, pruning_mode="none",
        quantile_sketch_epsilon=0.01, train_in_memory=False,
    ):  # fmt: skip
        super().__init__(
            *_of_kind(Numbers(label_dimension, weight_column, MEAN)), feature_columns, n_batches_per_layer,
            model_dir, n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity,
            min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip


class BoostedTreesEstimator(_BoostedTrees):
    """Trees with a head; see `BoostedTreesClassifier`."""

    def __init__(
        self, feature_columns: Sequence[Any], n_batches_per_layer: int, head: PublicHead,
        model_dir: str | None = None, weight_column=None, n_trees: int = 100, max_depth: int = 6,
        learning_rate: float = 0.1, l1_regularization: float = 0.0, l2_regularization: float = 0.0,
        tree_complexity: float = 0.0, min_node_weight: float = 0.0, config=None, center_bias: bool = False,
        pruning_mode: str = "none", quantile_sketch_epsilon: float = 0.01,
    ):  # fmt: skip
        def spec(
            features: dict[str, Any], mode: str, labels: Tensor, logits: Tensor, train: Callable[..., Any]
        ):
            return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train)

        def loss(features: Tensor | Mapping[str, Tensor], labels: Tensor, logits: Tensor):
            return head.create_loss(features, ModeKeys.TRAIN, logits, labels)[0]

        if weight_column is not None:
            raise ValueError("weight_column belongs to the head; got " + str(weight_column))
        super().__init__(
            spec, loss, head.logits_dimension, feature_columns, n_batches_per_layer, model_dir, n_trees, max_depth,
            learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight, config,
            center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip


boundaries(globals())
