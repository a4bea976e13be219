"""Heads: what a canned estimator makes of logits: predictions, a loss, metrics, and what it exports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor_v1 as convert_to_tensor
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.estimator.export import (
    DEFAULT,
    ClassificationOutput,
    PredictOutput,
    RegressionOutput,
)
from tapeflow.estimator.spec import EstimatorSpec, ModeKeys
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import expand_dims_v1 as expand_dims
from tapeflow.ops.array.layout import reshape
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape_v1 as shape
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.indexing.gather import gather_v1 as gather
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.math.argmax import argmax_v1 as argmax
from tapeflow.ops.math.arithmetic import maximum
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.trigonometric import sigmoid
from tapeflow.ops.nn.loss import (
    sparse_softmax_cross_entropy_with_logits_v1 as sparse_softmax_cross_entropy_with_logits,
)
from tapeflow.ops.nn.sigmoid_loss import sigmoid_cross_entropy_with_logits
from tapeflow.ops.nn.softmax import softmax_v1 as softmax
from tapeflow.ops.string.numbers import as_string
from tapeflow.v1 import losses, metrics
from tapeflow.v1.lookup import index_table_from_tensor

# What reductions of losses are called in Keras.
_KERAS_REDUCTIONS = {
    "none": losses.Reduction.NONE,
    "sum": losses.Reduction.SUM,
    "sum_over_batch_size": losses.Reduction.SUM_OVER_BATCH_SIZE,
}


class Head:
    """What logits mean.

    Args:
      weight_column: the name of the feature that has the examples' weights.
      reduction: of the loss of a batch, a `tf.losses.Reduction`.
    """

    logits_dimension = 1

    def __init__(self, weight_column, reduction: str):
        self._weight_column, self._reduction = weight_column, _KERAS_REDUCTIONS.get(reduction, reduction)

    def spec(self, features, mode, labels, logits, make_train_op, regularization_losses=()):
        """The EstimatorSpec of a model with these logits. Raises ValueError for labels that do not fit."""
        predictions = self.predictions(logits)
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions, export_outputs=self.exports(predictions))
        loss, unreduced, weights, labels = self.loss_of(features, logits, labels)
        found = {}
        if regularization_losses:
            added = add_n(list(regularization_losses))
            found["regularization_loss"] = metrics.mean(added)
            loss += added
        if mode == ModeKeys.EVAL:
            found["average_loss"] = metrics.mean(unreduced, weights)
            found |= self.metrics(labels, predictions, weights)
            return EstimatorSpec(mode, predictions, loss, eval_metric_ops=found)
        return EstimatorSpec(mode, predictions, loss, make_train_op(loss))

    def loss_of(self, features, logits, labels):
        """(the loss of a batch, of each example, the weights, the labels as they are compared)."""
        if labels is None:
            raise ValueError("You must provide a labels Tensor. Given: None.")
        sparse = isinstance(labels, SparseTensor)
        labels = self.labels(labels if sparse else convert_to_tensor(labels))
        weights = self._weights(features)
        unreduced = self.losses(labels, logits)
        loss = losses.compute_weighted_loss(unreduced, weights, reduction=self._reduction)
        return loss, unreduced, weights, labels

    def _weights(self, features: dict[str, Any]):
        if self._weight_column is None:
            return 1.0
        column = self._weight_column
        weights = features[column if isinstance(column, str) else column.key]
        return reshape(cast(weights, dtypes.float32), [-1, 1])


class Classes(Head):
    """One of several classes; of two classes there is one logit.

    Raises ValueError for fewer than two classes, and for another number of names.
    """

    def __init__(self, number: int, weight_column, vocabulary: Sequence[str] | None, reduction: str):
        super().__init__(weight_column, reduction)
        if number < 2:
            raise ValueError(f"n_classes must be >= 2. Given: {number}")
        if vocabulary and len(vocabulary) != number:
            raise ValueError(
                f"Length of label_vocabulary must be n_classes={number}. Given: {len(vocabulary)}"
            )
        self._number, self._names = number, list(vocabulary or ())
        self._binary = number == 2
        self.logits_dimension = 1 if self._binary else number

    def labels(self, labels: Tensor):
        """Numbers of classes, (n, 1)."""
        if self._names:
            if labels.dtype != dtypes.string:
                raise ValueError(
                    f"Labels dtype should be string when label_vocabulary is given. Instead got {labels.dtype}"
                )
            labels = index_table_from_tensor(self._names).lookup(labels)
        elif labels.dtype == dtypes.string:
            raise ValueError("Labels are strings: label_vocabulary must be given.")
        labels = labels if labels.shape.rank != 1 else expand_dims(labels, 1)
        return cast(labels, dtypes.float32 if self._binary else dtypes.int64)

    def losses(self, labels: Tensor, logits: Tensor):
        """The loss of each example, (n, 1)."""
        if self._binary:
            return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        found = sparse_softmax_cross_entropy_with_logits(
            labels=reshape(labels, [-1]), logits=logits
        )
        return expand_dims(found, 1)

    def predictions(self, logits: Tensor):
        """What is said of each example."""
        made = {"logits": logits}
        both = logits
        if self._binary:
            made["logistic"] = sigmoid(logits, name="logistic")
            both = concat([logits * 0, logits], 1)
        made["probabilities"] = softmax(both, name="probabilities")
        ids = expand_dims(argmax(both, axis=1), 1)
        names = convert_to_tensor(np.array(self._names or list(map(str, range(self._number)))))
        count = shape(logits)[0]
        numbers = convert_to_tensor(np.arange(self._number, dtype=np.int32))
        return made | {
            "class_ids": ids,
            "classes": gather(names, ids) if self._names else as_string(ids),
            "all_class_ids": tile(expand_dims(numbers, 0), [count, 1]),
            "all_classes": tile(expand_dims(names, 0), [count, 1]),
        }

    def exports(self, predictions: dict[str, Any]):
        """What the model exports."""
        classes = ClassificationOutput(predictions["probabilities"], predictions["all_classes"])
        made = {DEFAULT: classes, "classification": classes, "predict": PredictOutput(predictions)}
        if self._binary:
            made["regression"] = RegressionOutput(predictions["logistic"])
        return made

    def metrics(self, labels: Tensor, predictions: dict[str, Any], weights: float):
        """(value, update) by name."""
        ids = predictions["class_ids"]
        found = {"accuracy": metrics.accuracy(labels, cast(ids, labels.dtype), weights)}
        if not self._binary:
            return found
        likely = predictions["logistic"]
        of_labels = metrics.mean(labels, weights)
        return found | {
            "precision": metrics.precision(labels, ids, weights),
            "recall": metrics.recall(labels, ids, weights),
            "auc": metrics.auc(labels, likely, weights),
            "auc_precision_recall": metrics.auc(
                labels, likely, weights, curve="PR", summation_method="careful_interpolation"
            ),
            "label/mean": of_labels,
            "prediction/mean": metrics.mean(likely, weights),
            "accuracy_baseline": (maximum(of_labels[0], 1 - of_labels[0]), of_labels[1]),
        }


class Numbers(Head):
    """Numbers as they are."""

    def __init__(self, dimension: int, weight_column: str | None, reduction: str):
        super().__init__(weight_column, reduction)
        if dimension < 1:
            raise ValueError(f"Invalid label_dimension {dimension}.")
        self.logits_dimension = dimension

    def labels(self, labels: Tensor):
        """(n, dimension)."""
        labels = cast(labels, dtypes.float32)
        labels = labels if labels.shape.rank != 1 else expand_dims(labels, 1)
        if labels.shape[-1] not in (None, self.logits_dimension):
            raise ValueError(
                "Mismatched label shape. Expected labels dimension="
                f"{self.logits_dimension}.  Received {labels.shape[-1]}. Suggested Fix:If your classifier expects "
                "one-hot encoding label,check your n_classes argument to the estimator and/or the shape of your label."
            )
        return labels

    def losses(self, labels: Tensor, logits: Tensor):
        """The squared errors."""
        return (labels - logits) ** 2

    def predictions(self, logits: Tensor):
        """The numbers."""
        return {"predictions": identity(logits)}

    def exports(self, predictions: dict[str, Any]):
        """What the model exports."""
        value = RegressionOutput(predictions["predictions"])
        return {DEFAULT: value, "regression": value, "predict": PredictOutput(predictions)}

    def metrics(self, labels: Tensor, predictions: dict[str, Any], weights: TensorLike):
        """(value, update) by name."""
        return {
            "prediction/mean": metrics.mean(predictions["predictions"], weights),
            "label/mean": metrics.mean(labels, weights),
        }
