"""`While` nodes: a body that runs as long as a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core import context, dtypes
from tapeflow.core.specs.tensor_spec import TypeSpec
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.graph.build import building, tracing
from tapeflow.graph.control_flow import conditional
from tapeflow.graph.control_flow.conditional import Body
from tapeflow.graph.func_graph import FuncGraph, branch, copy_handle, wait_for_captures
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange.inlining import copy_operation
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import planning
from tapeflow.graph.run.program import Instruction
from tapeflow.graph.tensor import SymbolicTensor
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
        if isinstance(spec, TypeSpec) and not spec.is_compatible_with(leaf):
            raise TypeError(f"TypeSpec {spec} is not compatible with {leaf!r}")
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
    for variable in old.variables:
        new.watch_variable(variable)
    return Body(new, [found[id(y)] for y in body.outputs]), found
