"""map_fn over extension types that can be batched: as a map over the parts that they are encoded as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.specs.extension_batching import (
    BatchableExtensionType,
    BatchableExtensionTypeSpec,
    decoded,
    encoded,
    encoding_specs,
)
from tapeflow.core.specs.protocol import batched, unbatched
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec
from tapeflow.core.specs.type_specs import type_spec_from_value
from tapeflow.core.structures import nest


def concerns(elems: Any, signature: Any) -> bool:
    """Whether elements or results are batches of extension types."""
    return any(isinstance(e, BatchableExtensionType) for e in nest.flatten(elems)) or any(
        isinstance(s, BatchableExtensionTypeSpec) for s in nest.flatten(signature)
    )


def _encoded(values: Any, minimum_rank: int = 0) -> Any:
    return nest.map_structure(
        lambda v: encoded(v, minimum_rank) if isinstance(v, BatchableExtensionType) else v, values
    )


def _decoded(specs: Any, parts: Any) -> Any:
    return nest.map_structure_up_to(
        specs, lambda s, v: decoded(s, v) if isinstance(s, BatchableExtensionTypeSpec) else v, specs, parts
    )


def _wanted(spec: Any) -> Any:
    """What map_fn has to know of results of a spec."""
    if isinstance(spec, BatchableExtensionTypeSpec):
        return nest.map_structure(_wanted, encoding_specs(spec))
    return spec.dtype if isinstance(spec, TensorSpec) else spec


def map_components(
    map_fn: Callable[..., Any], fn: Callable[..., Any], elems: Any, signature: Any, **options: Any
) -> Any:
    """`map_fn` of the parts that `elems` are encoded as; the results decoded as the signature says."""
    specs = nest.map_structure(lambda e: unbatched(type_spec_from_value(e)), elems)
    promised = specs if signature is None else signature
    found: list[Any] = []

    def of_parts(parts: Any) -> Any:
        result = fn(_decoded(specs, parts))
        found[:] = [nest.map_structure(type_spec_from_value, result)]
        return _encoded(result)

    mapped = map_fn(
        of_parts, _encoded(elems, 1), fn_output_signature=nest.map_structure(_wanted, promised), **options
    )
    # What the function was seen to give says more than what was promised.
    of_one = found[0] if found else promised
    size = next((v.shape[0] for v in nest.flatten(mapped) if v.shape.rank), None)
    batch = nest.map_structure(
        lambda s: batched(s, size) if isinstance(s, TypeSpec) else s, of_one
    )
    return _decoded(batch, mapped)
