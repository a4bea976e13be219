"""The names under which libraries register their classes of specs, for files."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tapeflow.core.specs.bounded_tensor_spec import BoundedTensorSpec
from tapeflow.core.specs.tensor_spec import TensorSpec, TypeSpec

_TYPE_SPEC_TO_NAME: dict[type, str] = {}
_NAME_TO_TYPE_SPEC: dict[str, type] = {}
_NAME = re.compile(r"^(\w+\.)+\w+$")


def register(name: str) -> Callable[[type], type]:
    """A decorator: the class of specs is known by `name`, which begins with that of its module.

    Raises TypeError for a name that is no string and a class that is no spec, ValueError for a malformed name and one
    that is in use.
    """
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if not _NAME.match(name):
        raise ValueError(
            "Registered name must have the form '{project_name}.{type_name}' (e.g. 'my_project.MyTypeSpec'); got "
            f"{name!r}."
        )

    def decorate(cls: type) -> type:
        if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
            raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
        if cls in _TYPE_SPEC_TO_NAME:
            raise ValueError(f"Class {cls.__module__}.{cls.__name__} has already been registered with name "
                             f"{_TYPE_SPEC_TO_NAME[cls]}.")  # fmt: skip
        if name in _NAME_TO_TYPE_SPEC:
            known = _NAME_TO_TYPE_SPEC[name]
            raise ValueError(f"Name {name} has already been registered for class {known.__module__}.{known.__name__}.")
        _TYPE_SPEC_TO_NAME[cls] = name
        _NAME_TO_TYPE_SPEC[name] = cls
        return cls

    return decorate


def get_name(cls: type) -> str:
    """The name of a class of specs. Raises TypeError for what is no spec, ValueError for one without a name."""
    if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
        raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
    if cls not in _TYPE_SPEC_TO_NAME:
        raise ValueError(f"TypeSpec {cls.__module__}.{cls.__name__} has not been registered.")
    return _TYPE_SPEC_TO_NAME[cls]


def name_of(cls: type) -> str | None:
    """The name of a class of specs; None for one without a name."""
    return _TYPE_SPEC_TO_NAME.get(cls)


def lookup(name: str) -> Any:
    """The class of specs of a name. Raises TypeError for what is no string, ValueError for an unknown name."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if name not in _NAME_TO_TYPE_SPEC:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _NAME_TO_TYPE_SPEC[name]


register("tf.TensorSpec")(TensorSpec)
register("tf.BoundedTensorSpec")(BoundedTensorSpec)
