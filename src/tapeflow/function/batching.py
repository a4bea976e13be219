"""`tf.nondifferentiable_batch_function`: calls of several threads, computed as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.api import api
from tapeflow.core import context
from tapeflow.core.annotations import Tensor
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import CancelledError, InvalidArgumentError
from tapeflow.core.public import public
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.function.function import function
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.run import planning
from tapeflow.ops.queue import batching
from tapeflow.ops.signature import func, integer, ints, type_list
from tapeflow.ops.state.resource_op import resource_op

if TYPE_CHECKING:
    from tapeflow.ops.queue.batching import Batcher

_PRIORITY = {
    "low_priority_max_batch_size": 0,
    "low_priority_batch_timeout_micros": 0,
    "low_priority_allowed_batch_sizes": ints([]),
    "low_priority_max_enqueued_batches": 0,
    "mixed_priority_policy": "low_priority_padding_with_max_batch_size",
    "batch_padding_policy": "PAD_UP",
}


def _shapes(attrs: Mapping[str, Any], inputs: Any) -> list[Any]:
    shapes = [y.shape for y in attrs["f"].outputs]
    return [(None, *s.as_list()[1:]) if s.rank else None for s in shapes]


@resource_op(
    "BatchFunction", "in_tensors: Tin, captured_tensors: Tcaptured -> out_tensors: Tout",
    {"f": func, "num_batch_threads": integer, "max_batch_size": integer, "batch_timeout_micros": integer,
     "max_enqueued_batches": 10, "allowed_batch_sizes": ints([]), "container": "",
     "shared_name": "", "batching_queue": "", **_PRIORITY, "Tin": type_list,
     "Tcaptured": type_list, "Tout": type_list, "enable_large_batch_splitting": False},
    _shapes, patience=1, keeps=batching.Batcher,
)  # fmt: skip
def BatchFunction(
    batcher: Batcher, in_tensors: Sequence[Tensor], captured_tensors: Any, f: Body, max_batch_size: int,
    batch_timeout_micros: int, allowed_batch_sizes: Sequence[Any], batching_queue: str, **unused,
):  # fmt: skip
    """The rows of the outputs of `f` that belong to this call: `f` runs once for all calls of a batch."""
    batching.check_sizes(allowed_batch_sizes, max_batch_size)
    taken, given = len(f.graph.inputs), len(in_tensors) + len(captured_tensors)
    if taken != given:
        raise InvalidArgumentError(
            None, None, f"Function takes {taken} arguments but {given} were given."
        )
    task = batching.Task(in_tensors)
    tasks = batcher.join(task, max_batch_size, batch_timeout_micros / 1e6, batching_queue)
    if tasks is not None:
        _compute(f, tasks, allowed_batch_sizes, captured_tensors)
    task.finished.until(lambda: task.results is not None, "Batching was cancelled")
    if isinstance(task.results, BaseException):
        raise task.results
    return task.results


def _compute(body: Body, tasks: list[batching.Task], allowed: Any, captured: list[Any]) -> None:
    """Gives every task its results, or the error of all."""
    try:
        inputs = batching.joined(tasks, allowed)
        outputs = list(_plan_of(body)(*inputs, *captured))
        for y in outputs:
            if y.shape.rank == 0 or y.shape[0] != inputs[0].shape[0]:
                raise InvalidArgumentError(
                    None, None,
                    f"Batched output tensor's 0th dimension does not equal the sum of the 0th dimension sizes of the "
                    f"input tensors: {y.shape}, not {inputs[0].shape[0]} rows",
                )  # fmt: skip
        parts: list[Any] = batching.parts_of(tasks, outputs)
    except Exception as error:  # nobody else computes for those who wait
        parts = [error] * len(tasks)
    except BaseException:
        parts = [CancelledError(None, None, "The thread that computed the batch was interrupted")] * len(tasks)
        raise
    finally:
        for task, part in zip(tasks, parts, strict=True):
            task.finish(part)


def _plan_of(body: Body) -> Any:
    plans = body.graph.__dict__.setdefault("_batched_plans", {})
    key = tuple(map(id, body.outputs))
    if key not in plans:
        program = planning.function_program(body.graph, body.outputs, {})
        plans[key] = planning.compile_program(program)
    return plans[key]


@api("nondifferentiable_batch_function")
@public
def nondifferentiable_batch_function(
    num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int, allowed_batch_sizes=None,
    max_enqueued_batches: int = 10, autograph: bool = True, enable_large_batch_splitting: bool = True,
):
    """Decorate a function so that calls from several threads are computed as one, on their inputs joined along axis 0.

    The function takes and returns tensors with a first axis; a call waits until a batch is full or its time is
    over, and gets the rows that belong to it. Results have no gradients.

    Args:
      num_batch_threads: ignored: the last call of a batch computes it, in its own thread.
      max_batch_size: the number of rows that fill a batch; no call may have more.
      batch_timeout_micros: how long the first call of a batch waits for others.
      allowed_batch_sizes: batches are filled up to the next of these sizes, which rise to `max_batch_size`.
      max_enqueued_batches: ignored: full batches do not queue.
      autograph: whether Python control flow of the function is converted.
      enable_large_batch_splitting: ignored: calls are not split.

    Returns:
      The decorator.
    """

    def decorate(fn: Callable[..., Any]):
        traced = function(fn, autograph=autograph)

        def call(*args):
            tensors = [convert_to_tensor(x) for x in args]
            body = traced.get_concrete_function(*map(_any_rows, tensors))
            graph = body.graph
            found = BatchFunction(
                tensors, list(body.captured_inputs), f=Body(graph, list(graph.outputs)),
                num_batch_threads=num_batch_threads, max_batch_size=max_batch_size,
                batch_timeout_micros=batch_timeout_micros, max_enqueued_batches=max_enqueued_batches,
                allowed_batch_sizes=list(allowed_batch_sizes or []),
                shared_name=f"{body.name}_{id(graph)}" if context.executing_eagerly() else "",
                Tout=[y.dtype for y in graph.outputs],
            )  # fmt: skip
            return nest.pack_sequence_as(body.structured_outputs, found)

        return call

    return decorate


def _any_rows(x: Any) -> TensorSpec:
    return TensorSpec([None, *x.shape.as_list()[1:]] if x.shape.rank else x.shape, x.dtype)
