"""What a nested structure is and what its leaves are; taking it apart, putting it together.

A structure is a sequence (no string), a mapping, a view of a mapping, a named tuple, an instance of an
attrs class, or an object with `__tf_flatten__` and `__tf_unflatten__`. Values of a mapping are visited
in the order of its sorted keys. With `expand_composites`, composite tensors, such as `IndexedSlices`,
are structures of their component tensors, and their specs of those of the components.

The traversals are plain recursion over a table of types: measured two to four times as fast as optree,
which moreover orders an OrderedDict by insertion and takes subclasses of list for leaves.
"""

from __future__ import annotations

from collections import abc, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow.api import api
from tapeflow.core.annotations import TensorLike
from tapeflow.core.specs.protocol import (
    component_specs,
    from_components,
    to_components,
    type_spec_of,
)

LEAF, SEQUENCE, MAPPING, VIEW, NAMED, ATTRS, CUSTOM, COMPOSITE, SPEC = range(9)

_kinds: dict[type, int] = {}
_composites: dict[type, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {}


def register_composite(
    cls: type, flatten: Callable[[Any], Any], unflatten: Callable[[Any, list[Any]], Any]
) -> None:
    """Let instances of `cls` be structures where composites are expanded.

    `flatten(x)` gives its component tensors as a list, `unflatten(x, components)` a new one like x.
    """
    _composites[cls] = (flatten, unflatten)
    _kinds.clear()


# The class of specs, and that of those which describe a single tensor.
_spec_classes: tuple[type, ...] = ()


def register_specs(specs: type, tensor_specs: type) -> None:
    """Let specs of composite tensors be structures where composites are expanded."""
    global _spec_classes
    _spec_classes = (specs, tensor_specs)
    _kinds.clear()


def is_composite(value: Any) -> bool:
    """Whether `value` is a composite tensor."""
    return kind_of(value, True) == COMPOSITE


def is_composite_class(cls: type) -> bool:
    """Whether the instances of a class are composite tensors."""
    return any(base in _composites for base in cls.__mro__) or _describes_itself(cls)


def _describes_itself(cls: type) -> bool:
    """Whether a program's class has values of several tensors, which their specs take apart."""
    own = not (cls.__module__ or "").startswith("tapeflow.")
    return own and isinstance(getattr(cls, "_type_spec", None), property)


def _by_its_spec(value: Any) -> list[Any]:
    components = to_components(type_spec_of(value), value)
    return list(components) if isinstance(components, (list, tuple)) else [components]


def _of_its_spec(like: Any, components: list[Any]) -> Any:
    spec = type_spec_of(like)
    whole = to_components(spec, like)
    if not isinstance(whole, (list, tuple)):
        return from_components(spec, components[0])
    return from_components(spec, tuple(components) if isinstance(whole, tuple) else components)


def _classify(cls: type) -> int:
    if is_composite_class(cls):
        kind = COMPOSITE
    elif _spec_classes and issubclass(cls, _spec_classes[0]):
        kind = SPEC if hasattr(cls, "_component_specs") and not issubclass(cls, _spec_classes[1]) else LEAF
    elif issubclass(cls, (str, bytes)):
        kind = LEAF
    elif issubclass(cls, abc.Mapping):
        kind = MAPPING
    elif issubclass(cls, abc.MappingView):
        kind = VIEW
    elif issubclass(cls, tuple) and hasattr(cls, "_fields"):
        kind = NAMED
    elif hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        kind = CUSTOM
    elif hasattr(cls, "__attrs_attrs__"):
        kind = ATTRS
    elif issubclass(cls, abc.Sequence):
        kind = SEQUENCE
    else:
        kind = LEAF
    if len(_kinds) > 10_000:  # classes made in a loop must not stay alive for ever
        _kinds.clear()
    _kinds[cls] = kind
    return kind


def kind_of(value: Any, expand_composites: bool = False) -> int:
    cls = type(value)
    kind = _kinds.get(cls)
    if kind is None:
        kind = _classify(cls)
    if kind >= COMPOSITE and not expand_composites:
        return LEAF
    return kind


@api("nest.is_nested")
def is_nested(seq: Any) -> bool:
    """Whether `seq` is a structure, not a leaf."""
    return kind_of(seq) != LEAF


def is_nested_or_composite(seq: Any) -> bool:
    """Whether `seq` is a structure or a composite tensor."""
    return kind_of(seq, True) not in (LEAF, SPEC)


is_sequence_or_composite = is_nested_or_composite


def is_mapping(obj: Any) -> bool:
    return isinstance(obj, abc.Mapping)


def is_attrs(obj: Any) -> bool:
    return hasattr(type(obj), "__attrs_attrs__")


def is_namedtuple(instance: Any, strict: bool = False) -> bool:
    """Whether `instance` is of a class that `namedtuple` made or, if not `strict`, of a subclass."""
    if not isinstance(instance, tuple) or not hasattr(instance, "_fields"):
        return False
    return not strict or type(instance).__base__ is tuple


def same_namedtuples(a: Any, b: Any) -> bool:
    """Whether two named tuples have the same class name and fields."""
    return type(a).__name__ == type(b).__name__ and fields_of(a) == fields_of(b)


def fields_of(value: Any) -> tuple[str, ...]:
    """The names of the fields of a named tuple, or of a class of such."""
    names: tuple[str, ...] = value._fields
    return names


def _composite_of(value: Any) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]:
    known = (_composites[base] for base in type(value).__mro__ if base in _composites)
    return next(known, (_by_its_spec, _of_its_spec))


