"""`tf.nn`: the functions that are made of rows, on values computed by TensorFlow 2.21."""

import numpy as np
import pytest

import tapeflow as tf

CASES = [
    (lambda: tf.nn.crelu([1.0, -2.0]), [1.0, 0.0, 0.0, 2.0]),
    (lambda: tf.nn.gelu([1.0, -2.0]), [0.841345, -0.0455]),
    (lambda: tf.nn.gelu([1.0, -2.0], approximate=True), [0.841192, -0.045402]),
    (lambda: tf.nn.silu([1.0, -2.0]), [0.731059, -0.238406]),
    (lambda: tf.nn.swish([1.0, -2.0], beta=2.0), [0.880797, -0.035972]),
    (lambda: tf.nn.leaky_relu([-1, 2]), [-0.2, 2.0]),
    (lambda: tf.nn.relu6([1, 8]), [1, 6]),
    (
        lambda: tf.nn.softmax([[1.0, 2.0], [3.0, 5.0]], axis=0),
        [[0.119203, 0.047426], [0.880797, 0.952574]],
    ),
    (lambda: tf.nn.log_softmax([1.0, 3.0]), [-2.126928, -0.126928]),
    (lambda: tf.nn.softmax_cross_entropy_with_logits([[0.25, 0.75]], [[1.0, 2.0]]), [0.563262]),
    (
        lambda: tf.nn.softmax_cross_entropy_with_logits([[[0.0], [1.0]]], [[[1.0], [2.0]]], axis=1),
        [[0.313262]],
    ),
    (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(
            [[1, 0]], [[[1.0, 2.0], [3.0, 0.0]]]
        ),
        [[0.313262, 0.048587]],
    ),
    (
        lambda: tf.nn.sigmoid_cross_entropy_with_logits(
            labels=[0.0, 1.0, 0.5], logits=[-3.0, 0.0, 2.0]
        ),
        [0.048587, 0.693147, 1.126928],
    ),
    (
        lambda: tf.nn.weighted_cross_entropy_with_logits([0.0, 1.0], [-3.0, 2.0], 2.5),
        [0.048587, 0.31732],
    ),
    (
        lambda: tf.nn.log_poisson_loss([0.0, 3.0], [0.5, 1.0], compute_full_loss=True),
        [1.648721, 1.482363],
    ),
    (lambda: tf.nn.l2_loss([3.0, 4.0]), 12.5),
    (lambda: tf.nn.l2_normalize([[3.0, 4.0], [0.0, 2.0]], axis=1), [[0.6, 0.8], [0.0, 1.0]]),
    (lambda: tf.nn.zero_fraction([0.0, 1.0, 0.0, 2.0]), 0.5),
    (lambda: tf.nn.moments(tf.constant([[1.0, 2.0], [3.0, 6.0]]), [0]), ([2.0, 4.0], [1.0, 4.0])),
    (
        lambda: tf.nn.weighted_moments(
            tf.constant([[1.0, 2.0], [3.0, 6.0]]), [0], tf.constant([[1.0], [3.0]])
        ),
        ([2.5, 5.0], [0.75, 3.0]),
    ),
    (
        lambda: tf.nn.sufficient_statistics(tf.constant([[1.0, 2.0], [3.0, 6.0]]), [0], shift=1.0),
        (2.0, [2.0, 6.0], [4.0, 26.0], 1.0),
    ),
    (
        lambda: tf.nn.normalize_moments(
            2.0, tf.constant([4.0]), tf.constant([10.0]), tf.constant([1.0])
        ),
        ([3.0], [1.0]),
    ),
    (
        lambda: tf.nn.batch_normalization(
            tf.constant([[1.0, 2.0]]),
            [0.5, 1.0],
            tf.constant([4.0, 1.0]),
            [0.0, 1.0],
            [2.0, 3.0],
            0.0,
        ),
        [[0.5, 4.0]],
    ),
    (
        lambda: tf.nn.local_response_normalization([[[[1.0, 2.0, 3.0]]]], depth_radius=1),
        [[[[0.408248, 0.516398, 0.801784]]]],
    ),
    (lambda: tf.nn.bias_add([[1.0, 2.0]], [10.0, 20.0]), [[11.0, 22.0]]),
    (
        lambda: tf.nn.conv1d([[[1.0], [2.0], [4.0]]], [[[1.0]], [[10.0]]], 1, "SAME"),
        [[[21.0], [42.0], [4.0]]],
    ),
    (
        lambda: tf.nn.conv1d([[[1.0], [2.0], [4.0]]], [[[1.0]], [[10.0]]], 1, "VALID", dilations=2),
        [[[41.0]]],
    ),
    (
        lambda: tf.nn.conv1d_transpose([[[1.0], [2.0]]], [[[1.0]], [[10.0]]], [1, 4, 1], 2),
        [[[1.0], [10.0], [2.0], [20.0]]],
    ),
    (
        lambda: tf.nn.conv2d_transpose(
            [[[[1.0], [2.0]]]], [[[[1.0]], [[10.0]]]], [1, 1, 4, 1], [1, 2]
        ),
        [[[[1.0], [10.0], [2.0], [20.0]]]],
    ),
    (
        lambda: tf.nn.conv3d_transpose(
            [[[[[1.0]]]]], [[[[[1.0]]], [[[10.0]]]]], [1, 1, 2, 1, 1], 2
        ),
        [[[[[1.0]], [[10.0]]]]],
    ),
    (
        lambda: tf.nn.convolution([[[1.0], [2.0], [4.0]]], [[[1.0]], [[10.0]]], dilations=2),
        [[[41.0]]],
    ),
    (
        lambda: tf.nn.atrous_conv2d([[[[1.0], [2.0], [4.0]]]], [[[[1.0]], [[10.0]]]], 2, "VALID"),
        [[[[41.0]]]],
    ),
    (
        lambda: tf.nn.depthwise_conv2d(
            [[[[1.0, 2.0]]]], [[[[3.0, 4.0], [5.0, 6.0]]]], [1, 1, 1, 1], "SAME"
        ),
        [[[[3.0, 4.0, 10.0, 12.0]]]],
    ),
    (
        lambda: tf.nn.separable_conv2d(
            [[[[1.0, 2.0]]]], [[[[3.0], [4.0]]]], [[[[1.0], [10.0]]]], [1, 1, 1, 1], "SAME"
        ),
        [[[[83.0]]]],
    ),
    (
        lambda: tf.nn.max_pool2d([[[[1.0], [3.0], [2.0]]]], [1, 2], [1, 2], "SAME"),
        [[[[3.0], [2.0]]]],
    ),
    (
        lambda: tf.nn.avg_pool2d([[[[1.0], [3.0], [2.0]]]], [1, 2], [1, 2], "SAME"),
        [[[[2.0], [2.0]]]],
    ),
    (lambda: tf.nn.avg_pool3d([[[[[1.0]], [[3.0]]]]], [1, 2, 1], 1, "VALID"), [[[[[2.0]]]]]),
    (
        lambda: tf.nn.max_pool_with_argmax([[[[1.0], [3.0], [2.0]]]], [1, 2], [1, 2], "SAME"),
        ([[[[3.0], [2.0]]]], [[[[1], [2]]]]),
    ),
    (
        lambda: tf.nn.pool([[[1.0], [5.0], [2.0], [4.0], [3.0]]], [2], "MAX", dilations=[2]),
        [[[2.0], [5.0], [3.0]]],
    ),
    (
        lambda: tf.nn.embedding_lookup(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [[1, 0]]),
        [[[3.0, 4.0], [1.0, 2.0]]],
    ),
    (
        lambda: tf.nn.embedding_lookup(tf.constant([[3.0, 4.0], [0.3, 0.4]]), [0, 1], max_norm=1.0),
        [[0.6, 0.8], [0.3, 0.4]],
    ),
    (
        lambda: tf.nn.embedding_lookup(
            [tf.constant([[1.0], [2.0]]), tf.constant([[3.0]])], [2, 0, 1]
        ),
        [[3.0], [1.0], [2.0]],
    ),
    (lambda: tf.nn.top_k([1.0, 5.0, 3.0], 2), ([5.0, 3.0], [1, 2])),
    (lambda: tf.nn.in_top_k([1, 0], [[0.1, 0.9, 0.5], [0.1, 0.9, 0.5]], 2), [True, False]),
    (lambda: tf.nn.space_to_depth([[[[1], [2]], [[3], [4]]]], 2), [[[[1, 2, 3, 4]]]]),
    (lambda: tf.nn.depth_to_space([[[[1, 2, 3, 4]]]], 2), [[[[1], [2]], [[3], [4]]]]),
    (
        lambda: tf.nn.space_to_batch([[[[1], [2]], [[3], [4]]]], [2, 2], [[0, 0], [0, 0]]),
        [[[[1]]], [[[2]]], [[[3]]], [[[4]]]],
    ),
]


