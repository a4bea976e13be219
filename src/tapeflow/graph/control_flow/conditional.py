"""`If` and `Case` nodes: what one of several bodies returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tapeflow.core import context, dtypes
from tapeflow.core.annotations import TensorLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.structures import nest
from tapeflow.graph.build import building, gradient_calls, gradients, tracing
from tapeflow.graph.func_graph import FuncGraph, branch, copy_handle, wait_for_captures
from tapeflow.graph.graph import Graph
from tapeflow.graph.operation import Operation
from tapeflow.graph.run import planning
from tapeflow.graph.run.program import Instruction
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array.construction import zeros, zeros_like
from tapeflow.ops.array.rows import Identity
from tapeflow.ops.lists.tensor_list import EmptyTensorList
from tapeflow.ops.math.casting import cast


class Body(NamedTuple):
    """A graph and which of its tensors a node returns. Nodes that share a graph may return different ones."""

    graph: FuncGraph
    outputs: list[SymbolicTensor]

    def copy(self) -> Body:
        """A body of the same graph, with a list of its own."""
        return Body(self.graph, list(self.outputs))


def conditional(
    pred: Any, functions: Sequence[Callable[[], Any]], labels: Sequence[str], name: str = "cond"
) -> Any:
    """What `functions[0]()` returns where `pred` is true, else what `functions[1]()` does; with an
    int `pred`, that of its number.

    Raises TypeError or ValueError where the functions return different structures or dtypes.
    """
    graph = context.current_graph() or building.graph_of([pred])
    with graph.as_default() if context.current_graph() is None else _nothing():
        pred = building.as_symbolic(graph, pred)
        bodies = []
        for function, label in zip(functions, labels, strict=True):
            into = branch(f"{name}_{label}")
            bodies.append(tracing.body(into.name, _with_values(function, pred), (), into=into))
        structure = _common_structure(bodies, labels)
        node = build(graph, pred, [Body(b, list(b.outputs)) for b in bodies], name)
        if structure is None and not node.outputs:
            return None if graph.building_function else node  # 1.x runs what it gets
        flat = iter(node.outputs)
        return _packed(bodies[0].structured_outputs, flat)


def _with_values(function: Callable[[], Any], pred: SymbolicTensor) -> Callable[[], Any]:
    """`function`, with `pred` in place of each operation that it returns, to be had after that has run."""

    def call() -> Any:
        result = function()
        if isinstance(result, (list, tuple, Operation)):
            return nest.map_structure(lambda x: _value(x, pred), result)
        return result

    return call


def _value(x: TensorLike, pred: SymbolicTensor) -> Any:
    if not isinstance(x, Operation):
        return x
    graph = context.current_graph()
    with graph.control_dependencies([x]):
        return Identity(building.as_symbolic(graph, pred))


def _nothing() -> Any:
    import contextlib

    return contextlib.nullcontext()


def _packed(structure: Any, flat: Any) -> Any:
    leaves = nest.flatten(structure, expand_composites=True)
    filled = [None if x is None else next(flat) for x in leaves]
    return nest.pack_sequence_as(structure, filled, expand_composites=True)


def _common_structure(bodies: Sequence[FuncGraph], labels: Sequence[str]) -> Any:
    """Checks that all branches return the same; indices of slices become wide where some are."""
    first = bodies[0]
    _refuse_mixtures(bodies)
    _widen_indices(bodies)
    for other, label in zip(bodies[1:], labels[1:], strict=True):
        a, b = first.structured_outputs, other.structured_outputs
        if len(first.outputs) == len(other.outputs):
            details = _difference(a, b)
            if details:
                names = [f"{labels[0]}_fn", f"{label}_fn"]
                raise TypeError(
                    f"{' and '.join(names)} arguments to tf.cond must have the same number, type, and overall "
                    f"structure of return values.\n\n{names[0]} output: {a}\n{names[1]} output: {b}\n\n"
                    f"Error details:\n{details}"
                )
        else:
            raise ValueError(
                "Lengths of branch outputs of cond must match.\n"
                f"len({labels[0]}_fn outputs): {len(first.outputs)}\nlen({label}_fn outputs): {len(other.outputs)}\n"
                f"{labels[0]}_fn output: {a}\n{label}_fn output: {b}"
            )
    return first.structured_outputs


def _difference(a: TensorLike, b: TensorLike) -> str:
    """How the structures or the dtypes of two branches' results differ; empty where they do not."""
    try:
        nest.assert_same_structure(a, b, expand_composites=True)
    except (TypeError, ValueError) as error:
        return str(error)
    flats = [nest.flatten(x, expand_composites=True) for x in (a, b)]
    for x, y in zip(*flats, strict=True):
        if getattr(x, "dtype", None) != getattr(y, "dtype", None):
            return f"{x} and {y} have different types"
    return ""


