"""`tf.compat.v1.wrap_function`: graph code of 1.x as a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core import context, scope_state
from tapeflow.core.annotations import Tensor
from tapeflow.core.public import public, public_methods
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.structures import nest
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.graph.build import tracing
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.graph.func_graph import FuncGraph, copy_handle, own_collections
from tapeflow.graph.interchange.inlining import copy_operation
from tapeflow.graph.operation import Operation
from tapeflow.graph.run.order import needed
from tapeflow.graph.tensor import SymbolicTensor

if TYPE_CHECKING:
    from tapeflow.graph.graph import Graph


@public_methods
class WrappedFunction(ConcreteFunction):
    """A function whose graph can be cut into others."""

    def prune(
        self, feeds: Sequence[Tensor], fetches: Any, name: str = "pruned",
        input_signature: Sequence[Any] | None = None,
    ):
        """The part of the function from `feeds` to `fetches`, as a function of its own.

        Args:
          feeds: tensors of `graph`, in any structure.
          fetches: tensors or operations of `graph`, or names of such, in any structure.
          input_signature: (args, kwargs) of specs, one for each tensor of `feeds`: what the function is called with.

        Raises ValueError for feeds that are no tensors, and for a signature of another number of specs.
        """
        own = self._graph
        fetches = nest.map_structure(lambda x: _element(own, x), fetches)
        feeds = nest.map_structure(lambda x: _element(own, x), feeds)
        flat_feeds = nest.flatten(feeds)
        if not all(isinstance(x, SymbolicTensor) for x in flat_feeds):
            raise ValueError("Feeds must be tensors.")
        internal = {id(x) for x in own.internal_captures}
        rest = [x for x in flat_feeds if id(x) not in internal]
        flat = nest.flatten(fetches)
        targets = [x for x in flat if isinstance(x, Operation)]
        tensors = [x for x in flat if isinstance(x, SymbolicTensor)]
        with context.init_scope():
            cut = FuncGraph(name)
        cut.limits = own.limits
        found: dict[int, SymbolicTensor] = {}
        copies: dict[int, Operation] = {}
        with cut.as_default():
            for x in rest:
                found[id(x)] = cut.add_input(x.dtype, x.shape_tuple, x.op.name)
            for outer, inner in own.captures:
                found[id(inner)] = cut.add_capture(outer, inner.op.name)
                copy_handle(inner, found[id(inner)])
            for variable, handle in own.variables_by_handle.items():
                if id(handle) not in found:
                    continue
                cut.variables_by_handle[variable] = found[id(handle)]
                cut.watch_variable(variable)
            for op in needed(own, tensors, targets, [*rest, *own.internal_captures]):
                if not (op.outputs and id(op.outputs[0]) in found):
                    copies[id(op)] = copy_operation(cut, op, found, copies, f"{op.name}/")
        cut.outputs = [found[id(x)] for x in tensors]
        cut.structured_outputs = nest.map_structure(
            lambda x: None if isinstance(x, Operation) else found[id(x)], fetches
        )
        cut.targets = [copies[id(op)] for op in targets if id(op) in copies]
        cut.pruned = True
        if input_signature is None:
            specs = [TensorSpec(x.shape, x.dtype, x.op.name) for x in rest]
            return WrappedFunction(cut, name, (tuple(specs), {}), [x.op.name for x in rest])
        args, kwargs = input_signature
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        names = [x.op.name for x in rest[: len(nest.flatten(args))]]
        for key in sorted(kwargs):
            parts = nest.flatten(kwargs[key])
            names += [key] if parts == [kwargs[key]] else [f"{key}_{i}" for i in range(len(parts))]
        if len(names) != len(rest):
            raise ValueError(f"input_signature has {len(names)} specs for {len(rest)} feeds: {input_signature}")
        return WrappedFunction(cut, name, (tuple(args), dict(kwargs)), names)


def _element(graph: Graph, x: Any) -> Any:
    if isinstance(x, str):
        return graph.as_graph_element(x)
    if hasattr(x, "tensor_shape"):  # a TensorInfo
        return graph.as_graph_element(x.name)
    if isinstance(x, _native.Variable):
        return graph.variables_by_handle.get(x) or x
    return x


@api(v1="wrap_function")
@public
def wrap_function(fn, signature: Sequence[Any], name=None):
    """`fn`, written for graphs of 1.x, as a function that is traced once.

    Args:
      signature: specs of its arguments; None for none.

    Its variables are created once, and kept by the function. As in graphs of 1.x, only what its results need runs.
    """
    graph = FuncGraph(name or getattr(fn, "__name__", "wrapped_function"), own_collections())
    specs = [] if signature is None else list(signature)
    tensors = [spec for spec in nest.flatten(specs) if isinstance(spec, TensorSpec)]
    names = [spec.name or f"arg{i}" for i, spec in enumerate(tensors)]
    graph.pruned = True
    scope_state.of_graph(graph)  # as a graph of its own
    with graph.as_default():
        flat = iter([
            graph.add_input(spec.dtype, None if spec.shape.rank is None else tuple(spec.shape.as_list()), label)
            for spec, label in zip(tensors, names, strict=True)
        ])  # fmt: skip
        args = nest.map_structure(lambda x: next(flat) if isinstance(x, TensorSpec) else x, specs)
        result = fn(*args)
        fetched = [x for x in nest.flatten(result) if isinstance(x, Operation)]
        tracing.finish(graph, result)
    graph.targets = fetched
    for variable in graph.created_variables or ():
        keys = [
            GraphKeys.GLOBAL_VARIABLES,
            *([GraphKeys.TRAINABLE_VARIABLES] if variable.trainable else []),
        ]
        for key in keys:
            if all(variable is not v for v in graph.get_collection(key)):
                graph.add_to_collection(key, variable)
    return WrappedFunction(graph, graph.name, (tuple(specs), {}), names)
