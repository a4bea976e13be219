"""The messages of SavedModels."""

from __future__ import annotations

from tapeflow.core.public import public
from tapeflow.saved_model import reading

__all__ = ["get_meta_graph_def", "get_saved_model_tag_sets", "read_saved_model"]


@public
def read_saved_model(saved_model_dir):
    """Read the `SavedModel` message of a folder.

    Args:
      saved_model_dir: the folder.

    Returns:
      A `SavedModel`.

    Raises:
      OSError: where there is none that can be read.
    """
    return reading.parse(saved_model_dir)


@public
def get_saved_model_tag_sets(saved_model_dir):
    """List the tags of the graphs of a SavedModel.

    Args:
      saved_model_dir: the folder.

    Returns:
      A list of lists of strings.
    """
    return [list(meta.meta_info_def.tags) for meta in read_saved_model(saved_model_dir).meta_graphs]


@public
def get_meta_graph_def(saved_model_dir, tag_set):
    """Return the graph of a SavedModel that has exactly these tags.

    Args:
      saved_model_dir: the folder.
      tag_set: the tags, with commas between them.

    Returns:
      A `MetaGraphDef`.

    Raises:
      RuntimeError: where there is no such graph.
    """
    wanted = {tag for tag in tag_set.split(",") if tag}
    for meta in read_saved_model(saved_model_dir).meta_graphs:
        if set(meta.meta_info_def.tags) == wanted:
            return meta
    raise RuntimeError(
        f"MetaGraphDef associated with tag-set '{tag_set}' could not be found in the SavedModel '{saved_model_dir}'"
    )
