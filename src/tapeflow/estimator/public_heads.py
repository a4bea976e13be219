"""Heads: what a model function makes of logits: predictions, a loss, metrics, and what it exports."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow import train
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.public import boundaries
from tapeflow.core.sparse_tensor import SparseTensor
from tapeflow.estimator import heads
from tapeflow.estimator.export import PredictOutput, RegressionOutput
from tapeflow.estimator.spec import EstimatorSpec
from tapeflow.graph.build.collections import GraphKeys, get_collection
from tapeflow.graph.build.derivatives import gradients_v1 as gradients
from tapeflow.ops.array.layout import squeeze_v1 as squeeze
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.ops.math.accumulate import add_n
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.comparison import greater
from tapeflow.ops.math.elementwise import exp
from tapeflow.ops.math.reductions_v1 import reduce_mean_v1 as reduce_mean
from tapeflow.ops.math.trigonometric import sigmoid
from tapeflow.ops.nn.sigmoid_loss import log_poisson_loss, sigmoid_cross_entropy_with_logits
from tapeflow.ops.sparse.functions import to_indicator
from tapeflow.v1 import losses as losses_
from tapeflow.v1 import metrics as metrics_
from tapeflow.v1.lookup import index_table_from_tensor

MEAN = losses_.Reduction.SUM_OVER_BATCH_SIZE

LossSpec = collections.namedtuple(
    "LossSpec", "training_loss unreduced_loss weights processed_labels"
)


def train_op_of(
    loss: Tensor, optimizer: Any, train_op_fn: Callable[..., Any] | None, variables: Sequence[Any] | None = None,
    update_ops: Sequence[Any] | None = None,
) -> Any:  # fmt: skip
    """What makes a step, after the updates of normalizations.

    Args:
      loss: what is minimized.
      optimizer, train_op_fn: an optimizer, of Keras's too, or a function of the loss that returns what makes a step.
      variables: those that are trained; by default the graph's.
      update_ops: what runs before; by default what the graph has collected.

    Raises ValueError for both of an optimizer and a function, and for none.
    """
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if train_op_fn is not None:
        return train_op_fn(loss)
    if optimizer is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    with control_dependencies(get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)):
        if isinstance(optimizer, train.Optimizer):
            return optimizer.minimize(loss, train.get_global_step(), var_list=variables)
        if variables is None:
            variables = get_collection(GraphKeys.TRAINABLE_VARIABLES)
        pairs = zip(gradients(loss, variables), variables, strict=True)
        step = optimizer.apply_gradients([(g, v) for g, v in pairs if g is not None])
    with control_dependencies([step]):
        return train.get_global_step().assign_add(1).op


class PublicHead:
    """A head of `tf.estimator` with the methods of `tf.contrib.estimator`'s.

    Args:
      kind: what labels and logits mean.
      name: what ends the names of metrics.
      loss_fn: a function of `labels` and `logits` (and where it takes these `features` and `loss_reduction`) that
        returns the losses of examples; by default the kind's.
    """

    def __init__(self, kind, name=None, loss_fn=None):
        self.kind, self._name = kind, name
        if loss_fn is not None:
            if not callable(loss_fn):
                raise TypeError("loss_fn must be callable.")
            kind.losses = lambda labels, logits: loss_fn(labels=labels, logits=logits)

    @property
    def name(self):
        """The name, or None."""
        return self._name

    @property
    def logits_dimension(self):
        """How many logits an example has."""
        return self.kind.logits_dimension

    def create_loss(self, features, mode: str, logits: TensorLike, labels: TensorLike):
        """A LossSpec: the loss of a batch, of each example, the weights and the labels as they are compared."""
        return LossSpec(*self.kind.loss_of(features, logits, labels))

    def loss(
        self, labels: TensorLike, logits: Tensor, features: Any = None, mode: str | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> Tensor:  # fmt: skip
        """The loss of a batch, a scalar, with `regularization_losses` added."""
        own, *_ = self.kind.loss_of(features, logits, labels)
        return add_n([own, *(regularization_losses or ())])

    def predictions(self, logits: Tensor, keys: Sequence[str] | None = None) -> dict[Any, Any]:
        """What the head says of each example, by name; only `keys` where they are given."""
        found = self.kind.predictions(logits)
        return found if keys is None else {key: found[key] for key in keys}

    def create_estimator_spec(
        self, features: Any, mode: str, logits: Tensor, labels: TensorLike | None = None, optimizer: Any = None,
        train_op_fn: Callable[..., Any] | None = None, regularization_losses: Sequence[Tensor] | None = None,
        trainable_variables: Sequence[Any] | None = None, update_ops: Sequence[Any] | None = None,
    ) -> EstimatorSpec:  # fmt: skip
        """An EstimatorSpec.

        Args:
          optimizer, train_op_fn: an optimizer, or a function of the loss that returns what makes a step.
          regularization_losses: scalars that are added to the loss.
          trainable_variables: what the optimizer trains; by default the graph's trainable variables.
          update_ops: what a step runs before; by default what the graph has collected.

        Raises ValueError for logits and labels that do not fit, and for both or none of the optimizers.
        """
        width = logits.shape[-1]
        if width is not None and int(width) != self.logits_dimension:
            raise ValueError(
                f"logits shape must be [D0, D1, ... DN, logits_dimension={self.logits_dimension}]; got {logits.shape}"
            )
        spec = self.kind.spec(
            features, mode, labels, logits,
            lambda loss: train_op_of(loss, optimizer, train_op_fn, trainable_variables, update_ops),
            regularization_losses or (),
        )  # fmt: skip
        if not self._name:
            return spec
        return spec._replace(
            eval_metric_ops={f"{key}/{self._name}": pair for key, pair in spec.eval_metric_ops.items()}
        )


class MultiClassHead(PublicHead):
    """A head for more than two classes. Raises ValueError for fewer."""

    def __init__(
        self, n_classes: int, weight_column: Any = None, label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = MEAN, loss_fn: Callable[..., Any] | None = None, name: str | None = None,
    ):  # fmt: skip
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        super().__init__(heads.Classes(n_classes, weight_column, label_vocabulary, loss_reduction), name, loss_fn)


def _with_thresholds(kind, thresholds):
    """Adds accuracy, precision and recall at thresholds to a kind's metrics. Raises ValueError outside (0, 1)."""
    thresholds = tuple(thresholds or ())
    for one in thresholds:
        if not 0.0 < one < 1.0:
            raise ValueError(f"thresholds not in (0, 1): {thresholds}.")
    own = kind.metrics

    def metrics(labels, predictions, weights):
        likely = predictions["probabilities" if "logistic" not in predictions else "logistic"]
        found = dict(own(labels, predictions, weights))
        for one in thresholds:
            said = cast(greater(likely, one), dtypes.float32)
            end = f"positive_threshold_{one:g}"
            found[f"accuracy/{end}"] = metrics_.accuracy(labels, cast(said, labels.dtype), weights)
            found[f"precision/{end}"] = metrics_.precision_at_thresholds(labels, likely, [one], weights)
            found[f"recall/{end}"] = metrics_.recall_at_thresholds(labels, likely, [one], weights)
            for key in (f"precision/{end}", f"recall/{end}"):
                value, update = found[key]
                found[key] = (squeeze(value), squeeze(update))
        return found

    kind.metrics = metrics
    return kind


