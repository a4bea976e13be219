"""What `tf.train.Saver` saves: variables and parts of variables, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tapeflow.checkpoint.object_graph import OBJECT_GRAPH_KEY, decode_graph
from tapeflow.core.errors import DataLossError
from tapeflow.ops.state.variable import Variable


class Item(NamedTuple):
    """A variable.

    Attributes:
      name: under which it is saved.
      spec: which part of the tensor of that name it is, as checkpoints write it; "" for all.
    """

    name: str
    spec: str
    variable: Any


def items_of(var_list: Any) -> list[Item]:
    """The items of a list of variables, or of a dict by name; partitioned variables are many.

    Raises TypeError for what is no variable, ValueError for two variables of one name.
    """
    found: list[Item] = []
    seen: set[str] = set()
    owners: dict[str, Any] = {}  # of each name the variable; of a name of slices None, or what is partitioned
    for name, value in var_list.items() if isinstance(var_list, Mapping) else _named(var_list):
        parts = _variables(value)
        for variable in parts:
            info = getattr(variable, "_save_slice_info", None)
            if info is None or (value is variable and isinstance(var_list, Mapping)):
                own, spec, owner = name, "", variable
            elif value is variable:
                own, spec, owner = info.full_name, info.spec, None
            else:
                own, spec, owner = name, info.spec, value
            known = owners.setdefault(own, owner)
            if known is not owner:
                raise ValueError(f"At least two variables have the same name: {own}")
            if spec or own not in seen:
                found.append(Item(own, spec, variable))
            seen.add(own)
    return found


def _named(variables: Any) -> Any:
    return [(getattr(v, "_shared_name", None) or getattr(v, "name", None), v) for v in variables]


def _variables(value: Any) -> list[Any]:
    """A variable, or the parts of one; an iterator of a graph, where it is, is saved as a variable is."""
    if isinstance(value, Variable) or hasattr(value, "_saveable_iterator"):
        return [value]
    parts = getattr(value, "_get_variable_list", None)
    if parts is not None:
        value = parts()
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, Variable) for v in value):
        return list(value)
    raise TypeError(f"Variable to save is not a Variable: {value}")


def by_name(var_list: Any) -> dict[str, Any]:
    """Whole variables by the names under which they are saved."""
    return {item.name: item.variable for item in items_of(var_list)}


def keys_by_name(reader: Any) -> dict[str, str] | None:
    """The keys in a checkpoint of objects, by the names that the variables had; None for another checkpoint.

    Raises DataLossError if it is damaged.
    """
    if OBJECT_GRAPH_KEY not in reader:
        return None
    try:
        nodes = decode_graph(bytes(reader.read(OBJECT_GRAPH_KEY).item()))
    except ValueError as error:
        raise DataLossError(
            None, None, f"The object graph of the checkpoint {reader.prefix} is damaged: {error}"
        ) from None
    return {
        attribute["full_name"]: attribute["checkpoint_key"]
        for node in nodes
        for attribute in node["attributes"]
    }
