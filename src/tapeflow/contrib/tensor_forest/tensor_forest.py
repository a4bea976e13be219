"""Random forests as graphs: `ForestHParams` and `RandomForestGraphs`.

The arrays of trees are variables, so that they are saved and restored as any others. Inference consists of
TensorFlow's own ops; a step of growth is a Python function.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow.compat import v1
from tapeflow.contrib.tensor_forest.growing import (
    FEATURE,
    LEFT,
    NO_FEATURE,
    RIGHT,
    Settings,
    Tree,
    grown,
    impurity,
    new_tree,
    weight_of,
)
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import boundaries, public_methods
from tapeflow.core.structures.structure import fields_of

_MODELS = ("all_dense", "all_sparse", "sparse_then_dense")
# Ways of TensorFlow's that this package lacks, with the values that do without them.
_WITHOUT = {
    "split_finish_name": "basic", "split_pruning_name": "none", "prune_every_samples": 0,
    "early_finish_check_every_samples": 0, "initialize_average_splits": False, "param_file": None,
}  # fmt: skip


@public_methods
class ForestHParams:
    """The settings of a forest.

    Args:
      num_trees: how many trees.
      max_nodes: at which size a tree ends to grow.
      bagging_fraction: the part of the examples that each tree sees.
      num_splits_to_consider: how many candidate splits a leaf has; 0 for about the root of the number of features.
      feature_bagging_fraction: the part of the features that each tree sees.
      split_after_samples: after how many examples a leaf is split.
      model_name: "all_dense", "all_sparse" or "sparse_then_dense": the same here.
      inference_tree_paths: whether inference says which nodes an example comes through.
      split_name: "less_or_equal" or "less": which values go to the left child.
      **kwargs: `num_classes` and `num_features`, which are needed; `regression`, for `num_classes` numbers instead of
        classes; `base_random_seed`.

    `max_fertile_nodes`, `valid_leaf_threshold`, `dominate_method`, `dominate_fraction`, `collate_examples`,
    `checkpoint_stats` and `use_running_stats_method` decide nothing with the others as they must be: splits are made
    after `split_after_samples` alone, and what leaves have counted is always in checkpoints.

    Raises:
      NotImplementedError: for early finish of splits, pruning of candidates, averaged splits, and a `param_file`.
      KeyError: for another `model_name`.
    """

    def __init__(
        self, num_trees: int = 100, max_nodes: int = 10000, bagging_fraction: float = 1.0,
        num_splits_to_consider: int = 0, feature_bagging_fraction: float = 1.0, max_fertile_nodes: int = 0,
        split_after_samples: int = 250, valid_leaf_threshold: int = 1, dominate_method: str = "bootstrap",
        dominate_fraction: float = 0.99, model_name: str = "all_dense", split_finish_name: str = "basic",
        split_pruning_name: str = "none", prune_every_samples: int = 0, early_finish_check_every_samples: int = 0,
        collate_examples: bool = False, checkpoint_stats: bool = False, use_running_stats_method: bool = False,
        initialize_average_splits: bool = False, inference_tree_paths: bool = False, param_file=None,
        split_name: str = "less_or_equal", **kwargs,
    ):  # fmt: skip
        given = {key: value for key, value in locals().items() if key not in ("self", "kwargs")}
        for key, usual in _WITHOUT.items():
            if given[key] != usual:
                raise NotImplementedError(f"{key} must be {usual!r} here, got {given[key]!r}")
        if model_name not in _MODELS:
            raise KeyError(model_name)
        self.__dict__.update(given | kwargs)

    def values(self):
        """The settings, a dict."""
        return self.__dict__

    def fill(self):
        """Sets what follows from others; returns these settings. Raises AttributeError without the needed ones."""
        self.regression = getattr(self, "regression", False)
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        self.bagged_num_features = int(self.feature_bagging_fraction * self.num_features)
        self.bagged_features = None
        if self.feature_bagging_fraction < 1.0:
            every = range(self.num_features)
            chooses = random.Random(self.base_random_seed)  # a forest that is read again has the same
            self.bagged_features = [
                chooses.sample(every, self.bagged_num_features) for _ in range(self.num_trees)
            ]
        self.num_outputs = self.num_classes if self.regression else 1
        self.num_output_columns = self.num_classes + 1
        usual = min(max(10, math.floor(math.sqrt(self.num_features))), 1000)
        self.num_splits_to_consider = self.num_splits_to_consider or usual
        return self

    def growth(self):
        """The settings of the growth of one tree."""
        return Settings(
            int(self.max_nodes), int(self.num_splits_to_consider), float(self.split_after_samples),
            bool(self.regression), int(self.num_classes), self.split_name == "less_or_equal",
        )  # fmt: skip


class TreeVariables:
    """The variables of one tree.

    Attributes:
      tree: the splits, the thresholds and the sums of leaves.
      stats: what leaves count for splits to come; None if the tree is not trained.
    """

    def __init__(self, params, tree_num: int, training: bool | Tensor):
        first = new_tree(params.growth())
        made = [
            v1.get_variable(
                f"{'tree' if i < 3 else 'stats'}-{tree_num}/{name}", initializer=part, validate_shape=False,
                trainable=False, use_resource=True,
            )
            for i, (name, part) in enumerate(zip(fields_of(Tree), first))
            if training or i < 3
        ]
        self.tree, self.stats = made[:3], made[3:] or None


class ForestVariables:
    """The variables of all trees, by their numbers."""

    def __init__(
        self, params, device_assigner=None, training: bool | Tensor = True, tree_variables_class: type = TreeVariables
    ):
        with v1.device(device_assigner):
            self.variables = [tree_variables_class(params, i, training) for i in range(params.num_trees)]

    def __getitem__(self, t):
        return self.variables[t]

    def __len__(self):
        return len(self.variables)

    def __setitem__(self, t: Any, value: Any):
        self.variables[t] = value


def dense_features(data):
    """Features as one float32 matrix: of a tensor, a sparse one (what is absent is 0), or a dict of these by name."""
    if isinstance(data, dict):
        return v1.concat([dense_features(data[key]) for key in sorted(data)], 1)
    if isinstance(data, v1.SparseTensor):
        data = v1.sparse_tensor_to_dense(v1.sparse_reorder(data))
    data = v1.cast(v1.convert_to_tensor(data), v1.float32)
    return v1.expand_dims(data, 1) if data.shape.rank == 1 else data


@public_methods
class RandomForestGraphs:
    """The graphs of a forest.

    Args:
      params: filled ForestHParams.
      device_assigner: a device, or a function that gives one, for the variables.
      variables: ForestVariables, to be used by several.
      tree_variables_class, tree_graphs: what makes the variables and the graphs of a tree.
      training: whether the trees are to grow.
      tree_configs, tree_stats: trees that TensorFlow wrote: not supported.

    Raises:
      NotImplementedError: for trees that TensorFlow wrote.
    """

    def __init__(
        self, params, tree_configs=None, tree_stats=None, device_assigner=None,
        variables: Sequence[Any] | None = None, tree_variables_class: type = TreeVariables, tree_graphs=None,
        training: bool | Tensor = True,
    ):  # fmt: skip
        if tree_configs is not None or tree_stats is not None:
            raise NotImplementedError("Trees that TensorFlow wrote cannot be read.")
        self.params, self.device_assigner = params, device_assigner
        self.variables = variables or ForestVariables(params, device_assigner, training, tree_variables_class)
        make = tree_graphs or RandomTreeGraphs
        self.trees = [make(self.variables[i], params, i) for i in range(params.num_trees)]

    def _seen_by(self, i, data):
        """The features that a tree sees."""
        chosen = self.params.bagged_features
        return data if not chosen else v1.gather(data, chosen[i], axis=1)

    def training_graph(
        self, input_data, input_labels, num_trainers=1, trainer_id=0, input_weights=None
    ):  # fmt: skip
        """An operation that lets the trees grow with a batch.

        Args:
          input_data: features: a matrix, a SparseTensor, or a dict of these.
          input_labels: classes, or numbers.
          num_trainers, trainer_id: how many share the trees, and which of them this one is.
          input_weights: the weight of each example.
        """
        data = dense_features(input_data)
        labels = next(iter(input_labels.values())) if isinstance(input_labels, dict) else input_labels
        labels = v1.cast(v1.convert_to_tensor(labels), v1.float32)
        size = v1.shape(data)[0]
        weights = v1.ones([size]) if input_weights is None else v1.reshape(v1.cast(input_weights, v1.float32), [-1])
        per_trainer = self.params.num_trees / num_trainers
        made = []
        for i in range(int(trainer_id * per_trainer), int((trainer_id + 1) * per_trainer)):
            seed = self.params.base_random_seed
            seed = seed + i if seed else None
            batch = data, labels, weights
            if self.params.bagging_fraction < 1.0:
                drawn = v1.random_uniform([size], seed=seed) < self.params.bagging_fraction
                batch = [v1.boolean_mask(part, drawn) for part in batch]
            made.append(self.trees[i].training_graph(self._seen_by(i, batch[0]), batch[1], seed, batch[2]))
        return v1.group(*made, name="train")

    def inference_graph(self, input_data: dict[str, Any]):
        """What the trees say on average.

        Returns:
          (probabilities or numbers, tree paths, variance over trees): (n, outputs), strings (n, trees) with the
          numbers of the nodes, as "0,2,5" (empty without `inference_tree_paths`), and (n, outputs).
        """
        data = dense_features(input_data)
        each = [tree.inference_graph(self._seen_by(i, data)) for i, tree in enumerate(self.trees)]
        found, paths = (v1.stack(parts, 1) for parts in zip(*each, strict=True))
        mean = v1.div(v1.reduce_sum(found, 1), self.params.num_trees, name="probabilities")
        variance = v1.maximum(0.0, v1.reduce_mean(found * found, 1) - mean * mean)
        return mean, paths, variance

    def average_size(self):
        """The mean number of nodes of the trees."""
        return v1.reduce_mean(v1.cast(v1.stack([tree.size() for tree in self.trees]), v1.float32))

    def training_loss(self, features: Tensor | Mapping[str, Tensor], labels: TensorLike, name: str = "training_loss"):
        """What sinks while the trees grow: less their mean size."""
        return v1.negative(self.average_size(), name=name)

    def validation_loss(self, features: Tensor | Mapping[str, Tensor], labels: TensorLike):
        """See `training_loss`."""
        return v1.negative(self.average_size())

    def average_impurity(self):
        """How mixed the examples of leaves are: Gini's impurity or the variance, on average."""
        return v1.reduce_mean(v1.stack([tree.average_impurity() for tree in self.trees]))

    def feature_importances(self):
        """The part of the splits that each feature makes."""
        counts = v1.cast(v1.add_n([tree.feature_usage_counts() for tree in self.trees]), v1.float32)
        return counts / v1.reduce_sum(counts)


