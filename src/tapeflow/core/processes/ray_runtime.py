"""Ray, which places, connects and restarts processes: an extra, which is loaded and started when it is needed."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tapeflow.core.errors import UnimplementedError

NAMESPACE = "tapeflow"


def installed() -> bool:
    """Whether the extra is there."""
    try:
        return importlib.util.find_spec("ray") is not None
    except ValueError:  # the program has put something else in its place
        return False


def is_started() -> bool:
    """Whether this process is connected to a cluster now."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def started() -> ModuleType:
    """Return the module `ray`, connected to a cluster.

    That is the one which the program has joined by `ray.init`, else the one at RAY_ADDRESS, else a new one on this
    machine, which ends with the program.

    Raises:
      UnimplementedError: Ray is not installed.
    """
    if not installed():
        raise UnimplementedError(
            None, None, "Work in other processes needs Ray, which is not installed: pip install 'tapeflow[ray]'"
        )
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")  # each is raised once, for whoever waits for it
    ray = importlib.import_module("ray")
    if not ray.is_initialized():
        address = os.environ.get("RAY_ADDRESS", "local")
        options: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
        ray.init(address=address, namespace=NAMESPACE, logging_level="WARNING", **options)
    return ray


def answer(reference: Any, gone: Callable[[Exception], Exception]) -> Any:
    """Wait for what an actor answers.

    Args:
      reference: the reference to it.
      gone: gives what is raised where the actor is gone, for Ray's error.

    Raises:
      Exception: what the actor raised, or what `gone` gives.
    """
    ray = started()
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayActorError as error:
        raise gone(error) from None


def actor(kind: type, **options: Any) -> Any:
    """What makes an actor of a class when it is called with the arguments of the class.

    Actors wait for messages most of the time, so that they ask for no processor of their own unless `options` say so;
    those of a cluster of several machines are spread over these.

    Args:
      kind: a class of this package.
      **options: of Ray's actors, such as `max_restarts`.
    """
    ray = started()
    return ray.remote(kind).options(**{"num_cpus": 0, "scheduling_strategy": "SPREAD", **options}).remote
