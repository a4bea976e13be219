"""The paths of what a SavedModel holds, and its folders, made where they are not there."""

from __future__ import annotations

import os

from tapeflow.core.annotations import PathLike
from tapeflow.core.files.paths import local_path
from tapeflow.saved_model import constants


def get_variables_dir(export_dir: PathLike) -> str:
    """The folder of the variables.

    Args:
      export_dir: the folder of the model.
    """
    return os.path.join(local_path(export_dir), constants.VARIABLES_DIRECTORY)


def get_or_create_variables_dir(export_dir: PathLike) -> str:
    """The folder of the variables, which is there then.

    Args:
      export_dir: the folder of the model.
    """
    return _made(get_variables_dir(export_dir))


def get_variables_path(export_dir: PathLike) -> str:
    """How the paths of the files of variables begin.

    Args:
      export_dir: the folder of the model.
    """
    return os.path.join(get_variables_dir(export_dir), constants.VARIABLES_FILENAME)


def get_assets_dir(export_dir: PathLike) -> str:
    """The folder of the assets.

    Args:
      export_dir: the folder of the model.
    """
    return os.path.join(local_path(export_dir), constants.ASSETS_DIRECTORY)


def get_or_create_assets_dir(export_dir: PathLike) -> str:
    """The folder of the assets, which is there then.

    Args:
      export_dir: the folder of the model.
    """
    return _made(get_assets_dir(export_dir))


def get_debug_dir(export_dir: PathLike) -> str:
    """The folder of what debuggers read.

    Args:
      export_dir: the folder of the model.
    """
    return os.path.join(local_path(export_dir), constants.DEBUG_DIRECTORY)


def get_or_create_debug_dir(export_dir: PathLike) -> str:
    """The folder of what debuggers read, which is there then.

    Args:
      export_dir: the folder of the model.
    """
    return _made(get_debug_dir(export_dir))


def get_saved_model_pb_path(export_dir: PathLike) -> str:
    """The file of the model's graphs.

    Args:
      export_dir: the folder of the model.
    """
    return os.path.join(local_path(export_dir), constants.SAVED_MODEL_FILENAME_PB)


def get_saved_model_pbtxt_path(export_dir: PathLike) -> str:
    """The file of the model's graphs, as text.

    Args:
      export_dir: the folder of the model.
    """
    return os.path.join(local_path(export_dir), constants.SAVED_MODEL_FILENAME_PBTXT)


def _made(path: str) -> str:
    os.makedirs(path, exist_ok=True)
    return path
