"""`tf.queue`: queues of tensors between threads, eagerly and in graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from tapeflow.api import api
from tapeflow.core import dtypes as kinds
from tapeflow.core.annotations import Tensor
from tapeflow.core.context import name_scope
from tapeflow.core.convert import convert_to_tensor, is_symbolic_tensor
from tapeflow.core.dtypes import DType
from tapeflow.core.public import names_itself, public_methods
from tapeflow.core.tensor_shape import TensorShape, as_shape
from tapeflow.ops.array.stacking import stack
from tapeflow.ops.indexing.gather import gather
from tapeflow.ops.queue.rows import (
    FIFOQueueV2,
    PaddingFIFOQueueV2,
    PriorityQueueV2,
    QueueCloseV2,
    QueueDequeueManyV2,
    QueueDequeueUpToV2,
    QueueDequeueV2,
    QueueEnqueueManyV2,
    QueueEnqueueV2,
    QueueIsClosedV2,
    QueueSizeV2,
    RandomShuffleQueueV2,
)
from tapeflow.ops.random import seed as random_seed
from tapeflow.ops.static import static_value


def _type_list(dtypes: DType | Sequence[DType]):
    if not isinstance(dtypes, (list, tuple)):
        return [kinds.as_dtype(dtypes)]
    return [kinds.as_dtype(t) for t in dtypes]


def _shape_list(shapes: Sequence[Any] | None, dtypes, partial: bool = False):
    """Shapes of components, from one shape or a list of these; None if nothing is known."""
    if shapes is None:
        if partial:
            raise ValueError("When providing partial shapes, a list of shapes must be provided.")
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (tuple, list)):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(shape is None or isinstance(shape, int) for shape in shapes):
        shapes = [shapes]  # the one shape of a single component
    shapes = [as_shape(shape) for shape in shapes]
    if partial and any(shape.rank is None for shape in shapes):
        raise ValueError(f"All shapes must have a defined rank: {shapes}")
    if not partial and not all(shape.is_fully_defined() for shape in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    if len(dtypes) != len(shapes):
        raise ValueError("Queue shapes must have the same length as dtypes, "
                         f"received len(shapes)={len(shapes)}, len(dtypes)={len(dtypes)}")  # fmt: skip
    return shapes


def _name_list(names, dtypes: Sequence[DType]):
    if names is None:
        return None
    if not isinstance(names, (list, tuple)):
        names = [names]
    if len(names) != len(dtypes):
        raise ValueError("List of names must have the same length as the list "
                         f"of dtypes, received len(names)={len(names)},len(dtypes)={len(dtypes)}")  # fmt: skip
    return list(names)


def common(a: TensorShape, b: TensorShape):
    """The shape that two shapes have in common."""
    if a.rank is None or a.rank != b.rank:
        return TensorShape(None)
    return TensorShape(
        [m if m == n else None for m, n in zip(a.as_list(), b.as_list(), strict=True)]
    )


def _methods(cls):
    """`public_methods` of a class whose methods name the nodes that they make themselves."""
    for method in vars(cls).values():
        if isinstance(method, FunctionType):
            names_itself(method)
    return public_methods(cls)


@api("queue.QueueBase", v1=("io.QueueBase", "QueueBase"))
@_methods
class QueueBase:
    """A queue of elements, each one or several tensors.

    Args:
      dtypes, shapes, names: of the components of elements; names make elements dicts.
      queue_ref: the resource tensor of the queue.

    Raises ValueError for lists of different lengths.
    """

    def __init__(
        self, dtypes: Sequence[DType], shapes: Sequence[TensorShape] | None, names: Sequence[str] | None,
        queue_ref: Tensor,
    ):
        self._dtypes = _type_list(dtypes)
        if shapes is not None:
            if len(shapes) != len(self._dtypes):
                raise ValueError("Queue shapes must have the same length as dtypes, "
                                 f"received len(shapes)={len(shapes)}, len(dtypes)={len(self._dtypes)}")  # fmt: skip
            self._shapes = [TensorShape(s) for s in shapes]
        else:
            self._shapes = [TensorShape(None) for _ in self._dtypes]
        self._names = _name_list(names, self._dtypes)
        self._queue_ref = queue_ref
        op = getattr(queue_ref, "op", None) if is_symbolic_tensor(queue_ref) else None
        self._name = op.name.split("/")[-1] if op is not None else "queue"

    @staticmethod
    def from_list(index: Tensor, queues: Sequence[Any]):
        """The queue with number `index` of a list of queues.

        Raises TypeError for what is no list of queues, or queues of different types.
        """
        if not queues or not isinstance(queues, list) or not all(
            isinstance(x, QueueBase) for x in queues
        ):  # fmt: skip
            raise TypeError("A list of queues expected")
        first = queues[0]
        if not all(first.dtypes == x.dtypes for x in queues[1:]):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(first.names == x.names for x in queues[1:]):
            raise TypeError("Queues do not have matching component names.")
        shapes = list(first.shapes)
        for x in queues[1:]:
            shapes = [common(a, b) for a, b in zip(shapes, x.shapes, strict=True)]
        refs = stack([x.queue_ref for x in queues])
        return QueueBase(first.dtypes, shapes, first.names, gather(refs, index))

    @property
    def queue_ref(self):
        """The resource tensor of the queue."""
        return self._queue_ref

    @property
    def name(self):
        """The name of the queue's node."""
        return self._queue_ref.op.name if is_symbolic_tensor(self._queue_ref) else self._name

    @property
    def dtypes(self):
        """The dtypes of the components."""
        return self._dtypes

    @property
    def shapes(self):
        """The shapes of the components."""
        return self._shapes

    @property
    def names(self):
        """The names of the components, or None."""
        return self._names

    def _components(self, vals: Sequence[Any] | int):
        """The values of an element, or of several, as tensors."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError("Keys in dictionary to enqueue do not match names of Queue. "
                                 f"Dictionary: {sorted(vals)},Queue: {sorted(self._names)}")  # fmt: skip
            vals = [vals[key] for key in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            if not isinstance(vals, (list, tuple)):
                vals = [vals]
        if len(vals) != len(self._dtypes):
            raise ValueError(
                f"Queue has {len(self._dtypes)} components, but {len(vals)} values were given."
            )
        return [
            convert_to_tensor(value, dtype, name=f"component_{i}")
            for i, (value, dtype) in enumerate(zip(vals, self._dtypes, strict=True))
        ]

    def enqueue(self, vals: Any, name: str | None = None):
        """Puts one element in, once there is room.

        Raises ValueError or TypeError for what does not fit; its run CancelledError for a closed queue.
        """
        with _scope(name, f"{self._name}_enqueue") as scope:
            vals = self._components(vals)
            for value, shape in zip(vals, self._shapes, strict=True):
                value.shape.assert_is_compatible_with(shape)
            return QueueEnqueueV2(self._queue_ref, vals, name=scope)

    def enqueue_many(self, vals: Sequence[Any], name: str | None = None):
        """Puts the slices of the components along their first axis in, one after the other."""
        with _scope(name, f"{self._name}_EnqueueMany") as scope:
            vals = self._components(vals)
            count = None
            for value, shape in zip(vals, self._shapes, strict=True):
                if value.shape.rank is None:
                    continue
                first = value.shape.with_rank_at_least(1).as_list()[0]
                if count is not None and first is not None and first != count:
                    raise ValueError(f"Dimensions {count} and {first} are not compatible")
                count = first if count is None else count
                value.shape[1:].assert_is_compatible_with(shape)
            return QueueEnqueueManyV2(self._queue_ref, vals, name=scope)

    def _element(self, tensors: Sequence[Tensor]):
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name: str | None = None):
        """Takes an element out, once there is one. Its run raises OutOfRangeError for a closed queue without."""
        found = QueueDequeueV2(
            self._queue_ref, component_types=self._dtypes, name=name or f"{self._name}_Dequeue"
        )
        return self._shaped(found, ())

    def dequeue_many(self, n: int, name: str | None = None):
        """`n` elements, stacked along a new first axis, once there are so many."""
        found = QueueDequeueManyV2(
            self._queue_ref, n, component_types=self._dtypes, name=name or f"{self._name}_DequeueMany"
        )
        return self._shaped(found, (static_value(n) if hasattr(n, "dtype") else n,))

    def dequeue_up_to(self, n: int, name: str | None = None):
        """As `dequeue_many`; of a closed queue those that are left, if there are some."""
        found = QueueDequeueUpToV2(
            self._queue_ref, n, component_types=self._dtypes, name=name or f"{self._name}_DequeueUpTo"
        )
        return self._shaped(found, (None,))

    def _shaped(self, tensors: Sequence[Tensor], batch: Any):
        first = [None if b is None else int(b) for b in batch]
        for x, shape in zip(tensors, self._shapes, strict=True):
            if is_symbolic_tensor(x):
                x.set_shape(TensorShape(first).concatenate(shape))
        return self._element(tensors)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None):
        """Lets no more elements in. Calls that wait for room are waited for, or cancelled."""
        return QueueCloseV2(
            self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name or f"{self._name}_Close"
        )

    def is_closed(self, name: str | None = None):
        """Whether the queue is closed: a bool tensor."""
        return QueueIsClosedV2(self._queue_ref, name=name or f"{self._name}_Is_Closed")

    def size(self, name: str | None = None):
        """The number of elements: an int32 tensor."""
        return QueueSizeV2(self._queue_ref, name=name or f"{self._name}_Size")


def _scope(name: str | None, otherwise: str) -> Any:
    return name_scope(name or otherwise)


def _make(
    row: Callable[..., Any], types, shapes: Sequence[TensorShape] | None, capacity: int, shared_name: str | None,
    name: str, **attrs,
):
    return row(
        component_types=types,
        shapes=shapes or [],
        capacity=capacity,
        shared_name=shared_name or "",
        name=name,
        **attrs,
    )


@api("queue.FIFOQueue", v1="FIFOQueue")
@_methods
class FIFOQueue(QueueBase):
    """A queue that gives elements in the order in which they came.

    Args:
      capacity: how many elements it holds; calls that would put in more wait.
      dtypes, shapes: of the components; without shapes elements may have any, and are dequeued one by one.
      names: of the components: elements are dicts.
      shared_name: graphs' queues with the same one are one queue in a session.
    """

    def __init__(
        self, capacity: int, dtypes: DType | Sequence[DType], shapes: Sequence[Any] | None = None,
        names: Sequence[str] | None = None, shared_name: str | None = None, name: str = "fifo_queue",
    ):
        types = _type_list(dtypes)
        shapes = _shape_list(shapes, types)
        names = _name_list(names, types)
        super().__init__(
            types, shapes, names, _make(FIFOQueueV2, types, shapes, capacity, shared_name, name)
        )


@api("queue.PaddingFIFOQueue", v1=("io.PaddingFIFOQueue", "PaddingFIFOQueue"))
@_methods
class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue of components with dimensions that differ; those dequeued together are padded with zeros.

    Args:
      shapes: of the components, with None for dimensions that differ.

    Raises ValueError for shapes without a rank.
    """

    def __init__(
        self, capacity: int, dtypes: DType | Sequence[DType], shapes: Sequence[Any] | None,
        names: Sequence[str] | None = None, shared_name: str | None = None, name: str = "padding_fifo_queue",
    ):
        types = _type_list(dtypes)
        shapes = _shape_list(shapes, types, partial=True)
        names = _name_list(names, types)
        if len(types) != len(shapes):
            raise ValueError("Shapes must be provided for all components, "
                             f"but received {len(types)} dtypes and {len(shapes)} shapes.")  # fmt: skip
        super().__init__(
            types, shapes, names, _make(PaddingFIFOQueueV2, types, shapes, capacity, shared_name, name)
        )


