"""The values of variables and tables of a SavedModel."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from tapeflow.checkpoint.bundle import BundleReader, index_path
from tapeflow.checkpoint.object_graph import OBJECT_GRAPH_KEY, VALUE, decode_graph
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import NotFoundError
from tapeflow.saved_model import reading


def plain_array(array: np.ndarray) -> Any:
    """An array that becomes a tensor of the same dtype; strings need a list, an empty one too."""
    if array.dtype != object:
        return array
    if not array.size:
        return np.empty(array.shape, "S1")
    return array.tolist()


class SavedValues:
    """The values of variables in the checkpoint, whose own graph of objects says where they are."""

    def __init__(self, nodes: Any, folder: str):
        self.prefix = reading.variables_prefix(folder)
        self._attributes: dict[int, dict[str, str]] = {}
        self._reader: Any = None
        if not os.path.exists(index_path(self.prefix)):
            return
        self._reader = BundleReader(self.prefix)
        if OBJECT_GRAPH_KEY in self._reader:
            saved = decode_graph(bytes(self._reader.read(OBJECT_GRAPH_KEY).item()))
            self._match(nodes, saved)

    def _match(self, nodes: Any, saved: list[dict]) -> None:
        """Finds the objects of the model in the checkpoint, by the names that lead to them."""
        if not saved:
            return
        numbers = {0: 0}
        todo = [0]
        for number in todo:
            own = saved[numbers[number]]
            known = {child["local_name"]: child["node_id"] for child in own["children"]}
            for child in nodes[number].children:
                if child.local_name in known and child.node_id not in numbers:
                    numbers[child.node_id] = known[child.local_name]
                    todo.append(child.node_id)
        for number, place in list(numbers.items()):
            slots = {
                (s["original_variable_node_id"], s.get("slot_name", "")): s.get("slot_variable_node_id", 0)
                for s in saved[place]["slot_variables"]
            }  # fmt: skip
            for slot in nodes[number].slot_variables:
                found = slots.get((numbers.get(slot.original_variable_node_id, -1), slot.slot_name))
                if found is not None:
                    numbers.setdefault(slot.slot_variable_node_id, found)
        for number, place in numbers.items():
            self._attributes[number] = {
                attribute["name"]: attribute["checkpoint_key"]
                for attribute in saved[place]["attributes"]
            }

    def key(self, number: int) -> str | None:
        """The key of the value of a variable."""
        return self._attributes.get(number, {}).get(VALUE)

    def read(self, key: str, dtype: Any) -> Any:
        value = self._reader.read(key)
        return convert_to_tensor(plain_array(value), dtype)

    def contents(self, number: int) -> list[np.ndarray] | None:
        """The keys and values of a table."""
        for key in self._attributes.get(number, {}).values():
            try:
                return [self._reader.read(key + end) for end in ("-keys", "-values")]
            except NotFoundError:
                continue
        return None
