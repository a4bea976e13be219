"""Functions that read sizes which are not known, where sizes are `Dimension`s (1.x) and where they are numbers."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.core import tensor_shape

v1 = tf.compat.v1

def fftnd(x, sizes):
    return tf.math.real(tf.signal.fftnd(tf.cast(x, tf.complex64), None, tf.cast(sizes - 1, tf.int32)))


CALLS = {
    "sparse.to_dense": lambda x, sizes: tf.sparse.to_dense(tf.sparse.reshape(tf.sparse.from_dense(x), sizes)),
    "dct": lambda x, sizes: tf.signal.dct(x, type=1),
    "fftnd": fftnd,
    "atrous_conv2d": lambda x, sizes: tf.nn.atrous_conv2d(x[:, None, :, None], tf.ones([1, 2, 1, 1]), 2, "SAME"),
    "gather_nd": lambda x, sizes: tf.gather_nd(x, tf.cast(x, tf.int32)[:, :1] * 0),
    "broadcast_to": lambda x, sizes: tf.broadcast_to(x[0, 0], sizes),
}


@pytest.fixture(params=[False, True], ids=["Dimensions", "numbers"])
def sizes_are(request):
    (tensor_shape.enable_v2_tensorshape if request.param else tensor_shape.disable_v2_tensorshape)()
    yield
    tensor_shape.enable_v2_tensorshape()


@pytest.mark.parametrize("name", CALLS)
def test_unknown_sizes(name, sizes_are):
    value, wanted = np.array([[1.0, 2.0, 3.0, 4.0]], np.float32), np.array([2, 2], np.int64)
    if name == "fftnd":
        wanted = np.array([1], np.int64)
    with tf.Graph().as_default(), v1.Session() as session:
        x, sizes = v1.placeholder(tf.float32, [None, None]), v1.placeholder(tf.int64, [None])
        made = CALLS[name](x, sizes)
        found = session.run(made, {x: value, sizes: wanted})
        assert made.shape.is_compatible_with(found.shape)
