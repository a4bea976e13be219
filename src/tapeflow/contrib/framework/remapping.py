"""Initializers of matrices that a checkpoint has with another vocabulary: rows and columns are found by their words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tapeflow.checkpoint.remapping import GenerateVocabRemapping, LoadAndRemapMatrix
from tapeflow.compat import v1
from tapeflow.core.annotations import DTypeLike

__all__ = [
    "load_and_remap_matrix_initializer", "load_embedding_initializer", "load_linear_multiclass_bias_initializer",
    "load_variable_slot_initializer",
]  # fmt: skip


def _check_files(what: str, old: Any, new: Any) -> bool:
    """Whether this axis is looked up by words. Raises ValueError for one file alone."""
    if bool(old) != bool(new):
        raise ValueError(
            f"old_{what}_vocab_file and new_{what}_vocab_file must both be specified or left unspecified. "
            f"old_{what}_vocab_file='{old}', new_{what}_vocab_file='{new}'"
        )
    return bool(new)


def _places(new_file: str | None, old_file: str | None, offset: int, count: int, old_size: int) -> tuple[Any, Any]:
    return GenerateVocabRemapping(
        new_file, old_file, new_vocab_offset=offset, num_new_vocab=count, old_vocab_size=old_size
    )


def load_and_remap_matrix_initializer(
    ckpt_path: str, old_tensor_name: str, new_row_vocab_size: int, new_col_vocab_size: int,
    old_row_vocab_size: int = -1, old_row_vocab_file: str | None = None, new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None, new_col_vocab_file: str | None = None, num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0, initializer: Callable[..., Any] | None = None, max_rows_in_memory: int = -1,
):  # fmt: skip
    """An initializer that reads a matrix of a checkpoint and moves its rows and columns to where their words are now.

    Files of vocabularies have a word a line: rows and columns whose words are new, and buckets for unknown words, are
    initialized by another initializer. Without files of an axis its numbers stay.

    Args:
      ckpt_path: the checkpoint.
      old_tensor_name: the matrix.
      new_row_vocab_size, new_col_vocab_size: how many rows and columns are wanted, without buckets.
      old_row_vocab_size: how many lines of the old file of rows count; -1 for all.
      old_row_vocab_file, new_row_vocab_file: the words of the rows, before and now.
      old_col_vocab_file, new_col_vocab_file: those of the columns.
      num_row_oov_buckets, num_col_oov_buckets: how many rows and columns are for unknown words.
      initializer: gives the values that the checkpoint lacks; zeros by default.
      max_rows_in_memory: how many rows are read at once; by default all.

    Returns:
      A function of a shape, a dtype and the part of a variable.

    Raises TypeError for an initializer that is no function.
    """
    if initializer is None:
        initializer = v1.zeros_initializer()
    if not callable(initializer):
        raise TypeError(f"initializer must be callable, instead of being {initializer} of type {type(initializer)}.")
    make = initializer

    def begin(shape: Sequence[int], dtype: DTypeLike = v1.float32, partition_info: Any = None):
        rows = _checked_rows(shape, dtype, new_col_vocab_size, num_col_oov_buckets)
        offset = 0 if partition_info is None else partition_info.single_offset(shape)
        whole = new_row_vocab_size + num_row_oov_buckets
        if offset + rows > whole:
            raise ValueError(
                f"Trying to initialize {rows} additional rows after {offset} rows have already been initialized, which "
                f"would exceed expected total row count of new_row_vocab_size ({new_row_vocab_size}) + "
                f"num_row_oov_buckets ({num_row_oov_buckets}) = {whole}."
            )
        buckets = min(rows, max(0, offset + rows - new_row_vocab_size))
        if offset > new_row_vocab_size:
            return make(shape)
        by_row = _check_files("row", old_row_vocab_file, new_row_vocab_file)
        by_column = _check_files("col", old_col_vocab_file, new_col_vocab_file)
        if not (by_row or by_column):
            raise ValueError(
                "Must provide either row or column vocab files. If no remapping is necessary, consider using "
                "`tf.contrib.framework.init_from_checkpoint` instead."
            )
        count, width = rows - buckets, new_col_vocab_size
        row_places, known_rows = v1.range(offset, offset + count, dtype=v1.int64), count
        if by_row:
            row_places, known_rows = _places(
                new_row_vocab_file, old_row_vocab_file, offset, count, old_row_vocab_size
            )  # fmt: skip
        column_places, known_columns = v1.constant([], v1.int64), width
        if by_column:
            column_places, known_columns = _places(new_col_vocab_file, old_col_vocab_file, 0, width, -1)
        missing = make([count * width - known_rows * known_columns, 1])
        matrix = LoadAndRemapMatrix(
            [ckpt_path] if isinstance(ckpt_path, (str, bytes)) else ckpt_path, old_tensor_name, row_places,
            column_places, missing, num_rows=count, num_cols=width, max_rows_in_memory=max_rows_in_memory,
        )  # fmt: skip
        return _with_buckets(matrix, make, (rows, width), buckets, num_col_oov_buckets)

    return begin


def _checked_rows(shape: Sequence[int], dtype: DTypeLike, width: int, buckets: int) -> int:
    """How many rows a shape has. Raises TypeError or ValueError for what cannot be initialized."""
    if v1.as_dtype(dtype) != v1.float32:
        raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
    if len(shape) != 2:
        raise ValueError(f"Expected 2-dim shape, but received: {shape}")
    if shape[0] <= 0:
        raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
    if shape[1] != width + buckets:
        raise ValueError(
            f"Expected 2nd dim of shape to be new_col_vocab_size ({width}) + num_col_oov_buckets ({buckets}) = "
            f"{width + buckets}, but received shape: {shape}"
        )
    return int(shape[0])


def _with_buckets(matrix: Any, make: Callable[..., Any], shape: tuple[int, int], rows: int, columns: int) -> Any:
    """The matrix with rows and columns for unknown words behind it; `shape` is that with the rows."""
    if rows:
        matrix = v1.concat([matrix, v1.convert_to_tensor(make([rows, shape[1]]))], 0)
    if columns:
        matrix = v1.concat([matrix, v1.convert_to_tensor(make([shape[0], columns]))], 1)
    return matrix


def load_embedding_initializer(
    ckpt_path: str, embedding_tensor_name: str, new_vocab_size: int, embedding_dim: int, old_vocab_file: str,
    new_vocab_file: str, old_vocab_size: int = -1, num_oov_buckets: int = 0,
    initializer: Callable[..., Any] | None = None, max_rows_in_memory: int = -1,
):  # fmt: skip
    """An initializer of an embedding whose vocabulary has changed; see `load_and_remap_matrix_initializer`.

    New words begin with numbers of a truncated normal distribution by default, of deviation 1 / sqrt(embedding_dim).
    """
    if initializer is None:
        initializer = v1.truncated_normal_initializer(stddev=1.0 / math.sqrt(embedding_dim))
    return load_and_remap_matrix_initializer(
        ckpt_path, embedding_tensor_name, new_vocab_size, embedding_dim, old_row_vocab_size=old_vocab_size,
        old_row_vocab_file=old_vocab_file, new_row_vocab_file=new_vocab_file, num_row_oov_buckets=num_oov_buckets,
        initializer=initializer, max_rows_in_memory=max_rows_in_memory,
    )  # fmt: skip


def load_linear_multiclass_bias_initializer(
    ckpt_path: str, bias_tensor_name: str, new_class_vocab_size: int, old_class_vocab_file: str,
    new_class_vocab_file: str, num_class_oov_buckets: int = 0, initializer: Callable[..., Any] | None = None,
    max_rows_in_memory: int = -1,
):  # fmt: skip
    """An initializer of biases, [classes, 1], whose classes have changed; see `load_and_remap_matrix_initializer`."""
    return load_and_remap_matrix_initializer(
        ckpt_path, bias_tensor_name, new_class_vocab_size, 1, old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file, num_row_oov_buckets=num_class_oov_buckets, initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )  # fmt: skip


def load_variable_slot_initializer(
    ckpt_path: str, old_tensor_name: str, primary_partition_info: Any, new_row_vocab_size: int,
    new_col_vocab_size: int, old_row_vocab_file: str | None = None, new_row_vocab_file: str | None = None,
    old_col_vocab_file: str | None = None, new_col_vocab_file: str | None = None, num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0, initializer: Callable[..., Any] | None = None, max_rows_in_memory: int = -1,
):  # fmt: skip
    """An initializer of the slot of a variable; `primary_partition_info` says which part of that variable it is for.

    See `load_and_remap_matrix_initializer`.
    """
    begin = load_and_remap_matrix_initializer(
        ckpt_path, old_tensor_name, new_row_vocab_size, new_col_vocab_size, old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file, old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file, num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets, initializer=initializer, max_rows_in_memory=max_rows_in_memory,
    )  # fmt: skip
    return lambda shape, dtype=v1.float32, partition_info=None: begin(shape, dtype, primary_partition_info)
