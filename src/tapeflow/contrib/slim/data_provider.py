"""`slim.data_provider`: the items of an example, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class DataProvider:
    """Gives the tensors of items, which are another example from run to run."""

    def __init__(self, items_to_tensors: dict[str, Any], num_samples: int):
        self._items_to_tensors, self._num_samples = items_to_tensors, num_samples

    def get(self, items: Sequence[str]):
        """The tensors of a list of items. Raises ValueError for what is no list, and for unknown items."""
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        for item in items:
            if item not in self._items_to_tensors:
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {self.list_items()}")
        return [self._items_to_tensors[item] for item in items]

    def list_items(self):
        """The names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self):
        """The number of examples."""
        return self._num_samples
