"""What test cases need of graphs and sessions, loaded when a test uses them."""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.graph.default_graph import get_default_graph, reset_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.graph.run.fetching import IndexedSlicesValue
from tapeflow.graph.run.session import Session, get_default_session

__all__ = ["IndexedSlicesValue", "get_default_graph", "get_default_session", "reset_default_graph", "session"]


def session(graph: Graph, config: Any, force_gpu: bool) -> Session:
    """A session of a test: what asks for a device that is not there runs on the CPU, unless `force_gpu`."""
    if config is None:
        config = protos.ConfigProto(allow_soft_placement=not force_gpu)
    elif force_gpu and config.allow_soft_placement:
        given, config = config, protos.ConfigProto()
        config.CopyFrom(given)
        config.allow_soft_placement = False
    return Session(graph=graph, config=config)
