"""What becomes of a whole dataset, as nodes of TensorFlow's ops; None where there is none for it."""

from __future__ import annotations

from typing import Any

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.data import element
from tapeflow.data.iteration.staged_passes import variant_of
from tapeflow.data.nodes.nodes import add
from tapeflow.data.nodes.writing import NoOpForIt, body_of, is_plain, types_of
from tapeflow.ops.math.casting import cast


def _given(dataset: Any) -> Any:
    """The variant tensor of a dataset of dense tensors; None for others."""
    try:
        return variant_of(dataset) if is_plain(dataset.element_spec) else None
    except NoOpForIt:
        return None


def reduced(dataset: Any, state: Any, traced: Any, kept: Any) -> Any:
    """The last state of a fold, of which all states are as `kept` says."""
    if not is_plain(kept):
        return None
    try:
        variant = _given(dataset)
        if variant is None:
            return None
        body, captured = body_of(traced)
    except NoOpForIt:
        return None
    first = [convert_to_tensor(x) for x in element.flatten(state)]
    attrs = {
        "f": body,
        "Tstate": [x.dtype for x in first],
        "Targuments": [x.dtype for x in captured],
        **types_of(kept),
    }
    op = add("ReduceDataset", [variant, *first, *captured], attrs)
    return element.unflatten(kept, iter(op.outputs))


def single_element(dataset: Any) -> Any:
    """The only element."""
    variant = _given(dataset)
    if variant is None:
        return None
    op = add("DatasetToSingleElement", [variant], types_of(dataset.element_spec))
    return element.unflatten(dataset.element_spec, iter(op.outputs))


def cardinality(dataset: Any) -> Any:
    """The number of elements."""
    variant = _given(dataset)
    return None if variant is None else add("DatasetCardinality", [variant], {}).outputs[0]


def element_at(dataset: Any, index: Any) -> Any:
    """The element of a number."""
    variant = _given(dataset)
    if variant is None:
        return None
    op = add("GetElementAtIndex", [variant, cast(index, dtypes.int64)], types_of(dataset.element_spec))
    return element.unflatten(dataset.element_spec, iter(op.outputs))
