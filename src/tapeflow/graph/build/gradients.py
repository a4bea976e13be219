"""Gradients of tensors of a graph: `gradients` adds the operations that compute them.

It walks from the targets back to the sources and calls the gradient of each row, which is written in ops, so
that what it adds are operations that can be differentiated again.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tapeflow.core import context, dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.graph.build.gradient_calls import Call, Sum, shape_vector
from tapeflow.graph.jit_scope import as_marked
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.order import sorted_topologically
from tapeflow.graph.tensor import SymbolicTensor
from tapeflow.ops.array.broadcasting import sum_to_shape
from tapeflow.ops.array.construction import ones_like, zeros_like
from tapeflow.ops.array.rows import Identity

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph

# Gradients of nodes without a row: type -> f(op, *gradients of outputs) -> gradients of inputs.
_GRADIENTS: dict[str, Callable[..., Any]] = {}
# Gradients that programs registered under a name, for gradient_override_map and types of their own.
registered: dict[str, Callable[..., Any] | None] = {}


def gradient_of(kind: str) -> Callable[[Any], Any]:
    """Decorates the gradient of nodes of type `kind` that have no row."""

    def register(function: Any) -> Any:
        _GRADIENTS[kind] = function
        return function

    return register


def differentiable(dtype: Any) -> bool:
    """Whether values of a dtype have gradients."""
    return dtype.is_floating or dtype.is_complex or dtype in (dtypes.resource, dtypes.variant)


def gradients(
    ys: Sequence[SymbolicTensor],
    xs: Sequence[SymbolicTensor],
    grad_ys: Sequence[Any] | None = None,
    stop: Sequence[SymbolicTensor] = (),
    recorded: Callable[[Operation], bool] | None = None,
    colocate: bool = False,
) -> list[Any]:
    """The gradients of the sum of `ys` with respect to `xs`: tensors, slices or None.

    Args:
      ys: of one graph.
      xs: of the same graph.
      grad_ys: weights of the elements of `ys`; None, or None entries: ones.
      stop: tensors that are taken as constants.
      recorded: whether gradients flow through an operation.
      colocate: whether the gradient of an operation is computed on its device.

    Raises LookupError for an operation on the way whose op has no gradient.
    """
    stopped = {id(x) for x in stop}
    sources = {id(x) for x in xs}
    origin = Origins(sources)
    ys = [origin(y) for y in ys]
    way = _way(ys, xs, stopped, recorded, origin)
    sums: dict[int, Sum] = {}
    keep: list[Any] = []
    for i, y in enumerate(ys):
        weight = None if grad_ys is None else grad_ys[i]
        if weight is None:
            if not differentiable(y.dtype) and id(y) not in sources:
                continue
            weight = ones_like(y)
        _add(sums, y, weight)
    graph = context.current_graph()
    for op in reversed(_in_order(way)):
        dys = []
        for y in op.outputs:
            found = sums.get(id(y))
            dys.append(None if found is None else found.total())
            if found is not None and id(y) not in sources:
                keep.append(sums.pop(id(y)))
        if all(dy is None for dy in dys):
            continue
        inputs = [origin(x) for x in op.inputs]  # a loop may get more while it is differentiated
        wanted = [
            (id(x) in sources or x.op in way)
            and differentiable(x.dtype)
            and (id(x) not in stopped or id(x) in sources)
            for x in inputs
        ]
        if not any(wanted):
            continue
        scope = f"gradients/{op.name}_grad/" if graph is not None else None
        if scope is None or not hasattr(graph, "name_scope"):
            dxs = _of_op(op, dys, wanted)
        else:
            place = graph.colocate_with(op, ignore_existing=True) if colocate else contextlib.nullcontext()
            with graph.name_scope(scope), place, as_marked(graph, op):
                dxs = _of_op(op, dys, wanted)
        for dx in dxs:
            if isinstance(dx, SymbolicTensor) and dx.op.gradient_of is None and dx.op.graph is graph:
                dx.op.gradient_of = op
        for x, dx, want in zip(inputs, dxs, wanted, strict=True):
            if want and dx is not None:
                _add(sums, x, dx)
    result = []
    for x in xs:
        found = sums.get(id(x))
        result.append(None if found is None else found.total(x.op if colocate else None))
    return result


def _add(sums: dict[int, Sum], x: SymbolicTensor, dx: Any) -> None:
    found = sums.get(id(x))
    if found is None:
        sums[id(x)] = Sum(dx)
    else:
        found.parts.append(dx)


class Origins:
    """What a tensor is outside of the body that captured it, so that gradients reach through bodies being built.

    The sources themselves stay as they are.
    """

    def __init__(self, sources: set[int]):
        self._sources = sources
        self._outer: dict[int, dict[int, Any]] = {}

    def __call__(self, x: SymbolicTensor) -> SymbolicTensor:
        while x.op.type == "Placeholder" and id(x) not in self._sources:
            graph = x.op.graph
            captured = getattr(graph, "_captured", None)
            if not captured:
                break
            outer = self._outer.get(id(graph))
            if outer is None or len(outer) != len(captured):
                outer = self._outer[id(graph)] = {id(inner): o for o, inner in captured.values()}
            found = outer.get(id(x))
            if not isinstance(found, SymbolicTensor):
                break
            x = found
        return x


def _depth(graph: Graph) -> int:
    depth = 0
    while graph.enclosing_graph is not None:
        graph = graph.enclosing_graph
        depth += 1
    return depth


def _place(op: Operation) -> tuple[int, float]:
    """Where an operation is in the order of running: bodies come after what is around them."""
    graph = op.graph
    return (0 if graph.enclosing_graph is None else _depth(graph)), op.index


def _in_order(ops: set[Operation]) -> list[Operation]:
    """The operations as they run, also where inputs were changed to those of operations that were made later."""
    ordered = sorted(ops, key=_place)
    if not any(graph.reordered for graph in {op.graph for op in ops}):
        return ordered
    by_depth = itertools.groupby(ordered, key=lambda op: _place(op)[0])
    return [op for _, group in by_depth for op in sorted_topologically(list(group), set())]


def _way(ys: Any, xs: Any, stopped: set[int], recorded: Any, origin: Origins) -> set[Operation]:
    """The operations between the sources and the targets."""
    sources = {id(x) for x in xs}
    back: set[Operation] = set()
    todo = [y.op for y in ys if id(y) not in stopped]
    while todo:
        op = todo.pop()
        if op in back or (recorded is not None and not recorded(op)):
            continue
        back.add(op)
        for x in op.inputs:
            if id(x) not in stopped:
                source = origin(x).op
                if source not in back:
                    todo.append(source)
    reached: set[int] = set(sources)
    way: set[Operation] = set()
    for op in _in_order(back):
        hit = any(id(x) in reached and differentiable(x.dtype) and (id(x) not in stopped or id(x) in sources)
                  for x in map(origin, op.inputs))  # fmt: skip
        if hit:
            way.add(op)
            for y in op.outputs:
                if id(y) not in stopped:
                    reached.add(id(y))
    return way


def _of_op(op: Operation, dys: list[Any], wanted: list[bool]) -> list[Any]:
    """The gradients of an operation's inputs."""
    if op.row is Identity and isinstance(dys[0], IndexedSlices):
        return [dys[0]]
    if op.custom_gradient is not None:
        return _checked(op, op.custom_gradient(op, *dys))
    override = op.extra_attrs.get("_gradient_op_type")
    name = override.decode() if override is not None else op.type
    if name in registered:
        function = registered[name]
        if function is None:
            return [None] * len(op.inputs)
        return _checked(op, function(op, *_filled(op, dys)))
    if override is not None:
        raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {name})")
    special = _GRADIENTS.get(op.type)
    if special is not None:
        return special(op, *dys)
    row = op.row
    if row is None or not row.gradient_known:
        raise LookupError(
            f"No gradient defined for operation '{op.name}' (op type: {op.type}). In general every operation must have "
            "an associated `@tf.RegisterGradient` for correct autodiff, which this op is lacking."
        )
    function = row._gradient
    if function is None:
        return [None] * len(op.inputs)
    return _flat(op, wanted, _call(op, row, function, dys, wanted))


