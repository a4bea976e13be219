# Made by `make api-names`; do not edit.
# ruff: noqa
from tapeflow.core.release import COMPILER_VERSION as COMPILER_VERSION
from tapeflow.core.release import GIT_VERSION as GIT_VERSION
from tapeflow.core.release import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from tapeflow.core.release import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from tapeflow.core.release import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from tapeflow.core.release import VERSION as VERSION
__all__ = [
    "COMPILER_VERSION",
    "GIT_VERSION",
    "GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER",
    "VERSION",
]
