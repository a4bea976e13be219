"""Operations of three sizes in TensorFlow's API, for tapeflow and TensorFlow alike."""

import importlib
import os

import inputs
import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def package(name):
    return name


def cases(name):
    tf = importlib.import_module(name)
    found = {}
    for size, case in inputs.library().items():
        c = {key: tf.constant(value) for key, value in case.items()}
        x, rows, images = c["x"], c["rows"], c["images"]
        n = int(x.shape[0])
        channels = int(images.shape[-1])
        kernel = np.ones([3, 3, channels, channels], np.float32) / channels
        names = {
            "tf": tf, "x": x, "rows": rows, "images": images, "n": n, "volume": c["volume"], "series": c["series"],
            "labels": c["labels"], "sorted_rows": c["sorted_rows"],
            "kernel": tf.constant(kernel), "depthwise": tf.constant(kernel[:, :, :, :1]),
            "line": tf.constant(np.ones([3, *[int(c["series"].shape[-1])] * 2], np.float32)),
            "cube": tf.constant(np.ones([3, 3, 3, *[int(c["volume"].shape[-1])] * 2], np.float32)),
            "ones": tf.ones([channels]), "zeros": tf.zeros([channels]),
            "shape": list(images.shape), "side": [2 * int(s) for s in images.shape[1:3]],
        }  # fmt: skip
        for key, statement in STATEMENTS.items():
            found[f"{key}_{size}"] = (statement, names)
    return found


STATEMENTS = {
    "gather": "tf.gather(x, rows)",
    "embedding": "tf.nn.embedding_lookup(x, rows)",
    "scatter": "tf.tensor_scatter_nd_add(x, rows[:, None], x)",
    "segment": "tf.math.segment_sum(x, sorted_rows)",
    "unsorted": "tf.math.unsorted_segment_sum(x, rows, n)",
    "softmax": "tf.nn.softmax(x)",
    "reduce_0": "tf.reduce_sum(x, 0)",
    "reduce_1": "tf.reduce_max(x, 1)",
    "argmax": "tf.argmax(x, 1)",
    "cumsum": "tf.cumsum(x, 1)",
    "transpose": "tf.transpose(x)",
    "sort": "tf.sort(x, 1)",
    "top_k": "tf.math.top_k(x, 5)",
    "one_hot": "tf.one_hot(labels, 10)",
    "concat": "tf.concat([x, x], 1)",
    "where": "tf.where(x > 0.0, x, 0.0)",
    "cross_entropy": "tf.nn.sparse_softmax_cross_entropy_with_logits(rows, x)",
    "conv1d": "tf.nn.conv1d(series, line, 1, 'SAME')",
    "conv2d": "tf.nn.conv2d(images, kernel, 1, 'SAME')",
    "conv3d": "tf.nn.conv3d(volume, cube, [1, 1, 1, 1, 1], 'SAME')",
    "dilated": "tf.nn.conv2d(images, kernel, 1, 'SAME', dilations=2)",
    "depthwise": "tf.nn.depthwise_conv2d(images, depthwise, [1, 1, 1, 1], 'SAME')",
    "transposed": "tf.nn.conv2d_transpose(images, kernel, shape, 1, 'SAME')",
    "max_pool": "tf.nn.max_pool2d(images, 2, 2, 'VALID')",
    "avg_pool": "tf.nn.avg_pool2d(images, 2, 2, 'VALID')",
    "batch_norm": "tf.nn.batch_normalization(images, *tf.nn.moments(images, [0, 1, 2]), zeros, ones, 1e-3)",
    "resize": "tf.image.resize(images, side)",
    "nearest": "tf.image.resize(images, side, 'nearest')",
}
