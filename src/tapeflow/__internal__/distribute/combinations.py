"""`tf.__internal__.distribute.combinations`: strategies by name, and tests that run for each."""

from typing import Any

from tapeflow.distribute import combinations as _named
from tapeflow.testing.distributions import env, generate, in_main_process


def __getattr__(name: str) -> Any:
    if name not in _named.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_named, name)


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [*_named.__all__, "env", "generate", "in_main_process"]
