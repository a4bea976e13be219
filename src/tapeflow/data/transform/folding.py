"""Functions with a state, traced: of `scan`, `reduce` and `group_by_reducer`. Their states may lose static shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.data import element
from tapeflow.data.arguments import require, require_callable
from tapeflow.data.transform.tracing import Traced


def first_state(state: Any) -> Any:
    """The first state of a fold as tensors."""
    return element.to_element(state)


def folded(name: str, arguments: dict[str, Any], function: Any) -> Traced:
    """Trace the function of `scan`: of the argument `initial_state` and an element."""
    require_callable(function)
    return with_state(function, arguments["initial_state"], arguments["dataset"].element_spec, name)[0]


def with_state(fn: Callable[..., Any], state: Any, spec: Any, name: str) -> tuple[Traced, Any]:
    """A function of a state and an element, and the spec that all states satisfy."""
    return fold_specs(fn, element.spec_of(state), spec, name)


def fold_specs(fn: Callable[..., Any], kept: Any, spec: Any, name: str) -> tuple[Traced, Any]:
    """A function of a state, of which the first is as `kept` says, and an element; and the spec of all states."""
    while True:
        traced = Traced(fn, [kept, spec], name, False)
        new = _state_of(traced.spec) if name == "scan" else traced.spec
        if name != "scan":
            same_count(kept, new)
        merged = element.map_leaves(_merged, kept, new)
        if merged == kept:
            return traced, kept
        kept = merged


def _state_of(spec: Any) -> Any:
    if not isinstance(spec, tuple) or len(spec) != 2:
        raise TypeError(
            "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value but "
            f"its return type is {spec}."
        )
    return spec[0]


def _merged(old: Any, new: Any) -> Any:
    found = element.merge_specs(old, new)
    if found is None and old is not None:
        if getattr(old, "dtype", None) != getattr(new, "dtype", None) or type(old) is not type(new):
            raise TypeError(
                "The element types for the new state must match the initial state. Expected "
                f"{getattr(old, 'dtype', old)!r} but got {getattr(new, 'dtype', new)!r}."
            )
        shape = element.common_shape(old.shape, new.shape)
        return type(old)(shape, old.dtype)
    return found


def same_count(initial: Any, state: Any) -> None:
    """Raises InvalidArgumentError for a state that is not of as many leaves as the first."""
    counts = len(element.flatten(initial)), len(element.flatten(state))
    message = (
        "The number of components of the initial state and the reduce function output does not match. "
        f"(initial_state={counts[0]}, output={counts[1]})."
    )
    require(counts[0] == counts[1], message, "ReduceDataset")
