"""Nested structures, `tf.nest`: flatten, pack, map and compare them. `structure` says what they are."""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.api import api
from tapeflow.core.structures.nest_paths import (
    assert_shallow_structure,
    flatten_up_to,
    flatten_with_joined_string_paths,
    flatten_with_tuple_paths,
    flatten_with_tuple_paths_up_to,
    get_traverse_shallow_structure,
    map_structure_up_to,
    map_structure_with_paths,
    map_structure_with_tuple_paths,
    map_structure_with_tuple_paths_up_to,
    yield_flat_paths,
)
from tapeflow.core.structures.structure import (
    COMPOSITE,
    LEAF,
    MAPPING,
    SEQUENCE,
    SPEC,
    children_of,
    flatten,
    is_attrs,
    is_described_alike,
    is_mapping,
    is_namedtuple,
    is_nested,
    is_nested_or_composite,
    is_sequence_or_composite,
    kind_of,
    pack_leaves,
    pack_sequence_as,
    rebuild,
    register_composite,
    reject_keywords,
    same_namedtuples,
    same_type,
)

__all__ = [
    "assert_same_structure",
    "assert_shallow_structure",
    "flatten",
    "flatten_dict_items",
    "flatten_up_to",
    "flatten_with_joined_string_paths",
    "flatten_with_tuple_paths",
    "flatten_with_tuple_paths_up_to",
    "get_traverse_shallow_structure",
    "is_attrs",
    "is_mapping",
    "is_namedtuple",
    "is_nested",
    "is_nested_or_composite",
    "is_sequence_or_composite",
    "list_to_tuple",
    "map_structure",
    "map_structure_up_to",
    "map_structure_with_paths",
    "map_structure_with_tuple_paths",
    "map_structure_with_tuple_paths_up_to",
    "pack_sequence_as",
    "register_composite",
    "same_namedtuples",
    "sequence_like",
    "yield_flat_paths",
]


# Comparing structures.


def _described(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _skeleton(structure: Any, expand: bool) -> str:
    """The structure with a dot in the place of each leaf, and a list of them in that of a composite."""

    class Dots:
        def __init__(self, leaf: Any):
            count = len(flatten(leaf, expand)) if kind_of(leaf, expand) >= COMPOSITE else 0
            self._text = f"[{', '.join('.' * count)}]" if count else "."

        def __repr__(self) -> str:
            return self._text

    return str(pack_sequence_as(structure, list(map(Dots, flatten(structure)))))


def _difference(a: Any, b: Any, check_types: bool, expand: bool) -> Exception | None:
    """How two structures differ, as the error that says so."""
    kind, other_kind = kind_of(a, expand), kind_of(b, expand)
    if (kind == LEAF) != (other_kind == LEAF):
        nested, leaf = (b, a) if kind == LEAF else (a, b)
        return ValueError(
            f'Substructure "{_described(nested)}" is a sequence, while substructure '
            f'"{_described(leaf)}" is not'
        )
    if kind == LEAF:
        return None
    if SPEC in (kind, other_kind):
        alike = is_described_alike(a, b, kind, other_kind)
        return None if alike else ValueError(f"Incompatible specs: {_described(a)} and {_described(b)}")
    if check_types:
        if not same_type(a, b, kind, other_kind):
            return TypeError(
                "The two namedtuples don't have the same sequence type. First structure "
                f"{_described(a)} has type {_type_name(a)}, while second structure {_described(b)} "
                f"has type {_type_name(b)}"
            )
        if kind == MAPPING and set(a) != set(b):
            return ValueError(
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_described(list(a))}, while second structure has keys {_described(list(b))}"
            )
    mine, its = list(children_of(a, kind)), list(children_of(b, other_kind))
    for one, other in zip(mine, its, strict=False):  # the common part first, then the lengths
        if kind_of(one, expand) == kind_of(other, expand) == LEAF:
            continue
        difference = _difference(one, other, check_types, expand)
        if difference is not None:
            return difference
    if len(mine) != len(its):
        return ValueError(
            "The two structures don't have the same number of elements. First structure: "
            f"{_described(a)}. Second structure: {_described(b)}"
        )
    return None


