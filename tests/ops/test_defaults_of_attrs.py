"""Functions that are one op, as TensorFlow generates them, take None for an attr that has a default."""

import numpy as np
import pytest

import tapeflow as tf

v1 = tf.compat.v1

IMAGE = np.linspace(-1.0, 1.0, 32, dtype="float32").reshape(1, 4, 4, 2)
FILTER = np.linspace(-1.0, 1.0, 12, dtype="float32").reshape(2, 1, 2, 3)
MATRIX = np.array([[2.0, 1.0], [0.5, 3.0]], "float32")
JPEG = tf.io.encode_jpeg(tf.cast(tf.reshape(tf.range(48), [4, 4, 3]), tf.uint8)).numpy()
PNG = tf.io.encode_png(tf.zeros([2, 2, 3], tf.uint8)).numpy()
STEPS = {"strides": [1, 1, 1, 1], "padding": "SAME"}

# Name, arguments, attrs that may be None.
CALLS = [
    ("as_string", {"input": [1.5]}, "precision scientific shortest width fill"),
    ("conv", {"input": IMAGE, "filter": FILTER, **STEPS}, "explicit_paddings data_format dilations batch_dims groups"),
    ("conv2d_backprop_filter_v2",
     {"input": IMAGE, "filter": FILTER, "out_backprop": np.ones([1, 4, 4, 3], "float32"), **STEPS},
     "use_cudnn_on_gpu explicit_paddings data_format dilations"),
    ("nn.conv3d_backprop_filter_v2",
     {"input": IMAGE[..., None], "filter_sizes": [1, 1, 1, 1, 1], "out_backprop": IMAGE[..., None], "strides": [1] * 5,
      "padding": "SAME"}, "data_format dilations"),
    ("encode_base64", {"input": "text"}, "pad"),
    ("fake_quant_with_min_max_args", {"inputs": IMAGE}, "min max num_bits narrow_range"),
    ("fake_quant_with_min_max_args_gradient", {"gradients": IMAGE, "inputs": IMAGE}, "min max num_bits narrow_range"),
    ("fake_quant_with_min_max_vars", {"inputs": IMAGE, "min": -1.0, "max": 1.0}, "num_bits narrow_range"),
    ("image.decode_jpeg", {"contents": JPEG},
     "channels ratio fancy_upscaling try_recover_truncated acceptable_fraction dct_method"),
    ("image.decode_and_crop_jpeg", {"contents": JPEG, "crop_window": [0, 0, 2, 2]}, "ratio acceptable_fraction"),
    ("linalg.inv", {"input": MATRIX}, "adjoint"),
    ("linalg.qr", {"input": MATRIX}, "full_matrices"),
    ("linalg.solve", {"matrix": MATRIX, "rhs": MATRIX}, "adjoint"),
    ("nn.lrn", {"input": IMAGE}, "depth_radius bias alpha beta"),
    ("strings.lower", {"input": "TEXT"}, "encoding"),
    ("unique", {"x": [1, 1]}, "out_idx"),
    ("unique_with_counts", {"x": [1, 1]}, "out_idx"),
    ("setdiff1d", {"x": [1, 2], "y": [1]}, "index_dtype"),
    ("linalg.lu", {"input": MATRIX}, "output_idx_type"),
    ("argmax", {"input": [1.0, 2.0]}, "output_type"),
    ("argmin", {"input": [1.0, 2.0]}, "output_type"),
    ("math.top_k", {"input": [1.0, 2.0]}, "index_type"),
    ("math.sobol_sample", {"dim": 2, "num_results": 3}, "dtype"),
    ("histogram_fixed_width", {"values": [1.0, 2.0], "value_range": [0.0, 5.0], "nbins": 3}, "dtype"),
    ("strings.to_number", {"input": ["1"]}, "out_type"),
    ("io.serialize_sparse", {"sp_input": tf.sparse.from_dense([[1, 0]])}, "out_type"),
    ("io.serialize_many_sparse", {"sp_input": tf.sparse.from_dense([[1, 0]])}, "out_type"),
    ("image.decode_png", {"contents": PNG}, "channels dtype"),
    ("image.extract_jpeg_shape", {"contents": JPEG}, "output_type"),
    ("random.stateless_binomial", {"shape": [2], "seed": [1, 2], "counts": 3.0, "probs": 0.5}, "output_dtype"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "attrs"), CALLS, ids=[name for name, _, _ in CALLS])
def test_none_is_the_default(name, arguments, attrs):
    function = v1
    for part in name.split("."):
        function = getattr(function, part)
    want = tf.nest.flatten(function(**arguments))
    for given in [attrs.split(), *([attr] for attr in attrs.split())]:
        got = tf.nest.flatten(function(**arguments, **dict.fromkeys(given)))
        for x, y in zip(got, want, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("what", ["rate", "noise_shape"])
def test_dropout_keeps_the_shape_that_is_known(what):
    with tf.Graph().as_default():
        unknown = v1.placeholder({"rate": tf.float32, "noise_shape": tf.int32}[what])
        given = {"rate": 0.5, what: unknown}
        x = tf.ones([3, 4])
        assert tf.nn.dropout(x, **given).shape == [3, 4]
        assert tf.nn.experimental.stateless_dropout(x, seed=[1, 2], **given).shape == [3, 4]
        assert v1.nn.dropout(x, **given).shape == [3, 4]
