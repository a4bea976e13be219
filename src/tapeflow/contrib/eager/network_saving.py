"""Checkpoints of Networks: their variables under the names that they have in the network."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from tapeflow.checkpoint.bundle import BundleReader
from tapeflow.checkpoint.restoring import assign
from tapeflow.checkpoint.saver import Saver
from tapeflow.checkpoint.state import latest_checkpoint
from tapeflow.core.annotations import Variable
from tapeflow.core.files.paths import local_path
from tapeflow.core.variables import shared_name_of


def _own_names(network: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """(name, variable): the layers' names are made unique in the network, whatever came before it."""
    found: list[tuple[str, Any]] = []
    taken: dict[str, int] = {}
    for layer in network.layers:
        base = layer.__dict__.get("_base_name") or re.sub(r"_\d+$", "", layer.name)
        count = taken[base] = taken.get(base, 0) + 1
        name = f"{prefix}{base if count == 1 else f'{base}_{count - 1}'}/"
        inner = getattr(layer, "layers", None)
        if inner:
            found += _own_names(layer, name)
        else:
            found += [(name + shared_name_of(v).rpartition("/")[2], v) for v in layer.variables]
    return found


def _names(network: Any, map_func: Any) -> dict[str, Any]:
    """{name in the checkpoint: variable}. Raises ValueError for two variables of one name."""
    if map_func is None:
        pairs = _own_names(network)
    else:
        pairs = [(map_func(shared_name_of(variable)), variable) for variable in network.variables]
    found: dict[str, Any] = {}
    for name, variable in pairs:
        if name in found and found[name] is not variable:
            raise ValueError(
                f"Some variables of the Network {network.name!r} would have the same name in a checkpoint: {name!r}"
            )
        found[name] = variable
    return found


def save_network_checkpoint(network, save_path, global_step: Variable | None = None, map_func=None):
    """Writes the variables of a network; returns the path. Raises ValueError where it has none yet."""
    if not network.built:
        raise ValueError(
            f"Attempt to save the Network before it was first called. This means variables have not yet been "
            f"created, so there is nothing to save: {network.name!r}"
        )
    path = local_path(save_path)
    if os.path.isdir(path):
        path = os.path.join(path, network.name.replace("/", "_"))
    saver = Saver(_names(network, map_func))
    return saver.save(None, path, global_step=global_step, write_meta_graph=False)


def restore_network_checkpoint(network, save_path, map_func: Callable[..., Any] | None = None):
    """Sets the variables of a network from a checkpoint; before the first call, when that makes them.

    Raises NotFoundError for a variable that it lacks, ValueError for no checkpoint.
    """
    given = local_path(save_path)
    path = latest_checkpoint(given) if os.path.isdir(given) else given
    if path is None:
        raise ValueError(f"there is no checkpoint in {save_path!r}")

    def restore() -> None:
        reader = BundleReader(path)
        for name, variable in _names(network, map_func).items():
            assign(variable, reader, name)

    if network.built:
        restore()
    else:
        network.__dict__.setdefault("_restore_after_build", []).append(restore)
