"""Estimators of random forests: `TensorForestEstimator` and `CoreTensorForestEstimator`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import estimator as core
from tapeflow.compat import v1
from tapeflow.contrib import learn
from tapeflow.contrib.layers import input_from_feature_columns
from tapeflow.contrib.layers.columns.base import _FeatureColumn
from tapeflow.contrib.learn.spec import by_own_keys
from tapeflow.contrib.tensor_forest.tensor_forest import RandomForestGraphs
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import boundaries, public_methods
from tapeflow.estimator.export import PredictOutput
from tapeflow.estimator.heads import Classes, Numbers
from tapeflow.train import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from tapeflow.graph.run.session import BaseSession
    from tapeflow.train.session_run_hook import SessionRunContext, SessionRunValues

KEYS_NAME = "keys"
LOSS_NAME = "rf_training_loss"
TREE_PATHS_PREDICTION_KEY = "tree_paths"
VARIANCE_PREDICTION_KEY = "prediction_variance"
ALL_SERVING_KEY = "tensorforest_all"
EPSILON = 1e-6
_logger = logging.getLogger("tensorflow")


class TensorForestRunOpAtEndHook(SessionRunHook):
    """Runs operations at the end, in the order of their names, and logs their values."""

    def __init__(self, op_dict):
        self._ops = op_dict

    def end(self, session: BaseSession):
        for name in sorted(self._ops):
            _logger.info("%s: %s", name, session.run(self._ops[name]))


class TensorForestLossHook(SessionRunHook):
    """Ends training when the loss has not improved for some steps.

    Args:
      early_stopping_rounds: how many steps.
      early_stopping_loss_threshold: the part of the least loss that is an improvement.
      loss_op: the loss; by default the operation "rf_training_loss".
    """

    def __init__(
        self, early_stopping_rounds: int, early_stopping_loss_threshold: float | None = None,
        loss_op: TensorLike | None = None,
    ):
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_loss_threshold = early_stopping_loss_threshold or 0.0
        self.loss_op, self.min_loss, self.last_step, self.steps = loss_op, None, -1, 0

    def before_run(self, run_context: SessionRunContext):
        loss = self.loss_op
        if loss is None:
            loss = run_context.session.graph.get_operation_by_name(LOSS_NAME).outputs[0]
        return SessionRunArgs({"global_step": v1.train.get_global_step(), "current_loss": loss})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues):
        loss, step = run_values.results["current_loss"], run_values.results["global_step"]
        self.steps += 1
        first = self.last_step == -1 or self.last_step > step
        self.last_step = step
        if first:
            self.steps, self.min_loss = 0, None
            return
        if self.min_loss is None or loss < self.min_loss * (1 - self.early_stopping_loss_threshold):
            self.min_loss, self.steps = loss, 0
        if self.steps > self.early_stopping_rounds:
            run_context.request_stop()


class _DefaultHead:
    """The head of a forest as `create_estimator_spec` of public heads."""

    def __init__(self, params, weight_column, reduction):
        if params.regression:
            self.kind = Numbers(params.num_outputs, weight_column, reduction)
        else:
            self.kind = Classes(params.num_classes, weight_column, None, reduction)

    def create_estimator_spec(self, features, mode: str, logits: Tensor, labels: TensorLike, train_op_fn):
        return self.kind.spec(features, mode, labels, logits, train_op_fn)


def _inputs(features: Tensor | Mapping[str, Tensor], columns: Sequence[Any] | None):
    """The dict of features that trees see."""
    if not isinstance(features, dict):
        return {"features": features}
    if not columns:
        return dict(features)
    if any(isinstance(column, _FeatureColumn) for column in columns):
        return {"columns": input_from_feature_columns(features, columns)}
    return {"columns": v1.feature_column.input_layer(features, columns)}


def _model_fn(
    params, graph_builder_class: type, device_assigner, feature_columns: Sequence[Any] | None, head, weights_name,
    keys_name, early_stopping_rounds: int, early_stopping_loss_threshold: float, num_trainers: int, trainer_id: int,
    report_feature_importances: bool, local_eval: bool, include_all_in_serving: bool,
    finish: Callable[..., Any] | type,
):  # fmt: skip
    """The model function of a forest; `finish` makes its predictions those of an estimator's kind."""

    def model_fn(features: Tensor | Mapping[str, Tensor], labels: Tensor | None, mode: str):
        given = features if isinstance(features, dict) else {}
        inputs = _inputs(features, feature_columns)
        weights = inputs.pop(weights_name, given.get(weights_name)) if weights_name else None
        keys = inputs.pop(keys_name, given.get(keys_name)) if keys_name else None
        local = mode == core.ModeKeys.PREDICT or (local_eval and mode == core.ModeKeys.EVAL)
        forest = graph_builder_class(
            params, device_assigner=None if local else device_assigner, training=mode == core.ModeKeys.TRAIN
        )
        logits, paths, variance = forest.inference_graph(inputs)
        v1.summary.scalar("average_tree_size", forest.average_size())
        if not params.regression and params.num_classes == 2:
            second = logits[:, 1:2]
            logits = v1.log(v1.maximum(second / v1.maximum(1.0 - second, EPSILON), EPSILON))

        def train(loss: Tensor):
            with v1.control_dependencies([loss]):
                grow = forest.training_graph(
                    inputs, labels, num_trainers=num_trainers, trainer_id=trainer_id, input_weights=weights
                )
            return v1.group(grow, v1.assign_add(v1.train.get_global_step(), 1))

        seen = {**inputs, **({weights_name: weights} if weights is not None else {})}
        spec = head.create_estimator_spec(seen, mode, logits, labels, train_op_fn=train)
        predictions = finish(spec.predictions)
        if keys is not None:
            predictions[keys_name] = keys
        predictions[VARIANCE_PREDICTION_KEY] = variance
        if params.inference_tree_paths:
            predictions[TREE_PATHS_PREDICTION_KEY] = paths
        hooks = list(spec.training_hooks)
        if report_feature_importances:
            hooks.append(TensorForestRunOpAtEndHook({"1: feature_importances": forest.feature_importances()}))
        if early_stopping_rounds and spec.loss is not None:
            hooks.append(TensorForestLossHook(early_stopping_rounds, early_stopping_loss_threshold, spec.loss))
        exports = spec.export_outputs
        if include_all_in_serving and exports is not None:
            exports = {**exports, ALL_SERVING_KEY: PredictOutput(predictions)}
        return spec._replace(predictions=predictions, training_hooks=tuple(hooks), export_outputs=exports)

    return model_fn


