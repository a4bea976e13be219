"""Lists, dicts and tuples whose items checkpoints follow, and what makes them of plain ones."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any, SupportsIndex

from tapeflow import _native
from tapeflow.core.structures import nest
from tapeflow.core.tracking.trackable import NoDependency as NoDependency
from tapeflow.core.tracking.trackable import Trackable, is_trackable, look_again


class TrackableDataStructure(Trackable):
    """Base of containers: what they know of the layers and variables that they hold."""

    @property
    def _values(self) -> Iterable[Any]:
        """The items."""
        return ()

    def _found(self, name: str, keep: Any) -> list[Any]:
        found: dict[int, Any] = {}
        for item in nest.flatten(list(self._values)):
            if isinstance(item, _native.Variable):
                if keep(item):
                    found.setdefault(id(item), item)
            else:
                for each in getattr(item, name, ()):
                    found.setdefault(id(each), each)
        return list(found.values())

    @property
    def trainable(self) -> bool:
        """Whether the layers inside are to be trained; setting it sets theirs."""
        return getattr(self, "__dict__", {}).get("_trainable", True)

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.__dict__["_trainable"] = value
        for layer in self.layers:
            if hasattr(layer, "trainable"):
                layer.trainable = value

    @property
    def _layers(self) -> list[Any]:
        return [item for item in self._values if hasattr(item, "variables")]

    @property
    def layers(self) -> list[Any]:
        """The layers, those inside of containers too."""
        found: list[Any] = []
        for item in self._layers:
            found += item.layers if isinstance(item, TrackableDataStructure) else [item]
        return found

    @property
    def variables(self) -> list[Any]:
        """The variables of all items."""
        return self._found("variables", lambda v: True)

    @property
    def trainable_variables(self) -> list[Any]:
        """The trainable ones."""
        return self._found("trainable_variables", lambda v: v.trainable)

    @property
    def non_trainable_variables(self) -> list[Any]:
        """The others."""
        return self._found("non_trainable_variables", lambda v: not v.trainable)

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables

    @property
    def losses(self) -> list[Any]:
        """The losses of the layers inside."""
        return [loss for layer in self.layers for loss in getattr(layer, "losses", ())]

    @property
    def updates(self) -> list[Any]:
        """The updates of the layers inside."""
        return [update for layer in self.layers for update in getattr(layer, "updates", ())]

    # Containers are kept in dicts and sets by identity, as the layers that hold them are.
    def __hash__(self) -> int:
        return id(self)


def _followed(items: Any) -> dict[str, Any]:
    return {name: item for name, item in items if is_trackable(item)}


class List(TrackableDataStructure, list):
    """A list whose items are followed by their numbers, and restored as they come."""

    def __init__(self, *args: Any):
        list.__init__(self)
        items: list[Any] = list(*args)
        list.extend(self, [wrap_or_unwrap(each) for each in items])

    __hash__ = TrackableDataStructure.__hash__  # type: ignore[assignment]

    @property
    def _values(self) -> Iterable[Any]:
        return list(self)

    def _trackable_children(self, save_type: str = "checkpoint", cache: Any = None, **kwargs: Any) -> dict[str, Any]:
        return _followed((str(i), item) for i, item in enumerate(self))

    def append(self, value: Any) -> None:
        super().append(wrap_or_unwrap(value))
        look_again()

    def extend(self, values: Any) -> None:
        super().extend([wrap_or_unwrap(each) for each in values])
        look_again()

    def insert(self, index: SupportsIndex, obj: Any) -> None:
        super().insert(index, wrap_or_unwrap(obj))
        look_again()

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            value = [wrap_or_unwrap(each) for each in value]
        super().__setitem__(key, wrap_or_unwrap(value) if not isinstance(key, slice) else value)
        look_again()

    def __iadd__(self, values: Any) -> Any:  # type: ignore[misc]
        self.extend(values)
        return self

    def __copy__(self) -> Any:
        return type(self)(self)

    copy = __copy__

    def __deepcopy__(self, memo: Any) -> Any:
        made = memo[id(self)] = type(self)([])
        made.extend(copy.deepcopy(each, memo) for each in self)
        return made

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return type(self), (list(self),)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list.__repr__(self)})"


class ListWrapper(List):
    """What a list becomes that is set as an attribute of an object whose attributes are followed."""

    def __init__(self, wrapped_list: Any = ()):
        super().__init__(wrapped_list)


class Mapping(TrackableDataStructure, dict):
    """A dict of layers and variables with string keys that are set once.

    Raises TypeError for another key, ValueError for a key that is set to something else.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        dict.__init__(self)
        self.update(*args, **kwargs)

    __hash__ = TrackableDataStructure.__hash__  # type: ignore[assignment]

    @property
    def _values(self) -> Iterable[Any]:
        return [self[key] for key in sorted(self, key=str)]

    def _trackable_children(self, save_type: str = "checkpoint", cache: Any = None, **kwargs: Any) -> dict[str, Any]:
        return _followed((key, item) for key, item in self.items() if isinstance(key, str))

    def __setitem__(self, key: Any, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        value = wrap_or_unwrap(value)
        if key in self and self[key] is not value:
            raise ValueError(
                f"Mappings are an append-only data structure. Tried to overwrite the key {key!r} with value "
                f"{self[key]}, but it already contains {value}"
            )
        super().__setitem__(key, value)
        look_again()

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict.__repr__(self)})"


