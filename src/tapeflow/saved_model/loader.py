"""`tf.compat.v1.saved_model.load`: the graph of a SavedModel in a session."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tapeflow import protos
from tapeflow.checkpoint.bundle import index_path
from tapeflow.core import context
from tapeflow.core.annotations import PathLike
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import names_itself, public
from tapeflow.graph.build.variable_initializers import (
    global_variables_initializer,
    local_variables_initializer,
)
from tapeflow.graph.interchange import trust
from tapeflow.graph.interchange.variable_defs import prepend_scope
from tapeflow.ops.control.grouping import control_dependencies, group
from tapeflow.ops.lookup import nodes as lookup_nodes  # noqa: F401 (the tables that models have)
from tapeflow.ops.lookup.tables import tables_initializer
from tapeflow.saved_model import constants, reading
from tapeflow.train.meta_graph import import_meta_graph

if TYPE_CHECKING:
    from tapeflow.graph.run.session import Session


@public
def maybe_saved_model_directory(export_dir: PathLike):
    """Whether there is a SavedModel in the folder."""
    return reading.contains_saved_model(export_dir)


@public
@names_itself
def load(sess: Session, tags: Sequence[str], export_dir: str, import_scope: str | None = None, **saver_kwargs):
    """Adds the graph with these tags to the graph of a session, restores its variables and runs its initializer.

    Returns its `MetaGraphDef`.

    Raises OSError for a folder without a SavedModel, RuntimeError for tags that it does not have.
    """
    model = reading.parse(export_dir)
    folder = local_path(export_dir)
    meta = reading.graph_with_tags(model, tags, folder)
    with sess.graph.as_default():
        imported = protos.MetaGraphDef()
        imported.CopyFrom(meta)
        imported.collection_def.pop(constants.ASSETS_KEY, None)  # paths, which are fed below
        if trust.current() is not None:
            reading.refuse_links(folder)
            # What takes the paths of files takes no others, whoever runs it.
            given = {name: convert_to_tensor(path) for name, path in assets(meta, folder).items()}
            saver_kwargs["input_map"] = {**given, **(saver_kwargs.get("input_map") or {})}
            saver_kwargs["own_files"] = tuple(given)
        saver = import_meta_graph(imported, import_scope=import_scope, **saver_kwargs)
        prefix = reading.variables_prefix(folder)
        if saver is not None and os.path.exists(index_path(prefix)):
            saver.restore(sess, prefix)
        feeds = {
            prepend_scope(tensor, import_scope): path for tensor, path in assets(meta, folder).items()
        }
        name = main_op(meta)
        if name is not None:
            sess.run(prepend_scope(name, import_scope), feeds)
    return meta


def assets(meta: Any, folder: str) -> dict[str, str]:
    """The paths of files by the names of the tensors that take them."""
    definitions = list(meta.asset_file_def)
    if not definitions and constants.ASSETS_KEY in meta.collection_def:
        for packed in meta.collection_def[constants.ASSETS_KEY].any_list.value:
            definitions.append(protos.AssetFileDef.FromString(packed.value))
    return {d.tensor_info.name: reading.asset_path(folder, d.filename) for d in definitions}


def main_op(meta: Any) -> str | None:
    """The name of the operation that runs when a graph is loaded; None if there is none.

    Raises RuntimeError for more than one.
    """
    key = constants.INIT_OP_SIGNATURE_KEY
    if key in meta.signature_def:
        return meta.signature_def[key].outputs[key].name.partition(":")[0]
    for collection in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if collection in meta.collection_def:
            names = list(meta.collection_def[collection].node_list.value)
            if len(names) != 1:
                raise RuntimeError(
                    f"Expected exactly one SavedModel init op. Found {len(names)}: {names}."
                )
            return names[0]
    return None


@public
def main_op_with_restore(restore_op_name):
    """An operation for `main_op`: restores the variables, then initialises local ones and tables."""
    graph = context.current_graph()
    with control_dependencies([_initial()]):
        return group(graph.as_graph_element(restore_op_name) if graph is not None else None)


@public
def default_main_op():
    """An operation for `main_op`: initialises all variables and tables."""
    return _initial()


def _initial() -> Any:
    return group(global_variables_initializer(), local_variables_initializer(), tables_initializer())
