"""What test cases need of graphs and sessions, loaded when a test uses them."""

from tapeflow.graph.graph import get_default_graph, reset_default_graph
from tapeflow.graph.run.fetching import IndexedSlicesValue
from tapeflow.graph.run.session import Session, get_default_session

__all__ = ["IndexedSlicesValue", "Session", "get_default_graph", "get_default_session", "reset_default_graph"]
