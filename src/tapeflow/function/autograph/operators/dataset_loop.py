"""Elements of datasets while a graph is built: a node takes the next one each time it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core import nest
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import bool as bool_dtype
from tapeflow.core.dtypes import variant
from tapeflow.function.autograph.operators import staging
from tapeflow.graph import python_ops

_END: Any = object()


def loop_over(source: Any, more: Any, body: Any, frame: Any) -> None:
    """A loop over a dataset, of which each run of the loop makes a pass, or over what an iterator still has."""
    spec = source.element_spec
    handle = begin(source) if hasattr(source, "take_while") else _handle_of(source)

    def pull() -> list[Any]:
        return _next(source, handle, spec)

    def nothing() -> list[Any]:
        return [convert_to_tensor(False), *map(convert_to_tensor, _blank(spec))]

    def one(_: Any, *leaves: Any) -> list[Any]:
        body(nest.pack_sequence_as(spec, list(leaves)))
        if more is None:
            return pull()
        goes_on = more()
        if not staging.is_staged(goes_on):
            return pull() if goes_on else nothing()
        return staging.cond(goes_on, pull, nothing)

    frame.stage(lambda there, *_: there, one, pull(), relax=True)


def next_element(iterator: Any) -> Any:
    """The next element of an iterator, as tensors of the graph; OutOfRangeError when it runs at the end."""
    from tapeflow.core.errors import OutOfRangeError

    spec = iterator.element_spec

    def run(held: Any = None) -> list[Any]:
        value = next(iterator if held is None else _held(held), _END)
        if value is _END:
            raise OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext]")
        return _tensors(value)

    inputs = [] if iterator._handle is None else [iterator._handle]
    return nest.pack_sequence_as(spec, _node(run, inputs, _outputs(spec)))


def next_if_any(iterator: Any) -> tuple[Any, Any]:
    """Whether an iterator has another element, and that element."""
    there, *leaves = _next(iterator, _handle_of(iterator), iterator.element_spec)
    return there, nest.pack_sequence_as(iterator.element_spec, leaves)


def next_or(iterator: Any, default: Callable[[], Any], choose: Callable[..., Any]) -> Any:
    """The next element of an iterator, or `default()` at its end."""
    there, value = next_if_any(iterator)
    return choose(there, lambda: value, default, "next")


def begin(dataset: Any) -> Any:
    """A variant tensor that holds a pass over `dataset`, a new one in each run."""

    def run(*values: Any) -> list[Any]:
        return [python_ops._boxed(iter(dataset.with_inputs(values)))]

    return _node(run, list(getattr(dataset, "_captured", dataset._inputs)), [(variant, ())])[0]


def _handle_of(iterator: Any) -> Any:
    return getattr(iterator, "_handle", None)


def _held(handle: Any) -> Any:
    found = handle.numpy()
    return found.item() if hasattr(found, "item") else found


def _next(source: Any, handle: Any, spec: Any) -> list[Any]:
    """Whether there was another element, and its tensors."""

    def run(held: Any = None) -> list[Any]:
        value = next(source if held is None else _held(held), _END)
        if value is _END:
            return [convert_to_tensor(False), *map(convert_to_tensor, _blank(spec))]
        return [convert_to_tensor(True), *_tensors(value)]

    inputs = [] if handle is None else [handle]
    return _node(run, inputs, [(bool_dtype, ()), *_outputs(spec)])


def _tensors(value: Any) -> list[Any]:
    return [convert_to_tensor(leaf) for leaf in nest.flatten(value)]


def _outputs(spec: Any) -> list[tuple[Any, Any]]:
    return [
        (s.dtype, None if s.shape.rank is None else tuple(s.shape.as_list()))
        for s in nest.flatten(spec)
    ]


def _blank(spec: Any) -> list[np.ndarray]:
    """What stands for an element after the last."""
    return [
        np.zeros([d or 0 for d in (shape or ())], dtype.as_numpy_dtype)
        for dtype, shape in _outputs(spec)
    ]


def _node(run: Callable[..., Any], inputs: list[Any], outputs: list[Any]) -> list[Any]:
    return list(python_ops.node("PyFunc", run, inputs, outputs, "IteratorGetNext").outputs)
