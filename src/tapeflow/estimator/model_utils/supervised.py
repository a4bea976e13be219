"""What the graphs of an exported model give that train and evaluate it: loss, predictions and metrics."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

from tapeflow.core.convert import constant, is_tensor
from tapeflow.estimator.export import ExportOutput
from tapeflow.graph.operation import Operation
from tapeflow.ops.control.grouping import control_dependencies
from tapeflow.saved_model.signature_defs import (
    supervised_eval_signature_def,
    supervised_train_signature_def,
)


class SupervisedOutput(ExportOutput, abc.ABC):
    """Loss, predictions and metrics, each a dict of tensors by name.

    Args:
      loss: a dict of tensors, or one.
      predictions: a dict of tensors, or one.
      metrics: by name, pairs of a value and what updates it, or metrics of Keras.
    """

    LOSS_NAME = "loss"
    PREDICTIONS_NAME = "predictions"
    METRICS_NAME = "metrics"
    METRIC_VALUE_SUFFIX = "value"
    METRIC_UPDATE_SUFFIX = "update_op"
    _signature: ClassVar[Any]

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None):
        self.loss = None if loss is None else _tensors(loss, self.LOSS_NAME)
        self.predictions = (
            None if predictions is None else _tensors(predictions, self.PREDICTIONS_NAME)
        )
        self.metrics = None if metrics is None else self._parts_of_metrics(metrics)

    def _parts_of_metrics(self, metrics: Any) -> dict[str, Any]:
        named = metrics if isinstance(metrics, dict) else {self.METRICS_NAME: metrics}
        found: dict[str, Any] = {}
        for name, metric in named.items():
            if hasattr(metric, "result"):
                value = metric.result()
                update = metric.updates[-1] if getattr(metric, "updates", None) else value
            else:
                value, update = metric
            if not is_tensor(value):
                raise ValueError(f"{name} output value must be a Tensor; got {value}.")
            if not is_tensor(update) and not isinstance(update, Operation):
                raise ValueError(f"{name} update_op must be a Tensor or Operation; got {update}.")
            if isinstance(update, Operation):  # a signature names tensors
                with control_dependencies([update]):
                    update = constant([])
            found[f"{_joined(name)}/{self.METRIC_VALUE_SUFFIX}"] = value
            found[f"{_joined(name)}/{self.METRIC_UPDATE_SUFFIX}"] = update
        return found

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The signature, as a message.

        Args:
          receiver_tensors: what is fed, by name.
        """
        outputs: dict[str, Any] = {}
        for tensors, kind in (
            (self.loss, self.LOSS_NAME), (self.predictions, self.PREDICTIONS_NAME), (self.metrics, self.METRICS_NAME),
        ):  # fmt: skip
            outputs.update(
                {_prefixed(name, kind): tensor for name, tensor in (tensors or {}).items()}
            )
        return type(self)._signature(receiver_tensors, outputs)


class TrainOutput(SupervisedOutput):
    """What training gives."""

    _signature = staticmethod(supervised_train_signature_def)


class EvalOutput(SupervisedOutput):
    """What evaluation gives."""

    _signature = staticmethod(supervised_eval_signature_def)


def _tensors(given: Any, kind: str) -> dict[str, Any]:
    """Tensors by name. Raises ValueError for values that are no tensors."""
    named = (
        {_joined(key): value for key, value in given.items()}
        if isinstance(given, dict)
        else {kind: given}
    )
    for key, value in named.items():
        if not is_tensor(value):
            raise ValueError(f"{kind} output value must be a Tensor; got {value} for {key!r}.")
    return named


def _joined(key: Any) -> str:
    """A key of a dict, which may be a tuple of names, as one name. Raises ValueError for another."""
    parts = key if isinstance(key, tuple) else (key,)
    if not all(isinstance(part, str) for part in parts):
        raise ValueError(f"Keys of outputs must be strings or tuples of strings; got {key!r}.")
    return "/".join(parts)


def _prefixed(name: str, kind: str) -> str:
    return name if name.startswith(kind) else f"{kind}/{name}"
