# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.ops.queue.queues import FIFOQueue as FIFOQueue
from tapeflow.ops.queue.queues import PaddingFIFOQueue as PaddingFIFOQueue
from tapeflow.ops.queue.queues import PriorityQueue as PriorityQueue
from tapeflow.ops.queue.queues import QueueBase as QueueBase
from tapeflow.ops.queue.queues import RandomShuffleQueue as RandomShuffleQueue
__all__ = [
    "FIFOQueue",
    "PaddingFIFOQueue",
    "PriorityQueue",
    "QueueBase",
    "RandomShuffleQueue",
]