class RandomTreeGraphs:
    """The graphs of a tree; see `RandomForestGraphs`."""

    def __init__(self, variables: TreeVariables, params: ForestHParams, tree_num: int):
        self.variables, self.params, self.tree_num = variables, params, tree_num

    def training_graph(self, input_data, input_labels, random_seed, input_weights):
        """An operation that lets the tree grow with a batch."""
        variables, settings = [*self.variables.tree, *self.variables.stats], self.params.growth()

        def step(data, labels, weights, seed: int, *parts):
            return list(grown(Tree(*parts), data, labels, weights, np.random.default_rng(int(seed)), settings))

        seed = v1.random_uniform([], 0, 2**31 - 1, v1.int32, seed=random_seed)
        now = [variable.read_value() for variable in variables]
        made = v1.py_func(step, [input_data, input_labels, input_weights, seed, *now], [x.dtype for x in now])
        return v1.group(
            *[v1.assign(variable, part, validate_shape=False) for variable, part in zip(variables, made)]
        )

    def inference_graph(self, input_data):
        """What the leaf of each example says, float32 (n, outputs), and the nodes on the way there, strings (n,)."""
        settings = self.params.growth()
        splits, thresholds, sums = (variable.read_value() for variable in self.variables.tree)
        features, children = splits[:, FEATURE], splits[:, LEFT : RIGHT + 1]
        compare = v1.less_equal if settings.or_equal else v1.less
        size = v1.shape(input_data)[0]
        rows = v1.range(size)

        def down(at, path):
            chosen = v1.gather(features, at)
            inner = v1.not_equal(chosen, NO_FEATURE)
            values = v1.gather_nd(input_data, v1.stack([rows, v1.maximum(chosen, 0)], 1))
            side = 1 - v1.cast(compare(values, v1.gather(thresholds, at)), v1.int32)
            below = v1.where(inner, v1.gather_nd(children, v1.stack([at, side], 1)), at)
            if self.params.inference_tree_paths:
                path = v1.where(inner, v1.strings.join([path, v1.as_string(below)], ","), path)
            return below, path

        start = v1.fill([size], "0" if self.params.inference_tree_paths else "")
        at, path = v1.while_loop(
            lambda at, path: v1.reduce_any(v1.not_equal(v1.gather(features, at), NO_FEATURE)),
            down, [v1.zeros([size], v1.int32), start],
        )  # fmt: skip
        return self._said(v1.reshape(v1.gather(sums, at), [size, settings.statistics]), settings), path

    @staticmethod
    def _said(sums: Tensor, settings: Settings):
        """The mean of numbers, or the parts of classes; equal parts where nothing was seen."""
        if settings.regression:
            return v1.div_no_nan(sums[:, 1 : 1 + settings.outputs], sums[:, :1])
        total = v1.reduce_sum(sums, 1, keepdims=True)
        seen = v1.greater(v1.tile(total, [1, settings.outputs]), 0.0)
        return v1.where(seen, v1.div_no_nan(sums, total), v1.fill(v1.shape(sums), 1.0 / settings.outputs))

    def size(self):
        """The number of nodes."""
        return v1.shape(self.variables.tree[0])[0]

    def average_impurity(self):
        """How mixed the examples of leaves are, on average."""
        regression = self.params.regression

        def mean(splits, sums):
            sums = sums[splits[:, FEATURE] == NO_FEATURE]
            total = weight_of(sums, regression).sum()
            return np.float32(impurity(sums, regression).sum() / total if total else 0)

        splits, _, sums = (variable.read_value() for variable in self.variables.tree)
        return v1.reshape(v1.py_func(mean, [splits, sums], v1.float32), [])

    def feature_usage_counts(self):
        """How many splits each feature makes: int32 (features,)."""
        used = v1.reshape(self.variables.tree[0].read_value()[:, FEATURE], [-1])
        used = v1.boolean_mask(used, v1.not_equal(used, NO_FEATURE))
        if self.params.bagged_features:
            used = v1.gather(v1.constant(self.params.bagged_features[self.tree_num], v1.int32), used)
        return v1.math.bincount(used, minlength=self.params.num_features, maxlength=self.params.num_features)


boundaries(globals())
