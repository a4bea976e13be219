"""`keras.tree`: nested structures of lists, tuples and dicts, whose leaves are everything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.core.annotations import TensorLike
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.core.structures.nest import assert_same_structure as _assert_same_structure
from tapeflow.core.structures.nest import flatten

__all__ = [
    "MAP_TO_NONE",
    "assert_same_paths",
    "assert_same_structure",
    "flatten",
    "flatten_with_path",
    "is_nested",
    "lists_to_tuples",
    "map_shape_structure",
    "map_structure",
    "map_structure_up_to",
    "pack_sequence_as",
    "traverse",
]


class MAP_TO_NONE:
    """What a function of `traverse` returns for a part that is to become None."""


def is_nested(structure):
    """Whether `structure` is a structure, not a leaf."""
    return nest.is_nested(structure)


def map_structure_up_to(shallow_structure, func: Callable[..., Any], *structures):
    """Return what a function gives for the parts of structures at the leaves of a shallower one.

    Args:
      shallow_structure: the structure of the result.
      func: a function of one part of each structure.
      *structures: structures that are as deep or deeper.
    """
    return nest.map_structure_up_to(shallow_structure, func, *structures)


def flatten_with_path(structure):
    """Return the leaves of a structure, each in a pair with the tuple of keys and indices that leads to it."""
    return list(nest.flatten_with_tuple_paths(structure))


def assert_same_structure(a: TensorLike, b: TensorLike, check_types=None):
    """Raise ValueError if two structures are nested differently.

    Args:
      check_types: deprecated; types are not compared.
    """
    _assert_same_structure(a, b, check_types=bool(check_types))


def assert_same_paths(a: TensorLike, b: TensorLike):
    """Raise ValueError if the paths to the leaves of two structures are not the same."""
    paths = [{path for path, _ in flatten_with_path(structure)} for structure in (a, b)]
    if paths[0] != paths[1]:
        raise ValueError(
            "`a` and `b` don't have the same paths. Missing in one of them: "
            f"{sorted(paths[0] ^ paths[1], key=str)}"
        )


def map_structure(func: Callable[..., Any], *structures, none_is_leaf: bool = True):
    """Return a structure of func(*leaves) for the leaves of structures that are nested alike.

    Args:
      none_is_leaf: whether `func` is called for leaves that are None, which stay None otherwise.
    """
    if not callable(func):
        raise TypeError(f"`func` must be callable, got: {func!r}")
    if not structures:
        raise ValueError("Must provide at least one structure")

    def call(*leaves):
        return None if not none_is_leaf and leaves[0] is None else func(*leaves)

    return nest.map_structure(call, *structures, check_types=False)


def pack_sequence_as(structure, flat_sequence):
    """Return a structure nested like another one, with the leaves of a list."""
    return nest.pack_sequence_as(structure, list(flat_sequence))


def traverse(func: Callable[..., Any], structure, top_down: bool = True):
    """Return a structure in which func(part) replaces each part for which it is not None.

    Args:
      func: a function of the structure and of all its parts. None stands for "as it is"; to replace a part by None
        return `MAP_TO_NONE`.
      top_down: whether a part comes before what is in it, which is not visited then if the part was replaced.
    """
    if top_down:
        found = func(structure)
        if found is not None:
            return None if found is MAP_TO_NONE else found
    inside = structure
    if is_nested(structure):
        inside = _like(structure, [traverse(func, part, top_down) for part in _children(structure)])
    if top_down:
        return inside
    found = func(inside)
    return inside if found is None else None if found is MAP_TO_NONE else found


def _children(structure):
    return list(structure.values()) if hasattr(structure, "values") else list(structure)


def _like(structure, parts: Sequence[Any]):
    """A structure of the same type, of other parts."""
    if hasattr(structure, "_fields"):
        return type(structure)(*parts)
    if hasattr(structure, "values"):
        items = zip(structure, parts)
        return type(structure)(items) if type(structure) is not dict else dict(items)
    return type(structure)(parts)


def lists_to_tuples(structure):
    """Return a structure in which lists are tuples."""
    return traverse(lambda part: tuple(part) if isinstance(part, list) else None, structure, top_down=False)


def map_shape_structure(func: Callable[..., Any], structure):
    """Return a structure of func(shape) for shapes: lists or tuples of integers and None."""

    def call(part):
        if not isinstance(part, (list, tuple)) or not all(n is None or isinstance(n, int) for n in part):
            return None
        found = func(tuple(part))
        return MAP_TO_NONE if found is None else found

    return traverse(call, structure)


boundaries(globals())
