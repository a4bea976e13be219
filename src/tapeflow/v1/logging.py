"""tf.compat.v1.logging: 1.x's log, which is Python's logger "tensorflow" with levels of its own names."""

from __future__ import annotations

from collections import Counter as _Counter
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import Any

from tapeflow.core.log import get_logger

_calls: _Counter[Any] = _Counter()


def log(level: int, msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at a level."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at level DEBUG."""
    get_logger().debug(msg, *args, **kwargs)


def info(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at level INFO."""
    get_logger().info(msg, *args, **kwargs)


def warning(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at level WARN."""
    get_logger().warning(msg, *args, **kwargs)


warn = warning


def error(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at level ERROR."""
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: str, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at level FATAL."""
    get_logger().critical(msg, *args, **kwargs)


vlog = log


def get_verbosity() -> int:
    """The lowest level that is logged."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: int) -> None:
    """Log only what is of level `v` or above."""
    get_logger().setLevel(v)


def flush() -> None:
    """Nothing; the log is not buffered."""


def log_every_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs the first and then every `n`-th call with this message."""
    if _calls[msg] % n == 0:
        log(level, msg, *args)
    _calls[msg] += 1


def log_first_n(level: int, msg: str, n: int, *args: Any) -> None:
    """Logs the first `n` calls with this message."""
    if _calls[msg] < n:
        log(level, msg, *args)
    _calls[msg] += 1


def log_if(level: int, msg: str, condition: Any, *args: Any) -> None:
    """Logs `msg % args` if `condition` holds."""
    if condition:
        log(level, msg, *args)


def TaskLevelStatusMessage(msg: str) -> None:
    """Logs `msg` as an error, so that it is seen."""
    error(msg)


__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "WARN",
    "TaskLevelStatusMessage",
    "debug",
    "error",
    "fatal",
    "flush",
    "get_verbosity",
    "info",
    "log",
    "log_every_n",
    "log_first_n",
    "log_if",
    "set_verbosity",
    "vlog",
    "warn",
    "warning",
]
