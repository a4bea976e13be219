"""The moving averages of weights in their place while a model is evaluated."""

from __future__ import annotations

from typing import Any

from tapeflow.keras.callbacks.base import Callback
from tapeflow.keras.session import set_values, values_of


class SwapEMAWeights(Callback):
    """Swaps the weights with their moving averages (`use_ema=True`) before evaluations, and back after.

    Args:
      swap_on_epoch: whether also at the end of epochs, so that callbacks save the averages.

    Raises:
      ValueError: in `fit`, where the optimizer keeps no averages.
    """

    def __init__(self, swap_on_epoch: bool = False):
        super().__init__()
        self.swap_on_epoch = swap_on_epoch
        self._swapped = False

    def _swap(self):
        optimizer = getattr(self.model.optimizer, "inner_optimizer", self.model.optimizer)
        if not getattr(optimizer, "use_ema", False):
            raise ValueError(
                "SwapEMAWeights must be used when `use_ema=True` is set on the optimizer. Received: "
                f"use_ema={getattr(optimizer, 'use_ema', None)}"
            )
        pairs = [(v, optimizer._slots.get(v, "average")) for v in self.model.trainable_variables]
        pairs = [(v, average) for v, average in pairs if average is not None]
        values = values_of([v for v, _ in pairs])
        averages = values_of([average for _, average in pairs])
        set_values(zip([v for v, _ in pairs], averages))
        set_values(zip([average for _, average in pairs], values))

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None):
        if self.swap_on_epoch and self._swapped:
            self._swap()
            self._swapped = False

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None):
        if self.swap_on_epoch and not self._swapped:
            self._swap()
            self._swapped = True

    def on_test_begin(self, logs: dict[str, Any] | None = None):
        self._swap()

    def on_test_end(self, logs: dict[str, Any] | None = None):
        self._swap()

    def on_predict_begin(self, logs: dict[str, Any] | None = None):
        if not self._swapped:
            self._swap()

    def on_predict_end(self, logs: dict[str, Any] | None = None):
        if not self._swapped:
            self._swap()
