"""`While` nodes: a body that runs as long as a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.build import building, gradients, tracing
from tapeflow.graph.control_flow import conditional
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.func_graph import FuncGraph, branch, copy_handle, wait_for_captures
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange.inlining import copy_operation, inline
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import planning
from tapeflow.graph.run.program import Instruction
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops import operators
from tapeflow.ops.array.construction import zeros_like
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.lists.tensor_list import EmptyTensorList, TensorListPopBack, TensorListPushBack
from tapeflow.ops.math.logic import logical_and


def loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any = None,
    maximum_iterations: Any = None,
    name: str = "while",
    pack: bool = False,
) -> Any:
    """`loop_vars` after `body` was applied to them as long as `cond` holds, as nodes of the graph being built.

    Args:
      pack: a single variable may come from `body` without a list.

    Raises ValueError or TypeError where `body` changes structure, dtypes, or shapes beyond `shape_invariants`.
    """
    graph = context.current_graph() or building.graph_of(
        nest.flatten(loop_vars, expand_composites=True)
    )
    if context.current_graph() is None:
        with graph.as_default():
            return loop(cond, body, loop_vars, shape_invariants, maximum_iterations, name, pack)
    structure = nest.map_structure(lambda x: _variable(graph, x), list(loop_vars))
    flat = nest.flatten(structure, expand_composites=True)
    shapes = _invariants(loop_vars, structure, flat, shape_invariants)
    counted = maximum_iterations is not None
    if counted:
        limit = building.as_symbolic(graph, maximum_iterations)
        flat = [building.as_symbolic(graph, 0, limit.dtype), *flat]
        shapes = [(), *shapes]

    def unpacked(values: Sequence[Any]) -> list[Any]:
        values = values[1:] if counted else values
        return nest.pack_sequence_as(structure, list(values), expand_composites=True)

    def condition(*values: Any) -> Any:
        wanted = cond(*unpacked(values))
        wanted = building.as_symbolic(context.current_graph(), wanted)
        if wanted.dtype != dtypes.bool:
            raise TypeError(f"cond must return a boolean, but returns {wanted}")
        if not counted:
            return wanted

        return logical_and(values[0] < building.as_symbolic(context.current_graph(), limit), wanted)

    def step(*values: Any) -> Any:
        result = body(*unpacked(values))
        if pack and len(structure) == 1 and not isinstance(result, (list, tuple)):
            result = [result]
        result = _listed(result, structure)
        _same(structure, result, name)
        flat_result = [
            building.as_symbolic(
                context.current_graph(), y, None if not hasattr(x, "dtype") else _kind(y, x)
            )
            for x, y in zip(
                nest.flatten(structure, expand_composites=True),
                nest.flatten(result, expand_composites=True),
                strict=True,
            )
        ]
        return [values[0] + 1, *flat_result] if counted else flat_result

    names = ["loop_counter"] if counted else []
    conditions = tracing.body(
        f"{name}_cond", condition, flat, names, shapes, branch(f"{name}_cond")
    )
    steps = tracing.body(f"{name}_body", step, flat, names, shapes, branch(f"{name}_body"))
    _check(flat, steps, shapes, name)
    node = build(
        graph,
        flat,
        Body(conditions, list(conditions.outputs)),
        Body(steps, list(steps.outputs)),
        name,
        shapes,
    )
    return unpacked(node.outputs)


def _kind(value: Any, like: Any) -> Any:
    """The dtype to convert a value to that is no tensor."""
    return None if hasattr(value, "dtype") else like.dtype


def _variable(graph: Graph, value: Any) -> Any:
    if nest.is_nested_or_composite(value):
        return nest.map_structure(
            lambda x: building.as_symbolic(graph, x), value, expand_composites=True
        )
    return building.as_symbolic(graph, value)


def _listed(result: Any, structure: list[Any]) -> Any:
    if isinstance(result, tuple) and not hasattr(result, "_fields"):
        return list(result)
    if isinstance(result, list):
        return result
    return [result]


def _same(structure: Any, result: Any, name: str) -> None:
    try:
        nest.assert_same_structure(structure, result, check_types=False, expand_composites=True)
    except ValueError as error:
        raise ValueError(
            f"The two structures don't have the same nested structure. body of {name} must return loop variables as it "
            f"takes them: {error}"
        ) from None


def _invariants(given: Any, structure: Any, flat: Sequence[Any], invariants: Any) -> list[Any]:
    """The shape that each flat variable has in every iteration."""
    if invariants is None:
        return [x.shape_tuple for x in flat]
    found = []
    specs = (
        nest.flatten_up_to(structure, list(invariants))
        if nest.is_nested(invariants)
        else [invariants]
    )
    leaves = nest.flatten(structure)
    if len(specs) != len(leaves):
        raise ValueError("shape_invariants must have the structure of loop_vars")
    for leaf, spec in zip(leaves, specs, strict=True):
        parts = nest.flatten(leaf, expand_composites=True)
        if len(parts) > 1 or nest.is_nested_or_composite(leaf):
            found += [_loosened(x) for x in parts]
            continue
        shape = TensorShape(spec.shape if hasattr(spec, "shape") else spec)
        x = parts[0]
        if not _less_specific(shape, x.shape):
            raise ValueError(
                f"The shape invariant specified for {x.name} is not compatible with the initial shape of the loop "
                f"variable. It enters the loop with shape {x.shape}, but the specified shape invariant is {shape}."
            )
        found.append(None if shape.rank is None else tuple(shape.as_list()))
    return found


def _loosened(x: SymbolicTensor) -> Any:
    return None if x.shape_tuple is None else (None,) * len(x.shape_tuple)


def _less_specific(a: TensorShape, b: TensorShape) -> bool:
    if a.rank is None:
        return True
    if b.rank is None or a.rank != b.rank:
        return False
    return all(x is None or x == y for x, y in zip(a.as_list(), b.as_list(), strict=True))


def _check(flat: Sequence[Any], steps: FuncGraph, shapes: Sequence[Any], name: str) -> None:
    for x, y, shape in zip(flat, steps.outputs, shapes, strict=False):
        if x.dtype != y.dtype:
            raise TypeError(
                f"Loop var {x.name} enters the loop with type {x.dtype} but has type {y.dtype} after 1 iteration. "
                f"{x.name} type should remain constant."
            )
        if not _less_specific(TensorShape(shape), TensorShape(y.shape_tuple)):
            raise ValueError(
                f"Input tensor '{x.name}' enters the loop with shape {TensorShape(shape)}, but "
                f"has shape {y.shape} after "
                "one iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument of "
                "tf.while_loop to specify a less-specific shape."
            )


def build(
    graph: Graph,
    variables: Sequence[SymbolicTensor],
    cond: Body,
    body: Body,
    name: str,
    shapes: Sequence[Any] | None = None,
) -> Operation:
    """The node: variables first, then what condition and body capture, the same inputs for both."""
    captured = conditional.share_inputs([cond.graph, body.graph], len(variables))
    inputs = [building.as_symbolic(graph, x) for x in (*variables, *captured)]
    attrs = {"cond": cond, "body": body, "n_vars": len(variables)}
    op = graph.add("While", None, tuple(inputs), (None,) * len(inputs), attrs, name)
    for i, x in enumerate(variables):
        made = op.add_output(
            x.dtype, body.graph.inputs[i].shape_tuple if shapes is None else shapes[i]
        )
        copy_handle(x, made)
    wait_for_captures(op, [cond.graph, body.graph])
    return op


@planning.emits("While")
def _emit(emitter: Any, op: Operation) -> None:
    cond, body = op.attrs["cond"], op.attrs["body"]
    inputs = [emitter.number(x) for x in op.inputs]
    outputs = [emitter.output(y) for y in op.outputs]
    payload = (cond, body, op.attrs["n_vars"])
    emitter.program.instructions.append(
        Instruction("while", payload, inputs, outputs, op, op.effects)
    )


# Gradient.


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


def clone(
    body: Body, count: int, extra: Sequence[tuple[Any, Any]]
) -> tuple[Body, dict[int, SymbolicTensor]]:
    """A copy of a body with further inputs after the first `count`, and where its tensors went."""
    old = body.graph
    outer = old.enclosing_graph
    with outer.as_default() if outer is not None else context.graph_scope(None):
        new = FuncGraph(old.name)
    new.pruned, new.limits = old.pruned, old.limits
    new.control_captures = list(old.control_captures)
    found: dict[int, SymbolicTensor] = {}
    with new.as_default():

        def take(x: SymbolicTensor) -> None:
            made = new.add_input(x.dtype, x.shape_tuple, x.op.name)
            copy_handle(x, made)
            found[id(x)] = made

        for x in old.inputs[:count]:
            take(x)
        for dtype, shape in extra:
            new.add_input(dtype, shape, "kept")
        for x in old.inputs[count:]:
            take(x)
        placeholders = {id(x) for x in old.inputs}
        copies: dict[int, Operation] = {}
        for op in sorted(old.operations, key=lambda op: op.index):
            if not (op.outputs and id(op.outputs[0]) in placeholders):
                copies[id(op)] = copy_operation(new, op, found, copies)
    new._variables = dict(old._variables)
    return Body(new, [found[id(y)] for y in body.outputs]), found
