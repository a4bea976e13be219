"""`GradientBoostedDecisionTreeClassifier` and the other estimators of boosted trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib import learn
from tapeflow.contrib.boosted_trees.estimator_batch.learning import core_columns, settings_of
from tapeflow.contrib.learn.spec import by_own_keys
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import boundaries, public_methods
from tapeflow.estimator import Estimator, ModeKeys
from tapeflow.estimator.boosted_trees.columns import Inputs
from tapeflow.estimator.boosted_trees.model import StopsWhenGrown, Trees
from tapeflow.estimator.heads import Classes, Numbers

if TYPE_CHECKING:
    from tapeflow.estimator.public_heads import PublicHead
    from tapeflow.train.session_run_hook import SessionRunContext, SessionRunValues

_MEAN = v1.losses.Reduction.SUM_OVER_BATCH_SIZE


class _Kind:
    """A head of this package as a public one."""

    def __init__(self, kind: Classes | Numbers):
        self._kind, self.logits_dimension = kind, kind.logits_dimension

    def create_estimator_spec(self, features, mode, logits: Tensor, labels: TensorLike | None, train_op_fn):
        return self._kind.spec(features, mode, labels, logits, train_op_fn)

    def create_loss(self, features: dict[str, Any], mode: str, logits: TensorLike, labels: TensorLike):
        return self._kind.loss_of(features, logits, labels)


class _SetsStep(StopsWhenGrown):
    """Sets the global step when there are all trees, before the last checkpoint is written."""

    def __init__(self, finished: Any, value: int | Tensor):
        super().__init__(finished)
        self._value = value

    def begin(self):
        self._set = v1.assign(v1.train.get_global_step(), self._value)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        if run_values.results:
            run_context.session.run(self._set)


def _model_fn(
    head, learner_config, examples_per_layer: Callable[..., Any] | int, num_trees: int | None,
    feature_columns: Sequence[Any] | None, center_bias: bool, num_quantiles: int,
    logits_modifier_function: Callable[..., Any] | None = None, output_leaf_index: bool = False,
    override_global_step_value: int | None = None, finish: Callable[..., Any] | type = dict,
    weight_column_name: str | None = None,
):  # fmt: skip
    """The model function of boosted trees; `finish` makes predictions those of an estimator's kind."""
    outputs = head.logits_dimension
    make_settings = settings_of(learner_config, outputs, num_trees, examples_per_layer, center_bias)

    def model_fn(features: dict[str, Any], labels: Tensor | None, mode: str):
        features = features if isinstance(features, dict) else {"features": features}
        weights = {weight_column_name, getattr(getattr(head, "_kind", head), "_weight_column", None)}
        offered = {key: value for key, value in features.items() if key not in weights}
        trees = Trees(Inputs(features, core_columns(offered, feature_columns)), num_quantiles, make_settings)

        def shown(logits: Tensor):
            return logits_modifier_function(logits, features, mode) if logits_modifier_function else logits

        def train(loss: Tensor):
            return trees.train(lambda logits: head.create_loss(features, mode, shown(logits), labels)[0], loss)

        spec = head.create_estimator_spec(features, mode, shown(trees.logits), labels, train_op_fn=train)
        predictions = finish(spec.predictions)
        if output_leaf_index and mode == ModeKeys.PREDICT:
            predictions["leaf_index"] = trees.leaves
        hooks = list(spec.training_hooks)
        if mode == ModeKeys.TRAIN:
            hooks += [StopsWhenGrown(trees.finished)] if num_trees else []
            if override_global_step_value is not None:
                hooks.append(_SetsStep(trees.finished, override_global_step_value))
        return spec._replace(predictions=predictions, training_hooks=tuple(hooks))

    return model_fn


@public_methods
class GradientBoostedDecisionTreeEstimator(learn.Estimator):
    """Boosted trees with a head.

    Args:
      learner_config: a LearnerConfig.
      examples_per_layer: after how many examples a layer of a tree grows; or a function of its depth.
      head: a head of `tf.contrib.estimator`.
      num_trees: how many trees; None for as many as training makes.
      feature_columns: `real_valued_column`s, or numeric, bucketized or indicator columns of `tf.feature_column`; by
        default all features, as numbers.
      weight_column_name: the feature with the examples' weights: the head's.
      model_dir, config: the folder and a RunConfig.
      feature_engineering_fn: a function of features and labels that returns others.
      logits_modifier_function: a function of logits, features and mode that returns other logits.
      center_bias: whether a constant is found first.
      use_core_libs: no meaning: columns of both kinds are taken.
      output_leaf_index: whether predictions have a "leaf_index": where an example ends in each tree.
      override_global_step_value: what the global step is set to when there are all trees.
      num_quantiles: how many buckets numbers get.

    Raises:
      NotImplementedError: for a config that asks for what this package lacks.
    """

    _finish: Any = staticmethod(dict)

    def __init__(
        self, learner_config, examples_per_layer: Callable[..., Any] | int, head, num_trees: int | None = None,
        feature_columns: Sequence[Any] | None = None, weight_column_name=None, model_dir: str | None = None,
        config=None, feature_engineering_fn: Callable[..., Any] | None = None,
        logits_modifier_function: Callable[..., Any] | None = None, center_bias: bool = True,
        use_core_libs: bool = False, output_leaf_index: bool = False, override_global_step_value: int | None = None,
        num_quantiles: int = 100,
    ):  # fmt: skip
        model_fn = _model_fn(
            head, learner_config, examples_per_layer, num_trees, feature_columns, center_bias, num_quantiles,
            logits_modifier_function, output_leaf_index, override_global_step_value, self._finish,
            weight_column_name,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)


