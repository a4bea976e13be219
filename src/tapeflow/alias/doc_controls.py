"""`tensorflow.tools.docs.doc_controls`: marks on functions and classes for generators of documentation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def _mark(obj: T, name: str, value: Any = None) -> T:
    for each in (obj.fget,) if isinstance(obj, property) else (obj,):
        setattr(each, name, value)
    return obj


def set_deprecated(obj: T) -> T:
    """Marks what is deprecated."""
    return _mark(obj, "_tf_docs_deprecated")


def inheritable_header(text: str) -> Callable[[T], T]:
    """A decorator: a text that precedes the documentation of a class and its subclasses."""
    return lambda obj: _mark(obj, "_tf_docs_inheritable_header", text)


def header(lines: str) -> Callable[[T], T]:
    """A decorator: a text that precedes the documentation."""
    return lambda obj: _mark(obj, "_tf_docs_header", lines)


def do_not_generate_docs(obj: T) -> T:
    """Marks what is not documented."""
    return _mark(obj, "_tf_docs_do_not_document")


def do_not_doc_inheritable(obj: T) -> T:
    """Marks a method that is not documented, nor where subclasses override it."""
    return _mark(obj, "_tf_docs_do_not_doc_inheritable")


def for_subclass_implementers(obj: T) -> T:
    """Marks a method that is documented only where it is defined."""
    return _mark(obj, "_tf_docs_tools_for_subclass_implementers")


def doc_private(obj: T) -> T:
    """Marks a private name that is documented."""
    return _mark(obj, "_tf_docs_doc_private")


def doc_in_current_and_subclasses(obj: T) -> T:
    """Marks a method that is documented in the class and its subclasses."""
    return _mark(obj, "_tf_docs_doc_in_current_and_subclasses")


def decorate_all_class_attributes(decorator: Any, cls: type, skip: Any) -> None:
    """Applies a decorator to the attributes of a class and its bases, but those named in `skip`."""
    for base in cls.__mro__:
        for name, value in list(vars(base).items()):
            if name not in skip and callable(value):
                decorator(value)


do_not_doc_in_subclasses = for_subclass_implementers
hide_from_search = do_not_generate_docs
