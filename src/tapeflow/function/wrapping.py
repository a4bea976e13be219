"""`tf.compat.v1.wrap_function`: graph code of 1.x as a function."""

from __future__ import annotations

from typing import Any

from tapeflow import _native
from tapeflow.core import nest
from tapeflow.core.public import public, public_methods
from tapeflow.core.tensor_spec import TensorSpec
from tapeflow.function.concrete import ConcreteFunction
from tapeflow.graph import tracing
from tapeflow.graph.func_graph import FuncGraph
from tapeflow.graph.operation import Operation
from tapeflow.graph.tensor import SymbolicTensor


@public_methods
class WrappedFunction(ConcreteFunction):
    """A function whose graph can be cut into others."""

    def prune(self, feeds, fetches, name="pruned", input_signature=None):
        """The part of the function from `feeds` to `fetches`, as a function of its own.

        Args:
          feeds: tensors of `graph`, in any structure.
          fetches: tensors or operations of `graph`, or names of such, in any structure.
        """
        own = self._graph
        fetches = nest.map_structure(lambda x: _element(own, x), fetches)
        feeds = nest.map_structure(lambda x: _element(own, x), feeds)
        flat_feeds = nest.flatten(feeds)
        for x in flat_feeds:
            if not isinstance(x, SymbolicTensor):
                raise ValueError("Feeds must be tensors.")
        cut = FuncGraph.__new__(FuncGraph)
        cut.__dict__.update(own.__dict__)
        cut.name = name
        internal = own.internal_captures
        rest = [x for x in flat_feeds if all(x is not y for y in internal)]
        cut.inputs = [*rest, *internal]
        cut.plans = {}
        tensors = [x.outputs[0] if isinstance(x, Operation) and x.outputs else x for x in nest.flatten(fetches)]
        cut.outputs = [x for x in tensors if isinstance(x, SymbolicTensor)]
        cut.structured_outputs = nest.map_structure(
            lambda x: None if isinstance(x, Operation) else x, fetches
        )
        cut.targets = [x for x in nest.flatten(fetches) if isinstance(x, Operation)]
        cut.pruned = True
        specs = [TensorSpec(x.shape, x.dtype, x.op.name) for x in rest]
        signature = (tuple(specs), {})
        return WrappedFunction(cut, name, signature, [x.op.name for x in rest])


def _element(graph: Any, x: Any) -> Any:
    if isinstance(x, str):
        return graph.as_graph_element(x)
    if isinstance(x, _native.Variable):
        return graph.variables_by_handle.get(x) or x
    return x


@public
def wrap_function(fn, signature, name=None):
    """`fn`, written for graphs of 1.x, as a function that is traced once.

    Args:
      signature: specs of its arguments; None for none.

    Its variables are created once, and kept by the function; its side effects run in program order.
    """
    graph = FuncGraph(name or getattr(fn, "__name__", "wrapped_function"))
    specs = [] if signature is None else list(signature)
    tensors = [spec for spec in nest.flatten(specs) if isinstance(spec, TensorSpec)]
    names = [spec.name or f"arg{i}" for i, spec in enumerate(tensors)]
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
    return WrappedFunction(graph, graph.name, (tuple(specs), {}), names)
