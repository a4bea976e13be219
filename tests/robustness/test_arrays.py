"""Arrays and buffers from outside: layouts, byte orders, capsules, sizes that no memory holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import tapeflow as tf

ERRORS = (tf.errors.OpError, TypeError, ValueError, OverflowError, MemoryError)
DTYPES = st.sampled_from(["f4", "f8", "i4", "i8", "u1", "?", ">f4", ">i8", "<i2", "c8"])


@given(x=arrays.arrays(DTYPES, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0)))
def test_any_layout_arrives_as_it_reads(x):
    for form in (
        x,
        x.T,
        x[::-1] if x.ndim else x,
        np.asfortranarray(x),
        x[..., :1] if x.ndim else x,
    ):
        form = np.asarray(form)
        before = form.copy()
        t = tf.constant(form)
        assert t.shape.as_list() == list(form.shape)
        np.testing.assert_array_equal(t.numpy(), form)
        np.testing.assert_array_equal(tf.convert_to_tensor(form).numpy(), form)
        np.testing.assert_array_equal(form, before)


def test_read_only_arrays_stay_as_they_are():
    x = np.ones([100, 100], np.float32)
    x.flags.writeable = False
    t = tf.convert_to_tensor(x)
    v = tf.Variable(t)
    v.assign_add(tf.ones([100, 100]))
    v[0].assign(tf.zeros([100]))
    assert x.sum() == t.numpy().sum() == 10_000
    assert not memoryview(x).c_contiguous or x.flags["C_CONTIGUOUS"]


def test_a_tensor_does_not_change_with_its_array():
    x = np.ones([1000], np.float32)
    t = tf.constant(x)
    x[:] = 7
    assert float(tf.reduce_sum(t)) == 1000


def test_buffer_protocol():
    t = tf.constant([[1, 2, 3], [4, 5, 6]])
    view = memoryview(t)
    assert (view.shape, view.format, view.readonly) == ((2, 3), "i", True)
    del t
    assert view.tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(TypeError):
        view[0, 0] = 9
    assert memoryview(tf.zeros([0, 3])).nbytes == 0
    assert memoryview(tf.constant(2.5)).tolist() == 2.5
    with pytest.raises((BufferError, TypeError)):
        memoryview(tf.constant("text"))


def test_a_capsule_used_twice():
    t = tf.constant([1.0, 2.0])
    capsule = tf.experimental.dlpack.to_dlpack(t)
    back = tf.experimental.dlpack.from_dlpack(capsule)
    with pytest.raises(ERRORS):
        tf.experimental.dlpack.from_dlpack(capsule)
    np.testing.assert_array_equal(back.numpy(), t.numpy())
    for wrong in (None, 3, "text", object()):
        with pytest.raises(ERRORS):
            tf.experimental.dlpack.from_dlpack(wrong)
    tf.experimental.dlpack.to_dlpack(t)  # never taken: freed with the capsule
    np.testing.assert_array_equal(np.from_dlpack(t), [1, 2])
    with pytest.raises((*ERRORS, BufferError)):
        tf.experimental.dlpack.to_dlpack(tf.constant("text"))


HUGE = st.sampled_from([2**31 - 1, 2**31, 2**32, 2**40, 2**60, 2**61, 2**62, 2**63 - 1, 2**63])


@given(
    dims=st.lists(HUGE, min_size=2, max_size=4),
    dtype=st.sampled_from([tf.float32, tf.int64, tf.complex128, tf.bool]),
)
def test_sizes_that_overflow(dims, dtype):
    for make in (
        lambda: tf.zeros(dims, dtype),
        lambda: tf.fill(dims, tf.zeros([], dtype)),
        lambda: tf.broadcast_to(tf.zeros([], dtype), dims),
        lambda: tf.tile(tf.zeros([1] * len(dims), dtype), dims),
        lambda: tf.random.normal(dims),
        lambda: tf.reshape(tf.zeros([4], dtype), dims),
        lambda: tf.pad(tf.zeros([1] * len(dims), dtype), [[d, d] for d in dims]),
        lambda: tf.eye(dims[0], dims[1], dtype=dtype),
    ):
        with pytest.raises(ERRORS):
            make()


def test_an_empty_tensor_of_huge_dimensions():
    for dtype in (tf.float32, tf.complex128):
        try:
            t = tf.zeros([0, 2**40, 2**10], dtype)
        except ERRORS:
            continue
        assert t.numpy().size == 0


@pytest.mark.parametrize("dims", [[-1], [2, -3], [-(2**31)], [-(2**63)]])
def test_negative_sizes(dims):
    for make in (tf.zeros, tf.ones, tf.random.uniform, lambda d: tf.fill(d, 1)):
        with pytest.raises(ERRORS):
            make(dims)


def test_ranks_without_end():
    with pytest.raises(ERRORS):
        tf.zeros([1] * 300)
    deep = 1
    for _ in range(5000):
        deep = [deep]
    with pytest.raises((*ERRORS, RecursionError)):
        tf.constant(deep)
    loop = []
    loop.append(loop)
    with pytest.raises((*ERRORS, RecursionError)):
        tf.constant(loop)


@given(
    axis=st.integers(-(2**63), 2**63 - 1),
    index=st.integers(-(2**63), 2**63 - 1),
)
def test_axes_and_indices_out_of_range(axis, index):
    x = tf.reshape(tf.range(24.0), [2, 3, 4])
    calls = {
        "sum": lambda: tf.reduce_sum(x, axis),
        "expand": lambda: tf.expand_dims(x, axis),
        "concat": lambda: tf.concat([x, x], axis),
        "stack": lambda: tf.stack([x, x], axis),
        "split": lambda: tf.split(x, 1, axis),
        "cumsum": lambda: tf.cumsum(x, axis),
        "argmax": lambda: tf.argmax(x, axis),
        "softmax": lambda: tf.nn.softmax(x, axis),
        "unstack": lambda: tf.unstack(x, axis=axis),
    }
    for name, call in calls.items():
        low, high = (-4, 3) if name in ("expand", "stack") else (-3, 2)
        if low <= axis <= high:
            call()
        else:
            with pytest.raises(ERRORS):
                call()
    inside = 0 <= index < 2
    for call in (
        lambda: tf.gather(x, tf.constant(index, tf.int64)),
        lambda: tf.gather_nd(x, tf.constant([index], tf.int64)),
        lambda: tf.tensor_scatter_nd_update(
            x, tf.constant([[index]], tf.int64), tf.zeros([1, 3, 4])
        ),
        lambda: tf.scatter_nd(tf.constant([[index]], tf.int64), [1.0], tf.constant([2], tf.int64)),
    ):
        if inside:
            call()
        else:
            with pytest.raises(ERRORS):
                call()


def test_duplicate_axes():
    x = tf.ones([2, 3])
    for call in (
        lambda: tf.reduce_sum(x, [0, 0]),
        lambda: tf.reduce_sum(x, [1, -1]),
        lambda: tf.transpose(x, [0, 0]),
        lambda: tf.transpose(x, [0, 2]),
        lambda: tf.reverse(x, [0, 0]),
    ):
        with pytest.raises(ERRORS):
            call()


def test_nan_where_an_integer_is_derived():
    for call in (
        lambda: tf.range(0.0, float("nan"), 1.0),
        lambda: tf.range(0.0, 1.0, float("nan")),
        lambda: tf.range(0.0, float("inf"), 1.0),
        lambda: tf.range(0.0, 1.0, 1e-300),
        lambda: tf.linspace(0.0, 1.0, -1),
        lambda: tf.zeros([float("nan")]),
        lambda: tf.constant(float("nan"), tf.int32),
    ):
        with pytest.raises(ERRORS):
            call()
    tf.cast(float("nan"), tf.int32).numpy()  # any number, but no crash
    with pytest.raises(ERRORS):
        tf.histogram_fixed_width([float("nan"), 1.0, np.inf], [0.0, 2.0])


def test_zero_strides_windows_and_filters():
    x = tf.ones([1, 5, 5, 2])
    for call in (
        lambda: tf.nn.conv2d(x, tf.ones([3, 3, 2, 4]), 0, "SAME"),
        lambda: tf.nn.conv2d(x, tf.ones([3, 3, 2, 4]), -1, "VALID"),
        lambda: tf.nn.conv2d(x, tf.ones([3, 3, 2, 4]), 1, "SAME", dilations=0),
        lambda: tf.nn.conv2d(x, tf.ones([3, 3, 3, 4]), 1, "SAME"),
        lambda: tf.nn.conv2d(x, tf.ones([3, 3, 2]), 1, "SAME"),
        lambda: tf.nn.max_pool2d(x, 0, 1, "SAME"),
        lambda: tf.nn.max_pool2d(x, 2, 0, "SAME"),
        lambda: tf.nn.max_pool2d(x, -2, 1, "SAME"),
        lambda: tf.nn.avg_pool2d(x, 7, 1, "VALID"),
        lambda: tf.nn.avg_pool2d(x, 2**31, 1, "SAME"),
        lambda: tf.strided_slice(x, [0], [1], [0]),
    ):
        with pytest.raises(ERRORS):
            call()