@pytest.mark.parametrize(("function", "expected"), CASES)
def test_values(function, expected):
    found = function()
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for part, value in zip(found, expected, strict=True):
        assert part.shape == np.shape(value)
        np.testing.assert_allclose(part.numpy(), value, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (
            lambda: tf.nn.dropout([1.0], 1.0),
            ValueError,
            r"in the range \[0, 1\). Received: rate=1.0",
        ),
        (lambda: tf.nn.dropout([1], 0.5), ValueError, "must be a floating point tensor"),
        (
            lambda: tf.nn.conv2d(tf.zeros([1, 4, 4, 2]), tf.zeros([3, 3, 2, 1]), [1, 2, 1], "SAME"),
            ValueError,
            "strides should be of length 1, 2 or 4",
        ),
        (
            lambda: tf.nn.conv2d(tf.zeros([1, 4, 4, 2]), tf.zeros([3, 3, 2, 1]), 1, [[0, 0]]),
            ValueError,
            "When padding is a list, it must be of size 4",
        ),
        (
            lambda: tf.nn.conv3d(tf.zeros([1, 4, 4, 4, 2]), tf.zeros([3, 3, 3, 2, 1]), 1, "SAME"),
            TypeError,
            "Expected list for 'strides' argument to 'conv3d' Op, not 1.",
        ),
        (lambda: tf.nn.max_pool(tf.zeros([1, 4]), 2, 2, "SAME"), ValueError, "must be 3, 4 or 5"),
        (
            lambda: tf.nn.softmax([[1.0]], axis=2),
            tf.errors.InvalidArgumentError,
            r"`dim` must be in the range \[-2, 2\)",
        ),
        (
            lambda: tf.nn.sigmoid_cross_entropy_with_logits([1.0], [1.0, 2.0]),
            ValueError,
            r"`logits` and `labels` must have the same shape, received \(\(2,\) vs \(1,\)\).",
        ),
        (
            lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([1, 2], [[1.0, 2.0]]),
            ValueError,
            "`labels.shape` must equal `logits.shape` except for the last dimension",
        ),
        (
            lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([3], [[1.0, 2.0]]),
            tf.errors.InvalidArgumentError,
            r"label value of 3 which is outside the valid range of \[0, 2\)",
        ),
        (
            lambda: tf.nn.bias_add([[1.0]], [1.0], "XX"),
            ValueError,
            "`data_format` must be of the form",
        ),
        (lambda: tf.nn.embedding_lookup(None, [0]), ValueError, "params must be specified"),
    ],
)
def test_errors(function, error, text):
    with pytest.raises(error, match=text):
        function()


