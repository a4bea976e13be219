"""What libraries derive from AutoGraph's own transformation of Python code: a transformer of syntax trees."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple


class EntityInfo(NamedTuple):
    """What is known of the function whose code is transformed."""

    name: str
    source_code: str
    source_file: str | None
    future_features: tuple[str, ...]
    namespace: dict[str, Any]


class Context:
    """What a transformation knows: of which function, and what makes new names.

    Args:
      info: an `EntityInfo`.
      namer: makes new names.
      user_context: kept for the transformation.
    """

    def __init__(self, info: Any, namer: Any, user_context: Any):
        self.info, self.namer, self.user = info, namer, user_context
        self.current_origin: Any = None


class Base(ast.NodeTransformer):
    """Base of transformers of syntax trees; statements may become lists of statements.

    Args:
      ctx: a `Context`.
    """

    def __init__(self, ctx: Any):
        self.ctx = ctx

    def visit(self, node: Any) -> Any:
        """The node transformed; of a list of nodes all of them."""
        return self.visit_block(node) if isinstance(node, list) else super().visit(node)

    def visit_block(self, nodes: Any, before_visit: Any = None, after_visit: Any = None) -> list[Any]:
        """A block of statements transformed.

        Args:
          nodes: the statements.
          before_visit: called before each.
          after_visit: takes each result, and gives what takes its place and where later ones go, or None.
        """
        found: list[Any] = []
        place = found
        for node in nodes:
            if before_visit is not None:
                before_visit()
            made = self.visit(node)
            goes_to = None
            if after_visit is not None:
                made, goes_to = after_visit(made)
            if made:
                place += made if isinstance(made, (list, tuple)) else [made]
            if goes_to is not None:
                place = goes_to
        return found
