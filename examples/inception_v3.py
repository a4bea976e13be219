"""Inception v3 at its full size, as code for graphs in slim's style (Szegedy et al., 2015, arXiv:1512.00567).

Its variables are named as those of slim's own network are, so that a checkpoint of that one restores. Without
the auxiliary classifier they are the 23,851,784 numbers of the paper's network for 1000 classes, for which
`tf.keras.applications.InceptionV3` has as many: batch normalization shifts, and does not scale.
"""

import tapeflow.compat.v1 as tf
from tapeflow.contrib import slim


def arguments(training=False, weight_decay=4e-5, decay=0.9997):
    """The arguments that all convolutions share."""
    norm = {"is_training": training, "decay": decay, "epsilon": 0.001}
    with (
        slim.arg_scope([slim.conv2d], weights_regularizer=slim.l2_regularizer(weight_decay)),
        slim.arg_scope(
            [slim.conv2d],
            weights_initializer=slim.variance_scaling_initializer(),
            activation_fn=tf.nn.relu,
            normalizer_fn=slim.batch_norm,
            normalizer_params=norm,
        ) as scope,
    ):
        return scope


def conv(net, channels, scope, kernel=None, **options):
    """A convolution whose kernel is the one that its name ends in, unless another is given."""
    kernel = kernel or [int(size) for size in scope.rpartition("_")[2].split("x")]
    return slim.conv2d(net, channels, kernel, scope=scope, **options)


def branch(number):
    return tf.variable_scope(f"Branch_{number}")


def pooled(net, channels):
    """The branch of an average pooling, which keeps the size."""
    with branch(3):
        return conv(slim.avg_pool2d(net, 3, scope="AvgPool_0a_3x3"), channels, "Conv2d_0b_1x1")


def mixed35(net, pool_channels, scope, second=("Conv2d_0a_1x1", "Conv2d_0b_5x5")):
    """Of 35 x 35: views of 1, 5 and twice 3 pixels, and a pooling."""
    with tf.variable_scope(scope):
        with branch(0):
            one = conv(net, 64, "Conv2d_0a_1x1")
        with branch(1):
            five = conv(conv(net, 48, second[0]), 64, second[1])
        with branch(2):
            three = conv(conv(net, 64, "Conv2d_0a_1x1"), 96, "Conv2d_0b_3x3")
            three = conv(three, 96, "Conv2d_0c_3x3")
        return tf.concat([one, five, three, pooled(net, pool_channels)], 3)


def reduce35(net, scope):
    """From 35 x 35 to 17 x 17."""
    with (
        tf.variable_scope(scope),
        slim.arg_scope([slim.conv2d, slim.max_pool2d], padding="VALID"),
    ):
        with branch(0):  # slim's names speak of 1x1, its kernels are of 3x3
            three = conv(net, 384, "Conv2d_1a_1x1", kernel=3, stride=2)
        with branch(1):
            twice = conv(net, 64, "Conv2d_0a_1x1")
            twice = conv(twice, 96, "Conv2d_0b_3x3", padding="SAME")
            twice = conv(twice, 96, "Conv2d_1a_1x1", kernel=3, stride=2)
        with branch(2):
            pool = slim.max_pool2d(net, 3, stride=2, scope="MaxPool_1a_3x3")
        return tf.concat([three, twice, pool], 3)


def mixed17(net, channels, scope):
    """Of 17 x 17: views of 7 pixels, as a row after a column, and of twice that."""
    with tf.variable_scope(scope):
        with branch(0):
            one = conv(net, 192, "Conv2d_0a_1x1")
        with branch(1):
            seven = conv(conv(net, channels, "Conv2d_0a_1x1"), channels, "Conv2d_0b_1x7")
            seven = conv(seven, 192, "Conv2d_0c_7x1")
        with branch(2):
            twice = conv(conv(net, channels, "Conv2d_0a_1x1"), channels, "Conv2d_0b_7x1")
            twice = conv(conv(twice, channels, "Conv2d_0c_1x7"), channels, "Conv2d_0d_7x1")
            twice = conv(twice, 192, "Conv2d_0e_1x7")
        return tf.concat([one, seven, twice, pooled(net, 192)], 3)


def reduce17(net, scope):
    """From 17 x 17 to 8 x 8."""
    with tf.variable_scope(scope):
        with branch(0):
            three = conv(net, 192, "Conv2d_0a_1x1")
            three = conv(three, 320, "Conv2d_1a_3x3", stride=2, padding="VALID")
        with branch(1):
            seven = conv(conv(net, 192, "Conv2d_0a_1x1"), 192, "Conv2d_0b_1x7")
            seven = conv(seven, 192, "Conv2d_0c_7x1")
            seven = conv(seven, 192, "Conv2d_1a_3x3", stride=2, padding="VALID")
        with branch(2):
            pool = slim.max_pool2d(net, 3, stride=2, padding="VALID", scope="MaxPool_1a_3x3")
        return tf.concat([three, seven, pool], 3)


