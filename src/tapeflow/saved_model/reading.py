"""The files of a SavedModel, read: its messages, which of its graphs is meant, where its files are."""

from __future__ import annotations

import os
from typing import Any

from tapeflow import protos
from tapeflow.core.files.paths import local_path, plain_text
from tapeflow.core.public import public
from tapeflow.saved_model import constants


@public
def contains_saved_model(export_dir):
    """Whether there is a SavedModel in the folder."""
    if isinstance(export_dir, (bytes, str, os.PathLike)):
        return _file(export_dir) is not None
    return False


def _file(export_dir: Any) -> str | None:
    folder = local_path(export_dir)
    for name in (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    return None


def parse(export_dir: Any) -> Any:
    """The `SavedModel` message of a folder. Raises OSError if there is none that can be read."""
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    path = _file(export_dir)
    if path is None:
        raise OSError(
            f"SavedModel file does not exist at: {plain_text(export_dir)}{os.path.sep}"
            f"{{{constants.SAVED_MODEL_FILENAME_PBTXT}|{constants.SAVED_MODEL_FILENAME_PB}}}"
        )
    with open(path, "rb") as file:
        data = file.read()
    try:
        if path.endswith(constants.SAVED_MODEL_FILENAME_PB):
            return protos.SavedModel.FromString(data)
        return text_format.Parse(data.decode(), protos.SavedModel())
    except (DecodeError, text_format.ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from None


def tags_of(tags: Any) -> set[str] | None:
    """Tags as a set; None for all."""
    if tags is None:
        return None
    return {tags} if isinstance(tags, str) else {str(tag) for tag in tags}


def graph_with_tags(model: Any, tags: Any, folder: str) -> Any:
    """The graph with exactly these tags. Raises RuntimeError if there is none."""
    wanted = tags_of(tags) or set()
    found = []
    for meta in model.meta_graphs:
        own = set(meta.meta_info_def.tags)
        if own == wanted:
            return meta
        found.append(own)
    raise RuntimeError(
        f"MetaGraphDef associated with tags {str(tags).strip('[]')} could not be found in SavedModel, with "
        f"available tags '{found}'. To inspect available tag-sets in the SavedModel, please use the SavedModel "
        "CLI: `saved_model_cli`."
    )


def variables_prefix(folder: str) -> str:
    """The prefix of the checkpoint of a SavedModel."""
    return os.path.join(folder, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)


def asset_path(folder: str, filename: str) -> str:
    """The file of an asset. Raises ValueError for one that is outside of the SavedModel, also by way of links."""
    base = os.path.join(folder, constants.ASSETS_DIRECTORY)
    path = os.path.normpath(os.path.join(base, filename))
    inside = path.startswith(os.path.normpath(base) + os.path.sep)
    if os.path.isabs(filename) or not inside or not is_inside(folder, path):
        raise ValueError(f"The SavedModel in {folder} has an asset '{filename}', which is outside of it")
    return path


def refuse_links(folder: str) -> None:
    """Raises ValueError for a SavedModel with a link to what is outside of it."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = os.path.join(parent, name)
            if not is_inside(folder, path):
                raise ValueError(f"The SavedModel in {folder} has a link to what is outside of it: {path}")


def is_inside(folder: str, path: str) -> bool:
    """Whether a path is inside of a folder once links in it are followed; the folder itself may be a link."""
    return os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))
