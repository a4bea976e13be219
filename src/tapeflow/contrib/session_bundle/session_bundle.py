"""Reads session bundles."""

from __future__ import annotations

import os
from typing import Any

from tapeflow.compat import v1
from tapeflow.compat.v1 import gfile
from tapeflow.contrib.session_bundle import constants, manifest_pb2

__all__ = ["load_session_bundle_from_path", "maybe_session_bundle_dir"]


def maybe_session_bundle_dir(export_dir: str) -> bool:
    """Whether a folder looks like a session bundle."""
    return gfile.Exists(os.path.join(export_dir, constants.META_GRAPH_DEF_FILENAME))


def load_session_bundle_from_path(
    export_dir: str, target: str = "", config: Any = None, meta_graph_def: Any = None
) -> tuple[Any, Any]:
    """Replace the default graph by that of a session bundle.

    Args:
      export_dir: the folder of the version.
      target: what the session connects to.
      config: the session's ConfigProto.
      meta_graph_def: the model's MetaGraphDef; by default that in the folder.

    Returns:
      A session that has the variables, and the MetaGraphDef.

    Raises RuntimeError for a folder that is no session bundle.
    """
    if meta_graph_def is None:
        path = os.path.join(export_dir, constants.META_GRAPH_DEF_FILENAME)
        if not gfile.Exists(path):
            raise RuntimeError(f"Expected meta graph file missing {path}")
        with gfile.GFile(path, "rb") as file:
            meta_graph_def = v1.MetaGraphDef.FromString(file.read())
    collections = meta_graph_def.collection_def
    if constants.GRAPH_KEY in collections:
        graphs = collections[constants.GRAPH_KEY].any_list.value
        if len(graphs) != 1:
            raise RuntimeError(f"Expected exactly one serving GraphDef in : {meta_graph_def}")
        graph = v1.GraphDef()
        graphs[0].Unpack(graph)
        meta_graph_def.graph_def.CopyFrom(graph)
    v1.reset_default_graph()
    session = v1.Session(target, config=config)
    saver = v1.train.import_meta_graph(meta_graph_def)
    variables = _variables(export_dir)
    if variables is not None:
        saver.restore(session, os.path.join(export_dir, variables))
    if constants.INIT_OP_KEY in collections:
        if len(collections[constants.INIT_OP_KEY].node_list.value) != 1:
            raise RuntimeError(f"Expected exactly one serving init op in : {meta_graph_def}")
        session.run(v1.get_collection(constants.INIT_OP_KEY), _assets(export_dir, collections))
    return session, meta_graph_def


def _variables(export_dir: str) -> str | None:
    """The name of the checkpoint in a bundle; None where there is none."""
    whole = (constants.VARIABLES_INDEX_FILENAME_V2, constants.VARIABLES_FILENAME)
    if any(gfile.Exists(os.path.join(export_dir, name)) for name in whole):
        return constants.VARIABLES_FILENAME
    parts = constants.VARIABLES_FILENAME_PATTERN
    return parts if gfile.Glob(os.path.join(export_dir, parts)) else None


def _assets(export_dir: str, collections: Any) -> dict[str, str]:
    """The paths of the bundle's files, by the tensors that are to be fed with them."""
    found = {}
    for packed in collections[constants.ASSETS_KEY].any_list.value if constants.ASSETS_KEY in collections else ():
        asset = manifest_pb2.AssetFile()
        packed.Unpack(asset)
        found[asset.tensor_binding.tensor_name] = os.path.join(
            export_dir, constants.ASSETS_DIRECTORY, asset.filename
        )
    return found
