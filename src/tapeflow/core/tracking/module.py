"""`tf.Module`: a named object that finds the variables and modules held by its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow import _native
from tapeflow.api import api
from tapeflow.core.context import name_scope
from tapeflow.core.public import Bounded, boundary
from tapeflow.core.structures import nest
from tapeflow.core.tracking.trackable import AutoTrackable


class SetByInit:
    """An attribute that `__init__` sets: raises an error where a class forgot to call `super().__init__()`."""

    def __init__(self, error: type[Exception]):
        self._error = error

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @boundary
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        raise self._error(
            f"{type(instance).__name__!r} object has no attribute {self._name!r}: its `__init__()` must begin with "
            "`super().__init__()`."
        )


@api("Module")
class Module(Bounded, AutoTrackable):
    """Base of objects that hold variables.

    Args:
      name: a Python identifier; None for the class's name in snake_case.

    Attributes are looked into, also inside lists, tuples and dicts, whenever one asks for `variables`,
    `trainable_variables`, `non_trainable_variables` or `submodules`. Raises ValueError for a name that
    is no identifier.
    """

    _name: Any = SetByInit(AttributeError)
    _scope_name: Any = SetByInit(AttributeError)

    def __init__(self, name: str | None = None):
        if name is None:
            name = snake_case(type(self).__name__)
        elif not isinstance(name, str):
            raise TypeError(f"expected string or bytes-like object, got {type(name).__name__!r}")
        elif not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers "
                "(e.g. a valid class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        """The name of this module, without the scopes around it."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """A new context of the scope that the module was made in."""
        return name_scope(self._scope_name)

    @property
    def _name_scope(self) -> Any:
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables of this module, by attribute name, then those of its submodules."""
        return tuple(self._found(_native.Variable))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of `variables` that are trainable."""
        return tuple(v for v in self._found(_native.Variable) if v.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Any, ...]:
        """Those of `variables` that are not trainable."""
        return tuple(v for v in self._found(_native.Variable) if not v.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        """All modules that this one holds, the nearer ones first."""
        return tuple(self._found(Module))

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorates a method so that it runs in the module's name scope."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return boundary(scoped)

    def _attributes(self) -> dict[str, Any]:
        """What is looked into for variables and modules."""
        return vars(self)

    def _found(self, kind: type) -> Iterator[Any]:
        """Each object of `kind` once: those of the attributes, then those of each module among them."""
        return self._flatten(predicate=lambda leaf: isinstance(leaf, kind))

    # What attributes are never looked into; subclasses add to it. The name is TensorFlow's.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset({
        "_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names", "_self_untracked",
        "_pending_restores",
    })  # fmt: skip

    def _flatten(
        self,
        recursive: bool = True,
        predicate: Callable[[Any], bool] | None = None,
        attribute_traversal_key: Callable[[str], Any] | None = None,
        with_path: bool = False,
        expand_composites: bool = False,
    ) -> Iterator[Any]:
        """The leaves of the attributes, in the order of their names, then those of each module among them.

        Args:
          recursive: whether to look into modules.
          predicate: which leaves are wanted; None: all.
          attribute_traversal_key: the key by which the names of attributes are sorted.
          with_path: give (path, leaf), once for each path; else each leaf once.
          expand_composites: whether to give the tensors of composites.
        """
        wanted = predicate or (lambda leaf: True)
        seen = {id(self)}
        active: set[int] = set()

        def walk(module: Module, path: tuple[Any, ...]) -> Iterator[Any]:
            attributes = module._attributes()
            deeper = []
            for key in sorted(attributes, key=attribute_traversal_key):
                if key in module._TF_MODULE_IGNORED_PROPERTIES:
                    continue
                for own, leaf in _leaves(key, attributes[key], module, with_path, expand_composites):
                    if not with_path:
                        if id(leaf) in seen:
                            continue
                        seen.add(id(leaf))
                    if wanted(leaf):
                        yield ((*path, key, *own), leaf) if with_path else leaf
                    if isinstance(leaf, Module):
                        deeper.append(((*path, key, *own), leaf))
            if not recursive or id(module) in active:
                return
            active.add(id(module))
            for place, child in deeper:
                yield from walk(child, place)
            active.discard(id(module))

        return walk(self, ())


def _leaves(key: str, value: Any, module: Module, with_path: bool, expand_composites: bool) -> Iterator[Any]:
    try:
        if with_path:
            return iter(nest.flatten_with_tuple_paths(value, expand_composites))
        return iter([((), leaf) for leaf in nest.flatten(value, expand_composites)])
    except Exception as error:
        raise ValueError(f"Error processing property {key!r} of {module!r}") from error


def snake_case(name: str) -> str:
    """`FooBar` -> `foo_bar`."""
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", name).lower()
