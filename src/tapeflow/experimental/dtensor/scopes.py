"""Blocks and calls whose operations run on a mesh."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow._native import Tensor
from tapeflow.core import context
from tapeflow.core.dtensor import placed
from tapeflow.core.dtensor.layout import Layout
from tapeflow.core.dtensor.mesh import Mesh
from tapeflow.core.dtensor.placed import device_name
from tapeflow.core.public import boundaries
from tapeflow.core.structures import nest
from tapeflow.experimental.dtensor.transfers import relayout

__all__ = ["call_with_layout", "default_mesh", "device_name", "get_default_mesh", "run_on"]


@contextlib.contextmanager
def default_mesh(mesh: Mesh) -> Iterator[None]:
    """Let what runs inside run on a mesh.

    Args:
      mesh: the mesh.

    Raises:
      ValueError: for what is no mesh.
    """
    if not isinstance(mesh, Mesh):
        raise ValueError(f"Expect `mesh` to be `Mesh`, got {type(mesh)}")
    with placed.within(mesh, None):
        yield


def run_on(mesh: Mesh) -> contextlib.AbstractContextManager[None]:
    """The same as `default_mesh`, which is to be used instead."""
    return default_mesh(mesh)


def get_default_mesh() -> Mesh | None:
    """The mesh of the block around."""
    return placed.scope.mesh


def call_with_layout(fn: Callable[..., Any], layout: Layout | None, *args: Any, **kwargs: Any) -> Any:
    """Call a function, and lay its results out.

    Args:
      fn: the function, such as `tf.zeros`.
      layout: the layout of what it returns; None: it is called as usual.
      *args: its arguments.
      **kwargs: its arguments by name.

    Returns:
      What it returned, its tensors on the mesh of `layout`.

    Raises:
      UnknownError: for results that cannot have the layout.
    """
    if layout is None:
        return fn(*args, **kwargs)
    if not context.executing_eagerly():
        return relayout(fn(*args, **kwargs), layout)
    with placed.within(layout.mesh, layout):
        found = fn(*args, **kwargs)
    return nest.map_structure(lambda x: relayout(x, layout) if isinstance(x, Tensor) else x, found)


boundaries(globals())
