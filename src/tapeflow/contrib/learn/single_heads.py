"""Heads: what estimators make of logits: predictions, a loss, a training step, metrics, and what is exported."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib import layers
from tapeflow.contrib.learn.metric_key import (
    MetricKey,
    at_threshold,
    auc_of,
    key_of,
    mean_of,
    part_of,
)
from tapeflow.contrib.learn.spec import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from tapeflow.core.annotations import Tensor, TensorLike, Variable

Losses = tuple[Tensor, Tensor]  # the mean of weighted losses, which is trained, and the weighted mean


class Head(abc.ABC):
    """What logits mean; subclasses say how many of them there are, and what a model function makes of them."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The size of the last axis of the logits."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self, features: Mapping[Any, Any], mode: str, labels: Any = None,
        train_op_fn: Callable[..., Any] | None = None, logits: TensorLike | None = None,
        logits_input: TensorLike | None = None, scope=None,
    ) -> ModelFnOps:  # fmt: skip
        """Return what a model function returns.

        Args:
          features: a dict of tensors, in which weights are looked up.
          mode: a ModeKeys.
          labels: a tensor, or a dict of them; None where none are known.
          train_op_fn: a function of the loss that returns the training step.
          logits: `[batch, logits_dimension]`.
          logits_input: instead of `logits`: what a linear layer "logits" makes them of.
          scope: of the variables; None: of the name of the head.

        Raises:
          ValueError: for an unknown mode, for both or none of `logits` and `logits_input`, and in training without
            `train_op_fn`.
        """


def check_mode(mode: str) -> None:
    """Raise ValueError for an unknown mode."""
    if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.INFER):
        raise ValueError(f"mode={mode} unrecognized.")


