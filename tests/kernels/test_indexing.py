"""The native gather, scatter and segment kernels on indices of any shape, against plain loops in NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tapeflow as tf
from tapeflow.ops.array.one_hot import OneHot
from tapeflow.ops.array.transposing import InvertPermutation
from tapeflow.ops.indexing import scatter, tensor_scatter
from tapeflow.ops.indexing.gather import Gather, GatherV2
from tapeflow.ops.indexing.gather_nd import GatherNd
from tapeflow.ops.indexing.top_k import TopKV2
from tapeflow.ops.indexing.where import Where
from tapeflow.ops.math import segment
from tapeflow.ops.state import scatter_rows

DTYPES = [np.float32, np.int64]


@st.composite
def arrays(draw, min_dims=1, min_side=1):
    shape = draw(hnp.array_shapes(min_dims=min_dims, max_dims=4, min_side=min_side, max_side=5))
    dtype = draw(st.sampled_from(DTYPES))
    return draw(hnp.arrays(dtype, shape, elements=st.integers(-9, 9), fill=st.nothing()))


def draw_indices(data, limit, min_dims=0):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=2, max_side=4))
    dtype = data.draw(st.sampled_from([np.int32, np.int64]))
    index = data.draw(
        hnp.arrays(dtype, shape, elements=st.integers(0, limit - 1), fill=st.nothing())
    )
    return index if min_dims or data.draw(st.booleans()) else index[..., 0]


def same(got, expected):
    got = got.numpy() if hasattr(got, "numpy") else got
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


@given(arrays(), st.data())
def test_gather(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    index = draw_indices(data, x.shape[axis])
    same(GatherV2(x, index, axis, 0), np.take(x, index, axis))
    index = draw_indices(data, x.shape[0])
    same(Gather(x, index), x[index])


@given(arrays(min_dims=2), st.data())
def test_gather_with_batches(x, data):
    batch = data.draw(st.integers(1, x.ndim - 1))
    axis = data.draw(st.integers(batch, x.ndim - 1))
    index = data.draw(
        hnp.arrays(np.int32, (*x.shape[:batch], 3), elements=st.integers(0, x.shape[axis] - 1))
    )
    rows = [np.take(x[b], index[b], axis - batch) for b in np.ndindex(x.shape[:batch])]
    expected = np.stack(rows).reshape(*x.shape[:batch], *rows[0].shape)
    same(GatherV2(x, index, axis, batch), expected)


def draw_tuples(data, x):
    depth = data.draw(st.integers(1, x.ndim))
    outer = data.draw(hnp.array_shapes(min_dims=1, max_dims=2, max_side=4))
    parts = [
        data.draw(hnp.arrays(np.int32, outer, elements=st.integers(0, d - 1)))
        for d in x.shape[:depth]
    ]
    return np.stack(parts, -1), (*outer, *x.shape[depth:])


@given(arrays(), st.data())
def test_gather_nd(x, data):
    index, _ = draw_tuples(data, x)
    same(GatherNd(x, index), x[tuple(np.moveaxis(index, -1, 0))])


UPDATES = {
    "Update": lambda a, b: b,
    "Add": np.add,
    "Sub": np.subtract,
    "Min": np.minimum,
    "Max": np.maximum,
    "Mul": np.multiply,
    "Div": np.divide,
}


def applied(x, index, updates, combine):
    x = x.copy()
    for place in np.ndindex(index.shape[:-1]):
        at = tuple(index[place])
        x[at] = combine(x[at], updates[place])
    return x


@pytest.mark.parametrize("name", ["Update", "Add", "Sub", "Min", "Max"])
@given(x=arrays(), data=st.data())
def test_scatters_by_tuples(name, x, data):
    index, shape = draw_tuples(data, x)
    updates = data.draw(hnp.arrays(x.dtype, shape, elements=st.integers(-9, 9), fill=st.nothing()))
    expected = applied(x, index, updates, UPDATES[name])
    same(getattr(tensor_scatter, f"TensorScatter{name}")(x, index, updates), expected)
    variable = tf.Variable(x)
    getattr(scatter_rows, f"ResourceScatterNd{name}")(variable, index, updates)
    same(variable, expected)
    if name == "Add":
        same(
            scatter.ScatterNd(index, updates, np.array(x.shape, np.int32)),
            applied(x * 0, index, updates, np.add),
        )


@pytest.mark.parametrize("name", list(UPDATES))
@given(x=arrays(), data=st.data())
def test_scatters_into_variables(name, x, data):
    x = x.astype(np.float32)
    index = draw_indices(data, x.shape[0], min_dims=1)
    shape = () if data.draw(st.booleans()) else (*index.shape, *x.shape[1:])
    updates = data.draw(
        hnp.arrays(np.float32, shape, elements=st.integers(1, 9), fill=st.nothing())
    )
    variable = tf.Variable(x)
    before = variable.read_value()
    getattr(scatter_rows, f"ResourceScatter{name}")(variable, index, updates)
    full = np.broadcast_to(updates, (*index.shape, *x.shape[1:]))
    same(variable, applied(x, index[..., None], full, UPDATES[name]))
    same(before, x)


FOLDS = {
    "Sum": (np.add, lambda i: 0),
    "Prod": (np.multiply, lambda i: 1),
    "Max": (np.maximum, lambda i: i.min),
    "Min": (np.minimum, lambda i: i.max),
}


@pytest.mark.parametrize("name", list(FOLDS))
@given(x=arrays(), data=st.data())
def test_segments(name, x, data):
    combine, start = FOLDS[name]
    limits = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
    rank = data.draw(st.integers(1, x.ndim))
    ids = data.draw(
        hnp.arrays(np.int32, x.shape[:rank], elements=st.integers(-1, 3), fill=st.nothing())
    )
    expected = np.full((4, *x.shape[rank:]), start(limits), x.dtype)
    for place in np.ndindex(ids.shape):
        if ids[place] >= 0:
            expected[ids[place]] = combine(expected[ids[place]], x[place])
    same(getattr(segment, f"UnsortedSegment{name}")(x, ids, 4), expected)
    ids = np.sort(ids.reshape(len(x), -1)[:, 0] + 1)
    expected = np.full((ids[-1] + 1, *x.shape[1:]), 1 if name == "Prod" else 0, x.dtype)
    for i in set(ids.tolist()):
        expected[i] = combine.reduce(x[ids == i], axis=0)
    same(getattr(segment, f"Segment{name}")(x, ids), expected)


@given(arrays(min_dims=1), st.data())
def test_one_hot(x, data):
    index = x.astype(np.int32)
    axis = data.draw(st.integers(-1, x.ndim))
    place = x.ndim if axis == -1 else axis
    depths = np.arange(4).reshape([4 if i == place else 1 for i in range(x.ndim + 1)])
    expected = np.where(np.expand_dims(index, place) == depths, np.float32(2), np.float32(-1))
    same(OneHot(index, 4, np.float32(2), np.float32(-1), axis), expected)


@given(arrays(), st.data())
def test_selections(x, data):
    same(Where(x != 0), np.argwhere(x))
    k = data.draw(st.integers(0, x.shape[-1]))
    values, indices = TopKV2(x, k)
    order = np.argsort(-x, axis=-1, kind="stable")[..., :k]
    same(indices, order.astype(np.int32))
    same(values, np.take_along_axis(x, order, -1))
    perm = np.argsort(x.reshape(-1))
    same(InvertPermutation(tf.constant(perm)), np.argsort(perm))


def test_large():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((700, 900)).astype(np.float32)
    index = rng.integers(0, 700, 5000)
    same(GatherV2(x, index, 0, 0), x[index])
    for data in (x, rng.standard_normal((100_000, 9)).astype(np.float32)):
        ids = rng.integers(0, 50, len(data))
        expected = np.zeros((50, data.shape[1]), np.float32)
        np.add.at(expected, ids, data)
        same(segment.UnsortedSegmentSum(data, ids, 50), expected)
        variable = tf.Variable(np.zeros((50, data.shape[1]), np.float32))
        scatter_rows.ResourceScatterAdd(variable, ids, data)
        same(variable, expected)
