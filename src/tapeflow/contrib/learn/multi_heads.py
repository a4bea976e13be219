"""A head of several heads, and one of losses alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.compat import v1
from tapeflow.contrib.learn.metric_key import MetricKey, key_of
from tapeflow.contrib.learn.single_heads import Head, check_mode
from tapeflow.contrib.learn.spec import ModeKeys, ModelFnOps
from tapeflow.core.annotations import Tensor, TensorLike


def no_op_train_fn(loss: TensorLike):
    """A training step that does nothing."""
    return v1.no_op()


class LossOnlyHead(Head):
    """A head without logits; see `loss_only_head`."""

    def __init__(self, loss_fn: Callable[..., Any], head_name: str | None = None):
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self):
        return 0

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):  # fmt: skip
        check_mode(mode)
        loss = train_op = None
        if mode != ModeKeys.INFER:
            with v1.variable_scope(scope, self.head_name):
                loss = self._loss_fn()
                if isinstance(loss, list):
                    loss = v1.add_n(loss)
                with v1.name_scope(""):
                    v1.summary.scalar(key_of(MetricKey.LOSS, self.head_name), v1.identity(loss))
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    train_op = train_op_fn(loss)
        return ModelFnOps(mode, {}, loss, train_op, {})


class MultiHead(Head):
    """A head of several; see `multi_head`. Predictions are by the name of a head and the key of its own."""

    def __init__(self, heads: Sequence[Any], loss_weights: Sequence[float] | None):
        if not all(head.head_name for head in heads):
            raise ValueError("Members of MultiHead must have names.")
        self._heads, self._loss_weights = list(heads), loss_weights

    @property
    def logits_dimension(self):
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):  # fmt: skip
        check_mode(mode)
        parts = [None] * len(self._heads) if logits is None else self._parts(logits)
        made = [
            head.create_model_fn_ops(features, mode, labels, no_op_train_fn, part, logits_input, scope)
            for head, part in zip(self._heads, parts, strict=True)
        ]
        predictions = {
            (head.head_name, key): value
            for head, ops in zip(self._heads, made, strict=True)
            for key, value in ops.predictions.items()
        }
        if mode == ModeKeys.INFER:
            said = {name: each for ops in made for name, each in (ops.output_alternatives or {}).items()}
            return ModelFnOps(mode, predictions, output_alternatives=said)
        loss = self._total([ops.loss for ops in made])
        metrics = {key: metric for ops in made for key, metric in (ops.eval_metric_ops or {}).items()}
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode, predictions, loss, eval_metric_ops=metrics)
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        train_op = v1.group(train_op_fn(loss), *(ops.train_op for ops in made))
        return ModelFnOps(mode, None, loss, train_op, metrics)

    def _parts(self, logits: Any):
        """The logits of each head: by its name, or the next columns."""
        if isinstance(logits, dict):
            return [None if head.logits_dimension == 0 else logits[head.head_name] for head in self._heads]
        return v1.split(logits, [head.logits_dimension for head in self._heads], 1)

    def _total(self, losses: Sequence[Tensor]):
        if self._loss_weights:
            losses = [v1.multiply(loss, w) for loss, w in zip(losses, self._loss_weights, strict=True)]
        return v1.add_n(losses)
