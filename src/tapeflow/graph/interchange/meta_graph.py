"""Graphs with their collections as `MetaGraphDef` messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow import protos
from tapeflow.core import context
from tapeflow.core.files.paths import local_path
from tapeflow.core.log import get_logger
from tapeflow.graph.build.collections import GraphKeys
from tapeflow.graph.default_graph import get_default_graph
from tapeflow.graph.graph import Graph
from tapeflow.graph.interchange import graph_def as graph_defs
from tapeflow.graph.interchange import variable_defs
from tapeflow.graph.interchange.importing import import_nodes
from tapeflow.graph.interchange.variable_defs import in_scope, prepend_scope, strip_scope
from tapeflow.graph.interchange.writing import write_message
from tapeflow.graph.op_defs import messages as op_defs
from tapeflow.graph.op_defs.defaults import strip_graph
from tapeflow.graph.op_defs.op_lists import ops_used_by_graph_def

# Which TensorFlow the messages are like.
TENSORFLOW_VERSION = "2.21.0"
# Collections of objects that have messages: key -> (message, function that makes the object of it).
MADE_OF_PROTOS: dict[str, tuple[Any, Any]] = {}
# Stands before the names of inputs from outside of an exported scope.
UNBOUND = "$unbound_inputs_"
# Collections of variables, each written as a VariableDef.
_VARIABLES = (
    GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES, GraphKeys.MODEL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES, GraphKeys.MOVING_AVERAGE_VARIABLES, GraphKeys.CONCATENATED_VARIABLES,
)  # fmt: skip
_EAGER = (
    "Exporting/importing meta graphs is not supported when eager execution is enabled. No graph exists when eager "
    "execution is enabled."
)


def refuse_eager() -> None:
    """Raises RuntimeError if operations run eagerly, so that there is no graph."""
    if context.executing_eagerly():
        raise RuntimeError(_EAGER)


def export(
    filename: str | None = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Sequence[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    strip_default_attrs: bool = False,
    unbound_inputs_col_name: str = "unbound_inputs",
    clear_extraneous_savers: bool = False,
) -> Any:
    """The `MetaGraphDef` of a graph, also written to `filename` if that is given.

    Args:
      meta_info_def, graph_def, saver_def: parts to take as they are.
      collection_list: names of the collections to export; None: all.
      as_text: whether the file is in protobuf's text format.
      graph: None: the default graph.
      export_scope: only the operations in this name scope, whose name is left out.
      clear_devices: whether to leave out devices.
      strip_default_attrs: whether to leave out attrs that have their defaults.
      unbound_inputs_col_name: the collection of the inputs that `export_scope` has from outside.
      clear_extraneous_savers: whether to leave out the nodes, and SaverDefs, of other savers than `saver_def`'s.

    Raises RuntimeError if operations run eagerly, ValueError for a GraphDef that is both given and to be cut.
    """
    if graph is None:
        refuse_eager()
    graph = get_default_graph() if graph is None else graph
    made = protos.MetaGraphDef()
    if meta_info_def is not None:
        made.meta_info_def.CopyFrom(meta_info_def)
    unbound: list[str] = []
    if graph_def is not None:
        made.graph_def.CopyFrom(graph_def)
    else:
        made.graph_def.CopyFrom(_scoped(graph, export_scope, unbound))
    if clear_extraneous_savers:
        _drop_savers(made.graph_def, saver_def, export_scope)
    for node in made.graph_def.node if clear_devices else ():
        node.device = ""
    if strip_default_attrs:
        strip_graph(made.graph_def)
        made.meta_info_def.stripped_default_attrs = True
    _add_info(made)
    if saver_def is not None:
        made.saver_def.CopyFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        if key != GraphKeys.SAVERS or not clear_extraneous_savers:
            add_collection(made, key, graph.get_collection(key), export_scope)
        elif saver_def is not None:
            made.collection_def[key].bytes_list.value.append(saver_def.SerializeToString(deterministic=True))
    if unbound:
        made.collection_def[unbound_inputs_col_name].bytes_list.value.extend(
            name.encode() for name in unbound
        )
    if filename:
        write_message(made, filename, as_text)
    return made


def _scoped(graph: Graph, scope: str | None, unbound: list[str]) -> Any:
    """The GraphDef of the operations in a scope; `unbound` takes the names of their inputs from outside."""
    if not scope:
        return graph_defs.to_graph_def(graph, add_shapes=True)
    inside = [
        op
        for op in graph.operations
        if op.name == scope.rstrip("/") or op.name.startswith(scope.rstrip("/") + "/")
    ]
    made = graph_defs.of_operations(graph, inside, add_shapes=True)
    names = {op.name for op in inside}
    for node in made.node:
        node.name = strip_scope(node.name, scope)
        inputs = list(node.input)
        del node.input[:]
        for text in inputs:
            if text.removeprefix("^").partition(":")[0] in names:
                node.input.append(strip_scope(text, scope))
                continue
            sign = "^" if text.startswith("^") else ""
            outside = UNBOUND + text.removeprefix("^")
            node.input.append(sign + outside)
            if outside not in unbound:
                unbound.append(outside)
        groups = node.attr["_class"].list.s if "_class" in node.attr else []
        if len(groups):
            kept = [g for g in groups if g.decode().removeprefix("loc:@") in names]
            del groups[:]
            groups.extend(strip_scope(g.decode(), scope).encode() for g in kept)
    return made


def _drop_savers(graph_def: Any, kept: Any, scope: str | None) -> None:
    """Removes the nodes of all savers but that of a SaverDef: a saver has a name scope of its own."""
    names = () if kept is None else (kept.save_tensor_name, kept.restore_op_name)
    own = {strip_scope(name, scope).rpartition("/")[0] for name in names}
    found = {node.name.rpartition("/")[0] for node in graph_def.node if node.op in ("SaveV2", "RestoreV2")}
    gone = tuple(f"{name}/" for name in found - own if name)
    nodes = [node for node in graph_def.node if not node.name.startswith(gone)]
    del graph_def.node[:]
    graph_def.node.extend(nodes)


def _add_info(made: Any) -> None:
    """Which ops there are, and who wrote it, where that was not given."""
    info = made.meta_info_def
    if not info.tensorflow_version:
        info.tensorflow_version = TENSORFLOW_VERSION
    if not info.HasField("stripped_op_list"):
        used = sorted(ops_used_by_graph_def(made.graph_def))
        info.stripped_op_list.op.extend(
            op_defs.op_def(kind) for kind in used if op_defs.known(kind)
        )


def add_collection(made: Any, key: str, items: list[Any], scope: str | None) -> None:
    try:
        if key in _VARIABLES:
            found = [variable_defs.to_proto(v, scope) for v in items]
            values = [v.SerializeToString(deterministic=True) for v in found if v is not None]
            if values:
                made.collection_def[key].bytes_list.value.extend(values)
            return
        if key in MADE_OF_PROTOS:
            found = [x.to_proto(export_scope=scope) for x in items]
            values = [x.SerializeToString(deterministic=True) for x in found if x is not None]
            if values:
                made.collection_def[key].bytes_list.value.extend(values)
            return
        kind, values = _plain(items, scope)
        if kind == "any_list":
            for each in values:  # a message of another pool than this package's
                made.collection_def[key].any_list.value.add(type_url=each.type_url, value=each.value)
        elif values:
            getattr(made.collection_def[key], kind).value.extend(values)
    except (AttributeError, TypeError, ValueError, RuntimeError) as error:
        get_logger().warning(
            "Issue encountered when serializing %s. Type is unsupported, or the types of the items "
            "don't match field type "
            "in CollectionDef. Note this is a warning and probably safe to ignore. %s", key, error,
        )  # fmt: skip
        made.collection_def.pop(key, None)


def _plain(items: list[Any], scope: str | None) -> tuple[str, list[Any]]:
    """The field for a collection's items, by the first of them, and what goes there."""
    first = items[0] if items else 0
    if isinstance(first, (str, bytes)):
        return "bytes_list", [x.encode() if isinstance(x, str) else x for x in items]
    if isinstance(first, int):
        return "int64_list", items
    if isinstance(first, float):
        return "float_list", items
    if getattr(getattr(first, "DESCRIPTOR", None), "full_name", "") == "google.protobuf.Any":
        return "any_list", items
    if hasattr(first, "SerializeToString"):
        return "bytes_list", [x.SerializeToString() for x in items]
    named = [x.name for x in items]
    return "node_list", [strip_scope(name, scope) for name in named if in_scope(name, scope)]


