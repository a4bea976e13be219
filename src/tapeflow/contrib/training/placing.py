"""On which task of parameter servers variables are: strategies for `tf.train.replica_device_setter`."""

from __future__ import annotations

import hashlib
import math
from typing import Any

from tapeflow.core.dtypes import as_dtype
from tapeflow.core.tensor_shape import TensorShape


def byte_size_load_fn(op: Any) -> int:
    """How many bytes the value of a variable takes. Raises ValueError where its shape is not known."""
    # A device function sees a variable before it has outputs.
    shape = TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return math.prod(size or 0 for size in shape.as_list()) * as_dtype(op.get_attr("dtype")).size


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
    """Places each operation by a hash of its name, which is the same in all processes."""

    def __init__(self, num_ps_tasks: int, seed: int = 0):
        self._num_tasks, self._seed = num_ps_tasks, seed

    def __call__(self, op: Any) -> int:
        text = f"{op.name}_{self._seed}".encode()
        return int(hashlib.md5(text, usedforsecurity=False).hexdigest(), 16) % self._num_tasks
