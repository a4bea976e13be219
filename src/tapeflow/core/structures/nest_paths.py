"""Nested structures with the paths of their leaves, and shallow structures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tapeflow.core.structures.structure import (
    LEAF,
    MAPPING,
    children_of,
    keys_of,
    kind_of,
    pack_sequence_as,
    rebuild,
    reject_keywords,
    same_type,
)

# Paths.


def flatten_with_tuple_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """`(path, leaf)` of each leaf; a path is a tuple of keys, field names and indices."""
    return list(_with_paths(structure, (), expand_composites))


def _with_paths(
    structure: Any, path: tuple[Any, ...], expand: bool
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    kind = kind_of(structure, expand)
    if kind == LEAF:
        yield path, structure
        return
    for key, child in zip(keys_of(structure, kind), children_of(structure, kind), strict=True):
        yield from _with_paths(child, (*path, key), expand)


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[tuple[Any, ...]]:
    """The path of each leaf, in order."""
    for path, _ in _with_paths(nest, (), expand_composites):
        yield path


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """`(path, leaf)` of each leaf, with the path as a string such as "a/0"."""
    return [
        (separator.join(map(str, path)), leaf)
        for path, leaf in _with_paths(structure, (), expand_composites)
    ]


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`map_structure`, with the path of the leaf as the first argument of `func`."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`map_structure`, with the path of the leaf, such as "a/0", as the first argument of `func`."""

    def with_joined_path(path: tuple[Any, ...], *leaves: Any) -> Any:
        return func("/".join(map(str, path)), *leaves)

    return map_structure_with_tuple_paths_up_to(
        structure[0], with_joined_path, *structure, **kwargs
    )


# Shallow structures: those whose leaves stand for whole structures of another.


def assert_shallow_structure(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises TypeError or ValueError unless `input_tree` is structured like `shallow_tree`, down to
    where `shallow_tree` has leaves."""
    kind = kind_of(shallow_tree, expand_composites)
    if kind == LEAF:
        return
    input_kind = kind_of(input_tree, expand_composites)
    if input_kind == LEAF:
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(input_tree)}."
        )
    if (
        check_types
        and not isinstance(input_tree, type(shallow_tree))
        and not same_type(shallow_tree, input_tree, kind, input_kind)
    ):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    shallow = list(children_of(shallow_tree, kind))
    if len(shallow) != len(list(children_of(input_tree, input_kind))):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(input_tree)}, while shallow structure has length {len(shallow_tree)}."
        )
    if kind == input_kind == MAPPING:
        absent = [key for key in shallow_tree if key not in input_tree]
        if absent:
            raise ValueError(
                "The shallow_tree's keys are not a subset of the input_tree's keys. The "
                "shallow_tree has the following keys that are not in the input_tree: "
                f"{sorted(absent)}."
            )
    for one, other in zip(shallow, children_of(input_tree, input_kind), strict=True):
        assert_shallow_structure(one, other, check_types, expand_composites)


def _up_to(
    shallow: Any, tree: Any, path: tuple[Any, ...], expand: bool
) -> Iterator[tuple[tuple[Any, ...], Any]]:
    kind = kind_of(shallow, expand)
    if kind == LEAF:
        yield path, tree
        return
    children = children_of(tree, kind_of(tree, expand))
    for key, one, other in zip(
        keys_of(shallow, kind), children_of(shallow, kind), children, strict=True
    ):
        yield from _up_to(one, other, (*path, key), expand)


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """`(path, part)` for each leaf of `shallow_tree`: the part of `input_tree` in its place."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return list(_up_to(shallow_tree, input_tree, (), expand_composites))


def flatten_up_to(
    shallow_tree: Any, input_tree: Any, check_types: bool = True, expand_composites: bool = False
) -> list[Any]:
    """The parts of `input_tree` in the places of the leaves of `shallow_tree`."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites)
    return [part for _, part in _up_to(shallow_tree, input_tree, (), expand_composites)]


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """`map_structure_up_to`, with the path of the leaf as the first argument of `func`."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    reject_keywords(kwargs)
    flat = [
        flatten_with_tuple_paths_up_to(shallow_tree, tree, check_types, expand) for tree in inputs
    ]
    results = [func(parts[0][0], *[part for _, part in parts]) for parts in zip(*flat, strict=True)]
    return pack_sequence_as(shallow_tree, results, expand)


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """`func` of the parts of `inputs` in the place of each leaf of `shallow_tree`, structured alike."""
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _path, *parts: func(*parts), *inputs, **kwargs
    )


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """The shallow structure of bools that says how deep to go into `structure`.

    `traverse_fn(s)` gives a bool for a whole structure s, or a structure of bools, one for each child.

    Raises TypeError if it gives something else.
    """
    answer = traverse_fn(structure)
    kind = kind_of(structure, expand_composites)
    if kind == LEAF:
        if not isinstance(answer, bool):
            raise TypeError(
                f"traverse_fn returned structure: {answer} for non-structure: {structure}"
            )
        return answer
    if kind_of(answer) == LEAF:
        if not isinstance(answer, bool):
            raise TypeError(
                f"traverse_fn returned a non-bool scalar: {answer} for input: {structure}"
            )
        if not answer:
            return False
        answers = [True] * len(list(children_of(structure, kind)))
    else:
        assert_shallow_structure(answer, structure, expand_composites=expand_composites)
        answers = list(children_of(answer, kind_of(answer)))
    result = []
    for enter, child in zip(answers, children_of(structure, kind), strict=True):
        if not isinstance(enter, bool):
            raise TypeError(
                "traverse_fn didn't return a depth=1 structure of bools.  saw: "
                f"{answer}  for structure: {structure}"
            )
        result.append(
            get_traverse_shallow_structure(traverse_fn, child, expand_composites)
            if enter
            else False
        )
    return rebuild(structure, kind, result)