# Import.


def read(path: Any) -> Any:
    """The `MetaGraphDef` in a file, binary or text. Raises OSError or ValueError if it cannot be read."""
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    try:
        with open(local_path(path), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        raise OSError(f"File {path} does not exist.") from None
    try:
        return protos.MetaGraphDef.FromString(data)
    except DecodeError:
        pass
    try:
        return text_format.Parse(data.decode(), protos.MetaGraphDef())
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from None


def restore(
    meta_graph: Any,
    clear_devices: bool = False,
    graph: Graph | None = None,
    import_scope: str | None = None,
    input_map: Any = None,
    return_elements: Any = None,
    unbound_inputs_col_name: str = "unbound_inputs",
    restore_collections_predicate: Any = lambda key: True,
    own_files: Sequence[str] = (),
) -> tuple[dict[str, Any], list[Any] | None]:
    """Adds the graph and collections of a `MetaGraphDef`, or of the file that has one, to a graph.

    Args:
      import_scope: a name scope for all that is imported.
      input_map, return_elements: as of `import_graph_def`.
      restore_collections_predicate: of the name of a collection: whether to take it.
      own_files: tensors that are paths of files of the model.

    Returns:
      The imported variables by their names, without the scope; and what `return_elements` names.

    Raises RuntimeError if operations run eagerly, OSError for a file that cannot be read, ValueError for contents
    that cannot be a graph.
    """
    if graph is None:
        refuse_eager()
    if not hasattr(meta_graph, "graph_def"):
        meta_graph = read(meta_graph)
    graph = get_default_graph() if graph is None else graph
    _check_unbound(meta_graph, input_map, unbound_inputs_col_name)
    source = protos.GraphDef()
    source.CopyFrom(meta_graph.graph_def)
    for node in source.node if clear_devices else ():
        node.device = ""
    info = meta_graph.meta_info_def
    producer = info.stripped_op_list if info.HasField("stripped_op_list") else None
    with graph.as_default():
        around = graph.get_name_scope()
        scope = graph.unique_name(import_scope, mark_as_used=False) if import_scope else around
        elements = import_nodes(
            source, name=import_scope or (f"{around}/" if around else ""), input_map=input_map,
            return_elements=return_elements,
            producer_op_list=producer, own_files=own_files,
        )  # fmt: skip
    for key, collection in sorted(meta_graph.collection_def.items()):
        if key != unbound_inputs_col_name and restore_collections_predicate(key):
            _restore_collection(graph, key, collection, scope)
    variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope=scope or None)
    return {strip_scope(v.name.removesuffix(":0"), scope): v for v in variables}, elements


