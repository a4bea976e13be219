"""`stablehlo`: a function as a StableHLO module, in the versioned form of `jax.export`."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.public import public
from tapeflow.ops.lookup.table_object import Table
from tapeflow.ops.state.resource_op import object_of
from tapeflow.xla.boundary import array_of
from tapeflow.xla.importing import jax
from tapeflow.xla.tracing import Lowering
from tapeflow.xla.values import VariableHandle, traced


@public
def stablehlo(function: Any, *args: Any, variables: str = "constants", **kwargs: Any) -> Any:
    """Lower a function to StableHLO.

    Args:
      function: a `tf.function` or a concrete function. Every input has a known shape and is no string.
      *args, **kwargs: what a `tf.function` is traced with: tensors or `tf.TensorSpec`s.
      variables: "constants": their values now are in the module. "arguments": the module takes their values
        after the inputs, in the order of the function's captures.

    Returns:
      A `jax.export.Exported`: `mlir_module()` is the text, `serialize()` the bytes, which
      `jax.export.deserialize` reads, and `call` runs it.

    Raises:
      ValueError: `variables` is neither, an input has no known shape, or the function assigns a variable.
      UnimplementedError: jax is missing, an operation cannot be compiled, or the function uses a table.
    """
    from jax import export  # loaded by those who export only

    if variables not in ("constants", "arguments"):
        raise ValueError(f"variables must be 'constants' or 'arguments', got {variables!r}")
    concrete = function
    if hasattr(function, "get_concrete_function"):
        concrete = function.get_concrete_function(*args, **kwargs)
    graph, captured = concrete.graph, concrete.captured_inputs
    given = graph.inputs[: len(graph.inputs) - len(captured)]
    specs = [_spec(x) for x in given]
    held: list[Any] = []  # variables, each once
    for x in captured:
        if x.dtype is not dtypes.resource:
            continue
        if isinstance(object_of(x), Table):
            what = f"{concrete.function_name} uses a table, which a StableHLO module cannot"
            raise UnimplementedError(None, None, what)
        if not any(x.numpy()() is v for v in held):
            held.append(x.numpy()())
    values = [array_of(v.read_value()) for v in held]

    def run(*arrays: Any) -> list[Any]:
        state = arrays[len(given) :] if variables == "arguments" else [jax.numpy.asarray(v) for v in values]
        lowering = Lowering(dict(enumerate(state)))
        inner = list(arrays[: len(given)])
        for x in captured:
            if x.dtype is dtypes.resource:
                slot = next(i for i, v in enumerate(held) if v is x.numpy()())
                inner.append(VariableHandle(lowering, slot, held[slot].dtype))
            else:
                inner.append(array_of(x))
        results = [traced(y) for y in lowering.body(graph, concrete.outputs, inner)]
        if lowering.state.written:
            raise ValueError(f"{concrete.function_name} assigns variables, which a StableHLO module cannot")
        return results

    with jax.enable_x64(True):
        if variables == "arguments":
            specs += [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in values]
        return export.export(jax.jit(run, keep_unused=True), platforms=["cpu"])(*specs)


def _spec(x: Any) -> Any:
    if x.shape_tuple is None or None in x.shape_tuple:
        raise ValueError(f"The shape of input '{x.name}' has to be known, got {x.shape}")
    return jax.ShapeDtypeStruct(x.shape_tuple, x.dtype.as_numpy_dtype)
