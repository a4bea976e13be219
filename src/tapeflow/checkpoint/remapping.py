"""Matrices of checkpoints with their rows and columns in another order, as a changed vocabulary asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.checkpoint.first_format import Reader, reader_of
from tapeflow.core import dtypes
from tapeflow.core.annotations import Tensor
from tapeflow.core.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    UnimplementedError,
)
from tapeflow.core.files.file_system import GFile
from tapeflow.ops.signature import integer
from tapeflow.ops.state.resource_op import resource_op


@resource_op(
    "GenerateVocabRemapping",
    "new_vocab_file: string, old_vocab_file: string -> remapping: int64, num_present: int32",
    {"new_vocab_offset": integer, "num_new_vocab": integer, "old_vocab_size": -1},
    lambda attrs, inputs: [(attrs["num_new_vocab"],), ()], touches="files",
)  # fmt: skip
def GenerateVocabRemapping(
    new_vocab_file: Tensor, old_vocab_file: Tensor, new_vocab_offset: int, num_new_vocab: int, old_vocab_size: int
):
    """For each word of a part of the new vocabulary its place in the old one, or -1; and how many are there."""
    old_path = _text(old_vocab_file, "old_vocab_file")
    old_words = _lines(old_path)
    if old_vocab_size > len(old_words):
        raise _invalid(
            f"Invalid vocab_size in {old_path}: expected {old_vocab_size} but got {len(old_words)}"
        )
    places: dict[bytes, int] = {}
    for place, word in enumerate(old_words if old_vocab_size < 0 else old_words[:old_vocab_size]):
        if places.setdefault(word, place) != place:
            raise FailedPreconditionError(
                None, None,
                f"HashTable has different value for same key. Key {word.decode(errors='replace')} has "
                f"{places[word]} and trying to add value {place}",
            )  # fmt: skip
    new_words = _lines(_text(new_vocab_file, "new_vocab_file"))
    if new_vocab_offset < 0 or num_new_vocab < 0:
        raise _invalid(f"new_vocab_offset and num_new_vocab must not be negative: {new_vocab_offset}, {num_new_vocab}")
    if len(new_words) < new_vocab_offset + num_new_vocab:
        raise _invalid("lookup table size must be larger than last new vocab entry's line")
    wanted = new_words[new_vocab_offset : new_vocab_offset + num_new_vocab]
    found = np.array([places.get(word, -1) for word in wanted], np.int64)
    return [found, np.int32(np.count_nonzero(found >= 0))]


@resource_op(
    "LoadAndRemapMatrix",
    "ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64, "
    "initializing_values: float32 -> output_matrix: float32",
    {"num_rows": integer, "num_cols": integer, "max_rows_in_memory": -1},
    lambda attrs, inputs: [(attrs["num_rows"], attrs["num_cols"])], touches="files",
)  # fmt: skip
def LoadAndRemapMatrix(
    ckpt_path, old_tensor_name, row_remapping, col_remapping, initializing_values, num_rows, num_cols,
    max_rows_in_memory,
):  # fmt: skip
    """The rows and columns of a matrix in a checkpoint by their old numbers; others from `initializing_values`."""
    path = np.ravel(ckpt_path.numpy())
    if len(path) != 1:
        raise _invalid(
            f"The `ckpt_path` tensor must have exactly one element, got tensor of shape {ckpt_path.shape}"
        )
    name = _text(old_tensor_name, "old_tensor_name")
    rows, columns = row_remapping.numpy(), col_remapping.numpy()
    if rows.shape != (num_rows,):
        raise _invalid(
            f"Size of row_remapping is {rows.size} instead of being equal to num_rows={num_rows}"
        )
    if columns.size and columns.shape != (num_cols,):
        raise _invalid(
            f"Provided col_remapping, but its size is {columns.size} instead of being equal to num_cols={num_cols}"
        )
    _check_unique(rows)
    _check_unique(columns)
    reader = reader_of(bytes(path[0]).decode())
    shape = reader.shape(name).as_list()
    if len(shape) != 2:
        raise _invalid(
            f"Tensor {name} has shape {_shown(shape)} of invalid rank {len(shape)} instead of expected shape of rank 2."
        )
    if reader.dtype(name) != dtypes.float32:
        raise _invalid(f"Tensor {name} has dtype {reader.dtype(name).name}, not float32.")
    if not columns.size:
        if shape[1] != num_cols:
            raise _invalid(
                f"Tensor {name} has shape {_shown(shape)}, where the size of its 2nd dimension is {shape[1]} instead "
                f"of being equal to num_cols={num_cols}"
            )
        columns = np.arange(num_cols)
    for numbers, size in ((rows, shape[0]), (columns, shape[1])):
        if numbers.size and numbers.max() >= size:
            raise _invalid(f"Old ID {numbers.max()} is out of bounds: {name} has shape {_shown(shape)}")
    made = np.empty((num_rows, num_cols), np.float32)
    known = (rows >= 0)[:, None] & (columns >= 0)
    for start, part in _parts(reader, name, shape, rows, max_rows_in_memory):
        here = (rows >= start) & (rows < start + len(part))
        made[here] = part[rows[here] - start][:, columns]
    values = initializing_values.numpy().ravel()
    missing = known.size - np.count_nonzero(known)
    if values.size < missing:
        raise _invalid(
            f"initializing_values contained {values.size} elements, but more missing values remain."
        )
    if values.size > missing:
        raise _invalid(
            f"initializing_values contained {values.size} elements, but only {missing} elements were used to fill in "
            "missing values."
        )
    made[~known] = values
    return made


def _parts(reader: Reader, name: str, shape: Sequence[int], rows: Any, most: int) -> Any:
    """(first row, rows) of the matrix, of the part that `rows` need: at most `most` rows at a time, below 1 all."""
    wanted = rows[rows >= 0]
    if not wanted.size:
        return
    start, end = int(wanted.min()), int(wanted.max()) + 1
    step = end - start if most < 1 else most
    for first in range(start, end, step):
        extent = first, min(step, end - first)
        yield first, reader.read_slice(name, shape, (extent, None))


def _check_unique(numbers: Any) -> None:
    """Raises UnimplementedError where an old number occurs twice."""
    seen: dict[int, int] = {}
    for new, old in enumerate(numbers.tolist()):
        if old >= 0 and seen.setdefault(old, new) != new:
            raise UnimplementedError(
                None, None,
                f"Old ID {old} is mapped to both new ID {seen[old]} and {new}, which is not supported.",
            )  # fmt: skip


def _text(tensor: Any, what: str) -> str:
    values = np.ravel(tensor.numpy())
    if len(values) != 1:
        raise _invalid(f"{what} should be a single string, but got {_shown(tensor.shape.as_list())}")
    return bytes(values[0]).decode()


def _lines(path: str) -> list[bytes]:
    with GFile(path, "rb") as file:
        lines = file.read().split(b"\n")
    if not lines[-1]:
        lines.pop()
    if b"" in lines:
        raise _invalid(f"The vocabulary {path} has an empty line: number {lines.index(b'') + 1}")
    return lines


def _shown(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _invalid(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, message)
