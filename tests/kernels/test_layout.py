"""The native layout kernels on arrays of any shape and dtype, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tapeflow as tf
from tapeflow.ops.array.broadcasting import BroadcastTo
from tapeflow.ops.array.construction import Fill
from tapeflow.ops.array.joining import ConcatV2, Split, SplitV
from tapeflow.ops.array.layout import Reshape
from tapeflow.ops.array.like import OnesLike, ZerosLike
from tapeflow.ops.array.padding import MirrorPad, Pad, PadV2
from tapeflow.ops.array.ranges import Range
from tapeflow.ops.array.reorder import ReverseV2
from tapeflow.ops.array.stacking import Pack, Unpack
from tapeflow.ops.array.tiling import Tile
from tapeflow.ops.array.transposing import Transpose
from tapeflow.ops.indexing.slicing import Slice
from tapeflow.ops.indexing.strided_slice import StridedSlice, StridedSliceGrad

DTYPES = [
    np.bool_,
    np.uint8,
    np.int16,
    np.float16,
    np.int32,
    np.float32,
    np.int64,
    np.float64,
    np.complex128,
]


@st.composite
def arrays(draw, min_dims=0, min_side=0):
    shape = (
        draw(hnp.array_shapes(min_dims=min_dims, max_dims=5, min_side=min_side, max_side=5))
        if min_dims or draw(st.booleans())
        else ()
    )
    size = int(np.prod(shape))
    start = draw(st.integers(0, 50))
    return (
        (np.arange(start, start + size) % 100).astype(draw(st.sampled_from(DTYPES))).reshape(shape)
    )


def same(got, expected):
    got = got.numpy()
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


@given(arrays(), st.randoms(use_true_random=False))
def test_transpose(x, random):
    perm = random.sample(range(x.ndim), x.ndim)
    same(Transpose(x, np.array(perm, np.int32)), x.transpose(perm))


@given(arrays(), st.randoms(use_true_random=False))
def test_reverse(x, random):
    axes = [i for i in range(x.ndim) if random.random() < 0.5]
    same(ReverseV2(x, np.array(axes, np.int32)), np.flip(x, axes) if axes else x)


@given(arrays(min_dims=1), st.data())
def test_concat_split_and_back(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    n = x.shape[axis]
    cuts = sorted(data.draw(st.lists(st.integers(0, n), min_size=2, max_size=2)))
    sizes = np.array([cuts[0], cuts[1] - cuts[0], n - cuts[1]])
    parts = SplitV(x, sizes, axis, 3)
    for got, expected in zip(parts, np.split(x, cuts, axis)):
        same(got, expected)
    same(ConcatV2(parts, axis), x)


@given(arrays(min_dims=1, min_side=1), st.data())
def test_unpack_pack_and_split(x, data):
    axis = data.draw(st.integers(0, x.ndim - 1))
    n = x.shape[axis]
    parts = Unpack(x, n, axis)
    for i, part in enumerate(parts):
        same(part, np.take(x, i, axis))
    same(Pack(parts, axis), x)
    for got, expected in zip(Split(axis, x, n), np.split(x, n, axis)):
        same(got, expected)


@given(arrays(), st.data())
def test_pads(x, data):
    def pads(limit):
        sides = [
            (data.draw(st.integers(0, limit(d))), data.draw(st.integers(0, limit(d))))
            for d in x.shape
        ]
        return np.array(sides, np.int32).reshape(-1, 2)

    some = pads(lambda d: 2)
    same(Pad(x, some), np.pad(x, some) if x.ndim else x)
    value = np.array(1, x.dtype)
    same(PadV2(x, some, value), np.pad(x, some, constant_values=value) if x.ndim else x)
    if x.size and x.ndim:
        inner = pads(lambda d: d - 1)
        same(MirrorPad(x, inner, "REFLECT"), np.pad(x, inner, mode="reflect"))
        whole = pads(lambda d: d)
        same(MirrorPad(x, whole, "SYMMETRIC"), np.pad(x, whole, mode="symmetric"))


@given(arrays(), st.data())
def test_tile_and_broadcast(x, data):
    times = [data.draw(st.integers(0, 3)) for _ in x.shape]
    same(Tile(x, np.array(times, np.int32)), np.tile(x, times) if x.ndim else x)
    target = (*data.draw(hnp.array_shapes(max_dims=2, max_side=3)), *x.shape)
    thin = x[tuple(slice(0, 1) if data.draw(st.booleans()) else slice(None) for _ in x.shape)]
    if thin.size or not x.size:
        same(BroadcastTo(thin, np.array(target, np.int32)), np.broadcast_to(thin, target))


@st.composite
def keys(draw, shape):
    """A NumPy key of slices, indices, None and an ellipsis, with the arguments of StridedSlice that mean the same."""
    key, begin, end, strides = [], [], [], []
    masks = dict.fromkeys(
        ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0
    )

    def add(entry, b=0, e=0, s=1, **bits):
        for name in bits:
            masks[name] |= 1 << len(begin)
        key.append(entry)
        begin.append(b)
        end.append(e)
        strides.append(s)

    axis, ellipsis = 0, False
    for kind in draw(st.lists(st.sampled_from("siien"), max_size=len(shape) + 2)):
        if kind == "n":
            add(None, new_axis_mask=1)
        elif kind == "e" and not ellipsis:
            ellipsis = True
            add(Ellipsis, ellipsis_mask=1)
        elif axis < len(shape):
            n = shape[axis]
            axis += 1
            if kind == "i" and not ellipsis and n:
                i = draw(st.integers(-n, n - 1))
                add(i, i, i + 1, shrink_axis_mask=1)
            else:
                b, e = draw(st.integers(-7, 7)), draw(st.integers(-7, 7))
                s = draw(st.sampled_from([1, 2, 3, -1, -2]))
                free = {name: 1 for name in ("begin_mask", "end_mask") if draw(st.booleans())}
                add(
                    slice(
                        None if "begin_mask" in free else b, None if "end_mask" in free else e, s
                    ),
                    b,
                    e,
                    s,
                    **free,
                )
    return tuple(key), [np.array(v, np.int32) for v in (begin, end, strides)], masks


@given(arrays(), st.data())
def test_strided_slice_and_gradient(x, data):
    key, arguments, masks = data.draw(keys(x.shape))
    expected = x[key]
    same(StridedSlice(x, *arguments, **masks), expected)
    whole = np.zeros_like(x)
    whole[key] = expected
    same(StridedSliceGrad(np.array(x.shape, np.int32), *arguments, expected, **masks), whole)


@given(arrays(), st.data())
def test_slice(x, data):
    begin = [data.draw(st.integers(0, d)) for d in x.shape]
    size = [data.draw(st.integers(-1, d - b)) for b, d in zip(begin, x.shape)]
    key = tuple(slice(b, d if s < 0 else b + s) for b, s, d in zip(begin, size, x.shape))
    same(Slice(x, np.array(begin, np.int32), np.array(size, np.int32)), x[key])


@given(arrays())
def test_filled(x):
    same(ZerosLike(x), np.zeros_like(x))
    same(OnesLike(x), np.ones_like(x))
    same(Fill(np.array(x.shape, np.int64), np.array(1, x.dtype)), np.ones_like(x))


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize(
    "limits", [(0, 10, 1), (0, 10, 3), (10, 0, -3), (5, 5, 1), (-3, 7, 2), (0, 200_000, 1)]
)
def test_range(limits, dtype):
    same(Range(*(tf.constant(v, dtype) for v in limits)), np.arange(*limits, dtype=dtype))


LARGE = np.arange(1_000_000, dtype=np.float32)


@pytest.mark.parametrize(
    "perm", [(0, 3, 1, 2), (3, 2, 1, 0), (1, 0, 2, 3), (0, 2, 1, 3), (2, 3, 0, 1)]
)
def test_large_transposes(perm):
    x = LARGE.reshape(10, 40, 50, 50)
    same(Transpose(x, np.array(perm, np.int32)), x.transpose(perm))


def test_large_copies():
    x = LARGE.reshape(1000, 1000)
    same(Transpose(x, [1, 0]), x.T)
    same(ConcatV2([x, x], 1), np.concatenate([x, x], 1))
    same(Tile(x, [1, 2]), np.tile(x, (1, 2)))
    same(ReverseV2(x, [0]), x[::-1])
    same(Slice(x, [1, 1], [900, 900]), x[1:901, 1:901])


def test_slices_of_rows_share_memory():
    from tapeflow.core.convert import convert_to_tensor

    x = convert_to_tensor(LARGE.reshape(1000, 1000))
    row = Reshape(Slice(x, [5, 0], [2, -1]), [-1])
    assert np.shares_memory(np.asarray(memoryview(row)), np.asarray(memoryview(x)))


# Rows a power of two apart, more than a cache holds, a few rows; none a multiple of the tiles but some.
@pytest.mark.parametrize("shape", [(512, 512), (2048, 70), (70, 2048), (17, 1024), (1024, 16), (3, 4096), (1700, 1400)])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64", "complex128"])
def test_transposes_of_far_rows(shape, dtype):
    x = (np.arange(np.prod(shape)) % 2039).reshape(shape).astype(dtype)
    np.testing.assert_array_equal(tf.transpose(x), x.T)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_transposes_of_many_planes(dtype):
    x = np.arange(6 * 300 * 700 * 2).reshape(6, 300, 700, 2).astype(dtype)
    np.testing.assert_array_equal(tf.transpose(x, [0, 2, 1, 3]), x.transpose(0, 2, 1, 3))
    np.testing.assert_array_equal(tf.transpose(x[..., 0], [0, 2, 1]), x[..., 0].transpose(0, 2, 1))
    np.testing.assert_array_equal(tf.transpose(x[..., 0], [2, 0, 1]), x[..., 0].transpose(2, 0, 1))