@api("queue.RandomShuffleQueue", v1=("io.RandomShuffleQueue", "RandomShuffleQueue"))
@_methods
class RandomShuffleQueue(QueueBase):
    """A queue that gives elements in random order.

    Args:
      min_after_dequeue: how many elements stay, to be mixed with later ones, until the queue is closed.
      seed: of the order.
    """

    def __init__(
        self, capacity: int, min_after_dequeue: int, dtypes: DType | Sequence[DType],
        shapes: Sequence[Any] | None = None, names: Sequence[str] | None = None, seed: int | None = None,
        shared_name: str | None = None, name: str = "random_shuffle_queue",
    ):  # fmt: skip
        types = _type_list(dtypes)
        shapes = _shape_list(shapes, types)
        names = _name_list(names, types)
        seed1, seed2 = random_seed.get_seed(seed)
        if seed1 is None and seed2 is None:
            seed1, seed2 = 0, 0
        elif seed is None and shared_name is not None:
            # What shares a name has to agree, whatever the graph's count of ops.
            seed2 = int.from_bytes(str(shared_name).encode()[:7], "little")
        ref = _make(
            RandomShuffleQueueV2, types, shapes, capacity, shared_name, name, min_after_dequeue=min_after_dequeue,
            seed=seed1, seed2=seed2,
        )  # fmt: skip
        super().__init__(types, shapes, names, ref)


@api("queue.PriorityQueue", v1=("io.PriorityQueue", "PriorityQueue"))
@_methods
class PriorityQueue(QueueBase):
    """A queue whose elements begin with a priority, an int64; the smallest is given first.

    Args:
      types, shapes: of the components after the priority.
    """

    def __init__(
        self, capacity: int, types: DType, shapes: Sequence[Any] | None = None, names: Sequence[str] | None = None,
        shared_name: str | None = None, name: str = "priority_queue",
    ):
        types = _type_list(types)
        shapes = _shape_list(shapes, types)
        ref = _make(PriorityQueueV2, types, shapes, capacity, shared_name, name)
        all_types = [kinds.int64, *types]
        all_shapes = None if shapes is None else [TensorShape([]), *shapes]
        super().__init__(all_types, all_shapes or [None] * len(all_types), names, ref)