def _filled(op: Operation, dys: list[Any]) -> list[Any]:
    """Gradients with zeros for outputs that have none."""
    return [
        zeros_like(y) if dy is None and (y.dtype.is_floating or y.dtype.is_complex) else dy
        for dy, y in zip(dys, op.outputs, strict=True)
    ]


def _call(op: Operation, row: Any, function: Any, dys: list[Any], wanted: list[bool]) -> Any:
    if not row.none_gradients:
        dys = [
            zeros_like(y) if dy is None and (y.dtype.is_floating or y.dtype.is_complex) else dy
            for dy, y in zip(dys, op.outputs, strict=True)
        ]
    dense = [dy.to_dense() if isinstance(dy, IndexedSlices) else dy for dy in dys]
    counts = row.schema.output_counts(op.attrs, op.list_sizes)
    return function(Call(op, wanted), *row.schema.split(dense, counts))


def _flat(op: Operation, wanted: list[bool], result: Any) -> list[Any]:
    """One gradient for each flat input, from what a row's gradient returned; broadcasting is undone here."""
    row = op.row
    if len(op.input_sizes) == 1 and op.input_sizes[0] is None:
        parts: list[Any] = list(result) if isinstance(result, tuple) else [result]
    elif len(op.input_sizes) == 1 and isinstance(result, list):
        parts = [result]
    else:
        parts = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(parts) != len(op.input_sizes):
        raise ValueError(
            f"the gradient of {op.type} returned {len(parts)} gradients for {len(op.input_sizes)} inputs"
        )
    flat: list[Any] = []
    for part, size in zip(parts, op.input_sizes, strict=True):
        if size is None:
            flat.append(part)
        elif part is None:
            flat += [None] * size
        else:
            flat += list(part)
    if row.broadcasts:
        flat = [
            None if dx is None or not want else _summed(dx, x)
            for dx, x, want in zip(flat, op.inputs, wanted, strict=True)
        ]
    return flat


def _summed(dx: Any, x: SymbolicTensor) -> Any:
    if isinstance(dx, IndexedSlices):
        return dx

    dx = convert_to_tensor(dx)
    if (
        dx.shape.is_fully_defined()
        and x.shape.is_fully_defined()
        and dx.shape.as_list() == x.shape.as_list()
    ):
        return dx
    return sum_to_shape(dx, x.shape, shape_vector(x))


def _checked(op: Operation, result: Any) -> list[Any]:
    """What a function that a program gave has returned, as a list."""
    found = list(result) if isinstance(result, (list, tuple)) else [result]
    if len(found) != len(op.inputs):
        raise ValueError(
            f"Num gradients {len(found)} generated for op {op.node_def!r} do not match num inputs {len(op.inputs)}"
        )
    return [
        g if g is None or isinstance(g, (IndexedSlices, SymbolicTensor)) else convert_to_tensor(g)
        for g in found
    ]


def _aliases(op: Operation, *dys: Any) -> list[Any]:
    return list(dys)


for _kind in ("IdentityN", "RefIdentity"):
    _GRADIENTS[_kind] = _aliases


@gradient_of("PlaceholderWithDefault")
def _placeholder_with_default(op: Operation, dy: Any) -> list[Any]:
    return [dy]
