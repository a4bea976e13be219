"""Axes and per-axis numbers from one data format, such as NHWC, to another."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.annotations import Array
from tapeflow.core.errors import InvalidArgumentError
from tapeflow.ops import shapes
from tapeflow.ops.signature import Preferring
from tapeflow.ops.table import Sample, op
from tapeflow.ops.validate import invalid

if TYPE_CHECKING:
    from tapeflow.ops.row_types import SampleGenerator

_INDICES = (dtypes.int32, dtypes.int64)
_FORMATS = {"src_format": "NHWC", "dst_format": "NCHW"}


def _check(src: str, dst: str) -> None:
    if len(src) not in (4, 5):
        raise invalid(f"Source format must be of length 4 or 5, received src_format = {src}")
    if len(dst) not in (4, 5):
        raise invalid(f"Destination format must be of length 4 or 5, received dst_format = {dst}")
    if sorted(src) != sorted(dst) or len(set(src)) != len(src):
        raise invalid(
            f"Destination and source format must determine a permutation, got {src} and {dst}"
        )


@op(
    "DataFormatDimMap",
    "x: T -> y: T",
    types={"T": Preferring(_INDICES)},
    attrs=_FORMATS,
    shape=shapes.same_as_first,
)
def DataFormatDimMap(xp: ModuleType, x: Array, src_format: str, dst_format: str):
    _check(src_format, dst_format)
    rank = len(src_format)
    if xp is np and x.size and (x.min() < -rank or x.max() >= rank):
        raise invalid(f"Source index is out of range for a format of {rank} axes")
    places = np.array([dst_format.index(c) for c in src_format], x.dtype)
    return xp.asarray(places)[xp.asarray(x) % rank]


DataFormatDimMap.gradient(None)


@DataFormatDimMap.samples
def _(rng: SampleGenerator):
    yield Sample(np.array([0, 1, 2, 3, -1], np.int32), expect=np.array([0, 2, 3, 1, 1], np.int32))
    yield Sample(
        np.array(1, np.int64), src_format="NDHWC", dst_format="NCDHW", expect=np.array(2, np.int64)
    )
    yield Sample(np.array([4], np.int32), raises=InvalidArgumentError)
    yield Sample(np.array([-5], np.int32), raises=InvalidArgumentError)
    yield Sample(np.array([0], np.int32), src_format="NHW", raises=InvalidArgumentError)
    yield Sample(np.array([0], np.int32), dst_format="NHWW", raises=InvalidArgumentError)


@op(
    "DataFormatVecPermute",
    "x: T -> y: T",
    types={"T": Preferring(_INDICES)},
    attrs=_FORMATS,
    shape=shapes.same_as_first,
)
def DataFormatVecPermute(xp: ModuleType, x: Array, src_format: str, dst_format: str):
    if x.ndim not in (1, 2):
        raise invalid(f"input must be a vector or 2D tensor, but got shape {list(x.shape)}")
    _check(src_format, dst_format)
    count = x.shape[0]
    if count not in (len(src_format), len(src_format) - 2):
        raise invalid(
            f"1D input must be of size {len(src_format) - 2} or {len(src_format)}, but got shape {list(x.shape)}"
        )
    if x.ndim == 2 and x.shape[1] != 2:
        raise invalid(
            f"Second dimension of 2D input must be of size 2, but got shape {list(x.shape)}"
        )
    src, dst = src_format, dst_format
    if count == len(src) - 2:  # of the axes with windows only
        src, dst = ("".join(c for c in f if c not in "NC") for f in (src, dst))
    return x[np.array([src.index(c) for c in dst])]


DataFormatVecPermute.gradient(None)


@DataFormatVecPermute.samples
def _(rng: SampleGenerator):
    x = np.array([7, 4, 9, 3], np.int32)
    yield Sample(x, expect=np.array([7, 3, 4, 9], np.int32))
    yield Sample(x, src_format="HWNC", dst_format="NHWC", expect=np.array([9, 7, 4, 3], np.int32))
    yield Sample(np.array([4, 9], np.int64), expect=np.array([4, 9], np.int64))
    yield Sample(np.arange(8).reshape(4, 2), expect=np.array([[0, 1], [6, 7], [2, 3], [4, 5]]))
    yield Sample(np.array(1, np.int32), raises=InvalidArgumentError)
    yield Sample(np.arange(3), raises=InvalidArgumentError)
    yield Sample(np.arange(12).reshape(4, 3), raises=InvalidArgumentError)
    yield Sample(x, dst_format="NNNN", raises=InvalidArgumentError)
