"""`keras.utils.Sequence`: batches by number."""

from __future__ import annotations


class Sequence:
    """Batches by number: subclasses define `__getitem__(index)` and `__len__`."""

    def __getitem__(self, index):
        """The batch of that number."""
        raise NotImplementedError("Abstract method")

    def __len__(self):
        """How many batches there are."""
        raise NotImplementedError("Abstract method")

    def on_epoch_end(self):
        """Called after every epoch."""

    def __iter__(self):
        """All batches, once."""
        for index in range(len(self)):
            yield self[index]
