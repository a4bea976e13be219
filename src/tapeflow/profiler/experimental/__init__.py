"""`tf.profiler.experimental`: profiles for TensorBoard."""

from tapeflow.profiler.experimental import client, server
from tapeflow.summary.profiling import Profile, ProfilerOptions, Trace, start, stop

__all__ = ["Profile", "ProfilerOptions", "Trace", "client", "server", "start", "stop"]
