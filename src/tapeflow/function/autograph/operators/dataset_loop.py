"""Elements of datasets while a graph is built: nodes take the next one each time they run.

Datasets and iterators say how, by their `staged_pass()`; those of several replicas share each element out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow.core.structures import nest
from tapeflow.function.autograph.operators import staging


def _of_replicas(source: Any, element: Any) -> Any:
    """What a source gives for an element of the dataset behind it: the same, or parts for replicas."""
    return source.shared_out(element) if hasattr(source, "shared_out") else element


def _pass_over(source: Any) -> Any:
    """A pass over a dataset, or what an iterator still has, by nodes of the graph that is being built."""
    return source._staged_pass()


def loop_over(source: Any, more: Any, body: Callable[..., Any], frame: Any) -> None:
    """A loop over a dataset, of which each run of the loop makes a pass, or over what an iterator still has."""
    elements = _pass_over(source)

    def one(_: Any, *held: Any) -> list[Any]:
        body(_of_replicas(source, elements.value(*held)))
        if more is None:
            return elements.step()
        goes_on = more()
        if not staging.is_staged(goes_on):
            return elements.step() if goes_on else elements.nothing()
        return staging.cond(goes_on, elements.step, elements.nothing)

    # A dataset's own loop is a fold, whose state may change its shape; one over an iterator is an ordinary loop.
    relax = not hasattr(source, "__next__") and not hasattr(source, "shared_out")
    frame.stage(lambda there, *_: there, one, elements.step(), relax=relax)


def next_element(iterator: Any) -> Any:
    """The next element of an iterator, as tensors of the graph; OutOfRangeError when it runs at the end."""
    return _of_replicas(iterator, _pass_over(iterator).next())


def next_if_any(iterator: Any) -> tuple[Any, Any]:
    """Whether an iterator has another element, and that element."""
    elements = _pass_over(iterator)
    there, *held = elements.step()

    def value() -> list[Any]:
        return nest.flatten(elements.value(*held), expand_composites=True)

    def blank() -> list[Any]:
        return nest.flatten(elements.blank(), expand_composites=True)

    found = staging.cond(there, value, blank)
    return there, _of_replicas(iterator, nest.pack_sequence_as(elements.spec, found, expand_composites=True))


def next_or(iterator: Any, default: Callable[[], Any], choose: Callable[..., Any]) -> Any:
    """The next element of an iterator, or `default()` at its end."""
    there, value = next_if_any(iterator)
    return choose(there, lambda: value, default, "next")