def mixed8(net, scope, column="Conv2d_0b_3x1"):
    """Of 8 x 8: rows and columns of 3 pixels side by side."""
    with tf.variable_scope(scope):
        with branch(0):
            one = conv(net, 320, "Conv2d_0a_1x1")
        with branch(1):
            three = conv(net, 384, "Conv2d_0a_1x1")
            three = tf.concat([conv(three, 384, "Conv2d_0b_1x3"), conv(three, 384, column)], 3)
        with branch(2):
            twice = conv(conv(net, 448, "Conv2d_0a_1x1"), 384, "Conv2d_0b_3x3")
            twice = tf.concat(
                [conv(twice, 384, "Conv2d_0c_1x3"), conv(twice, 384, "Conv2d_0d_3x1")], 3
            )
        return tf.concat([one, three, twice, pooled(net, 192)], 3)


def features(images):
    """Images (n, height, width, 3) of at least 75 pixels -> the last features, and those of 17 x 17."""
    with slim.arg_scope([slim.conv2d, slim.max_pool2d, slim.avg_pool2d], stride=1):
        with slim.arg_scope([slim.conv2d, slim.max_pool2d], padding="VALID"):
            net = conv(images, 32, "Conv2d_1a_3x3", stride=2)
            net = conv(net, 32, "Conv2d_2a_3x3")
            net = conv(net, 64, "Conv2d_2b_3x3", padding="SAME")
            net = slim.max_pool2d(net, 3, stride=2, scope="MaxPool_3a_3x3")
            net = conv(net, 80, "Conv2d_3b_1x1")
            net = conv(net, 192, "Conv2d_4a_3x3")
            net = slim.max_pool2d(net, 3, stride=2, scope="MaxPool_5a_3x3")
        with slim.arg_scope([slim.conv2d, slim.max_pool2d, slim.avg_pool2d], padding="SAME"):
            net = mixed35(net, 32, "Mixed_5b")
            # The names that slim's checkpoints happen to have.
            net = mixed35(net, 64, "Mixed_5c", second=("Conv2d_0b_1x1", "Conv_1_0c_5x5"))
            net = mixed35(net, 64, "Mixed_5d")
            net = reduce35(net, "Mixed_6a")
            net = mixed17(net, 128, "Mixed_6b")
            net = mixed17(net, 160, "Mixed_6c")
            net = mixed17(net, 160, "Mixed_6d")
            net = middle = mixed17(net, 192, "Mixed_6e")
            net = reduce17(net, "Mixed_7a")
            net = mixed8(net, "Mixed_7b")
            net = mixed8(net, "Mixed_7c", column="Conv2d_0c_3x1")
    return net, middle


def auxiliary(net, classes):
    """The classifier at 17 x 17, whose loss helps training; smaller images have smaller kernels."""
    with tf.variable_scope("AuxLogits"):
        window = [min(5, size) for size in net.shape.as_list()[1:3]]
        net = slim.avg_pool2d(net, window, stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = conv(net, 128, "Conv2d_1b_1x1")
        window = [min(5, size) for size in net.shape.as_list()[1:3]]
        net = slim.conv2d(
            net, 768, window, padding="VALID", scope=f"Conv2d_2a_{window[0]}x{window[1]}",
            weights_initializer=tf.truncated_normal_initializer(stddev=0.01),
        )  # fmt: skip
        return logits(net, classes, "Conv2d_2b_1x1")


def logits(net, classes, scope):
    start = tf.truncated_normal_initializer(stddev=0.001)
    net = conv(
        net, classes, scope, activation_fn=None, normalizer_fn=None, weights_initializer=start
    )
    return tf.squeeze(net, [1, 2])


def inception_v3(images, classes=1001, training=False, auxiliary_logits=True, keep=0.8):
    """Images (n, height, width, 3) from -1 to 1 -> logits (n, classes), and those of the auxiliary classifier or None.

    It is meant for 299 pixels, and takes any size from 75 on. Call it within `slim.arg_scope(arguments(...))`.
    """
    with (
        tf.variable_scope("InceptionV3", reuse=tf.AUTO_REUSE),
        slim.arg_scope([slim.dropout], is_training=training),
    ):
        net, middle = features(images)
        aside = auxiliary(middle, classes) if auxiliary_logits else None
        with tf.variable_scope("Logits"):
            net = tf.reduce_mean(net, [1, 2], keep_dims=True, name="AvgPool_1a")
            net = slim.dropout(net, keep, scope="Dropout_1b")
            return logits(net, classes, "Conv2d_1c_1x1"), aside
