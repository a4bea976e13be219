"""Whether new layers of 1.x make their variables as Keras layers do, instead of by `get_variable`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

keras = False


@contextlib.contextmanager
def keras_style_scope() -> Iterator[None]:
    """Layers made inside have variables of their own, which nothing shares by name."""
    global keras
    before, keras = keras, True
    try:
        yield
    finally:
        keras = before


def set_keras_style() -> None:
    """All layers made from now on have variables of their own, which nothing shares by name."""
    global keras
    keras = True
