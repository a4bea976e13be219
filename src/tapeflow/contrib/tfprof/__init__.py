"""`tf.contrib.tfprof`: the profiler of graphs, by its first name."""

from tapeflow.contrib.tfprof import model_analyzer

__all__ = ["model_analyzer"]
