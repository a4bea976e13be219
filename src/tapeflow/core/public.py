"""`public`: marks a function that programs call, so that tracebacks end in their code, not in ours."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tapeflow import _native

F = TypeVar("F", bound=Callable[..., Any])

_native.set_package_directory(str(Path(__file__).parent.parent))

if TYPE_CHECKING:

    def public(function: F) -> F:
        """The same function, with the package's own frames left out of the traceback of an exception."""
        return function

else:
    public = _native.PublicFunction