def _type_name(value: Any) -> str:
    """The class as C names it: with its module where it is a built-in one of a module."""
    cls = type(value)
    in_module = cls.__module__ not in ("builtins", "__main__") and not cls.__flags__ & (1 << 9)
    return f"{cls.__module__}.{cls.__name__}" if in_module else cls.__name__


@api("nest.assert_same_structure")
def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Check that two structures are equal but for their leaves.

    Args:
      nest1, nest2: structures of lists, tuples, dicts, named tuples and the like.
      check_types: whether lists and tuples differ, and named tuples of another name or fields; mappings of all
        types are the same if they have the same keys.
      expand_composites: whether composite tensors, such as sparse ones, are structures of their parts.

    Raises:
      ValueError: where the structures differ.
      TypeError: where only the types of sequences do.
    """
    difference = _difference(nest1, nest2, check_types, expand_composites)
    if difference is None:
        return
    raise type(difference)(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {_described(nest1)}\n\nSecond structure: {_described(nest2)}\n\n"
        f"More specifically: {difference}\n"
        f"Entire first structure:\n{_skeleton(nest1, expand_composites)}\n"
        f"Entire second structure:\n{_skeleton(nest2, expand_composites)}"
    )


@api("nest.map_structure")
def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Apply a function to each leaf, or to the leaves in the same place of several structures.

    Args:
      func: called with one leaf of each structure.
      *structure: the structures, all alike.
      **kwargs: `check_types` (True) and `expand_composites` (False), see `tf.nest.assert_same_structure`.

    Returns:
      What `func` returned, structured alike.

    Raises:
      TypeError: where structures differ in types, where `func` is not callable, and for other keywords.
      ValueError: where structures differ, and where there are none.

    >>> tf.nest.map_structure(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    reject_keywords(kwargs)
    first, *others = structure
    for other in others:
        assert_same_structure(first, other, check_types, expand)
    kind = kind_of(first, expand)
    if kind == LEAF:
        return func(*structure)
    leaves = map(func, *[flatten(one, expand) for one in structure])
    return pack_leaves(first, kind, iter(list(leaves)), expand)


# Conversions.


def list_to_tuple(structure: Any) -> Any:
    """The structure with tuples in the place of lists."""
    kind = kind_of(structure)
    if kind == LEAF:
        return structure
    packed = [list_to_tuple(child) for child in children_of(structure, kind)]
    return tuple(packed) if isinstance(structure, list) else rebuild(structure, kind, packed)


def sequence_like(instance: Any, args: Sequence[Any]) -> Any:
    """A structure like `instance`, one level deep, with other children.

    Args:
      instance: a sequence, mapping, named tuple or the like; of a mapping the children are in the order of its keys.
      args: the children.
    """
    kind = kind_of(instance, True)
    return rebuild(instance, SEQUENCE if kind == LEAF else kind, list(args))


def flatten_dict_items(dictionary: Any) -> dict[Any, Any]:
    """A dict with one item for each leaf of the keys: `{(1, 2): (a, b)}` gives `{1: a, 2: b}`.

    Raises TypeError if `dictionary` is no mapping, ValueError if a key and its value differ in their
    number of leaves or a key occurs twice.
    """
    if not isinstance(dictionary, abc.Mapping):
        raise TypeError(
            "FlattenDictItems: 'dict' must be a dictionary or collection.Mapping type object, "
            f"instead of '{type(dictionary).__name__}'."
        )
    result: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = (flatten(key), flatten(value)) if is_nested(key) else ([key], [value])
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had "
                f"{len(values)} elements. Key: {keys}, value: {values}."
            )
        for one_key, one_value in zip(keys, values, strict=True):
            if one_key in result:
                raise ValueError(f"Cannot flatten dict because this key is not unique: {one_key}")
            result[one_key] = one_value
    return result