class BinaryClassHead(PublicHead):
    """A head for two classes, with one logit; metrics also at `thresholds` between 0 and 1."""

    def __init__(
        self, weight_column: Any = None, thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None, loss_reduction: str = MEAN,
        loss_fn: Callable[..., Any] | None = None, name: str | None = None,
    ):  # fmt: skip
        kind = heads.Classes(2, weight_column, label_vocabulary, loss_reduction)
        super().__init__(_with_thresholds(kind, thresholds), name, loss_fn)


class RegressionHead(PublicHead):
    """A head for numbers; `inverse_link_fn` makes them of logits."""

    def __init__(
        self, label_dimension: int = 1, weight_column: Any = None, loss_reduction: str = MEAN,
        loss_fn: Callable[..., Any] | None = None, inverse_link_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ):  # fmt: skip
        kind = heads.Numbers(label_dimension, weight_column, loss_reduction)
        super().__init__(_linked(kind, inverse_link_fn), name, loss_fn)


def regression_head(
    weight_column=None, label_dimension: int = 1, loss_reduction: str = MEAN, loss_fn=None,
    inverse_link_fn=None, name: str | None = None,
):
    """A `RegressionHead`; its arguments as `tf.contrib.estimator` orders them."""
    return RegressionHead(label_dimension, weight_column, loss_reduction, loss_fn, inverse_link_fn, name)


def _linked(kind, inverse_link_fn):
    if inverse_link_fn is None:
        return kind

    def predictions(logits: TensorLike):
        return {"predictions": inverse_link_fn(logits), "logits": logits}

    def exports(found):
        value = RegressionOutput(found["predictions"])
        return {"serving_default": value, "regression": value, "predict": PredictOutput(found)}

    kind.predictions, kind.exports = predictions, exports
    return kind