def test_dropout_keeps_the_expected_sum():
    y = tf.nn.dropout(tf.ones([1000]), 0.25).numpy()
    assert set(np.round(np.unique(y), 5)) == {0.0, np.float32(1.33333)}
    assert 0.65 < (y > 0).mean() < 0.85


def test_dropout_broadcasts_its_noise():
    y = tf.nn.dropout(tf.ones([50, 3]), 0.5, noise_shape=[None, 1]).numpy()
    assert (y == y[:, :1]).all()
    assert 0 < (y > 0).mean() < 1


@pytest.mark.parametrize("kind", ["MAX", "AVG"])
@pytest.mark.parametrize(
    ("first", "last", "sizes"), [("NCW", "NWC", [9]), ("NCHW", "NHWC", [5, 8]), ("NCDHW", "NDHWC", [4, 5, 3])]
)
def test_pools_with_dilations_take_channels_first(kind, first, last, sizes):
    n = len(sizes)
    x = np.random.default_rng(0).normal(size=[2, 3, *sizes]).astype(np.float32)
    dilations = [2, 1, 1][:n]
    got = tf.nn.pool(x, [2] * n, kind, dilations=dilations, data_format=first)
    want = tf.nn.pool(np.moveaxis(x, 1, -1), [2] * n, kind, dilations=dilations, data_format=last)
    np.testing.assert_allclose(np.moveaxis(got.numpy(), 1, -1), want.numpy(), rtol=1e-6)


def test_pools_with_dilations_name_what_they_refuse():
    with pytest.raises(ValueError, match=r"Received: padding=SAME and dilation_rate=\[1 2\]"):
        tf.nn.pool(np.ones([1, 4, 4, 1], np.float32), [2, 2], "MAX", padding="SAME", dilations=[1, 2])