def _refuse_mixtures(bodies: Sequence[FuncGraph]) -> None:
    """Raises TypeError where one branch returns slices and another a tensor."""
    flats = [nest.flatten(b.structured_outputs) for b in bodies]
    if len({len(f) for f in flats}) != 1:
        return
    for i, found in enumerate(zip(*flats, strict=True)):
        if len({isinstance(x, IndexedSlices) for x in found}) > 1:
            raise TypeError(
                f"Cannot reconcile tf.cond {i}-th outputs:\n  branches returned: {found}"
            )


def _widen_indices(bodies: Sequence[FuncGraph]) -> None:
    """Slices whose indices are int32 in one branch and int64 in another have int64 ones in all."""
    flats = [nest.flatten(b.structured_outputs) for b in bodies]
    if len({len(f) for f in flats}) != 1:
        return
    mixed = [
        all(isinstance(f[i], IndexedSlices) for f in flats)
        and len({f[i].indices.dtype for f in flats}) > 1
        for i in range(len(flats[0]))
    ]
    if not any(mixed):
        return

    for b, flat in zip(bodies, flats, strict=True):
        with b.as_default():
            wide = [
                IndexedSlices(x.values, cast(x.indices, dtypes.int64), x.dense_shape) if m else x
                for x, m in zip(flat, mixed, strict=True)
            ]
            tracing.finish(b, nest.pack_sequence_as(b.structured_outputs, wide))


def share_inputs(graphs: Sequence[FuncGraph], first: int = 0) -> list[Any]:
    """Gives graphs the same inputs: after their `first` own ones, a placeholder for each tensor that any captures.

    Returns those tensors.
    """
    outer: dict[int, Any] = {}
    for graph in graphs:
        for tensor, _ in graph.captures:
            outer.setdefault(id(tensor), tensor)
    for graph in graphs:
        inner = dict(zip(map(id, graph.external_captures), graph.internal_captures, strict=True))
        own = graph.inputs[:first]
        rest = []
        for key, tensor in outer.items():
            if key in inner:
                rest.append(inner[key])
                continue
            with graph.as_default(), graph.control_dependencies(None):
                shape = (
                    tensor.shape_tuple
                    if isinstance(tensor, SymbolicTensor)
                    else tuple(tensor.shape.as_list())
                )
                made = building.placeholder(graph, tensor.dtype, shape, "unused")
                if isinstance(tensor, SymbolicTensor):
                    copy_handle(tensor, made)
                rest.append(made)
        graph.inputs = own + rest
    return list(outer.values())


def build(
    graph: Graph, pred: SymbolicTensor, bodies: list[Body], name: str, arguments: Sequence[Any] = ()
) -> Operation:
    """The node. The bodies' own inputs, one for each of `arguments`, come before what they capture."""
    captured = share_inputs([b.graph for b in bodies], len(arguments))
    inputs = [building.as_symbolic(graph, x) for x in (*arguments, *captured)]
    kind = "If" if pred.dtype == dtypes.bool else "Case"
    attrs = {"branches": bodies}
    op = graph.add(kind, None, (pred, *inputs), (None,) * (1 + len(inputs)), attrs, name)
    for ys in zip(*[b.outputs for b in bodies], strict=True):
        _add_output(op, ys)
    wait_for_captures(op, [b.graph for b in bodies])
    return op


def _add_output(op: Operation, ys: Sequence[SymbolicTensor]) -> SymbolicTensor:
    shape = ys[0].shape_tuple
    for y in ys[1:]:
        shape = relaxed(shape, y.shape_tuple)
    made = op.add_output(ys[0].dtype, shape)
    copy_handle(ys[0], made)
    return made


