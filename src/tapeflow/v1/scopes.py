"""Scopes of 1.x that only graphs have: `colocate_with`, `container`, `op_scope`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tapeflow.api import api
from tapeflow.core import context
from tapeflow.graph.default_graph import get_default_graph

if TYPE_CHECKING:
    from tapeflow.graph.operation import Operation


@api(v1="colocate_with")
@contextlib.contextmanager
def colocate_with(op: Operation, ignore_existing: bool = False) -> Iterator[None]:
    """A block whose operations share the device of `op`; eagerly everything is on one device."""
    if context.executing_eagerly():
        yield
        return
    with get_default_graph().colocate_with(op, ignore_existing):
        yield


@api(v1="container")
@contextlib.contextmanager
def container(container_name) -> Iterator[str]:
    """A block whose resources are kept under a name of their own."""
    with get_default_graph().container(container_name) as name:
        yield name


@api(v1="op_scope")
@contextlib.contextmanager
def op_scope(values, name: str, default_name: str | None = None) -> Iterator[str]:
    """`name_scope` with another order of arguments."""
    with context.name_scope_v1(name, default_name, values) as scope:
        yield scope