class _DictWrapper(Mapping):
    """What a dict becomes that is set as an attribute of an object whose attributes are followed."""

    def __init__(self, wrapped_dict: Any = None, *args: Any, **kwargs: Any):
        super().__init__({} if wrapped_dict is None else wrapped_dict, *args, **kwargs)

    __hash__ = TrackableDataStructure.__hash__

    def __setitem__(self, key: Any, value: Any) -> None:
        dict.__setitem__(self, key, wrap_or_unwrap(value))
        look_again()

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def __copy__(self) -> Any:
        return type(self)(self)

    copy = __copy__

    def __deepcopy__(self, memo: Any) -> Any:
        made = memo[id(self)] = type(self)({})
        for key, value in self.items():
            made[key] = copy.deepcopy(value, memo)
        return made

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return type(self), (dict(self),)

    def __repr__(self) -> str:
        return f"DictWrapper({dict.__repr__(self)})"


class _TupleWrapper(TrackableDataStructure, tuple):
    """What a tuple becomes that is set as an attribute of an object whose attributes are followed."""

    def __new__(cls, original_wrapped_tuple: Any = ()) -> Any:
        return tuple.__new__(cls, original_wrapped_tuple)

    __hash__ = tuple.__hash__

    @property
    def _values(self) -> Iterable[Any]:
        return list(self)

    def _trackable_children(self, save_type: str = "checkpoint", cache: Any = None, **kwargs: Any) -> dict[str, Any]:
        return _followed((str(i), item) for i, item in enumerate(self))

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return tuple, (list(self),)


def wrap_or_unwrap(value: Any) -> Any:
    """Plain lists and dicts, and tuples that hold followed objects, as containers that are followed.

    The value of a `NoDependency` is taken out of it; everything else stays as it is.
    """
    if isinstance(value, NoDependency):
        return value.value
    if isinstance(value, Trackable):
        return value
    kind = type(value)
    if kind in (dict, OrderedDict):
        return _DictWrapper(value)
    if kind is list:
        return ListWrapper(value)
    if kind is tuple and any(is_trackable(item) or type(item) in (list, dict) for item in value):
        return _TupleWrapper(map(wrap_or_unwrap, value))
    return value


def sticky_attribute_assignment(trackable: Any, name: str, value: Any) -> Any:
    """The value to set as an attribute of an object, after it has become a dependency where it is to be followed."""
    followed = not isinstance(value, NoDependency)
    value = wrap_or_unwrap(value)
    if followed and isinstance(value, Trackable):
        trackable._track_trackable(value, name=name, overwrite=True)
    return value