@public_methods
class TensorForestEstimator(learn.Estimator):
    """A random forest that grows while batches come, with the methods of `tf.contrib.learn.Estimator`.

    Args:
      params: ForestHParams.
      device_assigner: where the trees are.
      model_dir, config: the folder and a RunConfig.
      feature_columns: columns of the features that trees see; by default all features.
      graph_builder_class: what makes the graphs.
      weight_column: the name of the feature with the examples' weights.
      keys_column: the name of a feature that is handed on to the predictions.
      feature_engineering_fn: a function of features and labels that returns others.
      early_stopping_rounds, early_stopping_loss_threshold: when training ends; see `TensorForestLossHook`.
      num_trainers, trainer_id: how many share the trees, and which of them this one is.
      report_feature_importances: whether these are logged at the end.
      local_eval: whether evaluation leaves out the `device_assigner`.
      version: no meaning.
      head: a head; by default that of the params.
      include_all_in_serving: whether an exported model also has a signature with all predictions.
    """

    def __init__(
        self, params, device_assigner=None, model_dir: str | None = None,
        feature_columns: Sequence[Any] | None = None, graph_builder_class: type = RandomForestGraphs, config=None,
        weight_column=None, keys_column=None, feature_engineering_fn: Callable[..., Any] | None = None,
        early_stopping_rounds: int = 100, early_stopping_loss_threshold: float = 0.001, num_trainers: int = 1,
        trainer_id: int = 0, report_feature_importances: bool = False, local_eval: bool = False, version=None,
        head=None, include_all_in_serving: bool = False,
    ):  # fmt: skip
        params = params.fill()
        head = head or _DefaultHead(params, weight_column, v1.losses.Reduction.SUM_BY_NONZERO_WEIGHTS)
        model_fn = _model_fn(
            params, graph_builder_class, device_assigner, feature_columns, head, weight_column, keys_column,
            early_stopping_rounds, early_stopping_loss_threshold, num_trainers, trainer_id,
            report_feature_importances, local_eval, include_all_in_serving, by_own_keys,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, feature_engineering_fn=feature_engineering_fn)


@public_methods
class CoreTensorForestEstimator(core.Estimator):
    """The same with the methods of `tf.estimator.Estimator`; see `TensorForestEstimator`."""

    def __init__(
        self, params, device_assigner=None, model_dir=None, feature_columns: Sequence[Any] | None = None,
        graph_builder_class: type = RandomForestGraphs, config=None, weight_column=None, keys_column=None,
        feature_engineering_fn: Callable[..., Any] | None = None, early_stopping_rounds: int = 100,
        early_stopping_loss_threshold: float = 0.001, num_trainers: int = 1, trainer_id: int = 0,
        report_feature_importances: bool = False, local_eval: bool = False, version=None, head=None,
        include_all_in_serving: bool = False,
    ):  # fmt: skip
        params = params.fill()
        head = head or _DefaultHead(params, weight_column, v1.losses.Reduction.SUM_OVER_BATCH_SIZE)
        model_fn = _model_fn(
            params, graph_builder_class, device_assigner, feature_columns, head, weight_column, keys_column,
            early_stopping_rounds, early_stopping_loss_threshold, num_trainers, trainer_id,
            report_feature_importances, local_eval, include_all_in_serving, dict,
        )  # fmt: skip
        if feature_engineering_fn is not None:
            plain = model_fn

            def model_fn(features: Tensor | Mapping[str, Tensor], labels: Tensor, mode: str):
                return plain(*feature_engineering_fn(features, labels), mode)

        super().__init__(model_fn, model_dir, config)


boundaries(globals())