class SingleHead(Head):
    """A head of one kind of labels.

    Args:
      logits_dimension: the number of logits of an example.
      loss_fn: a function of labels, logits and weights that returns the mean of weighted losses, and the weighted
        mean.
      label_name: the key of the labels, where these are a dict.
      weight_column_name: the feature with the weights of examples.
      enable_centered_bias: whether a bias is learned first, from the labels alone.
      head_name: completes the keys of metrics; names the scope.
      thresholds: of metrics.
    """

    scope = "head"
    problem_type = ProblemType.UNSPECIFIED

    def __init__(
        self, logits_dimension: int, loss_fn: Callable[..., Losses], label_name: str | None = None,
        weight_column_name: str | None = None, enable_centered_bias: bool = False, head_name: str | None = None,
        thresholds: Sequence[float] | None = None,
    ):  # fmt: skip
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self._logits_dimension, self._loss_fn = logits_dimension, loss_fn
        self._label_name, self._weight_column_name = label_name, weight_column_name
        self._enable_centered_bias, self._head_name = enable_centered_bias, head_name
        self._thresholds = thresholds or (0.5,)

    @property
    def logits_dimension(self):
        return self._logits_dimension

    @property
    def label_name(self):
        """The key of the labels, or None."""
        return self._label_name

    @property
    def weight_column_name(self):
        """The feature with the weights of examples, or None."""
        return self._weight_column_name

    @property
    def head_name(self):
        """The name, or None."""
        return self._head_name

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):  # fmt: skip
        with v1.variable_scope(scope, self._head_name or self.scope, [labels, logits, logits_input]):
            found = None if mode == ModeKeys.INFER or labels is None else self._found(labels)
            logits = self._checked(logits, logits_input)
            return self._ops(features, mode, found, train_op_fn, logits)

    def _ops(self, features: Mapping[Any, Any], mode: str, labels: Any, train_op_fn, logits: Tensor):
        check_mode(mode)
        bias = None
        if self._enable_centered_bias:
            bias = self._centered_bias()
            logits = v1.nn.bias_add(logits, bias)
        with v1.name_scope(None, "predictions", (logits,)):
            predictions = self._predictions(logits)
        loss = train_op = metrics = None
        if mode != ModeKeys.INFER and labels is not None:
            weights = self._weights(features)
            loss, average = self._loss(labels, logits, weights)
            with v1.name_scope(""):
                v1.summary.scalar(key_of(MetricKey.LOSS, self._head_name), v1.identity(average))
            if mode == ModeKeys.TRAIN:
                train_op = self._train_op(loss, labels, train_op_fn, bias, logits, weights)
            with v1.name_scope("metrics"):
                made = {MetricKey.LOSS: v1.metrics.mean(average), **self._metrics(predictions, labels, weights)}
            metrics = {key_of(name, self._head_name): metric for name, metric in made.items()}
        return ModelFnOps(
            mode, predictions, loss, train_op, metrics, {self._head_name: (self.problem_type, self._said(predictions))}
        )

    def _checked(self, logits: Any, logits_input: TensorLike | None):
        if logits is None:
            if logits_input is None:
                raise ValueError("Neither logits nor logits_input supplied.")
            return layers.linear(logits_input, self._logits_dimension, scope="logits")
        if logits_input is not None:
            raise ValueError("Both logits and logits_input supplied.")
        logits = v1.convert_to_tensor(logits, name="logits")
        if logits.shape.dims is not None:
            logits.shape.dims[-1].assert_is_compatible_with(self._logits_dimension)
        return logits

    def _found(self, labels: Any):
        """The labels of this head. Sparse ones raise ValueError."""
        found = labels[self._label_name] if isinstance(labels, dict) else labels
        if isinstance(found, v1.SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return v1.convert_to_tensor(found)

    def _weights(self, features: Mapping[Any, Any]):
        name = self._weight_column_name
        if not name:
            return None
        if name not in features:
            raise ValueError(f"Weights {name} missing from features.")
        weights = v1.cast(features[name], v1.float32)
        return v1.reshape(weights, (-1, 1)) if weights.shape.rank == 1 else weights

    def _loss(self, labels: Any, logits: Tensor, weights: Tensor | None) -> Losses:
        return self._loss_fn(labels, logits, weights=weights)

    def _centered_bias(self):
        bias = v1.Variable(v1.zeros((self._logits_dimension,)), trainable=True, name="centered_bias_weight")
        for i in range(self._logits_dimension):
            v1.summary.scalar(key_of(f"centered_bias/bias_{i}", self._head_name), bias[i])
        return bias

    def _train_op(
        self, loss: Tensor, labels: Any, train_op_fn: Callable[..., Any] | None, bias: Variable | None,
        logits: Tensor, weights: Tensor | None,
    ):  # fmt: skip
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode")
        if bias is None:
            return train_op_fn(loss)
        alone = v1.tile(v1.expand_dims(bias, 0), (v1.shape(logits)[0], 1))
        bias_loss = v1.reduce_mean(self._loss(labels, alone, weights))
        step = v1.train.AdagradOptimizer(0.1).minimize(bias_loss, var_list=(bias,))
        return v1.group(train_op_fn(loss), step)

    def _predictions(self, logits: Tensor) -> dict[str, Tensor]:
        raise NotImplementedError

    def _metrics(self, predictions: dict[str, Tensor], labels: Any, weights: Tensor | None) -> dict[str, Any]:
        """The metrics but for the loss, by their keys."""
        return {}

    def _said(self, predictions: dict[str, Tensor]) -> dict[str, Tensor]:
        """What is exported."""
        return predictions


class RegressionHead(SingleHead):
    """A head of numbers, which are a function of the logits."""

    scope, problem_type = "regression_head", ProblemType.LINEAR_REGRESSION

    def __init__(self, link_fn: Callable[..., Any], *args: Any):
        super().__init__(*args)
        self._link_fn = link_fn

    def _predictions(self, logits):
        if self._logits_dimension == 1:
            logits = v1.squeeze(logits, (1,), name=PredictionKey.SCORES)
        return {PredictionKey.SCORES: self._link_fn(logits)}


class ClassHead(SingleHead):
    """A head of classes; exports say their names and probabilities."""

    problem_type = ProblemType.CLASSIFICATION
    label_keys: Sequence[str] | None = None

    def __init__(self, *args: Any, metric_class_ids: Sequence[int] | None = None):
        super().__init__(*args)
        self._class_ids = tuple(metric_class_ids or ())
        for i in self._class_ids:
            if not 0 <= i < self._logits_dimension:
                raise ValueError(f"Class ID {i} not in [0, {self._logits_dimension}).")

    def _said(self, predictions):
        probabilities = predictions[PredictionKey.PROBABILITIES]
        shape = v1.shape(probabilities)
        names = v1.as_string(v1.range(shape[1])) if not self.label_keys else v1.constant(self.label_keys)
        classes = v1.tile(v1.expand_dims(names, 0), [shape[0], 1], name="classes_tensor")
        return {PredictionKey.PROBABILITIES: probabilities, PredictionKey.CLASSES: classes}

    def _of_classes(self, predictions: dict[str, Tensor], weights: Tensor | None):
        """The means of probabilities and logits of the classes that are asked for."""
        return {
            key % i: mean_of(predictions[what], weights, i)
            for i in self._class_ids
            for key, what in (
                (MetricKey.CLASS_PROBABILITY_MEAN, PredictionKey.PROBABILITIES),
                (MetricKey.CLASS_LOGITS_MEAN, PredictionKey.LOGITS),
            )
        }


class BinaryLogisticHead(ClassHead):
    """A head of two classes, and one logit."""

    scope, problem_type = "binary_logistic_head", ProblemType.LOGISTIC_REGRESSION

    def _predictions(self, logits):
        both = v1.concat((v1.zeros_like(logits), logits), 1)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.LOGISTIC: v1.sigmoid(logits, name=PredictionKey.LOGISTIC),
            PredictionKey.PROBABILITIES: v1.nn.softmax(both, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: v1.argmax(both, 1, name=PredictionKey.CLASSES),
        }

    def _metrics(self, predictions, labels, weights):
        logistic = predictions[PredictionKey.LOGISTIC]
        made = {
            MetricKey.ACCURACY: v1.metrics.accuracy(labels, predictions[PredictionKey.CLASSES], weights),
            MetricKey.PREDICTION_MEAN: mean_of(logistic, weights),
            MetricKey.LABEL_MEAN: mean_of(labels, weights),
            MetricKey.ACCURACY_BASELINE: mean_of(labels, weights),
            MetricKey.AUC: auc_of(logistic, labels, weights),
            MetricKey.AUC_PR: auc_of(logistic, labels, weights, curve="PR"),
        }
        for threshold in self._thresholds:
            made.update(at_threshold(logistic, labels, weights, threshold))
        return made


class BinarySvmHead(SingleHead):
    """A head of two classes that a hinge loss tells apart."""

    scope, problem_type = "binary_svm_head", ProblemType.LOGISTIC_REGRESSION

    def _predictions(self, logits):
        both = v1.concat((v1.zeros_like(logits), logits), 1)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: v1.argmax(both, 1, name=PredictionKey.CLASSES)}

    def _metrics(self, predictions, labels, weights):
        return {MetricKey.ACCURACY: v1.metrics.accuracy(labels, predictions[PredictionKey.CLASSES], weights)}


