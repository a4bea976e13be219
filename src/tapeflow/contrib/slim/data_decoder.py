"""`slim.data_decoder`: how items are decoded."""

from __future__ import annotations

from abc import ABC, abstractmethod


class DataDecoder(ABC):
    """Base of the decoders."""

    @abstractmethod
    def decode(self, data, items):
        """The tensors of the items, a list of names, of encoded data."""

    @abstractmethod
    def list_items(self):
        """The names of all items."""
