"""What packages need of those above them, loaded at first use: the package says at its top which module has it."""

from __future__ import annotations

import importlib
from types import ModuleType

_modules: dict[str, str] = {}


def provide(**modules: str) -> None:
    """Say which modules provide what packages below them need.

    Args:
      **modules: the full names of modules, by what they provide.
    """
    _modules.update(modules)


def load(what: str) -> ModuleType:
    """Return the module that provides something, which it may register while it is loaded.

    Args:
      what: a name that was given to `provide`.
    """
    return importlib.import_module(_modules[what])
