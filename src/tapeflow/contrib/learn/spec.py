"""What model functions of `tf.contrib.learn` take and return."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.compat import v1
from tapeflow.core import dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.estimator import EstimatorSpec
from tapeflow.estimator import RunConfig as _RunConfig
from tapeflow.estimator.export import ClassificationOutput, PredictOutput, RegressionOutput

if TYPE_CHECKING:
    from tapeflow.graph.operation import Operation


class ModeKeys:
    """What a model is built for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key):
        """Raises ValueError for none of them."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


class PredictionKey:
    """The keys of predictions."""

    CLASSES, PROBABILITIES, LOGITS = "classes", "probabilities", "logits"
    LOGISTIC, SCORES, TOP_K, GENERIC = "logistic", "scores", "top_k", "output"


class ProblemType:
    """What kind of estimate a model makes."""

    UNSPECIFIED, CLASSIFICATION, LINEAR_REGRESSION, LOGISTIC_REGRESSION = 0, 1, 2, 3


class TaskType:
    """What a machine does in a cluster."""

    MASTER, PS, WORKER = "master", "ps", "worker"


class _Spec(EstimatorSpec):
    """An EstimatorSpec whose metrics may have a loss of their own."""

    reserved_metrics = ("global_step",)


class ModelFnOps(
    collections.namedtuple(
        "ModelFnOps",
        "predictions loss train_op eval_metric_ops output_alternatives training_chief_hooks training_hooks scaffold "
        "mode",
    )
):
    """Operations of a model.

    Args:
      mode: a ModeKeys.
      predictions: a tensor, or a dict of them.
      loss, train_op: a scalar, and what makes a step.
      eval_metric_ops: a dict of (value, update) pairs.
      output_alternatives: a dict of (ProblemType, dict of tensors), for export.

    Raises ValueError for what the mode lacks.
    """

    def __new__(
        cls, mode: str, predictions: Any = None, loss: TensorLike | None = None, train_op: Operation | None = None,
        eval_metric_ops: dict[str, Any] | None = None, output_alternatives: dict[Any, Any] | None = None,
        training_chief_hooks: Sequence[Any] | None = None, training_hooks: Sequence[Any] | None = None, scaffold=None,
    ):  # fmt: skip
        ModeKeys.validate(mode)
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if loss is None and mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        if predictions is None and mode == ModeKeys.INFER:
            raise ValueError("Missing predictions.")
        return super().__new__(
            cls, predictions, loss, train_op, eval_metric_ops, output_alternatives, training_chief_hooks or [],
            training_hooks or [], scaffold, mode,
        )  # fmt: skip

    def estimator_spec(self, default_serving_output_alternative_key=None):
        """The same as an EstimatorSpec."""
        outputs = None
        if self.output_alternatives:
            outputs = {
                key: _output(kind, tensors) for key, (kind, tensors) in self.output_alternatives.items()
            }
            default = default_serving_output_alternative_key or next(iter(outputs))
            outputs["serving_default"] = outputs[default]
            outputs.pop(None, None)  # a head without a name
        return _Spec(
            self.mode, self.predictions, self.loss, self.train_op, self.eval_metric_ops, outputs,
            self.training_chief_hooks, self.training_hooks, self.scaffold,
        )  # fmt: skip


def _output(kind, tensors):
    """What is exported: classes and their scores, or numbers, where the tensors are such; else all of them."""
    if kind in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        scores = tensors.get(PredictionKey.SCORES, tensors.get(PredictionKey.PROBABILITIES))
        classes = tensors.get(PredictionKey.CLASSES)
        if classes is not None and classes.dtype != dtypes.string:
            classes = None
        if scores is not None or classes is not None:
            return ClassificationOutput(scores, classes)
        kind = ProblemType.LINEAR_REGRESSION
    if kind == ProblemType.LINEAR_REGRESSION and len(tensors) == 1:
        return RegressionOutput(next(iter(tensors.values())))
    return PredictOutput(tensors)


def by_own_keys(predictions: dict[str, Any]) -> dict[str, Any]:
    """The predictions of a head of `tf.estimator`, by the keys of this package; classes are numbers.

    Args:
      predictions: tensors by the keys of `tf.estimator`.
    """
    if "predictions" in predictions:
        scores = predictions["predictions"]
        return {PredictionKey.SCORES: v1.squeeze(scores, -1) if scores.shape[-1] == 1 else scores}
    kept = (PredictionKey.LOGITS, PredictionKey.PROBABILITIES, PredictionKey.LOGISTIC)
    made = {key: predictions[key] for key in kept if key in predictions}
    return {**made, PredictionKey.CLASSES: v1.squeeze(predictions["class_ids"], -1)}


class RunConfig(_RunConfig):
    """Settings of an estimator; see `tf.estimator.RunConfig`.

    Args:
      master, evaluation_master: the sessions' targets.
      num_cores, log_device_placement, gpu_memory_fraction: what a session's config would say.
    """

    def __init__(
        self, master: str | None = None, num_cores: int = 0, log_device_placement: bool = False,
        gpu_memory_fraction: int = 1, tf_random_seed: int | None = None, save_summary_steps: int = 100,
        save_checkpoints_secs=None, save_checkpoints_steps: int | None = None, keep_checkpoint_max: int = 5,
        keep_checkpoint_every_n_hours: int = 10000, log_step_count_steps: int = 100, protocol=None,
        evaluation_master: str = "", model_dir: str | None = None, session_config=None,
    ):  # fmt: skip
        if save_checkpoints_secs is None and save_checkpoints_steps is None:
            save_checkpoints_secs = 600
        super().__init__(
            model_dir, tf_random_seed, save_summary_steps, save_checkpoints_steps, save_checkpoints_secs,
            session_config, keep_checkpoint_max, keep_checkpoint_every_n_hours, log_step_count_steps,
            protocol=protocol,
        )  # fmt: skip
        self.master, self.evaluation_master = master or "", evaluation_master
        self.num_cores, self.log_device_placement = num_cores, log_device_placement
        self.gpu_memory_fraction = gpu_memory_fraction
        self.environment = "local"
