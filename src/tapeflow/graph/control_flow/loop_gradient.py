"""The gradient of a loop: one that runs its iterations backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import context
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.build import building, gradients, tracing
from tapeflow.graph.control_flow import conditional
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.control_flow.loop import build, clone
from tapeflow.graph.func_graph import copy_handle
from tapeflow.graph.interchange.inlining import inline
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops import operators
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.lists.tensor_list import EmptyTensorList, TensorListPopBack, TensorListPushBack


@gradients.gradient_of("While")
def _gradient(op: Operation, *dys: Any) -> list[Any]:
    """A loop that runs the iterations backwards.

    What the gradient of the body needs of each iteration is pushed on lists by the forward loop, which is
    extended here by them and by a counter.
    """
    graph = context.current_graph()
    body, count = op.attrs["body"], op.attrs["n_vars"]
    inputs, places = body.graph.inputs, {id(x): i for i, x in enumerate(body.graph.inputs)}
    same = _invariant(body, count)
    live = _live(body, count, [i for i, dy in enumerate(dys) if dy is not None and i not in same], same)
    fixed = [i for i in sorted(same) if gradients.differentiable(inputs[i].dtype)]
    back, found = conditional.backward(body, live, live + fixed)
    dxs = dict(zip(live + fixed, found, strict=True))
    sums = [i for i in fixed if dxs[i] is not None]
    outer = op.inputs
    # What the backward body reads of the forward one: invariants are there already, the rest is kept on lists.
    lists: list[SymbolicTensor] = []
    given: dict[int, Any] = {}  # id of an input of `back` -> outer tensor, or the place in `lists`
    for tensor, inner in back.captures:
        place = places.get(id(tensor))
        if place is not None and place in same:
            given[id(inner)] = outer[place]
        elif not conditional.inside(body, tensor):
            given[id(inner)] = tensor
        else:
            given[id(inner)] = len(lists)
            lists.append(tensor)
    stacks, total = _extended(op, lists)
    given_dys = [zeros_like(op.outputs[i]) if dys[i] is None else conditional.dense(dys[i]) for i in live]
    no_sums = [conditional.zeros_of(outer[i]) for i in sums]
    start: list[Any] = [building.as_symbolic(graph, x) for x in (total, *given_dys, *no_sums, *stacks)]

    def step(remaining: Any, *rest: Any) -> Any:
        current = context.current_graph()
        upstream, totals = rest[: len(live)], rest[len(live) : len(live) + len(sums)]
        popped, shorter = _popped(lists, rest[len(live) + len(sums) :])
        values = list(upstream)
        for x in back.inputs[len(live) :]:
            source = given[id(x)]
            values.append(
                popped[source] if isinstance(source, int) else building.as_symbolic(current, source)
            )
        wanted = [i for i in live if dxs[i] is not None] + sums
        fresh = dict(zip(wanted, inline(back, [dxs[i] for i in wanted], values), strict=True))
        onwards = [
            fresh[i] if i in fresh else zeros_like(dy) for i, dy in zip(live, upstream, strict=True)
        ]
        added = [operators.accumulate(t, fresh[i]) for t, i in zip(totals, sums, strict=True)]
        return [remaining - 1, *onwards, *added, *shorter]

    shapes = [x.shape_tuple for x in start]
    for k, i in enumerate(live):
        shapes[1 + k] = op.outputs[i].shape_tuple
    name = f"{op.name.rpartition('/')[2]}_grad"
    conditions = tracing.body(
        f"{name}_cond", lambda remaining, *_: remaining > 0, start, (), shapes
    )
    steps = tracing.body(f"{name}_body", step, start, (), shapes)
    node = build(
        graph,
        start,
        Body(conditions, list(conditions.outputs)),
        Body(steps, list(steps.outputs)),
        name,
        shapes,
    )
    result: list[Any] = [None] * len(outer)
    for i, dx in zip([*live, *sums], node.outputs[1:], strict=False):
        result[i] = dx
    for i in same:
        if i < count and dys[i] is not None:  # it is an output, too
            result[i] = dys[i] if result[i] is None else operators.accumulate(result[i], dys[i])
    return result


def _invariant(body: Body, count: int) -> set[int]:
    """The inputs of a body that are the same in all iterations: what is captured, and variables that it hands on.

    Loops of a GraphDef have all that they read among their variables.
    """
    found = set(range(count, len(body.graph.inputs)))
    for i, x in enumerate(body.graph.inputs[:count]):
        y = body.outputs[i]
        # One whose gradient the program overrides is no identity for it.
        while y.op.row is Identity and "_gradient_op_type" not in y.op.extra_attrs:
            y = y.op.inputs[0]
        if y is x:
            found.add(i)
    return found


def _live(body: Body, count: int, given: list[int], same: set[int]) -> list[int]:
    """The variables that gradients reach when they come to the outputs `given`, in any number of iterations.

    Args:
      same: the inputs that are the same in all iterations.
    """
    places = {id(x): i for i, x in enumerate(body.graph.inputs[:count]) if i not in same}
    live = [i for i in given if gradients.differentiable(body.outputs[i].dtype)]
    todo = list(live)
    while todo:
        seen: set[int] = set()
        tensors = [body.outputs[todo.pop()]]
        while tensors:
            x = tensors.pop()
            if id(x) in seen or not gradients.differentiable(x.dtype):
                continue
            seen.add(id(x))
            place = places.get(id(x))
            if place is not None and place not in live:
                live.append(place)
                todo.append(place)
            tensors += x.op.inputs
    return sorted(live)


def _popped(
    tensors: Sequence[SymbolicTensor], stacks: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """The last elements of lists, which hold values of `tensors`, and the lists without them."""
    values, rest = [], []
    for tensor, stack in zip(tensors, stacks, strict=True):
        left, value = TensorListPopBack(stack, _element_shape(tensor), element_dtype=tensor.dtype)
        value.set_shape(TensorShape(tensor.shape_tuple))
        copy_handle(tensor, value)
        values.append(value)
        rest.append(left)
    return values, rest


def _extended(
    op: Operation, tensors: list[SymbolicTensor]
) -> tuple[list[SymbolicTensor], SymbolicTensor]:
    """The lists of the values that `tensors` of the body have in each iteration, and the number of iterations.

    They become outputs of the node, which gets a body of its own for it.
    """
    known = op.attrs.get("kept", {})
    counted = "kept" in op.attrs
    missing = [t for t in tensors if id(t) not in known]
    if missing or not counted:
        count = op.attrs["n_vars"]
        cond, body = op.attrs["cond"], op.attrs["body"]
        first_new = len(op.graph.operations)
        with op.graph.as_default(), op.graph.control_dependencies(None), op.graph.name_scope(None):
            start = [] if counted else [building.as_symbolic(op.graph, 0)]
            # Of any shape: what a branch that was not taken would have given has none.
            start += [EmptyTensorList(-1, -1, element_dtype=t.dtype) for t in missing]
        for made in op.graph.operations[first_new:]:
            made.index = op.graph.index_before(op)
        extra = [(x.dtype, x.shape_tuple) for x in start]
        new_body, mapped = clone(body, count, extra)
        new_cond, _ = clone(cond, count, extra)
        fresh = new_body.graph.inputs[count : count + len(extra)]
        with new_body.graph.as_default():
            values = list(new_body.outputs)
            rest = list(fresh)
            if not counted:
                values.append(building.as_symbolic(new_body.graph, rest.pop(0) + 1))
            for t, stack in zip(missing, rest, strict=True):
                values.append(TensorListPushBack(stack, mapped[id(t)]))
        first = len(op.outputs)
        for x in start:
            op.add_output(x.dtype, x.shape_tuple)
        at = first
        counter = op.attrs.get("counter")
        if not counted:
            counter, at = at, at + 1
        # Later gradients name tensors of the body they saw: the one before, and the copy.
        translated = dict(known)
        for old_id, place in known.items():
            if old_id in mapped:
                translated[id(mapped[old_id])] = place
        for i, t in enumerate(missing):
            translated[id(t)] = at + i
            translated[id(mapped[id(t)])] = at + i
        op.attrs = {
            **op.attrs, "cond": new_cond, "body": Body(new_body.graph, values), "n_vars": count + len(extra),
            "kept": translated, "counter": counter, "alive": (op.attrs.get("alive"), body, cond),
        }  # fmt: skip
        op.inputs = (*op.inputs[:count], *start, *op.inputs[count:])
        op.input_sizes = (None,) * len(op.inputs)
        op.graph.edited()
    kept = op.attrs["kept"]
    return [op.outputs[kept[id(t)]] for t in tensors], op.outputs[op.attrs["counter"]]


def _element_shape(t: SymbolicTensor) -> Any:
    import numpy as np

    if t.shape_tuple is None:
        return np.array(-1, np.int32)
    return np.array([-1 if d is None else d for d in t.shape_tuple], np.int32)
