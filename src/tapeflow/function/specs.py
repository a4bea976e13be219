"""Specs and names of the arguments of a trace: made of tensors, and stood in for by tensors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from tapeflow import _native
from tapeflow.core.sparse_tensor import SIZES, SparseTensorSpec
from tapeflow.core.specs.protocol import from_placeholders
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.structures import nest
from tapeflow.core.structures.nest_paths import flatten_with_tuple_paths
from tapeflow.core.tensor_shape import TensorShape
from tapeflow.function import arguments, function_type
from tapeflow.function.arguments import Call, Signature
from tapeflow.graph.build import building
from tapeflow.graph.func_graph import FuncGraph

_Tensor = _native.Tensor


def own_names(call: Call) -> list[str | None]:
    """For each tensor, the name that the spec has which it stands for."""
    return [getattr(x, "spec_name", None) for x in call.tensors]


def _labelled(signature: Signature, call: Call) -> list[tuple[str, Any]]:
    """Each argument with the name of its parameter, in the order in which traces take them."""
    positional = function_type.labels(signature.names, signature.variadic, len(call.args))
    return [*zip(positional, call.args, strict=True), *sorted(call.kwargs.items())]


def labels_of(signature: Signature, call: Call) -> list[str]:
    """For each tensor, the name of the parameter that it is, or is part of.

    Raises ValueError for parameters that differ only in characters which names of operations cannot have.
    """
    found: list[str] = []
    originals: dict[str, str] = {}
    for name, value in _labelled(signature, call):
        label = function_type.sanitized(name) if name in call.kwargs else name
        if originals.setdefault(label, name) != name:
            raise ValueError(
                "Name collision after sanitization. Please rename tf.function input parameters. Original: "
                f"{sorted([name, originals[label]])}, Sanitized: {[label]}"
            )
        held = nest.flatten(value, expand_composites=True)
        found += [label] * sum(isinstance(x, _Tensor) for x in held)
    return found


def names_of(labels: Sequence[str], own: Sequence[str | None]) -> list[str]:
    """A name for each tensor: its own, or that of its parameter, numbered where several would have it."""
    found: list[str] = []
    taken: Counter[str] = Counter()
    for label, given in zip(labels, own, strict=True):
        count = taken[label]
        taken[label] += given is None
        found.append(given or (f"{label}_{count}" if count else label))
    return found


def structured(
    signature: Signature, call: Call, specs: Sequence[Any], own: Sequence[str | None]
) -> tuple[Any, Any]:
    """The arguments as (args, kwargs) with specs in place of tensors, twice.

    First with a name for each spec, which says where in the arguments it stands; then with the names of a program only.
    """
    each = list(zip(specs, own, strict=True))
    named = iter(each)
    shown = iter(each)
    full: list[Any] = []
    plain: list[Any] = []
    for name, value in _labelled(signature, call):
        label = function_type.sanitized(name) if name in call.kwargs else name
        leaves = flatten_with_tuple_paths(value)
        full_leaves = [_spec(x, named, _path_name(label, path)) for path, x in leaves]
        full.append(nest.pack_sequence_as(value, full_leaves))
        plain.append(nest.pack_sequence_as(value, [_spec(x, shown, None) for _, x in leaves]))
    return _arguments(call, full), _arguments(call, plain)


def _arguments(call: Call, values: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    count = len(call.args)
    by_name = dict(zip(sorted(call.kwargs), values[count:], strict=True))
    return tuple(values[:count]), {name: by_name[name] for name in call.kwargs}


def _path_name(label: str, path: tuple[Any, ...]) -> str:
    name = re.sub(r"\W", "_", "_".join([label, *map(str, path)])).lower()
    return name if name[0].isalpha() else f"tensor_{name}"


def _spec(x: Any, described: Iterator[Any], name: str | None) -> Any:
    """The spec of a leaf of the arguments; what is no tensor stays as it is."""
    if isinstance(x, _Tensor):
        (dtype, shape), own = next(described)
        return TensorSpec(shape, dtype, own or name)
    if nest.is_nested_or_composite(x):
        own_spec = getattr(x, "_type_spec", None)
        last: Any = None
        for leaf in nest.flatten(x, expand_composites=True):
            if isinstance(leaf, _Tensor):
                last, _ = next(described)
        if isinstance(own_spec, SparseTensorSpec) and last is not None and last[0] is SIZES:
            return SparseTensorSpec(TensorShape(last[1]), own_spec.dtype)
        return x if own_spec is None else own_spec
    return x


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
