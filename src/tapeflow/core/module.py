"""`tf.Module`: a named object that finds the variables and modules held by its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow import _native
from tapeflow.core import nest
from tapeflow.core.context import name_scope
from tapeflow.core.public import Bounded, boundary
from tapeflow.core.restorable import Restorable


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


class Module(Restorable, Bounded):
    """Base of objects that hold variables.

    Args:
      name: a Python identifier; None for the class's name in snake_case.

    Attributes are looked into, also inside lists, tuples and dicts, whenever one asks for `variables`,
    `trainable_variables`, `non_trainable_variables` or `submodules`. Raises ValueError for a name that
    is no identifier.
    """

    _name: Any = SetByInit(AttributeError)
    _scope: Any = SetByInit(AttributeError)

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
            self._scope = scope

    @property
    def name(self) -> str:
        """The name of this module, without the scopes around it."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """A new context of the scope that the module was made in."""
        return name_scope(self._scope)

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
        """Each object of `kind` once, breadth first."""
        seen = {id(self)}
        waiting: list[Module] = [self]
        for module in waiting:
            attributes = module._attributes()
            for key in sorted(attributes):
                for leaf in _leaves(key, attributes[key], module):
                    if id(leaf) in seen or not isinstance(leaf, (kind, Module)):
                        continue
                    seen.add(id(leaf))
                    if isinstance(leaf, kind):
                        yield leaf
                    if isinstance(leaf, Module):
                        waiting.append(leaf)


def _leaves(key: str, value: Any, module: Module) -> list[Any]:
    try:
        return nest.flatten(value)
    except Exception as error:
        raise ValueError(f"Error processing property {key!r} of {module!r}") from error


def snake_case(name: str) -> str:
    """`FooBar` -> `foo_bar`."""
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", name).lower()
