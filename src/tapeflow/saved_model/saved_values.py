"""The values that a SavedModel is saved with."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.checkpoint.object_graph import OBJECT_GRAPH_KEY, Saved
from tapeflow.checkpoint.object_writing import session_of
from tapeflow.ops.state.variable import Variable
from tapeflow.saved_model import tables
from tapeflow.saved_model.object_view import ObjectView


class ValuesToSave:
    """The values of a model: variables by key, and the contents of tables.

    Attributes:
      variables, tables: pairs of a key and the number of the object.
    """

    def __init__(self, view: ObjectView):
        self.view = view
        self.saved = Saved(view.root, view)
        self.variables: list[tuple[str, int]] = []
        self.tables: list[tuple[str, int]] = []
        for key, number in self.saved.keys_of_objects:
            if isinstance(view.objects[number], Variable):
                self.variables.append((key, number))
            elif tables.is_resource(view.objects[number]):
                self.tables.append((key, number))

    def tensors(self) -> dict[str, Any]:
        found = {key: read() for key, read in self.saved.values.items()}
        of_graph = {key: v for key, v in found.items() if isinstance(v, Variable)}
        if of_graph:
            found |= session_of(None).run(of_graph)
        found = {
            key: np.asarray(value, object) if isinstance(value, (str, bytes)) else value
            for key, value in found.items()
        }
        return {**found, OBJECT_GRAPH_KEY: np.asarray(self.saved.graph, object)}