def _check_unbound(meta_graph: Any, input_map: Any, key: str) -> None:
    if key not in meta_graph.collection_def:
        return
    unbound = [name.decode() for name in meta_graph.collection_def[key].bytes_list.value]
    mapped = {k if isinstance(k, str) else k.name for k in input_map or ()}
    missing = [
        name for name in unbound if name not in mapped and name.removesuffix(":0") not in mapped
    ]
    if missing:
        raise ValueError(
            f"Graph contains unbound inputs: {', '.join(unbound)}. Must provide these inputs through input_map."
        )


def _restore_collection(graph: Graph, key: str, collection: Any, scope: str) -> None:
    kind = collection.WhichOneof("kind")
    if kind is None:
        get_logger().error(
            "Cannot identify data type for collection %s. Skipping.", key
        )
        return
    values = getattr(collection, kind).value
    if key in _VARIABLES and kind == "bytes_list":
        from google.protobuf.message import DecodeError

        for data in values:
            try:
                definition = protos.VariableDef.FromString(data)
            except DecodeError as error:
                raise ValueError(
                    f"Collection '{key}' holds what is no VariableDef: {error}"
                ) from None
            graph.add_to_collection(key, variable_defs.from_proto(definition, graph, scope))
    elif key in MADE_OF_PROTOS and kind == "bytes_list":
        message, make = MADE_OF_PROTOS[key]
        with graph.as_default():
            for data in values:
                graph.add_to_collection(key, make(message.FromString(data), import_scope=scope))
    elif kind == "node_list":
        for name in values:
            try:
                graph.add_to_collection(key, graph.as_graph_element(prepend_scope(name, scope)))
            except (KeyError, TypeError) as error:
                raise ValueError(f"Collection '{key}': {error}") from None
    else:
        # Strings are taken for names, as TensorFlow does.
        named = kind == "bytes_list" and scope
        for value in values:
            graph.add_to_collection(key, prepend_scope(value.decode(), scope) if named else value)
