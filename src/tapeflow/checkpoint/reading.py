"""Checkpoints read by name: `load_checkpoint`, `list_variables`, `load_variable`."""

from __future__ import annotations

import os
from typing import Any

from tapeflow.checkpoint.first_format import reader_of
from tapeflow.checkpoint.state import latest_checkpoint
from tapeflow.core.dtypes import DType, string
from tapeflow.core.files.paths import local_path
from tapeflow.core.public import boundaries, public, public_methods


@public_methods
class CheckpointReader:
    """The tensors of a checkpoint, by name. Raises NotFoundError for names and checkpoints that are not there."""

    def __init__(self, filename: Any):
        self._reader = reader_of(filename)

    def get_variable_to_shape_map(self) -> dict[str, Any]:
        """Shapes by name, the last name first, as TensorFlow's reader has it."""
        return {key: self._reader.shape(key).as_list() for key in reversed(self._reader.keys())}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """Dtypes by name, in the same order."""
        return {key: self._reader.dtype(key) for key in reversed(self._reader.keys())}

    def has_tensor(self, tensor_str: Any) -> bool:
        """Whether there is a tensor of that name."""
        return _text(tensor_str) in self._reader

    def get_tensor(self, tensor_str: Any) -> Any:
        """The value of a tensor as an array; a single string as bytes."""
        key = _text(tensor_str)
        value = self._reader.read(key)
        return value.item() if self._reader.dtype(key) == string and not value.ndim else value

    def debug_string(self) -> bytes:
        """Names, dtypes and shapes as text."""
        return "\n".join(
            f"{key} (DT_{self._reader.dtype(key).name.upper().replace('FLOAT32', 'FLOAT')}) "
            f"[{','.join(map(str, self._reader.shape(key).as_list()))}]"
            for key in self._reader.keys()  # noqa: SIM118
        ).encode()


def _text(name: str) -> str:
    return name.decode() if isinstance(name, bytes) else name


@public
def load_checkpoint(ckpt_dir_or_file: Any):
    """A CheckpointReader of a checkpoint, or of the latest one of a folder."""
    path = os.fspath(ckpt_dir_or_file)
    if os.path.isdir(local_path(path)):
        found = latest_checkpoint(path)
        if found is None:
            raise ValueError(
                f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
            )
        path = found
    return CheckpointReader(path)


@public
def list_variables(ckpt_dir_or_file: str):
    """(name, shape) of all tensors of a checkpoint, sorted."""
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    return [(name, shapes[name]) for name in sorted(shapes)]


@public
def load_variable(ckpt_dir_or_file, name):
    """The value of one tensor of a checkpoint."""
    reader = load_checkpoint(ckpt_dir_or_file)
    return reader.get_tensor(name.removesuffix(":0"))


def new_reader(filepattern: Any) -> CheckpointReader:
    """A CheckpointReader of exactly this prefix. Raises NotFoundError, ValueError for other arguments."""
    if not isinstance(filepattern, (str, os.PathLike)):
        raise ValueError(f"a checkpoint is named by a string, not by {filepattern!r}")
    return CheckpointReader(filepattern)


boundaries(globals())
