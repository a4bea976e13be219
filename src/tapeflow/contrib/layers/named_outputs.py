"""Outputs of layers, collected under the names of their scopes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from tapeflow.graph.default_graph import get_default_graph

__all__ = [
    "append_tensor_alias", "collect_named_outputs", "convert_collection_to_dict",
    "gather_tensors_aliases", "get_tensor_aliases", "get_variable_collections",
]  # fmt: skip


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Gives a tensor a name more; returns the tensor."""
    alias = alias.rstrip("/")
    aliases = getattr(tensor, "aliases", None)
    if aliases is None:
        tensor.aliases = [alias]
    else:
        aliases.append(alias)
    return tensor


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Puts a tensor into collections under a name; returns the tensor."""
    if collections:
        append_tensor_alias(outputs, alias)
        get_default_graph().add_to_collections(collections, outputs)
    return outputs


def get_tensor_aliases(tensor: Any) -> list[str]:
    """The names given to a tensor, else its own, without `:0`."""
    aliases = getattr(tensor, "aliases", None)
    if aliases:
        return aliases
    name = tensor.name
    return [name[:-2] if name.endswith(":0") else name]


def gather_tensors_aliases(tensors: Any) -> list[str]:
    """The names of all of several tensors."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(collection: str, clear_collection: bool = False) -> Any:
    """{name: tensor} of a collection, in its order."""
    graph = get_default_graph()
    found = OrderedDict(
        (alias, tensor)
        for tensor in graph.get_collection(collection)
        for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        graph.clear_collection(collection)
    return found


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections for the variables of that kind, of a list for all or a dict of lists."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections
