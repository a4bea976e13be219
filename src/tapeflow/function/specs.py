"""Specs of the arguments of a trace: made of tensors, and stood in for by tensors."""

from __future__ import annotations

from typing import Any

from tapeflow import _native
from tapeflow.core.sparse_tensor import SparseTensorSpec
from tapeflow.core.specs.protocol import from_placeholders
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import nest
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.function import arguments
from tapeflow.function.arguments import Call, Signature
from tapeflow.graph.build import building
from tapeflow.graph.func_graph import FuncGraph


def spec_like(x: Any, flat_specs: Any) -> Any:
    if isinstance(x, _native.Tensor):
        return next(flat_specs)
    if nest.is_nested_or_composite(x):
        own = getattr(x, "_type_spec", None)
        last = None
        for leaf in nest.flatten(x, expand_composites=True):
            if isinstance(leaf, _native.Tensor):
                last = next(flat_specs)
        if isinstance(own, SparseTensorSpec) and isinstance(last, TensorShape):
            return SparseTensorSpec(last, own.dtype)
        return x if own is None else own
    return x


def names_of(signature: Signature, call: Call) -> list[str]:
    """A name for each tensor: its own, or that of the parameter that it is, or is part of."""
    found: list[str] = []
    known = signature.names

    def take(label: str, value: Any) -> None:
        leaves = [
            x for x in nest.flatten(value, expand_composites=True) if isinstance(x, _native.Tensor)
        ]
        unnamed = 0
        for leaf in leaves:
            own = getattr(leaf, "spec_name", None)
            found.append(own or (f"{label}_{unnamed}" if unnamed else label))
            unnamed += own is None

    for i, value in enumerate(call.args):
        take(known[i] if i < len(known) else f"args_{i - len(known)}", value)
    for key in sorted(call.kwargs):
        take(key, call.kwargs[key])
    return found


def call_of_specs(args: Any, kwargs: Any) -> Call:
    """A call whose specs stand for tensors that are there only to be traced."""
    scratch = FuncGraph("specs")

    def stand_in(x: Any) -> Any:
        if isinstance(x, TensorSpec):
            shape = None if x.shape.rank is None else tuple(x.shape.as_list())
            made = building.placeholder(scratch, x.dtype, shape, "spec")
            if x.name is not None:
                made.__dict__["spec_name"] = x.name
            return made
        if isinstance(x, TypeSpec):
            return from_placeholders(
                x, lambda dtype, shape: building.placeholder(scratch, dtype, shape, "spec")
            )
        return arguments.as_argument(x)

    args, kwargs = nest.map_structure(
        stand_in, (tuple(args), dict(kwargs)), expand_composites=False
    )
    return arguments.take_apart(args, kwargs)
