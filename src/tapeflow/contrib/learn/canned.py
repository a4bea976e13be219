"""Linear models, deep networks and both at once, over feature columns of `tf.contrib.layers` or `tf.feature_column`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.contrib.learn.column_models import Deep, Linear, model_fn_of
from tapeflow.contrib.learn.estimator import Estimator
from tapeflow.contrib.learn.head import Head, multi_class_head, regression_head
from tapeflow.core.annotations import TensorLike

if TYPE_CHECKING:
    import numpy as np

    from tapeflow.contrib.learn.spec import RunConfig


class _Columns(Estimator):
    """An estimator of a head and of parts: a deep network, a weighted sum, or both."""

    def __init__(
        self, head: Head, deep: Deep | None, linear: Linear | None, clip_norm: float | None, model_dir: str | None,
        config: RunConfig | None, feature_engineering_fn: Callable[..., Any] | None, counts_once: bool = True,
    ):  # fmt: skip
        model_fn = model_fn_of(head, deep, linear, clip_norm, counts_once)
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


class _Classifies(Estimator):
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
        if as_iterable:
            return (each[key] for each in found)
        return found[key].reshape(-1) if key == "classes" else found[key]

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


def _check(columns: Sequence[Any], what: str = "feature_columns"):
    if not columns:
        raise ValueError(f"{what} must be defined and not empty; got {columns}")
    return list(columns)


class DNNEstimator(_Columns):
    """A deep network under a head.

    Args:
      head: see `multi_class_head`.
      hidden_units: the numbers of units of the layers.
      feature_columns: columns.
      model_dir: the folder.
      optimizer: an optimizer, its name, or a function that returns it; None: Adagrad.
      activation_fn: of hidden layers.
      dropout: the part of units that is left out in training.
      gradient_clip_norm: to which norm gradients are clipped.
      config: a RunConfig.
      feature_engineering_fn: a function of features and labels that returns others.
      embedding_lr_multipliers: {an embedding column: a factor of its gradients}.
      input_layer_min_slice_size: from how many bytes on a variable of the input layer is split over servers.
    """

    def __init__(
        self, head: Head, hidden_units: Sequence[int], feature_columns: Sequence[Any], model_dir: str | None = None,
        optimizer=None, activation_fn: Callable[..., Any] = v1.nn.relu, dropout: float | None = None,
        gradient_clip_norm: float | None = None, config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None, input_layer_min_slice_size: int | None = None,
    ):  # fmt: skip
        deep = Deep(
            _check(feature_columns), hidden_units, activation_fn, dropout, optimizer, embedding_lr_multipliers,
            input_layer_min_slice_size,
        )  # fmt: skip
        super().__init__(head, deep, None, gradient_clip_norm, model_dir, config, feature_engineering_fn)


class DNNClassifier(_Classifies, DNNEstimator):
    """A deep network that tells classes apart; see `DNNEstimator`.

    Args:
      n_classes: how many there are.
      weight_column_name: the feature with the examples' weights.
      enable_centered_bias: whether a bias is learned first, from the labels alone.
      label_keys: the classes' names, where labels are strings; predictions are names, too.
    """

    def __init__(
        self, hidden_units: Sequence[int], feature_columns: Sequence[Any], model_dir: str | None = None,
        n_classes: int = 2, weight_column_name: str | None = None, optimizer=None,
        activation_fn: Callable[..., Any] = v1.nn.relu, dropout: float | None = None,
        gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
        config: RunConfig | None = None, feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None, input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None,
    ):  # fmt: skip
        head = multi_class_head(
            n_classes, None, weight_column_name, enable_centered_bias, label_keys=label_keys
        )
        super().__init__(
            head, hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, gradient_clip_norm,
            config, feature_engineering_fn, embedding_lr_multipliers, input_layer_min_slice_size,
        )  # fmt: skip


class DNNRegressor(_Regresses, DNNEstimator):
    """A deep network that estimates numbers, `label_dimension` for an example; see `DNNClassifier`."""

    def __init__(
        self, hidden_units: Sequence[int], feature_columns: Sequence[Any], model_dir: str | None = None,
        weight_column_name: str | None = None, optimizer=None, activation_fn: Callable[..., Any] = v1.nn.relu,
        dropout: float | None = None, gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
        config: RunConfig | None = None, feature_engineering_fn: Callable[..., Any] | None = None,
        label_dimension: int = 1, embedding_lr_multipliers: Mapping[Any, float] | None = None,
        input_layer_min_slice_size: int | None = None,
    ):  # fmt: skip
        super().__init__(
            regression_head(None, weight_column_name, label_dimension, enable_centered_bias), hidden_units,
            feature_columns, model_dir, optimizer, activation_fn, dropout, gradient_clip_norm, config,
            feature_engineering_fn, embedding_lr_multipliers, input_layer_min_slice_size,
        )  # fmt: skip


class LinearEstimator(_Columns):
    """A weighted sum of columns under a head; see `DNNEstimator`. The optimizer is Ftrl by default."""

    def __init__(
        self, feature_columns: Sequence[Any], head: Head, model_dir: str | None = None,
        weight_column_name: str | None = None, optimizer=None, gradient_clip_norm: float | None = None,
        _joint_weights: bool = False, config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):  # fmt: skip
        linear = Linear(_check(feature_columns), _joint_weights, optimizer)
        super().__init__(head, None, linear, gradient_clip_norm, model_dir, config, feature_engineering_fn)


class LinearClassifier(_Classifies, LinearEstimator):
    """A weighted sum of columns that tells classes apart; see `DNNClassifier`. The optimizer is Ftrl by default."""

    def __init__(
        self, feature_columns: Sequence[Any], model_dir: str | None = None, n_classes: int = 2,
        weight_column_name: str | None = None, optimizer=None, gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False, _joint_weight: bool = False, config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None, label_keys: Sequence[str] | None = None,
    ):  # fmt: skip
        head = multi_class_head(
            n_classes, None, weight_column_name, enable_centered_bias, label_keys=label_keys
        )
        super().__init__(
            feature_columns, head, model_dir, None, optimizer, gradient_clip_norm, _joint_weight, config,
            feature_engineering_fn,
        )  # fmt: skip


class LinearRegressor(_Regresses, LinearEstimator):
    """A weighted sum of columns that estimates numbers; see `LinearClassifier`."""

    def __init__(
        self, feature_columns: Sequence[Any], model_dir: str | None = None, weight_column_name: str | None = None,
        optimizer=None, gradient_clip_norm: float | None = None, enable_centered_bias: bool = False,
        label_dimension: int = 1, _joint_weights: bool = False, config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
    ):  # fmt: skip
        super().__init__(
            feature_columns, regression_head(None, weight_column_name, label_dimension, enable_centered_bias),
            model_dir, None, optimizer, gradient_clip_norm, _joint_weights, config, feature_engineering_fn,
        )  # fmt: skip


class DNNLinearCombinedEstimator(_Columns):
    """A weighted sum and a deep network side by side under a head; see `DNNEstimator`.

    Args:
      fix_global_step_increment_bug: whether a step of both parts is one step, not two.
    """

    def __init__(
        self, head: Head, model_dir: str | None = None, linear_feature_columns: Sequence[Any] | None = None,
        linear_optimizer=None, _joint_linear_weights: bool = False,
        dnn_feature_columns: Sequence[Any] | None = None, dnn_optimizer=None,
        dnn_hidden_units: Sequence[int] | None = None, dnn_activation_fn: Callable[..., Any] | None = None,
        dnn_dropout: float | None = None, gradient_clip_norm: float | None = None, config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None, fix_global_step_increment_bug: bool = False,
        input_layer_min_slice_size: int | None = None,
    ):  # fmt: skip
        if not linear_feature_columns and not dnn_feature_columns:
            raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
        if dnn_feature_columns and not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        for optimizer in (linear_optimizer, dnn_optimizer):
            if isinstance(optimizer, v1.train.SyncReplicasOptimizer):
                raise ValueError(
                    "SyncReplicasOptimizer is not supported in DNNLinearCombined model. If you want to use this "
                    "optimizer, please use either DNN or Linear model."
                )
        deep = dnn_feature_columns and Deep(
            list(dnn_feature_columns), dnn_hidden_units or (), dnn_activation_fn or v1.nn.relu, dnn_dropout,
            dnn_optimizer, embedding_lr_multipliers, input_layer_min_slice_size,
        )  # fmt: skip
        linear = linear_feature_columns and Linear(
            list(linear_feature_columns), _joint_linear_weights, linear_optimizer
        )
        super().__init__(
            head, deep or None, linear or None, gradient_clip_norm, model_dir, config, feature_engineering_fn,
            fix_global_step_increment_bug,
        )  # fmt: skip


class DNNLinearCombinedClassifier(_Classifies, DNNLinearCombinedEstimator):
    """A weighted sum and a deep network side by side that tell classes apart; see `DNNClassifier`."""

    def __init__(
        self, model_dir: str | None = None, n_classes: int = 2, weight_column_name: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None, linear_optimizer=None,
        _joint_linear_weights: bool = False, dnn_feature_columns: Sequence[Any] | None = None, dnn_optimizer=None,
        dnn_hidden_units: Sequence[int] | None = None, dnn_activation_fn: Callable[..., Any] = v1.nn.relu,
        dnn_dropout: float | None = None, gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False, config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None, input_layer_min_slice_size: int | None = None,
        label_keys: Sequence[str] | None = None, fix_global_step_increment_bug: bool = False,
    ):  # fmt: skip
        head = multi_class_head(
            n_classes, None, weight_column_name, enable_centered_bias, label_keys=label_keys
        )
        super().__init__(
            head, model_dir, linear_feature_columns, linear_optimizer, _joint_linear_weights, dnn_feature_columns,
            dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout, gradient_clip_norm, config,
            feature_engineering_fn, embedding_lr_multipliers, fix_global_step_increment_bug,
            input_layer_min_slice_size,
        )  # fmt: skip


class DNNLinearCombinedRegressor(_Regresses, DNNLinearCombinedEstimator):
    """A weighted sum and a deep network side by side that estimate numbers; see `DNNClassifier`."""

    def __init__(
        self, model_dir: str | None = None, weight_column_name: str | None = None,
        linear_feature_columns: Sequence[Any] | None = None, linear_optimizer=None,
        _joint_linear_weights: bool = False, dnn_feature_columns: Sequence[Any] | None = None, dnn_optimizer=None,
        dnn_hidden_units: Sequence[int] | None = None, dnn_activation_fn: Callable[..., Any] = v1.nn.relu,
        dnn_dropout: float | None = None, gradient_clip_norm: float | None = None,
        enable_centered_bias: bool = False, label_dimension: int = 1, config: RunConfig | None = None,
        feature_engineering_fn: Callable[..., Any] | None = None,
        embedding_lr_multipliers: Mapping[Any, float] | None = None, input_layer_min_slice_size: int | None = None,
        fix_global_step_increment_bug: bool = False,
    ):  # fmt: skip
        super().__init__(
            regression_head(None, weight_column_name, label_dimension, enable_centered_bias), model_dir,
            linear_feature_columns, linear_optimizer, _joint_linear_weights, dnn_feature_columns, dnn_optimizer,
            dnn_hidden_units, dnn_activation_fn, dnn_dropout, gradient_clip_norm, config, feature_engineering_fn,
            embedding_lr_multipliers, fix_global_step_increment_bug, input_layer_min_slice_size,
        )  # fmt: skip