class PoissonRegressionHead(RegressionHead):
    """A head for counts: logits are the logarithms of their means."""

    def __init__(
        self, label_dimension: int = 1, weight_column: Any = None, loss_reduction: str = MEAN,
        compute_full_loss: bool = True, name: str | None = None,
    ):  # fmt: skip
        def loss(labels: Tensor, logits: Tensor) -> Tensor:
            return log_poisson_loss(labels, logits, compute_full_loss=compute_full_loss)

        super().__init__(label_dimension, weight_column, loss_reduction, loss, exp, name)


def poisson_regression_head(
    weight_column=None, label_dimension: int = 1, loss_reduction=MEAN, compute_full_loss: bool = True,
    name: str | None = None,
):
    """A `PoissonRegressionHead`; its arguments as `tf.contrib.estimator` orders them."""
    return PoissonRegressionHead(label_dimension, weight_column, loss_reduction, compute_full_loss, name)


class LogisticRegressionHead(RegressionHead):
    """A head for numbers between 0 and 1."""

    def __init__(self, weight_column: Any = None, loss_reduction: str = MEAN, name: str | None = None):
        def loss(labels: Tensor, logits: Tensor) -> Tensor:
            return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

        super().__init__(1, weight_column, loss_reduction, loss, sigmoid, name)


class _ManyLabels(heads.Head):
    """Several classes at once: labels are (n, classes) of 0 and 1, or sparse tensors of numbers or names."""

    def __init__(self, number, weight_column, vocabulary, reduction):
        super().__init__(weight_column, reduction)
        if number is None or number < 2:
            raise ValueError(f"n_classes must be > 1 for multi-label classification. Given: {number}")
        if vocabulary and len(vocabulary) != number:
            raise ValueError(
                f"Length of label_vocabulary must be n_classes={number}. Given: {len(vocabulary)}"
            )
        self._names = list(vocabulary or ())
        self.logits_dimension = number

    def labels(self, labels: TensorLike):
        """(n, classes) of 0 and 1."""
        if isinstance(labels, SparseTensor):
            if labels.dtype == dtypes.string:
                table = index_table_from_tensor(self._names)
                labels = table.lookup(labels)
            labels = to_indicator(cast(labels, dtypes.int64), self.logits_dimension)
        return cast(labels, dtypes.float32)

    def losses(self, labels: TensorLike, logits: TensorLike):
        """The mean over the classes, (n, 1)."""
        found = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return reduce_mean(found, axis=-1, keepdims=True)

    def predictions(self, logits: TensorLike):
        """The logits and the probabilities of all classes."""
        return {"logits": logits, "probabilities": sigmoid(logits, name="probabilities")}

    def exports(self, predictions: TensorLike):
        """What the model exports."""
        value = PredictOutput(predictions)
        return {"serving_default": value, "predict": value}

    def metrics(self, labels, predictions, weights):
        """(value, update) by name."""
        likely = predictions["probabilities"]
        return {
            "auc": metrics_.auc(labels, likely, weights),
            "auc_precision_recall": metrics_.auc(
                labels, likely, weights, curve="PR", summation_method="careful_interpolation"
            ),
        }


class MultiLabelHead(PublicHead):
    """A head for several classes at once; metrics also at `thresholds`, and for some classes by themselves."""

    def __init__(
        self, n_classes: int, weight_column: Any = None, thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None, loss_reduction: str = MEAN,
        loss_fn: Callable[..., Any] | None = None, classes_for_class_based_metrics: Sequence[Any] | None = None,
        name: str | None = None,
    ):  # fmt: skip
        kind: Any = _ManyLabels(n_classes, weight_column, label_vocabulary, loss_reduction)
        names, own = list(label_vocabulary or ()), kind.metrics

        def metrics(labels: Tensor, predictions: dict[str, Any], weights: Any) -> dict[str, Any]:
            found = dict(own(labels, predictions, weights))
            for chosen in classes_for_class_based_metrics or ():
                i = names.index(chosen) if isinstance(chosen, str) else chosen
                likely = predictions["probabilities"][:, i : i + 1]
                end = names[i] if names else f"class{i}"
                found[f"probability_mean/{end}"] = metrics_.mean(likely, weights)
                found[f"auc/{end}"] = metrics_.auc(labels[:, i : i + 1], likely, weights)
            return found

        kind.metrics = metrics
        super().__init__(_with_thresholds(kind, thresholds), name, loss_fn)


boundaries(globals())
