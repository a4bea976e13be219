"""`tf.__internal__.monitoring`: values that a library counts of itself."""

from tapeflow.core.monitoring import BoolGauge

__all__ = ["BoolGauge"]
