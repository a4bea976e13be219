"""`tf.profiler.experimental`: profiles for TensorBoard."""

from tapeflow.summary.profiling import Profile, ProfilerOptions, Trace, start, stop

__all__ = ["Profile", "ProfilerOptions", "Trace", "start", "stop"]
