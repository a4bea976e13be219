"""A `LearnerConfig` as the settings of growth, and feature columns as those that trees take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib.boosted_trees.proto.learner_pb2 import LearnerConfig
from tapeflow.contrib.layers.columns.base import _FeatureColumn
from tapeflow.contrib.layers.columns.numeric import _RealValuedColumn
from tapeflow.estimator.boosted_trees.columns import plain_numbers
from tapeflow.estimator.boosted_trees.growing import Settings

# More trees than anybody waits for.
_ENDLESS = 1 << 30


def completed(config, outputs: int):
    """A copy of the config with what it leaves open.

    Raises NotImplementedError for ways to learn that this package lacks: full Hessians, parts of the features,
    oblivious trees, dropout, line search, averages, a limited number of features, and a tree to start with.
    """
    config, given = LearnerConfig(), config
    config.CopyFrom(given)
    for field in ("feature_fraction", "averaging_config", "each_tree_start_num_layers"):
        which = config.WhichOneof(field) if field == "feature_fraction" else field
        value = which and getattr(config, which)
        if field == "feature_fraction":
            wanted = not which or value == 1.0
        else:
            wanted = not config.HasField(field) if field == "averaging_config" else not value
        if not wanted:
            raise NotImplementedError(f"{which} is not supported.")
    if config.constraints.max_number_of_unique_feature_columns:
        raise NotImplementedError("max_number_of_unique_feature_columns is not supported.")
    if config.weak_learner_type != LearnerConfig.NORMAL_DECISION_TREE:
        raise NotImplementedError("Oblivious trees are not supported.")
    if config.multi_class_strategy == LearnerConfig.FULL_HESSIAN and outputs > 1:
        raise NotImplementedError("Full Hessians are not supported: use DIAGONAL_HESSIAN or TREE_PER_CLASS.")
    tuner = config.learning_rate_tuner.WhichOneof("tuner")
    if tuner not in (None, "fixed"):
        raise NotImplementedError(f"The learning rate tuner {tuner} is not supported: use fixed.")
    if tuner is None:
        config.learning_rate_tuner.fixed.learning_rate = 0.1
    if not config.constraints.max_tree_depth:
        config.constraints.max_tree_depth = 6
    if config.pruning_mode == LearnerConfig.PRUNING_MODE_UNSPECIFIED:
        config.pruning_mode = LearnerConfig.POST_PRUNE
    return config


def settings_of(
    config, outputs: int, trees: int | None, examples_per_layer: Callable[..., Any] | int, center_bias: bool
):
    """A function of the numbers of features and buckets that gives the settings of growth."""
    config = completed(config, outputs)
    penalties, limits = config.regularization, config.constraints

    def make(features: int, buckets: int):
        return Settings(
            features, buckets, outputs, trees or _ENDLESS, limits.max_tree_depth,
            config.learning_rate_tuner.fixed.learning_rate, penalties.l1, penalties.l2, penalties.tree_complexity,
            limits.min_node_weight, "pre" if config.pruning_mode == LearnerConfig.PRE_PRUNE else "post", None,
            examples_per_layer, center_bias, config.growing_mode != LearnerConfig.WHOLE_TREE,
            outputs > 1 and config.multi_class_strategy == LearnerConfig.TREE_PER_CLASS,
        )  # fmt: skip

    return make


def core_columns(features: dict[str, Any], columns: Sequence[Any] | None):
    """Core columns for those given, or for all features. Raises ValueError for columns of categories of contrib."""
    if not columns:
        return plain_numbers(features)
    found = []
    for column in columns:
        if isinstance(column, _RealValuedColumn):
            found.append(v1.feature_column.numeric_column(
                column.column_name, [column.dimension], column.default_value, normalizer_fn=column.normalizer
            ))  # fmt: skip
        elif isinstance(column, _FeatureColumn):
            raise ValueError(f"Only real_valued_column and columns of tf.feature_column are supported, got {column}")
        else:
            found.append(column)
    return sorted(found, key=lambda column: column.name)
