"""`tf.compat.v1.test.StubOutForTesting`: attributes replaced for the time of a test."""

from __future__ import annotations

import inspect
from typing import Any

from tapeflow.core.public import public_methods


@public_methods
class StubOutForTesting:
    """Replaces attributes, and puts them back when it is left, or told to.

    As a context manager it puts back at the end of the block.
    """

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []
        self._replaced_smartly: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.CleanUp()

    def CleanUp(self) -> None:
        """Put back all that was replaced."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """Replace an attribute where it is defined: in the object, or in the class that it comes from.

        Raises AttributeError where there is none.
        """
        owner = obj
        if not inspect.ismodule(obj) and attr_name not in getattr(obj, "__dict__", {}):
            kind = obj if isinstance(obj, type) else type(obj)
            owner = next((base for base in kind.__mro__ if attr_name in vars(base)), None)
        if owner is None or attr_name not in vars(owner):
            raise AttributeError(f"{obj!r} has no attribute {attr_name!r} to replace.")
        self._replaced_smartly.append((owner, attr_name, vars(owner)[attr_name]))
        setattr(owner, attr_name, new_attr)

    def SmartUnsetAll(self) -> None:
        """Put back what `SmartSet` replaced."""
        _put_back(self._replaced_smartly)

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replace an attribute of an object, a class or a module."""
        old = getattr(parent, child_name)
        if isinstance(parent, type):
            old = vars(parent).get(child_name, old)  # a static method as such
        self._replaced.append((parent, child_name, old))
        setattr(parent, child_name, new_child)

    def UnsetAll(self) -> None:
        """Put back what `Set` replaced."""
        _put_back(self._replaced)


def _put_back(replaced: list[tuple[Any, str, Any]]) -> None:
    while replaced:
        owner, name, old = replaced.pop()
        setattr(owner, name, old)
