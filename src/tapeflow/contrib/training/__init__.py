"""`tf.contrib.training`: hyperparameters, training and evaluation."""

from typing import Any

from tapeflow.contrib.training.evaluation import (
    StopAfterNEvalsHook,
    SummaryAtEndHook,
    checkpoints_iterator,
    evaluate_once,
    evaluate_repeatedly,
    get_or_create_eval_step,
    wait_for_new_checkpoint,
)
from tapeflow.contrib.training.hparams import HParamDef, HParams, parse_values
from tapeflow.contrib.training.training import (
    add_gradients_summaries,
    clip_gradient_norms,
    clip_gradient_norms_fn,
    create_train_op,
    multiply_gradients,
    train,
)


def byte_size_load_fn(op: Any) -> int:
    """How many bytes the value of a variable takes. Raises ValueError where its shape is not known."""
    shape = op.outputs[0].shape if op.outputs else op.inputs[0].shape
    if not shape.is_fully_defined():
        raise ValueError(f"unknown shape: {shape}")
    return shape.num_elements() * op.outputs[0].dtype.size


class GreedyLoadBalancingStrategy:
    """Places each operation on the task with the least load so far."""

    def __init__(self, num_tasks: int, load_fn: Any):
        self._load_fn = load_fn
        self._loads = [0.0] * num_tasks

    def __call__(self, op: Any) -> int:
        task = self._loads.index(min(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


class RandomStrategy:
    """Places each operation on a random task."""

    def __init__(self, num_tasks: int, seed: int = 0):
        import random

        self._num_tasks, self._random = num_tasks, random.Random(seed)

    def __call__(self, op: Any) -> int:
        return self._random.randrange(self._num_tasks)