def _attr_names(value: Any) -> list[str]:
    return [attribute.name for attribute in type(value).__attrs_attrs__]


def children_of(value: Any, kind: int) -> Any:
    """What a structure directly holds, in order."""
    if kind in (SEQUENCE, NAMED, VIEW):
        return value
    if kind == MAPPING:
        return [value[key] for key in sorted(value)]
    if kind == ATTRS:
        return [getattr(value, name) for name in _attr_names(value)]
    if kind == CUSTOM:
        return value.__tf_flatten__()[1]
    if kind == SPEC:
        return flatten(component_specs(value))
    return _composite_of(value)[0](value)


def values_of(iterable: Any) -> Any:
    """What a structure directly holds, in order; composite tensors are taken apart."""
    return iter(children_of(iterable, kind_of(iterable, True)))


def items_of(iterable: Any) -> Any:
    """Pairs of a key and what a structure directly holds, in order; composite tensors are taken apart."""
    kind = kind_of(iterable, True)
    return zip(keys_of(iterable, kind), children_of(iterable, kind), strict=True)


def keys_of(value: Any, kind: int) -> Any:
    """The key, field name or index of each child."""
    if kind == MAPPING:
        return sorted(value)
    if kind == NAMED:
        return fields_of(value)
    if kind == ATTRS:
        return _attr_names(value)
    return range(len(children_of(value, kind)))


def rebuild(value: Any, kind: int, children: list[Any]) -> Any:
    """A structure like `value` with other children."""
    cls = type(value)
    if cls is list:
        return children
    if cls is tuple:
        return tuple(children)
    if kind == MAPPING:
        by_key = dict(zip(sorted(value), children, strict=True))
        if cls is dict:
            return {key: by_key[key] for key in value}
        if isinstance(value, defaultdict):
            result = cls(value.default_factory)
            result.update((key, by_key[key]) for key in value)
            return result
        return cls((key, by_key[key]) for key in value)
    if kind == VIEW or cls is range:
        return children
    if kind in (NAMED, ATTRS):
        return cls(*children)
    if kind == CUSTOM:
        return cls.__tf_unflatten__(value.__tf_flatten__()[0], tuple(children))
    if kind == COMPOSITE:
        return _composite_of(value)[1](value, children)
    if kind == SPEC:
        return from_components(value, pack_sequence_as(component_specs(value), children))
    return cls(children)


# Flattening and packing.


