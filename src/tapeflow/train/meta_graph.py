"""`tf.train.export_meta_graph` and `import_meta_graph`: graphs with their collections."""

from __future__ import annotations

from typing import Any

from tapeflow import protos
from tapeflow.checkpoint.saver import Saver
from tapeflow.core.public import public
from tapeflow.graph.build import reference_variables
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange import lifted, meta_graph, trust
from tapeflow.train import queue_runner  # noqa: F401 (graphs may have some)


@public
def export_meta_graph(
    filename=None, meta_info_def=None, graph_def=None, saver_def=None, collection_list=None, as_text: bool = False,
    graph: Graph | None = None, export_scope: str | None = None, clear_devices: bool = False,
    clear_extraneous_savers: bool = False, strip_default_attrs: bool = False, save_debug_info: bool = False, **kwargs,
):
    """The `MetaGraphDef` of a graph and its collections; with `filename` also written there.

    Args:
      meta_info_def, graph_def, saver_def: parts to take as they are.
      collection_list: names of the collections; None: all.
      as_text: whether the file is in protobuf's text format.
      graph: None: the default graph.
      export_scope: only what is in this name scope.
      clear_devices, strip_default_attrs: whether to leave these out.
      clear_extraneous_savers: whether to leave out the nodes of other savers than `saver_def`'s.
      save_debug_info: accepted; graphs hold no debug information here.

    Raises RuntimeError if operations run eagerly.
    """
    return meta_graph.export(
        filename, meta_info_def, graph_def, saver_def, collection_list, as_text, graph, export_scope, clear_devices,
        strip_default_attrs, clear_extraneous_savers=clear_extraneous_savers, **kwargs,
    )  # fmt: skip


@public
def import_meta_graph(
    meta_graph_or_file: Any, clear_devices: bool = False, import_scope: str | None = None, **kwargs
):
    """Add a `MetaGraphDef`, or the one in a file, to the default graph.

    Returns a `Saver` of its variables; None if it has none.

    Raises RuntimeError if operations run eagerly, OSError for a file that cannot be read, ValueError for contents
    that cannot be a graph.

    Args:
      meta_graph_or_file: a `MetaGraphDef`, or the path of a file with one.
      clear_devices: whether the devices of operations are left out.
      import_scope: a prefix of the names (optional).
      kwargs: more arguments of the `Saver`.
    """
    return import_with_elements(meta_graph_or_file, clear_devices, import_scope, **kwargs)[0]


def import_with_elements(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    **kwargs: Any,
) -> tuple[Any, Any]:
    """As `import_meta_graph`; returns the saver, and what `return_elements` names."""
    meta_graph.refuse_eager()
    source = meta_graph_or_file
    if not hasattr(source, "graph_def"):
        source = meta_graph.read(source)
    if trust.current() is not None:
        source = trust.without_savers(source)
    graph = kwargs.get("graph") or get_default_graph()
    if getattr(graph, "building_function", False):
        return None, _in_function(source, graph, import_scope, **kwargs)
    scope = import_scope or graph.get_name_scope()
    variables, elements = meta_graph.restore(
        source, clear_devices, import_scope=import_scope, **kwargs
    )
    if source.HasField("saver_def"):
        return Saver.from_proto(source.saver_def, scope), elements
    if not variables:
        return None, elements
    return Saver({v.name.removesuffix(":0"): v for v in variables.values()}), elements


def _in_function(source: Any, graph: Graph, scope: str | None, **kwargs: Any) -> Any:
    """Adds a graph to a function that is being traced; its variables outlive the trace, and begin with zeros."""
    copy = protos.MetaGraphDef()
    copy.CopyFrom(source)
    copy.graph_def.CopyFrom(reference_variables.rewritten(source.graph_def))
    variables = lifted.variables_of(copy.graph_def, lambda name, dtype, shape: None)
    given = {name: graph.capture_variable(v, v.handle) for name, v in variables.items()}
    given.update(kwargs.pop("input_map", None) or {})
    _, elements = meta_graph.restore(
        copy, import_scope=scope, input_map=given,
        restore_collections_predicate=lambda key: "variables" not in key, **kwargs,
    )  # fmt: skip
    for variable in variables.values():
        graph.add_to_collection("variables", variable)
    return elements
