"""What sessions with one target share: the variables and other resources of a task."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import Any

# The container of resources that name none; a server knows it by the name of its job as well.
DEFAULT_CONTAINER = "localhost"


class Shared:
    """What sessions of one task share: variables and other resources, by their containers and names.

    Args:
      job: the job of the task, another name of the default container.

    Attributes:
      lock: held while something is looked up and made.
      generation: rises when resources were forgotten, so that what holds them can be seen to be old.
    """

    def __init__(self, job: str = DEFAULT_CONTAINER) -> None:
        self.variables: dict[tuple[str, str], Any] = {}
        self.resources: dict[tuple[str, str], Any] = {}
        self.sessions: weakref.WeakSet[Any] = weakref.WeakSet()
        self.lock = threading.RLock()
        self.generation = 0
        self._default = {"", DEFAULT_CONTAINER, job}

    def forget(self, containers: Sequence[str] = ()) -> None:
        """Forget what is in some containers, or in all for none."""
        named = {"" if name in self._default else name for name in containers}
        with self.lock:
            for kept in (self.variables, self.resources):
                for key in [key for key in kept if not named or self._container(key) in named]:
                    del kept[key]
            self.generation += 1

    def _container(self, key: tuple[str, str]) -> str:
        return "" if key[0] in self._default else key[0]

    def abort_sessions(self) -> None:
        """Let all further runs of the sessions raise AbortedError."""
        for session in list(self.sessions):
            session.abort()
