"""Linear models, deep networks and both at once, over feature columns of `tf.contrib.layers` or `tf.feature_column`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib import layers
from tapeflow.contrib.layers.columns.base import _FeatureColumn
from tapeflow.contrib.learn.estimator import Estimator
from tapeflow.contrib.learn.spec import ModeKeys
from tapeflow.core.annotations import PathLike, TensorLike
from tapeflow.estimator.heads import Classes, Numbers

if TYPE_CHECKING:
    import numpy as np

    from tapeflow.contrib.learn.spec import RunConfig
    from tapeflow.train.adaptive import AdagradOptimizer, AdamOptimizer, FtrlOptimizer

_MEAN = v1.losses.Reduction.SUM_BY_NONZERO_WEIGHTS


def _are_core(columns: Sequence[Any]):
    return not any(isinstance(column, _FeatureColumn) for column in columns)


def _deep(
    features, columns: Sequence[Any], units, activation: Callable[..., Any], rate: float | None, count: int, mode: str
):
    with v1.variable_scope("dnn"):
        with v1.variable_scope("input_from_feature_columns"):
            if _are_core(columns):
                net = v1.feature_column.input_layer(features, columns)
            else:
                net = layers.input_from_feature_columns(features, columns)
        for i, size in enumerate(units):
            with v1.variable_scope(f"hiddenlayer_{i}") as scope:
                net = layers.fully_connected(net, size, activation, scope=scope)
            if rate is not None and mode == ModeKeys.TRAIN:
                net = layers.dropout(net, keep_prob=1.0 - rate)
        with v1.variable_scope("logits") as scope:
            return layers.fully_connected(net, count, None, scope=scope)


def _linear(features, columns: Sequence[Any], joint: bool, count: int):
    with v1.variable_scope("linear"):
        if _are_core(columns):
            return v1.feature_column.linear_model(features, columns, units=count)
        if joint:
            return layers.joint_weighted_sum_from_feature_columns(features, columns, count)[0]
        return layers.weighted_sum_from_feature_columns(features, columns, count)[0]


def _step(
    loss: TensorLike, optimizer: AdamOptimizer | None, default: AdagradOptimizer | FtrlOptimizer, scope: str,
    clip_norm: float | None,
):
    variables = v1.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES, scope)
    chosen = default if optimizer is None else optimizer
    return layers.optimize_loss(
        loss, None, learning_rate=None if not isinstance(chosen, str) else 0.05, optimizer=chosen,
        clip_gradients=clip_norm, variables=variables, summaries=[], increment_global_step=False, name=scope,
    )  # fmt: skip


class _Columns(Estimator):
    """An estimator of a head and of parts: a linear one, a deep one, or both."""

    def __init__(
        self, head: Any, deep: Sequence[Any] | None = None, linear: Sequence[Any] | None = None,
        optimizers: Sequence[Any] = (None, None), clip_norm: float | None = None, model_dir=None,
        config: RunConfig | None = None, feature_engineering_fn=None,
    ):  # fmt: skip
        def model_fn(features, labels, mode):
            features = features if isinstance(features, dict) else {"": features}
            count, logits, steps = head.logits_dimension, [], []
            if deep:
                logits.append(_deep(features, *deep, count, mode))
                default = v1.train.AdagradOptimizer(0.05)
                steps.append((optimizers[0], default, "dnn"))
            if linear:
                logits.append(_linear(features, *linear, count))
                rate = min(0.2, 1.0 / math.sqrt(len(linear[0])))
                steps.append((optimizers[1], v1.train.FtrlOptimizer(rate), "linear"))
            total = logits[0] if len(logits) == 1 else v1.add_n(logits)

            def train(loss):
                made = [_step(loss, *each, clip_norm) for each in steps]
                with v1.control_dependencies(made):
                    return v1.group(v1.train.get_global_step().assign_add(1))

            spec = head.spec(features, mode, labels, total, train)
            return spec._replace(predictions=_said(spec.predictions))

        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


def _said(predictions: dict[str, Any]):
    """The predictions by the keys of this package; classes are numbers."""
    if "predictions" in predictions:
        scores = predictions["predictions"]
        return {"scores": v1.squeeze(scores, -1) if scores.shape[-1] == 1 else scores}
    made = {key: predictions[key] for key in ("logits", "probabilities", "logistic") if key in predictions}
    return {**made, "classes": v1.squeeze(predictions["class_ids"], -1)}


def _check(columns: Sequence[Any], what: str = "feature_columns"):
    if not columns:
        raise ValueError(f"{what} must be defined and not empty; got {columns}")
    return list(columns)


class _Classifies(_Columns):
    """What classifiers say by default: the classes."""

    def predict_classes(
        self, x: TensorLike | None = None, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None,
        as_iterable: bool = True,
    ):
        """The number of the class of each example."""
        return self._one("classes", x, input_fn, batch_size, as_iterable)

    def predict_proba(
        self, x: np.ndarray | None = None, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None,
        as_iterable: bool = True,
    ):
        """The probabilities of the classes of each example."""
        return self._one("probabilities", x, input_fn, batch_size, as_iterable)

    _default = "classes"

    def _one(
        self, key, x: TensorLike | None, input_fn: Callable[..., Any] | None, batch_size: int | None,
        as_iterable: bool,
    ):
        found = super().predict(x, input_fn, batch_size, [key], as_iterable)
        return (each[key] for each in found) if as_iterable else found[key]

    def predict(
        self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True, iterate_batches=False
    ):  # fmt: skip
        """The classes (of regressors, the numbers), or with `outputs` dicts of these; see `Estimator.predict`."""
        if not outputs:
            return self._one(self._default, x, input_fn, batch_size, as_iterable)
        return super().predict(x, input_fn, batch_size, outputs, as_iterable, iterate_batches)


class _Regresses(_Classifies):
    """What regressors say by default: the numbers."""

    _default = "scores"

    def predict_scores(
        self, x: TensorLike | None = None, input_fn: Callable[..., Any] | None = None, batch_size: int | None = None,
        as_iterable: bool = True,
    ):
        """The number that is estimated for each example."""
        return self._one("scores", x, input_fn, batch_size, as_iterable)


class DNNClassifier(_Classifies):
    """A deep network that tells classes apart.

    Args:
      hidden_units: the numbers of units of the layers.
      feature_columns: columns.
      weight_column_name: the feature with the examples' weights.
      optimizer: an optimizer or its name; by default Adagrad.
      dropout: the part of units that is left out in training.
      gradient_clip_norm: to which norm gradients are clipped.
      label_keys: the classes' names, where labels are strings; predictions are numbers all the same.
    """

    def __init__(
        self, hidden_units: Sequence[int], feature_columns: Sequence[Any], model_dir: str | None = None,
        n_classes: int = 2, weight_column_name=None, optimizer=None, activation_fn: Callable[..., Any] = v1.nn.relu,
        dropout: float | None = None, gradient_clip_norm: float | None = None, config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None, label_keys: Sequence[str] | None = None,
    ):  # fmt: skip
        head = Classes(n_classes, weight_column_name, label_keys, _MEAN)
        deep = (_check(feature_columns), hidden_units, activation_fn, dropout)
        super().__init__(
            head, deep, None, (optimizer, None), gradient_clip_norm, model_dir, config, feature_engineering_fn
        )  # fmt: skip


class DNNRegressor(_Regresses):
    """A deep network that estimates numbers; see `DNNClassifier`."""

    def __init__(
        self, hidden_units: Sequence[int], feature_columns: Sequence[Any], model_dir: str | None = None,
        weight_column_name=None, optimizer: AdamOptimizer | None = None,
        activation_fn: Callable[..., Any] = v1.nn.relu, dropout: float | None = None,
        gradient_clip_norm: float | None = None, config=None,
        feature_engineering_fn: Callable[..., Any] | None = None, label_dimension: int = 1,
    ):  # fmt: skip
        head = Numbers(label_dimension, weight_column_name, _MEAN)
        deep = (_check(feature_columns), hidden_units, activation_fn, dropout)
        super().__init__(
            head, deep, None, (optimizer, None), gradient_clip_norm, model_dir, config, feature_engineering_fn
        )  # fmt: skip


class LinearClassifier(_Classifies):
    """A weighted sum of columns that tells classes apart; see `DNNClassifier`. The optimizer is Ftrl by default."""

    def __init__(
        self, feature_columns: Sequence[Any], model_dir: str | None = None, n_classes: int = 2,
        weight_column_name=None, optimizer=None, gradient_clip_norm: float | None = None, _joint_weight: bool = False,
        config=None, feature_engineering_fn: Callable[..., Any] | None = None,
        label_keys: Sequence[str] | None = None,
    ):  # fmt: skip
        head = Classes(n_classes, weight_column_name, label_keys, _MEAN)
        super().__init__(
            head, None, (_check(feature_columns), _joint_weight), (None, optimizer), gradient_clip_norm, model_dir,
            config, feature_engineering_fn,
        )  # fmt: skip


class LinearRegressor(_Regresses):
    """A weighted sum of columns that estimates numbers; see `LinearClassifier`."""

    def __init__(
        self, feature_columns: Sequence[Any], model_dir: str | None = None, weight_column_name=None,
        optimizer: AdamOptimizer | None = None, gradient_clip_norm: float | None = None, label_dimension: int = 1,
        _joint_weights: bool = False, config=None, feature_engineering_fn: Callable[..., Any] | None = None,
    ):  # fmt: skip
        head = Numbers(label_dimension, weight_column_name, _MEAN)
        super().__init__(
            head, None, (_check(feature_columns), _joint_weights), (None, optimizer), gradient_clip_norm, model_dir,
            config, feature_engineering_fn,
        )  # fmt: skip


def _both(
    linear: Sequence[Any] | None, joint: bool, deep: Sequence[Any] | None, units, activation: Callable[..., Any],
    rate: float | None,
):
    if not linear and not deep:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    if deep and not units:
        raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified")
    return (
        (_check(deep), units, activation, rate) if deep else None,
        (_check(linear), joint) if linear else None,
    )


class DNNLinearCombinedClassifier(_Classifies):
    """A linear model and a deep network side by side that tell classes apart; see `DNNClassifier`."""

    def __init__(
        self, model_dir: PathLike | None = None, n_classes: int = 2, weight_column_name=None,
        linear_feature_columns: Sequence[Any] | None = None, linear_optimizer=None,
        _joint_linear_weights: bool = False, dnn_feature_columns: Sequence[Any] | None = None, dnn_optimizer=None,
        dnn_hidden_units: Sequence[Any] | None = None, dnn_activation_fn: Callable[..., Any] = v1.nn.relu,
        dnn_dropout=None, gradient_clip_norm: float | None = None, config=None,
        feature_engineering_fn: Callable[..., Any] | None = None, label_keys: Sequence[str] | None = None,
        fix_global_step_increment_bug: bool = True,
    ):  # fmt: skip
        head = Classes(n_classes, weight_column_name, label_keys, _MEAN)
        deep, linear = _both(
            linear_feature_columns, _joint_linear_weights, dnn_feature_columns, dnn_hidden_units, dnn_activation_fn,
            dnn_dropout,
        )  # fmt: skip
        super().__init__(
            head, deep, linear, (dnn_optimizer, linear_optimizer), gradient_clip_norm, model_dir, config,
            feature_engineering_fn,
        )  # fmt: skip


class DNNLinearCombinedRegressor(_Regresses):
    """A linear model and a deep network side by side that estimate numbers; see `DNNClassifier`."""

    def __init__(
        self, model_dir: str | None = None, weight_column_name=None,
        linear_feature_columns: Sequence[Any] | None = None, linear_optimizer: AdamOptimizer | None = None,
        _joint_linear_weights: bool = False, dnn_feature_columns: Sequence[Any] | None = None,
        dnn_optimizer: AdamOptimizer | None = None, dnn_hidden_units: Sequence[int] | None = None,
        dnn_activation_fn: Callable[..., Any] = v1.nn.relu, dnn_dropout=None, gradient_clip_norm: float | None = None,
        label_dimension: int = 1, config=None, feature_engineering_fn: Callable[..., Any] | None = None,
        fix_global_step_increment_bug: bool = True,
    ):  # fmt: skip
        head = Numbers(label_dimension, weight_column_name, _MEAN)
        deep, linear = _both(
            linear_feature_columns, _joint_linear_weights, dnn_feature_columns, dnn_hidden_units, dnn_activation_fn,
            dnn_dropout,
        )  # fmt: skip
        super().__init__(
            head, deep, linear, (dnn_optimizer, linear_optimizer), gradient_clip_norm, model_dir, config,
            feature_engineering_fn,
        )  # fmt: skip
