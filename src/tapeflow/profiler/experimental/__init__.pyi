# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.summary.profiling import Profile as Profile
from tapeflow.summary.profiling import ProfilerOptions as ProfilerOptions
from tapeflow.summary.profiling import Trace as Trace
from tapeflow.summary.profiling import start as start
from tapeflow.summary.profiling import stop as stop
__all__ = [
    "Profile",
    "ProfilerOptions",
    "Trace",
    "start",
    "stop",
]
