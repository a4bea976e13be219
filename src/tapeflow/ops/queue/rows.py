"""The ops of queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core.annotations import Tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.ops.queue.queue_state import PaddingQueue, PriorityQueue, Queue, RandomQueue
from tapeflow.ops.signature import shape_list, type_list
from tapeflow.ops.state.resource_op import expect, resource_op

_NAMED = {"container": "", "shared_name": ""}
_TYPES = {"component_types": type_list}
_SHAPES: dict[str, Any] = {"shapes": shape_list([])}


def _scalar(attrs: Any, inputs: Any) -> list[Any]:
    return [()]


def _queue(handle: Any) -> Queue:
    return expect(handle, Queue, "queue")


@resource_op("FIFOQueueV2", "-> handle: resource", {**_TYPES, **_SHAPES, "capacity": -1, **_NAMED},
             _scalar, makes=True)  # fmt: skip
def FIFOQueueV2(name: str, component_types: Sequence[DType], shapes: Sequence[TensorShape], capacity: int):
    return Queue(name, component_types, shapes, capacity)


@resource_op("PaddingFIFOQueueV2", "-> handle: resource", {**_TYPES, **_SHAPES, "capacity": -1, **_NAMED},
             _scalar, makes=True)  # fmt: skip
def PaddingFIFOQueueV2(name: str, component_types: Sequence[DType], shapes: Sequence[TensorShape], capacity: int):
    return PaddingQueue(name, component_types, shapes, capacity)


@resource_op(
    "RandomShuffleQueueV2", "-> handle: resource",
    {**_TYPES, **_SHAPES, "capacity": -1, "min_after_dequeue": 0, "seed": 0,
     "seed2": 0, **_NAMED}, _scalar, makes=True,
)  # fmt: skip
def RandomShuffleQueueV2(
    name: str, component_types: Sequence[DType], shapes: Sequence[TensorShape], capacity: int, min_after_dequeue: int,
    seed: int, seed2: int,
):
    return RandomQueue(name, component_types, shapes, capacity, min_after_dequeue, seed, seed2)


@resource_op(
    "PriorityQueueV2", "-> handle: resource",
    {"component_types": type_list([]), "shapes": shape_list, "capacity": -1, **_NAMED},
    _scalar, makes=True,
)  # fmt: skip
def PriorityQueueV2(name: str, component_types: Sequence[DType], shapes: Sequence[TensorShape], capacity: int):
    return PriorityQueue(name, component_types, shapes, capacity)


_WAIT = {"timeout_ms": -1}


def _without_timeout(timeout_ms: int):
    if timeout_ms != -1:
        raise InvalidArgumentError(None, None, "Timeout not supported yet.")


@resource_op("QueueEnqueueV2", "handle: resource, components: Tcomponents ->",
             {"Tcomponents": type_list, **_WAIT}, patience=1)  # fmt: skip
def QueueEnqueueV2(
    handle: PaddingQueue | Queue | RandomQueue, components: Sequence[Tensor], timeout_ms: int, **types
):
    _without_timeout(timeout_ms)
    _queue(handle).enqueue(components)


@resource_op("QueueEnqueueManyV2", "handle: resource, components: Tcomponents ->",
             {"Tcomponents": type_list, **_WAIT}, patience=1)  # fmt: skip
def QueueEnqueueManyV2(
    handle: PriorityQueue | Queue | RandomQueue, components: Sequence[Tensor], timeout_ms: int, **types
):
    _without_timeout(timeout_ms)
    _queue(handle).enqueue_many(components)


@resource_op("QueueDequeueV2", "handle: resource -> components: component_types", {**_TYPES, **_WAIT},
             patience=2)  # fmt: skip
def QueueDequeueV2(handle: Queue | RandomQueue, component_types: Sequence[DType], timeout_ms: int):
    _without_timeout(timeout_ms)
    return _queue(handle).dequeue()


@resource_op("QueueDequeueManyV2", "handle: resource, n: int32 -> components: component_types",
             {**_TYPES, **_WAIT}, patience=2)  # fmt: skip
def QueueDequeueManyV2(handle: Any, n: Tensor, component_types: Sequence[DType], timeout_ms: int):
    _without_timeout(timeout_ms)
    return _queue(handle).dequeue_many(int(n.numpy()), False)


@resource_op("QueueDequeueUpToV2", "handle: resource, n: int32 -> components: component_types",
             {**_TYPES, **_WAIT}, patience=2)  # fmt: skip
def QueueDequeueUpToV2(
    handle: PaddingQueue | Queue | RandomQueue, n: Tensor, component_types: Sequence[DType], timeout_ms: int
):
    _without_timeout(timeout_ms)
    return _queue(handle).dequeue_many(int(n.numpy()), True)


@resource_op("QueueCloseV2", "handle: resource ->", {"cancel_pending_enqueues": False},
             patience=1)  # fmt: skip
def QueueCloseV2(handle: PaddingQueue | Queue | RandomQueue, cancel_pending_enqueues: bool):
    _queue(handle).close(cancel_pending_enqueues)


@resource_op("QueueSizeV2", "handle: resource -> size: int32", shapes=_scalar, reads_only=True)
def QueueSizeV2(handle: Queue | RandomQueue):
    return _queue(handle).size()


@resource_op("QueueIsClosedV2", "handle: resource -> is_closed: bool", shapes=_scalar, reads_only=True)
def QueueIsClosedV2(handle: Queue):
    return _queue(handle).closed