def _flatten_into(children: Any, leaves: list[Any], expand: bool) -> None:
    kinds = _kinds
    for child in children:
        kind = kinds.get(type(child))
        if kind == LEAF:
            leaves.append(child)
        elif kind == SEQUENCE:
            _flatten_into(child, leaves, expand)
        else:
            kind = kind_of(child, expand)
            if kind == LEAF:
                leaves.append(child)
            else:
                _flatten_into(children_of(child, kind), leaves, expand)


@api("nest.flatten")
def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """List the leaves of a structure.

    Args:
      structure: lists, tuples, dicts (in the order of their keys), named tuples and the like in each other; or a
        leaf.
      expand_composites: whether composite tensors, such as sparse ones, are structures of their parts.

    Returns:
      A list; of a leaf, with itself alone.

    Raises:
      TypeError: where the keys of a mapping cannot be sorted.

    >>> tf.nest.flatten({"b": [1, 2], "a": 3})
    [3, 1, 2]
    """
    kind = kind_of(structure, expand_composites)
    if kind == LEAF:
        return [structure]
    leaves: list[Any] = []
    _flatten_into(children_of(structure, kind), leaves, expand_composites)
    return leaves


def pack_leaves(structure: Any, kind: int, leaves: Iterator[Any], expand: bool) -> Any:
    packed = []
    for child in children_of(structure, kind):
        child_kind = kind_of(child, expand)
        if child_kind == LEAF:
            packed.append(next(leaves))
        else:
            packed.append(pack_leaves(child, child_kind, leaves, expand))
    return rebuild(structure, kind, packed)


@api("nest.pack_sequence_as")
def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Put leaves into a structure.

    Args:
      structure: the structure, see `tf.nest.flatten`.
      flat_sequence: a list of the leaves.
      expand_composites: whether composite tensors, such as sparse ones, are structures of their parts.

    Returns:
      A structure like `structure` with these leaves.

    Raises:
      TypeError: where `flat_sequence` is no sequence.
      ValueError: where there are not as many leaves.

    >>> tf.nest.pack_sequence_as({"b": [1, 2], "a": 3}, [30, 10, 20])
    {'b': [10, 20], 'a': 30}
    """
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found "
            f"incompatible type `{type(flat_sequence)}` instead."
        )
    kind = kind_of(structure, expand_composites)
    if kind == LEAF:
        if len(flat_sequence) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {_shortened(structure)}\n"
                f"However the input is a sequence ({type(flat_sequence)}) of length "
                f"{len(flat_sequence)}.\n  {_shortened(flat_sequence)}\n"
                "nest cannot guarantee that it is safe to map one to the other."
            )
        return flat_sequence[0]
    count = len(flatten(structure, expand_composites))
    if count != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had "
            f"{len(flat_sequence)} items.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    leaves = [flat_sequence[i] for i in range(count)]
    return pack_leaves(structure, kind, iter(leaves), expand_composites)


def _shortened(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 400 else text[:397] + "..."


def same_type(a: TensorLike, b: TensorLike, kind: int, other_kind: int) -> bool:
    if kind == other_kind == NAMED:
        return type(a) is type(b) or same_namedtuples(a, b)
    if kind == other_kind == MAPPING:
        return True
    # A subclass of list or tuple, as wrappers that track what they hold are, is as good as its base.
    if kind == other_kind == SEQUENCE:
        bases = (type(a), type(b))
        return issubclass(*bases) or issubclass(*reversed(bases))
    return type(a) is type(b)


def is_described_alike(a: Any, b: Any, kind: int, other_kind: int) -> bool:
    """Whether one spec describes two composite tensors or specs."""
    if min(kind, other_kind) < COMPOSITE:
        return False
    mine, its = (x if k == SPEC else type_spec_of(x) for x, k in ((a, kind), (b, other_kind)))
    return mine.most_specific_common_supertype([its]) is not None


def reject_keywords(kwargs: dict[str, Any]) -> None:
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, not: "
            f"`{'`, `'.join(kwargs)}`"
        )
