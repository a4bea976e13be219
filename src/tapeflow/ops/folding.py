"""Rows of arrays folded into the rows that indices name: what kernels in NumPy use in the place of `ufunc.at`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow import _native
from tapeflow.core.dtypes import as_dtype

_PARTS = {np.dtype(np.complex64): np.float32, np.dtype(np.complex128): np.float64}


def fold_at(ufunc: np.ufunc, out: np.ndarray, at: Any, values: Any) -> None:
    """Do what `ufunc.at(out, at, values)` does, for indices that are not negative.

    Args:
      ufunc: `np.add`, `subtract`, `multiply`, `divide`, `maximum` or `minimum`.
      out: the array that is changed.
      at: an array of integers, or a tuple of such, which broadcast, for as many leading axes.
      values: what is folded in, in order; it broadcasts to the shape of the indices and of the other axes.

    Raises:
      IndexError, ValueError: for an index that is out of range.
    """
    if isinstance(at, tuple) and not at:  # whole arrays
        out, at = out[None], np.zeros(np.shape(values)[: np.ndim(values) - out.ndim], np.int64)
    at = np.broadcast_arrays(*at) if isinstance(at, tuple) else [np.asarray(at)]
    lead, rest = out.shape[: len(at)], out.shape[len(at) :]
    values = np.broadcast_to(np.asarray(values, out.dtype), (*at[0].shape, *rest))
    if values.size == 0:
        return
    flat = [a.reshape(-1) for a in at]
    rows = np.ascontiguousarray(
        flat[0] if len(at) == 1 else np.ravel_multi_index(flat, lead), np.int64
    )
    into = np.ascontiguousarray(out)
    if ufunc in (np.add, np.subtract) and out.dtype in _PARTS:
        _fold(
            ufunc,
            into.view(_PARTS[out.dtype]),
            rows,
            values.copy().view(_PARTS[out.dtype]),
            2 * math.prod(rest),
        )
    elif out.dtype.kind in "bcO" or (ufunc is np.divide and out.dtype.kind in "iu"):
        ufunc.at(into.reshape(math.prod(lead), *rest), rows, values.reshape(len(rows), *rest))
    else:
        _fold(ufunc, into, rows, values, math.prod(rest))
    if into is not out:
        out[...] = into


def _fold(
    ufunc: np.ufunc, into: np.ndarray, rows: np.ndarray, values: np.ndarray, columns: int
) -> None:
    number = as_dtype(into.dtype).as_datatype_enum
    _native.fold_rows(ufunc.__name__, number, _bytes(into), rows, _bytes(values), columns)


def _bytes(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
