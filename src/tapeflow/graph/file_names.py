"""File names matched once and kept in a local variable."""

from __future__ import annotations

from tapeflow.api import api
from tapeflow.core.public import public
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.ops.io.file import matching_files
from tapeflow.ops.state.variable import VariableV1


@api("io.match_filenames_once")
@public
def match_filenames_once(pattern: str, name: str | None = None):
    """A local variable of the names of the files that match a glob pattern, or a vector of them, when it is set."""
    return VariableV1(
        matching_files(pattern),
        trainable=False,
        validate_shape=False,
        name=name or "matching_filenames",
        collections=[GraphKeys.LOCAL_VARIABLES],
    )
