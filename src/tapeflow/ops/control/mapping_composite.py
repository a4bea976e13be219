"""map_fn over extension types that can be batched: as a map over the tensors that they are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.specs.extension_type import BatchableExtensionType, BatchableExtensionTypeSpec
from tapeflow.core.specs.protocol import batched, component_specs, from_components, unbatched
from tapeflow.core.specs.tensor_spec import TensorSpec
from tapeflow.core.specs.type_specs import type_spec_from_value
from tapeflow.core.structures import nest


def concerns(elems: Any, signature: Any) -> bool:
    """Whether elements or results are batches of extension types."""
    return any(isinstance(e, BatchableExtensionType) for e in nest.flatten(elems)) or any(
        isinstance(s, BatchableExtensionTypeSpec) for s in nest.flatten(signature)
    )


def _element_spec(value: Any) -> Any:
    spec = type_spec_from_value(value)
    return (
        TensorSpec(spec.shape[1:], spec.dtype) if isinstance(spec, TensorSpec) else unbatched(spec)
    )


def _composed(specs: Any, tensors: list[Any]) -> Any:
    """The structure of `specs` of its tensors."""
    each = iter(tensors)

    def one(spec: Any) -> Any:
        if not isinstance(spec, BatchableExtensionTypeSpec):
            return next(each)
        return from_components(spec, [next(each) for _ in component_specs(spec)])

    return nest.map_structure(one, specs)


def _dtypes(specs: Any) -> list[Any]:
    return [
        dtypes.as_dtype(getattr(part, "dtype", part))
        for spec in nest.flatten(specs)
        for part in (
            component_specs(spec) if isinstance(spec, BatchableExtensionTypeSpec) else [spec]
        )
    ]


def map_components(
    map_fn: Callable[..., Any], fn: Callable[..., Any], elems: Any, signature: Any, **options: Any
) -> Any:
    """`map_fn` of the tensors that `elems` are made of; the results put together as the signature says."""
    specs = nest.map_structure(_element_spec, elems)
    promised = specs if signature is None else signature
    found: list[Any] = []

    def of_tensors(parts: list[Any]) -> list[Any]:
        result = fn(_composed(specs, parts))
        found[:] = [nest.map_structure(type_spec_from_value, result)]
        return nest.flatten(result, expand_composites=True)

    tensors = nest.flatten(elems, expand_composites=True)
    mapped = map_fn(of_tensors, tensors, fn_output_signature=_dtypes(promised), **options)
    # What the function was seen to give says more than what was promised.
    of_one = found[0] if found else promised
    size = mapped[0].shape[0] if mapped and mapped[0].shape.rank else None
    batch = nest.map_structure(
        lambda s: batched(s, size) if isinstance(s, BatchableExtensionTypeSpec) else s, of_one
    )
    return _composed(batch, mapped)
