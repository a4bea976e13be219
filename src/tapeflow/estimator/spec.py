"""`EstimatorSpec`: what a model function gives back, for training, evaluation or prediction."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor, is_tensor
from tapeflow.graph.operation import Operation
from tapeflow.ops.array.layout import reshape
from tapeflow.train.scaffold import Scaffold


class ModeKeys:
    """What a model is made for."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class EstimatorSpec(
    collections.namedtuple(
        "EstimatorSpec",
        "mode predictions loss train_op eval_metric_ops export_outputs training_chief_hooks training_hooks "
        "scaffold evaluation_hooks prediction_hooks",
    )
):
    """Operations and objects of a model.

    Args:
      mode: a ModeKeys.
      predictions: a tensor, or a dict of them.
      loss: a scalar, or of one element.
      train_op: what makes a step.
      eval_metric_ops: a dict of (value, update) pairs or of metrics.
      export_outputs: a dict of `tf.estimator.export.ExportOutput`.
      training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks: SessionRunHooks.

    Raises ValueError for what the mode lacks, TypeError for what is of another kind.
    """

    # What a model's own metrics may not be called.
    reserved_metrics: tuple[str, ...] = ("loss", "global_step")

    def __new__(
        cls, mode: str, predictions: dict[str, Any] | None = None, loss: Tensor | None = None,
        train_op: Operation | None = None, eval_metric_ops: dict[str, Any] | None = None,
        export_outputs: dict[str, Any] | None = None, training_chief_hooks: Sequence[Any] | None = None,
        training_hooks: Sequence[Any] | None = None, scaffold=None, evaluation_hooks: Sequence[Any] | None = None,
        prediction_hooks: Sequence[Any] | None = None,
    ):  # fmt: skip
        if mode == ModeKeys.TRAIN and train_op is None:
            raise ValueError("Missing train_op.")
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL) and loss is None:
            raise ValueError("Missing loss.")
        if mode == ModeKeys.PREDICT and predictions is None:
            raise ValueError("Missing predictions.")
        if train_op is not None and not (is_tensor(train_op) or isinstance(train_op, Operation)):
            raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
        scaffold = scaffold or Scaffold()
        if not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        return super().__new__(
            cls, mode, _predictions(predictions, mode), None if loss is None else _scalar(loss), train_op,
            _metrics(eval_metric_ops), _outputs(export_outputs), _hooks(training_chief_hooks), _hooks(training_hooks),
            scaffold, _hooks(evaluation_hooks), _hooks(prediction_hooks),
        )  # fmt: skip


def _predictions(predictions: dict[str, Any] | None, mode: str):
    if predictions is None:
        return {}
    for tensor in predictions.values() if isinstance(predictions, dict) else [predictions]:
        if not is_tensor(tensor):
            raise TypeError(f"predictions must be Tensor, given: {tensor}")
    return predictions


def _scalar(loss: Tensor):
    loss = convert_to_tensor(loss)
    if not loss.shape.is_compatible_with([]) and loss.shape.num_elements() != 1:
        raise ValueError(f"Loss must be scalar, given: {loss}")
    return loss if loss.shape.rank == 0 else reshape(loss, [])


def _metrics(given: dict[str, Any] | None):
    given = {} if given is None else given
    if not isinstance(given, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {given}")
    for name, pair in given.items():
        if not hasattr(pair, "update_state") and not (isinstance(pair, tuple) and len(pair) == 2):
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                f"{pair} for key: {name}"
            )
    return given


def _outputs(given: dict[str, Any] | None):
    if given is not None and not isinstance(given, dict):
        raise TypeError(f"export_outputs must be dict, given: {given}")
    return given


def _hooks(hooks: Sequence[Any] | None):
    hooks = tuple(hooks or ())
    for hook in hooks:
        if not hasattr(hook, "before_run"):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return hooks
