# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.v1.profiler.options import ProfileOptionBuilder as ProfileOptionBuilder
from tapeflow.v1.profiler.profiling import GraphNodeProto as GraphNodeProto
from tapeflow.v1.profiler.profiling import MultiGraphNodeProto as MultiGraphNodeProto
from tapeflow.v1.profiler.profiling import profile as profile
__all__ = [
    "GraphNodeProto",
    "MultiGraphNodeProto",
    "ProfileOptionBuilder",
    "profile",
]
