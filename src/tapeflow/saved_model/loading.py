"""`tf.saved_model.load`: the objects of a SavedModel, with their functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.checkpoint.following import AutoTrackable
from tapeflow.core import context
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import public
from tapeflow.graph.interchange import trust
from tapeflow.saved_model import reading
from tapeflow.saved_model.load_context import load_context
from tapeflow.saved_model.options import LoadOptions
from tapeflow.saved_model.restored.loader import Loader


@public
def load(export_dir: Any, tags: Sequence[str] | None = None, options=None, trusted: bool | None = None, limits=None):
    """Load the object that was saved in a folder: its attributes, variables, functions and `signatures`.

    Args:
      export_dir: the folder.
      tags: of the graph to load; None: the only one.
      options: a `tf.saved_model.LoadOptions` (optional).
      trusted: False refuses a model with ops that touch files, other objects of the process, or Python, and limits
        what each call of its functions may use. A SavedModel is a program: load one that you do not trust only so.
        None: True, unless the program runs by `python -m tapeflow.run --untrusted`.
      limits: the `tf.saved_model.Limits` of a model that is not trusted (optional).

    Returns:
      The object.

    Raises:
      OSError: for a folder without a SavedModel.
      ValueError: for other tags, and for contents that cannot be.
      PermissionDeniedError: for a model that is not trusted and touches more than its own files.
      ResourceExhaustedError: by its functions, where they need more than the limits.
    """
    options = options or LoadOptions()
    with context.init_scope(), trust.loading(trusted, limits), load_context(options):
        return load_parts(export_dir, tags, options)


def load_parts(export_dir: Any, tags: Any, options: LoadOptions) -> Any:
    """As `load`, in the graph being built."""
    folder = local_path(export_dir)
    if trust.current() is not None:
        reading.refuse_links(folder)
    model = reading.parse(export_dir)
    if len(model.meta_graphs) == 1 and model.meta_graphs[0].HasField("object_graph_def"):
        meta = model.meta_graphs[0]
        wanted = reading.tags_of(tags)
        if wanted is not None and wanted != set(meta.meta_info_def.tags):
            raise ValueError(
                f"Got an incompatible argument to `tags`: {tags}. The SavedModel at {folder} has one "
                f"MetaGraph with tags {list(meta.meta_info_def.tags)}. You may omit the argument, pass 'None', "
                "or pass matching tags."
            )
        loader = Loader(meta, folder, options)
        root = loader.load()
        if options.experimental_load_function_aliases:
            loader.load_aliases(root)
    else:
        from tapeflow.saved_model.v1_in_v2 import load_graph

        meta = only(model, tags, folder)
        root = load_graph(meta, folder)
    if isinstance(root, AutoTrackable):
        root.tensorflow_version = meta.meta_info_def.tensorflow_version
        root.tensorflow_git_version = meta.meta_info_def.tensorflow_git_version
    return root


def only(model: Any, tags: Any, folder: str) -> Any:
    if tags is not None:
        return reading.graph_with_tags(model, sorted(reading.tags_of(tags) or ()), folder)
    if len(model.meta_graphs) != 1:
        found = [list(meta.meta_info_def.tags) for meta in model.meta_graphs]
        raise ValueError(
            "Importing a SavedModel with `tf.saved_model.load` requires a `tags=` argument if there is "
            f"more than one MetaGraph. Got `tags=None`, but there are {len(found)} MetaGraphs in the "
            f"SavedModel with tag sets: {found}. Pass a `tags=` argument to load this SavedModel."
        )
    return model.meta_graphs[0]


