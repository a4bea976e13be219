"""When graphs are compiled by XLA without being asked to one by one: options of programs, and `TF_XLA_FLAGS`."""

from __future__ import annotations

import os
import shlex
from typing import NamedTuple

from tapeflow.core import config

_FLAGS = "TF_XLA_FLAGS"
_AUTO, _LEAST = "--tf_xla_auto_jit", "--tf_xla_min_cluster_size"


class Clustering(NamedTuple):
    """How XLA is given parts of a graph.

    Attributes:
      auto: whether it gets what nobody marked.
      least: how many operations a part has at least that nobody marked.
    """

    auto: bool
    least: int


def clustering(level: int | None = None) -> Clustering:
    """What is asked for.

    Args:
      level: `global_jit_level` of a session's options; 0 leaves it to the environment; None: for functions.

    Raises ValueError for a number in `TF_XLA_FLAGS` that is no number.
    """
    flags = _flags()
    auto = _number(flags, _AUTO, 0) > 0
    if level is None:
        auto = auto or bool(config.get_jit())
    elif level:
        auto = level > 0
    return Clustering(auto, _number(flags, _LEAST, 4))


def _flags() -> dict[str, str]:
    """The flags of the environment by name; of one that comes twice, the last."""
    parts = [part.partition("=") for part in shlex.split(os.environ.get(_FLAGS, ""))]
    return {name: value for name, _, value in parts}


def _number(flags: dict[str, str], name: str, default: int) -> int:
    text = flags.get(name)
    if text is None:
        return default
    text = {"single-gpu(1)": "1", "single-gpu(2)": "2", "fusible": "1"}.get(text, text)
    if not text.lstrip("-").isdecimal():
        raise ValueError(f"{_FLAGS}: {name} must be a number, got {text!r}")
    return int(text)
