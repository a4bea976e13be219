"""`tf.contrib.memory_stats`: how much memory tensors take."""

from tapeflow.contrib.memory_stats import memory_stats_ops
from tapeflow.contrib.memory_stats.memory_stats_ops import BytesInUse, BytesLimit, MaxBytesInUse

__all__ = ["BytesInUse", "BytesLimit", "MaxBytesInUse", "memory_stats_ops"]
