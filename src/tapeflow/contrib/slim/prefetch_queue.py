"""`slim.prefetch_queue`: a queue that holds what is about to be used."""

from __future__ import annotations

from tapeflow.core import dtypes
from tapeflow.core.context import name_scope
from tapeflow.ops.math.casting import cast
from tapeflow.ops.queue import queues as queues
from tapeflow.train.queue_runner import QueueRunner, add_queue_runner
from tapeflow.train.queues.producers import add_summary


def prefetch_queue(
    tensors, capacity: int = 8, num_threads: int = 1, dynamic_pad: bool = False, shared_name=None,
    name: str | None = None,
):
    """A queue of what `tensors`, a list or a dict, are from run to run.

    Args:
      tensors: the components; of a dict the elements are dicts.
      capacity: how many elements the queue holds.
      num_threads: how many threads run the tensors.
      dynamic_pad: whether elements may differ in shape, and are padded with zeros.
      shared_name: graphs' queues with the same one are one queue in a session.
      name: the name of the scope of operations.
    Raises:
      ValueError: for shapes that are not known, unless elements are padded.
    """
    names = sorted(tensors) if isinstance(tensors, dict) else None
    parts = [tensors[key] for key in names] if names else list(tensors)
    with name_scope(name or "prefetch_queue"):
        make = queues.PaddingFIFOQueue if dynamic_pad else queues.FIFOQueue
        queue = make(
            capacity, [part.dtype for part in parts], [part.shape for part in parts], names=names,
            shared_name=shared_name,
        )  # fmt: skip
        add_queue_runner(QueueRunner(queue, [queue.enqueue(tensors)] * num_threads))
        add_summary(f"fraction_of_{capacity}_full", cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue
