"""Heads of estimators of `tf.contrib.learn` that estimate distributions of labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib.layers import linear
from tapeflow.contrib.learn.spec import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from tapeflow.core.annotations import Tensor, TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.public import boundaries, public
from tapeflow.ops.array.joining import concat
from tapeflow.ops.array.layout import reshape, squeeze
from tapeflow.ops.array.rows import identity
from tapeflow.ops.array.sizes import shape as shape_of
from tapeflow.ops.array.tiling import tile
from tapeflow.ops.control.grouping import group
from tapeflow.ops.linear_operator.arguments import static_size
from tapeflow.ops.math.casting import cast
from tapeflow.ops.math.reductions import reduce_mean, reduce_sum
from tapeflow.v1.metrics.weighting import broadcast_weights

__all__ = ["estimator_head_distribution_regression"]


@public
def estimator_head_distribution_regression(
    make_distribution_fn: Callable[..., Any], label_dimension: int = 1, logits_dimension: int | None = None,
    label_name: str | None = None, weight_column_name: str | None = None, enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Any:  # fmt: skip
    """Make the head of a regression whose loss is the negative log probability of labels.

    Args:
      make_distribution_fn: gives the distribution of labels, of logits [batch, logits].
      label_dimension: how many numbers a label has.
      logits_dimension: how many logits there are; None: as many as numbers of a label.
      label_name: the key of labels that are a dict.
      weight_column_name: the key of the feature that has weights of examples; None: all weigh the same.
      enable_centered_bias: whether logits have a bias that is trained by itself.
      head_name: the name of what the head makes.

    Returns:
      A head: `head.create_model_fn_ops(features, mode, labels, train_op_fn, logits, logits_input)` makes a
      `ModelFnOps`, `head.distribution(logits)` the distribution, and `head.distributions` has those that were made.

    Raises:
      TypeError: where `make_distribution_fn` is not callable.
      ValueError: where `logits_dimension` is not positive.
    """
    if not callable(make_distribution_fn):
        raise TypeError("`make_distribution_fn` must be a callable function.")
    size = label_dimension if logits_dimension is None else logits_dimension
    if size is None or size < 1:
        raise ValueError(f"Invalid logits_dimension {size}.")
    return _Head(make_distribution_fn, size, label_name, weight_column_name, enable_centered_bias, head_name)


class _Head:
    def __init__(
        self, make_distribution: Callable[..., Any], size: int, label_name: str | None, weight_column: str | None,
        enable_centered_bias: bool, name: str | None,
    ):  # fmt: skip
        self._make_distribution, self._has_bias = make_distribution, enable_centered_bias
        self.logits_dimension, self.label_name, self.weight_column_name = size, label_name, weight_column
        self.head_name = name
        self._made: list[tuple[Tensor, Any]] = []

    @property
    def distributions(self) -> dict[Any, Any]:
        """{logits: the distribution that was made of them}."""
        return dict(self._made)

    def distribution(self, logits: Tensor, name: str | None = None) -> Any:
        """The distribution of these logits, which is made once."""
        for known, made in self._made:
            if known is logits:
                return made
        with v1.name_scope(name, "distribution", [logits]):
            made = self._make_distribution(logits)
        self._made.append((logits, made))
        return made

    def create_model_fn_ops(
        self, features: Mapping[str, Tensor], mode: str, labels: Any = None,
        train_op_fn: Callable[..., Any] | None = None, logits: TensorLike | None = None,
        logits_input: TensorLike | None = None, scope: str | None = None,
    ) -> ModelFnOps:  # fmt: skip
        """Make the operations of a model.

        Args:
          features: {key: tensor}.
          mode: a `ModeKeys`.
          labels: [batch, label], or a dict of them.
          train_op_fn: makes a training step, of the loss.
          logits: [batch, logits]; None: a linear layer of `logits_input`.
          logits_input: [batch, units].
          scope: of the variables.

        Raises:
          ValueError: for an unknown mode, where not one of `logits` and `logits_input` is given, and in training
            without `train_op_fn`.
        """
        ModeKeys.validate(mode)
        with v1.variable_scope(scope, default_name=self.head_name or "regression_head"):
            of_examples: Any = self._logits(logits, logits_input)
            bias = None
            if self._has_bias:
                bias = v1.Variable(v1.zeros([self.logits_dimension]), name="centered_bias_weight")
                of_examples = of_examples + bias
            predictions = {PredictionKey.SCORES: self.distribution(self._flat(of_examples)).mean()}
            loss = step = metrics = None
            if mode != ModeKeys.INFER and labels is not None:
                labels = convert_to_tensor(labels[self.label_name] if isinstance(labels, dict) else labels)
                weights = self._weights(features)
                loss, average = self._loss(labels, of_examples, weights)
                key = f"loss/{self.head_name}" if self.head_name else "loss"
                with v1.name_scope(""):
                    v1.summary.scalar(key, identity(average))
                if mode == ModeKeys.TRAIN:
                    step = self._step(loss, train_op_fn, bias, labels, of_examples, weights)
                metrics = {key: v1.metrics.mean(average)}
            outputs: Any = {self.head_name: (ProblemType.LINEAR_REGRESSION, predictions)}
            return ModelFnOps(mode, predictions, loss, step, metrics, outputs)

    def _weights(self, features: Mapping[str, Tensor]) -> Tensor | None:
        """Weights [batch, 1] of examples, or None."""
        if not self.weight_column_name:
            return None
        if self.weight_column_name not in features:
            raise ValueError(f"Weights {self.weight_column_name} missing from features.")
        weights = cast(features[self.weight_column_name], "float32")
        return reshape(weights, [-1, 1]) if weights.shape.rank == 1 else weights

    def _logits(self, logits: TensorLike | None, logits_input: TensorLike | None) -> Tensor:
        if logits is None:
            if logits_input is None:
                raise ValueError("Neither logits nor logits_input supplied.")
            return linear(logits_input, self.logits_dimension, scope="logits")
        if logits_input is not None:
            raise ValueError("Both logits and logits_input supplied.")
        logits = convert_to_tensor(logits)
        if static_size(logits.shape, -1) not in (None, self.logits_dimension):
            raise ValueError(f"Dimensions {logits.shape[-1]} and {self.logits_dimension} are not compatible")
        return logits

    def _flat(self, logits: Tensor) -> Tensor:
        """What the mean is made of: one logit of each example without its axis."""
        return squeeze(logits, [1]) if self.logits_dimension == 1 else logits

    def _loss(self, labels: Tensor, logits: Tensor, weights: TensorLike | None) -> tuple[Tensor, Tensor]:
        """The mean loss of examples, and their weighted average."""
        made = self.distribution(logits)
        losses = -made.log_prob(reshape(labels, concat([shape_of(labels)[:-1], made.event_shape_tensor()], 0)))
        if weights is None:
            return (reduce_mean(losses),) * 2
        weights = broadcast_weights(cast(weights, losses.dtype), losses)
        return reduce_mean(losses * weights), reduce_sum(losses * weights) / reduce_sum(weights)

    def _step(
        self, loss: Tensor, train_op_fn: Callable[..., Any] | None, bias: Any, labels: Tensor, logits: Tensor,
        weights: TensorLike | None,
    ) -> Any:  # fmt: skip
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode")
        step = train_op_fn(loss)
        if bias is None:
            return step
        # The bias alone is trained to fit the labels.
        count = shape_of(logits)[0]
        alone, _ = self._loss(labels, reshape(tile(bias, [count]), [count, self.logits_dimension]), weights)
        return group(step, v1.train.AdagradOptimizer(0.1).minimize(alone, var_list=[bias]))


boundaries(globals())
