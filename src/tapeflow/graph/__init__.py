"""Graphs: nodes that compose the rows of the op table, what runs them, and what draws them.

Loading this package gives the native core and the packages below it their hooks for graphs, so that any module of it is
loaded with all that building a graph needs.
"""

from tapeflow.graph import (
    building,
    conditional,
    control,
    errors_at,
    loop,
    planning,
    python_ops,
    recording,
    session,
    variables,
)