class MultiClassHead(ClassHead):
    """A head of more than two classes, given by their numbers or by names."""

    scope = "multi_class_head"

    def __init__(self, label_keys: Sequence[str] | None, *args: Any, **words: Any):
        super().__init__(*args, **words)
        if label_keys and len(label_keys) != self._logits_dimension:
            raise ValueError("Length of label_keys must equal n_classes.")
        self.label_keys = label_keys

    def _found(self, labels):
        """(the labels, their numbers)."""
        labels = super()._found(labels)
        if not self.label_keys:
            return labels, labels
        table = v1.lookup.StaticHashTable(
            v1.lookup.KeyValueTensorInitializer(
                v1.constant(self.label_keys), v1.range(len(self.label_keys), dtype=v1.int64)
            ), -1,
        )  # fmt: skip
        return labels, table.lookup(labels)

    def _loss(self, labels, logits, weights):
        return super()._loss(labels[1], logits, weights)

    def _predictions(self, logits):
        classes = v1.argmax(logits, 1, name=PredictionKey.CLASSES)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: v1.nn.softmax(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: v1.gather(v1.constant(self.label_keys), classes) if self.label_keys else classes,
        }

    def _metrics(self, predictions, labels, weights):
        labels, ids = labels
        classes = predictions[PredictionKey.CLASSES]
        made = {MetricKey.ACCURACY: v1.metrics.accuracy(labels, classes, weights)}
        if not self.label_keys:
            made.update(self._of_classes(predictions, weights))
            for i in self._class_ids:
                made[MetricKey.CLASS_PREDICTION_MEAN % i] = part_of(classes, weights, i)
                made[MetricKey.CLASS_LABEL_MEAN % i] = part_of(ids, weights, i)
        return made


class MultiLabelHead(ClassHead):
    """A head of examples that may be of several classes, or of none: labels are rows of zeros and ones."""

    scope = "multi_label_head"

    def _found(self, labels):
        found = labels[self._label_name] if isinstance(labels, dict) else labels
        if isinstance(found, v1.SparseTensor):
            return v1.cast(v1.sparse_to_indicator(found, self._logits_dimension), v1.int64)
        return v1.convert_to_tensor(found)

    def _predictions(self, logits):
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: v1.sigmoid(logits, name=PredictionKey.PROBABILITIES),
            PredictionKey.CLASSES: v1.cast(v1.greater(logits, 0), v1.int64, name=PredictionKey.CLASSES),
        }

    def _metrics(self, predictions, labels, weights):
        classes, probabilities = predictions[PredictionKey.CLASSES], predictions[PredictionKey.PROBABILITIES]
        made = {
            MetricKey.ACCURACY: v1.metrics.accuracy(labels, classes, weights),
            MetricKey.AUC: auc_of(probabilities, labels, weights),
            MetricKey.AUC_PR: auc_of(probabilities, labels, weights, curve="PR"),
            **self._of_classes(predictions, weights),
        }
        for i in self._class_ids:
            made[MetricKey.CLASS_PREDICTION_MEAN % i] = mean_of(classes, weights, i)
            made[MetricKey.CLASS_LABEL_MEAN % i] = mean_of(labels, weights, i)
            made[MetricKey.CLASS_AUC % i] = auc_of(probabilities, labels, weights, i)
            made[MetricKey.CLASS_AUC_PR % i] = auc_of(probabilities, labels, weights, i, "PR")
        return made
