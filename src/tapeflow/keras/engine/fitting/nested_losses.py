"""Losses that `compile` was given as a structure: of nested outputs, of parts of them, several for one output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tapeflow.core.structures import nest


class Entry(NamedTuple):
    """One loss: the keys that lead to its part of the outputs, and what it is called in the results."""

    path: tuple
    loss: Any
    weight: Any
    name: str | None


class _Leaf:
    """A loss with its weight, as a leaf of a structure."""

    __slots__ = ("loss", "weight")

    def __init__(self, loss, weight):
        self.loss, self.weight = loss, weight


def is_nested(given, y_pred) -> bool:
    """Return whether losses do not simply go by output."""
    entries = list(given.values()) if isinstance(given, Mapping) else given
    if isinstance(entries, (list, tuple)) and any(nest.is_nested(loss) for loss in entries):
        return True
    if isinstance(given, (list, tuple)) and len(given) > 1 and not nest.is_nested(y_pred):
        return True
    outputs = list(y_pred.values()) if isinstance(y_pred, Mapping) else y_pred
    return isinstance(outputs, (list, tuple)) and any(
        isinstance(output, (list, tuple, Mapping)) for output in outputs
    )


def entries_of(given, weights, names: Sequence[str] | None, y_pred) -> list[Entry]:
    """Return the losses one by one.

    `names` are those of the outputs, flat, where they are known. Raises KeyError for parts that the outputs do not
    have, and ValueError for another number of weights than losses.
    """
    if isinstance(given, Mapping) and not isinstance(y_pred, Mapping) and names is not None:
        if set(given) != set(names):
            raise ValueError(f"Expected keys {list(names)} in loss dict, but found loss.keys()={list(given)}")
        given = [given[name] for name in names]
        if isinstance(weights, Mapping):
            weights = [weights[name] for name in names]
    loss = _with_weights(given, weights)
    if isinstance(loss, list) and len(loss) == 1 and not nest.is_nested(y_pred):
        loss = loss[0]
    count = len(nest.flatten(y_pred))
    known = names if names is not None and len(names) == count else [None] * count
    if isinstance(loss, _Leaf):
        loss = nest.map_structure(lambda _: loss, y_pred)
    return list(_walk(loss, y_pred, nest.pack_sequence_as(y_pred, known), ()))


def _with_weights(given, weights):
    if weights is None:
        return nest.map_structure(lambda loss: None if loss is None else _Leaf(loss, None), given)
    flat, scales = nest.flatten(given), nest.flatten(weights)
    if len(flat) != len(scales):
        raise ValueError(
            f"`loss_weights` must match the number of losses, got {len(flat)} losses and {len(scales)} weights."
        )
    pairs = [None if loss is None else _Leaf(loss, scale) for loss, scale in zip(flat, scales)]
    return nest.pack_sequence_as(given, pairs)


def _walk(loss, y_pred, names, path: tuple) -> Iterator[Entry]:
    several = isinstance(loss, (list, tuple))
    if several and len(loss) == len(nest.flatten(y_pred)) and not any(nest.is_nested(each) for each in loss):
        loss = nest.pack_sequence_as(y_pred, list(loss))
    elif several and not isinstance(y_pred, type(loss)):
        for each in loss:  # several losses of the same part
            yield from _walk(each, y_pred, names, path)
        return
    if loss is None:
        return
    if isinstance(loss, _Leaf):
        yield Entry(path, loss.loss, loss.weight, _name(names, path))
        return
    if not isinstance(loss, type(y_pred)):
        raise KeyError(
            f"The path: {path} in the `loss` argument, can't be found in the model's output (`y_pred`)."
        )
    for key, each in loss.items() if isinstance(loss, Mapping) else enumerate(loss):
        if each is None:
            continue
        if not (key in y_pred if isinstance(y_pred, Mapping) else key < len(y_pred)):
            raise absent((*path, key))
        yield from _walk(each, y_pred[key], names[key], (*path, key))


def absent(path: tuple) -> KeyError:
    """Return the error for a loss of what the outputs do not have."""
    return KeyError(
        f"The path: {path} in the `loss` argument, can't be found in either the model's output (`y_pred`) or in the "
        "labels (`y_true`)."
    )


def _name(names, path: tuple) -> str | None:
    """The keys, the last with the name of its output; of the whole, the names of all outputs; None for a loss's own."""
    if not nest.is_nested(names) and (not path or isinstance(path[-1], int)):
        if names is None:
            return None
        path = (*path[:-1], names)
    if path:
        return "/".join(map(str, path))
    return "_".join(map(str, names if isinstance(names, Mapping) else nest.flatten(names)))


def at(path: tuple, values):
    """Return the part of `values` that keys lead to."""
    for key in path:
        values = values[key]
    return values


def like_outputs(y_pred, values, names: Sequence[str] | None):
    """Return targets in the structure of the outputs. Raises ValueError where they have another."""
    if isinstance(y_pred, (list, tuple)) and isinstance(values, Mapping) and set(names or ()) == set(values):
        values = [values[name] for name in names or ()]
    flat = nest.flatten(values)
    if len(flat) != len(nest.flatten(y_pred)):
        shown = [nest.map_structure(lambda _: "*", value) for value in (values, y_pred)]
        raise ValueError(
            f"y_true and y_pred have different structures.\ny_true: {shown[0]}\ny_pred: {shown[1]}\n"
        )
    return nest.pack_sequence_as(y_pred, flat)