def relaxed(a: Any, b: Any) -> Any:
    """What is known of a tensor that has one of two shapes."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


@planning.emits("If")
@planning.emits("Case")
def _emit(emitter: Any, op: Operation) -> None:
    bodies = op.attrs["branches"]
    kind = "if" if op.type == "If" else "case"
    inputs = [emitter.number(x) for x in op.inputs]
    made = op.outputs
    if emitter.wanted is not None and all(body.graph.pruned for body in bodies):
        # What only results need that nobody wants does not run; where only the node is waited for, all does.
        used = [i for i, y in enumerate(made) if id(y) in emitter.wanted] or range(len(made))
        if len(used) < len(made):
            bodies = [Body(body.graph, [body.outputs[i] for i in used]) for body in bodies]
            made = [made[i] for i in used]
    outputs = [emitter.output(y) for y in made]
    emitter.program.instructions.append(Instruction(kind, bodies, inputs, outputs, op, op.effects))


# Gradient.


@gradients.gradient_of("If")
@gradients.gradient_of("Case")
def _gradient(op: Operation, *dys: Any) -> list[Any]:
    """A node of the same kind whose branches are the gradients of the branches."""
    graph = context.current_graph()
    bodies: list[Body] = op.attrs["branches"]
    arguments = op.inputs[1:]
    wanted = [i for i, x in enumerate(arguments) if gradients.differentiable(x.dtype)]
    given = [i for i, dy in enumerate(dys) if dy is not None]
    upstream = [dense(dys[i]) for i in given]
    backs, results = [], []
    for body in bodies:
        back, found = backward(body, given, wanted)
        backs.append(back)
        results.append(found)
    kept = [k for k in range(len(wanted)) if any(found[k] is not None for found in results)]
    outputs: list[list[Any]] = []
    for body, back, found in zip(bodies, backs, results, strict=True):
        with back.as_default():
            outputs.append([
                building.as_symbolic(back, zeros_of(body.graph.inputs[wanted[k]])) if found[k] is None else found[k]
                for k in kept
            ])  # fmt: skip
    for k, (body, back) in enumerate(zip(bodies, backs, strict=True)):
        _connect(op, k, body, back)
    pred = building.as_symbolic(graph, op.inputs[0])
    both = [Body(b, ys) for b, ys in zip(backs, outputs, strict=True)]
    node = build(graph, pred, both, f"{op.name.rpartition('/')[2]}_grad", upstream)
    result: list[Any] = [None] * len(op.inputs)
    for k, y in zip(kept, node.outputs, strict=True):
        result[1 + wanted[k]] = y
    return result


def dense(dy: Any) -> Any:
    return dy.to_dense() if isinstance(dy, IndexedSlices) else convert_to_tensor(dy)


def zeros_of(x: SymbolicTensor) -> Any:
    """Zeros like an input; of a variable, like its value."""
    if x.dtype == dtypes.resource:
        kind = getattr(x, "handle_dtype", None) or dtypes.float32
        return zeros(gradient_calls.shape_vector(x), kind)
    return zeros_like(x)


def backward(
    body: Body, given: Sequence[int], wanted: Sequence[int]
) -> tuple[FuncGraph, list[Any]]:
    """The graph of the gradients of a body, and these for the inputs `wanted`.

    Its own inputs are the gradients of the outputs `given`; it captures tensors of the body's graph, and from
    outside of it what only the gradients use.
    """
    known = len(body.graph.inputs)
    with body.graph.as_default():
        back = FuncGraph(f"{body.graph.name}_grad")
    with back.as_default():
        dys = []
        for i in given:
            y = body.outputs[i]
            dys.append(back.add_input(y.dtype, y.shape_tuple, f"grad_{i}"))
        found = gradients.gradients(
            [body.outputs[i] for i in given], [body.graph.inputs[i] for i in wanted], dys
        )
        dxs = [None if dx is None else building.as_symbolic(back, dense(dx)) for dx in found]
    gone = body.graph.forget_captures(body.graph.inputs[known:])
    for tensor, inner in back.captures:
        if id(tensor) in gone:
            back.drop_capture(tensor)
            back.replace_capture(_reachable(gone[id(tensor)]), inner)
    return back, dxs


def _reachable(tensor: Any) -> Any:
    """A tensor as the graph being built can have it; the bodies of copied nodes are still inside of the original."""
    around: list[Any] = [context.current_graph()]
    while isinstance(around[-1], FuncGraph):
        around.append(around[-1].enclosing_graph)
    while isinstance(tensor, SymbolicTensor) and tensor.op.graph not in around:
        found = [outer for outer, inner in tensor.op.graph.captures if inner is tensor]
        if not found:
            break  # using it says that it is out of scope
        tensor = found[0]
    return tensor


def _connect(op: Operation, k: int, body: Body, back: FuncGraph) -> None:
    """Lets what `back` captures of a branch be outputs or inputs of the node."""
    graph = context.current_graph()
    places = {id(x): i for i, x in enumerate(body.graph.inputs)}
    for tensor, inner in back.captures:
        place = places.get(id(tensor))
        if place is not None:
            outer = op.inputs[1 + place]
        else:
            outer = intermediate(op, k, tensor) if inside(body, tensor) else tensor
        back.drop_capture(tensor)
        back.replace_capture(building.as_symbolic(graph, outer), inner)


def inside(body: Body, tensor: Any) -> bool:
    """Whether a tensor that the gradients of a body read is one of it."""
    return isinstance(tensor, SymbolicTensor) and tensor.op.graph is body.graph


def intermediate(op: Operation, k: int, tensor: SymbolicTensor) -> SymbolicTensor:
    """A tensor inside of branch `k` as an output of the node; the other branches give a dummy for it."""
    bodies: list[Body] = op.attrs["branches"]
    for i, y in enumerate(bodies[k].outputs):
        if y is tensor:
            return op.outputs[i]
    for i, body in enumerate(bodies):
        body.outputs.append(tensor if i == k else _dummy(body.graph, tensor))
    op.graph.edited()
    made = op.add_output(tensor.dtype, tensor.shape_tuple)
    copy_handle(tensor, made)
    return made


def _dummy(graph: FuncGraph, like: SymbolicTensor) -> SymbolicTensor:
    known = graph.__dict__.setdefault("_dummies", {})
    if like.dtype not in known:
        with graph.as_default():
            if like.dtype == dtypes.variant:
                known[like.dtype] = EmptyTensorList([], -1, element_dtype=dtypes.float32)
            elif like.dtype == dtypes.resource:
                known[like.dtype] = next(x for x in graph.inputs if x.dtype == dtypes.resource)
            else:
                known[like.dtype] = building.as_symbolic(graph, zeros([], like.dtype))
    return known[like.dtype]
