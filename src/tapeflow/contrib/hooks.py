"""`tf.contrib.hooks`: the hook that writes traces."""

from tapeflow.train import ProfilerHook as _ProfilerHook

__all__ = ["ProfilerHook"]


class ProfilerHook(_ProfilerHook):
    """`tf.train.ProfilerHook`; see there."""
