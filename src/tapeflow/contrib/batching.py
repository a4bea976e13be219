"""`tf.contrib.batching`: calls from several threads computed as one batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tapeflow.compat.v1 as tf
from tapeflow.function.batching import nondifferentiable_batch_function as batch_function

__all__ = ["batch_function", "batch_function_v1"]


def batch_function_v1(
    num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int, allowed_batch_sizes=None,
    grad_timeout_micros: int = 60 * 1000 * 1000, unbatch_timeout_micros: int = 60 * 1000 * 1000,
    max_enqueued_batches: int = 10,
):
    """Decorate a function of tensors whose calls are to be computed in batches, by ops `Batch` and `Unbatch`.

    Args:
      num_batch_threads: so many batches at once.
      max_batch_size: no batch is larger.
      batch_timeout_micros: a batch waits for others at most so long.
      allowed_batch_sizes: batches are padded to one of these sizes, of which the last is `max_batch_size`.
      grad_timeout_micros: how long gradients wait for each other.
      unbatch_timeout_micros: how long results wait for each other.
      max_enqueued_batches: so many batches may wait.

    Raises ValueError, at a call, for arguments that are no tensors.
    """

    def decorate(function: Callable[..., Any]):
        @functools.wraps(function)
        def batched(*args):
            for each in args:
                if not tf.is_tensor(each):
                    raise ValueError(
                        "All arguments to functions decorated with `batch_function`  are supposed to be Tensors; "
                        f"found {each!r}"
                    )
            with tf.name_scope("batch") as scope:
                tensors, index, key = tf.raw_ops.Batch(
                    in_tensors=list(args), num_batch_threads=num_batch_threads, max_batch_size=max_batch_size,
                    batch_timeout_micros=batch_timeout_micros, max_enqueued_batches=max_enqueued_batches,
                    allowed_batch_sizes=allowed_batch_sizes or [], grad_timeout_micros=grad_timeout_micros,
                    shared_name=scope,
                )  # fmt: skip
                found = function(*tensors)
                single = tf.is_tensor(found)
                with tf.name_scope("unbatch") as inner:
                    out = [
                        tf.raw_ops.Unbatch(
                            batched_tensor=each, batch_index=index, id=key, timeout_micros=unbatch_timeout_micros,
                            shared_name=f"{inner}/{i}",
                        )
                        for i, each in enumerate([found] if single else found)
                    ]  # fmt: skip
                return out[0] if single else out

        return batched

    return decorate