class GradientBoostedDecisionTreeClassifier(GradientBoostedDecisionTreeEstimator):
    """Boosted trees that tell classes apart; see `GradientBoostedDecisionTreeEstimator`.

    Args:
      n_classes: how many.
      label_keys: the classes' names, where labels are strings.

    Raises:
      ValueError: if the config is for another number of classes.
    """

    _finish = staticmethod(by_own_keys)

    def __init__(
        self, learner_config, examples_per_layer: int, n_classes: int = 2, num_trees: int | None = None,
        feature_columns: Sequence[Any] | None = None, weight_column_name=None, model_dir: str | None = None,
        config=None, label_keys: Sequence[str] | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        logits_modifier_function: Callable[..., Any] | None = None, center_bias: bool = True,
        use_core_libs: bool = False, output_leaf_index: bool = False, override_global_step_value=None,
        num_quantiles: int = 100,
    ):  # fmt: skip
        if learner_config.num_classes not in (0, n_classes):
            raise ValueError(f"n_classes ({n_classes}) doesn't match learner_config ({learner_config.num_classes}).")
        learner_config.num_classes = n_classes
        super().__init__(
            learner_config, examples_per_layer, _Kind(Classes(n_classes, weight_column_name, label_keys, _MEAN)),
            num_trees, feature_columns, weight_column_name, model_dir, config, feature_engineering_fn,
            logits_modifier_function, center_bias, use_core_libs, output_leaf_index, override_global_step_value,
            num_quantiles,
        )  # fmt: skip


class GradientBoostedDecisionTreeRegressor(GradientBoostedDecisionTreeEstimator):
    """Boosted trees that estimate numbers; see `GradientBoostedDecisionTreeEstimator`.

    Args:
      label_dimension: how many numbers.
      label_name: no meaning.
    """

    _finish = staticmethod(by_own_keys)

    def __init__(
        self, learner_config, examples_per_layer: Callable[..., Any], label_dimension: int = 1,
        num_trees: int | None = None, feature_columns: Sequence[Any] | None = None, label_name: str | None = None,
        weight_column_name=None, model_dir: str | None = None, config=None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        logits_modifier_function: Callable[..., Any] | None = None, center_bias: bool = True,
        use_core_libs: bool = False, output_leaf_index: bool = False, override_global_step_value: int | None = None,
        num_quantiles: int = 100,
    ):  # fmt: skip
        learner_config.num_classes = 2 if label_dimension == 1 else label_dimension
        super().__init__(
            learner_config, examples_per_layer, _Kind(Numbers(label_dimension, weight_column_name, _MEAN)),
            num_trees, feature_columns, weight_column_name, model_dir, config, feature_engineering_fn,
            logits_modifier_function, center_bias, use_core_libs, output_leaf_index, override_global_step_value,
            num_quantiles,
        )  # fmt: skip


@public_methods
class CoreGradientBoostedDecisionTreeEstimator(Estimator):
    """The same with the methods of `tf.estimator.Estimator`; see `GradientBoostedDecisionTreeEstimator`."""

    def __init__(
        self, learner_config, examples_per_layer: int, head: PublicHead, num_trees: int | None = None,
        feature_columns: Sequence[Any] | None = None, weight_column_name=None, model_dir: str | None = None,
        config=None, label_keys: Sequence[str] | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        logits_modifier_function: Callable[..., Any] | None = None, center_bias: bool = True,
        output_leaf_index: bool = False, num_quantiles: int = 100,
    ):  # fmt: skip
        if label_keys is not None:
            raise ValueError(f"label_keys belong to the head; got {label_keys}")
        plain = _model_fn(
            head, learner_config, examples_per_layer, num_trees, feature_columns, center_bias, num_quantiles,
            logits_modifier_function, output_leaf_index, weight_column_name=weight_column_name,
        )  # fmt: skip

        def model_fn(features: dict[str, Any], labels: Tensor, mode: str):
            if feature_engineering_fn is not None:
                features, labels = feature_engineering_fn(features, labels)
            return plain(features, labels, mode)

        super().__init__(model_fn, model_dir, config)


boundaries(globals())
