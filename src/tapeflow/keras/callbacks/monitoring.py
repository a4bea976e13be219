"""Callbacks that watch a number among the logs, and know whether smaller or larger is better."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from tapeflow.core.release import keras_2
from tapeflow.keras.callbacks.base import Callback


class MonitorCallback(Callback):
    """A callback that acts by how a number among the logs of epochs changes.

    Args:
      monitor: the name of the number.
      mode: "min" or "max" for what is better; "auto" for what the compiled metric of that name says.
      best: the value that the first epoch has to better; None for any.
      min_delta: what counts as an improvement, at least.
    """

    def __init__(self, monitor: str = "val_loss", mode: str = "auto", best=None, min_delta: float = 0):
        super().__init__()
        if mode not in ("auto", "min", "max"):
            warnings.warn(
                f"{type(self).__name__} mode '{mode}' is unknown, fallback to auto mode.", stacklevel=3
            )
            mode = "auto"
        self.monitor, self.mode, self.min_delta = monitor, mode, abs(min_delta)
        self.monitor_op = _by_name(monitor, mode) if keras_2() else None
        self.best = self._nothing() if best is None else best

    def _nothing(self):
        """What `best` is before the first epoch."""
        if not keras_2():
            return None
        return -math.inf if self.monitor_op is np.greater else math.inf

    def _is_improvement(self, current: float, reference: float | None):
        """Whether a value is better than another, None for none, by more than `min_delta`."""
        if self.monitor_op is None:
            self.monitor_op = self._by_metric()
        if reference is None:
            return True
        delta = self.min_delta if self.monitor_op is np.greater else -self.min_delta
        return bool(self.monitor_op(current - delta, reference))

    def _by_metric(self):
        """np.less or np.greater; raises ValueError where the model does not say which."""
        name = self.monitor.removeprefix("val_")
        if self.mode != "auto":
            return np.greater if self.mode == "max" else np.less
        compiled = getattr(self.model, "compiled_metrics", None)
        directions = {metric.name: metric._direction for metric in getattr(compiled, "metrics", ())}
        direction = "down" if name == "loss" else directions.get(name)
        if direction is None:
            raise ValueError(
                f"{type(self).__name__} callback received monitor={self.monitor}, but Keras isn't able to "
                "automatically determine whether that metric should be maximized or minimized. Pass `mode='max'` in "
                "order to monitor based on the highest metric value, or pass `mode='min'` in order to use the lowest "
                "value."
            )
        return np.greater if direction == "up" else np.less

    def _monitored(self, logs: dict[str, Any] | None, what: str):
        """The number; warns and gives None where the logs lack it."""
        if self.monitor_op is None:
            self.monitor_op = self._by_metric()
        current = (logs or {}).get(self.monitor)
        if current is None:
            warnings.warn(
                f"{what} conditioned on metric `{self.monitor}` which is not available. "
                f"Available metrics are: {','.join(logs or {})}.",
                stacklevel=3,
            )
        return current


def _by_name(monitor: str, mode: str):
    """np.less or np.greater, as Keras 2 finds it."""
    larger = monitor.endswith(("acc", "accuracy", "auc")) or monitor.startswith("fmeasure")
    return np.greater if mode == "max" or (mode == "auto" and larger) else np.less
